package traffic

import (
	"math/big"
	"strings"

	"productform/fluid"
	"productform/internal/ranktable"
	"productform/num"
)

// A group holds classes of traffic that are one class to the policy. The first represents all.
type group struct {
	rows []int    // of Model.Classes
	rate *big.Rat // arrival rate of jobs of the first class that bring as much work as the group
	// fraction of that work brought by each class, in the order of rows: E[x_k] is this fraction of
	// the mean number of jobs
	part []*big.Rat
}

// singletonGroups returns the classes that arrive, each in a separate group.
func (t *Model) singletonGroups() []group {
	var groups []group
	for k, c := range t.Classes {
		if c.ArrivalRate.Sign() > 0 {
			groups = append(groups, group{rows: []int{k}, rate: c.ArrivalRate, part: []*big.Rat{big.NewRat(1, 1)}})
		}
	}
	return groups
}

// merged returns the classes that arrive in as few groups as the policy allows: the profiles a_k =
// d_k b of a group are equal up to their size, and under
//
//   - balanced fairness nothing else is needed. Φ(x) is that of the number n of jobs with profile
//     b, times n!/Π_k x_k! Π_k d_k^x_k: this solves Φ(x) = max_j Σ_k a_kj Φ(x-e_k), since n!/Π_k
//     x_k! is the sum of its values at all x-e_k. So Φ(x) Π_k ρ_k^x_k summed over equal n is the
//     weight of n jobs that bring Σ_k d_k ρ_k, and given n each job is of class k with probability
//     in proportion to d_k ρ_k.
//   - the other policies the speeds at which dominant shares grow are equal, w_k, or w_k d_k under
//     max-min fairness, and so are the mean sizes d_k σ_k in dominant shares. Then jobs of the
//     group get equal dominant shares and leave at equal rates, regardless of their classes: their
//     number is a Markov chain with the arrival rate Σ_k λ_k, and each is of class k with
//     probability in proportion to λ_k. (If there are several bottleneck max fair allocations, one
//     of the merged classes is taken.)
//
// Both probabilities are proportional to λ_k d_k σ_k. Classes with limits have equal limits in
// dominant shares, l_k = L_k d_k: the jobs of a group then stop at the same share, and Φ(x) >=
// Φ(x-e_k)/(x_k L_k) is the same condition on n for all of them, as (n-1)!/n! Π_k x_k! / Π_k
// (x-e_l)_k! is x_l/n.
func (t *Model) merged(policy fluid.Policy) []group {
	e := fluid.NewProfiles(t.Pool())
	speed := e.Weight
	if policy == fluid.MaxMin {
		speed = e.Speeds()
	}
	var groups []group
	known := make(map[string]int)
	size := func(k int) *big.Rat { return new(big.Rat).Mul(e.Dominant[k], num.OrOne(t.Classes[k].MeanSize)) }
	for _, g := range t.singletonGroups() {
		k := g.rows[0]
		var key strings.Builder
		for _, b := range e.Need[k] {
			key.WriteString(b.RatString() + " ")
		}
		if policy != fluid.BF {
			key.WriteString(speed[k].RatString() + " " + size(k).RatString())
		}
		if e.Limit != nil && e.Limit[k] != nil {
			key.WriteString(" at most " + e.Limit[k].RatString())
		}
		n, ok := known[key.String()]
		if !ok {
			known[key.String()] = len(groups)
			groups = append(groups, g)
			continue
		}
		first := &groups[n]
		rate := new(big.Rat).Quo(size(k), size(first.rows[0]))
		rate.Mul(rate, g.rate)
		// converted to fractions of the total below
		first.rows, first.part = append(first.rows, k), append(first.part, rate)
		first.rate = new(big.Rat).Add(first.rate, rate)
	}
	for _, g := range groups {
		if len(g.rows) > 1 {
			g.part[0] = t.Classes[g.rows[0]].ArrivalRate
			for i, rate := range g.part {
				g.part[i] = new(big.Rat).Quo(rate, g.rate)
			}
		}
	}
	return groups
}

// components returns groups such that no resource is used in two of them. They are independent:
// their jobs arrive independently, and every policy decomposes. A maximum of Σ_i w_i log φ_i is a
// maximum in each component, and filling and bottlenecks compare only jobs of one resource. The
// product of the Φ of the components satisfies the recursion of Φ: the maximum is at a resource of
// one component, and the other factors are unchanged.
func (t *Model) components(groups []group) [][]group {
	sets := ranktable.Singles(len(t.Resources)) // sets of resources, one per component
	some := make([]int, len(groups))            // one resource of each group
	for n, g := range groups {
		some[n] = -1
		for j := range t.Resources {
			if t.Classes[g.rows[0]].Profile().Of(j).Sign() == 0 {
				continue
			}
			if some[n] < 0 {
				some[n] = j
			}
			sets.Join(j, some[n])
		}
	}
	var components [][]group
	number := make(map[int]int) // number of a component, by its root
	for n, g := range groups {
		r := sets.Root(some[n])
		if _, ok := number[r]; !ok {
			number[r] = len(components)
			components = append(components, nil)
		}
		components[number[r]] = append(components[number[r]], g)
	}
	return components
}
