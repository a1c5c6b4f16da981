package oracle_test

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/cluster"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
	"productform/oiqueue"
	"productform/stability"
	"productform/whittle"
)

var (
	engines  = []num.Engine{num.Float, num.Enclose, num.Exact, num.Auto}
	lattices = []bf.Lattice{bf.ClassLattice, bf.ServerLattice, bf.ConnectedLattice, bf.SymmetricLattice}
)

// most bounds the classes of a model with expanded groups, because whittle takes N^2 2^N
// operations.
const most = 8

// drawModel draws a model at a random load, at half the critical load, at the boundary of
// stability, or close to it on either side: at 1 ± 2^-40 times the critical load, where float64
// would keep 13 bits of the distance.
func drawModel(t *rapid.T) *cluster.Model {
	groups := rapid.IntRange(1, 3).Draw(t, "most of a group")
	m := oracle.DrawModel(t, oracle.Options{
		Servers:        4,
		Classes:        4,
		Count:          groups,
		ZeroRates:      true,
		ZeroCapacities: true,
		OwnSizes:       rapid.Bool().Draw(t, "own sizes"),
	})
	near := big.NewRat(1, 1<<40)
	load := big.NewRat(1, 1)
	switch rapid.SampledFrom([]string{"as drawn", "half", "below", "critical", "above"}).Draw(t, "load") {
	case "as drawn":
		return m
	case "half":
		load.SetFrac64(1, 2)
	case "below":
		load.Sub(load, near)
	case "above":
		load.Add(load, near)
	}
	return oracle.ScaleTo(m, load)
}

// An answer holds the exact fractions that all packages compute.
type answer struct {
	normalization *big.Rat
	jobs          []*big.Rat // mean numbers of jobs by rows of classes
}

// literal solves the model as an order-independent queue and as a Whittle network, and checks that
// their answers are equal fractions. It returns nil if both report an unstable model.
func literal(t *rapid.T, m *cluster.Model) *answer {
	single, _, row, err := m.Expand(1000)
	if err != nil {
		t.Fatal(err)
	}
	q, err := oiqueue.FromCluster(t.Context(), single.EqualSizes())
	if err != nil {
		t.Fatal(err)
	}
	n, err := whittle.FromCluster(t.Context(), single)
	if err != nil {
		t.Fatal(err)
	}
	queue, err := oiqueue.Stationary(t.Context(), q, oiqueue.Settings{Engine: num.Exact})
	network, err2 := whittle.Stationary(
		t.Context(), n, whittle.Simplex(len(single.Classes), 1), whittle.Settings{Engine: num.Exact},
	)
	if errors.Is(err, num.ErrUnstable) && errors.Is(err2, num.ErrUnstable) {
		return nil
	}
	if err != nil || err2 != nil {
		t.Fatalf("oiqueue: %v, whittle: %v", err, err2)
	}
	same(t, "whittle: normalization", network.Normalization, queue.Normalization)
	a := &answer{normalization: queue.Normalization.Exact}
	for range m.Classes {
		a.jobs = append(a.jobs, new(big.Rat))
	}
	for i, jobs := range queue.MeanJobs {
		same(t, "whittle: mean jobs", network.MeanJobs[i], jobs)
		a.jobs[row[i]].Add(a.jobs[row[i]], jobs.Exact)
	}
	return a
}

func same(t *rapid.T, what string, got, want num.Value) {
	if got.Exact == nil || got.Exact.Cmp(want.Exact) != 0 {
		t.Fatalf("%s: got %v, want %v", what, got.Exact, want.Exact)
	}
}

// isCorrect reports whether a number of a result is correct: its fraction equals the exact one, its
// bounds enclose it, and its float64 is within the error bound.
func isCorrect(r *bf.Result, v *num.Value, want *big.Rat) bool {
	if r.Engine == num.Exact {
		return v.Exact.Cmp(want) == 0
	}
	if r.Engine == num.Enclose && !oracle.Holds(*v, want) {
		return false
	}
	off := new(big.Rat).SetFloat64(v.Float)
	off.Sub(off, want)
	allowed := new(big.Rat).SetFloat64(r.RelativeErrorBound)
	return off.Abs(off).Cmp(allowed.Mul(allowed, want)) <= 0
}

// comparisons counts comparisons, so a skipped one is noticed.
type comparisons struct {
	stable   map[bf.Lattice]int
	unstable map[bf.Lattice]int
}

// On every applicable lattice, every engine of bf gives the normalization and the mean numbers of
// jobs of the queue and of the network, or reports an unstable model if they and package stability
// do.
func TestAllAgree(t *testing.T) {
	done := comparisons{map[bf.Lattice]int{}, map[bf.Lattice]int{}}
	rapid.Check(t, func(t *rapid.T) {
		for range 5 {
			if m := drawModel(t); oracle.Combinations(m) <= most {
				done.agree(t, m)
			}
		}
	})
	for _, lattice := range lattices {
		if done.stable[lattice] == 0 || done.unstable[lattice] == 0 {
			t.Errorf("%s lattice: %d stable and %d unstable models",
				lattice, done.stable[lattice], done.unstable[lattice])
		}
	}
}

func (done comparisons) agree(t *rapid.T, m *cluster.Model) {
	verdict, err := stability.Cluster(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	want := literal(t, m)
	if verdict.Stable != (want != nil) {
		t.Fatalf("stable = %v by stability, %v by the queue", verdict.Stable, want != nil)
	}
	for _, engine := range engines {
		for _, lattice := range lattices {
			r, err := bf.Solve(t.Context(), m, bf.Settings{Engine: engine, Lattice: lattice})
			var bad *input.Error
			if errors.As(err, &bad) && bad.Path == "Lattice" {
				continue // not applicable to this model
			}
			if want == nil {
				var witness *cluster.UnstableError
				if !errors.As(err, &witness) || len(witness.Classes) == 0 ||
					witness.ArrivalRate.Cmp(witness.Capacity) < 0 {
					t.Fatalf("%s, %s: %v for an unstable model", engine, lattice, err)
				}
				done.unstable[lattice]++
				continue
			}
			if err != nil {
				t.Fatalf("%s, %s: %v", engine, lattice, err)
			}
			if !isCorrect(r, r.Normalization, want.normalization) {
				t.Fatalf("%s, %s: normalization %+v, want %v", engine, lattice, *r.Normalization, want.normalization)
			}
			for i := range r.Classes {
				if got := &r.Classes[i].MeanJobs; !isCorrect(r, got, want.jobs[i]) {
					t.Fatalf("%s, %s: mean jobs of class %d %+v, want %v", engine, lattice, i, *got, want.jobs[i])
				}
			}
			done.stable[lattice]++
		}
	}
}
