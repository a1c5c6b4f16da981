package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"

	"productform/fluid"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/num"
)

// indexText writes the fractions of an index set.
func indexText(x *IndexSet) string {
	text := fmt.Sprint(x.MeanUtilization.Exact, x.LeastUtilization.Exact, x.LargestUtilization.Exact,
		x.TotalDominantShare.Exact, x.MaxDominantShare.Exact, x.DominantEfficiency.Exact)
	if x.JainIndex != nil {
		text += fmt.Sprint(" ", x.JainIndex.Exact, x.ShareRatio.Exact)
	}
	return text
}

// The example of Ghodsi et al. matches a calculation by hand: y_a/2 + y_b <= 1 and y_a + y_b/6 <= 1
// allow y_a + y_b = 10/11 + 6/11.
func TestIndicesByHand(t *testing.T) {
	weighted := classicPool()
	weighted.Jobs[0].Weight, weighted.Jobs[1].Count = num.Rat("4"), 2
	for _, test := range []struct {
		name  string
		pool  *fluid.Pool
		tasks []*big.Rat
		want  string
		nash  float64
	}{
		{"drf", classicPool(), oracle.Rats("3 2"), "8/9 7/9 1/1 4/3 16/11 11/12 1/1 1/1", 2. / 3},
		{"pf", classicPool(), oracle.Rats("45/11 18/11"), "1/1 1/1 1/1 16/11 16/11 1/1 16/17 3/5", math.Sqrt(60) / 11},
		{"one gets nothing", classicPool(), oracle.Rats("9/2 0"), "3/4 1/2 1/1 1/1 16/11 11/16 1/2 0/1", 0},
		{"nobody gets anything", classicPool(), oracle.Rats("0 0"), "0/1 0/1 0/1 0/1 16/11 0/1", 0},
		// The dominant shares are 2/3 with weight 4, and twice 1/6: by weight, 1/6 each.
		{
			"weights", weighted, oracle.Rats("3 1/2"), "25/36 2/3 13/18 1/1 16/11 11/16 1/1 1/1",
			math.Pow(2./3, 4./6) * math.Pow(1./6, 2./6),
		},
	} {
		got, err := Indices(context.Background(), test.pool, test.tasks)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, indexText(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if !(math.Abs(got.NashMean-test.nash) <= 1e-14) { // a few roundings of numbers below 4
			t.Errorf("%s: Nash mean %v, want %v", test.name, got.NashMean, test.nash)
		}
	}
}

// The largest total of dominant shares agrees with the simplex method of gonum in float64, and no
// allocation exceeds it.
func TestMaxDominantShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t, 7, 4, true, true)
		n, resources := len(p.Jobs), len(p.Resources)
		unlimited := rapid.Bool().Draw(t, "unlimited")
		for i := range p.Jobs {
			if !unlimited && rapid.Bool().Draw(t, "limited") {
				p.Jobs[i].MaxTasks = big.NewRat(
					rapid.Int64Range(1, 12).Draw(t, "limit"), rapid.Int64Range(1, 4).Draw(t, "over"),
				)
			}
		}
		e := fluid.NewProfiles(p)
		var limited []int
		for i, l := range e.Limit {
			if l != nil {
				limited = append(limited, i)
			}
		}
		resources += len(limited) // y_i divided by n_i times the limit is at most 1
		costs := make([]float64, n+resources)
		rows := mat.NewDense(resources, n+resources, nil)
		bounds := make([]float64, resources)
		for j := range resources {
			rows.Set(j, n+j, 1)
			bounds[j] = 1
			for i := range n {
				var a float64
				if j < len(p.Resources) {
					a, _ = e.Need[i][j].Float64()
				} else if limited[j-len(p.Resources)] == i {
					a, _ = new(big.Rat).Inv(new(big.Rat).Mul(e.Count[i], e.Limit[i])).Float64()
				}
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
		x, err := Indices(context.Background(), p, mustAllocate(t, p, fluid.DRF).TaskFractions())
		if err != nil {
			t.Fatal(err)
		}
		if got := x.MaxDominantShare.Float; !(math.Abs(got+want) <= 1e-9) { // gonum stops at reduced costs of 1e-12
			t.Fatalf("%v, want %v", got, -want)
		}
		if one := big.NewRat(1, 1); x.DominantEfficiency.Exact.Cmp(one) > 0 || x.JainIndex.Exact.Cmp(one) > 0 ||
			unlimited && x.LargestUtilization.Exact.Cmp(one) != 0 {
			t.Fatal(indexText(x))
		}
	})
}

// literalIndices computes the indices job by job from their definitions, without the largest total
// of dominant shares.
func literalIndices(p *fluid.Pool, tasks []*big.Rat) (x map[string]*big.Rat, nash float64) {
	used := make([]*big.Rat, len(p.Resources))
	for j := range used {
		used[j] = new(big.Rat)
	}
	total, first, second, jobs, weights, logs := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), 0., 0.
	var low, high *big.Rat
	for i, job := range p.Jobs {
		for range job.Size() {
			dominant := new(big.Rat)
			for j, r := range p.Resources {
				part := new(big.Rat).Mul(tasks[i], new(big.Rat).Quo(job.Demand.Of(j), r.Capacity))
				used[j].Add(used[j], part)
				if part.Cmp(dominant) > 0 {
					dominant = part
				}
			}
			s := new(big.Rat).Quo(dominant, job.WeightOf())
			total.Add(total, dominant)
			first.Add(first, s)
			second.Add(second, new(big.Rat).Mul(s, s))
			jobs.Add(jobs, big.NewRat(1, 1))
			if low == nil || s.Cmp(low) < 0 {
				low = s
			}
			if high == nil || s.Cmp(high) > 0 {
				high = s
			}
			w, _ := job.WeightOf().Float64()
			d, _ := dominant.Float64()
			weights, logs = weights+w, logs+w*math.Log(d)
		}
	}
	mean, least, most := new(big.Rat), used[0], used[0]
	for _, u := range used {
		mean.Add(mean, u)
		if u.Cmp(least) < 0 {
			least = u
		}
		if u.Cmp(most) > 0 {
			most = u
		}
	}
	x = map[string]*big.Rat{
		"total":   total,
		"mean":    mean.Quo(mean, big.NewRat(int64(len(used)), 1)),
		"least":   least,
		"largest": most,
	}
	if total.Sign() > 0 {
		jain := new(big.Rat).Mul(first, first)
		x["jain"], x["ratio"] = jain.Quo(jain, second.Mul(second, jobs)), new(big.Rat).Quo(low, high)
	}
	return x, math.Exp(logs / weights)
}

// The indices agree with their definitions, and bounds from rounded numbers contain them.
func TestIndicesDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t, 6, 4, true, true)
		tasks := make([]*big.Rat, len(p.Jobs))
		for i := range tasks {
			tasks[i] = big.NewRat(rapid.Int64Range(0, 6).Draw(t, "tasks"), rapid.Int64Range(1, 90).Draw(t, "over"))
		}
		want, nash := literalIndices(p, tasks)
		exact, err := Indices(context.Background(), p, tasks)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(exact.NashMean-nash) <= 1e-12*nash) { // logarithms of a few dozen numbers near 1
			t.Fatalf("Nash mean %v, want %v", exact.NashMean, nash)
		}
		want["most"], want["efficiency"] = exact.MaxDominantShare.Exact, exact.DominantEfficiency.Exact
		if want["efficiency"].Cmp(new(big.Rat).Quo(want["total"], want["most"])) != 0 {
			t.Fatal("efficiency")
		}
		p, tasks = lengthen(p, tasks, 300)
		rounded, err := newHoldings(rounded(fluid.NewProfiles(p)), roundDown(tasks)).indices(context.Background(), true)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []*IndexSet{exact, rounded} {
			fields := map[string]*num.Value{
				"total": &x.TotalDominantShare, "mean": &x.MeanUtilization, "least": &x.LeastUtilization,
				"largest": &x.LargestUtilization,
				"most":    &x.MaxDominantShare, "efficiency": &x.DominantEfficiency, "jain": x.JainIndex,
				"ratio": x.ShareRatio,
			}
			for name, v := range fields {
				w := want[name]
				switch {
				case v == nil && w == nil:
				case x == exact && v.Exact.Cmp(w) != 0:
					t.Fatalf("%s %v, want %v", name, v.Exact, w)
				case x == rounded:
					low, _ := v.Low.Rat(nil)
					high, _ := v.High.Rat(nil)
					if v.Exact != nil || low.Cmp(w) > 0 || high.Cmp(w) < 0 || !roundsTo(low, w) || !roundsTo(high, w) {
						t.Fatalf("%s in [%v, %v], want %v", name, v.Low, v.High, w)
					}
				}
			}
		}
	})
}

// Proportional fairness maximizes the Nash mean: no other policy exceeds it.
func TestNashMeanIsLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t, 6, 4, true, true)
		largest, err := Indices(context.Background(), p, mustAllocate(t, p, fluid.PF).TaskFractions())
		if err != nil {
			t.Fatal(err)
		}
		for _, policy := range []fluid.Policy{fluid.DRF, fluid.MaxMin, fluid.BMF} {
			x, err := Indices(context.Background(), p, mustAllocate(t, p, policy).TaskFractions())
			if err != nil {
				t.Fatal(err)
			}
			if !(x.NashMean <= largest.NashMean*(1+1e-8)) { // the tolerance of proportional fairness is 1e-9
				t.Fatalf("%s: %v > %v", policy, x.NashMean, largest.NashMean)
			}
		}
	})
}

func mustAllocate(t rapid.TB, p *fluid.Pool, policy fluid.Policy) *fluid.Allocation {
	t.Helper()
	a, err := fluid.Allocate(context.Background(), p, policy, fluid.Settings{})
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
		"share_ratio":       {new(big.Rat).Inv(huge), big.NewRat(1, 1)},
	} {
		p := classicPool()
		if path == "least_utilization" {
			p.Resources = append(p.Resources, fluid.Resource{Name: "disk", Capacity: big.NewRat(1, 1)})
			p.Jobs[0].Demand = append(p.Jobs[0].Demand, big.NewRat(1, 1))
			tasks = []*big.Rat{tasks[0], big.NewRat(1, 1)}
		}
		_, err := Indices(context.Background(), p, tasks)
		var bad *input.Error
		if !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%v, want an error at %s", err, path)
		}
	}
}
