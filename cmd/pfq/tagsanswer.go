package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"productform/internal/input"
	"productform/num"
	"productform/sim"
	"productform/sizes"
	"productform/tags"
)

// A tagsAnswer holds what is known of a farm.
type tagsAnswer struct {
	flags   *tagsFlags
	model   tags.Model
	maxLoad float64
	pairs   float64 // largest load of two hosts of one speed, or 0 if it is of no use
	ofSITA  tags.Objective

	reason     string          // why there is no answer, or empty
	overloaded int             // 1-based, by the cutoffs given, or 0
	result     tags.Result     // of TAGS, the zero value if no cutoffs exist
	value, gap any             // of the objective
	unfairness any             // of cutoffs that are to be fair
	enclosed   *enclosedAnswer // nil if nothing is proved

	policies   []policyAnswer
	expansions []tags.Expansion
	simulated  *sim.Result // of TAGS, or nil
	warnings   []string    // not nil
}

// A policyAnswer holds what is known of a policy.
type policyAnswer struct {
	name      tags.Policy
	rival     *tags.Rival // nil if it cannot be computed
	cutoffs   []float64   // nil for none
	loads     []float64   // of the hosts, nil if unknown
	gap       any         // to the best cutoffs
	note      string      // why something is missing, or empty
	simulated *sim.Result // nil if it is not
}

func (a *tagsAnswer) feasible() bool { return a.reason == "" }

// analyze computes all but the simulation.
func (f *tagsFlags) analyze(m tags.Model) (*tagsAnswer, error) {
	a := &tagsAnswer{flags: f, model: m, ofSITA: f.objective.weights, warnings: []string{}}
	if f.cutoffs != nil {
		if err := m.CheckCutoffs(floats(f.cutoffs)); err != nil {
			return nil, err
		}
	}
	if _, err := m.Sizes.Moment(-1); err != nil {
		switch slowdown := f.objective.weights.Slowdown > 0; {
		case f.target > 0:
			return nil, input.Errorf("--expand", f.target, "sizes whose mean of 1/size is finite")
		case slowdown && f.cutoffs == nil && !f.objectiveGiven:
			return nil, &input.Error{Path: "--objective", Want: "waiting for this law: its mean of 1/size is infinite, and so is the mean slowdown, the default"}
		case slowdown && f.cutoffs == nil:
			return nil, input.Errorf("--objective", f.objectiveText, "waiting, since the mean of 1/size is infinite for these sizes")
		case slowdown:
			a.ofSITA = tags.Objective{Waiting: 1}
		}
	}
	if w := f.sizes.misfit(m.Sizes); w != "" {
		a.warnings = append(a.warnings, w)
	}
	var err error
	if a.maxLoad, err = tags.MaxLoad(m); err != nil {
		return nil, err
	}
	if m.Hosts > 2 && m.Load >= a.maxLoad {
		if a.pairs, err = tags.MaxLoad(tags.Model{Sizes: m.Sizes, Hosts: 2, Load: m.Load}); err != nil {
			return nil, err
		}
	}
	if err := a.tags(); err != nil {
		return nil, err
	}
	if a.feasible() {
		rival := a.result.Rival()
		a.policies = append(a.policies, policyAnswer{name: tags.PolicyTAGS, rival: &rival, cutoffs: a.result.Cutoffs, loads: a.hostLoads(), gap: a.gap})
	}
	if err := a.rivals(); err != nil {
		return nil, err
	}
	return a, a.expand()
}

// tags analyses TAGS with the best cutoffs, or those given.
func (a *tagsAnswer) tags() error {
	if err := a.inDoubles(); err != nil {
		return err
	}
	if err := a.enclose(); err != nil {
		return err
	}
	if a.feasible() {
		a.doubtful()
		for i := range a.result.Hosts { // no load reads 1, though it may be nearest
			a.result.Hosts[i].Load = min(a.result.Hosts[i].Load, math.Nextafter(1, 0))
		}
	}
	return nil
}

// doubtful warns of hosts whose slack rounding does not separate from 0, unless bounds prove it.
func (a *tagsAnswer) doubtful() {
	if a.enclosed != nil {
		return
	}
	for i, h := range a.result.Hosts {
		if h.Slack <= h.SlackError {
			a.warnings = append(a.warnings, fmt.Sprintf("host %d: its slack, 1 - load, is %.3g in double precision, with an error of up to %.1g: "+
				"whether its load is below 1 is not decided", i+1, h.Slack, h.SlackError))
		}
	}
}

// inDoubles does so in double precision.
func (a *tagsAnswer) inDoubles() (err error) {
	m, o := a.model, a.flags.objective
	var best tags.Optimum
	switch {
	case a.flags.cutoffs != nil:
		a.result, err = tags.Analyze(m, floats(a.flags.cutoffs))
		a.value = a.valueAtCutoffs()
	case o.fair:
		best, err = tags.Fair(m)
		a.result, a.value, a.unfairness = best.Result, best.Objective, best.Gap
	default:
		best, err = tags.Optimize(m, o.weights)
		a.result, a.value, a.gap = best.Result, best.Objective, best.Gap
	}
	var unstable *tags.UnstableError
	var unfair *tags.UnfairError
	switch {
	case errors.As(err, &unstable):
		a.overload(unstable)
		return nil
	case errors.As(err, &unfair) && unfair.Proved:
		a.reason = fmt.Sprintf("no cutoffs give all hosts the same mean slowdown, with jobs that end at each, as bounds in %d boxes of cutoffs prove", unfair.Looked)
	case errors.As(err, &unfair):
		a.reason = fmt.Sprintf("no cutoffs were found that give all hosts the same mean slowdown, by shooting, by continuation and in %d boxes of cutoffs", unfair.Looked)
	case errors.Is(err, tags.ErrInfeasible) && m.Load < a.maxLoad:
		a.reason = "no cutoffs were found that keep every host below load 1"
	case errors.Is(err, tags.ErrInfeasible):
		a.reason = "no cutoffs keep every host below load 1"
	default:
		return err
	}
	a.result, a.value, a.gap, a.unfairness = tags.Result{}, nil, nil, nil
	return nil
}

// overload notes that the cutoffs overload a host. The loads in the result hold.
func (a *tagsAnswer) overload(e *tags.UnstableError) {
	a.overloaded, a.value = e.Host+1, nil
	a.reason = fmt.Sprintf("the cutoffs do not keep every host below load 1: host %d has load %.6g", e.Host+1, e.Load)
	if e.Undecided {
		a.reason = fmt.Sprintf("host %d has load 1 as far as double precision can tell: whether it is below 1 is not decided", e.Host+1)
	}
}

// valueAtCutoffs returns the objective at the cutoffs given, nil for that of fairness.
func (a *tagsAnswer) valueAtCutoffs() any {
	o, r := a.flags.objective, a.result
	return unless(o.fair || o.weights.Slowdown > 0 && r.NoSlowdown, o.weights.Slowdown*r.MeanSlowdown+o.weights.Waiting*r.MeanWaiting)
}

func (a *tagsAnswer) hostLoads() (loads []float64) {
	for _, host := range a.result.Hosts {
		loads = append(loads, host.Load)
	}
	return loads
}

// rivals computes the other policies.
func (a *tagsAnswer) rivals() error {
	m := a.model
	equal := slices.Repeat([]float64{m.Load}, m.Hosts)
	byQueue := func(name tags.Policy, compute func(tags.Model) (tags.Rival, error)) error {
		r, err := compute(m)
		p := policyAnswer{name: name, rival: &r, loads: equal}
		return a.add(p, err)
	}
	bySize := func(name tags.Policy, gap any, r tags.SITAResult, err error) error {
		rival := r.Rival(name)
		p := policyAnswer{name: name, rival: &rival, cutoffs: r.Cutoffs, gap: gap}
		for _, host := range r.Hosts {
			p.loads = append(p.loads, host.Load)
		}
		return a.add(p, err)
	}
	errs := []error{
		byQueue(tags.PolicyRandom, tags.Random),
		byQueue(tags.PolicyRoundRobin, tags.RoundRobin),
		byQueue(tags.PolicyCentral, tags.CentralQueue),
	}
	if a.flags.printed {
		errs = append(errs, byQueue(tags.PolicyCentralPrinted, tags.CentralQueuePrinted))
	}
	equalLoads, err := tags.SITAE(m)
	errs = append(errs, bySize(tags.PolicySITAE, nil, equalLoads, err))
	if p := &a.policies[len(a.policies)-1]; a.listed() && (p.loads == nil || slices.Max(p.loads)-slices.Min(p.loads) > 1e-9) {
		p.addNote("loads are only as equal as the sizes in the list allow")
	}
	best, err := tags.OptimizeSITA(m, a.ofSITA)
	errs = append(errs, bySize(tags.PolicySITA, best.Gap, best.SITAResult, err))
	return errors.Join(errs...)
}

// listed reports whether the sizes are finitely many.
func (a *tagsAnswer) listed() bool {
	_, ok := a.model.Sizes.(sizes.Atomic)
	return ok
}

// add appends a policy, with a note if the error tells that theory does not know it.
func (a *tagsAnswer) add(p policyAnswer, err error) error {
	var unstable *tags.UnstableError
	var infeasible *tags.InfeasibleError
	var bad *input.Error
	switch {
	case err == nil:
		a.policies = append(a.policies, p)
		return nil
	case errors.As(err, &unstable):
		p.note = fmt.Sprintf("overloads host %d", unstable.Host+1)
	case errors.As(err, &infeasible):
		p.note = fmt.Sprintf("no cutoffs keep every host below load 1; they do at loads below %.6g", infeasible.MaxLoad)
	case errors.As(err, &bad) && strings.HasPrefix(bad.Path, "Speeds["):
		p.note = "not known for hosts of different speeds"
	default:
		return err
	}
	a.policies = append(a.policies, policyAnswer{name: p.name, note: p.note})
	return nil
}

// expand computes the server expansions, if they are asked for.
func (a *tagsAnswer) expand() error {
	if a.flags.target == 0 {
		return nil
	}
	policies := []tags.Policy{tags.PolicyTAGS, tags.PolicyRandom, tags.PolicyRoundRobin, tags.PolicyCentral}
	if a.flags.printed {
		policies = append(policies, tags.PolicyCentralPrinted)
	}
	for _, p := range append(policies, tags.PolicySITAE, tags.PolicySITA) {
		e, err := tags.Expand(a.model, p, tags.ExpansionSettings{Target: a.flags.target})
		if err != nil {
			return err
		}
		a.expansions = append(a.expansions, e)
	}
	return nil
}

// record returns the whole answer as one object, in the same form whether there are cutoffs or not.
func (a *tagsAnswer) record() record {
	hosts := a.hosts()
	var loads, slowdowns []any
	for _, host := range hosts {
		loads, slowdowns = append(loads, host.get("load")), append(slowdowns, host.get("slowdown"))
	}
	if !a.feasible() {
		slowdowns = nil
	}
	out := join(a.verdict(), record{{"cutoffs", list(a.result.Cutoffs)}}, a.proof(), a.means(),
		record{{"host_loads", list(loads)}, {"slowdown_by_host", list(slowdowns)}}, a.losses(),
		record{{"optimality_gap", a.gap}, {"unfairness", a.unfairness}, {"max_load", a.maxLoad}, {"load", a.model.Load}}, a.rate(),
		record{{"distribution", a.distribution()}, {"hosts", hosts}, {"policies", a.policyRows()}})
	if a.flags.target > 0 {
		out = append(out, field{"expansion", a.expansionRows()})
	}
	if s := a.flags.settings; s.Runs > 0 {
		out = append(out, field{"simulation", record{{"runs", s.Runs}, {"jumps", a.flags.jumps()}, {"seed", s.Seed}, {"confidence", s.Confidence}}})
	}
	return append(out, field{"warnings", a.warnings})
}

// verdict says whether there are cutoffs, and what they are for.
func (a *tagsAnswer) verdict() record {
	out := record{{"feasible", a.feasible()}}
	if !a.feasible() {
		out = append(out, field{"reason", a.reason}, field{"overloaded_host", positive(a.overloaded)})
	}
	engine := floatEngine
	if a.enclosed != nil {
		engine = encloseEngine
	}
	out = append(out, field{"engine", engine}, field{"objective", a.flags.objectiveText}, field{"objective_value", a.value})
	if a.enclosed != nil && a.enclosed.value != nil {
		out = join(out, a.flags.bounds("objective_value", *a.enclosed.value))
	}
	return out
}

// proof returns the cutoffs for which means are enclosed, and how far from them the best can be.
func (a *tagsAnswer) proof() record {
	if a.enclosed == nil {
		return nil
	}
	return record{{"cutoffs_exact", a.enclosed.texts}, {"cutoff_radius", unless(a.enclosed.radius == 0, a.enclosed.radius)}}
}

// number returns the fields of a number of TAGS, with its bounds if it is enclosed.
func (a *tagsAnswer) number(key string, none bool, v float64, e func(*tags.EnclosedResult) num.Interval) record {
	out := record{{key, unless(none, v)}}
	if a.enclosed == nil || none {
		return out
	}
	return join(out, a.flags.bounds(key, e(&a.enclosed.result)))
}

// means returns those of TAGS over all jobs.
func (a *tagsAnswer) means() record {
	r, none := a.result, !a.feasible()
	return join(
		a.number("mean_slowdown", none || r.NoSlowdown, r.MeanSlowdown, func(e *tags.EnclosedResult) num.Interval { return e.MeanSlowdown }),
		a.number("mean_waiting", none, r.MeanWaiting, func(e *tags.EnclosedResult) num.Interval { return e.MeanWaiting }),
		a.number("mean_response", none, r.MeanResponse, func(e *tags.EnclosedResult) num.Interval { return e.MeanResponse }),
		a.number("mean_stretch", none || r.NoSlowdown, r.MeanStretch, func(e *tags.EnclosedResult) num.Interval { return e.MeanStretch }),
	)
}

// losses returns what kills cost, which is known for overloaded hosts, too.
func (a *tagsAnswer) losses() record {
	none := a.result.Hosts == nil
	return join(
		a.number("excess", none, a.result.Excess, func(e *tags.EnclosedResult) num.Interval { return e.Excess }),
		a.number("lost_work", none, a.result.Lost, func(e *tags.EnclosedResult) num.Interval { return e.Lost }),
	)
}

// rate returns the arrival rate.
func (a *tagsAnswer) rate() record {
	rate, err := a.model.ArrivalRate()
	if a.enclosed != nil {
		rate = a.result.ArrivalRate
	}
	return a.number("arrival_rate", err != nil, rate, func(e *tags.EnclosedResult) num.Interval { return e.ArrivalRate })
}

func (a *tagsAnswer) distribution() record {
	d := a.model.Sizes
	low, high, bounded := d.Support()
	out := record{{"law", d.String()}}
	for _, q := range []struct {
		key    string
		moment func() (float64, error)
	}{
		{"mean", func() (float64, error) { return sizes.Mean(d) }},
		{"scv", func() (float64, error) { return sizes.SCV(d) }},
		{"mean_inverse", func() (float64, error) { return d.Moment(-1) }},
	} {
		v, err := q.moment()
		out = append(out, field{q.key, unless(err != nil, v)})
	}
	return append(out, field{"min", low}, field{"max", unless(!bounded, high)})
}

// hosts returns a record for each host of TAGS.
func (a *tagsAnswer) hosts() []record {
	rows := []record{}
	for i, h := range a.result.Hosts {
		row := record{{"host", i + 1}, {"speed", 1.0}, {"cutoff", nil}}
		if a.model.Speeds != nil {
			row[1].value = a.model.Speeds[i]
		}
		if i < len(a.result.Cutoffs) {
			row[2].value = a.result.Cutoffs[i]
		}
		number := func(key string, none bool, v float64, e func(*tags.EnclosedHost) num.Interval) {
			row = join(row, a.number(key, none, v, func(r *tags.EnclosedResult) num.Interval { return e(&r.Hosts[i]) }))
		}
		idle, none := !a.feasible() || h.Visit == 0, !a.feasible() || h.Final == 0
		number("load", false, h.Load, func(e *tags.EnclosedHost) num.Interval { return e.Load })
		number("slack", false, h.Slack, func(e *tags.EnclosedHost) num.Interval { return e.Slack })
		number("visit_fraction", false, h.Visit, func(e *tags.EnclosedHost) num.Interval { return e.Visit })
		number("final_fraction", false, h.Final, func(e *tags.EnclosedHost) num.Interval { return e.Final })
		number("visit_waiting", idle, h.VisitWait, func(e *tags.EnclosedHost) num.Interval { return e.VisitWait })
		number("waiting", none, h.Waiting, func(e *tags.EnclosedHost) num.Interval { return e.Waiting })
		number("slowdown", none || a.result.NoSlowdown && (i == 0 || a.result.Cutoffs[i-1] == 0), h.Slowdown, func(e *tags.EnclosedHost) num.Interval { return e.Slowdown })
		number("response", none, h.Response, func(e *tags.EnclosedHost) num.Interval { return e.Response })
		if a.simulated != nil {
			row = append(row, field{"simulated", a.simulatedHost(i, row)})
		}
		rows = append(rows, row)
	}
	return rows
}

// policyRows returns a record for each policy.
func (a *tagsAnswer) policyRows() []record {
	rows := []record{}
	for _, p := range a.policies {
		row := record{{"name", string(p.name)}, {"accuracy", nil}}
		means := record{{"mean_slowdown", nil}, {"mean_waiting", nil}, {"mean_response", nil}}
		if r := p.rival; r != nil {
			row[1].value = string(r.Kind)
			means = join(rangeFields("mean_slowdown", r.MeanSlowdown, r.Kind, r.NoSlowdown), rangeFields("mean_waiting", r.MeanWaiting, r.Kind, false),
				rangeFields("mean_response", r.MeanResponse, r.Kind, false))
		}
		row = join(row, means, record{{"cutoffs", list(p.cutoffs)}, {"host_loads", list(p.loads)}, {"optimality_gap", p.gap}})
		if p.simulated != nil {
			row = append(row, field{"simulated", p.simulatedMeans()})
		}
		if p.note != "" {
			row = append(row, field{"note", p.note})
		}
		rows = append(rows, row)
	}
	return rows
}

// rangeFields returns a number, or its bounds.
func rangeFields(key string, r tags.Range, kind tags.Kind, none bool) record {
	switch {
	case none:
		return record{{key, nil}}
	case kind == tags.Bounds:
		return record{{key, nil}, {key + "_low", r.Low}, {key + "_high", r.High}}
	}
	return record{{key, r.Low}}
}

// expansionRows returns a record for each server expansion.
func (a *tagsAnswer) expansionRows() []record {
	rows := []record{}
	for _, e := range a.expansions {
		row := record{{"name", string(e.Policy)}, {"accuracy", string(e.Kind)}, {"target", e.Target}}
		row = join(row, rangeFields("extra_hosts", e.Extra, e.Kind, !e.Within), rangeFields("mean_slowdown", e.MeanSlowdown, e.Kind, !e.Within))
		if !e.Within {
			row = append(row, field{"note", beyond(e.Policy)})
		}
		rows = append(rows, row)
	}
	return rows
}

// beyond says up to how many hosts none reaches the target of an expansion.
func beyond(p tags.Policy) string {
	switch p {
	case tags.PolicyTAGS, tags.PolicySITA, tags.PolicySITAE:
		return fmt.Sprintf("none up to %d hosts", tags.MaxHosts)
	case tags.PolicyCentral, tags.PolicyCentralPrinted:
		return fmt.Sprintf("none up to %d hosts", tags.MaxQueueHosts)
	}
	return "more hosts than can be counted"
}

// unless returns the value, or nil if there is none.
func unless(none bool, v float64) any {
	if none || math.IsInf(v, 0) || v != v {
		return nil
	}
	return v
}

func positive(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// list returns a list as a value of a record, nil for nil.
func list[T any](values []T) any {
	if values == nil {
		return nil
	}
	return values
}
