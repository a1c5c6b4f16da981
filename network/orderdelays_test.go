package network_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/cluster"
	"productform/internal/oracle"
	"productform/network"
	"productform/num"
)

// drawOrder returns a network with a station of discipline order, and one other station for its
// closed classes. Open classes bring little work.
func drawOrder(t *rapid.T) *network.Model {
	one := big.NewRat(1, 1)
	m := &network.Model{Stations: []network.Station{{Name: "order", Discipline: network.Order}, {Name: "other"}}}
	m.Stations[1].Discipline = rapid.SampledFrom([]network.Discipline{network.Delay, network.Sharing}).Draw(t, "other")
	left := 4
	for c := range rapid.IntRange(1, 3).Draw(t, "classes") {
		k := network.Class{Name: fmt.Sprint("c", c), Visits: []network.Visit{{MeanSize: big.NewRat(2, 3), Count: one}}}
		if rapid.Bool().Draw(t, "open") || left == 0 {
			k.ArrivalRate = big.NewRat(int64(rapid.IntRange(1, 3).Draw(t, "rate")), 3000)
		} else {
			k.Population = rapid.IntRange(1, left).Draw(t, "jobs")
			left -= k.Population
			k.Visits[0].Count = drawFraction(t, "count")
			k.Visits = append(k.Visits, network.Visit{Station: 1, Count: one, MeanSize: drawFraction(t, "size")})
		}
		m.Classes = append(m.Classes, k)
	}
	drawOrderService(t, m)
	return m
}

// drawOrderService draws nodes, limits or a rank function of the first station.
func drawOrderService(t *rapid.T, m *network.Model) {
	s := &m.Stations[0]
	switch rapid.SampledFrom([]string{"nodes", "limits", "rank"}).Draw(t, "service") {
	case "nodes":
		for n := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			s.Nodes = append(s.Nodes, network.Node{Name: fmt.Sprint("n", n), Capacity: drawFraction(t, "capacity")})
		}
		for c := range m.Classes {
			for n := range s.Nodes {
				if n == c%len(s.Nodes) || rapid.Bool().Draw(t, "serves") {
					m.Classes[c].Visits[0].Nodes = append(m.Classes[c].Visits[0].Nodes, n)
				}
			}
		}
	case "limits":
		s.Servers, s.Rate = rapid.IntRange(1, 3).Draw(t, "servers"), drawFraction(t, "rate of a server")
		s.Limits = []network.Limit{{Classes: []int{0}, Most: rapid.IntRange(1, 2).Draw(t, "most")}}
		if len(m.Classes) > 2 {
			s.Limits = append(s.Limits, network.Limit{Classes: []int{0, 1}, Most: 2})
		}
	default: // nondecreasing, but with any increments
		rates := make([]*big.Rat, 1<<len(m.Classes))
		for set := 1; set < len(rates); set++ {
			rate := drawFraction(t, "rate of a set")
			if rapid.Bool().Draw(t, "flat") {
				rate = big.NewRat(1, 2)
			}
			var classes []int
			for c := range m.Classes {
				if set>>c&1 == 1 {
					classes = append(classes, c)
					if less := rates[set&^(1<<c)]; less != nil && less.Cmp(rate) > 0 {
						rate = less
					}
				}
			}
			rates[set] = rate
			s.Rank = append(s.Rank, network.SetRate{Classes: classes, Rate: rate})
		}
	}
}

// orderRate returns the total rate of the first station for jobs in order of arrival.
func orderRate(m *network.Model, jobs []byte) float64 {
	s := &m.Stations[0]
	number := func(r *big.Rat) float64 { f, _ := r.Float64(); return f }
	sum := 0.0
	switch {
	case s.Nodes != nil:
		for n, node := range s.Nodes {
			serves := func(c byte) bool { return slices.Contains(m.Classes[c].Visits[0].Nodes, n) }
			if slices.ContainsFunc(jobs, serves) {
				sum += number(node.Capacity)
			}
		}
	case s.Limits != nil:
		var served []byte
		for _, c := range jobs {
			with := append(slices.Clone(served), c)
			ok := len(with) <= s.Servers
			for _, l := range s.Limits {
				held := 0
				for _, o := range with {
					if slices.Contains(l.Classes, int(o)) {
						held++
					}
				}
				ok = ok && held <= l.Most
			}
			if ok {
				served = with
			}
		}
		sum = number(s.Rate) * float64(len(served))
	case len(jobs) > 0:
		for _, r := range s.Rank {
			same := true
			for c := range m.Classes {
				same = same && slices.Contains(jobs, byte(c)) == slices.Contains(r.Classes, c)
			}
			if same {
				sum = number(r.Rate)
			}
		}
	}
	return sum
}

// A literalOrder lists the orders of jobs that a job of a class finds at the first station, with
// their probabilities, and follows the job through them.
type literalOrder struct {
	m      *network.Model
	class  byte
	found  map[string]float64
	states []literalState // those of fewer jobs come first
}

type literalState struct {
	found  float64 // its probability
	out    float64 // rate at which the job or a job ahead of it departs
	served bool    // whether the job is served
	moves  []literalMove
}

// A literalMove is the departure of a job ahead.
type literalMove struct {
	to   int
	rate float64
}

// mostOpen is the largest number of jobs of open classes that are found; these classes bring at
// most 1/40 of the capacity.
const mostOpen = 3

func newLiteralOrder(m *network.Model, class int) *literalOrder {
	l := &literalOrder{m: m, class: byte(class), found: map[string]float64{}}
	left := make([]int, len(m.Classes))
	for c := range m.Classes {
		left[c] = m.Classes[c].Population
	}
	if left[class] > 0 {
		left[class]--
	}
	l.add(nil, left, mostOpen, 1)
	sum := 0.0
	var orders []string
	for jobs, x := range l.found {
		sum += x
		orders = append(orders, jobs)
	}
	slices.SortFunc(orders, func(a, b string) int { return len(a) - len(b) })
	index := map[string]int{}
	for k, jobs := range orders {
		index[jobs] = k
		rate, with := orderRate(m, []byte(jobs)), orderRate(m, append([]byte(jobs), l.class))
		s := literalState{found: l.found[jobs] / sum, out: with / l.size(), served: with > rate}
		for j := range jobs {
			if rate := orderRate(m, []byte(jobs[:j+1])) - orderRate(m, []byte(jobs[:j])); rate > 0 {
				s.moves = append(s.moves, literalMove{index[jobs[:j]+jobs[j+1:]], rate / l.size()})
			}
		}
		l.states = append(l.states, s)
	}
	return l
}

// add sets the weights of the orders that begin with some jobs, given the closed jobs that are left
// by class, and the number of open jobs that may follow.
func (l *literalOrder) add(jobs []byte, left []int, open int, weight float64) {
	l.found[string(jobs)] = weight * l.otherWeight(left)
	for c, k := range l.m.Classes {
		with := append(slices.Clone(jobs), byte(c))
		work, _ := k.Visits[0].Count.Float64()
		weight := weight * work * l.size() / orderRate(l.m, with)
		switch {
		case k.ArrivalRate != nil && open > 0:
			rate, _ := k.ArrivalRate.Float64()
			l.add(with, left, open-1, weight*rate)
		case left[c] > 0:
			left[c]--
			l.add(with, left, open, weight)
			left[c]++
		}
	}
}

func (l *literalOrder) size() float64 {
	size, _ := l.m.Classes[0].Visits[0].MeanSize.Float64()
	return size
}

// otherWeight returns the weight of the jobs at the other station.
func (l *literalOrder) otherWeight(left []int) float64 {
	weight, all := 1.0, 0
	for c, n := range left {
		for j := 1; j <= n; j++ {
			work, _ := l.m.Classes[c].Visits[1].MeanSize.Float64()
			all++
			weight *= work / float64(j)
			if l.m.Stations[1].Discipline == network.Sharing {
				weight *= float64(all)
			}
		}
	}
	return weight
}

// tail returns P(T > t), or P(W > t), by uniformization of the chain.
func (l *literalOrder) tail(t float64, waiting bool) float64 {
	q := 0.0
	now, next := make([]float64, len(l.states)), make([]float64, len(l.states))
	for k, s := range l.states {
		q = max(q, s.out)
		if !waiting || !s.served {
			now[k] = 1
		}
	}
	sum, logWeight := 0.0, -q*t
	for n := 1; n < 60+int(q*t+12*math.Sqrt(q*t)); n++ {
		weight := math.Exp(logWeight)
		logWeight += math.Log(q * t / float64(n))
		for k, s := range l.states {
			sum += weight * s.found * now[k]
			next[k] = 0
			if !waiting || !s.served {
				next[k] = (1 - s.out/q) * now[k]
				for _, m := range s.moves {
					next[k] += m.rate / q * now[m.to]
				}
			}
		}
		now, next = next, now
	}
	return sum
}

// meanWaiting returns E[W].
func (l *literalOrder) meanWaiting() float64 {
	return l.mean(func(s *literalState) bool { return s.served })
}

// meanDelay returns E[T].
func (l *literalOrder) meanDelay() float64 { return l.mean(func(*literalState) bool { return false }) }

// mean returns the mean time until the job is in a state that ends it, or departs. Jobs ahead of it
// only leave, so each state comes after those to which it leads.
func (l *literalOrder) mean(ends func(*literalState) bool) float64 {
	mean, sum := make([]float64, len(l.states)), 0.0
	for k := range l.states {
		s := &l.states[k]
		if ends(s) {
			continue
		}
		later := 0.0
		for _, m := range s.moves {
			later += m.rate * mean[m.to]
		}
		mean[k] = (1 + later) / s.out
		sum += s.found * mean[k]
	}
	return sum
}

// Times at stations with order match a literal chain over all orders of the jobs that a job finds.
func TestOrderDelaysMatchLiteralChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawOrder(t)
		times := []*big.Rat{new(big.Rat), big.NewRat(1, 2), big.NewRat(2, 1)}
		levels := []*big.Rat{big.NewRat(1, 4), half, big.NewRat(9, 10)}
		q := network.DelayQuestion{Times: times, Levels: levels}
		all, err := network.Delays(t.Context(), m, q, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		solved, err := network.Solve(t.Context(), m, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for c, d := range all {
			l := newLiteralOrder(m, c)
			tol := 1e-11 // rounding in the literal chain
			if slices.ContainsFunc(m.Classes, func(k network.Class) bool { return k.ArrivalRate != nil }) {
				tol = 1e-5 // more than mostOpen jobs
			}
			near := func(what string, got num.Value, want float64) {
				low, high := got.Bounds()
				if !(math.Abs(got.Float-want) <= tol*max(1, want)) || !(low <= got.Float && got.Float <= high) ||
					high-low > 1e-11*high+1e-300 {
					t.Fatalf("class %d: %s %v in [%v, %v], want %v", c, what, got.Float, low, high, want)
				}
			}
			for i, at := range times {
				at, _ := at.Float64()
				near("P(T > t)", d.Tails[i], l.tail(at, false))
				near("P(W > t)", d.Waiting.Tails[i], l.tail(at, true))
			}
			near("P(W > 0)", d.Waiting.Probability, l.tail(0, true))
			near("mean waiting", *d.Waiting.Mean, l.meanWaiting())
			for i, level := range levels {
				level, _ := level.Float64()
				x := d.Quantiles[i].Float
				if got := l.tail(x, false); !(math.Abs(got-(1-level)) <= 100*tol) {
					t.Fatalf("class %d: quantile %v has the tail %v", c, x, got)
				}
				w := d.Waiting.Quantiles[i].Float
				got := l.tail(w, true)
				if w > 0 && !(math.Abs(got-(1-level)) <= 100*tol) || w == 0 && got > 1-level+tol {
					t.Fatalf("class %d: quantile %v of the waiting time has the tail %v", c, w, got)
				}
			}
			want := l.meanDelay()
			if got := solved.Stations[0].Visits[c].MeanDelay.Float; !(math.Abs(got-want) <= tol*max(1, want)) {
				t.Fatalf("class %d: mean delay %v, want %v", c, got, want)
			}
		}
	})
}

// A station with nodes and open classes only is a cluster that serves jobs in order of arrival.
func TestOrderDelaysMatchCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "nodes")
		m := &network.Model{Stations: []network.Station{{Name: "o", Discipline: network.Order}}}
		c := &cluster.Model{MeanSize: big.NewRat(2, 1)}
		for k := range n {
			capacity := drawFraction(t, "capacity")
			name := fmt.Sprint("n", k)
			m.Stations[0].Nodes = append(m.Stations[0].Nodes, network.Node{Name: name, Capacity: capacity})
			c.Servers = append(c.Servers, cluster.Server{Name: name, Capacity: capacity})
		}
		classes := rapid.IntRange(1, 4).Draw(t, "classes")
		for k := range classes {
			v := network.Visit{MeanSize: c.MeanSize, Count: big.NewRat(1, 1)}
			of := cluster.Class{Name: fmt.Sprint("c", k), ArrivalRate: new(big.Rat)}
			for s := range n {
				if s == k%n || rapid.Bool().Draw(t, "serves") {
					// less than the share of a class in the node, so the cluster is stable
					part := big.NewRat(rapid.Int64Range(1, 9).Draw(t, "tenths"), int64(10*classes))
					part.Quo(part, c.MeanSize)
					of.ArrivalRate.Add(of.ArrivalRate, part.Mul(part, c.Servers[s].Capacity))
					v.Nodes = append(v.Nodes, s)
					of.Servers = append(of.Servers, cluster.Choice{Server: s, Choose: 1})
				}
			}
			c.Classes = append(c.Classes, of)
			m.Classes = append(m.Classes, network.Class{
				Name:        of.Name,
				ArrivalRate: of.ArrivalRate,
				Visits:      []network.Visit{v},
			})
		}
		levels, times := []*big.Rat{half, ninetyNine}, []*big.Rat{big.NewRat(1, 3), big.NewRat(5, 1)}
		want, err := bf.Answer(t.Context(), c, bf.Question{Levels: levels, Times: times}, bf.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		q := network.DelayQuestion{Levels: levels, Times: times}
		got, err := network.Delays(t.Context(), m, q, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for k, d := range got {
			of := want.Classes[k].ClassDelays
			for i := range levels {
				if !oracle.Near(d.Quantiles[i].Float, of.Quantiles[i].Float, 1e-9) {
					t.Fatalf("class %d: quantile %v, want %v", k, d.Quantiles[i].Float, of.Quantiles[i].Float)
				}
			}
			for i := range times {
				if !oracle.Near(d.Tails[i].Float, of.Tails[i].Float, 1e-9) {
					t.Fatalf("class %d: tail %v, want %v", k, d.Tails[i].Float, of.Tails[i].Float)
				}
			}
		}
	})
}

// One class with a limit on its servers is an FCFS queue with that many servers.
func TestOrderDelaysMatchFCFS(t *testing.T) {
	for _, c := range []struct{ servers, most, population int }{
		{3, 3, 0}, {5, 2, 0}, {1, 1, 0}, {4, 2, 9}, {2, 2, 30},
	} {
		fcfs := queueOf(c.most, big.NewRat(int64(9*c.most), 5), half)
		if c.population > 0 {
			fcfs = &network.Model{
				Stations: []network.Station{fcfs.Stations[0], {Name: "think", Discipline: network.Delay}},
				Classes: []network.Class{{Name: "a", Population: c.population, Visits: []network.Visit{
					{Station: 0, MeanSize: half, Count: big.NewRat(1, 1)}, {Station: 1, Count: big.NewRat(2, 1)}}}},
			}
		}
		order := &network.Model{Stations: slices.Clone(fcfs.Stations), Classes: fcfs.Classes}
		order.Stations[0] = network.Station{Name: "queue", Discipline: network.Order, Servers: c.servers,
			Limits: []network.Limit{{Classes: []int{0}, Most: c.most}}}
		q := network.DelayQuestion{Levels: []*big.Rat{big.NewRat(1, 100), half, ninetyNine}}
		q.Times = []*big.Rat{new(big.Rat), big.NewRat(1, 3), big.NewRat(8, 1)}
		want, err := network.Delays(t.Context(), fcfs, q, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := network.Delays(t.Context(), order, q, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		near := func(got, want []num.Value) {
			for i := range want {
				if !oracle.Near(got[i].Float, want[i].Float, 1e-10) {
					t.Errorf("%+v: number %d is %v, want %v", c, i, got[i].Float, want[i].Float)
				}
			}
		}
		near(got[0].Quantiles, want[0].Quantiles)
		near(got[0].Tails, want[0].Tails)
		near(got[0].Waiting.Quantiles, want[0].Waiting.Quantiles)
		near(got[0].Waiting.Tails, want[0].Waiting.Tails)
		near([]num.Value{got[0].Waiting.Probability, *got[0].Waiting.Mean},
			[]num.Value{want[0].Waiting.Probability, *want[0].Waiting.Mean})
	}
}

// nodesOf returns an open station with two nodes, one of which serves only the second class.
func nodesOf(load *big.Rat) *network.Model {
	m := &network.Model{Stations: []network.Station{{Name: "o", Discipline: network.Order, Nodes: []network.Node{
		{Name: "x", Capacity: big.NewRat(1, 1)}, {Name: "y", Capacity: big.NewRat(1, 1)}}}}}
	for c, nodes := range [][]int{{0}, {0, 1}} {
		m.Classes = append(m.Classes, network.Class{
			Name:        fmt.Sprint("c", c),
			ArrivalRate: load,
			Visits:      []network.Visit{{Count: big.NewRat(1, 1), Nodes: nodes}},
		})
	}
	return m
}

func TestOrderDelaysRefuse(t *testing.T) {
	m := nodesOf(half)
	levels := []*big.Rat{ninetyNine}
	var bad *num.InputError
	_, err := network.Delays(t.Context(), m, network.DelayQuestion{Levels: levels}, network.Settings{RelTol: 1e-14})
	if !errors.As(err, &bad) || bad.Path != "RelTol" {
		t.Errorf("a tolerance beyond float64: %v", err)
	}
	var large *num.TooLargeError
	m = nodesOf(num.Rat("0.999999999"))
	m.Classes = m.Classes[:1] // the fewest products per step
	_, err = network.Delays(t.Context(), m, network.DelayQuestion{Levels: levels}, network.Settings{})
	if !errors.As(err, &large) || large.Input.Path != "times" {
		t.Errorf("too many steps: %v", err)
	}
}

func TestOrderDelaysEndWithTheirContext(t *testing.T) {
	m := nodesOf(num.Rat("0.9999"))
	ask := func(ctx context.Context) error {
		_, err := network.Delays(ctx, m, network.DelayQuestion{Levels: []*big.Rat{ninetyNine}}, network.Settings{})
		return err
	}
	if err := oracle.CheckEnds(ask, 2000, 3); err != nil {
		t.Error(err)
	}
	// Everything but the short steps of a sojourn takes 60 checks.
	if err := ask(oracle.NewCountdown(200)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after 200 checks, want that of the context", err)
	}
}
