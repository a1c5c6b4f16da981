package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/internal/cli"
	"productform/cmd/internal/render"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/num"
	"productform/sim"
	"productform/sim/pool"
)

// A trafficAnswer turns what is known of jobs that come and go into records.
type trafficAnswer struct {
	flags    *allocateFlags
	traffic  *traffic.Model
	result   *traffic.Result        // nil if it is too large to solve
	why      string                 // there is no result
	overload *traffic.UnstableError // nil if stable

	simulated *sim.Result // nil unless asked for
	speed     *float64    // jumps per second, nil if all runs were found
}

// traffic computes the mean numbers of jobs that come and go, and says whether they are finite.
func (f *allocateFlags) traffic(ctx context.Context, t *traffic.Model, name string, stderr io.Writer) (answer []byte, stable bool, err error) {
	a := trafficAnswer{flags: f, traffic: t}
	if errors.As(t.Stable(), &a.overload) {
		answer, err = a.format()
		return answer, false, err
	}
	if f.policy == allPolicies {
		answer, err = f.compareTraffic(ctx, t, stderr)
		return answer, true, err
	}
	simulation := simulateFlags{settings: f.settings}
	var plan *sim.Plan
	if f.settings.Runs > 0 { // before anything that takes long
		if plan, err = sim.NewPlan(pool.Divisible{Traffic: *t, Policy: fluid.Policy(f.policy)}, f.settings); err != nil {
			return nil, false, simulation.translate(err)
		}
	}
	a.result, err = attended(ctx, stderr, func(ctx context.Context) (*traffic.Result, error) {
		return traffic.Solve(ctx, t, fluid.Policy(f.policy), traffic.Settings{RelTol: f.tol, MaxStates: f.states})
	})
	switch {
	case plan != nil && errors.Is(err, traffic.ErrTooLarge):
		a.why = "no exact means: " + f.tooLarge(err, name)
		fmt.Fprintln(stderr, "pfq: note:", cli.OneLine(errors.New(a.why)))
	case err != nil:
		return nil, false, err
	}
	if plan != nil {
		if a.simulated, a.speed, err = replicate(ctx, plan, f.settings, stderr); err != nil {
			return nil, false, simulation.translate(err)
		}
		for _, w := range a.simulated.Warnings {
			fmt.Fprintln(stderr, "pfq: warning:", w)
		}
	}
	answer, err = a.format()
	return answer, true, err
}

// tooLarge says why traffic cannot be solved.
func (f *allocateFlags) tooLarge(err error, name string) string {
	var large *traffic.TooLargeError
	if errors.As(err, &large) {
		switch {
		case large.Classes > 0:
			return f.policy + " is computed for " + large.Reason()
		case large.States > 0:
			return fmt.Sprintf("there would be %s; %s is %s", large.Reason(), orDefault("--states", f.states != 0), large.Input.Value)
		}
	}
	return f.translate(err, name).Error()
}

func (a *trafficAnswer) format() ([]byte, error) {
	switch a.flags.format {
	case "json":
		return writeJSON(a.json())
	case "csv":
		return writeCSV(columnsOf(a.csv()), a.csv())
	}
	return a.text(), nil
}

func (a *trafficAnswer) classes() []record {
	rows := []record{}
	for k, c := range a.traffic.Classes {
		var jobs, delay, rate any
		if a.result != nil {
			r := &a.result.Classes[k]
			jobs, delay, rate = r.MeanJobs, pointed(r.MeanDelay), pointed(r.ServiceRate)
		}
		row := record{{"name", c.Name}, {"dominant_resource", a.dominant(k)},
			{"arrival_rate", ratNumber(c.ArrivalRate)}, {"mean_jobs", jobs}, {"mean_delay", delay}, {"service_rate", rate}}
		if a.simulated != nil {
			row = append(row, field{"simulated", a.estimates(k, row)})
		}
		rows = append(rows, row)
	}
	return rows
}

// pointed returns the number, or nil if it does not exist.
func pointed(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// estimates returns what was simulated of a class, with the means of theory.
func (a *trafficAnswer) estimates(k int, theory record) record {
	exact := func(key string) *num.Value {
		v, ok := theory.get(key).(float64)
		if !ok {
			return nil
		}
		return &num.Value{Float: v}
	}
	return record{
		{"mean_jobs", estimate(a.simulated.Class(k, sim.MeanJobs), exact("mean_jobs"))},
		{"mean_delay", estimate(a.simulated.Class(k, sim.MeanDelay), exact("mean_delay"))},
		{"measured_delay", estimate(a.simulated.Class(k, sim.MeasuredDelay), exact("mean_delay"))},
		{"service_rate", estimate(a.simulated.Class(k, sim.ServiceRate), exact("service_rate"))},
	}
}

// dominant returns the name of the resource of which tasks of a class take the largest part, as the policy believes;
// the first of equal ones.
func (a *trafficAnswer) dominant(k int) string {
	best, name := new(big.Rat), ""
	for j, d := range a.traffic.Classes[k].Profile() {
		if d == nil {
			continue
		}
		r := a.traffic.Resources[j]
		if part := new(big.Rat).Quo(d, r.Capacity); part.Cmp(best) > 0 {
			best, name = part, r.Name
		}
	}
	return name
}

func (a *trafficAnswer) resources() []record {
	rows := []record{}
	honest := a.trueLoads()
	for j, load := range a.traffic.Loads() {
		row := record{{"name", a.traffic.Resources[j].Name}, {"load", ratNumberBeside(load, big.NewRat(1, 1))}}
		if honest != nil {
			row = append(row, field{"true_load", ratNumberBeside(honest[j], big.NewRat(1, 1))})
		}
		rows = append(rows, row)
	}
	return rows
}

// pool returns the fields of the pool as a whole.
func (a *trafficAnswer) pool() record {
	var stable any = a.overload == nil
	if stable == true && fluid.Policy(a.flags.policy) == fluid.BMF {
		stable = nil // not proved, see [traffic.Model.Stable]
	}
	out := record{{"stable", stable}, {"policy", a.flags.policy}}
	if a.overload != nil {
		out = append(out, field{"resource", a.traffic.Resources[a.overload.Resource].Name},
			field{"load", ratNumberBeside(a.overload.Load, big.NewRat(1, 1))}, field{"load_exact", ratText(a.overload.Load)})
		if honest := a.trueLoads(); honest != nil {
			load := honest[a.overload.Resource]
			out = append(out, field{"true_load", ratNumberBeside(load, big.NewRat(1, 1))}, field{"true_load_exact", ratText(load)})
		}
		return out
	}
	r := a.result
	if r == nil {
		r = new(traffic.Result)
	}
	iterated := r.IterationError > 0
	for _, f := range []struct {
		key   string
		known bool
		value any
	}{
		{"method", true, string(r.Method)},
		{"states", true, r.States},
		{"truncation_bound", true, r.TruncationBound},
		{"truncation_proved", true, r.TruncationProved},
		{"rounding_bound", !iterated, r.RoundingBound},
		{"iteration_error", iterated, r.IterationError},
		{"rate_residual", true, r.RateResidual},
		{"parts", true, len(r.Parts)},
	} {
		if a.result == nil || !f.known {
			f.value = nil
		}
		out = append(out, field{f.key, f.value})
	}
	if s := a.simulated; s != nil {
		out = append(out, field{"runs", s.Runs}, field{"jumps", s.Jumps}, field{"time", s.Time}, field{"warm_up", s.WarmUp},
			field{"seed", a.flags.settings.Seed})
	}
	return out
}

// json returns the whole answer as one object.
func (a *trafficAnswer) json() record {
	pool := a.pool()
	out := slices.Clone(pool[:2])
	if a.overload == nil {
		out = append(out, field{"classes", a.classes()})
	}
	out = join(out, record{{"resources", a.resources()}}, pool[2:])
	if a.simulated != nil {
		out = append(out, field{"jumps_per_second", a.speed}, field{"warnings", append([]string{}, a.simulated.Warnings...)})
	}
	return out
}

// csv returns the lines of the answer: one for each class, each resource and the pool.
func (a *trafficAnswer) csv() []record {
	var classes []record
	if a.overload == nil {
		for _, r := range a.classes() {
			classes = append(classes, flatten(r))
		}
	}
	return kinds([]kindRows{{"class", classes}, {"resource", a.resources()}, {"pool", []record{a.pool()}}})
}

func (a *trafficAnswer) text() []byte {
	var b bytes.Buffer
	name := policyName(fluid.Policy(a.flags.policy))
	loads := []string{"name", "load"}
	if len(a.lies()) > 0 {
		loads = append(loads, "true_load")
	}
	if a.overload != nil {
		one := big.NewRat(1, 1)
		load := sixBeside(a.overload.Load, one)
		if honest := a.trueLoads(); honest != nil {
			load = fmt.Sprintf("%s by what jobs declare (%s by what they need)", load, sixBeside(honest[a.overload.Resource], one))
		}
		fmt.Fprintf(&b, "unstable: the load of %s is %s, and jobs pile up under every policy\n", a.traffic.Resources[a.overload.Resource].Name, load)
		a.liesText(&b)
		fmt.Fprintln(&b)
		poolTable(&b, a.resources(), "resource", 6, loads...)
		return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
	}
	verdict := "stable"
	if fluid.Policy(a.flags.policy) == fluid.BMF {
		verdict = "loads below 1" // which is not proved to suffice
	}
	fmt.Fprintf(&b, "%s; %s; %s\n", verdict, name, a.accuracy())
	a.liesText(&b)
	if s := a.simulated; s != nil {
		fmt.Fprintf(&b, "%d runs of %.0f jumps, observed for a time of %.6g after a warm-up of %.6g; seed %d; ± at confidence %g\n",
			s.Runs, s.Jumps/float64(s.Runs), s.Time, s.WarmUp, a.flags.settings.Seed, a.flags.settings.Confidence)
	}
	fmt.Fprintln(&b)
	if a.simulated == nil {
		poolTable(&b, a.classes(), "class", 6, "name", "arrival_rate", "mean_jobs", "mean_delay", "service_rate")
	} else {
		var rows []record
		for _, r := range a.classes() {
			rows = append(rows, join(r[:1], record{{"arrival_rate", r.get("arrival_rate")}}, r.get("simulated").(record)))
		}
		simulationTable(&b, rows, "class", "name", "arrival_rate", "mean_jobs", "service_rate")
		simulationTable(&b, rows, "class", "name", "mean_delay", "measured_delay")
	}
	poolTable(&b, a.resources(), "resource", 6, loads...)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// accuracy says how the means were computed and how good they are.
func (a *trafficAnswer) accuracy() string {
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
	return fmt.Sprintf("%s of %d states, %s\nrelative error: %s from the states left out (%s), %s",
		method, r.States, where, render.OneDigitUp(r.TruncationBound), proved, rounding)
}
