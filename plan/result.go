package plan

import (
	"context"
	"errors"
	"math/big"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
	"productform/stability"
)

// A Verdict reports whether a target is met.
type Verdict int8

// The verdicts. A target is undecided if the bounds on a number straddle its limit at the highest
// precision.
const (
	Undecided Verdict = iota
	Met
	Failed
)

func (v Verdict) String() string { return [...]string{"undecided", "met", "failed"}[v] }

// An Outcome holds the measures of a cluster with a plan.
type Outcome struct {
	Choice Choice         `json:"choice"`
	Cost   *big.Rat       `json:"cost" exact:"always"` // total cost of the purchases
	Model  *cluster.Model `json:"-"`                   // nil for networks and systems with losses
	// without the jobs that may give up; nil with the service gang, for networks and for systems
	// with losses
	Stability *stability.Result `json:"-"`
	Solution  *Solution         `json:"-"` // nil if the cluster is unstable
	Targets   []TargetOutcome   `json:"-"`
}

// A TargetOutcome is the outcome of a target.
type TargetOutcome struct {
	// the measure, which is the delay for a percentile; nil if the cluster is unstable, or so
	// nearly unstable that it takes too long
	Value   *num.Value
	Verdict Verdict
}

// An Answer is the best plan found, with the proof that no plan is better. Its tags, as well as
// those of [Load] and [MostLoad], are the names in the JSON of the command pfq plan.
type Answer struct {
	Now          *Outcome `json:"-"` // the cluster without purchases, at the arrival rates of the problem
	Plan         *Outcome `json:"-"` // nil if none was found
	WithinBudget bool     `json:"-"` // Plan is within the budget
	Most         *Outcome `json:"-"` // the cluster with everything bought; nil if there is a plan

	// Complete is true if the search finished. Otherwise, Proof shows what it excluded.
	Complete bool `json:"complete"`

	// Undecided lists the plans that may meet the targets: some bound on their measures straddles a
	// limit at the highest precision.
	Undecided []Choice `json:"undecided"`

	Solves  int    `json:"solves"` // models solved
	Proof   Proof  `json:"proof"`
	Cheaper *Proof `json:"cheaper_proof,omitempty"` // see [Frontier]; nil for other answers
}

// A Proof shows that no plan meets the targets, is no worse for any class if the problem requires
// that, and also
//
//   - includes From,
//   - costs less than Below, unless that is nil, and at most AtMost, unless that is nil,
//   - has a mean delay (that of Problem.Minimize) below Delay, unless that is nil.
//
// Each such plan is within one of the corners, all of which fail.
type Proof struct {
	From    Choice   `json:"from"`
	Below   *big.Rat `json:"below" exact:"always"`   // cost; see above
	AtMost  *big.Rat `json:"at_most" exact:"always"` // cost; see above
	Delay   *float64 `json:"mean_delay"`             // see above
	RestsOn []string `json:"rests_on"`               // why failures extend to other plans, such as [ReasonWaits]
	Corners []Corner `json:"corners"`
}

// A Corner is a plan that fails. By monotonicity, every plan with the same edges and at most its
// steps fails for the same reason. If Fewer is set, this also holds for plans with only some of its
// edges. If Alone is set, it holds for no other plan.
type Corner struct {
	Choice
	Fewer bool    `json:"fewer"`           // also covers plans with only some of its edges
	Alone bool    `json:"alone,omitempty"` // covers this plan only
	Fails Failure `json:"fails"`
	Class string  `json:"class,omitempty"` // class with a larger mean delay than now, if the corner fails because of it
}

// A Failure names the reason why a corner fails: a target (see [FailsTarget]), or one of the
// constants.
type Failure string

// FailsTarget returns the failure of missing the target in a row.
func FailsTarget(row int) Failure { return Failure(input.Index("targets", row)) }

// Failures other than missed targets.
const (
	FailsStability Failure = "stable"     // work arrives at least as fast as it can be done
	FailsNoWorse   Failure = "no_worse"   // a class has a larger mean delay than now
	FailsDelay     Failure = "mean_delay" // the mean delay to be minimized is at least that of the proof
)

// An EdgeEffect is the effect of an edge on the delays.
type EdgeEffect struct {
	Class, Server string    // their names, as in the problem's edge
	Edge          int       // row of the problem's edges
	Without, With *Solution // nil if unstable
}

// Evaluate returns the measures of a plan, without a search.
//
// The error is a *[num.InputError] for an invalid problem, choice or setting; otherwise it is that
// of [bf.Solve], or ctx.Err() promptly after cancellation. An unstable cluster is an outcome, not
// an error.
func Evaluate(ctx context.Context, p *Problem, c Choice, s Settings) (*Outcome, error) {
	in, s, err := begin(p, s)
	if err != nil {
		return nil, err
	}
	edges, steps, err := in.resolve(c)
	if err != nil {
		return nil, err
	}
	return in.outcome(ctx, edges, steps, s)
}

// begin checks a problem and its settings.
func begin(p *Problem, s Settings) (*instance, Settings, error) {
	in, err := newInstance(p)
	if err != nil {
		return nil, s, err
	}
	s, err = s.validate()
	return in, s, err
}

// beginSearch checks a problem and its settings. It rejects a model that is too large before it
// examines any plan.
func beginSearch(ctx context.Context, p *Problem, s SearchSettings) (*instance, SearchSettings, error) {
	in, err := newInstance(p)
	if err == nil {
		s, err = s.validate()
	}
	if err == nil {
		err = in.checkSize(ctx, s.Settings)
	}
	return in, s, err
}

// checkSize returns the error of a model that is too large to solve without purchases. An unstable
// model is solved at half its critical scale. Other errors appear when plans are judged. checkSize
// keeps the solution.
func (in *instance) checkSize(ctx context.Context, s Settings) error {
	solve := func(m system) (*Solution, error) {
		return in.kind.solve(ctx, m, in.ask(in.targets, effort{relTol: s.RelTol, maxBytes: s.MaxBytes}, 0))
	}
	var err error
	in.now, err = solve(in.base)
	if errors.Is(err, num.ErrUnstable) {
		var r *stability.Result
		if _, r, err = in.kind.stable(ctx, in.base); err == nil && r != nil && r.CriticalScale != nil &&
			r.CriticalScale.Sign() > 0 {
			_, err = solve(in.base.scale(new(big.Rat).Quo(r.CriticalScale, big.NewRat(2, 1))))
		}
	}
	var large *num.TooLargeError
	if errors.As(err, &large) {
		return err
	}
	return ctx.Err()
}

// outcome solves a plan, as precisely as its targets require.
func (in *instance) outcome(ctx context.Context, edges bits, steps []int, s Settings) (*Outcome, error) {
	m := in.model(edges, steps)
	o := &Outcome{Choice: in.choice(edges, steps), Cost: in.rat(in.cost(edges, steps)), Model: m.cluster,
		Targets: make([]TargetOutcome, len(in.targets))}
	var err error
	stable := false
	if stable, o.Stability, err = in.kind.stable(ctx, m); err != nil {
		return nil, err
	}
	for row := range o.Targets {
		o.Targets[row].Verdict = Failed
	}
	if !stable {
		return o, nil
	}
	if o.Solution = in.now; o.Solution == nil || !o.Choice.IsNothing() {
		with := effort{relTol: s.RelTol, maxBytes: s.MaxBytes}
		if o.Solution, err = in.kind.solve(ctx, m, in.ask(in.targets, with, 0)); err != nil {
			return nil, err
		}
	}
	for row := range in.targets {
		if err := in.judgeTarget(ctx, o, row, s); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// judgeTarget sets the outcome of a target in a stable cluster.
func (in *instance) judgeTarget(ctx context.Context, o *Outcome, row int, s Settings) error {
	t, out := in.targets[row], &o.Targets[row]
	if x := scaleOf(o.Stability, t.measure); x != nil {
		value := num.ExactValue(x)
		out.Value = &value
		if x.Cmp(t.limit) >= 0 {
			out.Verdict = Met
		}
		return nil
	}
	var err error
	if out.Value, err = in.valueOf(ctx, o, t, s); err != nil {
		return err
	}
	if in.isInSolution(t) && out.Value != nil {
		if out.Verdict = t.verdict(*out.Value, o.Solution.RelativeErrorBound); out.Verdict != Undecided {
			return nil
		}
	}
	j := &judge{in: in, s: s, targets: in.targets[row : row+1]}
	r, err := j.judge(ctx, bitsOf(o.Choice.Edges), o.Choice.Steps, nil)
	out.Verdict = r.verdict
	return err
}

// scaleOf returns a load factor or margin, or nil for another measure.
func scaleOf(r *stability.Result, m Measure) *big.Rat {
	switch {
	case r == nil:
	case m == LoadFactor:
		return r.CriticalScale
	case m == Margin:
		return r.Margin
	}
	return nil
}

// valueOf returns the measure of a target in a stable cluster, or nil if it takes too long.
func (in *instance) valueOf(ctx context.Context, o *Outcome, t target, s Settings) (*num.Value, error) {
	with := effort{relTol: s.RelTol, maxBytes: s.MaxBytes}
	switch {
	case t.level != nil:
		r, err := in.kind.solve(ctx, system{cluster: o.Model}, ask{
			effort: with,
			waits:  true,
			levels: []*big.Rat{t.level},
		})
		if err != nil {
			return nil, passable(err)
		}
		if c := r.Classes[t.row]; t.measure == Percentile {
			return &c.delay[0], nil
		} else {
			return &c.waiting[0], nil
		}
	case t.measure.isTime() && !in.solvesTimes():
		with.engine = num.Float
		tails, err := in.kind.tails(ctx, o.Model, []target{t}, with)
		if err != nil {
			return nil, passable(err)
		}
		return &tails[0], nil
	}
	times := timesAsked(nil)
	if in.solvesTimes() {
		times = timesOf(in.targets)
	}
	return o.Solution.measured(t, times), nil
}

// passable returns an error unless it is about the limits of an engine.
func passable(err error) error {
	if needsOtherEngine(err) {
		return nil
	}
	return err
}

// EdgeEffects returns the effect of each edge of a problem on the delays with a plan: without the
// edge and with it, whether or not the plan includes it.
//
// The errors are those of [Evaluate].
func EdgeEffects(ctx context.Context, p *Problem, c Choice, s Settings) ([]EdgeEffect, error) {
	in, s, err := begin(p, s)
	if err != nil {
		return nil, err
	}
	edges, steps, err := in.resolve(c)
	if err != nil {
		return nil, err
	}
	solve := func(edges bits) (*Solution, error) {
		with := effort{relTol: s.RelTol, maxBytes: s.MaxBytes}
		r, err := in.kind.solve(ctx, in.model(edges, steps), in.ask(nil, with, 0))
		if errors.Is(err, num.ErrUnstable) {
			return nil, nil
		}
		return r, err
	}
	effects := make([]EdgeEffect, len(in.edges))
	for k := range effects {
		effects[k] = EdgeEffect{Class: p.Edges[k].Class, Server: p.Edges[k].Server, Edge: k}
		if effects[k].Without, err = solve(edges &^ (1 << k)); err != nil {
			return nil, err
		}
		if effects[k].With, err = solve(edges | 1<<k); err != nil {
			return nil, err
		}
	}
	return effects, nil
}

// Pays returns the classes whose mean delay the edge increases by more than the errors of the
// numbers. It returns none if a cluster is unstable.
func (e EdgeEffect) Pays() (classes []int) {
	if e.Without == nil || e.With == nil {
		return nil
	}
	for i := range e.With.Classes {
		before, now := e.Without.of(i).MeanDelay, e.With.of(i).MeanDelay
		if now == nil {
			continue
		}
		_, least := bounds(*before, e.Without.RelativeErrorBound)
		if low, _ := bounds(*now, e.With.RelativeErrorBound); low > least {
			classes = append(classes, i)
		}
	}
	return classes
}
