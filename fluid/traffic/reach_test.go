package traffic

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"productform/fluid"
	"productform/internal/oracle"
)

// The states omitted within the limits do not matter: the means equal those of all states in a
// larger box, also with weights, sizes and rates of different magnitudes, and with three classes.
func TestRegionsAgainstBoxes(t *testing.T) {
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 12))
		classes, tol := 2, 1e-8
		if seed%6 == 5 {
			classes, tol = 3, 1e-4
		}
		tr := randomTraffic(r, classes, 1+r.IntN(3), big.NewRat(1, 2))
		if seed%2 == 1 {
			for k := range tr.Classes {
				c := &tr.Classes[k]
				c.Weight = big.NewRat(1<<r.IntN(10), 32)
				scale := big.NewRat(1<<r.IntN(11), 32)
				c.MeanSize.Mul(c.MeanSize, scale)
				c.ArrivalRate.Quo(c.ArrivalRate, scale.Mul(scale, big.NewRat(1<<r.IntN(5), 1)))
			}
		}
		scaleTo(tr, big.NewRat(1+r.Int64N(int64(34/classes)), 20))
		p := fluid.Policies()[seed/2%4]
		got := solved(t, tr, p, Settings{TruncationTol: tol})
		if slices.Contains(limitsIn(got), 0) {
			continue // merged or solved separately
		}
		limits := make([]int, classes)
		for k, l := range limitsIn(got) {
			limits[k] = l + l/6 + 3
		}
		want := solved(t, tr, p, Settings{Limits: limits})
		wantMeans(t, "in a box", got, meansOf(want), errorOf(got)+errorOf(want))
		if box := (limitsIn(got)[0] + 1) * (limitsIn(got)[1] + 1); classes == 2 && got.States > box {
			t.Errorf("seed %d: %d states with limits %d", seed, got.States, limitsIn(got))
		}
	}
}

// A reach gives distances and, for a measure that decays proportionally, extrapolates them: π(x) =
// e^-(x_0/20 + x_1/30) in a box that ends at a weight near e^-6 is predicted up to e^-12.
func TestReachForetells(t *testing.T) {
	v := &solution{limits: []int{120, 180}, mean: []float64{1e9, 1e9}} // so large that the factor for jobs is about 1
	tr := trafficOf([][]*big.Rat{oracle.Rats("1 1/2"), oracle.Rats("1/2 1")}, oracle.Rats("1/3 1/3")...)
	w, err := newProblem(tr, tr.singletonGroups())
	if err != nil {
		t.Fatal(err)
	}
	if v.chain, v.lost, _, err = w.newChain(context.Background(), fluid.DRF, boxOf(v.limits)); err != nil {
		t.Fatal(err)
	}
	x := []int{0, 0}
	for range v.chain.States {
		v.pi = append(v.pi, math.Exp(-float64(x[0])/20-float64(x[1])/30)/float64(1+x[0]+x[1]))
		v.chain.Next(x)
	}
	r := v.reach()
	// The mean weight on both edges is e^-6 (30 + 20)/(120 + 180), apart from the terms of the
	// second half of each.
	if want := 6 + math.Log(6); math.Abs(r.level-want) > 0.05 {
		t.Errorf("level %v of the edge, want %v", r.level, want)
	}
	region, err := r.region(r.extended(12), r, 12, Settings{MaxStates: 1e6})
	if err != nil {
		t.Fatal(err)
	}
	area := 0
	for n := range 240 {
		for m := range 360 {
			inside := region.Number([]int{n, m}) >= 0
			t12 := float64(n)/20 + float64(m)/30
			if t12 <= 12 && !inside || t12 > 12*1.2+0.5 && inside {
				t.Fatalf("(%d, %d) of weight e^-%.3g: inside is %v", n, m, t12, inside)
			}
			if inside {
				area++
			}
		}
	}
	if area > region.States {
		t.Errorf("%d of %d states", area, region.States)
	}
	var many *statesError
	if _, err := r.region(r.extended(12), r, 12, Settings{MaxStates: 1000}); !errors.As(err, &many) ||
		many.states < 20_000 {
		t.Errorf("error %v", err)
	}
}
