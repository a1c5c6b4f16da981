package plan

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"slices"

	"productform/bf"
	"productform/cluster"
	"productform/gang"
	"productform/internal/input"
	"productform/num"
	"productform/stability"
)

// A kind holds the solvers of the plans of one kind of model. The file proofs.go says what is
// proved about boxes of these plans.
type kind struct {
	// solve returns the means of a model, and the probabilities of the times asked.
	solve func(ctx context.Context, m system, ask ask) (*Solution, error)
	// stable decides whether a model is stable, with the proof of package stability if it has one.
	stable func(ctx context.Context, m system) (bool, *stability.Result, error)
	// tails returns the numbers that the targets on times limit; nil if solve has all of them.
	tails func(ctx context.Context, m *cluster.Model, targets []target, with effort) ([]num.Value, error)
	// efforts are tried in turn for targets on times, first in a search and then in a verification.
	efforts, checks []effort
	engines         []num.Engine // they check a solution in turn
}

// An effort is an engine with its tolerance. MaxBytes is that of the settings.
type effort struct {
	engine   num.Engine
	relTol   float64
	maxBytes int64
}

// An ask is a question to solve.
type ask struct {
	effort
	waits  bool       // whether means of waits are requested; otherwise only limits on the load
	times  timesAsked // times of service levels
	levels []*big.Rat // levels of percentiles
}

// timesAsked are the times of service levels.
type timesAsked []*big.Rat

func (a timesAsked) index(t *big.Rat) int {
	return slices.IndexFunc(a, func(x *big.Rat) bool { return t != nil && x.Cmp(t) == 0 })
}

// timesOf returns the times of some targets, each once.
func timesOf(targets []target) (times timesAsked) {
	for _, t := range targets {
		if t.measure.isTime() && times.index(t.time) < 0 {
			times = append(times, t.time)
		}
	}
	return times
}

// kindOf returns the kind of the models of a service, in the sense of [Problem.Service].
func kindOf(service string) kind {
	proved := []num.Engine{num.Enclose, num.Exact}
	switch service {
	case serviceOne:
		return kind{
			solve: clusterSolver(solveOne), stable: stableCluster, tails: tailsOne, engines: proved,
			efforts: []effort{{engine: num.Float}, {engine: num.Enclose, relTol: tieTol}, {engine: num.Exact}},
			checks:  []effort{{engine: num.Enclose, relTol: verifyTol}, {engine: num.Float}, {engine: num.Exact}},
		}
	case serviceGang: // its waits have no enclosures
		return kind{solve: clusterSolver(solveGang), stable: stableGang, engines: []num.Engine{num.Float, num.Exact}}
	case ServiceNetwork:
		return kind{solve: solveNetwork, stable: stableNetwork, engines: proved}
	case ServiceLoss:
		return kind{solve: solveLoss, stable: stableLoss, engines: proved}
	}
	return kind{
		solve: clusterSolver(solveAll), stable: stableCluster, tails: tailsAll, engines: proved,
		efforts: []effort{
			{engine: num.Float, relTol: roughTol}, {engine: num.Float}, {engine: num.Enclose, relTol: tieTol},
		},
	}
}

// clusterSolver returns the solver of a kind of clusters.
func clusterSolver(
	solve func(context.Context, *cluster.Model, ask) (*Solution, error),
) func(context.Context, system, ask) (*Solution, error) {
	return func(ctx context.Context, m system, a ask) (*Solution, error) { return solve(ctx, m.cluster, a) }
}

// solveAll solves a model with the service all.
func solveAll(ctx context.Context, m *cluster.Model, a ask) (*Solution, error) {
	q := bf.Question{Levels: a.levels}
	r, err := bf.Answer(ctx, m, q, bf.Settings{Engine: a.engine, RelTol: a.relTol, MaxBytes: a.maxBytes})
	if err != nil {
		return nil, err
	}
	s := solutionOf(r)
	for i, c := range r.Classes {
		s.Classes[i].delay = c.Quantiles
	}
	return s, nil
}

// tailsAll returns P(T_i > t) for targets on percentiles.
func tailsAll(ctx context.Context, m *cluster.Model, targets []target, with effort) ([]num.Value, error) {
	var q []bf.TailQuestion
	for _, t := range targets {
		q = append(q, bf.TailQuestion{Class: t.row, Time: t.time})
	}
	return bf.Tails(ctx, m, q, bf.Settings{Engine: with.engine, RelTol: with.relTol, MaxBytes: with.maxBytes})
}

// solveGang solves a model with the service gang. Only double precision has waits.
func solveGang(ctx context.Context, m *cluster.Model, a ask) (*Solution, error) {
	if a.engine == num.Enclose {
		return nil, num.ErrDigits
	}
	s := gang.Settings{RelTol: a.relTol}
	if a.engine == num.Exact {
		s.Engine = num.Exact
	}
	limits, err := gang.CheckStability(ctx, m, s)
	switch {
	case err != nil:
		return nil, err
	case limits.Verdict == gang.Undecided:
		return nil, num.ErrDigits
	case limits.Verdict == gang.Unstable:
		return nil, &gang.UnstableError{Stability: limits}
	}
	out := &Solution{
		Engine: limits.Engine, CriticalScale: enclosed(limits.CriticalScale), FIFOWaste: enclosed(limits.FIFOWaste),
	}
	for i, x := range m.Servers {
		busy := num.ExactValue(gangUtilization(m, i))
		out.Servers = append(out.Servers, ServerSolution{x.Name, &busy})
	}
	out.Classes = make([]ClassSolution, len(m.Classes))
	for i, c := range m.Classes {
		out.Classes[i].Name = c.Name
	}
	if !a.waits {
		return out, nil
	}
	r, err := gang.Solve(ctx, m, s)
	if err != nil {
		return nil, err
	}
	near := func(v *num.Value) *num.Value { return withBounds(v, r.RelativeErrorBound) }
	out.MeanWaiting, out.MeanDelay = near(r.MeanWaiting), near(r.MeanDelay)
	for i, c := range r.Classes {
		out.Classes[i].MeanWaiting, out.Classes[i].MeanDelay = near(c.MeanWaiting), near(c.MeanDelay)
	}
	return out, nil
}

// enclosed returns a value with bounds, if it has none.
func enclosed(v *num.Value) *num.Value { return withBounds(v, 0) }

// withBounds returns a value with bounds, given a bound on its relative error if it has none.
func withBounds(v *num.Value, bound float64) *num.Value {
	if v == nil || v.Exact != nil || v.Low != nil {
		return v
	}
	low, high := bounds(*v, bound)
	out := num.Value{Float: v.Float, Low: big.NewFloat(low), High: big.NewFloat(high)}
	return &out
}

// gangUtilization returns the fraction of the servers of a row that are busy.
func gangUtilization(m *cluster.Model, row int) *big.Rat {
	busy := new(big.Rat)
	for i, c := range m.Classes {
		for _, need := range c.Needs {
			if need.Server == row {
				busy.Add(busy, new(big.Rat).Mul(m.Work(i), big.NewRat(int64(need.Choose), 1)))
			}
		}
	}
	return busy.Quo(busy, big.NewRat(int64(m.Servers[row].Size()), 1))
}

// stableCluster decides whether a cluster with the service all or one is stable.
func stableCluster(ctx context.Context, m system) (bool, *stability.Result, error) {
	r, err := stability.Cluster(ctx, m.cluster.WithoutImpatient())
	return err == nil && r.Stable, r, err
}

// stableGang decides whether a cluster with the service gang is stable.
func stableGang(ctx context.Context, m system) (bool, *stability.Result, error) {
	_, err := solveGang(ctx, m.cluster, ask{})
	if errors.Is(err, num.ErrUnstable) {
		return false, nil, nil
	}
	return err == nil, nil, err
}

// requireAll rejects a problem whose model has another service than all.
func (p *Problem) requireAll(why string) error {
	switch p.Service() {
	case serviceAll:
		return nil
	case ServiceNetwork, ServiceLoss:
		return input.Errorf("model", "a "+p.Service(), "a cluster: %s", why)
	}
	return input.Errorf("model.service", string(p.Model.Service), "all: %s", why)
}

// The services of models that are no clusters.
const (
	ServiceNetwork = "network"
	ServiceLoss    = "system with losses"
)

// Service returns the service of the cluster, [ServiceNetwork] or [ServiceLoss].
func (p *Problem) Service() string {
	switch {
	case p.Network != nil:
		return ServiceNetwork
	case p.Loss != nil:
		return ServiceLoss
	}
	return string(cmp.Or(p.Model.Service, cluster.AllServers))
}
