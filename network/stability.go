package network

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"productform/internal/input"
	"productform/network/internal/convolution"
	"productform/num"
)

// An UnstableError names a station and a set of classes that bring at least as much work as the
// station can do for them. It wraps [num.ErrUnstable].
type UnstableError struct {
	Station  int      // row of the model's stations
	Name     string   // name of the station
	Classes  []int    // rows of the model's classes, of open chains
	Work     *big.Rat // work that they bring to the station per unit of time
	Capacity *big.Rat // work that the station can do for them per unit of time; at most Work
}

func (e *UnstableError) Unwrap() error { return num.ErrUnstable }

func (e *UnstableError) Error() string {
	return fmt.Sprintf("unstable: work arrives at least as fast as it can be done: classes %v bring %s units of work "+
		"per unit of time to station %s, which can do %s for them",
		e.Classes, e.Work.RatString(), input.Quote(e.Name), e.Capacity.RatString())
}

// A Stability reports how open and closed chains load the stations, relative to their capacities.
type Stability struct {
	// whether every set of classes of open chains brings each station less work than it can do for
	// them
	Stable bool
	// the network is stable if and only if all arrival rates are multiplied by less than this; nil
	// if there is no such limit
	CriticalScale *big.Rat
	Critical      int          // the first station that attains it; -1 if there is none
	Stations      []Load       // load of each station, in the order of the model
	Chains        []Saturation // saturation of the closed chains, in the order of their first classes
}

// A Load is the work that open chains bring to a station. All fields but Name are nil if they bring
// none, or if the station cannot be overloaded (discipline delay).
type Load struct {
	Name string // name of the station
	// min over A of μ(A)/w(A), the ratio of the work that the station can do for the classes of A
	// to the work that they bring
	CriticalScale *big.Rat
	Bottleneck    []int    // classes of a smallest A that attains it
	Work          *big.Rat // w(A), per unit of time
	Capacity      *big.Rat // μ(A), per unit of time
}

// A Saturation is the limit of a closed chain as its population grows, while all others stay
// constant. Closed chains never make a station unstable: in the limit, nearly all their jobs wait
// there, and the throughput tends to
//
//	min over stations and sets A of (μ(A) - ρ(A)) / D(A),
//
// where D(A) is the work that the classes of the chain in A bring per cycle and ρ(A) the open load
// of A. It is the radius of convergence of the product form.
type Saturation struct {
	Names   []string // names of the classes of the chain
	Classes []int    // rows of the classes of the chain
	// that limit in cycles per unit of time; nil if there is none (only stations with delay), or if
	// the chain visits a station with a table
	Throughput *big.Rat
	Station    int    // row of the first station that attains it; -1 if Throughput is nil
	Name       string // name of this station; empty if Throughput is nil
	Bottleneck []int  // classes of A, from the chain and from open chains
}

// CheckStability returns the distances of a network from instability and from saturation, in
// fractions. For models that [Model.CheckSizes] rejects, its conditions are necessary but may not
// be sufficient: FCFS can then be unstable at smaller loads (M. Bramson, "Instability of FIFO
// queueing networks", Annals of Applied Probability 4, 1994, 414–431). It takes O(2^n) sums at a
// station with Order or Balanced that distinguishes n classes, and one elimination of the traffic
// equations. It returns the errors of [Model.Check], a [*TableError], a [*num.TooLargeError], and
// ctx.Err() promptly after ctx is done.
func CheckStability(ctx context.Context, m *Model) (*Stability, error) {
	s, err := newDemands(ctx, m)
	if err != nil {
		return nil, err
	}
	r := &Stability{Stable: true, Critical: -1}
	for i := range s.Stations {
		load, err := s.load(ctx, i)
		if err != nil {
			return nil, err
		}
		r.Stations = append(r.Stations, load)
		if load.CriticalScale != nil && (r.CriticalScale == nil || load.CriticalScale.Cmp(r.CriticalScale) < 0) {
			r.CriticalScale, r.Critical = load.CriticalScale, i
		}
	}
	r.Stable = r.CriticalScale == nil || r.CriticalScale.Cmp(big.NewRat(1, 1)) > 0
	if !r.Stable {
		return r, nil
	}
	for k := range s.Closed {
		limit, err := s.saturate(ctx, k)
		if err != nil {
			return nil, err
		}
		r.Chains = append(r.Chains, limit)
	}
	return r, nil
}

// checkStable rejects an overloaded station, and settles stations with Order or Balanced.
func (s *system) checkStable(ctx context.Context, i int) error {
	load, err := s.load(ctx, i)
	if err != nil {
		return err
	}
	if load.CriticalScale != nil && load.CriticalScale.Cmp(big.NewRat(1, 1)) <= 0 {
		return &UnstableError{
			Station:  i,
			Name:     s.model.Stations[i].Name,
			Classes:  load.Bottleneck,
			Work:     load.Work,
			Capacity: load.Capacity,
		}
	}
	if sh := s.Stations[i].Shared; sh != nil && sh.Form == nil {
		return sh.Settle(ctx)
	}
	return nil
}

// load returns the load of open chains on station i.
func (s *system) load(ctx context.Context, i int) (Load, error) {
	st, name := &s.Stations[i], s.model.Stations[i].Name
	if st.Load.Sign() == 0 || st.Totals != nil && st.Totals.Delay != nil {
		return Load{Name: name}, nil
	}
	best, err := tightest(ctx, st, func(v convolution.Visit) bool { return v.K < 0 }, func(v convolution.Visit) bool {
		return false
	})
	if err != nil {
		return Load{}, err
	}
	return Load{
		Name:          name,
		CriticalScale: best.ratio,
		Bottleneck:    best.classes(st),
		Work:          best.work,
		Capacity:      best.capacity,
	}, nil
}

// saturate returns the saturation of the closed chain k.
func (s *system) saturate(ctx context.Context, k int) (Saturation, error) {
	r := Saturation{Classes: s.Chains[s.Closed[k]].Classes, Station: -1}
	for _, c := range r.Classes {
		r.Names = append(r.Names, s.model.Classes[c].Name)
	}
	for i := range s.Stations {
		st := &s.Stations[i]
		if st.Demand[k].Sign() == 0 || st.Totals != nil && st.Totals.Delay != nil {
			continue
		}
		if st.Shared != nil && st.Shared.Form != nil {
			return Saturation{Names: r.Names, Classes: r.Classes, Station: -1}, nil
		}
		ratio, err := s.limit(ctx, i, k)
		if err != nil {
			return r, err
		}
		if r.Throughput == nil || ratio.Cmp(r.Throughput) < 0 {
			r.Throughput, r.Station = ratio, i
		}
	}
	if r.Station < 0 {
		return r, nil
	}
	best, err := s.tightestOf(ctx, r.Station, k)
	if err != nil {
		return r, err
	}
	r.Name, r.Bottleneck = s.model.Stations[r.Station].Name, best.classes(&s.Stations[r.Station])
	return r, nil
}

// limit returns the smallest (μ(A) - ρ(A))/D(A) of the closed chain k at station i.
func (s *system) limit(ctx context.Context, i, k int) (*big.Rat, error) {
	if t := s.Stations[i].Totals; t != nil {
		left := new(big.Rat).Sub(t.Most, s.Stations[i].Load)
		return left.Quo(left, s.Stations[i].Demand[k]), ctx.Err()
	}
	best, err := s.tightestOf(ctx, i, k)
	if err != nil {
		return nil, err
	}
	return best.ratio, nil
}

// tightestOf returns the set with the smallest such ratio.
func (s *system) tightestOf(ctx context.Context, i, k int) (*tightSet, error) {
	return tightest(
		ctx, &s.Stations[i], func(v convolution.Visit) bool { return v.K == k },
		func(v convolution.Visit) bool { return v.K < 0 },
	)
}

// A tightSet is the set A of visits to a station with the smallest ratio of the work that the
// station can do for it to the work that it brings.
type tightSet struct {
	ratio, work, capacity *big.Rat
	visits                []int
}

func (a *tightSet) classes(st *convolution.Station) []int {
	var list []int
	for _, v := range a.visits {
		list = append(list, st.Visits[v].Class)
	}
	slices.Sort(list)
	return list
}

// tightest returns the set with the smallest (μ(A) - ρ(A))/w(A), with w the work of visits that
// bring work and ρ the work of visits that take capacity away, over all A with w(A) > 0. Among
// equal sets it returns the first with the fewest kinds.
func tightest(
	ctx context.Context, st *convolution.Station, brings, takes func(v convolution.Visit) bool,
) (*tightSet, error) {
	if st.Shared != nil {
		return tightestShared(ctx, st, brings, takes)
	}
	all := &tightSet{work: new(big.Rat), capacity: new(big.Rat).Set(st.Totals.Most)}
	for row, v := range st.Visits {
		switch {
		case brings(v):
			all.work.Add(all.work, v.Work)
		case takes(v):
			all.capacity.Sub(all.capacity, v.Work)
		default:
			continue
		}
		all.visits = append(all.visits, row)
	}
	all.ratio = new(big.Rat).Quo(all.capacity, all.work)
	return all, nil
}

// tightestShared does the same as tightest at a station with Order or Balanced.
func tightestShared(
	ctx context.Context, st *convolution.Station, brings, takes func(v convolution.Visit) bool,
) (*tightSet, error) {
	sh := st.Shared
	var place []int // kinds that bring work or take capacity
	for c, k := range sh.Kinds {
		if v := st.Visits[k.Visits[0]]; brings(v) || takes(v) {
			place = append(place, c)
		}
	}
	y := make([]int, len(sh.Kinds))
	var best *tightSet
	size := 0
	for mask := 1; mask < 1<<len(place); mask++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set := &tightSet{work: new(big.Rat), capacity: new(big.Rat)}
		clear(y)
		for j, c := range place {
			k := sh.Kinds[c]
			if mask>>j&1 == 0 {
				continue
			}
			y[c] = sh.CountCap
			set.visits = append(set.visits, k.Visits...)
			if brings(st.Visits[k.Visits[0]]) {
				set.work.Add(set.work, k.Work)
			} else {
				set.capacity.Sub(set.capacity, k.Work)
			}
		}
		if set.work.Sign() == 0 {
			continue
		}
		set.capacity.Add(set.capacity, sh.Rate(y))
		set.ratio = new(big.Rat).Quo(set.capacity, set.work)
		n := bits.OnesCount(uint(mask))
		if best != nil {
			if order := set.ratio.Cmp(best.ratio); order > 0 || order == 0 && n >= size {
				continue
			}
		}
		best, size = set, n
	}
	return best, nil
}
