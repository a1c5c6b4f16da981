package oracle

import (
	"math/big"
	"slices"

	"productform/cluster"
)

// A DeathOrder is an order in which the servers of a model die, server s at rate C_s: given that order, and weighted by
// exp(Σ_i λ_i min_{s∈S_i} T_s), its times between deaths are independent and exponential.
type DeathOrder struct {
	Servers []int      // in the order in which they die
	Weight  *big.Rat   // Π_k C_{s_k}/d_k; the sum over all orders is Z
	Rates   []*big.Rat // d_k = M(K) - λ(K) with K the servers alive before death k
}

// DeathOrders returns all orders of a stable model of single servers of positive capacity: S! of them for S servers. No
// recursion over sets is in it, and no sum over states.
func DeathOrders(m *cluster.Model) []DeathOrder {
	size, rates := meanSize(m), Rates(m)
	alive := make([]bool, len(m.Servers))
	for s := range alive {
		alive[s] = true
	}
	var all []DeathOrder
	var visit func(o DeathOrder)
	visit = func(o DeathOrder) {
		if len(o.Servers) == len(alive) {
			all = append(all, o)
			return
		}
		d := new(big.Rat)
		for s, server := range m.Servers {
			if alive[s] {
				d.Add(d, new(big.Rat).Quo(server.Capacity, size))
			}
		}
		for i, c := range m.Classes {
			if !slices.ContainsFunc(c.Servers, func(c cluster.Choice) bool { return !alive[c.Server] }) {
				d.Sub(d, rates[i])
			}
		}
		for s, server := range m.Servers {
			if alive[s] {
				alive[s] = false
				share := new(big.Rat).Quo(server.Capacity, size)
				share.Quo(share, d)
				visit(DeathOrder{append(slices.Clone(o.Servers), s), share.Mul(share, o.Weight), append(slices.Clone(o.Rates), d)})
				alive[s] = true
			}
		}
	}
	visit(DeathOrder{Weight: big.NewRat(1, 1)})
	return all
}

// Until returns the rates of the times that min_{s∈S_i} T_s is the sum of, for a class: those up to the first death among its servers.
func (o DeathOrder) Until(c cluster.Class) []*big.Rat {
	first := slices.IndexFunc(o.Servers, func(s int) bool {
		return slices.ContainsFunc(c.Servers, func(c cluster.Choice) bool { return c.Server == s })
	})
	return o.Rates[:first+1]
}

// PoissonOfSum returns P(X = n) for n = 0..most, where X is Poisson of mean λ times a sum of independent exponential times of these
// rates d_k: a sum of geometric variables, of P(X_k >= 1) = λ/(λ + d_k).
func PoissonOfSum(lambda *big.Rat, rates []*big.Rat, most int) []*big.Rat {
	law := make([]*big.Rat, most+1)
	for n := range law {
		law[n] = new(big.Rat)
	}
	law[0].SetInt64(1)
	for _, d := range rates {
		all := new(big.Rat).Add(lambda, d)
		none, more := new(big.Rat).Quo(d, all), new(big.Rat).Quo(lambda, all)
		for n := range law { // p'(n) = (1-r) p(n) + r p'(n-1)
			law[n].Mul(law[n], none)
			if n > 0 {
				law[n].Add(law[n], new(big.Rat).Mul(more, law[n-1]))
			}
		}
	}
	return law
}
