package tags

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
	"productform/sim/farm"
	"productform/sizes"
	"productform/sizes/exact"
	"productform/sweep"
	"productform/tags"
	"productform/tags/lowload"
	"productform/tags/optimum"
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
	value, gap *float64        // of the objective
	unfairness *float64        // of cutoffs that are to be fair
	enclosed   *enclosedAnswer // nil if nothing is proved

	policies   []policyAnswer
	lowLoad    float64 // the formula of least work remaining over the truth, at loads near 0, to two digits; 0 if it is exact
	expansions []tags.Expansion
	simulated  *sim.Result // of TAGS, or nil
	warnings   []string    // not nil
}

// A policyAnswer holds what is known of a policy.
type policyAnswer struct {
	name      tags.Policy
	means     *tags.Result // nil if it cannot be computed
	cutoffs   []float64    // nil for none
	loads     []float64    // of the hosts, nil if unknown
	gap       *float64     // to the best cutoffs
	note      string       // why something is missing, or empty
	simulated *sim.Result  // nil if it is not
}

func (a *tagsAnswer) feasible() bool { return a.reason == "" }

// analyze computes all but the simulation.
func (f *tagsFlags) analyze(ctx context.Context, m tags.Model) (*tagsAnswer, error) {
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
			return nil, input.Errorf("--objective", f.objectiveText+", the default", "waiting, since the mean of 1/size is infinite for these sizes")
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
	if a.maxLoad, err = tags.MaxLoad(ctx, m); err != nil {
		return nil, err
	}
	if m.Hosts > 2 && m.Load >= a.maxLoad {
		if a.pairs, err = tags.MaxLoad(ctx, tags.Model{Sizes: m.Sizes, Hosts: 2, Load: m.Load}); err != nil {
			return nil, err
		}
	}
	if err := a.tags(ctx); err != nil {
		return nil, err
	}
	if a.feasible() {
		a.policies = append(a.policies, policyAnswer{name: tags.PolicyTAGS, means: &a.result, cutoffs: a.result.Cutoffs, loads: loadsOf(a.result), gap: a.gap})
	}
	if err := a.others(ctx); err != nil {
		return nil, err
	}
	return a, a.expand(ctx)
}

// tags analyses TAGS with the best cutoffs, or those given.
func (a *tagsAnswer) tags(ctx context.Context) error {
	if err := a.inDoubles(ctx); err != nil {
		return err
	}
	if err := a.enclose(ctx); err != nil {
		return err
	}
	if a.feasible() {
		a.doubtful()
		for i := range a.result.Hosts { // no load reads 1, though it may be nearest
			a.result.Hosts[i].Load.Float = min(a.result.Hosts[i].Load.Float, math.Nextafter(1, 0))
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
		if h.Slack.Float <= h.SlackError {
			a.warnings = append(a.warnings, fmt.Sprintf("host %d: its slack, 1 - load, is %.3g in double precision, with an error of up to %.1g: "+
				"whether its load is below 1 is not decided", i+1, h.Slack.Float, h.SlackError))
		}
	}
}

// inDoubles does so in double precision.
func (a *tagsAnswer) inDoubles(ctx context.Context) (err error) {
	m, o := a.model, a.flags.objective
	switch {
	case a.flags.cutoffs != nil:
		a.result, err = tags.Evaluate(ctx, m, tags.PolicyTAGS, floats(a.flags.cutoffs))
		a.value = a.valueAtCutoffs()
	case o.fair:
		a.result, err = tags.Optimize(ctx, m, tags.PolicyTAGS, tags.Objective{Fair: true})
		a.value, a.unfairness = given(false, a.result.Objective.Float), given(false, a.result.Gap)
	default:
		a.result, err = tags.Optimize(ctx, m, tags.PolicyTAGS, o.weights)
		a.value, a.gap = given(false, a.result.Objective.Float), given(false, a.result.Gap)
	}
	var unstable *tags.UnstableError
	var unfair *tags.UnfairError
	switch {
	case errors.As(err, &unstable):
		a.overload(unstable)
		return nil
	case errors.As(err, &unfair) && unfair.Proved:
		a.reason = fmt.Sprintf("no cutoffs give all hosts the same mean slowdown, with jobs that end at each, as bounds in %d boxes of cutoffs prove", unfair.Looked)
	case errors.As(err, &unfair) && !unfair.List:
		a.reason = fmt.Sprintf("no cutoffs were found that give all hosts the same mean slowdown, in %d boxes of cutoffs",
			unfair.Looked)
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
func (a *tagsAnswer) valueAtCutoffs() *float64 {
	o, r := a.flags.objective, a.result
	return given(o.fair || o.weights.Slowdown > 0 && r.NoSlowdown, o.weights.Slowdown*r.MeanSlowdown.Float+o.weights.Waiting*r.MeanWaiting.Float)
}

func loadsOf(r tags.Result) (loads []float64) {
	for _, host := range r.Hosts {
		loads = append(loads, host.Load.Float)
	}
	return loads
}

// others computes the other policies.
func (a *tagsAnswer) others(ctx context.Context) error {
	m := a.model
	policies := []tags.Policy{tags.PolicyRandom, tags.PolicyRoundRobin, tags.PolicyCentral}
	if a.flags.printed {
		policies = append(policies, tags.PolicyCentralPrinted)
	}
	for _, name := range append(policies, tags.PolicySITAE) {
		r, err := tags.Evaluate(ctx, m, name, nil)
		p := policyAnswer{name: name, means: &r, cutoffs: r.Cutoffs, loads: loadsOf(r)}
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
	if p := &a.policies[len(a.policies)-1]; a.listed() && (p.loads == nil || slices.Max(p.loads)-slices.Min(p.loads) > 1e-9) {
		p.addNote("loads are only as equal as the sizes in the list allow")
	}
	r, err := tags.Optimize(ctx, m, tags.PolicySITA, a.ofSITA)
	return a.add(policyAnswer{name: tags.PolicySITA, means: &r, cutoffs: r.Cutoffs, loads: loadsOf(r), gap: given(false, r.Gap)}, err)
}

// isFormula reports whether the means of a policy are by the formula for the M/G/h queue, and that is not exact here.
func isFormula(p tags.Policy, kind tags.Kind) bool {
	return p == tags.PolicyCentral && kind == tags.Approximation
}

// muchFrom1 is the difference from 1 from which on the factor at low load is told.
const muchFrom1 = 0.05

// setLowLoad sets by how much the formula for least work remaining is wrong at low load.
func (a *tagsAnswer) setLowLoad() (err error) {
	if a.lowLoad, err = lowload.Factor(a.model.Sizes, a.model.Hosts); err != nil {
		return err
	}
	a.lowLoad, err = strconv.ParseFloat(fmt.Sprintf("%.1e", a.lowLoad), 64)
	return err
}

// formulaNote says how wrong the formula is for these sizes, "" if it is not.
func (a *tagsAnswer) formulaNote() string {
	if !(math.Abs(a.lowLoad-1) >= muchFrom1) {
		return ""
	}
	way := "high"
	if a.lowLoad < 1 {
		way = "low"
	}
	return fmt.Sprintf("approximation, too %s where a host is often free: %s times the truth at loads near 0, right near 1; %s", way, render.Six(a.lowLoad), a.simulates())
}

// simulates says where the simulated means of a policy are to be had.
func (a *tagsAnswer) simulates() string {
	if a.flags.settings.Runs > 0 {
		return "see its simulated means"
	}
	return "--runs 10 simulates it"
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

// misses reports whether TAGS misses the target of the server expansion, however many hosts it is given.
func (a *tagsAnswer) misses() bool {
	return slices.ContainsFunc(a.expansions, func(e tags.Expansion) bool { return e.Policy == tags.PolicyTAGS && !e.Within })
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

// given returns a number, or nil if there is none.
func given(none bool, v float64) *float64 {
	if none || math.IsInf(v, 0) || v != v {
		return nil
	}
	return &v
}

const (
	autoEngine    = "auto"
	floatEngine   = "float"
	encloseEngine = "enclose"
)

var tagsEngines = []string{autoEngine, floatEngine, encloseEngine}

// littleSlack is the slack below which auto encloses: a cutoff in double precision holds such a slack to 1e-10 or less.
const littleSlack = 1e-6

// cutoffDigits is the number of digits of cutoffs that the engine enclose finds.
const cutoffDigits = 50

// An enclosedAnswer holds what is proved of TAGS.
type enclosedAnswer struct {
	result tags.Result
	value  *num.Value // of the objective, at the best cutoffs; nil for those given
	texts  []string   // of the cutoffs, exact
	radius float64    // relative, within which the best cutoffs are; 0 for those given
}

// checkEngine accepts the engine for the sizes that the flags name.
func (f *tagsFlags) checkEngine() error {
	if f.engine != encloseEngine {
		return nil
	}
	var bad *input.Error
	switch {
	case f.sizes.fit:
		return input.Errorf("--engine", f.engine, "auto or float with --fit, whose distribution is that of doubles")
	case f.sizes.file() != "" || f.sizes.isBoundedPareto():
		return nil
	}
	_, err := exact.Parse(f.sizes.text, f.sizes.mean.exact)
	switch {
	case errors.As(err, &bad):
		return input.Errorf("--engine", f.engine, "auto or float for the sizes %s: want %s", f.sizes.text, bad.Want)
	case err != nil: // E[X²] is infinite, which is told later
		return nil
	}
	return nil
}

// exactModel returns the farm as it is written.
func (a *tagsAnswer) exactModel() (tags.ExactModel, error) {
	f := a.flags
	m := tags.ExactModel{Hosts: f.hosts, Load: f.load.exact, Speeds: exacts(f.speeds)}
	var err error
	switch atomic, listed := a.model.Sizes.(sizes.Atomic); {
	case f.sizes.isBoundedPareto():
		m.Sizes = exact.BoundedPareto{Alpha: f.sizes.alpha.exact, High: f.sizes.max.exact, Low: f.sizes.min.exact, Mean: f.sizes.mean.exact}
	case f.sizes.exact != nil:
		m.Sizes = exact.List(f.sizes.exact)
	case listed:
		var list exact.List
		for i, x := range atomic.Atoms() {
			list = append(list, slices.Repeat([]*big.Rat{new(big.Rat).SetFloat64(x)}, atomic.Counts()[i])...)
		}
		m.Sizes = list
	default:
		m.Sizes, err = exact.Parse(f.sizes.text, f.sizes.mean.exact)
	}
	return m, err
}

// enclose proves bounds of what is known of TAGS, if the engine does.
func (a *tagsAnswer) enclose(ctx context.Context) error {
	auto := a.flags.engine == autoEngine
	if a.flags.engine == floatEngine || auto && !(a.flags.sizes.isBoundedPareto() && a.delicate()) || a.result.Hosts == nil { // the last: no cutoffs exist
		return nil
	}
	m, err := a.exactModel()
	if err != nil {
		return err
	}
	e, err := a.enclosedAt(ctx, m)
	var unstable *tags.UnstableError
	switch {
	case errors.As(err, &unstable):
		a.overload(unstable)
		return nil
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil && auto:
		a.warnings = append(a.warnings, "double precision may not hold the cutoffs of hosts loaded so near to 1, and no bounds are proved: "+because(err))
		return nil
	case errors.Is(err, tags.ErrPrecision), errors.Is(err, num.ErrRange), errors.Is(err, tags.ErrInfeasible), errors.Is(err, optimum.ErrIdleStart):
		return input.Errorf("--engine", a.flags.engine, "auto or float here: %s", because(err))
	case err != nil:
		return err
	}
	a.result = e.result
	a.enclosed, a.reason, a.overloaded = e, "", 0 // the loads are below 1
	if e.value == nil {
		a.value = a.valueAtCutoffs()
		return nil
	}
	a.value = given(false, e.value.Float)
	return nil
}

// because says why nothing is proved.
func because(err error) string {
	var open *tags.PrecisionError
	switch {
	case errors.Is(err, optimum.ErrIdleStart):
		return "the best cutoffs leave hosts idle"
	case errors.As(err, &open):
		return fmt.Sprintf("more bits do not settle it: whether the load of host %d is below 1", open.Host+1)
	case errors.Is(err, tags.ErrPrecision):
		return "more bits do not settle it"
	case errors.Is(err, tags.ErrInfeasible):
		return "near the cutoffs to start from: no cutoffs keep every host below load 1"
	case errors.Is(err, num.ErrRange):
		return "powers of the sizes are too large or too small"
	}
	return err.Error()
}

// delicate reports whether a host is loaded so near to 1 that double precision loses digits.
func (a *tagsAnswer) delicate() bool {
	for _, host := range a.result.Hosts {
		if math.Abs(host.Slack.Float) < littleSlack {
			return true
		}
	}
	return false
}

// enclosedAt proves bounds at the cutoffs given, or at those next to the best in doubles that are for the objective. Of a
// list, these are sizes, and exact.
func (a *tagsAnswer) enclosedAt(ctx context.Context, m tags.ExactModel) (*enclosedAnswer, error) {
	f, e := a.flags, &enclosedAnswer{}
	cutoffs := exacts(f.cutoffs)
	for _, c := range f.cutoffs {
		e.texts = append(e.texts, c.text)
	}
	switch list, listed := m.Sizes.(exact.List); {
	case f.cutoffs != nil:
	case listed:
		for _, s := range a.result.Cutoffs {
			x := sizeNear(list, s)
			e.texts, cutoffs = append(e.texts, x.RatString()), append(cutoffs, x)
		}
	default:
		o := f.objective.weights
		if f.objective.fair {
			o = tags.Objective{Fair: true}
		}
		r, err := optimum.Enclose(ctx, m, o, a.result.Cutoffs)
		if err != nil {
			return nil, err
		}
		for _, s := range r.Points {
			text := s.Text('g', cutoffDigits)
			e.texts, cutoffs = append(e.texts, text), append(cutoffs, num.MustRat(text))
		}
		e.value, e.radius = &r.Objective, r.Radius+5.1*math.Pow(10, -cutoffDigits) // of the solution and of the digits
	}
	var err error
	e.result, err = tags.Enclose(ctx, m, tags.PolicyTAGS, cutoffs, f.tol)
	return e, err
}

// sizeNear returns the largest size of a list that rounds to x, or x.
func sizeNear(list exact.List, x float64) *big.Rat {
	var best *big.Rat
	for _, s := range list {
		if v, ok := num.Float64(s); ok && v == x && (best == nil || s.Cmp(best) > 0) {
			best = s
		}
	}
	if best == nil {
		return new(big.Rat).SetFloat64(x)
	}
	return best
}

// exacts returns the numbers as they are written, nil for nil.
func exacts(list []decimal) (values []*big.Rat) {
	for _, d := range list {
		values = append(values, d.exact)
	}
	return values
}

// plans returns the plans of all policies that can be simulated, and these; why others cannot is told in their notes.
func (a *tagsAnswer) plans(ctx context.Context) (plans []*sim.Plan, of []*policyAnswer, err error) {
	a.policies = append(a.policies, policyAnswer{name: farm.ShortestQueue, note: "known by simulation only"})
	for i := range a.policies {
		p := &a.policies[i]
		policy := p.name
		if policy == tags.PolicySITAE {
			policy = tags.PolicySITA // with the cutoffs of equal loads
		}
		if policy == tags.PolicyCentralPrinted || policy == tags.PolicySITA && p.cutoffs == nil {
			continue
		}
		plan, err := sim.NewPlan(ctx, farm.Farm{Model: a.model, Policy: policy, Cutoffs: p.cutoffs}, a.flags.settings)
		var bad *input.Error
		switch {
		case errors.Is(err, tags.ErrUnstable):
			p.addNote("not simulated: a host is overloaded")
		case errors.As(err, &bad) && strings.HasPrefix(bad.Path, "Cutoffs"):
			p.addNote("not simulated: hosts are idle")
		case err != nil:
			return nil, nil, err
		default:
			plans, of = append(plans, plan), append(of, p)
		}
	}
	return plans, of, nil
}

// simulate simulates all policies, until a signal comes.
func (a *tagsAnswer) simulate(ctx context.Context, stderr io.Writer) error {
	settings := a.flags.settings
	plans, simulated, err := a.plans(ctx)
	if err != nil {
		return err
	}
	results, _, err := command.Simulate(ctx, settings, settings.Runs*len(plans), stderr, func(ctx context.Context, progress func(sweep.Progress)) ([]*sim.Result, error) {
		return sim.RunAll(ctx, plans, sweep.Settings{Workers: settings.Workers, Folder: settings.Folder, Progress: progress})
	})
	if err != nil {
		return err
	}
	for k, p := range simulated {
		p.simulated = results[k]
		if p.name == tags.PolicyTAGS {
			a.simulated = results[k]
		}
	}
	a.warnings = append(a.warnings, simulationWarnings(simulated)...)
	return nil
}

// simulationWarnings returns every warning once, after the names of the policies that have it.
func simulationWarnings(policies []*policyAnswer) (warnings []string) {
	names := map[string][]string{}
	for _, p := range policies {
		for _, w := range p.simulated.Warnings {
			if names[w] == nil {
				warnings = append(warnings, w)
			}
			names[w] = append(names[w], string(p.name))
		}
	}
	for i, w := range warnings {
		warnings[i] = strings.Join(names[w], ", ") + ": " + w
	}
	return warnings
}

// defaultJumps is what sim.Settings take for 0.
const defaultJumps = 1e6

// jumps returns those that each run observes.
func (f *tagsFlags) jumps() float64 { return cmp.Or(f.settings.Jumps, defaultJumps) }

func (p *policyAnswer) addNote(note string) {
	if p.note != "" {
		note = p.note + "; " + note
	}
	p.note = note
}
