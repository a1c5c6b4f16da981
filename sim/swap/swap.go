package swap

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/input"
	"productform/network/swap"
	"productform/num"
	"productform/sim"
	"productform/sizes"
	"productform/stability"
)

// A Queue is a pass-and-swap queue, open or closed. Each server works on the oldest job that it can
// serve, and several can serve a job together. A finished job takes the place of the first job
// behind it that it can swap with, with a new size; that job continues in the same way from there.
// The job that finds no place departs; in a closed queue it returns to the end. The delay of a job
// is the time from its arrival to its departure, regardless of its places in between; in a closed
// queue, the time from one departure to the next.
//
// An unstable open queue is an error, a *[cluster.UnstableError], except over a horizon. A run with
// more than 10,000,000 jobs present at a time ends with an error that wraps [sim.ErrTooManyJobs].
type Queue struct {
	Model *swap.Model
	Sizes sizes.Distribution // with the mean of the model to 1e-12; nil means exponential, as in the theory
}

// A system holds the data shared by all replications.
type system struct {
	model    *swap.Model
	classes  []class
	sizes    sizes.Distribution
	capacity []float64
	swaps    [][]bool
	arrivals sizes.AliasTable
	rate     float64
	start    []int // closed: the classes of the jobs, oldest first
}

// A class is a kind of job.
type class struct {
	name    string
	rate    float64
	servers []int
}

// Describe implements [sim.System].
func (q Queue) Describe(ctx context.Context, o sim.Observation) (*sim.Description, error) {
	s, err := q.prepare()
	if err != nil {
		return nil, err
	}
	d := s.describe()
	if err := checkStable(ctx, q.Model); errors.Is(err, num.ErrUnstable) && o.OverHorizon {
		d.Unstable = "queue"
	} else if err != nil {
		return nil, err
	}
	ends, err := s.pilot(ctx, d.Unstable != "")
	if err != nil {
		return nil, err
	}
	d.JumpRate = s.rate + ends
	d.SizeRate = s.rate
	if q.Model.IsClosed() {
		d.SizeRate = ends
	}
	return d, sim.CheckRate("classes", d.JumpRate)
}

// describe describes the parts of the system.
func (s *system) describe() *sim.Description {
	d := &sim.Description{
		Method: "calendar of a pass-and-swap queue", StepCost: 30 + float64(len(s.start)), Measures: s.measures,
		Start:   func(ctx context.Context, r *sim.Stream) sim.Engine { return newMotion(ctx, s, r) },
		Moments: []sim.Moment{{Sizes: s.sizes, Orders: []float64{1, 2}}},
	}
	for _, c := range s.classes {
		d.Classes = append(d.Classes, sim.Class{Name: c.name, ArrivalRate: c.rate, MeanSize: 1})
	}
	same := *s.model
	same.Servers, same.Classes = slices.Clone(same.Servers), slices.Clone(same.Classes)
	for k := range same.Servers {
		d.Servers = append(d.Servers, sim.Server{Name: same.Servers[k].Name, Size: 1})
		same.Servers[k].Name = ""
	}
	for i := range same.Classes {
		same.Classes[i].Name = ""
	}
	d.Identity = []any{"swap", same, s.sizes.String()}
	if s.start != nil {
		d.Counted = sim.Counted{List: sim.MeanJobs, Words: "jobs"} // constant
	}
	return d
}

// prepare checks the queue and converts it.
func (q Queue) prepare() (*system, error) {
	if q.Model == nil {
		return nil, input.Errorf("Model", "nothing", "a pass-and-swap queue")
	}
	m := q.Model
	if err := m.Check(); err != nil {
		return nil, err
	}
	s := &system{model: m}
	var err error
	if s.sizes, _, err = sim.SizesOf(q.Sizes, m.MeanSize, "Sizes", "mean_size"); err != nil {
		return nil, err
	}
	for k, server := range m.Servers {
		v, err := sim.RateOf(fmt.Sprintf("servers[%d].capacity", k), server.Capacity)
		if err != nil {
			return nil, err
		}
		s.capacity = append(s.capacity, v)
	}
	rates := make([]float64, len(m.Classes))
	for i, c := range m.Classes {
		if c.ArrivalRate != nil {
			if rates[i], err = sim.RateOf(fmt.Sprintf("classes[%d].arrival_rate", i), c.ArrivalRate); err != nil {
				return nil, err
			}
		}
		s.classes = append(s.classes, class{c.Name, rates[i], c.Servers})
		s.swaps = append(s.swaps, make([]bool, len(m.Classes)))
		s.start = append(s.start, slices.Repeat([]int{i}, c.Population)...)
	}
	for _, pair := range m.Swaps {
		s.swaps[pair[0]][pair[1]], s.swaps[pair[1]][pair[0]] = true, true
	}
	if m.Start != nil {
		s.start = m.Start
	}
	switch s.rate = sim.Sum(rates); {
	case m.IsClosed():
	case s.rate == 0:
		return nil, input.Errorf("classes", "arrival rates that are all 0", "jobs to simulate")
	default:
		s.arrivals = sizes.NewAliasTable(rates, nil)
	}
	return s, nil
}

// checkStable returns an error for a set of classes that overloads its servers.
func checkStable(ctx context.Context, m *swap.Model) error {
	if m.IsClosed() {
		return nil
	}
	rank, rates := make([]*big.Rat, 1<<len(m.Classes)), make([]*big.Rat, len(m.Classes)) // in jobs per unit of time
	for i, c := range m.Classes {
		rates[i] = c.ArrivalRate
	}
	for set := 1; set < len(rank); set++ {
		if set%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		rank[set] = new(big.Rat)
		for s, server := range m.Servers {
			for i, c := range m.Classes {
				if set>>i&1 == 1 && slices.Contains(c.Servers, s) {
					rank[set].Add(rank[set], server.Capacity)
					break
				}
			}
		}
		rank[set].Quo(rank[set], num.OrOne(m.MeanSize))
	}
	v, err := stability.Rank(ctx, rates, rank)
	if err != nil || v.Stable {
		return err
	}
	e := &cluster.UnstableError{Classes: v.Bottleneck, ArrivalRate: v.Arrival, Capacity: v.Capacity}
	for _, i := range v.Bottleneck {
		e.Names = append(e.Names, m.Classes[i].Name)
	}
	return e
}
