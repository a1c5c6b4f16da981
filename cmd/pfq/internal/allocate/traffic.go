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
		return a.answer().Answer, false, nil
	}
	under := func(q command.Query, policy fluid.Policy) (*answered, error) {
		a, err := f.underPolicy(q, t, policy)
		if err != nil {
			return nil, err
		}
		return a.answer(), nil
	}
	if f.policies.Several() {
		text := func(text *render.Text, all []*answered) { a.compareText(text, all) }
		if f.settings.Runs > 0 { // intervals are too wide for a column each
			text = oneAfterOther
		}
		answer, err = f.compare(q, under, text)
		return answer, true, err
	}
	one, err := under(q, f.policies.List()[0])
	if err != nil {
		return answer, false, err
	}
	return one.Answer, true, nil
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
		return nil, command.SimulationError(f.binding, err, f.settings.Folder)
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
		return traffic.Solve(ctx, t, policy, traffic.Settings{RelTol: f.sharing.RelTol, MaxStates: f.chain.MaxStates})
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

// A trafficRuns says what was simulated.
type trafficRuns struct {
	Runs   int     `json:"runs"`
	Jumps  float64 `json:"jumps"`
	Time   float64 `json:"time"`
	WarmUp float64 `json:"warm_up"`
	Seed   uint64  `json:"seed"`

	Joint          *command.Joint `json:"joint"`
	Delay          render.Record  `json:"delay,omitempty"` // the percentiles asked for, of all jobs
	JumpsPerSecond *float64       `json:"jumps_per_second"`
	Warnings       []string       `json:"warnings"`
}

// answer returns the answer, with a line of CSV for each class, each resource and the pool.
func (a *trafficCase) answer() *answered {
	body, joint := a.body()
	pool := slices.DeleteFunc(slices.Clone(body), func(f render.Field) bool { return f.Key == "jumps_per_second" })
	lines := []render.Lines{{Kind: "class", Of: body.Get("classes")}, {Kind: "resource", Of: body.Get("resources")},
		{Kind: "pool", Of: pool}}
	return &answered{body: body, accuracy: strings.ReplaceAll(a.accuracy(), "\n", "; "),
		Answer: render.Answer{JSON: body, Lines: lines, Text: func(t *render.Text) { a.text(t, body, joint) }}}
}

// body returns the fields of the answer, and what the estimates say of theory together.
func (a *trafficCase) body() (body render.Record, joint *command.Joint) {
	r := a.result
	if r == nil {
		r = traffic.NewResult(a.traffic, a.policy)
	}
	stable := any(a.overload == nil)
	if a.overload == nil && a.policy == fluid.BMF {
		stable = nil // not proved, see [traffic.Model.Stable]
	}
	exact := render.Style{Engine: num.Exact}
	critical := exact.Beside(a.traffic.CriticalScale(), big.NewRat(1, 1))
	body = render.Fields(r).Set("stable", stable, "policy").
		Set("critical_scale", critical, "method").Set("bottleneck", nil, "method")
	if j := a.traffic.Bottleneck(); j >= 0 {
		body.Set("bottleneck", a.traffic.Resources[j].Name, "")
	}
	method := slices.IndexFunc(body, func(f render.Field) bool { return f.Key == "method" })
	if a.overload != nil {
		load := exact.Record(r.Resources[a.overload.Resource])
		load[0].Key = "resource"
		return slices.Concat(body[:method], load).Set("classes", []render.Record{}, ""), nil
	}
	classes := body.Get("classes").([]render.Record)
	body = body.Set("parts", len(r.Parts), "")
	switch {
	case a.result == nil:
		for i := range body[method:] {
			body[method+i].Value = nil
		}
		for _, row := range classes {
			row.Set("mean_jobs", nil, "")
		}
	case r.IterationError > 0:
		body.Set("rounding_bound", nil, "")
	}
	if a.why != "" {
		body = body.Set("why", a.why, "")
	}
	s := a.simulated
	if s == nil {
		return body, nil
	}
	var c command.Comparisons
	for k := range classes {
		classes[k] = classes[k].Set("simulated", a.estimates(&c, k, classes[k]), "")
	}
	joint = c.Joint()
	runs := trafficRuns{s.Runs, s.Jumps, s.Time, s.WarmUp, a.settings.Seed, joint, a.percentiles(&c, sim.OfAll, 0),
		a.speed, append([]string{}, s.Warnings...)}
	return slices.Concat(body, render.Fields(runs)), joint
}

// estimates returns the estimates of a class, with its exact means if they are known.
func (a *trafficCase) estimates(c *command.Comparisons, k int, exact render.Record) render.Record {
	row := c.Estimates(a.simulated, sim.OfClass, k, exact, sim.MeanJobs, sim.MeanDelay, sim.MeasuredDelay, sim.ServiceRate)
	if delay := a.percentiles(c, sim.OfClass, k); delay != nil {
		row = row.Set("delay", delay, "")
	}
	return row
}

// percentiles returns the requested percentiles of simulated delays. None of them has an exact value.
func (a *trafficCase) percentiles(comparisons *command.Comparisons, kind sim.Kind, index int) render.Record {
	return comparisons.Quantiles(a.asked, a.settings.Levels, a.simulated, kind, index, nil)
}

func (a *trafficCase) text(t *render.Text, body render.Record, joint *command.Joint) {
	if o := a.overload; o != nil {
		r, one := traffic.NewResult(a.traffic, a.policy).Resources[o.Resource], big.NewRat(1, 1)
		load := render.SixBeside(r.Load, one)
		if r.TrueLoad != nil {
			load += fmt.Sprintf(" by what jobs declare (%s by what they need)", render.SixBeside(r.TrueLoad, one))
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
		t.Line("%d runs of %.0f jumps, observed for a time of %.6g after a warm-up of %.6g; seed %d; ± at confidence %g",
			s.Runs, s.Jumps/float64(s.Runs), s.Time, s.WarmUp, a.settings.Seed, a.settings.Confidence)
		joint.Text(t)
	}
	t.Line("")
	classes := body.Get("classes").([]render.Record)
	if a.simulated == nil {
		t.Table(classes, "name", "arrival_rate", "mean_jobs", "mean_delay", "service_rate")
	} else {
		rows := make([]render.Record, len(classes))
		for k, c := range classes {
			const given = 3 // fields before those of means
			rows[k] = slices.Concat(c[:given], c.Get("simulated").(render.Record))
		}
		t.Table(rows, "name", "arrival_rate", "mean_jobs", "service_rate")
		t.Table(rows, "name", "mean_delay", "measured_delay")
		all := render.Record{{Key: "name", Value: "all classes"}, {Key: "delay", Value: body.Get("delay")}}
		command.QuantileTables(t, append([]render.Record{all}, rows...), "delay")
	}
	loadsText(t, body)
}

// oneAfterOther writes the answer of each policy.
func oneAfterOther(t *render.Text, all []*answered) {
	for i, a := range all {
		if i > 0 {
			t.Blank()
		}
		if a.refused != "" {
			t.Line("%s; no answer: %s", a.policy.Words(), a.refused)
			continue
		}
		a.Text(t)
	}
}

// compareText writes a table for each measure with a column for each policy.
func (a *trafficCase) compareText(t *render.Text, all []*answered) {
	headings(t, all)
	a.liesText(t)
	for _, key := range []string{"mean_jobs", "mean_delay", "service_rate"} {
		tableOf(t, all, strings.ReplaceAll(key, "_", " "), "class", key, rowsOf("classes"))
	}
	body, _ := a.body()
	loadsText(t, body)
	t.Line("%s", a.limitText("loads are below 1"))
}

// limitText says up to which arrival rates something is so, and which resource is the limit.
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

// lies says which classes declare more than they need, and what: one line for each.
func (a *trafficCase) lies() (lines []string) {
	for _, c := range a.traffic.Classes {
		var words []string
		for j, r := range a.traffic.Resources {
			if need, declared := c.Demand.Of(j), c.Profile().Of(j); declared.Cmp(need) != 0 {
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
