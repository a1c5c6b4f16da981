package whittle_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/num"
	"productform/stability"
	"productform/whittle"
)

func mustSolve(t *rapid.T, n *whittle.Network, l whittle.Lattice) *whittle.Result {
	r, err := whittle.Stationary(t.Context(), n, l, exactly)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func isExactly(v num.Value, want *big.Rat) bool { return v.Exact != nil && equal(v.Exact, want) }

// Z, the mass left out and the means agree with the recursion over active sets, which has no
// states; the bound of Lemma 1 is not below the exact sum outside.
func TestOutsideAgreesWithActiveSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t, 4)
		l := drawLattice(t, len(n.ArrivalRates))
		r := mustSolve(t, n, l)
		g, means := oracle.ActiveSets(n.ArrivalRates, n.Rank)
		z := oracle.Sum(g)
		if !isExactly(r.Normalization, z) || !isExactly(r.EmptyProbability, quo(num.Rat("1"), z)) {
			t.Fatalf("Z = %v, want %v", r.Normalization, z)
		}
		inside, insideMean := new(big.Rat), make([]*big.Rat, len(means))
		for i := range insideMean {
			insideMean[i] = new(big.Rat)
		}
		for k, x := range l.All() {
			p := quo(r.Phi(k), z)
			for i, v := range x {
				p.Mul(p, power(n.ArrivalRates[i], v))
			}
			if !isExactly(r.Prob(k), p) || !isExactly(r.Weight(k), mul(p, z)) {
				t.Fatalf("π(%v) = %v, want %v", x, r.Prob(k), p)
			}
			inside.Add(inside, p)
			for i, v := range x {
				insideMean[i].Add(insideMean[i], mul(big.NewRat(int64(v), 1), p))
			}
		}
		if !isExactly(r.MassLeftOut, sub(num.Rat("1"), inside)) || !isExactly(r.Inside, mul(inside, z)) ||
			!isExactly(r.Outside, sub(z, mul(inside, z))) || r.RelativeErrorBound != 0 {
			t.Fatalf("mass left out %v, want 1 - %v", r.MassLeftOut, inside)
		}
		for i, m := range means {
			if !isExactly(r.MeanJobs[i], m) || !isExactly(r.MeanLeftOut[i], sub(m, insideMean[i])) {
				t.Fatalf("E[X_%d] = %v, want %v", i, r.MeanJobs[i], m)
			}
		}
	})
}

// By Lemma 1 of the appendix Φ(x) <= Π η_i^-x_i, for the rates η that certify stability.
func TestEtaBoundsTheBalanceFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t, 4)
		r, err := stability.Rank(t.Context(), n.ArrivalRates, n.Rank)
		if err != nil {
			t.Fatal(err)
		}
		l := drawLattice(t, len(r.Eta))
		b := mustBalance(t, n.Rank, l)
		for k, x := range l.All() {
			bound := num.Rat("1")
			for i, v := range x {
				bound.Quo(bound, power(r.Eta[i], v))
			}
			if b.Phi[k].Cmp(bound) > 0 {
				t.Fatalf("Φ(%v) = %v exceeds %v", x, b.Phi[k], bound)
			}
		}
	})
}

// Wherever the tables stop, probabilities of a small lattice are below those of a larger one, by at
// most the difference of the mass left out.
func TestProbabilitiesGrowWithTheLattice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t, 3)
		classes := len(n.ArrivalRates)
		l := drawLattice(t, classes)
		total := l.Total // largest number of jobs
		for _, most := range l.Limits {
			total += most
		}
		small, large := mustSolve(t, n, l), mustSolve(t, n, whittle.Simplex(classes, total+3))
		gained := sub(small.MassLeftOut.Exact, large.MassLeftOut.Exact)
		nested := func(what string, a, b []num.Value) {
			for k := range min(len(a), len(b)) {
				if more := sub(b[k].Exact, a[k].Exact); more.Sign() < 0 || more.Cmp(gained) > 0 {
					t.Fatalf("%s at %d: %v and %v, mass left out %v less", what, k, a[k], b[k], gained)
				}
			}
		}
		for i := range classes {
			nested("marginal", small.Marginals[i], large.Marginals[i])
		}
		nested("distribution of the total", small.JobsDistribution, large.JobsDistribution)
	})
}

// Local balance holds in every state, hence global balance of the chain; and the chain is
// reversible: rates multiply to the same both ways around a closed walk (Kolmogorov).
func TestBalanceEquations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t, 4)
		classes := len(n.ArrivalRates)
		l := whittle.Box(4, 3, 2, 2)
		l.Limits = l.Limits[:classes]
		r := mustSolve(t, n, l)
		b := mustBalance(t, n.Rank, l)
		phi, prob := mustRates(t, b), make([]*big.Rat, len(b.Phi))
		for k := range prob {
			prob[k] = r.Prob(k).Exact
		}
		imbalances, err := whittle.LocalImbalances(t.Context(), l, n.ArrivalRates, phi, prob)
		if err != nil {
			t.Fatal(err)
		}
		for k, row := range imbalances {
			for i, v := range row {
				if v.Sign() != 0 {
					t.Fatalf("imbalance %v at %d, %d", v, k, i)
				}
			}
		}

		x := make([]int, classes) // all neighbours are in the lattice
		for i := range x {
			x[i] = rapid.IntRange(0, l.Limits[i]-1).Draw(t, "x")
		}
		at := func(x []int) int { k, _ := l.Index(x); return k }
		k := at(x)
		out, in := new(big.Rat), new(big.Rat)
		for i := range x {
			out.Add(out, mul(prob[k], add(n.ArrivalRates[i], phi[k][i])))
			if x[i] > 0 {
				in.Add(in, mul(prob[previous(l, x, i)], n.ArrivalRates[i]))
			}
			x[i]++
			in.Add(in, mul(prob[at(x)], phi[at(x)][i]))
			x[i]--
		}
		if !equal(out, in) {
			t.Fatalf("global balance in %v: %v out, %v in", x, out, in)
		}

		forward, backward := num.Rat("1"), num.Rat("1")
		step := func(i, d int) {
			from := at(x)
			x[i] += d
			if d > 0 {
				forward.Mul(forward, n.ArrivalRates[i])
				backward.Mul(backward, phi[at(x)][i])
			} else {
				forward.Mul(forward, phi[from][i])
				backward.Mul(backward, n.ArrivalRates[i])
			}
		}
		start := append([]int(nil), x...)
		for range 20 {
			i := rapid.IntRange(0, classes-1).Draw(t, "queue")
			if x[i] == l.Limits[i] || (x[i] > 0 && rapid.Bool().Draw(t, "down")) {
				step(i, -1)
			} else {
				step(i, 1)
			}
		}
		for i := range x { // home by another way
			for x[i] > start[i] {
				step(i, -1)
			}
			for x[i] < start[i] {
				step(i, 1)
			}
		}
		if !equal(forward, backward) {
			t.Fatalf("a closed walk has rates %v and %v", forward, backward)
		}
	})
}

// A measure that is wrong in one state is out of balance there by its own rate, and next to it by
// λ.
func TestLocalImbalanceShowsAFault(t *testing.T) {
	l := whittle.Box(3, 3)
	phi, err := whittle.InfiniteServers(t.Context(), l, num.Rat("1"), num.Rat("2"))
	if err != nil {
		t.Fatal(err)
	}
	lambda := []*big.Rat{num.Rat("1/2"), num.Rat("3")}
	weights := make([]*big.Rat, 16)
	for k, x := range l.All() { // Poisson: Π ρ^x/x!
		weights[k] = num.Rat("1")
		for i, v := range x {
			weights[k].Mul(weights[k], power([]*big.Rat{num.Rat("1/2"), num.Rat("3/2")}[i], v))
			weights[k].Quo(weights[k], new(big.Rat).SetInt(new(big.Int).MulRange(1, int64(v))))
		}
	}
	fault, _ := l.Index([]int{2, 1})
	weights[fault] = add(weights[fault], num.Rat("1/10"))
	got, err := whittle.LocalImbalances(t.Context(), l, lambda, phi, weights)
	if err != nil {
		t.Fatal(err)
	}
	want := map[[3]int]string{ // x_1, x_2, class: φ/10 in (2,1), -λ/10 above it
		{2, 1, 0}: "1/5", {2, 1, 1}: "1/5", {3, 1, 0}: "-1/20", {2, 2, 1}: "-3/10",
	}
	for k, x := range l.All() {
		for i, v := range got[k] {
			s, ok := want[[3]int{x[0], x[1], i}]
			if !ok {
				s = "0"
			}
			if !equal(v, num.Rat(s)) {
				t.Errorf("imbalance in %v of class %d is %v, want %s", x, i, v, s)
			}
		}
	}
}

// isWithout reports whether want exceeds a number by at most what is left out, and as bounds tell.
func isWithout(v, left num.Value, want *big.Rat) bool {
	low, high := v.Exact, v.Exact
	if low == nil {
		low, _ = v.Low.Rat(nil)
		high, _ = v.High.Rat(nil)
	}
	most := left.Exact
	if most == nil {
		most, _ = left.High.Rat(nil)
	}
	return low.Cmp(want) <= 0 && want.Cmp(add(high, most)) <= 0
}

// One server shared by all classes is multiclass processor sharing: Z = 1/(1-ρ), E[X_i] =
// ρ_i/(1-ρ), the total is geometric.
func TestSingleServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t, 3)
		mu := num.Rat("7/3")
		rank, err := whittle.SingleServer(len(n.ArrivalRates), mu)
		if err != nil {
			t.Fatal(err)
		}
		total := setRate(n.ArrivalRates, len(rank)-1)
		load := big.NewRat(int64(rapid.IntRange(1, 99).Draw(t, "percent")), 100)
		for i := range n.ArrivalRates {
			n.ArrivalRates[i] = mul(n.ArrivalRates[i], quo(mul(load, mu), total))
		}
		n.Rank = rank
		idle := sub(num.Rat("1"), load)
		r := mustSolve(t, n, drawLattice(t, len(n.ArrivalRates)))
		if !isExactly(r.EmptyProbability, idle) {
			t.Fatalf("π(0) = %v, want 1-ρ = %v", r.EmptyProbability, idle)
		}
		for i, lambda := range n.ArrivalRates {
			if want := quo(quo(lambda, mu), idle); !isExactly(r.MeanJobs[i], want) {
				t.Fatalf("E[X_%d] = %v, want %v", i, r.MeanJobs[i], want)
			}
			// X_i is geometric; its ratio is the load of class i on the capacity that the others
			// leave.
			own := quo(lambda, sub(mu, sub(mul(load, mu), lambda)))
			for k, p := range r.Marginals[i] {
				if want := mul(power(own, k), sub(num.Rat("1"), own)); !isWithout(p, r.MassLeftOut, want) {
					t.Fatalf("P(X_%d = %d) = %v, want %v", i, k, p, want)
				}
			}
		}
		complete := r.Lattice.Total // the lattice holds all states of at most this number of jobs
		if r.Lattice.Limits != nil {
			complete = slices.Min(r.Lattice.Limits)
		}
		for k, p := range r.JobsDistribution {
			if want := mul(power(load, k), idle); !isWithout(p, r.MassLeftOut, want) ||
				k <= complete && !isExactly(p, want) {
				t.Fatalf("P(n = %d) = %v, want %v", k, p, want)
			}
		}
	})
}

// Separate servers are independent M/M/1 queues, and φ_i = μ_i everywhere: the floor is attained,
// and the bound of StationaryOfBalance equals the sum of Stationary.
func TestSeparateServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(1, 3).Draw(t, "classes")
		n := &whittle.Network{}
		mu, rho, limits := make([]*big.Rat, classes), make([]*big.Rat, classes), make([]int, classes)
		for i := range mu {
			mu[i] = big.NewRat(int64(rapid.IntRange(1, 9).Draw(t, "mu")), 4)
			rho[i] = big.NewRat(int64(rapid.IntRange(0, 19).Draw(t, "rho")), 20)
			n.ArrivalRates = append(n.ArrivalRates, mul(mu[i], rho[i]))
			limits[i] = rapid.IntRange(0, 4).Draw(t, "limit")
		}
		var err error
		if n.Rank, err = whittle.SeparateServers(t.Context(), mu...); err != nil {
			t.Fatal(err)
		}
		r := mustSolve(t, n, whittle.Box(limits...))
		left := num.Rat("1")
		for i := range mu {
			left.Mul(left, sub(num.Rat("1"), power(rho[i], limits[i]+1)))
			if want := quo(rho[i], sub(num.Rat("1"), rho[i])); !isExactly(r.MeanJobs[i], want) {
				t.Fatalf("E[X_%d] = %v, want %v", i, r.MeanJobs[i], want)
			}
		}
		if !isExactly(r.MassLeftOut, sub(num.Rat("1"), left)) {
			t.Fatalf("mass left out %v, want %v", r.MassLeftOut, sub(num.Rat("1"), left))
		}
		f, err := whittle.StationaryOfBalance(t.Context(), n.ArrivalRates, mustBalance(t, n.Rank, r.Lattice), mu)
		if err != nil {
			t.Fatal(err)
		}
		// upTo reports whether v is between a number >= 0 and want, the latter rounded up.
		upTo := func(v num.Value, want *big.Rat) bool {
			return v.Exact != nil && equal(v.Exact, want) ||
				v.High != nil && v.High.Cmp(num.FromRat(want, 256).High) == 0
		}
		if !oracle.Holds(f.Outside, new(big.Rat)) || !upTo(f.Outside, r.Outside.Exact) ||
			!upTo(f.MassLeftOut, r.MassLeftOut.Exact) || !isExactly(f.Inside, r.Inside.Exact) {
			t.Fatalf("bound %v, sum %v", f.Outside, r.Outside)
		}
		for i := range mu {
			out := mul(r.MeanLeftOut[i].Exact, r.Normalization.Exact) // over Z, at least the weight inside
			if !oracle.Holds(f.MeanJobs[i], r.MeanJobs[i].Exact) ||
				!upTo(f.MeanLeftOut[i], quo(out, f.Inside.Exact)) {
				t.Fatalf("mean %v in %v, outside %v in %v", r.MeanJobs[i], f.MeanJobs[i], out, f.MeanLeftOut[i])
			}
		}
		for k := range r.Lattice.All() {
			if !oracle.Holds(f.Prob(k), r.Prob(k).Exact) || !isExactly(f.Weight(k), r.Weight(k).Exact) {
				t.Fatalf("π at %d: %v not in %v", k, r.Prob(k), f.Prob(k))
			}
		}
	})
}

// Infinite servers: X_i is Poisson with mean λ_i/μ_i, Z = e^ρ.
func TestInfiniteServers(t *testing.T) {
	l := whittle.Box(6, 5)
	mu := []*big.Rat{num.Rat("1"), num.Rat("3/2")}
	lambda := []*big.Rat{num.Rat("4/5"), num.Rat("1/2")}
	phi, err := whittle.InfiniteServers(t.Context(), l, mu...)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := whittle.BalanceFromRates(t.Context(), l, phi, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := whittle.StationaryOfBalance(t.Context(), lambda, b, []*big.Rat{num.Rat("7"), num.Rat("9")}) // (L_i+1) μ_i
	if err != nil {
		t.Fatal(err)
	}
	// 1e-16 against a width of 1e-5
	if z := new(big.Rat).SetFloat64(math.Exp(0.8 + 1./3)); !oracle.Holds(r.Normalization, z) {
		t.Errorf("Z = %v, want %v", r.Normalization, z)
	}
	for i, want := range []string{"4/5", "1/3"} {
		if !oracle.Holds(r.MeanJobs[i], num.Rat(want)) || r.MeanJobs[i].Exact != nil {
			t.Errorf("E[X_%d] = %v, want %s", i, r.MeanJobs[i], want)
		}
		rho, _ := num.Rat(want).Float64()
		for k, p := range r.Marginals[i] {
			poisson := math.Exp(-rho) * math.Pow(rho, float64(k)) / math.Gamma(float64(k+1))
			if !isWithout(p, r.MassLeftOut, new(big.Rat).SetFloat64(poisson)) {
				t.Errorf("P(X_%d = %d) = %v, want %v", i, k, p, poisson)
			}
		}
	}
	if _, high := r.MassLeftOut.Bounds(); high > 1e-4 {
		t.Errorf("mass left out is at most %v, want about P(Poisson > 5 or 6) = 5e-5", high)
	}
}

// referenceCases returns the stable models that the independent program solved, of up to five
// classes at a load of up to 9/10.
func referenceCases() []oracle.Reference {
	return slices.DeleteFunc(oracle.References(), func(r oracle.Reference) bool {
		return len(r.Model.Classes) > 5 || r.Expect.CriticalScale.Cmp(num.Rat("10/9")) < 0
	})
}

func network(t testing.TB, r oracle.Reference) *whittle.Network {
	n, err := whittle.FromCluster(t.Context(), r.Model)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestReferenceAnswers(t *testing.T) {
	for _, c := range referenceCases() {
		n := network(t, c)
		r, err := whittle.Stationary(t.Context(), n, whittle.Simplex(len(n.ArrivalRates), 4), exactly)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if !isExactly(r.Normalization, c.Expect.Normalization) {
			t.Errorf("%s: Z = %v, want %s", c.Name, r.Normalization, c.Expect.Normalization)
		}
		for i, want := range c.Expect.MeanJobs {
			if !isExactly(r.MeanJobs[i], want) {
				t.Errorf("%s: E[X_%d] = %v, want %s", c.Name, i, r.MeanJobs[i], want)
			}
		}
	}
}
