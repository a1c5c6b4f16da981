package whatif

import (
	"context"
	"errors"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// PoolFewest holds the fewest servers of a pool that meet its target.
type PoolFewest struct {
	Servers *int        `json:"servers"` // null if none up to a million do
	Value   *PoolNumber `json:"value"`   // the measure of the target with these servers
	Fewer   *PoolNumber `json:"fewer"`   // the same without one of them; null if it is unstable or no server
	Solves  int         `json:"solves"`  // models solved
}

// fewest returns the fewest servers that meet the target. One more server improves all measures of
// targets, so all smaller numbers fail if one does. Bounds decide each number of servers, as in
// [plan.LeastCost].
func fewest(ctx context.Context, t *poolTask) (*PoolFewest, error) {
	if t.target.name == abandonment && t.MeanPatience == nil {
		return nil, input.Errorf(abandonment, t.limit.RatString(), "mean_patience in the model: no job gives up")
	}
	s := &poolSearch{ctx: ctx, task: t, known: map[int]PoolNumber{}}
	if s.needs().Cmp(new(big.Rat).SetInt64(mostServers)) > 0 {
		return &PoolFewest{}, nil
	}
	n, err := s.find()
	if err != nil {
		return nil, err
	}
	a := &PoolFewest{Solves: len(s.known)}
	if n <= mostServers {
		value := s.known[n]
		a.Servers, a.Value = &n, &value
	}
	if fewer, ok := s.known[n-1]; ok {
		a.Fewer = &fewer
	}
	return a, nil
}

// A poolSearch looks for the fewest servers.
type poolSearch struct {
	ctx   context.Context
	task  *poolTask
	known map[int]PoolNumber // the measure of the target by number of servers
}

// needs returns a number of servers below which the target is missed, because n servers serve at
// most a fraction n/a of the jobs, where a is the load, and give up with the probability θ E[W].
func (s *poolSearch) needs() *big.Rat {
	t := s.task
	served := new(big.Rat)
	switch {
	case t.target.name == "served":
		served.Set(t.limit)
	case t.target.name == abandonment:
		served.Sub(one, t.limit)
	case t.MeanPatience == nil:
		served.Set(one)
	case t.target.isTime && t.MeanPatience.Sign() > 0:
		served.Sub(one, new(big.Rat).Quo(t.limit, t.MeanPatience))
	}
	return served.Mul(served, t.load())
}

// find returns the fewest servers, or mostServers+1. It starts at the load, goes in growing steps,
// and then bisects.
func (s *poolSearch) find() (int, error) {
	load := s.task.load()
	start := new(big.Int).Div(load.Num(), load.Denom())
	n := mostServers
	if start.Cmp(big.NewInt(mostServers)) < 0 {
		n = int(start.Int64()) + 1
	}
	low, high := 0, mostServers+1 // low fails, high meets the target or is too many
	if s.task.MeanPatience == nil {
		low = n - 1
		if !s.task.isStable(n) {
			return high, nil
		}
	}
	for step := 1; high-low > 1; {
		meets, err := s.meets(n)
		if err != nil {
			return 0, err
		}
		if meets {
			high = n
		} else {
			low = n
		}
		switch {
		case low == 0 || high > mostServers: // not yet between two known numbers
			if n -= step; !meets {
				n += 2 * step
			}
			n, step = min(max(n, 1), mostServers), 2*step
		default:
			n = low + (high-low)/2
		}
		n = min(max(n, low+1), high-1)
	}
	return high, nil
}

// mostExact limits the servers of pools that are solved in fractions.
const mostExact = 1000

// meets decides whether n servers meet the target: float64 with its bound first, then 30 digits,
// then fractions, if there are any.
func (s *poolSearch) meets(n int) (bool, error) {
	t := s.task
	isRational := t.isLoss() || t.MeanPatience == nil && (t.target.bound < 0 || t.within.Sign() == 0)
	ladders := []arithmetic.Ladder{poolLadder(), {Engine: num.Enclose, RelTol: 1e-30, MaxPrec: 1 << 14}}
	if isRational && n <= mostExact {
		ladders = append(ladders, arithmetic.Ladder{Engine: num.Exact})
	}
	for _, ladder := range ladders {
		values, bound, err := t.solve(s.ctx, n, ladder, *t.target)
		if err != nil {
			return false, err
		}
		if ladder.Engine == "" {
			s.known[n] = poolNumber("", values[0], bound)
		}
		if meets, known := t.target.decide(values[0], bound, t.limit); known {
			return meets, nil
		}
	}
	return false, errTie
}

var errTie = errors.New("30 digits do not decide whether a number of servers meets the target")

// decide compares a measure with the limit of a target, if its bounds allow that.
func (m *poolMeasure) decide(v num.Value, bound float64, limit *big.Rat) (meets, known bool) {
	if v.Exact != nil {
		return m.bound*v.Exact.Cmp(limit) >= 0, true
	}
	low, high := boundsOf(v, bound)
	at := num.FromRat(limit, 256)
	if m.bound > 0 {
		return low.Cmp(at.High) >= 0, low.Cmp(at.High) >= 0 || high.Cmp(at.Low) < 0
	}
	return high.Cmp(at.Low) <= 0, high.Cmp(at.Low) <= 0 || low.Cmp(at.High) > 0
}
