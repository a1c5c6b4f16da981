package stations

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// exampleTables draws arrival rates and a rank function for mean sizes 1, at a load of at most 4/5.
func exampleTables(seed, classes int) (rates, rank []*big.Rat) {
	m := rapid.Custom(func(t *rapid.T) *cluster.Model {
		m := oracle.DrawModel(t, oracle.Options{Classes: classes})
		m.MeanSize = nil
		return oracle.ScaleTo(m, big.NewRat(int64(rapid.IntRange(3, 8).Draw(t, "tenths")), 10))
	}).Example(seed)
	return oracle.Rates(m), oracle.RankTable(m)
}

// example returns the results of exampleTables in float64.
func example(seed, classes int) (rates []float64, rank func(set uint64) float64) {
	exactRates, exactRank := exampleTables(seed, classes)
	for _, r := range exactRates {
		v, _ := r.Float64()
		rates = append(rates, v)
	}
	return rates, float(exactRank)
}

func float(exact []*big.Rat) func(set uint64) float64 {
	rank := make([]float64, len(exact))
	for a := 1; a < len(exact); a++ {
		rank[a], _ = exact[a].Float64()
	}
	return func(set uint64) float64 { return rank[set] }
}

// network returns a network of queues whose rates depend on each other.
func network(rates []float64, distribution sizes.Distribution, phi func(x []int, phi []float64) error) *Network {
	n := &Network{
		Rows:   len(rates),
		PartOf: make([]int, len(rates)),
		Rate:   sim.Sum(rates),
		Parts:  []Part{{0, len(rates), phi}},
	}
	var codes []uint32
	for i := range rates {
		n.Sources = append(n.Sources, Source{Row: i, Queue: i, Sizes: distribution})
		n.MeanSize, codes = append(n.MeanSize, 1), append(codes, uint32(i))
	}
	n.Table = sizes.NewAliasTable(rates, codes)
	return n
}

// A literalNetwork stores the remaining work of each job and reduces it at each event.
type literalNetwork struct {
	*Network
	jobs []literalShare
	x    []int
}

type literalShare struct {
	left, born float64
	source     int
}

// run simulates the network from the same stream as Queues.
func (q *literalNetwork) run(t float64, draws *rand.Rand, y *sim.Totals) {
	phi := make([]float64, len(q.x))
	now, arrival := 0.0, draws.ExpFloat64()/q.Rate
	for {
		for _, p := range q.Parts {
			if err := p.Rates(q.x[p.From:p.To], phi[p.From:p.To]); err != nil {
				panic(err)
			}
		}
		first, next := -1, arrival
		for k, j := range q.jobs {
			i := q.Sources[j.source].Queue
			if at := now + j.left*float64(q.x[i])/phi[i]; at <= next {
				first, next = k, at
			}
		}
		for k := range q.jobs {
			i := q.Sources[q.jobs[k].source].Queue
			q.jobs[k].left -= (min(next, t) - now) * phi[i] / float64(q.x[i])
			y.Jobs[q.Sources[q.jobs[k].source].Row] += min(next, t) - now
		}
		y.Add(len(q.jobs), min(next, t)-now)
		if next > t {
			y.Time += t
			return
		}
		now = next
		y.Jumps++
		if first >= 0 {
			s := q.Sources[q.jobs[first].source]
			y.Left[s.Row]++
			y.Sojourn[s.Row] += now - q.jobs[first].born
			q.x[s.Queue]--
			q.jobs = slices.Delete(q.jobs, first, first+1)
			continue
		}
		arrival = now + draws.ExpFloat64()/q.Rate
		column, fraction := bits.Mul64(draws.Uint64(), uint64(len(q.Table)))
		code := q.Table[column].Codes[0]
		if fraction < q.Table[column].Cut {
			code = q.Table[column].Codes[1]
		}
		s := q.Sources[code]
		q.x[s.Queue]++
		q.jobs = append(q.jobs, literalShare{s.Sizes.Sample(draws), now, int(code)})
	}
}

// The engine agrees with a literal implementation of sharing, up to rounding. The last network is
// never empty, so the attained service is reset.
func TestQueuesMatchLiteral(t *testing.T) {
	for seed := range 21 {
		shape := []string{"exponential", "deterministic", "pareto:1.1", "bimodal"}[seed%4]
		rates, rank := example(100+seed, 4)
		net := network(rates, simtest.Sizes(t, shape, 1), NewBalance(len(rates), rank).Rates)
		if seed == 20 { // the network works only on two or more jobs
			net = network([]float64{0.5}, simtest.Sizes(t, "exponential", 1), func(x []int, phi []float64) error {
				phi[0] = 0
				if x[0] > 1 {
					phi[0] = 1
				}
				return nil
			})
		}
		key := [32]byte{byte(seed)}
		e := New(net, sim.NewStream(key))
		length := 5000 / net.Rate
		got, want := sim.NewTotals(net.Rows, 0), sim.NewTotals(net.Rows, 0)
		for range 10 {
			if err := e.Advance(length/10, got); err != nil {
				t.Fatal(err)
			}
		}
		if a := e.queues[0].attained; seed == 20 && !(a > 0 && a <= 1024) {
			t.Errorf("attained service %v", a)
		}
		q := literalNetwork{Network: net, x: make([]int, net.Rows)}
		q.run(length, rand.New(sim.NewStream(key)), want)
		// Attained work of up to 1024 means has a rounding error of 10^-13, and errors add up over
		// the 10000 events.
		equal := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-8*max(math.Abs(a), math.Abs(b), 1) })
		if diff := cmp.Diff(want, got, equal); diff != "" {
			t.Errorf("seed %d, %s: %s", seed, shape, diff)
		}
	}
}
