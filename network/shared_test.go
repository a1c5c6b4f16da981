package network

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
	"productform/internal/lattice"
	"productform/internal/oracle"
	"productform/network/internal/convolution"
	"productform/num"
)

// drawStation draws a network of a delay and a station with Order or Balanced. Some
// classes that visit it are open; the others belong to up to two closed chains (two classes of the
// first chain turn into each other).
func drawStation(t *rapid.T, open bool) *Model {
	m := &Model{Stations: []Station{{Name: "s", Discipline: Order}, {Name: "d", Discipline: Delay}}}
	one := big.NewRat(1, 1)
	loop := func(name string, population int) Class { // one visit to the station, one to the delay
		c := len(m.Classes)
		return Class{
			Name:       name,
			Population: population,
			Visits:     []Visit{{Station: 0, Next: []Branch{{c, 1, one}}}, {Station: 1, Next: []Branch{{c, 0, one}}}},
		}
	}
	m.Classes = append(m.Classes, loop("a", rapid.IntRange(1, 3).Draw(t, "jobs")))
	if rapid.Bool().Draw(t, "switch") {
		m.Classes = append(m.Classes, loop("b", 0))
		half := big.NewRat(1, 2)
		m.Classes[0].Visits[1].Next = []Branch{{0, 0, half}, {1, 0, half}}
		m.Classes[1].Visits[1].Next = []Branch{{0, 0, one}}
	}
	if rapid.Bool().Draw(t, "second chain") {
		m.Classes = append(m.Classes, loop("c", rapid.IntRange(1, 2).Draw(t, "jobs")))
	}
	if open {
		for range rapid.IntRange(1, 2).Draw(t, "open") {
			m.Classes = append(m.Classes, Class{
				Name:        fmt.Sprint("open", len(m.Classes)),
				ArrivalRate: big.NewRat(int64(rapid.IntRange(0, 3).Draw(t, "rate")), 20),
				Visits:      []Visit{{Station: 0, Next: []Branch{{Class: Leaves, Probability: one}}}},
			})
		}
	}
	drawService(t, m, 0)
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	return m
}

// drawService draws the service of a station that all classes of m visit, with the visit of the
// same number.
func drawService(t *rapid.T, m *Model, station int) {
	s := &m.Stations[station]
	s.Discipline = Order
	size := big.NewRat(int64(rapid.IntRange(1, 3).Draw(t, "size")), 4)
	for c := range m.Classes {
		m.Classes[c].Visits[station].MeanSize = size
	}
	n := len(m.Classes)
	subset := func() []int {
		mask := rapid.IntRange(1, 1<<n-1).Draw(t, "set")
		return membersOf(mask, allClasses(m))
	}
	switch rapid.IntRange(0, 2).Draw(t, "service") {
	case 0:
		nodes := rapid.IntRange(1, 3).Draw(t, "nodes")
		for k := range nodes {
			s.Nodes = append(s.Nodes, Node{
				fmt.Sprint("n", k), big.NewRat(int64(rapid.IntRange(1, 4).Draw(t, "capacity")), 2),
			})
		}
		for c := range m.Classes {
			m.Classes[c].Visits[station].Nodes = membersOf(
				rapid.IntRange(1, 1<<nodes-1).Draw(t, "nodes of a class"), []int{0, 1, 2},
			)
		}
	case 1:
		s.Servers = rapid.IntRange(1, 3).Draw(t, "servers")
		for {
			set := subset()
			fits := true
			for _, l := range s.Limits {
				fits = fits && disjointOrNested(set, l.Classes) && !slices.Equal(set, l.Classes)
			}
			if fits {
				s.Limits = append(s.Limits, Limit{set, rapid.IntRange(1, 2).Draw(t, "most")})
			}
			if rapid.Bool().Draw(t, "enough limits") {
				break
			}
		}
	default:
		rank := make([]int64, 1<<n)
		for mask := 1; mask < len(rank); mask++ {
			for c := range n {
				rank[mask] = max(rank[mask], rank[mask&^(1<<c)])
			}
			rank[mask] += int64(rapid.IntRange(0, 2).Draw(t, "more"))
			rank[mask] = max(rank[mask], 1)
			s.Rank = append(s.Rank, SetRate{membersOf(mask, allClasses(m)), big.NewRat(rank[mask], 2)})
		}
	}
}

// withRoom returns a model whose arrival rates are reduced, if necessary, until station 0 is
// stable at all rates below factor times the result.
func withRoom(t *rapid.T, m *Model, factor int64) *Model {
	s, err := newDemands(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	load, err := s.load(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if scale := load.CriticalScale; scale != nil && scale.Cmp(big.NewRat(factor, 1)) < 0 {
		return m.Scale(new(big.Rat).Quo(scale, big.NewRat(factor, 1)))
	}
	return m
}

// busy returns the rates at which the servers or nodes of a station serve jobs in order of arrival,
// by definition: each node works on the first job that it can serve, each server takes the first
// job that the limits allow. With a rank function, a job gets the difference that it makes. busy
// also returns the total.
func busy(m *Model, station int, jobs []int) *big.Rat {
	s := &m.Stations[station]
	total := new(big.Rat)
	switch {
	case s.Nodes != nil:
		for k, node := range s.Nodes {
			if slices.ContainsFunc(
				jobs, func(c int) bool { return slices.Contains(m.Classes[c].Visits[station].Nodes, k) },
			) {
				total.Add(total, node.Capacity)
			}
		}
	case s.Limits != nil:
		held, free := make([]int, len(s.Limits)), max(s.Servers, 1)
		for _, c := range jobs {
			denied := free == 0
			for l, limit := range s.Limits {
				denied = denied || slices.Contains(limit.Classes, c) && held[l] == limit.Most
			}
			if denied {
				continue
			}
			free--
			total.Add(total, num.OrOne(s.Rate))
			for l, limit := range s.Limits {
				if slices.Contains(limit.Classes, c) {
					held[l]++
				}
			}
		}
	default:
		set := slices.Compact(slices.Sorted(slices.Values(jobs)))
		for _, r := range s.Rank {
			if slices.Equal(r.Classes, set) {
				return r.Rate
			}
		}
	}
	return total
}

// sequences calls visit for every sequence of classes with at most the given number of each,
// passing Π w/μ(first jobs). It omits the sequences that begin with one for which visit returns
// false.
func sequences(m *Model, most []int, work []*big.Rat, visit func(jobs []int, weight *big.Rat) bool) {
	var extend func(jobs []int, weight *big.Rat)
	left := slices.Clone(most)
	extend = func(jobs []int, weight *big.Rat) {
		if !visit(jobs, weight) {
			return
		}
		for c := range left {
			if left[c] == 0 {
				continue
			}
			left[c]--
			next := append(slices.Clone(jobs), c)
			x := new(big.Rat).Mul(weight, work[c])
			extend(next, x.Quo(x, busy(m, 0, next)))
			left[c]++
		}
	}
	extend(nil, big.NewRat(1, 1))
}

var engines = map[string]arithmetic.Number{
	"exact":   arithmetic.One(num.Exact, 0),
	"enclose": arithmetic.One(num.Enclose, 100),
	"float":   arithmetic.One(num.Float, 0),
}

// agrees reports whether x equals want: exactly, between its bounds, or within its error bound.
func agrees(x arithmetic.Number, want *big.Rat) bool {
	switch {
	case x.Exact != nil:
		return x.Exact.Cmp(want) == 0
	case x.Interval.Low != nil:
		return !x.Interval.Low.IsInf() && cmpRat(x.Interval.Low, want) <= 0 && cmpRat(x.Interval.High, want) >= 0 &&
			x.Width() < 1e-20
	}
	f := new(big.Rat).SetFloat64(x.Double())
	gap := new(big.Rat).Sub(f, want)
	e, _ := new(big.Rat).SetString(fmt.Sprint(x.Bound))
	return x.Bound < 1e-12 && gap.Abs(gap).Cmp(e.Mul(e, want)) <= 0
}

func cmpRat(x *big.Float, r *big.Rat) int {
	y, _ := x.Rat(nil)
	return y.Cmp(r)
}

// systemOf returns the system of a stable model, and station 0 with the w of its classes.
func systemOf(t *rapid.T, m *Model) (*system, []*big.Rat) {
	s, err := newSystem(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	work := make([]*big.Rat, len(m.Classes))
	for _, v := range s.Stations[0].Visits {
		work[v.Class] = v.Work
	}
	return s, work
}

// populationsOf returns the axes of all closed chains and their populations.
func populationsOf(s *system) (axes, most []int) {
	for k, i := range s.Closed {
		axes, most = append(axes, k), append(most, s.Chains[i].Population)
	}
	return axes, most
}

// Tables of closed classes match sums over all orders of arrival in all engines: F(n), jobs by
// kind, idle nodes.
func TestTablesMatchSumsOverSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawStation(t, false)
		s, work := systemOf(t, m)
		sh := s.Stations[0].Shared
		axes, most := populationsOf(s)
		slices.Reverse(axes)
		slices.Reverse(most)
		axisOf := make([]int, len(m.Classes))
		limit := make([]int, len(m.Classes))
		for _, v := range s.Stations[0].Visits {
			axisOf[v.Class] = slices.Index(axes, v.K)
			limit[v.Class] = most[axisOf[v.Class]]
		}
		stride := lattice.LastFastest(most).Stride
		points := stride[0] * (most[0] + 1)
		zeros := func() []*big.Rat {
			x := make([]*big.Rat, points)
			for i := range x {
				x[i] = new(big.Rat)
			}
			return x
		}
		all, idle, jobsOf := zeros(), make([][]*big.Rat, len(m.Stations[0].Nodes)), make([][]*big.Rat, len(sh.Kinds))
		for k := range idle {
			idle[k] = zeros()
		}
		for c := range jobsOf {
			jobsOf[c] = zeros()
		}
		sequences(m, limit, work, func(jobs []int, weight *big.Rat) bool {
			n, at := make([]int, len(most)), 0
			for _, c := range jobs {
				n[axisOf[c]]++
				at += stride[axisOf[c]]
			}
			for a := range n {
				if n[a] > most[a] {
					return false
				}
			}
			all[at].Add(all[at], weight)
			for k := range idle {
				if !slices.ContainsFunc(
					jobs, func(c int) bool { return slices.Contains(m.Classes[c].Visits[0].Nodes, k) },
				) {
					idle[k][at].Add(idle[k][at], weight)
				}
			}
			for c, kind := range sh.Kinds {
				for _, j := range jobs {
					if slices.ContainsFunc(
						kind.Visits, func(v int) bool { return s.Stations[0].Visits[v].Class == j },
					) {
						jobsOf[c][at].Add(jobsOf[c][at], weight)
					}
				}
			}
			return true
		})
		for name, one := range engines {
			tab, err := sh.Tabulate(context.Background(), axes, most, one)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, name+" F", all, func() (convolution.Table, error) { return tab.Values(context.Background()) })
			for k := range idle {
				compare(t, name+" idle", idle[k], func() (convolution.Table, error) {
					return tab.Idle(context.Background(), k)
				})
			}
			for c := range jobsOf {
				compare(t, name+" jobs", jobsOf[c], func() (convolution.Table, error) {
					return tab.Jobs(context.Background(), c)
				})
			}
		}
	})
}

func compare(t *rapid.T, what string, want []*big.Rat, table func() (convolution.Table, error)) {
	got, err := table()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !agrees(got[i], want[i]) {
			v, _ := got[i].Value()
			t.Fatalf("%s[%d] = %v (bound %g), want %v", what, i, v, got[i].Bound, want[i])
		}
	}
}

// With open classes tables match sums over all numbers of open jobs, here up to 24 in float64: each
// further job is at most a third as likely.
func TestTablesWithOpenClasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := withRoom(t, drawStation(t, true), 3)
		s, work := systemOf(t, m)
		sh := s.Stations[0].Shared
		axes, most := populationsOf(s)
		tab, err := sh.Tabulate(context.Background(), axes, most, arithmetic.One(num.Exact, 0))
		if err != nil {
			t.Fatal(err)
		}
		f, err := tab.Values(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		all, jobs := openSums(s, work, most, 24)
		for i, x := range f {
			if v, _ := x.Exact.Float64(); math.Abs(v-all[i]) > 1e-9*(1+v) {
				t.Fatalf("F[%d] = %v, summed %v", i, v, all[i])
			}
		}
		for c, kind := range sh.Kinds {
			g, err := tab.Jobs(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range g {
				want := 0.0
				for _, v := range kind.Visits {
					want += jobs[s.Stations[0].Visits[v].Class][i]
				}
				if v, _ := x.Exact.Float64(); math.Abs(v-want) > 1e-8*(1+v) {
					t.Fatalf("jobs of kind %d at %d: %v, summed %v", c, i, v, want)
				}
			}
		}
	})
}

// openSums returns Σ Φ(x) w^x, and the same with factor x_c for each class c, by population of the
// closed chains. The sums are over states with a limited number of open jobs, and use Φ(x) μ(x) = Σ
// Φ(x - e_c) over counts of classes.
func openSums(s *system, work []*big.Rat, most []int, open int) (all []float64, jobs [][]float64) {
	m := s.model
	limit, axis := make([]int, len(m.Classes)), make([]int, len(m.Classes))
	for c := range limit {
		limit[c], axis[c] = open, -1
	}
	for _, v := range s.Stations[0].Visits {
		if v.K >= 0 {
			limit[v.Class], axis[v.Class] = most[v.K], v.K
		}
	}
	box := lattice.LastFastest(limit)
	stride, total := box.Stride, box.States
	phi := make([]float64, total)
	points := 1
	for _, n := range most {
		points *= n + 1
	}
	all, jobs = make([]float64, points), make([][]float64, len(m.Classes))
	for c := range jobs {
		jobs[c] = make([]float64, points)
	}
	w := make([]float64, len(work))
	for c, x := range work {
		w[c], _ = x.Float64()
	}
	rates := map[string]float64{} // by the classes present
	var list []byte
	x := make([]int, len(limit))
	to := lattice.LastFastest(most).Stride
	for row := 0; row < total; row++ {
		if row == 0 {
			phi[0] = 1
		} else {
			list = list[:0]
			for c, n := range x {
				for range min(n, 3) { // more jobs never matter, since there are at most 3 servers
					list = append(list, byte(c))
				}
			}
			mu, ok := rates[string(list)]
			if !ok {
				var jobs []int
				for _, c := range list {
					jobs = append(jobs, int(c))
				}
				mu, _ = busy(m, 0, jobs).Float64()
				rates[string(list)] = mu
			}
			for c, n := range x {
				if n > 0 {
					phi[row] += w[c] * phi[row-stride[c]] / mu
				}
			}
		}
		at, n := 0, make([]int, len(most))
		inside := true
		for c, a := range axis {
			if a >= 0 {
				n[a] += x[c]
				at += x[c] * to[a]
				inside = inside && n[a] <= most[a]
			}
		}
		if inside {
			all[at] += phi[row]
			for c := range jobs {
				jobs[c][at] += float64(x[c]) * phi[row]
			}
		}
		box.Next(x)
	}
	return all, jobs
}

// With limits, the total rate equals the rate of the servers by definition, for any order of
// arrival.
func TestRatesByCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawStation(t, rapid.Bool().Draw(t, "open"))
		s, err := newDemands(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		sh := s.Stations[0].Shared
		jobs := rapid.SliceOfN(rapid.IntRange(0, len(m.Classes)-1), 1, 8).Draw(t, "order")
		y := make([]int, len(sh.Kinds))
		for c, kind := range sh.Kinds {
			for _, j := range jobs {
				if slices.ContainsFunc(kind.Visits, func(v int) bool { return s.Stations[0].Visits[v].Class == j }) {
					y[c]++
				}
			}
		}
		if got, want := sh.Rate(y), busy(m, 0, jobs); got.Cmp(want) != 0 {
			t.Fatalf("rate %v with jobs %v, the servers have %v", got, jobs, want)
		}
	})
}

func TestTabulateEnds(t *testing.T) {
	m := drawOf(t, func(t *rapid.T) *Model { return drawStation(t, false) })
	s, err := newSystem(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	axes, most := populationsOf(s)
	err = oracle.CheckEnds(func(ctx context.Context) error {
		tab, err := s.Stations[0].Shared.Tabulate(ctx, axes, most, engines["float"])
		if err == nil {
			_, err = tab.Jobs(ctx, 0)
		}
		if err == nil {
			err = tab.ByJobs(ctx, 1, func(convolution.Table) error { return nil })
		}
		return err
	}, 100_000, 3)
	if err != nil {
		t.Fatal(err)
	}
}

// The balance function and the rates of one table describe the same station; rates changed in one
// state are rejected, and the error names that state as the worst.
func TestTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawStation(t, false)
		s, _ := systemOf(t, m)
		sh := s.Stations[0].Shared
		classes := allClasses(m)
		table := &Table{Classes: slices.Clone(classes)}
		slices.Reverse(table.Classes)
		of := make([]int, len(classes)) // kind of each class
		for c, kind := range sh.Kinds {
			for _, v := range kind.Visits {
				of[s.Stations[0].Visits[v].Class] = c
			}
		}
		for _, c := range table.Classes {
			table.Most = append(table.Most, s.Chains[s.Closed[sh.Kinds[of[c]].K]].Population)
		}
		box, x := lattice.LastFastest(table.Most), make([]int, len(classes))
		stride := box.Stride
		for row := 0; ; row++ { // Φ of balanced fairness
			phi := big.NewRat(1, 1)
			if row > 0 {
				y := make([]int, len(sh.Kinds))
				phi.SetInt64(0)
				for a, n := range x {
					y[of[table.Classes[a]]] += n
					if n > 0 {
						phi.Add(phi, table.Balance[row-stride[a]])
					}
				}
				phi.Quo(phi, sh.Rate(y))
			}
			table.Balance = append(table.Balance, phi)
			rates := make([]*big.Rat, len(x))
			for a, n := range x {
				if n > 0 {
					rates[a] = new(big.Rat).Quo(table.Balance[row-stride[a]], phi)
				}
			}
			table.Rates = append(table.Rates, rates)
			if box.Next(x) < 0 {
				break
			}
		}
		axes, most := populationsOf(s)
		tab, err := sh.Tabulate(context.Background(), axes, most, engines["exact"])
		if err != nil {
			t.Fatal(err)
		}
		values, err := tab.Values(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var want []*big.Rat
		for _, v := range values {
			want = append(want, v.Exact)
		}
		for _, by := range []Table{
			{Classes: table.Classes, Most: table.Most, Balance: table.Balance},
			{Classes: table.Classes, Most: table.Most, Rates: table.Rates},
		} {
			c := tabled(m, &by)
			s, _ := systemOf(t, c)
			for name, one := range engines {
				tab, err := s.Stations[0].Shared.Tabulate(context.Background(), axes, most, one)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, name+" of a table", want, func() (convolution.Table, error) {
					return tab.Values(context.Background())
				})
			}
		}
		if len(classes) < 2 {
			return
		}
		last := len(table.Rates) - 1
		table.Rates[last][0] = new(big.Rat).Mul(table.Rates[last][0], big.NewRat(3, 2))
		_, err = newSystem(
			context.Background(), tabled(m, &Table{Classes: table.Classes, Most: table.Most, Rates: table.Rates}),
		)
		var bad *TableError
		var in *num.InputError
		if !errors.As(err, &bad) || !errors.As(err, &in) || !slices.Equal(bad.State, table.Most) ||
			bad.Relative.Cmp(big.NewRat(1, 3)) != 0 {
			t.Fatalf("%v", err)
		}
	})
}

// tabled returns m with a table instead of the service of its first station.
func tabled(m *Model, table *Table) *Model {
	c := *m
	c.Stations = slices.Clone(m.Stations)
	c.Stations[0] = Station{Name: "s", Discipline: Balanced, Table: table}
	c.Classes = slices.Clone(m.Classes)
	for i := range c.Classes {
		c.Classes[i].Visits = slices.Clone(c.Classes[i].Visits)
		c.Classes[i].Visits[0].Nodes = nil
	}
	return &c
}

// For two stations with Order, the product form matches the Markov chain whose states list the jobs
// of each station in order of arrival. Its rates follow from the definition, and its stationary
// distribution is solved in fractions. Populations, jobs by class and idle nodes agree. Pairs in
// which jobs cannot get into every order are omitted, since there the product form is the mean over
// the orders at the start.
func TestClosedPairInAllStates(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) *Model {
		m := drawStation(t, false)
		drawService(t, m, 1)
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		return m
	})
	solved := 0
	for seed := range 60 {
		m := draw.Example(seed)
		if chain, states := pairChain(m, 60); chain != nil && len(states) == arrangements(m) {
			checkPair(t, m, chain)
			checkPairStates(t, m, chain)
			solved++
		}
	}
	if solved < 20 {
		t.Fatalf("only %d pairs are small", solved)
	}
}

// A pairState holds the classes of the jobs at each of two stations, one byte per job, in order of
// arrival.
type pairState [2]string

// arrangements returns the number of states if jobs can get into every order: the jobs in some
// order, each with some class of its chain, and the position at which the first station ends.
func arrangements(m *Model) int {
	n, ways := 0, 1
	k := m.components()
	for i, classes := range k.classes {
		for j := range k.population[i] {
			n++
			ways = ways * n / (j + 1) * len(classes)
		}
	}
	return ways * (n + 1)
}

// pairChain returns the Markov chain of the states that the jobs of m can reach from all at the
// first station, or nil if there are more than the given number.
func pairChain(m *Model, most int) (chain *oracle.Chain[pairState], states []pairState) {
	var first []byte
	for c, class := range m.Classes {
		for range class.Population {
			first = append(first, byte(c))
		}
	}
	start := pairState{string(first), ""}
	states = []pairState{start}
	for i := 0; i < len(states); i++ {
		if len(states) > most {
			return nil, nil
		}
		pairMoves(m, states[i], func(to pairState, _ *big.Rat) {
			if !slices.Contains(states, to) {
				states = append(states, to)
			}
		})
	}
	return oracle.NewChain(start, func(s pairState, move func(to pairState, rate *big.Rat)) {
		pairMoves(m, s, move)
	}), states
}

// pairMoves calls move for every transition out of a state.
func pairMoves(m *Model, from pairState, move func(to pairState, rate *big.Rat)) {
	for station, jobs := range from {
		list := classesOf(jobs)
		for at, c := range list {
			rate := new(big.Rat).Sub(busy(m, station, list[:at+1]), busy(m, station, list[:at]))
			rate.Quo(rate, m.Classes[c].Visits[station].size())
			if rate.Sign() == 0 {
				continue
			}
			for _, b := range m.Classes[c].Visits[station].Next {
				if b.Probability.Sign() == 0 {
					continue
				}
				to := from
				to[station] = jobs[:at] + jobs[at+1:]
				to[b.Visit] += string([]byte{byte(b.Class)})
				move(to, new(big.Rat).Mul(rate, b.Probability))
			}
		}
	}
}

func classesOf(jobs string) []int {
	var list []int
	for _, c := range []byte(jobs) {
		list = append(list, int(c))
	}
	return list
}

func checkPair(t *testing.T, m *Model, chain *oracle.Chain[pairState]) {
	t.Helper()
	s, err := newSystem(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	axes, most := populationsOf(s)
	stride := lattice.LastFastest(most).Stride
	var tabs [2]*convolution.Tabulation
	var values [2]convolution.Table
	for i := range tabs {
		if tabs[i], err = s.Stations[i].Shared.Tabulate(
			context.Background(), axes, most, engines["exact"],
		); err != nil {
			t.Fatal(err)
		}
		if values[i], err = tabs[i].Values(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	points := len(values[0])
	g := new(big.Rat)
	for n := range points {
		g.Add(g, new(big.Rat).Mul(values[0][n].Exact, values[1][points-1-n].Exact))
	}
	chainOf := map[int]int{}
	for _, v := range s.Stations[0].Visits {
		chainOf[v.Class] = v.K
	}
	// mean of a statistic, with the table instead of values
	mean := func(table convolution.Table, station int) *big.Rat {
		sum := new(big.Rat)
		for n := range points {
			sum.Add(sum, new(big.Rat).Mul(table[n].Exact, values[1-station][points-1-n].Exact))
		}
		return sum.Quo(sum, g)
	}
	for n := range points {
		want := chain.Mean(func(s pairState) *big.Rat {
			at := 0
			for _, c := range classesOf(s[0]) {
				at += stride[chainOf[c]]
			}
			if at == n {
				return big.NewRat(1, 1)
			}
			return new(big.Rat)
		})
		got := new(big.Rat).Mul(values[0][n].Exact, values[1][points-1-n].Exact)
		if got.Quo(got, g).Cmp(want) != 0 {
			t.Fatalf("P(population %d at the first station) = %v, over all states %v", n, got, want)
		}
	}
	for station := range 2 {
		for k := range m.Stations[station].Nodes {
			want := chain.Mean(func(state pairState) *big.Rat {
				if slices.ContainsFunc(
					classesOf(state[station]),
					func(c int) bool { return slices.Contains(m.Classes[c].Visits[station].Nodes, k) },
				) {
					return new(big.Rat)
				}
				return big.NewRat(1, 1)
			})
			table, err := tabs[station].Idle(context.Background(), k)
			if err != nil {
				t.Fatal(err)
			}
			if got := mean(table, station); got.Cmp(want) != 0 {
				t.Fatalf("node %d of station %d idle: %v, over all states %v", k, station, got, want)
			}
		}
		for c, kind := range s.Stations[station].Shared.Kinds {
			want := chain.Mean(func(state pairState) *big.Rat {
				n := int64(0)
				for _, j := range classesOf(state[station]) {
					if slices.ContainsFunc(
						kind.Visits, func(v int) bool { return s.Stations[station].Visits[v].Class == j },
					) {
						n++
					}
				}
				return big.NewRat(n, 1)
			})
			table, err := tabs[station].Jobs(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			if got := mean(table, station); got.Cmp(want) != 0 {
				t.Fatalf("jobs of kind %d at station %d: %v, over all states %v", c, station, got, want)
			}
		}
	}
}

// checkPairStates compares the states by counts, and the rates at which jobs leave in each, with
// the chain of orders.
func checkPairStates(t *testing.T, m *Model, chain *oracle.Chain[pairState]) {
	t.Helper()
	type flow struct{ station, class int }
	prob, rates := map[string]*big.Rat{}, map[string]map[flow]*big.Rat{}
	add := func(to *big.Rat, x *big.Rat) *big.Rat {
		if to == nil {
			to = new(big.Rat)
		}
		return to.Add(to, x)
	}
	key := func(counts map[flow]int) string { return fmt.Sprint(counts) }
	for s, p := range chain.Prob {
		counts := map[flow]int{}
		for station, jobs := range s {
			for _, c := range classesOf(jobs) {
				counts[flow{station, c}]++
			}
		}
		k := key(counts)
		prob[k] = add(prob[k], p)
		if rates[k] == nil {
			rates[k] = map[flow]*big.Rat{}
		}
		for station, jobs := range s {
			list := classesOf(jobs)
			for at, c := range list {
				r := new(big.Rat).Sub(busy(m, station, list[:at+1]), busy(m, station, list[:at]))
				r.Quo(r, m.Classes[c].Visits[station].size()).Mul(r, p)
				rates[k][flow{station, c}] = add(rates[k][flow{station, c}], r)
			}
		}
	}
	r, err := Answer(context.Background(), m, Question{States: 1000}, Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.LikelyStates) != len(prob) {
		t.Fatalf("%d states, want %d", len(r.LikelyStates), len(prob))
	}
	for n, s := range r.LikelyStates {
		counts := map[flow]int{}
		for _, j := range s.Jobs {
			counts[flow{m.Classes[j.Class].Visits[j.Visit].Station, j.Class}] = j.Jobs
		}
		k := key(counts)
		if prob[k] == nil || s.Probability.Exact.Cmp(prob[k]) != 0 {
			t.Fatalf("P(%s) = %v, over all orders %v", s.Name, s.Probability.Exact, prob[k])
		}
		if n > 0 && s.Probability.Exact.Cmp(r.LikelyStates[n-1].Probability.Exact) > 0 {
			t.Fatalf("state %d, %s, is likelier than the one before", n, s.Name)
		}
		for _, j := range s.Jobs {
			station := m.Classes[j.Class].Visits[j.Visit].Station
			of := rates[k][flow{station, j.Class}]
			if got := new(big.Rat).Mul(j.DepartureRate.Exact, prob[k]); got.Cmp(of) != 0 {
				t.Fatalf("%s: class %s leaves at rate %v, over all orders %v", s.Name, j.Name, j.DepartureRate.Exact,
					of.Quo(of, prob[k]))
			}
			all := new(big.Rat)
			for at, x := range rates[k] {
				if at.station == station {
					all.Add(all, x)
				}
			}
			if got := new(big.Rat).Mul(j.DepartureProbability.Exact, all); got.Cmp(of) != 0 {
				t.Fatalf("%s: class %s leaves next with probability %v", s.Name, j.Name, j.DepartureProbability.Exact)
			}
		}
	}
}

// At a station that closed and open classes visit, probabilities of states are proportional to sums
// over the sequences of jobs, and no omitted state is more likely than the last listed one.
func TestLikelyStatesMatchSumsOverSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := withRoom(t, drawStation(t, true), 2)
		if rapid.Bool().Draw(t, "only open") {
			m = openOnly(m)
		}
		s, err := newSystem(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		engine := rapid.SampledFrom([]num.Engine{num.Float, num.Exact}).Draw(t, "engine")
		r, err := Answer(context.Background(), m, Question{States: rapid.IntRange(1, 20).Draw(t, "states")}, Settings{
			Engine: engine,
		})
		if err != nil {
			t.Fatal(err)
		}
		n := len(m.Classes)
		open := 0
		for _, c := range m.Classes {
			if c.ArrivalRate != nil {
				open++
			}
		}
		work, most := [2][]*big.Rat{make([]*big.Rat, n), make([]*big.Rat, n)}, make([]int, n)
		chain, population := make([]int, n), map[int]int{}
		for station := range s.Stations {
			for _, v := range s.Stations[station].Visits {
				work[station][v.Class], chain[v.Class] = v.Work, v.K
				most[v.Class] = max(1, 3-open)
				if v.K >= 0 {
					most[v.Class] = s.Chains[s.Closed[v.K]].Population
					population[v.K] = most[v.Class]
				}
			}
		}
		here := map[string]*big.Rat{} // by counts at the station
		counts := map[string][]int{}
		sequences(m, most, work[0], func(jobs []int, weight *big.Rat) bool {
			x, of := make([]int, n), map[int]int{}
			for _, c := range jobs {
				x[c]++
				if of[chain[c]]++; chain[c] >= 0 && of[chain[c]] > population[chain[c]] {
					return false
				}
			}
			key := fmt.Sprint(x)
			if here[key] == nil {
				here[key], counts[key] = new(big.Rat), x
			}
			here[key].Add(here[key], weight)
			return true
		})
		listed := map[string]float64{}
		for _, state := range r.LikelyStates {
			x := [2][]int{make([]int, n), make([]int, n)}
			for _, j := range state.Jobs {
				x[m.Classes[j.Class].Visits[j.Visit].Station][j.Class] = j.Jobs
			}
			listed[fmt.Sprint(x)] = state.Probability.Float
		}
		last := r.LikelyStates[len(r.LikelyStates)-1].Probability.Float
		weights := map[string]*big.Rat{}
		for key, x := range counts {
			left := map[int]int{}
			for k, jobs := range population {
				left[k] = jobs
			}
			for c, jobs := range x {
				if chain[c] >= 0 {
					left[chain[c]] -= jobs
				}
			}
			away := make([]int, n)
			var place func(c int, weight *big.Rat)
			place = func(c int, weight *big.Rat) {
				if c == n {
					for _, jobs := range left {
						if jobs > 0 {
							return
						}
					}
					weights[fmt.Sprint([2][]int{x, away})] = weight
					return
				}
				place(c+1, weight)
				if chain[c] < 0 {
					return
				}
				taken := 0
				for ; left[chain[c]] > 0; taken++ {
					left[chain[c]]--
					away[c]++
					weight = new(big.Rat).Mul(weight, work[1][c])
					weight.Quo(weight, big.NewRat(int64(away[c]), 1))
					place(c+1, weight)
				}
				left[chain[c]] += taken
				away[c] = 0
			}
			place(0, here[key])
		}
		unit := 0.0 // probability of a state with weight 1
		for key, p := range listed {
			if w := weights[key]; w != nil && w.Sign() > 0 {
				f, _ := w.Float64()
				unit = p / f
			}
		}
		for key, w := range weights {
			f, _ := w.Float64()
			switch p, is := listed[key]; {
			case is && !oracle.Near(p, unit*f, 1e-9):
				t.Fatalf("P(%s) = %g, by its sequences %g", key, p, unit*f)
			case !is && unit*f > last*(1+1e-9):
				t.Fatalf("%s is omitted, with probability %g, and one of %g is not", key, unit*f, last)
			}
		}
	})
}

// openOnly returns a model without its closed classes. Closed classes come first, and a rank
// function keeps the sets of the open ones.
func openOnly(m *Model) *Model {
	first := slices.IndexFunc(m.Classes, func(c Class) bool { return c.ArrivalRate != nil })
	n := &Model{Stations: slices.Clone(m.Stations), Classes: m.Classes[first:]}
	s := &n.Stations[0]
	moved := func(classes []int) (list []int) {
		for _, c := range classes {
			if c >= first {
				list = append(list, c-first)
			}
		}
		return list
	}
	s.Rank, s.Limits = nil, nil
	for _, r := range m.Stations[0].Rank {
		if r.Classes[0] >= first {
			s.Rank = append(s.Rank, SetRate{moved(r.Classes), r.Rate})
		}
	}
	seen := map[string]bool{}
	for _, l := range m.Stations[0].Limits {
		if list := moved(l.Classes); list != nil && !seen[fmt.Sprint(list)] {
			seen[fmt.Sprint(list)] = true
			s.Limits = append(s.Limits, Limit{list, l.Most})
		}
	}
	if m.Stations[0].Limits != nil && s.Limits == nil {
		s.Limits = []Limit{{[]int{0}, 1}}
	}
	return n
}
