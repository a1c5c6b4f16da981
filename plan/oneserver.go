package plan

import (
	"context"
	"math"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/network/loss"
	"productform/num"
	"productform/oneserver"
)

// solveOne solves a model with one server per job. All numbers are fractions or have bounds.
//
// One pool with exponential patience is solved by [loss.ErlangA]. For other models with patience,
// bounds are made of the error estimate of [oneserver.SolvePatience], which is not proved.
func solveOne(ctx context.Context, m *cluster.Model, a ask) (*Solution, error) {
	switch pool := poolOf(m); {
	case !isImpatient(m):
		return solvePatient(ctx, m, a)
	case pool != nil && len(a.levels) == 0:
		return solvePool(ctx, m, pool, a)
	}
	return solveImpatient(ctx, m, a)
}

// solvePatient solves a model whose jobs never give up.
func solvePatient(ctx context.Context, m *cluster.Model, a ask) (*Solution, error) {
	q := oneserver.Question{Levels: a.levels, Times: a.times}
	r, err := oneserver.Answer(ctx, m, q, oneserver.Settings{Engine: a.engine, RelTol: a.relTol, MaxBytes: a.maxBytes})
	if err != nil {
		return nil, err
	}
	near := func(v *num.Value) *num.Value { return withBounds(v, r.RelativeErrorBound) }
	s := &Solution{
		Engine: r.Engine, RelativeErrorBound: r.RelativeErrorBound, MeanDelay: near(r.MeanDelay),
		MeanWaiting: near(r.MeanWaiting),
	}
	for _, c := range r.Classes {
		out := ClassSolution{
			Name: c.Name, MeanDelay: near(c.MeanDelay), MeanWaiting: near(c.MeanWaiting), waiting: c.Waiting,
			delay: c.Delay,
		}
		for k := range c.Within {
			w := &c.Within[k]
			out.within = append(out.within, levels{&w.Waiting, &w.Waiting, &w.Waiting, &w.Delay})
		}
		s.Classes = append(s.Classes, out)
	}
	for _, x := range r.Servers {
		s.Servers = append(s.Servers, ServerSolution{x.Name, near(&x.Utilization)})
	}
	return s, nil
}

// solvePool solves a model that is one pool. The delays of its jobs have no distribution here.
func solvePool(ctx context.Context, m *cluster.Model, pool *loss.Queue, a ask) (*Solution, error) {
	if a.engine == num.Exact {
		return nil, num.ErrDigits
	}
	p := solveCrowded(pool, a.times)
	if p == nil {
		var err error
		if p, err = solveErlang(ctx, pool, a); err != nil {
			return nil, err
		}
	}
	s := &Solution{
		Engine: p.engine, RelativeErrorBound: p.bound, MeanDelay: p.class.MeanDelay, MeanWaiting: p.class.MeanWaiting,
		Abandon: p.class.Abandon,
	}
	used := map[int]bool{}
	for _, c := range m.Classes {
		out := ClassSolution{within: make([]levels, len(a.times))}
		if c.ArrivalRate.Sign() > 0 {
			out = p.class
			for _, k := range c.Servers {
				used[k.Server] = true
			}
		}
		out.Name = c.Name
		s.Classes = append(s.Classes, out)
	}
	for i, x := range m.Servers {
		idle := num.ExactValue(new(big.Rat))
		s.Servers = append(s.Servers, ServerSolution{x.Name, &idle})
		if used[i] {
			s.Servers[i].Utilization = p.utilization
		}
	}
	return s, nil
}

// A poolSolution holds the means of one pool, which are the same for all its classes.
type poolSolution struct {
	engine      num.Engine
	bound       float64
	class       ClassSolution
	utilization *num.Value
}

// solveErlang solves a pool by [loss.ErlangA].
func solveErlang(ctx context.Context, pool *loss.Queue, a ask) (*poolSolution, error) {
	r, err := loss.ErlangA(ctx, pool, loss.QueueQuestion{Within: a.times},
		loss.FormulaSettings{Engine: a.engine, RelTol: a.relTol})
	if err != nil {
		return nil, err
	}
	near := func(v num.Value) *num.Value { return withBounds(&v, r.RelativeErrorBound) }
	s := &poolSolution{engine: r.Engine, bound: r.RelativeErrorBound, utilization: near(r.Utilization)}
	s.class = ClassSolution{MeanDelay: near(r.MeanJobs.Times(new(big.Rat).Inv(pool.ArrivalRate))),
		MeanWaiting: near(r.MeanWaiting), Abandon: near(r.AbandonProbability)}
	for _, w := range r.Within {
		l := levels{waiting: near(w.WaitWithin), served: near(w.ServedWithin), servedShare: near(w.WithinIfServed)}
		if pool.MeanPatience == nil {
			l.delay = delayWithin(pool, near(r.WaitProbability), w.Time)
		}
		s.class.within = append(s.class.within, l)
	}
	return s, nil
}

// delayWithin returns the probability that a job of a pool departs within t, if no job gives up.
// With C the probability of waiting, a wait is 0 or, with probability C, exponential of rate δ =
// nμ-λ. So
//
//	P(T > t) = e^{-μt} (1 + C μt (1-e^{-y})/y),  y = (δ-μ)t.
//
// delayWithin returns nil for times so long that e^{-μt} leaves the range of float64.
func delayWithin(pool *loss.Queue, waits *num.Value, t *big.Rat) *num.Value {
	const longest = 500
	services := new(big.Rat).Quo(t, pool.MeanDuration) // μt
	x := num.Nearest(services)
	if x > longest {
		return nil
	}
	slack := new(big.Rat).Mul(services, big.NewRat(int64(pool.Servers)-1, 1))
	y := num.Nearest(slack.Sub(slack, new(big.Rat).Mul(pool.ArrivalRate, t)))
	part := 1.
	if y != 0 {
		part = -math.Expm1(-y) / y
	}
	// exponents are at most longest, so the error of each number below is less than half of this
	const relTol = 1e-12
	low, high := waits.Bounds()
	later := func(c float64) float64 { return math.Exp(-x) * (1 + c*x*part) }
	within := num.BetweenFloats(max(0, math.Nextafter(1-later(high)*(1+relTol), 0)),
		min(1, math.Nextafter(1-later(low)*(1-relTol), 2)))
	return &within
}

// estimateTol is the tolerance of [oneserver.SolvePatience] where plans are judged. If it leaves a
// target undecided, the smallest one decides.
const estimateTol = 1e-9

// smallProbability is the probability to which errors of smaller ones are relative; see
// [oneserver.PatienceResult].
const smallProbability = 1e-12

// solveImpatient solves a model with patience that is not one pool.
func solveImpatient(ctx context.Context, m *cluster.Model, a ask) (*Solution, error) {
	s := oneserver.PatienceSettings{RelTol: estimateTol, MaxBytes: a.maxBytes, Times: a.times, Levels: a.levels}
	switch a.engine {
	case num.Enclose:
		s.RelTol = verifyTol
	case num.Exact:
		return nil, num.ErrDigits
	}
	r, err := oneserver.SolvePatience(ctx, m, s)
	if err != nil {
		return nil, err
	}
	bound := 0.
	if r.RelativeErrorBound != nil {
		bound = *r.RelativeErrorBound
	}
	if r.ErrorEstimate != nil {
		bound = max(bound, *r.ErrorEstimate)
	}
	near := func(x float64) *num.Value {
		low, high := bounds(num.Value{Float: x}, bound)
		slack := bound * smallProbability
		return &num.Value{Float: x, Low: big.NewFloat(max(0, low-slack)), High: big.NewFloat(high + slack)}
	}
	pointer := func(x *float64) *num.Value {
		if x == nil {
			return nil
		}
		return near(*x)
	}
	out := &Solution{
		Engine: num.Float, RelativeErrorBound: bound, MeanDelay: pointer(r.MeanDelay),
		MeanWaiting: pointer(r.MeanWaiting), Abandon: pointer(r.AbandonProbability),
	}
	for _, c := range r.Classes {
		class := ClassSolution{
			Name: c.Name, MeanDelay: pointer(c.MeanDelay), MeanWaiting: pointer(c.MeanWaiting),
			Abandon: pointer(c.AbandonProbability), waiting: c.Waiting,
		}
		for _, w := range c.Within {
			class.within = append(class.within, levels{
				waiting: near(w.WaitWithin), served: near(w.ServedWithin), servedShare: near(w.WithinIfServed),
			})
		}
		out.Classes = append(out.Classes, class)
	}
	for _, x := range r.Servers {
		out.Servers = append(out.Servers, ServerSolution{x.Name, near(x.Utilization)})
	}
	return out, nil
}

// tailsOne returns the probabilities that targets on times of jobs that never give up limit. Only
// double precision has them, except for the waits of one pool and the jobs that do not wait.
func tailsOne(ctx context.Context, m *cluster.Model, targets []target, with effort) ([]num.Value, error) {
	if with.engine == num.Exact {
		return immediately(ctx, m, targets)
	}
	a := ask{effort: with, times: timesOf(targets)}
	if pool := poolOf(m); pool != nil {
		s, err := solvePool(ctx, m, pool, a)
		if err != nil {
			return nil, err
		}
		if list := s.allMeasured(targets, a.times); list != nil {
			return list, nil
		}
	}
	if with.engine != num.Float {
		return nil, num.ErrDigits
	}
	s, err := solvePatient(ctx, m, a)
	if err != nil {
		return nil, err
	}
	return s.allMeasured(targets, a.times), nil
}

// allMeasured returns the measures of targets on times, or nil if one is missing.
func (s *Solution) allMeasured(targets []target, times timesAsked) (list []num.Value) {
	for _, t := range targets {
		v := s.measured(t, times)
		if v == nil {
			return nil
		}
		list = append(list, *v)
	}
	return list
}

// immediately returns the fractions of the jobs that do not wait, as exact numbers.
func immediately(ctx context.Context, m *cluster.Model, targets []target) (list []num.Value, err error) {
	if slices.ContainsFunc(targets, func(t target) bool { return t.time.Sign() != 0 || t.measure.isDelay() }) {
		return nil, num.ErrDigits
	}
	r, err := oneserver.Solve(ctx, m, oneserver.Settings{Engine: num.Exact, MaxBytes: exactBytes})
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		list = append(list, num.ExactValue(new(big.Rat).Sub(one, r.Classes[t.row].WaitProbability.Exact)))
	}
	return list, nil
}

// isImpatient reports whether some jobs of a cluster may give up; nil has none.
func isImpatient(m *cluster.Model) bool {
	if m == nil {
		return false
	}
	for i := range m.Classes {
		if mean, _ := m.PatienceOf(i); mean != nil {
			return true
		}
	}
	return false
}

// exponential is the distribution of patience for which [loss.ErlangA] has formulas.
const exponential = "exponential"

// poolOf returns the pool of a model in which all arriving jobs may use the same servers, which are
// equal, and have the same exponential patience. It returns nil for other models.
func poolOf(m *cluster.Model) *loss.Queue {
	var pool *loss.Queue
	var first cluster.Class
	for i, c := range m.Classes {
		if c.ArrivalRate.Sign() == 0 {
			continue
		}
		mean, law := m.PatienceOf(i)
		if law != exponential && mean != nil && mean.Sign() > 0 {
			return nil
		}
		if pool == nil {
			if pool = newPool(m, i); pool == nil {
				return nil
			}
			pool.MeanPatience, first = mean, c
			continue
		}
		if !isSameSet(c.Servers, first.Servers) || (mean == nil) != (pool.MeanPatience == nil) ||
			mean != nil && mean.Cmp(pool.MeanPatience) != 0 {
			return nil
		}
		pool.ArrivalRate.Add(pool.ArrivalRate, c.ArrivalRate)
	}
	return pool
}

// newPool returns the pool of the servers of a class, or nil if they differ.
func newPool(m *cluster.Model, class int) *loss.Queue {
	c := m.Classes[class]
	pool := &loss.Queue{ArrivalRate: new(big.Rat).Set(c.ArrivalRate)}
	var capacity *big.Rat
	for _, k := range c.Servers {
		s := m.Servers[k.Server]
		if k.Choose < s.Size() || capacity != nil && s.Capacity.Cmp(capacity) != 0 {
			return nil
		}
		capacity = s.Capacity
		pool.Servers += s.Size()
	}
	pool.MeanDuration = new(big.Rat).Quo(m.MeanSizeOf(class), capacity)
	return pool
}

// isSameSet reports whether two lists of different servers hold the same ones.
func isSameSet(a, b []cluster.Choice) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(c cluster.Choice) bool { return !slices.Contains(b, c) })
}
