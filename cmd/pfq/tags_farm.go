package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	"productform/sizes"
	"productform/tags"
)

// A tagsAnswer holds the results for a farm.
type tagsAnswer struct {
	flags   *tagsFlags
	model   tags.Model
	maxLoad float64
	pairs   float64 // largest load of two hosts of equal speed; 0 if not needed
	ofSITA  tags.Objective

	reason     string          // why there is no answer; "" if there is one
	overloaded int             // 1-based, for the given cutoffs; 0 if none
	result     tags.Result     // results of TAGS; the zero value if no cutoffs exist
	value      *num.Value      // objective, nil if there is none
	gap        *float64        // relative distance from the best objective; nil if there is none
	unfairness *float64        // of fair cutoffs; nil for other objectives
	enclosed   *enclosedAnswer // nil if nothing is proved

	policies []policyAnswer
	// ratio of the formula of least work remaining to the true value near load 0, to two digits; 0
	// if it is exact
	lowLoad     float64
	expansions  []tags.Expansion
	isSimulated bool
	simulated   *sim.Result // of TAGS, or nil
	warnings    []string    // never nil
}

// A policyAnswer holds the results for a policy.
type policyAnswer struct {
	name      tags.Policy
	means     *tags.Result // nil if it cannot be computed
	loads     []float64    // loads of the hosts, nil if unknown
	gap       *float64     // relative distance from the best cutoffs
	note      string       // why something is missing; "" if nothing is
	simulated *sim.Result  // nil if not simulated
}

func (a *tagsAnswer) feasible() bool { return a.reason == "" }

// analyze computes everything except the simulation.
func (f *tagsFlags) analyze(ctx context.Context, m tags.Model) (*tagsAnswer, error) {
	a := &tagsAnswer{flags: f, model: m, ofSITA: f.objective.weights, warnings: []string{}}
	if f.objective.fair && f.cutoffs == nil && a.listed() && !f.resume.restarts() {
		return nil, input.Errorf("--objective", f.objectiveText,
			"slowdown, waiting or slowdown=A,waiting=B for a list of sizes with --resume %s", f.resume.text)
	}
	if f.cutoffs != nil {
		if err := m.CheckCutoffs(floats(f.cutoffs)); err != nil {
			return nil, err
		}
	}
	if _, err := m.Sizes.Moment(-1); err != nil {
		const want = "waiting, since the mean of 1/size is infinite for these sizes"
		switch slowdown := f.objective.weights.Slowdown > 0; {
		case f.target > 0:
			return nil, input.Errorf("--expand", f.target, "sizes whose mean of 1/size is finite")
		case slowdown && f.cutoffs == nil && !f.objectiveGiven:
			return nil, input.Errorf("--objective", f.objectiveText+", the default", want)
		case slowdown && f.cutoffs == nil:
			return nil, input.Errorf("--objective", f.objectiveText, want)
		case slowdown:
			a.ofSITA = tags.Objective{Waiting: 1}
		}
	}
	if w := f.sizes.misfit(m.Sizes); w != "" {
		a.warnings = append(a.warnings, w)
	}
	var err error
	if a.maxLoad, err = tags.MaxLoad(ctx, m); err != nil {
		return nil, err
	}
	if m.Hosts > 2 && m.Load >= a.maxLoad {
		if a.pairs, err = tags.MaxLoad(ctx, tags.Model{Sizes: m.Sizes, Hosts: 2, Load: m.Load,
			Resume: m.Resume}); err != nil {
			return nil, err
		}
	}
	if err := a.tags(ctx); err != nil {
		return nil, err
	}
	if a.feasible() {
		p := policyAnswer{name: tags.PolicyTAGS, means: &a.result, loads: loadsOf(a.result), gap: a.gap}
		a.policies = append(a.policies, p)
	}
	if err := a.compareResumed(ctx); err != nil {
		return nil, err
	}
	if err := a.comparePolicies(ctx); err != nil {
		return nil, err
	}
	return a, a.expand(ctx)
}

// tags analyses TAGS with the best or the given cutoffs.
func (a *tagsAnswer) tags(ctx context.Context) error {
	if err := a.solveFloat(ctx); err != nil {
		return err
	}
	if err := a.enclose(ctx); err != nil {
		return err
	}
	if a.feasible() {
		a.warnUndecided()
		a.warnWorse()
		for i := range a.result.Hosts { // no load below 1 is shown as 1
			a.result.Hosts[i].Load.Float = min(a.result.Hosts[i].Load.Float, math.Nextafter(1, 0))
		}
	}
	return nil
}

// warnUndecided warns about hosts whose slack rounding makes indistinguishable from 0, unless
// bounds prove that it is positive.
func (a *tagsAnswer) warnUndecided() {
	if a.enclosed != nil {
		return
	}
	for i, h := range a.result.Hosts {
		if h.Slack.Float <= h.SlackError {
			a.warnings = append(a.warnings, fmt.Sprintf("host %d: its slack, 1 - load, is %.3g in double precision, "+
				"with an error of up to %.1g: whether its load is below 1 is not decided",
				i+1, h.Slack.Float, h.SlackError))
		}
	}
}

// solveFloat analyses TAGS in float64.
func (a *tagsAnswer) solveFloat(ctx context.Context) (err error) {
	m, o := a.model, a.flags.objective
	switch {
	case a.flags.cutoffs != nil:
		a.result, err = tags.Evaluate(ctx, m, tags.PolicyTAGS, floats(a.flags.cutoffs))
		a.value = a.valueAtCutoffs()
	case o.fair:
		a.result, err = tags.Optimize(ctx, m, tags.PolicyTAGS, tags.Objective{Fair: true})
		a.value, a.unfairness = &num.Value{Float: a.result.Objective.Float}, given(false, a.result.Gap)
	default:
		a.result, err = tags.Optimize(ctx, m, tags.PolicyTAGS, o.weights)
		a.value, a.gap = &num.Value{Float: a.result.Objective.Float}, given(false, a.result.Gap)
	}
	var unstable *tags.UnstableError
	var unfair *tags.UnfairError
	switch {
	case errors.As(err, &unstable):
		a.overload(unstable)
		return nil
	case errors.As(err, &unfair) && unfair.Proved:
		a.reason = fmt.Sprintf("no cutoffs give all hosts the same mean slowdown, with jobs that end at each, "+
			"as bounds in %d boxes of cutoffs prove", unfair.Looked)
	case errors.As(err, &unfair) && !unfair.List:
		a.reason = fmt.Sprintf("no cutoffs were found that give all hosts the same mean slowdown, in %d boxes "+
			"of cutoffs", unfair.Looked)
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

// overload notes that the cutoffs overload a host. The loads in the result remain valid.
func (a *tagsAnswer) overload(e *tags.UnstableError) {
	a.overloaded, a.value = e.Host+1, nil
	a.reason = fmt.Sprintf("the cutoffs do not keep every host below load 1: host %d has load %.6g", e.Host+1, e.Load)
	if e.Undecided {
		a.reason = fmt.Sprintf("host %d has load 1 as far as double precision can tell: whether it is below 1 is "+
			"not decided", e.Host+1)
	}
}

// valueAtCutoffs returns the objective at the given cutoffs; nil for fairness.
func (a *tagsAnswer) valueAtCutoffs() *num.Value {
	w, r := a.flags.objective.weights, a.result
	if a.flags.objective.fair || w.Slowdown > 0 && r.NoSlowdown {
		return nil
	}
	return &num.Value{Float: w.Slowdown*r.MeanSlowdown.Float + w.Waiting*r.MeanWaiting.Float}
}

func loadsOf(r tags.Result) (loads []float64) {
	for _, host := range r.Hosts {
		loads = append(loads, host.Load.Float)
	}
	return loads
}

// comparePolicies computes the other policies.
func (a *tagsAnswer) comparePolicies(ctx context.Context) error {
	m := a.model
	policies := []tags.Policy{tags.PolicyRandom, tags.PolicyRoundRobin, tags.PolicyCentral}
	if a.flags.printed {
		policies = append(policies, tags.PolicyCentralPrinted)
	}
	for _, name := range append(policies, tags.PolicySITAE) {
		r, err := tags.Evaluate(ctx, m, name, nil)
		p := policyAnswer{name: name, means: &r, loads: loadsOf(r)}
		if err == nil && isFormula(name, r.Kind) {
			if err := a.setLowLoad(); err != nil {
				return err
			}
			p.note = a.formulaNote()
		}
		if r.Hosts == nil {
			p.loads = slices.Repeat([]float64{m.Load}, m.Hosts)
		}
		if err := a.add(p, err); err != nil {
			return err
		}
	}
	p := &a.policies[len(a.policies)-1]
	if a.listed() && (p.loads == nil || slices.Max(p.loads)-slices.Min(p.loads) > 1e-9) {
		p.addNote("loads are only as equal as the sizes in the list allow")
	}
	r, err := tags.Optimize(ctx, m, tags.PolicySITA, a.ofSITA)
	sita := policyAnswer{name: tags.PolicySITA, means: &r, loads: loadsOf(r), gap: given(false, r.Gap)}
	return a.add(sita, err)
}

// isFormula reports whether the means of a policy come from the formula for the M/G/h queue, which
// is not exact here.
func isFormula(p tags.Policy, kind tags.Kind) bool {
	return p == tags.PolicyCentral && kind == tags.Approximation
}

// factorTol is the difference from 1 above which the factor at low load is reported.
const factorTol = 0.05

// setLowLoad sets the factor by which the formula for least work remaining is off at low load.
func (a *tagsAnswer) setLowLoad() (err error) {
	if a.lowLoad, err = tags.LowLoadFactor(a.model.Sizes, a.model.Hosts); err != nil {
		return err
	}
	a.lowLoad, err = strconv.ParseFloat(fmt.Sprintf("%.1e", a.lowLoad), 64)
	return err
}

// formulaNote describes the error of the formula for these sizes, "" if it is exact.
func (a *tagsAnswer) formulaNote() string {
	if !(math.Abs(a.lowLoad-1) >= factorTol) {
		return ""
	}
	way := "high"
	if a.lowLoad < 1 {
		way = "low"
	}
	return fmt.Sprintf("approximation, too %s where a host is often free: %s times the truth at loads near 0, "+
		"right near 1; %s", way, render.Six(a.lowLoad), a.simulates())
}

// simulates names the source of the simulated means of a policy.
func (a *tagsAnswer) simulates() string {
	if a.flags.settings.Runs > 0 {
		return "see its simulated means"
	}
	return "--runs 10 simulates it"
}

// listed reports whether the sizes form a finite list.
func (a *tagsAnswer) listed() bool {
	_, ok := a.model.Sizes.(sizes.Atomic)
	return ok
}

// add appends a policy, with a note if the error means that there is no theory for it.
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
	case errors.Is(err, tags.ErrInfeasible):
		p.note = "no cutoffs were found that keep every host below load 1"
	case errors.As(err, &bad) && strings.HasPrefix(bad.Path, "Speeds["):
		p.note = "not known for hosts of different speeds"
	default:
		return err
	}
	a.policies = append(a.policies, policyAnswer{name: p.name, note: p.note})
	return nil
}

// expand computes the server expansions, if requested.
func (a *tagsAnswer) expand(ctx context.Context) error {
	if a.flags.target == 0 {
		return nil
	}
	policies := []tags.Policy{tags.PolicyTAGS, tags.PolicyRandom, tags.PolicyRoundRobin, tags.PolicyCentral}
	if a.flags.printed {
		policies = append(policies, tags.PolicyCentralPrinted)
	}
	for _, p := range append(policies, tags.PolicySITAE, tags.PolicySITA) {
		e, err := tags.Expand(ctx, a.model, p, tags.ExpansionSettings{Target: a.flags.target})
		if err != nil {
			return err
		}
		a.expansions = append(a.expansions, e)
	}
	return nil
}

// misses reports whether TAGS misses the target of the server expansion with any number of hosts.
func (a *tagsAnswer) misses() bool {
	return slices.ContainsFunc(a.expansions, func(e tags.Expansion) bool {
		return e.Policy == tags.PolicyTAGS && !e.Within
	})
}

// noHosts states that no number of hosts up to a limit reaches the target of an expansion.
func noHosts(p tags.Policy) string {
	switch p {
	case tags.PolicyTAGS, tags.PolicySITA, tags.PolicySITAE:
		return fmt.Sprintf("none up to %d hosts", tags.MaxHosts)
	case tags.PolicyCentral, tags.PolicyCentralPrinted:
		return fmt.Sprintf("none up to %d hosts", tags.MaxQueueHosts)
	}
	return "more hosts than can be counted"
}

// given returns a number, or nil if there is none.
func given(none bool, v float64) *float64 {
	if none || math.IsInf(v, 0) || v != v {
		return nil
	}
	return &v
}

func (p *policyAnswer) addNote(note string) {
	if p.note != "" {
		note = p.note + "; " + note
	}
	p.note = note
}
