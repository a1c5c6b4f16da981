package fluid

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/num"
)

// indexText writes the fractions of an index set.
func indexText(x *IndexSet) string {
	text := fmt.Sprint(x.MeanUtilization.Exact, x.LeastUtilization.Exact, x.LargestUtilization.Exact,
		x.TotalDominantShare.Exact, x.MaxDominantShare.Exact, x.DominantEfficiency.Exact)
	if x.JainIndex != nil {
		text += fmt.Sprint(" ", x.JainIndex.Exact, x.ShareGap.Exact)
	}
	return text
}

// The example of Ghodsi et al., with pencil and paper: y_a/2 + y_b <= 1 and y_a + y_b/6 <= 1 allow y_a + y_b = 10/11 +
// 6/11.
func TestIndicesByHand(t *testing.T) {
	weighted := classicPool()
	weighted.Jobs[0].Weight, weighted.Jobs[1].Count = num.MustRat("4"), 2
	for _, test := range []struct {
		name  string
		pool  *Pool
		tasks []*big.Rat
		want  string
		nash  float64
	}{
		{"drf", classicPool(), auditRats("3", "2"), "8/9 7/9 1/1 4/3 16/11 11/12 1/1 1/1", 2. / 3},
		{"pf", classicPool(), auditRats("45/11", "18/11"), "1/1 1/1 1/1 16/11 16/11 1/1 16/17 3/5", math.Sqrt(60) / 11},
		{"one gets nothing", classicPool(), auditRats("9/2", "0"), "3/4 1/2 1/1 1/1 16/11 11/16 1/2 0/1", 0},
		{"nobody gets anything", classicPool(), auditRats("0", "0"), "0/1 0/1 0/1 0/1 16/11 0/1", 0},
		// Dominant shares 2/3 of weight 4, and 1/6 twice: by weight 1/6 each.
		{"weights", weighted, auditRats("3", "1/2"), "25/36 2/3 13/18 1/1 16/11 11/16 1/1 1/1", math.Pow(2./3, 4./6) * math.Pow(1./6, 2./6)},
	} {
		got, err := Indices(test.pool, test.tasks)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, indexText(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if !(math.Abs(got.NashMean-test.nash) <= 1e-14) { // some roundings of numbers below 4
			t.Errorf("%s: Nash mean %v, want %v", test.name, got.NashMean, test.nash)
		}
	}
}

// The largest total of dominant shares agrees with the simplex method of gonum in float64, and no allocation is above
// it.
func TestMaxDominantShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t, 7, 4, true, true)
		e := newExactProblem(p)
		n, resources := len(p.Jobs), len(p.Resources)
		costs := make([]float64, n+resources)
		rows := mat.NewDense(resources, n+resources, nil)
		bounds := make([]float64, resources)
		for j := range resources {
			rows.Set(j, n+j, 1)
			bounds[j] = 1
			for i := range n {
				a, _ := e.need[i][j].Float64()
				rows.Set(j, i, a)
				costs[i] = -1
			}
		}
		basis := make([]int, resources)
		for j := range basis {
			basis[j] = n + j
		}
		want, _, err := lp.Simplex(costs, rows, bounds, 1e-12, basis)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Indices(p, Tasks(mustAllocate(t, p, DRF)))
		if err != nil {
			t.Fatal(err)
		}
		if got := x.MaxDominantShare.Float; !(math.Abs(got+want) <= 1e-9) { // gonum stops at reduced costs of 1e-12
			t.Fatalf("%v, want %v", got, -want)
		}
		if one := big.NewRat(1, 1); x.DominantEfficiency.Exact.Cmp(one) > 0 || x.JainIndex.Exact.Cmp(one) > 0 || x.LargestUtilization.Exact.Cmp(one) != 0 {
			t.Fatal(indexText(x))
		}
	})
}

// Proportional fairness makes the Nash mean largest: no other policy is above it.
func TestNashMeanIsLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t, 6, 4, true, true)
		largest, err := Indices(p, Tasks(mustAllocate(t, p, PF)))
		if err != nil {
			t.Fatal(err)
		}
		for _, policy := range []Policy{DRF, MaxMin, BMF} {
			x, err := Indices(p, Tasks(mustAllocate(t, p, policy)))
			if err != nil {
				t.Fatal(err)
			}
			if !(x.NashMean <= largest.NashMean*(1+1e-8)) { // the tolerance of proportional fairness is 1e-9
				t.Fatalf("%s: %v > %v", policy, x.NashMean, largest.NashMean)
			}
		}
	})
}

func mustAllocate(t rapid.TB, p *Pool, policy Policy) *Allocation {
	t.Helper()
	a, err := Allocate(p, policy, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// An index beyond the range of float64 is an error that names it.
func TestIndicesRange(t *testing.T) {
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 2000))
	for path, tasks := range map[string][]*big.Rat{
		"mean_utilization":  {huge, huge},
		"least_utilization": {new(big.Rat).Inv(huge), new(big.Rat).Inv(huge)},
		"share_gap":         {new(big.Rat).Inv(huge), big.NewRat(1, 1)},
	} {
		p := classicPool()
		if path == "least_utilization" {
			p.Resources = append(p.Resources, Resource{"disk", big.NewRat(1, 1)})
			p.Jobs[0].Demand = append(p.Jobs[0].Demand, big.NewRat(1, 1))
			tasks = []*big.Rat{tasks[0], big.NewRat(1, 1)}
		}
		_, err := Indices(p, tasks)
		var bad *input.Error
		if !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%v, want an error at %s", err, path)
		}
	}
}
