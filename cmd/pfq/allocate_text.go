package main

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/render"
	"productform/num"
)

// mostFraction is the number of digits of numerators and denominators up to which fractions are
// shown.
const mostFraction = 6

// accuracy describes how the numbers were computed and are shown.
func (a *allocation) accuracy() string {
	switch bound := a.RelativeErrorBound; {
	case bound == nil:
		return "without proof, residual " + render.OneDigitUp(a.Residual) + ", shown to six digits"
	case a.Engine == num.Exact:
		return "computed exactly, shown as short fractions and to six digits"
	case a.digits > 7:
		return fmt.Sprintf("within %s of exact (relative), shown to %d digits", render.OneDigitUp(*bound), a.digits-1)
	default:
		return fmt.Sprintf("within %s of exact (relative), shown to six digits", render.OneDigitUp(*bound))
	}
}

// auditText writes the audit and the indices.
func (a *allocation) auditText(t *render.Text) {
	var lines [][]string
	for k, words := range a.audit.words(t) {
		lines = append(lines, []string{properties[k], words})
	}
	t.Columns(lines)
	t.Line("")
	lines = nil
	for _, f := range a.indices {
		lines = append(lines, []string{strings.ReplaceAll(f.Key, "_", " "), t.Cell(f.Value)})
	}
	t.Columns(lines)
}

// properties are the properties that an audit checks.
var properties = []string{"feasible", "Pareto efficient", "sharing incentive", "envy-free", "lie-proof"}

// words lists the properties that the allocation has, and the reasons for those that it lacks.
func (a *audited) words(t *render.Text) []string {
	words := []string{"yes", "yes", "yes", "yes", fmt.Sprintf("no lie found among %d", a.Get("lies_tried"))}
	switch lie, isLie := a.Get("lie").(render.Record); {
	case isLie:
		words[4] = fmt.Sprintf("no: a job of %s that declares %s runs %s tasks in place of %s", lie.Get("job"),
			a.declared, t.Cell(lie.Get("with_lie")), t.Cell(lie.Get("tasks")))
	case a.Get("lie_proof") != nil:
		words[4] = "yes"
	case a.unsearched != "":
		words[4] = "not checked: " + a.unsearched
	}
	for _, w := range []struct {
		property      int
		witness, says string // fields of the witness
	}{
		{0, "over_limit", "a job of %s runs %s tasks, and can run %s"},
		{0, "overload", "the utilization of %s is %s"},
		{1, "growth", "a job of %s could run %s more tasks"},
		{2, "shortfall", "a job of %s has a dominant share of %s, below its fraction by weight, %s"},
		{3, "envy", "a job of %s runs %[3]s tasks, and would run %[4]s with what one of %[2]s holds"},
	} {
		witness, found := a.Get(w.witness).(render.Record)
		if !found {
			continue
		}
		var cells []any
		for _, f := range witness {
			cells = append(cells, t.Cell(f.Value))
		}
		words[w.property] = "no: " + fmt.Sprintf(w.says, cells...)
	}
	return words
}

func (a *trafficCase) text(t *render.Text, body render.Record, joint *command.Joint) {
	if o := a.overload; o != nil {
		r, one := traffic.NewResult(a.traffic, a.policy).Resources[o.Resource], big.NewRat(1, 1)
		load := render.SixBeside(r.Load, one)
		if r.TrueLoad != nil {
			load += fmt.Sprintf(" with declared demands (%s with true demands)", render.SixBeside(r.TrueLoad, one))
		}
		t.Line("unstable: the load of %s is %s, and jobs pile up under every policy", r.Name, load)
		t.Line("%s", a.limitText("loads would be below 1"))
		a.liesText(t)
		t.Line("")
		loadsText(t, body)
		return
	}
	verdict, still := "stable", "still stable"
	if a.policy == fluid.BMF {
		verdict, still = "loads below 1", "loads are below 1" // which is not proved to suffice
	}
	t.Line("%s; %s; %s", verdict, a.policy.Words(), a.accuracy())
	t.Line("%s", a.limitText(still))
	a.liesText(t)
	if s := a.simulated; s != nil {
		t.Line("%d runs of %.0f jumps, observed for a time of %.6g after a warm-up of %.6g; seed %d; "+
			"± at confidence %g", s.Runs, s.Jumps/float64(s.Runs), s.Time, s.WarmUp, a.settings.Seed,
			a.settings.Confidence)
		joint.Text(t)
	}
	t.Line("")
	classes := body.Get("classes").([]render.Record)
	if a.simulated == nil {
		t.Table(classes, "name", "arrival_rate", "mean_jobs", "mean_delay", "service_rate")
	} else {
		rows := make([]render.Record, len(classes))
		for k, c := range classes {
			const given = 3 // fields before the means
			rows[k] = slices.Concat(c[:given], c.Get("simulated").(render.Record))
		}
		t.Table(rows, "name", "arrival_rate", "mean_jobs", "service_rate")
		t.Table(rows, "name", "mean_delay", "measured_delay")
		all := render.Record{{Key: "name", Value: "all classes"}, {Key: "delay", Value: body.Get("delay")}}
		command.QuantileTables(t, append([]render.Record{all}, rows...), "delay")
	}
	loadsText(t, body)
}

// accuracy describes how the means were computed and how accurate they are.
func (a *trafficCase) accuracy() string {
	r := a.result
	if r == nil {
		return a.why
	}
	rounding := render.OneDigitUp(r.RoundingBound) + " from rounding (proved)"
	if r.IterationError > 0 {
		rounding = render.OneDigitUp(r.IterationError) + " from the iteration (measured)"
	}
	method := "Markov chain"
	switch r.Method {
	case traffic.WhittleMethod:
		method = "product form"
	case traffic.GeometricMethod:
		return "closed form\nrelative error: " + rounding
	}
	where := fmt.Sprintf("in %d parts without common resources", len(r.Parts))
	if len(r.Parts) == 1 {
		var words []string
		for _, l := range r.Parts[0].Limits {
			words = append(words, fmt.Sprint(l))
		}
		where = fmt.Sprintf("up to %s jobs", strings.Join(words, ", "))
	}
	proved := map[bool]string{true: "proved", false: "measured"}[r.TruncationProved]
	return fmt.Sprintf("%s of %d states, %s\nrelative error: %s from the omitted states (%s), %s",
		method, r.States, where, render.OneDigitUp(r.TruncationBound), proved, rounding)
}

// limitText states the arrival rates up to which a property holds, and the limiting resource.
func (a *trafficCase) limitText(so string) string {
	j := a.traffic.Bottleneck()
	if j < 0 {
		return "no jobs arrive"
	}
	return fmt.Sprintf("%s with the arrival rates multiplied by anything below %s, when %s is full", so,
		render.SixBeside(a.traffic.CriticalScale(), big.NewRat(1, 1)), a.traffic.Resources[j].Name)
}

// loadsText writes the loads of the resources.
func loadsText(t *render.Text, body render.Record) {
	columns, rows := []string{"name", "load"}, body.Get("resources").([]render.Record)
	if rows[0].Get("true_load") != nil {
		columns = append(columns, "true_load")
	}
	t.Table(rows, columns...)
}

// describeLies lists the classes that declare more than they need, one per line.
func (a *trafficCase) describeLies() (lines []string) {
	for _, c := range a.traffic.Classes {
		var words []string
		for j, r := range a.traffic.Resources {
			if need, declared := c.Demand.Of(j), c.Profile().Of(j); declared.Cmp(need) != 0 {
				words = append(words, fmt.Sprintf("%s %s for %s", r.Name, render.SixRat(declared), render.SixRat(need)))
			}
		}
		if len(words) > 0 {
			lines = append(lines, fmt.Sprintf("class %s declares more than it needs: %s", c.Name,
				strings.Join(words, ", ")))
		}
	}
	return lines
}

// liesText writes which classes lie, or only the first ones if there are many.
func (a *trafficCase) liesText(t *render.Text) {
	const most = 8
	lies := a.describeLies()
	for i, line := range lies {
		if i == most && len(lies) > most+1 {
			t.Line("and %d more classes", len(lies)-most)
			break
		}
		t.Line("%s", line)
	}
}
