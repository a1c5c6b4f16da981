package bf

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"

	"pgregory.net/rapid"
)

// balance returns Σ_{|x|=n} Φ(x) Π (λ_i σ_i)^x_i for n = 0..total of a model without groups. It
// sums state by state with Φ(x) = Σ_i Φ(x-e_i)/μ(A(x)) ([BC17], equations (3) and (4)), with μ in
// work. For each row, withClass has the sums over the states with |x| <= total and n jobs of the
// classes of the row.
func balance(m *cluster.Model, total int, rows []int) (sums []*big.Rat, withClass [][]*big.Rat) {
	for range slices.Max(rows) + 1 {
		withClass = append(withClass, newJet(total+1))
	}
	count := func(x string, weight *big.Rat) {
		jobs := make([]int, len(withClass))
		for i, row := range rows {
			jobs[row] += int(x[i])
		}
		for row, n := range jobs {
			withClass[row][n].Add(withClass[row][n], weight)
		}
	}
	var work []*big.Rat
	for _, k := range m.Classes {
		size := big.NewRat(1, 1)
		if k.MeanSize != nil {
			size = k.MeanSize
		} else if m.MeanSize != nil {
			size = m.MeanSize
		}
		work = append(work, new(big.Rat).Mul(k.ArrivalRate, size))
	}
	sums = make([]*big.Rat, total+1)
	level := map[string]*big.Rat{string(make([]byte, len(m.Classes))): big.NewRat(1, 1)} // Φ(x) Π (λσ)^x on |x| = n
	sums[0] = big.NewRat(1, 1)
	count(string(make([]byte, len(m.Classes))), sums[0])
	for n := 1; n <= total; n++ {
		next := map[string]*big.Rat{}
		sums[n] = new(big.Rat)
		for x := range level {
			for i := range m.Classes {
				y := []byte(x)
				y[i]++
				next[string(y)] = nil
			}
		}
		for y := range next {
			used := map[int]bool{}
			mu, sum := new(big.Rat), new(big.Rat)
			for i, k := range m.Classes {
				if y[i] == 0 {
					continue
				}
				x := []byte(y)
				x[i]--
				sum.Add(sum, new(big.Rat).Mul(work[i], level[string(x)]))
				for _, c := range k.Servers {
					if !used[c.Server] {
						used[c.Server] = true
						mu.Add(mu, m.Servers[c.Server].Capacity)
					}
				}
			}
			next[y] = sum.Quo(sum, mu)
			sums[n].Add(sums[n], sum)
			count(y, sum)
		}
		level = next
	}
	return sums, withClass
}

// The distribution of the number of jobs is the sum over the states of the Whittle network.
func TestDistributionMatchesSumOverStates(t *testing.T) {
	const total = 5
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rapid.Bool().Draw(t, "groups"), false)
		e, _, rows, err := m.Expand(5)
		if err != nil {
			return
		}
		z := oracle.Solve(m).Normalization
		want, withClass := balance(e, total, rows)
		// probability of states with more jobs
		rest := new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Quo(oracle.Sum(want), z))
		for _, lattice := range lattices {
			for _, engine := range []num.Engine{num.Float, num.Enclose, num.Exact} {
				r, err := Answer(t.Context(), m, Question{MaxJobs: total, ByClass: true},
					Settings{Engine: engine, Lattice: lattice})
				if err != nil {
					if isInput(err) && lattice != "" && lattice != SymmetricLattice {
						continue
					}
					t.Fatalf("%s %s: %v", lattice, engine, err)
				}
				for n, w := range want {
					p := r.JobsDistribution[n]
					checkValue(t, fmt.Sprintf("%s %s P(%d jobs)", lattice, engine, n), r, p.Float, p.Exact,
						new(big.Rat).Quo(w, z))
				}
				for i, list := range withClass {
					for n, w := range list {
						low, p := new(big.Rat).Quo(w, z), r.Classes[i].JobsDistribution[n].Exact
						if engine == num.Exact && (p.Cmp(low) < 0 || p.Cmp(new(big.Rat).Add(low, rest)) > 0) {
							t.Errorf("%s: P(%d jobs of class %d) = %v, %v of states with at most %d jobs, %v of others",
								lattice, n, i, p, low, total, rest)
						}
					}
				}
			}
		}
	})
}

// Far in the tail, probabilities leave the normal range of float64. Normal numbers are within the
// bound; subnormal numbers may be off by the spacing there as well.
func TestDistributionTail(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rapid.Bool().Draw(t, "groups"), false)
		far := num.Rat(rapid.SampledFrom([]string{"1", "1e-3", "1e-30", "1e-100", "1e-300"}).Draw(t, "rates times"))
		most := rapid.IntRange(1, 12).Draw(t, "jobs")
		if rapid.Bool().Draw(t, "alone") {
			m.Classes = m.Classes[:1]
			most = 20
			if far.Cmp(num.Rat("1e-3")) >= 0 {
				most = 110
			}
		}
		m = m.Scale(far)
		lattice := rapid.SampledFrom(lattices).Draw(t, "lattice")
		want, err := Answer(t.Context(), m, Question{MaxJobs: most}, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose} {
			r, err := Answer(t.Context(), m, Question{MaxJobs: most}, Settings{Engine: engine, Lattice: lattice})
			if isInput(err) && lattice != "" && lattice != SymmetricLattice {
				continue // a lattice of single servers for a model with groups
			}
			if engine == num.Float && (errors.Is(err, num.ErrFloatRange) || errors.Is(err, num.ErrDigits)) {
				continue // float64 cannot represent Z itself
			}
			if err != nil {
				t.Fatalf("%s %s: %v", engine, lattice, err)
			}
			checkAgainst(t, fmt.Sprint(engine, " ", lattice), r, want)
		}
	})
}

// One server has P(n) = (1-ρ) ρ^n, with every engine within the range of float64, and in fractions
// beyond.
func TestDistributionTailOfOneServer(t *testing.T) {
	m := &cluster.Model{Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(1, 1000), Servers: cluster.On(0)}}}
	for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose, num.Exact} {
		r, err := Answer(t.Context(), m, Question{MaxJobs: 120}, Settings{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		want := big.NewRat(999, 1000)
		for n, p := range r.JobsDistribution {
			f, _ := want.Float64()
			if math.Abs(p.Float-f) > r.RelativeErrorBound*f+0x1p-1074 || r.RelativeErrorBound > 1e-12 {
				t.Errorf("%s: P(%d) = %g, want %g", engine, n, p.Float, f)
			}
			if engine == num.Exact && p.Exact.Cmp(want) != 0 || engine == num.Enclose && !encloses(p, want) {
				t.Errorf("%s: P(%d) = %v, want %v", engine, n, p, want)
			}
			want = new(big.Rat).Mul(want, big.NewRat(1, 1000))
		}
	}
}

// totalJobs returns E[X] in exact arithmetic.
func totalJobs(t *rapid.T, m *cluster.Model) *big.Rat {
	r, err := Solve(t.Context(), m, Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	return r.MeanJobs.Exact
}

// The derivatives are the limits of difference quotients in exact arithmetic. The step h is so
// small that the remainder, of the order of h times the second derivative, is below 1e-20 of E[X].
func TestGradientMatchesDifference(t *testing.T) {
	h := big.NewRat(1, 1e15)
	h.Mul(h, h)
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rapid.Bool().Draw(t, "groups"), false)
		idle := rapid.IntRange(0, len(m.Servers)).Draw(t, "idle server")
		if idle < len(m.Servers) {
			m.Servers[idle].Capacity = new(big.Rat) // unstable or an error for some models, which are skipped
		}
		base, err := Solve(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			return
		}
		lattice := Lattice("")
		if !rapid.Bool().Draw(t, "auto") {
			lattice = rapid.SampledFrom([]Lattice{ClassLattice, ServerLattice, ConnectedLattice,
				SymmetricLattice}).Draw(t, "lattice")
		}
		engine := rapid.SampledFrom([]num.Engine{num.Auto, num.Float, num.Enclose, num.Exact}).Draw(t, "engine")
		g, err := gradientOf(t.Context(), m, Settings{Lattice: lattice, Engine: engine})
		if err != nil {
			if isInput(err) && lattice != "" {
				return
			}
			t.Fatal(err)
		}
		check := func(name string, got num.Value, entry **big.Rat) {
			old := *entry
			*entry = new(big.Rat).Add(old, h)
			slope := new(big.Rat).Sub(totalJobs(t, m), base.MeanJobs.Exact)
			*entry = old
			want, _ := slope.Quo(slope, h).Float64()
			width := boundsWidth(got)
			if math.Abs(got.Float-want) > width+1e-15*math.Abs(want)+1e-20 {
				t.Errorf("%s %s %s: %v ± %g, want %v", lattice, engine, name, got.Float, width, want)
			}
			if width > 1e-9*(math.Abs(want)+1) || (engine == num.Exact) != (got.Exact != nil) {
				t.Errorf("%s %s %s: bounds differ by %g for %v", lattice, engine, name, width, want)
			}
		}
		for i := range m.Classes {
			check(fmt.Sprintf("rate %d", i), g.ArrivalRates[i], &m.Classes[i].ArrivalRate)
		}
		for s := range m.Servers {
			check(fmt.Sprintf("capacity %d", s), g.Capacities[s], &m.Servers[s].Capacity)
		}
	})
}

// boundsWidth returns High - Low. It is 0 with a fraction, and +Inf if Float is not the double in
// the middle.
func boundsWidth(v num.Value) float64 {
	if v.Exact != nil {
		return 0
	}
	middle := num.Interval{Low: v.Low, High: v.High}.Approx()
	if v.Low.Cmp(v.High) > 0 || math.Abs(v.Float-middle) > 0x1p-52*math.Abs(v.Float) {
		return math.Inf(1)
	}
	width, _ := new(big.Float).Sub(v.High, v.Low).Float64()
	return width
}

// A sweep matches solving point by point.
func TestLoadSweep(t *testing.T) {
	m := sparseModel(8)
	var factors []*big.Rat
	for k := range 6 {
		factors = append(factors, big.NewRat(int64(k), 5))
	}
	results, err := sweepLoads(t.Context(), m, factors, Question{}, Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	for k, f := range factors {
		want := oracle.Solve(m.Scale(f))
		if results[k].Normalization.Exact.Cmp(want.Normalization) != 0 {
			t.Errorf("factor %v: Z = %v, want %v", f, results[k].Normalization.Exact, want.Normalization)
		}
		for i, w := range want.MeanJobs {
			if got := results[k].Classes[i].MeanJobs.Exact; got.Cmp(w) != 0 {
				t.Errorf("factor %v: E[X_%d] = %v, want %v", f, i, got, w)
			}
		}
	}
}

// A sweep checks, reduces and plans once. On all lattices and with all engines it gives exactly the
// digits of individual points. This includes factors at which long fractions fit into words, the
// factor 0, and distributions of jobs.
func TestLoadSweepMatchesSolve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rapid.Bool().Draw(t, "groups"), rapid.IntRange(0, 2).Draw(t, "long") == 0)
		factor := rapid.Custom(func(t *rapid.T) *big.Rat {
			if rapid.IntRange(0, 4).Draw(t, "long factor") == 0 {
				return big.NewRat(rapid.Int64Range(1, 1<<62).Draw(t, "factor"), 1<<62)
			}
			return big.NewRat(rapid.Int64Range(0, 21).Draw(t, "factor"), 20)
		})
		factors := rapid.SliceOfN(factor, 0, 5).Draw(t, "factors")
		for _, lattice := range lattices {
			for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose, num.Exact} {
				q, s := Question{MaxJobs: rapid.SampledFrom([]int{0, 3}).Draw(t, "jobs")},
					Settings{Engine: engine, Lattice: lattice}
				var want []*Result
				failed := false
				for _, f := range factors {
					r, err := Answer(t.Context(), m.Scale(f), q, s)
					failed = failed || err != nil
					want = append(want, r)
				}
				got, err := sweepLoads(t.Context(), m, factors, q, s)
				if (err != nil) != failed {
					t.Fatalf("%s %s: error %v, but points with an error: %v", lattice, engine, err, failed)
				}
				if err == nil && len(got) != len(want) {
					t.Fatalf("%s %s: %d results for %d factors", lattice, engine, len(got), len(want))
				}
				for i := range got {
					if !reflect.DeepEqual(got[i], want[i]) {
						t.Fatalf("%s %s, factor %v:\n%+v, want\n%+v", lattice, engine, factors[i], got[i], want[i])
					}
				}
			}
		}
	})
}

// The load of a class is its work divided by μ of all the server sets its jobs may be assigned.
func TestLoadCountsAllServers(t *testing.T) {
	m := racksModel() // four racks of 25 servers of capacity 1
	r, err := Solve(t.Context(), m, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{10. / 25, 10. / 25, 10. / 25, 10. / 25, 10. / 50, 10. / 50, 10. / 50, 10. / 100} {
		if got := r.Classes[i].Load.Float; got != want {
			t.Errorf("load of %s = %v, want %v", m.Classes[i].Name, got, want)
		}
	}
}

// In a pair of servers, one has a very low load. Its tail leaves the range of float64 long before
// the tail of the sum, which the float engine must still compute within its bound.
func TestDistributionOfUnequalParts(t *testing.T) {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}, {Name: "t", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: big.NewRat(9, 10), Servers: cluster.On(0)},
			{Name: "b", ArrivalRate: big.NewRat(1, 1000), Servers: cluster.On(1)},
		},
	}
	float, err := Answer(t.Context(), m, Question{MaxJobs: 120}, Settings{Engine: num.Float})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range float.Parts {
		if len(p.Classes) != 1 || len(p.ClassNames) != 1 || p.ClassNames[0] != m.Classes[p.Classes[0]].Name ||
			len(p.Servers) != 1 || len(p.ServerNames) != 1 || p.ServerNames[0] != m.Servers[p.Servers[0]].Name {
			t.Errorf("names of a part: %+v", p)
		}
	}
	// Two independent M/M/1 queues: P(n) = (1-a)(1-b) (a^{n+1} - b^{n+1})/(a - b).
	a, b := big.NewRat(9, 10), big.NewRat(1, 1000)
	factor := new(big.Rat).Mul(big.NewRat(1, 10), big.NewRat(999, 1000))
	factor.Quo(factor, new(big.Rat).Sub(a, b))
	powerA, powerB := big.NewRat(1, 1), big.NewRat(1, 1)
	for n, p := range float.JobsDistribution {
		powerA.Mul(powerA, a)
		powerB.Mul(powerB, b)
		want := new(big.Rat).Sub(powerA, powerB)
		if e := relativeError(p.Float, want.Mul(want, factor)); e > float.RelativeErrorBound {
			t.Errorf("P(%d jobs) = %v: relative error %g, bound %g", n, p.Float, e, float.RelativeErrorBound)
		}
	}
}

// One server of capacity C is shared by classes of mean sizes σ_i. The mean delay σ_i/(C - Σ λ_j
// σ_j) is proportional to the size, and every job is served at the remaining rate (Kleinrock 1967).
// An overload is reported in jobs of one mean size.
func TestOwnSizesOnOneServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Servers: 1, OwnSizes: true, Stable: true})
		left := new(big.Rat).Set(m.Servers[0].Capacity)
		for i := range m.Classes {
			left.Sub(left, m.Work(i))
		}
		for _, engine := range []num.Engine{num.Float, num.Enclose, num.Exact} {
			r, err := Solve(t.Context(), m, Settings{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range r.Classes {
				name := fmt.Sprintf("%s: class %d: ", engine, i)
				checkValue(t, name+"delay", r, c.MeanDelay.Float, c.MeanDelay.Exact,
					new(big.Rat).Quo(m.MeanSizeOf(i), left))
				checkValue(t, name+"service rate", r, c.ServiceRate.Float, c.ServiceRate.Exact, left)
				checkValue(t, name+"load", r, c.Load.Float, c.Load.Exact,
					new(big.Rat).Quo(m.Work(i), m.Servers[0].Capacity))
			}
		}
		var overload *cluster.UnstableError
		over := oracle.ScaleTo(m, big.NewRat(3, 2))
		if _, err := Solve(t.Context(), over, Settings{}); !errors.As(err, &overload) {
			t.Fatalf("error %v", err)
		}
		if q := overload.ArrivalRate.Quo(overload.ArrivalRate, overload.Capacity); q.Cmp(big.NewRat(3, 2)) != 0 {
			t.Fatalf("overload %v, want 3/2", q)
		}
	})
}
