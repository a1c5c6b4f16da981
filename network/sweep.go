package network

import (
	"context"
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"productform/internal/input"
	"productform/network/internal/convolution"
)

// A Parameter is a number of a model.
type Parameter string

// The parameters of a [Change].
const (
	Population  Parameter = "population"   // jobs of a class at the start
	MeanSize    Parameter = "mean_size"    // mean work of one visit of a class: a think time at a station with Delay
	ArrivalRate Parameter = "arrival_rate" // rate of a class
)

// A Change gives a parameter of a class one value after another.
type Change struct {
	Parameter Parameter
	Class     int        // row of the model's classes
	Visit     int        // MeanSize: row of the visit
	Values    []*big.Rat // as in the model; populations are integers
}

// Sweep answers a question about a network for each value of a parameter, with everything else
// unchanged, and returns the results of [Answer] in the order of the values. All values of a
// population use the tables of the largest one, which takes about the time of one solution. It
// returns the errors of Answer, with the value concerned; populations must be integers. m is not
// modified.
func Sweep(ctx context.Context, m *Model, c Change, q Question, s Settings) ([]*Result, error) {
	ask, err := newRequest(q, s)
	if err != nil {
		return nil, err
	}
	if err := m.checkChange(c); err != nil {
		return nil, err
	}
	if len(c.Values) == 0 {
		return nil, nil
	}
	if c.Parameter == Population {
		return m.sweepPopulation(ctx, c, ask)
	}
	results, errs := make([]*Result, len(c.Values)), make([]error, len(c.Values))
	solve := func(i int) {
		results[i], errs[i] = Answer(ctx, m.changed(c, c.Values[i]), q, s)
	}
	solve(0) // its result has the size of the lattice
	workers := 1
	if errs[0] == nil && results[0].States < convolution.Large {
		workers = runtime.GOMAXPROCS(0)
	}
	if errs[0] == nil {
		var next atomic.Int64
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for i := int(next.Add(1)); i < len(results); i = int(next.Add(1)) {
					solve(i)
				}
			})
		}
		group.Wait()
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("values[%d] = %s: %w", i, c.Values[i].RatString(), err)
		}
	}
	return results, nil
}

// checkChange rejects a change of a class or visit that does not exist.
func (m *Model) checkChange(c Change) error {
	switch {
	case c.Parameter != Population && c.Parameter != MeanSize && c.Parameter != ArrivalRate:
		return input.Errorf("parameter", c.Parameter, "population, mean_size or arrival_rate")
	case c.Class < 0 || c.Class >= len(m.Classes):
		return input.Errorf("class", c.Class, "a row of the %d classes", len(m.Classes))
	case c.Parameter == MeanSize && (c.Visit < 0 || c.Visit >= len(m.Classes[c.Class].Visits)):
		return input.Errorf("visit", c.Visit, "a row of the %d visits of the class", len(m.Classes[c.Class].Visits))
	}
	for i, v := range c.Values {
		path := input.Index("values", i)
		want := input.Positive
		if c.Parameter != MeanSize {
			want = input.Nonnegative
		}
		if err := input.CheckNumber(path, v, want); err != nil {
			return err
		}
		if c.Parameter == Population && (!v.IsInt() || v.Cmp(big.NewRat(maxPopulation, 1)) > 0) {
			return input.Errorf(path, v.RatString(), "%s", wantPopulation)
		}
	}
	return nil
}

// changed returns the model with one value of the parameter.
func (m *Model) changed(c Change, value *big.Rat) *Model {
	n := *m
	n.Classes = slices.Clone(m.Classes)
	k := &n.Classes[c.Class]
	switch c.Parameter {
	case Population:
		k.Population = int(value.Num().Int64())
	case ArrivalRate:
		k.ArrivalRate = value
	default:
		k.Visits = slices.Clone(k.Visits)
		k.Visits[c.Visit].MeanSize = value
	}
	return &n
}

// sweepPopulation solves for all populations on the lattice of the largest one.
func (m *Model) sweepPopulation(ctx context.Context, c Change, s request) ([]*Result, error) {
	largest := slices.MaxFunc(c.Values, (*big.Rat).Cmp)
	least := slices.MinFunc(c.Values, (*big.Rat).Cmp)
	for _, v := range []*big.Rat{largest, least} { // all other values are between these
		if err := m.changed(c, v).Check(); err != nil {
			return nil, fmt.Errorf("population %s: %w", v.RatString(), err)
		}
	}
	sys, err := newSystem(ctx, m.changed(c, largest))
	if err != nil {
		return nil, fmt.Errorf("population %s: %w", largest.RatString(), err)
	}
	p, err := newProblem(sys, s.Settings)
	if err != nil {
		return nil, err
	}
	axis := slices.IndexFunc(p.Order, func(k int) bool {
		return slices.Contains(sys.Chains[sys.Closed[k]].Classes, c.Class)
	})
	at := make([][]int, len(c.Values))
	for i, v := range c.Values {
		at[i] = slices.Clone(p.Most)
		if axis >= 0 {
			at[i][axis] -= int(largest.Num().Int64() - v.Num().Int64())
		}
	}
	return p.solve(ctx, s, at)
}
