package bf

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"

	"pgregory.net/rapid"
)

// Classes 0, 1, ..., n-1 are nested: class i uses the servers 0..i, so μ({0..i}) = M_i. With d_i =
// M_i - λ_0 - ... - λ_i the normalization is Π_i (d_i + λ_i)/d_i. The transform of T_i at s is the
// product of d_i/(d_i + s) and, for all j > i, of
//
//	(d_j + λ_j + s)/(d_j + s) d_j/(d_j + λ_j).
//
// So T_i is a sum of independent times: an exponential time of rate d_i, and for each j > i an
// exponential time of rate d_j with probability λ_j/(d_j + λ_j), otherwise 0. The d_j differ, and
// partial fractions give the distribution of T_i in 300 bits.
func TestDelaysOfNestedClusters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "classes")
		m := &cluster.Model{}
		drains, left := make([]*big.Rat, n), new(big.Rat)
		for i := range n {
			drains[i] = big.NewRat(rapid.Int64Range(0, 5).Draw(t, "drain")*5+int64(i)+1, 6) // distinct modulo 5
			// Server i adds the capacity d_i - d_{i-1} + λ_i, which λ_i makes positive.
			rate := big.NewRat(rapid.Int64Range(1, 9).Draw(t, "rate"), 7)
			capacity := new(big.Rat).Sub(drains[i], left)
			if capacity.Sign() < 0 {
				rate.Sub(rate, capacity)
			}
			capacity.Add(capacity, rate)
			left = drains[i]
			m.Servers = append(m.Servers, cluster.Server{Name: string(rune('a' + i)), Capacity: capacity})
			servers := make([]int, i+1)
			for s := range servers {
				servers[s] = s
			}
			m.Classes = append(m.Classes, cluster.Class{Name: string(rune('a' + i)), ArrivalRate: rate,
				Servers: cluster.On(servers...)})
		}
		times := oracle.Rats("1/9 1 3")
		want := make([][]*big.Float, n)
		for i := range want {
			for _, at := range times {
				want[i] = append(want[i], nestedTail(m, drains, i, at))
			}
		}
		for _, engine := range []num.Engine{num.Float, num.Enclose} {
			r, err := delaysOf(t.Context(), m, Question{Times: times}, Settings{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j, at := range times {
					want, got := want[i][j], r.Classes[i].Tails[j]
					error := new(big.Float).SetMantExp(big.NewFloat(1), -200)
					if got.Low.Cmp(new(big.Float).Add(want, error)) > 0 ||
						got.High.Cmp(new(big.Float).Sub(want, error)) < 0 {
						t.Errorf("%s: P(T_%d > %v) in [%v, %v], want %v", engine, i, at, got.Low, got.High, want)
					}
				}
			}
		}
	})
}

// nestedTail returns P(T_i > t) for nested classes: the transform is Σ_k w_k d_k/(d_k + s) over k
// >= i.
func nestedTail(m *cluster.Model, d []*big.Rat, i int, t *big.Rat) *big.Float {
	const prec = 300
	one := big.NewRat(1, 1)
	sum := new(big.Float).SetPrec(prec)
	for k := i; k < len(d); k++ {
		// The residue at s = -d_k, divided by d_k.
		w := new(big.Rat).Inv(d[k])
		for j := i; j < len(d); j++ {
			rate := m.Classes[j].ArrivalRate
			above, below, first := new(big.Rat).Sub(new(big.Rat).Add(d[j], rate), d[k]), new(big.Rat).Sub(d[j], d[k]),
				new(big.Rat).Quo(d[j], new(big.Rat).Add(d[j], rate))
			if j == i { // d_i/(d_i + s)
				above, first = one, d[j]
			}
			w.Mul(w, above).Mul(w, first)
			if j != k {
				w.Quo(w, below)
			}
		}
		x := new(big.Float).SetPrec(prec).SetRat(new(big.Rat).Mul(d[k], t))
		e, err := num.ExpInterval(x.Neg(x), prec)
		if err != nil {
			panic(err)
		}
		sum.Add(sum, x.Mul(e.Low, x.SetRat(w)))
	}
	return sum
}

// The mean is the integral of the tail, which lies between its upper and lower sums.
func TestMeanMatchesIntegralOfTail(t *testing.T) {
	const step, last = 0.02, 60.
	var times []*big.Rat
	for x := 0.; x <= last; x += step {
		times = append(times, new(big.Rat).SetFloat64(x))
	}
	for _, m := range []*cluster.Model{shopModel(), sparseModel(6)} {
		r, err := delaysOf(t.Context(), m, Question{Times: times, Moments: 1}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Classes {
			sum := 0.0
			for _, v := range c.Tails {
				sum += v.Float
			}
			if mean := c.Moments[0].Float; mean > sum*step || mean < (sum-1)*step {
				t.Errorf("class %d: mean %v, integral between %v and %v", i, mean, (sum-1)*step, sum*step)
			}
		}
	}
}

// simulateDelays simulates the queue of [BC17], Section 3: at the points of a Poisson process of
// rate C_s the first job that server s can serve departs. It counts the delays above given times in
// batches.
func simulateDelays(m *cluster.Model, times [][]float64, batches, perBatch int, seed uint64) (above [][][]float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	total := 0.0
	var rates []float64
	for _, s := range m.Servers {
		f, _ := s.Capacity.Float64()
		rates = append(rates, f)
		total += f
	}
	for _, c := range m.Classes {
		f, _ := c.ArrivalRate.Float64()
		rates = append(rates, f)
		total += f
	}
	can := make([][]bool, len(m.Servers)) // [server][class]
	for s := range can {
		can[s] = make([]bool, len(m.Classes))
		for i, c := range m.Classes {
			can[s][i] = slices.ContainsFunc(c.Servers, func(c cluster.Choice) bool { return c.Server == s })
		}
	}
	type job struct {
		class   int
		arrival float64
	}
	var queue []job
	now := 0.0
	for b := range batches + 1 { // the first is a warm-up
		count := make([]float64, len(m.Classes))
		over := make([][]float64, len(m.Classes))
		for i := range over {
			over[i] = make([]float64, len(times[i]))
		}
		for range perBatch {
			now += rng.ExpFloat64() / total
			x, event := rng.Float64()*total, 0
			for ; event < len(rates)-1 && x >= rates[event]; event++ {
				x -= rates[event]
			}
			if event >= len(m.Servers) {
				queue = append(queue, job{event - len(m.Servers), now})
				continue
			}
			k := slices.IndexFunc(queue, func(j job) bool { return can[event][j.class] })
			if k < 0 {
				continue
			}
			j := queue[k]
			queue = slices.Delete(queue, k, k+1)
			count[j.class]++
			for n, at := range times[j.class] {
				if now-j.arrival > at {
					over[j.class][n]++
				}
			}
		}
		if b > 0 {
			for i := range over {
				for n := range over[i] {
					over[i][n] /= count[i]
				}
			}
			above = append(above, over)
		}
	}
	return above
}

// Simulated jobs exceed the exact percentiles as often as expected: all z values, from the means of
// 30 batches, are approximately normal. The probability of a z value above 7, or of such a large
// sum of squares, is below one in a million seeds; the seeds are fixed.
func TestDelaysAgainstSimulation(t *testing.T) {
	levels := oracle.Rats("0.5 0.9 0.95 0.99")
	const batches = 30
	sum, count := 0.0, 0.0
	for seed, m := range []*cluster.Model{shopModel(), shopModel().Scale(big.NewRat(9, 5)), sparseModel(3),
		sparseModel(6),
		lineModel(6, 2), lineModel(7, 3), sparseModel(8), sparseModel(7).Scale(big.NewRat(1, 2)),
		lineModel(8, 2).Scale(big.NewRat(9, 8)), sparseModel(9)} {
		r, err := delaysOf(t.Context(), m, Question{Levels: levels}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		times := make([][]float64, len(m.Classes))
		for i, c := range r.Classes {
			for _, v := range c.Quantiles {
				times[i] = append(times[i], v.Float)
			}
		}
		above := simulateDelays(m, times, batches, 20000, uint64(seed))
		for i := range m.Classes {
			for n, level := range levels {
				p, _ := level.Float64()
				mean, square := 0.0, 0.0
				for _, batch := range above {
					mean += batch[i][n] / batches
				}
				for _, batch := range above {
					square += (batch[i][n] - mean) * (batch[i][n] - mean)
				}
				z := (mean - (1 - p)) / math.Sqrt(square/(batches-1)/batches)
				if math.Abs(z) > 7 {
					t.Errorf("model %d, class %d, level %v: z = %v", seed, i, p, z)
				}
				sum += z * z
				count++
			}
		}
	}
	if sum/count < 0.3 || sum/count > 2.5 {
		t.Errorf("%v values of z: mean square %v", count, sum/count)
	}
}

// For every class, delays fall stochastically as a capacity grows, and rise as a rate grows. No
// percentile is on the wrong side by more than its bounds, and no mean at all, as a fraction.
func TestMoreCapacityNeverHurts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oneSize(drawModel(t, rapid.IntRange(0, 3).Draw(t, "groups") == 0, false))
		better := *m
		better.Servers, better.Classes = slices.Clone(m.Servers), slices.Clone(m.Classes)
		if rapid.Bool().Draw(t, "capacity") {
			s := rapid.IntRange(0, len(m.Servers)-1).Draw(t, "server")
			better.Servers[s].Capacity = new(big.Rat).Mul(m.Servers[s].Capacity,
				big.NewRat(rapid.Int64Range(8, 20).Draw(t, "times"), 7))
		} else {
			i := rapid.IntRange(0, len(m.Classes)-1).Draw(t, "class")
			better.Classes[i].ArrivalRate = new(big.Rat).Mul(m.Classes[i].ArrivalRate,
				big.NewRat(rapid.Int64Range(1, 6).Draw(t, "times"), 7))
		}
		var means, delays [2][]*num.Value
		for k, m := range []*cluster.Model{m, &better} {
			r, err := Solve(t.Context(), m, Settings{Engine: num.Exact})
			if err != nil {
				t.Fatal(err)
			}
			d, err := delaysOf(t.Context(), m, Question{Levels: oracle.Rats("1/5 0.99")}, Settings{Engine: num.Float})
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Classes {
				means[k] = append(means[k], &r.Classes[i].MeanJobs)
				for j := range d.Classes[i].Quantiles {
					delays[k] = append(delays[k], &d.Classes[i].Quantiles[j])
				}
			}
		}
		for i := range means[0] {
			if means[1][i].Exact.Cmp(means[0][i].Exact) > 0 {
				t.Errorf("mean %d rises from %v to %v", i, means[0][i].Exact, means[1][i].Exact)
			}
		}
		for j := range delays[0] {
			if delays[1][j].Low.Cmp(delays[0][j].High) > 0 {
				t.Errorf("percentile %d rises from %v to %v", j, delays[0][j].Float, delays[1][j].Float)
			}
		}
	})
}

// meanJobs returns E[X] and the mean delay of all jobs as fractions.
func meanJobs(t *testing.T, capacities, rates string, servers ...[]int) (jobs, delay *big.Rat, classes []*big.Rat) {
	m := &cluster.Model{}
	for s, c := range oracle.Rats(capacities) {
		m.Servers = append(m.Servers, cluster.Server{Name: string(rune('a' + s)), Capacity: c})
	}
	for i, l := range oracle.Rats(rates) {
		m.Classes = append(m.Classes, cluster.Class{Name: string(rune('a' + i)), ArrivalRate: l,
			Servers: cluster.On(servers[i]...)})
	}
	r, err := Solve(t.Context(), m, Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Classes {
		classes = append(classes, c.MeanDelay.Exact)
	}
	return r.MeanJobs.Exact, r.MeanDelay.Exact, classes
}

// An additional server for one class can cost the others more than it saves, as a road does in
// Braess's paradox: b gains, but a and the mean over all jobs lose. Under first come, first served
// the percentiles of a also grow.
func TestExtraServerCanHurt(t *testing.T) {
	_, before, one := meanJobs(t, "1 1", "0.9 0.4", []int{0}, []int{1})
	_, after, two := meanJobs(t, "1 1", "0.9 0.4", []int{0}, []int{0, 1})
	if want := oracle.Rats("290/39 7730/1001"); before.Cmp(want[0]) != 0 || after.Cmp(want[1]) != 0 {
		t.Errorf("mean delays %v and %v, want %v", before, after, want)
	}
	if two[0].Cmp(one[0]) <= 0 || two[1].Cmp(one[1]) >= 0 {
		t.Errorf("delays %v become %v", one, two)
	}
}

// The mean number of jobs is not convex in the capacities: at the midpoint of two points it exceeds
// the average of the two means.
func TestMeanJobsAreNotConvex(t *testing.T) {
	jobs := func(capacities string) *big.Rat {
		x, _, _ := meanJobs(t, capacities, "11 11", []int{0, 1}, []int{0, 2})
		return x
	}
	first, middle, last := jobs("11 2 15"), jobs("8 5 15"), jobs("5 8 15")
	if sum := new(big.Rat).Add(first, last); sum.Cmp(new(big.Rat).Add(middle, middle)) >= 0 {
		t.Errorf("%v, %v, %v", first, middle, last)
	}
	for i, want := range []float64{8.478744, 8.402667, 8.305748} {
		if got, _ := []*big.Rat{first, middle, last}[i].Float64(); math.Abs(got-want) > 5e-7 {
			t.Errorf("E[X] = %v, want %v", got, want)
		}
	}
}
