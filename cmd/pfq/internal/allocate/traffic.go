package allocate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	"productform/sim/pool"
)

// A trafficCase is what is known of jobs that come and go under a policy.
type trafficCase struct {
	policy   fluid.Policy
	traffic  *traffic.Model
	result   *traffic.Result        // nil if it is too large to solve
	why      string                 // there is no result
	overload *traffic.UnstableError // nil if stable

	simulated *sim.Result // nil unless asked for
	settings  sim.Settings
	asked     []command.Percentile
	speed     *float64 // jumps per second, nil if all runs were found
}

// traffic computes the mean numbers of jobs that come and go, and says whether they are finite.
func (f *allocateFlags) traffic(q command.Query, t *traffic.Model) (answer render.Answer, stable bool, err error) {
	a := &trafficCase{policy: fluid.Policy(f.policies.String()), traffic: t}
	if errors.As(t.Stable(), &a.overload) {
		return a.answer(), false, nil
	}
	if f.policies.Several() {
		answer, err = f.compareTraffic(q, t)
		return answer, true, err
	}
	if a, err = f.underPolicy(q, t, f.policies.List()[0]); err != nil {
		return answer, false, err
	}
	return a.answer(), true, nil
}

// underPolicy solves stable traffic under a policy, and simulates it if that was asked for.
func (f *allocateFlags) underPolicy(q command.Query, t *traffic.Model, policy fluid.Policy) (a *trafficCase, err error) {
	a = &trafficCase{policy: policy, traffic: t, settings: f.settings, asked: f.percentiles}
	var plan *sim.Plan
	if f.settings.Runs > 0 { // before anything that takes long
		if plan, err = f.plan(q.Ctx, t, policy); err != nil {
			return nil, err
		}
	}
	a.result, err = f.solveTraffic(q, t, policy)
	switch {
	case plan != nil && errors.Is(err, traffic.ErrTooLarge):
		a.why = "no exact means: " + f.tooLarge(err, policy)
	case err != nil:
		return nil, err
	}
	if plan != nil {
		if a.simulated, a.speed, err = command.Replicate(q.Ctx, plan, f.settings, q.Stderr); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// plan checks what is to be simulated.
func (f *allocateFlags) plan(ctx context.Context, t *traffic.Model, policy fluid.Policy) (*sim.Plan, error) {
	plan, err := sim.NewPlan(ctx, pool.Divisible{Traffic: *t, Policy: policy}, f.settings)
	if err != nil {
		return nil, command.SimulationError(err, f.settings.Folder)
	}
	return plan, nil
}

// plans returns the plans of what answer simulates, at every factor. Unstable traffic has none.
func (f *allocateFlags) plans(q command.Query) (plans []*sim.Plan, err error) {
	t, err := f.readTraffic(q)
	if err != nil {
		return nil, err
	}
	all := []*traffic.Model{t}
	if f.factors != nil {
		all = nil
	}
	for _, factor := range f.factors {
		all = append(all, t.Scale(factor))
	}
	for _, one := range all {
		var overload *traffic.UnstableError
		if errors.As(one.Stable(), &overload) {
			fmt.Fprintln(q.Stderr, "pfq: note: unstable traffic has no runs; without --part and --tasks the command says why")
			continue
		}
		of, err := f.plansOf(q, one)
		if err != nil {
			return nil, command.InFile(q.File, f.translate(namingDemand(err, t.Pool())))
		}
		plans = append(plans, of...)
	}
	return plans, nil
}

// plansOf returns the plan of each policy. Of several, those that do not take the traffic are left out unless none takes it.
func (f *allocateFlags) plansOf(q command.Query, t *traffic.Model) (plans []*sim.Plan, err error) {
	for _, policy := range f.policies.List() {
		plan, failed := f.plan(q.Ctx, t, policy)
		var bad *input.Error
		switch {
		case failed == nil:
			plans = append(plans, plan)
		case errors.As(failed, &bad):
			err = cmp.Or(err, failed)
		default:
			return nil, failed
		}
	}
	if plans == nil {
		return nil, err
	}
	return plans, nil
}

func (f *allocateFlags) solveTraffic(q command.Query, t *traffic.Model, policy fluid.Policy) (*traffic.Result, error) {
	return command.WithProgress(q, func(ctx context.Context) (*traffic.Result, error) {
		return traffic.Solve(ctx, t, policy, traffic.Settings{RelTol: f.tol, MaxStates: f.states})
	})
}

// tooLarge says why traffic cannot be solved.
func (f *allocateFlags) tooLarge(err error, policy fluid.Policy) string {
	var large *traffic.TooLargeError
	if errors.As(err, &large) {
		switch {
		case large.Classes > 0:
			return string(policy) + " is computed for " + large.Reason()
		case large.States > 0:
			return fmt.Sprintf("at a load of %s they would take %s, and --states is %s", render.SixBeside(large.Load, big.NewRat(1, 1)), large.Reason(), large.Input.Value)
		}
	}
	return cli.OneLine(f.translate(err))
}

// A trafficAnswer is the answer of allocate --dynamic.
type trafficAnswer struct {
	trafficHead
	Classes   []trafficClass    `json:"classes"` // none if unstable
	Resources []trafficResource `json:"resources"`
	trafficPool
	*trafficSpeed
	*trafficWarnings
}

type trafficHead struct {
	Stable *bool        `json:"stable"` // null if not known
	Policy fluid.Policy `json:"policy"`
}

type trafficClass struct {
	Name             string            `json:"name" title:"class"`
	DominantResource string            `json:"dominant_resource"`
	ArrivalRate      render.Number     `json:"arrival_rate"`
	MeanJobs         *float64          `json:"mean_jobs"`
	MeanDelay        *float64          `json:"mean_delay"`
	ServiceRate      *float64          `json:"service_rate"`
	Limit            *int              `json:"limit"` // states with at most so many jobs of its group are summed; null if all are
	Simulated        *simulatedTraffic `json:"simulated,omitempty"`
}

type simulatedTraffic struct {
	MeanJobs      *render.Estimate `json:"mean_jobs"`
	MeanDelay     *render.Estimate `json:"mean_delay"`
	MeasuredDelay *render.Estimate `json:"measured_delay"`
	ServiceRate   *render.Estimate `json:"service_rate"`
	Delay         render.Record    `json:"delay,omitempty"` // the percentiles asked for
}

type trafficResource struct {
	Name string        `json:"name" title:"resource"`
	Load render.Number `json:"load"`
	*trueLoad
}

// A trueLoad is there if some class lies.
type trueLoad struct {
	TrueLoad render.Number `json:"true_load"`
}

// A trafficPool is about the pool as a whole.
type trafficPool struct {
	trafficLimit
	*trafficOverload
	*trafficMethod
	*trafficRuns
}

// A trafficLimit says how much traffic is too much, and for which resource; null without arrivals.
type trafficLimit struct {
	CriticalScale render.Number `json:"critical_scale"`
	Bottleneck    *string       `json:"bottleneck"`
}

type trafficOverload struct {
	Resource string        `json:"resource"`
	Load     render.Number `json:"load"`
	*trueLoad
}

type trafficMethod struct {
	Method           *traffic.Method `json:"method"`
	States           *int            `json:"states"`
	TruncationBound  *float64        `json:"truncation_bound"`
	TruncationProved *bool           `json:"truncation_proved"`
	RoundingBound    *float64        `json:"rounding_bound"`
	IterationError   *float64        `json:"iteration_error"`
	RateResidual     *float64        `json:"rate_residual"`
	Parts            *int            `json:"parts"`
	Why              string          `json:"why,omitempty"` // there are no exact means
}

type trafficRuns struct {
	Runs   int     `json:"runs"`
	Jumps  float64 `json:"jumps"`
	Time   float64 `json:"time"`
	WarmUp float64 `json:"warm_up"`
	Seed   uint64  `json:"seed"`

	Joint *command.Joint `json:"joint"`
	Delay render.Record  `json:"delay,omitempty"` // the requested percentiles, of all jobs
}

type trafficSpeed struct {
	JumpsPerSecond *float64 `json:"jumps_per_second"`
}

type trafficWarnings struct {
	Warnings []string `json:"warnings"`
}

func (a *trafficCase) whole() *trafficAnswer {
	stable := a.overload == nil
	out := &trafficAnswer{trafficHead: trafficHead{&stable, a.policy}, Classes: []trafficClass{}, Resources: a.resources()}
	if stable && a.policy == fluid.BMF {
		out.Stable = nil // not proved, see [traffic.Model.Stable]
	}
	out.CriticalScale = render.RatBeside(a.traffic.CriticalScale(), big.NewRat(1, 1), render.Fraction)
	if j := a.traffic.Bottleneck(); j >= 0 {
		out.Bottleneck = &a.traffic.Resources[j].Name
	}
	if a.overload != nil {
		out.trafficOverload = &trafficOverload{Resource: a.traffic.Resources[a.overload.Resource].Name, Load: loadOf(a.overload.Load, render.Fraction)}
		if honest := a.trueLoads(); honest != nil {
			out.trafficOverload.trueLoad = &trueLoad{loadOf(honest[a.overload.Resource], render.Fraction)}
		}
		return out
	}
	var c command.Comparisons
	out.Classes = a.classes(&c)
	out.trafficMethod = &trafficMethod{Why: a.why}
	if r := a.result; r != nil {
		parts := len(r.Parts)
		m := trafficMethod{Method: &r.Method, States: &r.States, TruncationBound: &r.TruncationBound, TruncationProved: &r.TruncationProved,
			RateResidual: &r.RateResidual, Parts: &parts}
		if r.IterationError > 0 {
			m.IterationError = &r.IterationError
		} else {
			m.RoundingBound = &r.RoundingBound
		}
		out.trafficMethod = &m
	}
	if s := a.simulated; s != nil {
		out.trafficRuns = &trafficRuns{s.Runs, s.Jumps, s.Time, s.WarmUp, a.settings.Seed, c.Joint(),
			a.percentiles(&c, sim.OfAll, 0)}
		out.trafficSpeed = &trafficSpeed{a.speed}
		out.trafficWarnings = &trafficWarnings{append([]string{}, s.Warnings...)}
	}
	return out
}

// loadOf returns a load, which text does not show as 1 unless it is.
func loadOf(load *big.Rat, p render.Proof) render.Number {
	one := big.NewRat(1, 1)
	return belowOne(render.RatBeside(load, one, p), load)
}

func (a *trafficCase) classes(comparisons *command.Comparisons) []trafficClass {
	rows := []trafficClass{}
	for k, c := range a.traffic.Classes {
		row := trafficClass{Name: c.Name, DominantResource: a.dominant(k), ArrivalRate: render.Rat(c.ArrivalRate, render.Unproved)}
		if a.result != nil {
			r := &a.result.Classes[k]
			row.MeanJobs, row.MeanDelay, row.ServiceRate = &r.MeanJobs, r.MeanDelay, r.ServiceRate
			if limits := a.result.Limits; limits != nil && limits[k] > 0 {
				row.Limit = &limits[k]
			}
		}
		if s := a.simulated; s != nil {
			exact := func(v *float64) *num.Value {
				if v == nil {
					return nil
				}
				return &num.Value{Float: *v}
			}
			row.Simulated = &simulatedTraffic{
				comparisons.Estimated(s.Class(k, sim.MeanJobs), exact(row.MeanJobs)),
				comparisons.Estimated(s.Class(k, sim.MeanDelay), exact(row.MeanDelay)),
				comparisons.Estimated(s.Class(k, sim.MeasuredDelay), exact(row.MeanDelay)),
				comparisons.Estimated(s.Class(k, sim.ServiceRate), exact(row.ServiceRate)),
				a.percentiles(comparisons, sim.OfClass, k),
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// percentiles returns the requested percentiles of simulated delays. None of them has an exact value.
func (a *trafficCase) percentiles(comparisons *command.Comparisons, kind sim.Kind, index int) render.Record {
	return comparisons.Quantiles(a.asked, a.settings.Levels, a.simulated, kind, index, nil)
}

func (a *trafficCase) resources() []trafficResource {
	rows := []trafficResource{}
	honest := a.trueLoads()
	for j, load := range a.traffic.Loads() {
		row := trafficResource{Name: a.traffic.Resources[j].Name, Load: loadOf(load, render.Unproved)}
		if honest != nil {
			row.trueLoad = &trueLoad{loadOf(honest[j], render.Unproved)}
		}
		rows = append(rows, row)
	}
	return rows
}

// dominant returns the name of the resource of which tasks of a class take the largest part, as the policy believes;
// the first of equal ones.
func (a *trafficCase) dominant(k int) string {
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

// lines returns the lines of CSV: one for each class, each resource and the pool.
func (w *trafficAnswer) lines(head any) []render.Lines {
	pool := struct {
		trafficHead
		trafficPool
		*trafficWarnings
	}{w.trafficHead, w.trafficPool, w.trafficWarnings}
	return []render.Lines{{Kind: "class", Head: head, Of: w.Classes}, {Kind: "resource", Head: head, Of: w.Resources}, {Kind: "pool", Head: head, Of: pool}}
}

func (a *trafficCase) answer() render.Answer {
	w := a.whole()
	return render.Answer{JSON: w, Lines: w.lines(nil), Text: func(t *render.Text) { a.text(t, w) }}
}

func (a *trafficCase) text(t *render.Text, w *trafficAnswer) {
	if o := a.overload; o != nil {
		one := big.NewRat(1, 1)
		load := render.SixBeside(o.Load, one)
		if honest := a.trueLoads(); honest != nil {
			load = fmt.Sprintf("%s by what jobs declare (%s by what they need)", load, render.SixBeside(honest[o.Resource], one))
		}
		t.Line("unstable: the load of %s is %s, and jobs pile up under every policy", a.traffic.Resources[o.Resource].Name, load)
		t.Line("%s", a.limitText(w, "loads would be below 1"))
		a.liesText(t)
		t.Line("")
		a.loadsText(t, w)
		return
	}
	verdict, still := "stable", "still stable"
	if a.policy == fluid.BMF {
		verdict, still = "loads below 1", "loads are below 1" // which is not proved to suffice
	}
	t.Line("%s; %s; %s", verdict, a.policy.Words(), a.accuracy())
	t.Line("%s", a.limitText(w, still))
	a.liesText(t)
	if s := w.trafficRuns; s != nil {
		t.Line("%d runs of %.0f jumps, observed for a time of %.6g after a warm-up of %.6g; seed %d; ± at confidence %g",
			s.Runs, s.Jumps/float64(s.Runs), s.Time, s.WarmUp, s.Seed, a.settings.Confidence)
		s.Joint.Text(t)
	}
	t.Line("")
	if a.simulated == nil {
		t.Table(w.Classes, "name", "arrival_rate", "mean_jobs", "mean_delay", "service_rate")
	} else {
		var rows []render.Record
		for _, c := range w.Classes {
			named := render.Fields(struct {
				Name        string        `json:"name" title:"class"`
				ArrivalRate render.Number `json:"arrival_rate"`
			}{c.Name, c.ArrivalRate})
			rows = append(rows, slices.Concat(named, render.Fields(c.Simulated)))
		}
		t.Table(rows, "name", "arrival_rate", "mean_jobs", "service_rate")
		t.Table(rows, "name", "mean_delay", "measured_delay")
		all := render.Record{{Key: "name", Value: "all classes"}, {Key: "delay", Value: w.trafficRuns.Delay}}
		command.QuantileTables(t, append([]render.Record{all}, rows...), "delay")
	}
	a.loadsText(t, w)
}

// limitText says up to which arrival rates something is so, and which resource is the limit.
func (a *trafficCase) limitText(w *trafficAnswer, so string) string {
	if w.Bottleneck == nil {
		return "no jobs arrive"
	}
	return fmt.Sprintf("%s with the arrival rates multiplied by anything below %s, when %s is full", so,
		render.SixBeside(a.traffic.CriticalScale(), big.NewRat(1, 1)), *w.Bottleneck)
}

// loadsText writes the loads of the resources.
func (a *trafficCase) loadsText(t *render.Text, w *trafficAnswer) {
	columns := []string{"name", "load"}
	if len(a.lies()) > 0 {
		columns = append(columns, "true_load")
	}
	t.Table(w.Resources, columns...)
}

// accuracy says how the means were computed and how good they are.
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
	return fmt.Sprintf("%s of %d states, %s\nrelative error: %s from the states left out (%s), %s",
		method, r.States, where, render.OneDigitUp(r.TruncationBound), proved, rounding)
}

// trueLoads returns the loads by what the jobs need, nil if no class lies.
func (a *trafficCase) trueLoads() []*big.Rat {
	if len(a.lies()) == 0 {
		return nil
	}
	honest := traffic.Model{Resources: a.traffic.Resources, Classes: slices.Clone(a.traffic.Classes)}
	for k := range honest.Classes {
		honest.Classes[k].Declared = nil
	}
	return honest.Loads()
}

// lies says which classes declare more than they need, and what: one line for each.
func (a *trafficCase) lies() (lines []string) {
	number := func(profile []*big.Rat, j int) *big.Rat {
		if j >= len(profile) || profile[j] == nil {
			return new(big.Rat)
		}
		return profile[j]
	}
	for _, c := range a.traffic.Classes {
		var words []string
		for j, r := range a.traffic.Resources {
			if need, declared := number(c.Demand, j), number(c.Profile(), j); declared.Cmp(need) != 0 {
				words = append(words, fmt.Sprintf("%s %s for %s", r.Name, render.SixRat(declared), render.SixRat(need)))
			}
		}
		if len(words) > 0 {
			lines = append(lines, fmt.Sprintf("class %s declares more than it needs: %s", c.Name, strings.Join(words, ", ")))
		}
	}
	return lines
}

// liesText writes which classes lie, not all if they are many.
func (a *trafficCase) liesText(t *render.Text) {
	const most = 8
	lies := a.lies()
	for i, line := range lies {
		if i == most && len(lies) > most+1 {
			t.Line("and %d classes more", len(lies)-most)
			break
		}
		t.Line("%s", line)
	}
}
