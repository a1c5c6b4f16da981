package loss

import (
	"context"
	"math/big"
	"slices"
	"strconv"

	"productform/internal/arithmetic"
	"productform/internal/ranktable"
	"productform/num"
)

// A pool is a set of servers that the same classes with arrivals use. Arrivals treat its free
// tokens equally, so the tokens can belong to the servers in any order: with e_s(z) = Σ_{j<=l_s}
// (μ_s z)^j/j!, n free tokens of the pool have the weight
//
//	Σ_{y: Σ y_s = n} n!/Π y_s! Π μ_s^y_s = n! p_n,  Σ p_n z^n = Π_s e_s(z),
//
// so the n-th free token has the factor n p_n/p_{n-1}; y_s of them belong to server s with
// probability (μ_s^y_s/y_s!) p'_{n-y_s}/p_n, where p' is p of the other servers.
type pool struct {
	servers []int // rows of the model's servers
	tokens  int
}

// pools returns the pools and the set of pools that each class uses; ok is false for a class that
// uses a server which no class with arrivals uses.
func (m *Model) pools() (pools []pool, uses []uint, ok []bool) {
	first := map[string]int{}
	uses, ok = make([]uint, len(m.Classes)), make([]bool, len(m.Classes))
	for k := range ok {
		ok[k] = true
	}
	// classes of each server, and whether it gets jobs
	keys, busy := make([][]byte, len(m.Servers)), make([]bool, len(m.Servers))
	for s := range keys {
		keys[s] = make([]byte, len(m.Classes))
	}
	for k, c := range m.Classes {
		for _, s := range c.Servers {
			keys[s][k] = 1
			busy[s] = busy[s] || c.ArrivalRate.Sign() > 0
		}
	}
	for s, server := range m.Servers {
		key, used := keys[s], busy[s]
		p, known := first[string(key)]
		if used && !known {
			p = len(pools)
			pools = append(pools, pool{})
			first[string(key)] = p
		}
		if used {
			pools[p].servers = append(pools[p].servers, s)
			pools[p].tokens += server.Tokens
		}
		for k := range key {
			switch {
			case key[k] == 1 && used:
				uses[k] |= 1 << min(p, 63) // newTokens rejects more than maxSets pools
			case key[k] == 1:
				ok[k] = false
			}
		}
	}
	return pools, uses, ok
}

// newTokens returns the table of the free tokens: its members are the pools, its nodes the classes.
func (m *Model) newTokens(ctx context.Context, pools []pool, uses []uint) (*table, error) {
	if len(pools) > maxSets {
		return nil, setLimitError("servers", len(pools))
	}
	b := newBuilder()
	for p, pool := range pools {
		b.members = append(b.members, newMember(ratOf(1), 0))
		b.bind([]int{p}, []int{1}, pool.tokens)
	}
	classes, rates := make([][]int, len(pools)), make([]*big.Rat, len(m.Classes))
	for k, c := range m.Classes {
		rates[k] = c.ArrivalRate
		for p := range pools {
			if uses[k]>>p&1 == 1 {
				classes[p] = append(classes[p], k)
			}
		}
	}
	b.nodes = uses
	var err error
	b.drain, err = ranktable.OfServers(ctx, classes, rates)
	return b.finish(), err
}

// exponential returns the coefficients of e_s.
func (x *measures) exponential(s int) []arithmetic.Number {
	server := x.m.Servers[s]
	mu := x.one.Rational(new(big.Rat).Quo(server.Capacity, num.OrOne(x.m.Classes[0].MeanSize)))
	a := []arithmetic.Number{x.one}
	for j := 1; j <= server.Tokens; j++ {
		a = append(a, a[j-1].Mul(mu).Quo(x.one.Integer(j)))
	}
	return a
}

// product returns the coefficients of Π e_s over some servers.
func (x *measures) product(ctx context.Context, servers []int) (p []arithmetic.Number, err error) {
	p = []arithmetic.Number{x.one}
	most := 0
	for _, s := range servers {
		most += x.m.Servers[s].Tokens
		if p, err = convolve(ctx, p, x.exponential(s), most); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// byTokens solves a system with tokens.
func (x *measures) byTokens(ctx context.Context, maxBytes float64) error {
	x.method = Table
	pools, uses, ok := x.m.pools()
	t, err := x.m.newTokens(ctx, pools, uses)
	if err != nil {
		return err
	}
	poly := make([][]arithmetic.Number, len(pools))
	for p, pool := range pools {
		if poly[p], err = x.product(ctx, pool.servers); err != nil {
			return err
		}
		growth := []arithmetic.Number{x.one}
		for n := 1; n <= pool.tokens; n++ {
			growth = append(growth, x.one.Integer(n).Mul(poly[p][n]).Quo(poly[p][n-1]))
		}
		t.members[p].growth = growth
	}
	s, err := x.sweep(ctx, t, true, maxBytes)
	if err != nil {
		return err
	}
	zero := x.one.Zero()
	for range x.m.Servers {
		x.busy, x.given, x.jobsGiven = append(x.busy, zero), append(x.given, zero), append(x.jobsGiven, zero)
	}
	for p, pool := range pools {
		first := map[string]int{} // index of the first of equal servers
		for i, row := range pool.servers {
			key := x.m.Servers[row].Capacity.RatString() + "," + strconv.Itoa(x.m.Servers[row].Tokens)
			if like, ok := first[key]; ok {
				x.busy[row], x.given[row], x.jobsGiven[row] = x.busy[like], x.given[like], x.jobsGiven[like]
				continue
			}
			first[key] = row
			others, err := x.product(ctx, slices.Delete(slices.Clone(pool.servers), i, i+1))
			if err != nil {
				return err
			}
			x.setServer(row, s.marginal[p], poly[p], others, s.total)
		}
	}
	for k := range x.m.Classes {
		x.pass[k], x.lost[k] = s.serves[k].Quo(s.total), s.rests[k].Quo(s.total)
		if !ok[k] { // no other class takes these tokens
			x.pass[k], x.lost[k] = x.one, zero
		}
	}
	return nil
}

// setServer sets the measures of a server, from the weights of n free tokens of its pool, n = 0, 1,
// ...
func (x *measures) setServer(row int, marginal, poly, others []arithmetic.Number, total arithmetic.Number) {
	own := x.exponential(row)
	var busy, jobs accumulator[arithmetic.Number]
	for n, weight := range marginal {
		// j of them are its own, of l_s = len(own)-1 in total
		for j := max(0, n-len(others)+1); j < min(len(own)-1, n+1); j++ {
			q := weight.Mul(own[j]).Mul(others[n-j]).Quo(poly[n])
			busy.add(q)
			jobs.add(q.Mul(x.one.Integer(len(own) - 1 - j)))
		}
	}
	zero := x.one.Zero()
	server := x.m.Servers[row]
	x.busy[row] = busy.value(zero).Quo(total)
	x.given[row] = x.busy[row].Mul(
		x.one.Rational(new(big.Rat).Quo(server.Capacity, num.OrOne(x.m.Classes[0].MeanSize))),
	)
	x.jobsGiven[row] = jobs.value(zero).Quo(total)
}
