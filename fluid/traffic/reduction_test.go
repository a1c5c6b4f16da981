package traffic

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"productform/fluid"
	"productform/internal/oracle"
	"productform/num"
)

// twin returns another class that the policy cannot distinguish from c: its tasks are s times as
// large and bring 1/s of the work.
func twin(c Class, p fluid.Policy, s *big.Rat) Class {
	t := Class{Name: c.Name + "'", Weight: c.Weight, MeanSize: new(big.Rat).Quo(num.OrOne(c.MeanSize), s)}
	t.ArrivalRate = new(big.Rat).Mul(c.ArrivalRate, big.NewRat(1, 3))
	for _, d := range c.Demand {
		t.Demand = append(t.Demand, new(big.Rat).Mul(d, s))
	}
	if p == fluid.MaxMin {
		t.Weight = new(big.Rat).Quo(num.OrOne(c.Weight), s)
	}
	if p == fluid.BF { // sizes do not matter under balanced fairness
		t.MeanSize.Mul(t.MeanSize, big.NewRat(5, 2))
	}
	return t
}

// Merged classes have the means of the chain, or the sum, of all classes.
func TestMergedClasses(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 9))
		for _, p := range fluid.Policies() {
			tr := withoutWeights(randomTraffic(r, 2, 1+r.IntN(3), big.NewRat(1, 2)), p)
			tr.Classes = append(tr.Classes, twin(tr.Classes[0], p, big.NewRat(1+r.Int64N(4), 2)))
			scaleTo(tr, big.NewRat(1+r.Int64N(3), 10))
			got := solved(t, tr, p, Settings{TruncationTol: 1e-6})
			want := solved(t, tr, p, Settings{Limits: []int{11, 11, 11}})
			wantMeans(t, fmt.Sprint("seed ", seed), got, meansOf(want), errorOf(got)+errorOf(want))
			if len(got.Parts[0].Groups) > 2 || len(want.Parts) != 1 || len(want.Parts[0].Groups) != 3 ||
				limitsIn(got)[0] != limitsIn(got)[2] {
				t.Errorf("seed %d, %s: parts %+v and %+v", seed, p, got.Parts, want.Parts)
			}
			for k, c := range tr.Classes { // the other measures follow from the means
				lambda, _ := c.ArrivalRate.Float64()
				rho, _ := tr.Volume()[k].Float64()
				m := got.Classes[k]
				if math.Abs(*m.MeanDelay*lambda/m.MeanJobs-1) > 1e-15 ||
					math.Abs(*m.ServiceRate*m.MeanJobs/rho-1) > 1e-15 {
					t.Errorf("%s: class %d has %v jobs, delay %v, rate %v",
						p, k, m.MeanJobs, *m.MeanDelay, *m.ServiceRate)
				}
			}
		}
	}
}

// Classes that differ in one property that the policy uses are not merged.
func TestNotMerged(t *testing.T) {
	for _, c := range []struct {
		change func(*Class)
		one    []fluid.Policy // policies that merge them nevertheless
	}{
		{func(*Class) {}, fluid.Policies()},
		{func(c *Class) { c.ArrivalRate = big.NewRat(1, 7) }, fluid.Policies()},
		{func(c *Class) { c.MeanSize = big.NewRat(2, 1) }, []fluid.Policy{fluid.BF}},
		{func(c *Class) { c.Weight = big.NewRat(2, 1) }, []fluid.Policy{fluid.BF}},
		{
			func(c *Class) { c.Demand = oracle.Rats("1 1/4"); c.MeanSize = big.NewRat(2, 1) },
			[]fluid.Policy{fluid.PF, fluid.DRF, fluid.BMF, fluid.BF},
		},
		{func(c *Class) { c.Demand = oracle.Rats("1/2 1/4") }, nil},
		{func(c *Class) { c.Declared = oracle.Rats("1/2 1/4") }, nil},
		{func(c *Class) { c.ArrivalRate = new(big.Rat) }, fluid.Policies()}, // the class is omitted
	} {
		tr := trafficOf([][]*big.Rat{oracle.Rats("1/2 1/8"), oracle.Rats("1/2 1/8")}, oracle.Rats("1/3 1/3")...)
		tr.Classes[0].MeanSize = big.NewRat(4, 1)
		tr.Classes[1].MeanSize = big.NewRat(4, 1)
		c.change(&tr.Classes[1])
		for _, p := range fluid.Policies() {
			if n := len(tr.merged(p)); (n == 1) != slices.Contains(c.one, p) {
				t.Errorf("%s: %d groups of %+v", p, n, tr.Classes)
			}
		}
	}
}

// Classes that share no resource are solved separately and have the means of the joint chain.
func TestComponents(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 10))
		for _, p := range fluid.Policies() {
			tr := withoutWeights(randomTraffic(r, 3, 2, big.NewRat(1, 2)), p)
			tr.Resources = append(tr.Resources, fluid.Resource{Name: "of the last alone", Capacity: big.NewRat(1, 1)})
			// not proportional to the other, whose numbers are sixths
			tr.Classes[0].Demand[r.IntN(2)] = big.NewRat(7, 8)
			tr.Classes[2].Demand = oracle.Rats("0 0 1")
			scaleTo(tr, big.NewRat(1+r.Int64N(3), 10))
			got := solved(t, tr, p, Settings{TruncationTol: 1e-6})
			want := solved(t, tr, p, Settings{Limits: []int{13, 13, 11}})
			wantMeans(t, fmt.Sprint("seed ", seed), got, meansOf(want), errorOf(got)+errorOf(want))
			if len(got.Parts) < 2 || limitsIn(got)[2] != 0 || got.Parts[len(got.Parts)-1].Method != GeometricMethod {
				t.Errorf("seed %d, %s: limits %d, parts %+v", seed, p, limitsIn(got), got.Parts)
			}
		}
	}
}

// Six pairs of classes, each pair with two separate resources, are solved like one pair, although
// their joint chain has more states than any table.
func TestManyComponents(t *testing.T) {
	pair := trafficOf([][]*big.Rat{oracle.Rats("1 1/2"), oracle.Rats("1/2 1")}, oracle.Rats("1/3 1/4")...)
	many := &Model{}
	for n := range 6 {
		for j := range 2 {
			many.Resources = append(many.Resources, fluid.Resource{
				Name:     fmt.Sprint("r", n, j),
				Capacity: big.NewRat(1, 1),
			})
		}
		for k, c := range pair.Classes {
			c.Name = fmt.Sprint("c", n, k)
			c.Demand = append(make([]*big.Rat, 2*n), c.Demand...)
			many.Classes = append(many.Classes, c)
		}
	}
	for _, p := range fluid.Policies() {
		one, all := solved(t, pair, p, Settings{TruncationTol: 1e-6}), solved(t, many, p, Settings{TruncationTol: 1e-6})
		var want []float64
		for range 6 {
			want = append(want, meansOf(one)...)
		}
		wantMeans(t, "six pairs", all, want, errorOf(one)+errorOf(all))
		if len(all.Parts) != 6 || all.States != 6*one.States || all.Method != one.Method {
			t.Errorf("%s: %d parts, %d states, method %s", p, len(all.Parts), all.States, all.Method)
		}
	}
}
