package oiqueue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/cluster"
	"productform/internal/lattice"
	"productform/internal/oracle"
	"productform/num"
)

// drawTimed draws a cluster in which most jobs time out, and the others do not overload it.
func drawTimed(t *rapid.T, o oracle.Options) *cluster.Model {
	m := oracle.DrawModel(t, o)
	means := []*big.Rat{nil, rat(1, 3), rat(1, 1), rat(5, 2)}
	m.MeanTimeout = rapid.SampledFrom(means).Draw(t, "mean timeout")
	for i := range m.Classes {
		m.Classes[i].MeanTimeout = rapid.SampledFrom(means).Draw(t, "own mean timeout")
	}
	return m
}

// solveTimed solves a model, and skips unstable ones.
func solveTimed(t *rapid.T, m *cluster.Model, s TimeoutSettings) *TimeoutResult {
	r, err := SolveTimeouts(t.Context(), m, s)
	if errors.Is(err, num.ErrUnstable) {
		t.Skip("unstable")
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// timedValues lists the numbers of a result in a fixed order.
func timedValues(r *TimeoutResult) []*num.Value {
	list := []*num.Value{r.TimeoutProbability, &r.MeanJobs, r.MeanDelay}
	for i := range r.Classes {
		c := &r.Classes[i]
		list = append(list, c.TimeoutProbability, &c.MeanJobs, c.MeanDelay)
	}
	return list
}

// A literal is the queue as a Markov chain. Its states list the classes of at most n jobs, oldest
// first; further jobs are lost.
type literal struct {
	m *cluster.Model // of single servers and single choices
	n int
}

// moves reports the transitions of a state: each server serves the oldest job that it can serve or,
// in a pool, the job of its position.
func (l literal) moves(state string, move func(to string, rate float64)) {
	size, _ := l.m.OneMeanSize()
	if len(state) < l.n {
		for i, c := range l.m.Classes {
			move(state+string(rune('a'+i)), num.Nearest(c.ArrivalRate))
		}
	}
	for s, row := range l.m.Servers {
		at := strings.IndexFunc(state, func(c rune) bool {
			return slices.ContainsFunc(l.m.Classes[c-'a'].Servers, func(c cluster.Choice) bool { return c.Server == s })
		})
		if l.m.Service == cluster.OneServer && at >= 0 {
			at = -1
			if s < len(state) {
				at = s
			}
		}
		if at >= 0 {
			move(state[:at]+state[at+1:], num.Nearest(row.Capacity)/num.Nearest(size))
		}
	}
	for at, c := range state {
		if mean := l.m.TimeoutOf(int(c - 'a')); mean != nil {
			move(state[:at]+state[at+1:], 1/num.Nearest(mean))
		}
	}
}

// means returns E[X_i] and the probability of n jobs.
func (l literal) means() (jobs []float64, full float64) {
	states, p := oracle.FloatChain("", l.moves)
	jobs = make([]float64, len(l.m.Classes))
	for j, state := range states {
		for _, c := range state {
			jobs[c-'a'] += p[j]
		}
		if len(state) == l.n {
			full += p[j]
		}
	}
	return jobs, full
}

// At low load the means match those of the literal queue, a Markov chain of ordered lists of jobs.
func TestTimeoutsMatchOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTimed(t, oracle.Options{Servers: 3, Classes: 3, Count: 2})
		if rapid.Bool().Draw(t, "pool") {
			m = drawPool(t, m)
		}
		least := m.Servers[0].Capacity
		for _, s := range m.Servers {
			if s.Capacity.Cmp(least) < 0 {
				least = s.Capacity
			}
		}
		size, err := m.OneMeanSize()
		if err != nil {
			t.Fatal(err)
		}
		total := new(big.Rat)
		for _, c := range m.Classes {
			total.Add(total, c.ArrivalRate)
		}
		load := rat(1, int64(rapid.SampledFrom([]int{5, 20}).Draw(t, "idle")))
		m = m.Scale(load.Mul(load, new(big.Rat).Quo(least, total.Mul(total, size))))
		r := solveTimed(t, m, TimeoutSettings{})
		e, _, rows, err := m.Expand(100)
		if err != nil {
			t.Fatal(err)
		}
		n := 1
		for states := len(e.Classes); n < 10 && states*len(e.Classes) <= 2000; n++ {
			states *= len(e.Classes)
		}
		jobs, full := literal{e, n}.means()
		want := make([]float64, len(m.Classes))
		for i, x := range jobs {
			want[rows[i]] += x
		}
		for i, c := range r.Classes {
			if tol := 1e-11 + 4*full*float64(n+1); !oracle.Near(c.MeanJobs.Float, want[i], tol) {
				t.Errorf("class %d: %v jobs, want %v within %g", i, c.MeanJobs.Float, want[i], tol)
			}
		}
	})
}

// drawPool returns the model with one server per job, on equal servers that all classes may use.
func drawPool(t *rapid.T, m *cluster.Model) *cluster.Model {
	p := *m
	p.Service = cluster.OneServer
	p.Classes = slices.Clone(m.Classes)
	p.Servers = slices.Clone(m.Servers)
	var all []cluster.Choice
	for s := range p.Servers {
		p.Servers[s].Capacity = p.Servers[0].Capacity
		all = append(all, cluster.Choice{Server: s, Choose: p.Servers[s].Size()})
	}
	for i := range p.Classes {
		p.Classes[i].Servers = rapid.Permutation(all).Draw(t, "order")
	}
	return &p
}

// The means are within the bounds of Truncated, which sums over numbers of jobs by class, at any
// load.
func TestTimeoutsMatchTruncated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTimed(t, oracle.Options{Servers: 3, Classes: 3})
		isPool := rapid.Bool().Draw(t, "pool")
		if isPool {
			m = drawPool(t, m)
		}
		engine := rapid.SampledFrom([]num.Engine{num.Float, num.Enclose}).Draw(t, "engine")
		r := solveTimed(t, m, TimeoutSettings{Engine: engine})
		rank, err := m.Rank(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		q := &Queue{TotalRate: func(x []int) *big.Rat {
			set, jobs, sum := 0, 0, new(big.Rat)
			for i, n := range x {
				if n > 0 {
					set |= 1 << i
				}
				jobs += n
				if mean := m.TimeoutOf(i); mean != nil {
					sum.Add(sum, new(big.Rat).Quo(rat(int64(n), 1), mean))
				}
			}
			if isPool {
				each := new(big.Rat).Quo(rank[1], rat(int64(len(m.Servers)), 1))
				return sum.Add(sum, each.Mul(each, rat(int64(min(jobs, len(m.Servers))), 1)))
			}
			return sum.Add(sum, rank[set])
		}}
		for _, c := range m.Classes {
			q.ArrivalRates = append(q.ArrivalRates, c.ArrivalRate)
		}
		n := map[int]int{1: 45, 2: 22, 3: 12}[len(m.Classes)]
		want, err := Truncated(t.Context(), q, n)
		var few *num.InputError
		if errors.As(err, &few) && few.Path == "jobs" {
			t.Skip("more jobs needed for bounds")
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Classes {
			low, high := want.MeanJobs[i].Bounds()
			if x := c.MeanJobs.Float; x < low*(1-1e-11) || x > high*(1+1e-11) {
				t.Errorf("class %d: %v jobs, want %v to %v", i, x, low, high)
			}
		}
	})
}

// A pool with one timeout is a birth and death process of rate min(n, m) μ + n θ, whatever the
// classes.
func TestTimeoutsPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawPool(t, oracle.DrawModel(t, oracle.Options{Classes: 4, Count: 4, ZeroRates: true}))
		m.MeanTimeout = rat(rapid.Int64Range(1, 40).Draw(t, "timeout"), rapid.Int64Range(1, 4).Draw(t, "over"))
		r := solveTimed(t, m, TimeoutSettings{})
		servers, total := 0, 0.0
		for _, s := range m.Servers {
			servers += s.Size()
		}
		for _, c := range m.Classes {
			total += num.Nearest(c.ArrivalRate)
		}
		mu := num.Nearest(m.Servers[0].Capacity) / num.Nearest(num.OrOne(m.MeanSize))
		theta := 1 / num.Nearest(m.MeanTimeout)
		p, sum, mean := 1.0, 1.0, 0.0
		for n := 1.0; n < 5000 && p > 1e-300; n++ {
			p *= total / (min(n, float64(servers))*mu + n*theta)
			sum, mean = sum+p, mean+n*p
		}
		mean /= sum
		if !oracle.Near(r.MeanJobs.Float, mean, 1e-11) {
			t.Fatalf("%v jobs, want %v", r.MeanJobs.Float, mean)
		}
		if total == 0 {
			return
		}
		for i, c := range r.Classes {
			if m.Classes[i].ArrivalRate.Sign() == 0 {
				if c.TimeoutProbability != nil || c.MeanDelay != nil {
					t.Errorf("class %d has no arrivals: %+v", i, c)
				}
				continue
			}
			if want := theta * mean / total; !oracle.Near(c.TimeoutProbability.Float, want, 1e-11) {
				t.Errorf("class %d times out with probability %v, want %v", i, c.TimeoutProbability.Float, want)
			}
		}
	})
}

// With long timeouts the means are those of balanced fairness, and with servers that are slow
// enough those of infinitely many servers.
func TestTimeoutsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Servers: 3, Classes: 3, Count: 3, ZeroRates: true, Stable: true})
		want, err := bf.Solve(t.Context(), m, bf.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		m.MeanTimeout = rat(1e13, 1)
		m.Classes[0].MeanTimeout = rapid.SampledFrom([]*big.Rat{nil, rat(1e14, 1)}).Draw(t, "other timeout")
		r := solveTimed(t, m, TimeoutSettings{})
		for i, c := range r.Classes {
			if x := want.Classes[i].MeanJobs.Float; !oracle.Near(c.MeanJobs.Float, x, 1e-8) {
				t.Errorf("class %d: %v jobs, %v without timeouts", i, c.MeanJobs.Float, x)
			}
		}
		m.MeanSize, m.MeanTimeout, m.Classes[0].MeanTimeout = rat(1e15, 1), rat(3, 2), nil
		r = solveTimed(t, m.Scale(rat(1, 4)), TimeoutSettings{})
		for i, c := range r.Classes {
			if x := 3. / 8 * num.Nearest(m.Classes[i].ArrivalRate); !oracle.Near(c.MeanJobs.Float, x, 1e-9) {
				t.Errorf("class %d: %v jobs, want %v", i, c.MeanJobs.Float, x)
			}
		}
	})
}

// Float is within its bound of narrow enclosures, groups are their servers, and classes may be
// split.
func TestTimeoutsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTimed(t, oracle.Options{Servers: 3, Classes: 3, Count: 3, ZeroRates: true, ZeroCapacities: true})
		want := solveTimed(t, m, TimeoutSettings{Engine: num.Enclose, RelTol: 1e-20})
		if want.RelativeErrorBound > 0x1p-52 {
			t.Errorf("bound %g", want.RelativeErrorBound)
		}
		compare := func(r *TimeoutResult) {
			t.Helper()
			got, exact := timedValues(r), timedValues(want)
			for k, x := range got {
				tol := r.RelativeErrorBound + 1e-15
				if (x == nil) != (exact[k] == nil) || x != nil && !oracle.Near(x.Float, exact[k].Float, tol) {
					t.Errorf("number %d is %v, want %v within %g", k, x, exact[k], r.RelativeErrorBound)
				}
			}
		}
		compare(solveTimed(t, m, TimeoutSettings{Engine: num.Float}))
		split := *m
		split.Classes = slices.Clone(m.Classes)
		part := &split.Classes[rapid.IntRange(0, len(m.Classes)-1).Draw(t, "split")]
		part.ArrivalRate = new(big.Rat).Mul(part.ArrivalRate, rat(1, 4))
		other := *part
		other.Name, other.ArrivalRate = "other", new(big.Rat).Mul(part.ArrivalRate, rat(3, 1))
		split.Classes = append(split.Classes, other)
		if r := solveTimed(t, &split, TimeoutSettings{}); !oracle.Near(r.MeanJobs.Float, want.MeanJobs.Float, 1e-11) {
			t.Errorf("%v jobs, %v with a class split", want.MeanJobs.Float, r.MeanJobs.Float)
		}
		e, _, rows, err := m.Expand(12)
		if err != nil {
			return
		}
		r := solveTimed(t, e, TimeoutSettings{})
		jobs := make([]float64, len(m.Classes))
		for i, c := range r.Classes {
			jobs[rows[i]] += c.MeanJobs.Float
		}
		for i, c := range want.Classes {
			if !oracle.Near(jobs[i], c.MeanJobs.Float, 1e-11) {
				t.Errorf("class %d: %v jobs, %v expanded", i, c.MeanJobs.Float, jobs[i])
			}
		}
	})
}

// Only jobs that never time out can overload a cluster: a class is stable below its capacity,
// however many other jobs compete for it.
func TestTimeoutsStability(t *testing.T) {
	const text = `
servers: [{name: a, capacity: 1}]
classes:
- {name: x, arrival_rate: 9/10, servers: [a]}
- {name: y, arrival_rate: 4, servers: [a], mean_timeout: 1}
`
	m := oracle.Must(cluster.Read(strings.NewReader(text)))
	if _, err := SolveTimeouts(t.Context(), m, TimeoutSettings{}); err != nil {
		t.Error(err)
	}
	m.Classes[0].ArrivalRate = rat(1, 1)
	_, err := SolveTimeouts(t.Context(), m, TimeoutSettings{})
	var unstable *cluster.UnstableError
	if !errors.As(err, &unstable) || fmt.Sprint(unstable.Classes) != "[0]" {
		t.Error(err)
	}
}

func TestTimeoutsBadInput(t *testing.T) {
	const all = `
servers: [{name: a, capacity: 1}, {name: b, capacity: 1, count: 2}]
mean_timeout: 3
classes: [{name: x, arrival_rate: 1, servers: [a, b]}, {name: y, arrival_rate: 1, servers: [b]}]
`
	const one = "service: one\n"
	const reject = "mean_timeout = 3: want none with service one unless all classes may use all servers, which have " +
		"one capacity; pfq simulate takes any"
	replace := func(old, new string) string { return strings.ReplaceAll(all, old, new) }
	for _, c := range []struct {
		text string
		s    TimeoutSettings
		want string
	}{
		{all, TimeoutSettings{Engine: num.Exact},
			"Engine = exact: want auto, float or enclose: sums over all numbers of jobs are not fractions"},
		{all, TimeoutSettings{RelTol: 2}, "RelTol = 2: want a number in (0, 1), or 0 for 1e-9"},
		{all, TimeoutSettings{MaxBytes: -1}, "MaxBytes = -1: want a number of bytes, or 0 for 16 GiB"},
		{all + one, TimeoutSettings{}, reject},
		{replace("a, capacity: 1", "a, capacity: 2") + one, TimeoutSettings{}, reject},
		{replace("[b]", "[a, {group: b, choose: 1}]") + one, TimeoutSettings{}, reject},
		{replace("mean_timeout", "mean_patience") + one, TimeoutSettings{},
			"mean_patience = 3: want none: jobs that give up have other formulas"},
		{replace("[b]", "[b], mean_size: 2"), TimeoutSettings{},
			"classes[1].mean_size = 2: want 1, that of \"x\": first come, first served has formulas only for " +
				"exponential sizes with one mean"},
		{replace("mean_timeout: 3", "mean_timeout: 1e70"), TimeoutSettings{}, "mean_timeout = 1" +
			strings.Repeat("0", 56) + "...: want a number whose rate of jobs is in [2^-200, 2^200]"},
		{replace("[b]", "[b], mean_timeout: 1e70"), TimeoutSettings{}, "classes[1].mean_timeout = 1" +
			strings.Repeat("0", 56) + "...: want a number whose rate of jobs is in [2^-200, 2^200]"},
	} {
		m := oracle.Must(cluster.Read(strings.NewReader(c.text)))
		if _, err := SolveTimeouts(t.Context(), m, c.s); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// A model with too many states, or with too many sets of servers or timeouts together, is rejected
// with their number.
func TestTimeoutsTooLarge(t *testing.T) {
	m := &cluster.Model{MeanTimeout: rat(1, 1)}
	for s := range 22 {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint(s), Capacity: rat(1, 1)})
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint(s), ArrivalRate: rat(1, 1),
			Servers: cluster.On(s, (s+1)%22)})
	}
	_, err := SolveTimeouts(t.Context(), m, TimeoutSettings{})
	var large *num.TooLargeError
	if !errors.As(err, &large) || large.Input.Path != "servers" {
		t.Error(err)
	}
	few := *m
	few.Servers, few.Classes = m.Servers[:12], m.Classes[:11]
	_, err = SolveTimeouts(t.Context(), &few, TimeoutSettings{MaxBytes: 1 << 20})
	const want = "servers = 4096 sets of busy servers: want sets whose rates take at most 1 MiB"
	if !errors.As(err, &large) || !strings.HasPrefix(large.Input.Error(), want) || !(large.Bytes > 1<<20) {
		t.Error(err)
	}
	m.Servers = m.Servers[:1]
	for i := range m.Classes {
		m.Classes[i].Servers, m.Classes[i].MeanTimeout = cluster.On(0), rat(int64(10+i), 1)
	}
	_, err = SolveTimeouts(t.Context(), m, TimeoutSettings{Engine: num.Float})
	if !errors.As(err, &large) || large.Input.Path != "classes" || large.States <= mostTimedStates {
		t.Error(err)
	}
}

// The number of moves is that of the steps of all classes at all points.
func TestTimedMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTimed(t, oracle.Options{Servers: 3, Classes: 3, Count: 4})
		if rapid.Bool().Draw(t, "pool") {
			m = drawPool(t, m)
		}
		parts, err := timedParts(t.Context(), m, oracle.Must(m.OneMeanSize()))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			box, moves := lattice.FirstFastest(p.limits), 0
			for at := range box.States {
				for i := range p.classes {
					moves += len(p.steps(&box, i, at))
				}
			}
			if got := p.countMoves(); math.Round(got) != float64(moves) {
				t.Errorf("%v moves, want %d", got, moves)
			}
		}
	})
}

func TestTimeoutsContextEnds(t *testing.T) {
	m := oracle.Must(cluster.Read(strings.NewReader(`
servers: [{name: a, capacity: 1}, {name: b, capacity: 1}]
classes: [{name: x, arrival_rate: 9, servers: [a, b], mean_timeout: 3}, {name: y, arrival_rate: 1/2, servers: [b]},
  {name: z, arrival_rate: 8, servers: [b], mean_timeout: 5}]
`)))
	if err := oracle.CheckEnds(func(ctx context.Context) error {
		_, err := SolveTimeouts(ctx, m, TimeoutSettings{})
		return err
	}, 10000, 10); err != nil {
		t.Error(err)
	}
}
