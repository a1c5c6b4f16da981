package bf

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/oracle"
	"productform/num"

	"pgregory.net/rapid"
)

// drawLongWays draws one to three rows of servers, and classes on one or several rows. At least one
// row is a group whose jobs choose among more ways than a word can count. Sometimes a row is
// overloaded, or all rows have loads near 1.
func drawLongWays(t *rapid.T) *cluster.Model {
	m := &cluster.Model{}
	rows := rapid.IntRange(1, 3).Draw(t, "rows")
	for s := range rows {
		most := []int{0, 72, 12, 7}[rows]
		count := rapid.IntRange(1, most).Draw(t, "count")
		if s == 0 {
			count = most
		}
		power := int64(rapid.SampledFrom([]int{0, 0, 0, 5, 30}).Draw(t, "power"))
		unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(power), nil))
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Count: count,
			Capacity: unit.Mul(unit, big.NewRat(rapid.Int64Range(1, 9).Draw(t, "capacity"),
				rapid.Int64Range(1, 9).Draw(t, "over")))})
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "classes") {
		k := cluster.Class{Name: fmt.Sprint("c", i)}
		capacity := new(big.Rat)
		for s := range rows {
			n := m.Servers[s].Size()
			if s == i%rows || rapid.Bool().Draw(t, "more") {
				choose := rapid.IntRange(1, n).Draw(t, "choose")
				if i == 0 && s == 0 {
					choose = max(1, n/2)
				}
				k.Servers = append(k.Servers, cluster.Choice{Server: s, Choose: choose})
				capacity.Add(capacity, new(big.Rat).Mul(big.NewRat(int64(n), 1), m.Servers[s].Capacity))
			}
		}
		long := big.NewRat(rapid.Int64Range(1, 1<<60).Draw(t, "rate"), 1<<60-1) // no factor in common with the ways
		k.ArrivalRate = long.Mul(long, capacity)
		m.Classes = append(m.Classes, k)
	}
	slack := big.NewRat(1, rapid.SampledFrom([]int64{1e1, 1e3, 1e12, 1e18}).Draw(t, "slack"))
	load := big.NewRat(rapid.Int64Range(1, 19).Draw(t, "load"), 20)
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		load = new(big.Rat).Sub(big.NewRat(1, 1), slack.Mul(slack, slack))
	case 1:
		load = big.NewRat(1, 1)
	case 2:
		load = slack.Mul(slack, slack)
	}
	return oracle.ScaleTo(m, load)
}

// If the numbers of ways are not stored, the float engine keeps its bound and the enclosures
// contain the fractions. The exact engine uses the ways themselves; on one group the closed form is
// an independent recursion.
func TestSharesAgainstFractions(t *testing.T) {
	t.Parallel()
	shared := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawLongWays(t)
		jobs := rapid.IntRange(0, 3).Draw(t, "jobs")
		want, err := Answer(t.Context(), m, Question{MaxJobs: jobs}, Settings{Engine: num.Exact})
		for _, c := range oracle.Must(m.Reduce(t.Context())) {
			if newProblem(&c, false).Shared {
				shared++
			}
		}
		for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose} {
			r, failed := Answer(t.Context(), m, Question{MaxJobs: jobs}, Settings{Engine: engine, RelTol: 1e-12})
			if engine == num.Float && (errors.Is(failed, num.ErrFloatRange) || errors.Is(failed, num.ErrDigits)) {
				continue
			}
			if errors.Is(err, num.ErrUnstable) {
				var a, b *cluster.UnstableError
				if !errors.As(failed, &a) || !errors.As(err, &b) || a.ArrivalRate.Cmp(a.Capacity) < 0 {
					t.Fatalf("%s: error %v, want %v", engine, failed, err)
				}
				continue
			}
			if err != nil || failed != nil {
				t.Fatalf("%s: error %v, exact %v", engine, failed, err)
			}
			checkAgainst(t, string(engine), r, want)
		}
		if err == nil && len(m.Servers) == 1 && len(m.Classes) == 1 {
			c, err := RandomAssignment(t.Context(), m.Servers[0].Size(), m.Servers[0].Capacity,
				[]RandomClass{{m.Classes[0].ArrivalRate, m.Classes[0].Servers[0].Choose}})
			if err != nil || c.Normalization.Cmp(want.Normalization.Exact) != 0 ||
				c.ClassJobs[0].Cmp(want.Classes[0].MeanJobs.Exact) != 0 {
				t.Errorf("closed form %v, %v", c, err)
			}
		}
	})
	if shared == 0 {
		t.Error("no model had shares")
	}
}

// checkAgainst compares every number of a result with the fractions of the same model.
func checkAgainst(t *rapid.T, name string, r, want *Result) {
	t.Helper()
	check := func(what string, i int, got, w *big.Rat, low, high *big.Float) {
		t.Helper()
		f, _ := got.Float64()
		if e := relativeError(f, w); e > r.RelativeErrorBound && w.Cmp(minNormal) >= 0 {
			t.Errorf("%s: %s %d = %v, want %v: relative error %g, bound %g", name, what, i, f, w.FloatString(20), e,
				r.RelativeErrorBound)
		}
		if low != nil {
			l, _ := low.Rat(nil)
			h, _ := high.Rat(nil)
			if l.Cmp(w) > 0 || h.Cmp(w) < 0 {
				t.Errorf("%s: %s %d = [%v, %v] does not contain %v", name, what, i, low, high, w)
			}
		}
	}
	rat := func(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }
	if r.Normalization != nil && want.Normalization != nil {
		check("Z", 0, rat(r.Normalization.Float), want.Normalization.Exact, r.Normalization.Low, r.Normalization.High)
	}
	for i, k := range want.Classes {
		g := r.Classes[i].MeanJobs
		check("jobs of class", i, rat(g.Float), k.MeanJobs.Exact, g.Low, g.High)
	}
	for s, k := range want.Servers {
		g := r.Servers[s].Utilization
		check("utilization of server", s, rat(g.Float), k.Utilization.Exact, g.Low, g.High)
	}
	for n, p := range want.JobsDistribution {
		g := r.JobsDistribution[n]
		check("probability of jobs", n, rat(g.Float), p.Exact, g.Low, g.High)
		if p.Exact.Cmp(minNormal) < 0 { // the bound, and the spacing of float64 there
			gap := rat(g.Float)
			gap.Abs(gap.Sub(gap, p.Exact))
			most := new(big.Rat).Mul(p.Exact, rat(r.RelativeErrorBound))
			if gap.Cmp(most.Add(most, rat(0x1p-1074))) > 0 {
				t.Errorf("%s: probability of %d jobs = %v, want %v", name, n, g.Float, p.Float)
			}
		}
	}
}

var minNormal = new(big.Rat).SetFloat64(0x1p-1022) // never modified

// Shares of small groups, forced on problems that store the ways in a word, match the reference
// recursion over sets of servers.
func TestSharesMatchReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, true, rapid.Bool().Draw(t, "long"))
		want := oracle.Solve(m)
		for _, c := range oracle.Must(m.Reduce(t.Context())) {
			p := sharedProblem(&c)
			if len(c.Model.Servers) == 0 {
				continue
			}
			for _, engine := range []num.Engine{num.Float, num.Enclose} {
				q := query{component: &c, problem: p,
					rung: rung{engine: engine, s: request{Settings: Settings{MaxBytes: 1 << 30}}}}
				if engine == num.Enclose {
					q.prec = 320
				}
				got, err := graph{}.measure(t.Context(), &plan{query: q, lattice: SymmetricLattice, method: graph{}})
				if errors.Is(err, num.ErrFloatRange) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				check := func(name string, v arithmetic.Number, w *big.Rat) {
					t.Helper()
					x, _ := v.Value()
					if engine == num.Enclose {
						if !encloses(x, w) || v.Width() > 1e-30 {
							t.Errorf("%s = [%v, %v], want %v", name, x.Low, x.High, w)
						}
					} else if relativeError(x.Float, w) > v.Bound || v.Bound > 1e-10 {
						t.Errorf("%s = %v, want %v: bound %g", name, x.Float, w, v.Bound)
					}
				}
				for i, rows := range c.Classes {
					sum := new(big.Rat)
					for _, row := range rows {
						sum.Add(sum, want.MeanJobs[row])
					}
					check(fmt.Sprint("jobs of class ", i), got.jobs[i], sum)
				}
				for s, rows := range c.Servers {
					check(fmt.Sprint("busy server ", s), got.busy[s], want.Busy[rows[0]])
				}
			}
		}
	})
}
