package network

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/ranktable"
	"productform/network"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/stations"
	"productform/sizes"
)

// addStations prepares each station.
func (s *system) addStations(ctx context.Context) error {
	visitors := make([][]int, len(s.model.Stations)) // indices in s.visits
	for v := range s.visits {
		i := s.visits[v].station
		visitors[i] = append(visitors[i], v)
	}
	for i := range s.model.Stations {
		if err := ctx.Err(); err != nil {
			return err
		}
		one := &s.model.Stations[i]
		b := &builder{
			system:  s,
			station: one,
			path:    input.Index("stations", i),
			visits:  visitors[i],
			classes: len(visitors[i]),
		}
		made := station{name: one.Name}
		var err error
		switch one.Discipline {
		case network.Order:
			made.make, err = b.order()
		case network.Balanced:
			made.make, err = b.balanced(ctx)
		default:
			made.make, made.full, err = b.total()
		}
		if err != nil {
			return err
		}
		if one.Limits != nil { // Order or Balanced, with equal servers
			servers, rate, _, err := b.limits()
			if err != nil {
				return err
			}
			made.full = float64(servers) * rate
		}
		s.stations = append(s.stations, made)
	}
	return nil
}

// A builder reads a station of the model.
type builder struct {
	*system
	station *network.Station
	path    string
	visits  []int // indices in system.visits, in the order of the station's classes
	classes int
}

// rate converts a rate of the station to float64.
func (b *builder) rate(field string, exact *big.Rat) (float64, error) {
	return sim.RateOf(b.path+"."+field, exact)
}

// total returns the rate of a station as a function of the number of jobs, and the total rate of
// its servers, 0 if it has none.
func (b *builder) total() (func(*rand.Rand) stations.Station, float64, error) {
	servers, classes := max(1, b.station.Servers), b.classes
	rate, err := b.rate("rate", num.OrOne(b.station.Rate))
	if err != nil {
		return nil, 0, err
	}
	full := float64(servers) * rate
	alpha := func(n int) float64 { return float64(min(n, servers)) * rate }
	var rates []float64
	for n, r := range b.station.Rates {
		v, err := b.rate(fmt.Sprintf("rates[%d]", n), r)
		if err != nil {
			return nil, 0, err
		}
		rates = append(rates, v)
	}
	if rates != nil {
		full = 0
		alpha = func(n int) float64 { return rates[min(n, len(rates))-1] }
	}
	switch b.station.Discipline {
	case network.Delay:
		return func(*rand.Rand) stations.Station { return stations.NewServers(stations.Everyone, rate) }, 0, nil
	case network.Sharing:
		scale := 0.0
		for _, mean := range b.means() {
			scale = max(scale, mean)
		}
		return func(*rand.Rand) stations.Station { return stations.NewSharing(alpha, scale) }, full, nil
	case network.LCFS:
		if rates != nil {
			return func(*rand.Rand) stations.Station { return stations.NewLast(alpha, classes) }, full, nil
		}
		return func(*rand.Rand) stations.Station { return stations.NewLastServers(servers, rate, classes) }, full, nil
	case network.Random:
		return func(draws *rand.Rand) stations.Station { return stations.NewRandom(servers, rate, draws) }, full, nil
	}
	if rates != nil {
		return func(*rand.Rand) stations.Station { return stations.NewFirst(alpha, classes) }, full, nil
	}
	return func(*rand.Rand) stations.Station { return stations.NewServers(servers, rate) }, full, nil
}

// means returns the mean sizes of the classes of the station.
func (b *builder) means() (list []float64) {
	for _, v := range b.visits {
		mean, err := sizes.Mean(b.system.visits[v].sizes)
		if err != nil {
			panic(err) // cannot fail: checked when the model was read
		}
		list = append(list, mean)
	}
	return list
}

// local converts classes of the model to classes of the station.
func (b *builder) local(classes []int) (list []int) {
	for _, c := range classes {
		list = append(list, slices.IndexFunc(b.visits, func(v int) bool { return b.classOf(v) == c }))
	}
	return list
}

// classOf returns the class of a visit in the model.
func (b *builder) classOf(v int) int {
	c := 0
	for v >= len(b.model.Classes[c].Visits) {
		v -= len(b.model.Classes[c].Visits)
		c++
	}
	return c
}

// order returns a station that serves in order of arrival.
func (b *builder) order() (func(*rand.Rand) stations.Station, error) {
	classes := b.classes
	switch {
	case b.station.Nodes != nil:
		of, capacity, err := b.nodes()
		return func(*rand.Rand) stations.Station { return stations.NewNodes(of, capacity) }, err
	case b.station.Limits != nil:
		servers, rate, limits, err := b.limits()
		return func(*rand.Rand) stations.Station { return stations.NewLimited(servers, rate, limits, classes) }, err
	}
	rank, err := b.rank()
	return func(*rand.Rand) stations.Station { return stations.NewRanked(rank, classes) }, err
}

// nodes returns the nodes of each class, and their capacities.
func (b *builder) nodes() (of [][]int, capacity []float64, err error) {
	for k, n := range b.station.Nodes {
		v, err := b.rate(fmt.Sprintf("nodes[%d].capacity", k), n.Capacity)
		if err != nil {
			return nil, nil, err
		}
		capacity = append(capacity, v)
	}
	for _, v := range b.visits {
		c := b.classOf(v)
		for _, visit := range b.model.Classes[c].Visits {
			if &b.model.Stations[visit.Station] == b.station {
				of = append(of, visit.Nodes)
			}
		}
	}
	return of, capacity, nil
}

// limits returns the number of servers, their rate and the limits on classes of the station.
func (b *builder) limits() (servers int, rate float64, limits []ranktable.Limit, err error) {
	rate, err = b.rate("rate", num.OrOne(b.station.Rate))
	for _, l := range b.station.Limits {
		limits = append(limits, ranktable.Limit{Classes: b.local(l.Classes), Most: l.Most})
	}
	return max(1, b.station.Servers), rate, limits, err
}

// rank returns μ(A) at the bit mask of A.
func (b *builder) rank() ([]float64, error) {
	rank := make([]float64, 1<<b.classes)
	for k, r := range b.station.Rank {
		v, err := b.rate(fmt.Sprintf("rank[%d].rate", k), r.Rate)
		if err != nil {
			return rank, err
		}
		rank[ranktable.Mask(b.local(r.Classes))] = v
	}
	return rank, nil
}

// balanced returns a station whose classes share according to a balance function.
func (b *builder) balanced(ctx context.Context) (func(*rand.Rand) stations.Station, error) {
	scale := b.means()
	var rates func(x []int, phi []float64) error
	var err error
	switch {
	case b.classes == 0: // no class visits the station
		rates = func([]int, []float64) error { return nil }
	case b.station.Table != nil:
		rates, err = b.table(ctx)
	case b.classes > stations.MaxClasses:
		err = input.Errorf(b.path, fmt.Sprintf("%d classes", b.classes),
			"at most %d classes at a station with discipline balanced",
			stations.MaxClasses)
	case b.station.Limits != nil:
		var servers int
		var rate float64
		var limits []ranktable.Limit
		servers, rate, limits, err = b.limits()
		held := ranktable.NewLimits(servers, b.classes, limits)
		rates = stations.NewCountBalance(b.classes, func(x []int) float64 { return float64(held.Busy(x)) * rate }).Rates
	case b.station.Nodes != nil:
		var of [][]int
		var capacity []float64
		of, capacity, err = b.nodes()
		rates = stations.NewBalance(b.classes, func(set uint64) float64 {
			return stations.Together(of, capacity, set)
		}).Rates
	default:
		var rank []float64
		rank, err = b.rank()
		rates = stations.NewBalance(b.classes, func(set uint64) float64 { return rank[set] }).Rates
	}
	return func(*rand.Rand) stations.Station { return stations.NewShared(rates, scale) }, err
}

// table returns the rates of a table.
func (b *builder) table(ctx context.Context) (func(x []int, phi []float64) error, error) {
	t := b.station.Table
	axes := b.local(t.Classes)
	box := lattice.LastFastest(t.Most)
	phi := make([]float64, box.States*len(axes)) // indexed by row and axis
	for row := range box.States {
		if row%1000 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for k := range axes {
			if box.Digit(row, k) == 0 {
				continue
			}
			var exact *big.Rat
			if t.Rates != nil {
				exact = t.Rates[row][k]
			} else {
				exact = new(big.Rat).Quo(t.Balance[row-box.Stride[k]], t.Balance[row])
			}
			v, err := b.rate(fmt.Sprintf("table: rate of row %d, class %d", row, k), exact)
			if err != nil {
				return nil, err
			}
			phi[row*len(axes)+k] = v
		}
	}
	return func(x []int, rates []float64) error {
		row := 0
		for k, c := range axes {
			row += x[c] * box.Stride[k]
		}
		for k, c := range axes {
			rates[c] = phi[row*len(axes)+k]
		}
		return nil
	}, nil
}
