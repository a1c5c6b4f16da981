package plan

import (
	"context"
	"errors"
	"math/big"

	"productform/bf"
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
	Choice    Choice            `json:"choice"`
	Cost      *big.Rat          `json:"cost" exact:"always"` // of everything that the plan buys
	Model     *cluster.Model    `json:"-"`
	Stability *stability.Result `json:"-"`
	Solution  *bf.Result        `json:"-"` // nil if the cluster is unstable
	Targets   []TargetOutcome   `json:"-"`
}

// A TargetOutcome is the outcome of a target.
type TargetOutcome struct {
	// the measure: of a percentile the delay; nil if the cluster is unstable, or so nearly that it
	// takes too long
	Value   *num.Value
	Verdict Verdict
}

// An Answer is the best plan that was found, with the proof that there is no better one. Its tags,
// as well as those of [Load] and [MostLoad], are the names in the JSON of the command pfq plan.
type Answer struct {
	Now          *Outcome `json:"-"` // the cluster as it is, at the arrival rates of the problem
	Plan         *Outcome `json:"-"` // nil if none was found
	WithinBudget bool     `json:"-"` // whether Plan is
	Most         *Outcome `json:"-"` // with everything bought; nil if there is a plan

	// Complete is true if the search came to its end. If not, Proof has what it excluded.
	Complete bool `json:"complete"`

	// Undecided has the plans that might meet the targets: some bound for them straddles a limit at
	// the widest precision.
	Undecided []Choice `json:"undecided"`

	Solves  int    `json:"solves"` // models solved
	Proof   Proof  `json:"proof"`
	Cheaper *Proof `json:"cheaper_proof,omitempty"` // see [Frontier]; nil for other answers
}

// A Proof shows that no plan meets the targets, is no worse for any class if the problem requires
// that, and
//
//   - holds From,
//   - costs less than Below, unless that is nil, and at most AtMost, unless that is nil,
//   - has a mean delay, that of Problem.Minimize, below Delay, unless that is nil.
//
// Each such plan is within one of the corners, and these fail.
type Proof struct {
	From    Choice   `json:"from"`
	Below   *big.Rat `json:"below" exact:"always"`   // cost; see above
	AtMost  *big.Rat `json:"at_most" exact:"always"` // cost; see above
	Delay   *float64 `json:"mean_delay"`             // see above
	Corners []Corner `json:"corners"`
}

// A Corner is a plan that fails at something. By monotonicity so does every plan with the same
// edges and at most its steps and, if Fewer is set, also with some of its edges.
type Corner struct {
	Choice
	Fewer bool    `json:"fewer"` // also with some of its edges
	Fails Failure `json:"fails"`
	Class string  `json:"class,omitempty"` // whose mean delay is larger than now, if it fails at that
}

// A Failure names what a corner fails at: a target (see [FailsTarget]), or one of the constants.
type Failure string

// FailsTarget returns the failure at the target in a row.
func FailsTarget(row int) Failure { return Failure(input.Index("targets", row)) }

// The failures at other things than targets.
const (
	FailsStability Failure = "stable"     // work arrives at least as fast as it can be done
	FailsNoWorse   Failure = "no_worse"   // a class has a larger mean delay than now
	FailsDelay     Failure = "mean_delay" // the mean delay to be minimized is at least that of the proof
)

// An EdgeEffect is the effect of an edge on the delays.
type EdgeEffect struct {
	Class, Server string     // their names, as in the problem's edge
	Edge          int        // row of the problem's edges
	Without, With *bf.Result // nil where unstable
}

// Evaluate returns the measures of a plan, without a search.
//
// The error is a *[num.InputError] for a problem, a choice or settings out of range, otherwise that
// of [bf.Solve], or ctx.Err() promptly after the context ends. An unstable cluster is an outcome.
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

// begin checks a problem and settings.
func begin(p *Problem, s Settings) (*instance, Settings, error) {
	in, err := newInstance(p)
	if err != nil {
		return nil, s, err
	}
	s, err = s.validate()
	return in, s, err
}

// beginSearch checks a problem and settings. It rejects a model that is too large before it
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

// checkSize returns the error of a model that is too large to solve as it is, at half its critical
// scale if it is unstable. Other errors appear when plans are judged.
func (in *instance) checkSize(ctx context.Context, s Settings) error {
	solve := func(m *cluster.Model) error {
		_, err := bf.Solve(ctx, m, bf.Settings{RelTol: s.RelTol, MaxBytes: s.MaxBytes})
		return err
	}
	err := solve(in.base)
	if errors.Is(err, num.ErrUnstable) {
		var r *stability.Result
		if r, err = stability.Cluster(ctx, in.base); err == nil && r.CriticalScale != nil &&
			r.CriticalScale.Sign() > 0 {
			err = solve(in.base.Scale(new(big.Rat).Quo(r.CriticalScale, big.NewRat(2, 1))))
		}
	}
	var large *num.TooLargeError
	if errors.As(err, &large) {
		return err
	}
	return ctx.Err()
}

// outcome solves a plan, as exactly as its targets take.
func (in *instance) outcome(ctx context.Context, edges bits, steps []int, s Settings) (*Outcome, error) {
	o := &Outcome{Choice: in.choice(edges, steps), Cost: in.rat(in.cost(edges, steps)), Model: in.model(edges, steps),
		Targets: make([]TargetOutcome, len(in.targets))}
	var err error
	if o.Stability, err = stability.Cluster(ctx, o.Model); err != nil {
		return nil, err
	}
	for row := range o.Targets {
		o.Targets[row].Verdict = Failed
	}
	if !o.Stability.Stable {
		return o, nil
	}
	if o.Solution, err = bf.Solve(ctx, o.Model, bf.Settings{RelTol: s.RelTol, MaxBytes: s.MaxBytes}); err != nil {
		return nil, err
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
	switch t.measure {
	case LoadFactor, Margin:
		x := o.Stability.Margin
		if t.measure == LoadFactor {
			x = o.Stability.CriticalScale
		}
		value := num.ExactValue(x)
		out.Value = &value
		if x.Cmp(t.limit) >= 0 {
			out.Verdict = Met
		}
		return nil
	}
	if out.Value = measured(o.Solution, t); t.measure == Percentile {
		r, err := bf.Answer(ctx, o.Model, bf.Question{Levels: []*big.Rat{t.level}}, bf.Settings{
			RelTol:   s.RelTol,
			MaxBytes: s.MaxBytes,
		})
		switch {
		case err == nil:
			out.Value = &r.Classes[t.row].Quantiles[0]
		case !beyond(err):
			return err
		}
	}
	j := &judge{in: in, s: s, targets: in.targets[row : row+1]}
	r, err := j.judge(ctx, bitsOf(o.Choice.Edges), o.Choice.Steps, nil)
	out.Verdict = r.verdict
	return err
}

// EdgeEffects returns what each edge of a problem does to the delays with a plan: without it and
// with it, whether the plan has it or not.
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
	solve := func(edges bits) (*bf.Result, error) {
		r, err := bf.Solve(ctx, in.model(edges, steps), bf.Settings{RelTol: s.RelTol, MaxBytes: s.MaxBytes})
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

// Pays returns the classes to which the edge brings a larger mean delay, beyond the errors of the
// numbers; none where a cluster is unstable.
func (e EdgeEffect) Pays() (classes []int) {
	if e.Without == nil || e.With == nil {
		return nil
	}
	for i, c := range e.With.Classes {
		if c.MeanDelay == nil {
			continue
		}
		_, before := bounds(*e.Without.Classes[i].MeanDelay, e.Without.RelativeErrorBound)
		if now, _ := bounds(*c.MeanDelay, e.With.RelativeErrorBound); now > before {
			classes = append(classes, i)
		}
	}
	return classes
}
