package stability

import (
	"context"
	"fmt"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// maxTerms is the maximum number of terms of λ(k), which doubles with each group that two classes
// share.
const maxTerms = 1 << 20

// leastWith returns the set with the smallest margin among those with a combination of the class in
// this row, or nil if its margin is known to exceed that of best.
//
// By symmetry such a set is determined by the numbers k_g of servers it uses in each row g, k_g >=
// d_g if the class draws d_g of them. As λ(k) = Σ_t λ_t Π_g C(k_g,d_tg)/C(n_g,d_tg) is convex in
// each k_g, the margin Σ_g k_g C_g - λ(k) is smallest with each k_g either d_g (0 if the class does
// not use row g) or n_g. With a_tg = C(d_g,d_tg)/C(n_g,d_tg) and U the rows used completely, class
// t brings
//
//	λ_t Π_{g∉U} a_tg = Σ_{V⊆U} λ_t Π_{g∈V} (1-a_tg) Π_{g∉V} a_tg,
//
// so each V acts like a class that uses the rows V, and U is a minimum cut. Only those V matter
// that contain the rows with a_tg = 0 and none with a_tg = 1.
func (g *graph) leastWith(ctx context.Context, row int, critical *big.Rat, best *subset) (*subset, error) {
	counts := make([]int, len(g.total))
	mu := new(big.Rat)
	for _, c := range g.model.Classes[row].Servers {
		if g.total[c.Server].Sign() > 0 {
			counts[c.Server] = c.Choose
			mu.Add(mu, times(c.Choose, g.model.Servers[c.Server].Capacity))
		}
	}
	if best != nil && critical != nil { // t λ(A) <= μ(A), so μ(A) - λ(A) >= μ(A) (1 - 1/t)
		bound := new(big.Rat).Inv(critical)
		bound.Mul(bound.Sub(big.NewRat(1, 1), bound), mu)
		if bound.Cmp(best.margin) > 0 {
			return nil, nil
		}
	}
	if g.countTerms(counts) > maxTerms {
		return nil, input.Errorf(fmt.Sprintf("classes[%d].servers", row), fmt.Sprintf("%q", g.model.Classes[row].Name),
			"classes that have fewer groups in common: the margin of this one's combinations takes a sum of more "+
				"than %d terms", maxTerms)
	}
	servers, rates, err := g.terms(ctx, counts)
	if err != nil {
		return nil, err
	}
	if err := g.takeWhole(ctx, counts, servers, rates); err != nil {
		return nil, err
	}
	return g.subsetWithin(counts, row), nil
}

// countTerms returns the number of sets that [graph.terms] lists, or some number above maxTerms if
// it exceeds that: 2^k for a class with k choices such that 0 < a_tg < 1, minus the empty set if no
// a_tg is 0.
func (g *graph) countTerms(counts []int) int {
	total := 0
	for i, load := range g.load {
		if load.Sign() == 0 {
			continue
		}
		sets, empty := 1, 1
		for _, c := range g.model.Classes[g.rows[i][0]].Servers {
			switch k := counts[c.Server]; {
			case g.index[c.Server] < 0 || k == g.model.Servers[c.Server].Size():
			case k < c.Choose:
				empty = 0
			case sets <= maxTerms:
				sets *= 2
			}
		}
		if total += sets - empty; total > maxTerms {
			break
		}
	}
	return total
}

// terms lists the nonempty sets V of servers of the network and their rates, given d_g.
func (g *graph) terms(ctx context.Context, counts []int) (servers [][]int32, rates []*big.Rat, err error) {
	one := big.NewRat(1, 1)
	for i, load := range g.load {
		if load.Sign() == 0 {
			continue
		}
		sets, parts := [][]int32{nil}, []*big.Rat{new(big.Rat).SetFrac(load, g.unit)}
		for _, c := range g.model.Classes[g.rows[i][0]].Servers {
			s := g.index[c.Server]
			if s < 0 {
				continue
			}
			a := insideProbability(counts[c.Server], g.model.Servers[c.Server].Size(), c.Choose)
			rest := new(big.Rat).Sub(one, a)
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			for k := range sets { // V without s stays in place, V with s is appended
				with := append(sets[k][:len(sets[k]):len(sets[k])], s)
				switch {
				case a.Sign() == 0:
					sets[k] = with
				case rest.Sign() > 0:
					sets = append(sets, with)
					parts = append(parts, new(big.Rat).Mul(parts[k], rest))
					parts[k] = new(big.Rat).Mul(parts[k], a)
				}
			}
		}
		for k, set := range sets {
			if len(set) > 0 {
				servers, rates = append(servers, set), append(rates, parts[k])
			}
		}
	}
	return servers, rates, nil
}

// insideProbability returns C(k,d)/C(n,d), the probability that d of n servers are all among k
// given ones.
func insideProbability(k, n, d int) *big.Rat {
	if k < d {
		return new(big.Rat)
	}
	if k == n {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).SetFrac(binomial(k, d), binomial(n, d))
}

// takeWhole raises the counts of the rows in U, the smallest minimum cut, from d_g to n_g.
func (g *graph) takeWhole(ctx context.Context, counts []int, servers [][]int32, rates []*big.Rat) error {
	unit := new(big.Int).Set(g.unit)
	for _, r := range rates {
		if err := ctx.Err(); err != nil {
			return err
		}
		num.JoinDenominator(unit, r)
	}
	left := make([]*big.Rat, len(g.server))
	for s, row := range g.server {
		left[s] = times(g.model.Servers[row].Size()-counts[row], g.model.Servers[row].Capacity)
		num.JoinDenominator(unit, left[s])
	}
	need, capacity := make([]*big.Int, len(rates)), make([]*big.Int, len(left))
	for k, r := range rates {
		if err := ctx.Err(); err != nil {
			return err
		}
		need[k] = scaled(r, unit)
	}
	for s, c := range left {
		capacity[s] = scaled(c, unit)
	}
	cut := newNetwork(servers, len(g.server))
	if _, err := cut.solve(ctx, need, capacity); err != nil {
		return err
	}
	for _, s := range cut.servers {
		counts[g.server[s]] = g.model.Servers[g.server[s]].Size()
	}
	return nil
}

// subsetWithin returns the set of all combinations with work within the counts or, if there is
// none, the combination of the row.
func (g *graph) subsetWithin(counts []int, row int) *subset {
	margin := new(big.Rat)
	for s, k := range counts {
		margin.Add(margin, times(k, g.model.Servers[s].Capacity))
	}
	var rows []int
	for i, c := range g.model.Classes {
		part := new(big.Rat).Set(g.work[i])
		for _, choice := range c.Servers {
			if part.Sign() == 0 {
				break
			}
			if g.total[choice.Server].Sign() > 0 {
				part.Mul(
					part,
					insideProbability(counts[choice.Server], g.model.Servers[choice.Server].Size(), choice.Choose),
				)
			}
		}
		if part.Sign() > 0 {
			rows = append(rows, i)
			margin.Sub(margin, part)
		}
	}
	if rows == nil {
		rows = []int{row}
	}
	g.addIdle(counts, rows)
	return &subset{margin, rows, counts}
}
