package network_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network"
	"productform/num"
)

var half, ninetyNine = big.NewRat(1, 2), big.NewRat(99, 100)

// queueOf returns an open FCFS queue.
func queueOf(servers int, rate, size *big.Rat) *network.Model {
	return &network.Model{
		Stations: []network.Station{{Name: "queue", Discipline: network.FCFS, Servers: servers}},
		Classes: []network.Class{{
			Name:        "a",
			ArrivalRate: rate,
			Visits:      []network.Visit{{Station: 0, MeanSize: size, Count: big.NewRat(1, 1)}},
		}},
	}
}

// The delay in M/M/1 is exponential with rate 1/σ - λ. In M/M/m a job waits with Erlang's
// probability C for an exponential time with rate mν - λ.
func TestDelaysOfOpenQueues(t *testing.T) {
	for _, servers := range []int{1, 2, 7} {
		lambda, size := 0.8*float64(servers)/0.5, 0.5
		m := queueOf(servers, big.NewRat(int64(8*servers), 5), half)
		times := []*big.Rat{new(big.Rat), big.NewRat(1, 10), big.NewRat(1, 1), big.NewRat(9, 1)}
		r, err := network.Delays(
			t.Context(), m, network.DelayQuestion{Times: times, Levels: []*big.Rat{half, ninetyNine}},
			network.Settings{},
		)
		if err != nil {
			t.Fatal(err)
		}
		b := 1.0
		for n := 1; n <= servers; n++ {
			b = lambda * size * b / (float64(n) + lambda*size*b)
		}
		c := b / (1 - 0.8*(1-b))
		nu := 1 / size
		theta := float64(servers)*nu - lambda
		tail := func(t float64) float64 {
			return (1-c)*math.Exp(-nu*t) + c*(theta*math.Exp(-nu*t)-nu*math.Exp(-theta*t))/(theta-nu)
		}
		if servers == 1 {
			tail = func(t float64) float64 { return math.Exp(-theta * t) }
		}
		for i, x := range r[0].Tails {
			at, _ := times[i].Float64()
			if math.Abs(x.Float-tail(at)) > 1e-12 || x.Low.Cmp(x.High) > 0 {
				t.Errorf("%d servers: P(T > %v) = %v, want %v", servers, at, x, tail(at))
			}
		}
		w := r[0].Waiting
		if !oracle.Near(w.Probability.Float, c, 1e-12) || !oracle.Near(w.Mean.Float, c/theta, 1e-12) {
			t.Errorf("%d servers: waits with probability %v for %v, want %v and %v",
				servers, w.Probability.Float, w.Mean.Float, c, c/theta)
		}
		for i, x := range w.Tails {
			at, _ := times[i].Float64()
			if !oracle.Near(x.Float, c*math.Exp(-theta*at), 1e-12) {
				t.Errorf("%d servers: P(W > %v) = %v, want %v", servers, at, x.Float, c*math.Exp(-theta*at))
			}
		}
		for i, share := range []float64{0.5, 0.01} {
			if want := max(0, math.Log(c/share)/theta); !oracle.Near(w.Quantiles[i].Float, want, 1e-9) {
				t.Errorf("%d servers: waiting quantile %v, want %v", servers, w.Quantiles[i].Float, want)
			}
			q := r[0].Quantiles[i]
			low, _ := q.Low.Float64()
			high, _ := q.High.Float64()
			if !(tail(low) >= share*(1-1e-11) && tail(high) <= share*(1+1e-11)) || high-low > 1e-9*high {
				t.Errorf("%d servers: quantile %v in [%v, %v] has the tail %v",
					servers, q.Float, low, high, tail(q.Float))
			}
		}
	}
}

// Tails at late times keep their precision: with several servers and many jobs, P(T > t) falls like
// the last service times.
func TestLateTails(t *testing.T) {
	m := serversOf(60, 4, 1)
	q := network.DelayQuestion{
		Station: 1,
		Times:   []*big.Rat{big.NewRat(200, 1), big.NewRat(400, 1), big.NewRat(2000, 1)},
	}
	r, err := network.Delays(t.Context(), m, q, network.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	closer, err := network.Delays(t.Context(), m, q, network.Settings{Engine: num.Enclose, RelTol: 1e-20})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range r[0].Tails {
		y := closer[0].Tails[i]
		if x.Low.Cmp(y.High) > 0 || x.High.Cmp(y.Low) < 0 || math.Abs(x.Float-y.Float) > 1e-11*y.Float || y.Float <= 0 {
			t.Errorf("P(T > %v) = %v, or %v", q.Times[i], x.Float, y.Float)
		}
	}
}

// A nearly overloaded queue takes no longer. If the rates of waiting and service are equal, a sum
// over the numbers of jobs that a job may find replaces the formula.
func TestDelaysNearTheEdge(t *testing.T) {
	for _, c := range []struct {
		servers int
		rate    *big.Rat // arrival rate at mean size 1
	}{{3, num.Rat("2.99999")}, {2, big.NewRat(1, 1)}, {2, num.Rat("1.0000000001")}} {
		m := queueOf(c.servers, c.rate, big.NewRat(1, 1))
		r, err := network.Delays(
			t.Context(), m, network.DelayQuestion{Times: []*big.Rat{big.NewRat(3, 1)}}, network.Settings{},
		)
		if err != nil {
			t.Fatal(err)
		}
		lambda, _ := c.rate.Float64()
		b := 1.0
		for n := 1; n <= c.servers; n++ {
			b = lambda * b / (float64(n) + lambda*b)
		}
		theta := float64(c.servers) - lambda
		wait := b / (1 - lambda/float64(c.servers)*(1-b))
		convolved := 3 * math.Exp(-3.0) // ∫ e^(-s) e^(-θ(3-s)) ds
		if theta != 1 {
			convolved = math.Exp(-3) * math.Expm1(3*(1-theta)) / (1 - theta)
		}
		if want := math.Exp(-3) + wait*convolved; math.Abs(r[0].Tails[0].Float-want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c, r[0].Tails[0].Float, want)
		}
	}
}

// The delay in M/M/1 is exponential with rate 1/σ - λ, up to loads close to 1.
func TestQuantilesNearFullLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := big.NewRat(rapid.Int64Range(1, 100).Draw(t, "size"), 10)
		gap := new(big.Rat).SetFrac64(rapid.Int64Range(1, 9).Draw(t, "digit"),
			int64(math.Pow10(rapid.IntRange(1, 15).Draw(t, "exponent"))))
		rate := new(big.Rat).Quo(new(big.Rat).Sub(big.NewRat(1, 1), gap), size)
		r, err := network.Delays(t.Context(), queueOf(1, rate, size),
			network.DelayQuestion{Levels: []*big.Rat{half, ninetyNine}}, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		mean, _ := new(big.Rat).Quo(size, gap).Float64()
		for i, want := range []float64{math.Ln2 * mean, math.Log(100) * mean} {
			if got := r[0].Quantiles[i].Float; math.Abs(got-want) > 1e-9*want {
				t.Errorf("quantile %d = %v, want %v", i, got, want)
			}
		}
	})
}

// Tails of closed and mixed networks start at 1 and integrate to the mean delay, which Solve
// computes without them.
func TestDelaysIntegrateToTheirMean(t *testing.T) {
	one, size := big.NewRat(1, 1), big.NewRat(3, 2)
	for _, c := range []struct {
		servers int
		jobs    []int
		open    bool
	}{{1, []int{6}, false}, {2, []int{3, 4}, false}, {3, []int{9}, true}, {1, []int{2}, true}} {
		m := &network.Model{Stations: []network.Station{
			{Name: "think", Discipline: network.Delay}, {Name: "queue", Discipline: network.FCFS, Servers: c.servers},
		}}
		for k, jobs := range c.jobs {
			m.Classes = append(m.Classes, network.Class{
				Name:       string(rune('a' + k)),
				Population: jobs,
				Visits: []network.Visit{
					{Station: 0, MeanSize: big.NewRat(int64(2+k), 1), Count: one},
					{Station: 1, MeanSize: size, Count: one}},
			})
		}
		if c.open {
			rate := new(big.Rat).Quo(big.NewRat(int64(c.servers), 3), size)
			m.Classes = append(m.Classes, network.Class{
				Name:        "open",
				ArrivalRate: rate,
				Visits:      []network.Visit{{Station: 1, MeanSize: size, Count: one}},
			})
		}
		solved, err := network.Solve(t.Context(), m, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		// Simpson's rule, up to a time beyond which less than 1e-8 remains.
		const steps = 160
		step := 1.5 * 40 / steps
		q := network.DelayQuestion{Station: 1}
		for i := range steps + 1 {
			q.Times = append(q.Times, new(big.Rat).SetFloat64(step*float64(i)))
		}
		r, err := network.Delays(t.Context(), m, q, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range solved.Stations[1].Visits {
			sum := 0.0
			for k, x := range r[i].Tails {
				weight := 2.0 + 2*float64(k%2)
				if k == 0 || k == steps {
					weight = 1
				}
				sum += weight * x.Float * step / 3
			}
			if math.Abs(sum-v.MeanDelay.Float) > 1e-4*sum || math.Abs(r[i].Tails[0].Float-1) > 1e-12 {
				t.Errorf("%v, class %d: tails integrate to %v, want %v; P(T > 0) = %v",
					c, v.Class, sum, v.MeanDelay.Float, r[i].Tails[0].Float)
			}
		}
	}
}

// A single job finds an empty station: its delay is exponential.
func TestDelayOfOneJob(t *testing.T) {
	m := centralServer(1)
	r, err := network.Delays(
		t.Context(), m, network.DelayQuestion{Station: 2, Levels: []*big.Rat{half}}, network.Settings{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.3 * math.Ln2; math.Abs(r[0].Quantiles[0].Float-want) > 1e-9*want {
		t.Errorf("%v, want %v", r[0].Quantiles[0].Float, want)
	}
}

func TestDelaysRefuse(t *testing.T) {
	m := centralServer(3)
	m.Classes = append(m.Classes, network.Class{
		Name:        "open",
		ArrivalRate: big.NewRat(1, 1),
		Visits:      []network.Visit{{Station: 3, MeanSize: num.Rat("0.2"), Count: big.NewRat(1, 1)}},
	})
	for path, q := range map[string]network.DelayQuestion{
		"station":   {Station: 0},
		"levels[0]": {Station: 1, Levels: []*big.Rat{big.NewRat(1, 1)}},
		"times[1]":  {Station: 1, Times: []*big.Rat{new(big.Rat), big.NewRat(-1, 1)}},
		"times[0]":  {Station: 1, Times: []*big.Rat{num.Rat("1e12")}},
		"levels":    {Station: 3, Levels: []*big.Rat{new(big.Rat).Sub(big.NewRat(1, 1), num.Rat("1e-40"))}},
	} {
		var bad *num.InputError
		if _, err := network.Delays(t.Context(), m, q, network.Settings{}); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestDelaysEndWithTheirContext(t *testing.T) {
	m := serversOf(200, 4, 1)
	if err := oracle.CheckEnds(func(ctx context.Context) error {
		_, err := network.Delays(
			ctx, m, network.DelayQuestion{Station: 1, Levels: []*big.Rat{ninetyNine}}, network.Settings{},
		)
		return err
	}, 2000, 3); err != nil {
		t.Error(err)
	}
}
