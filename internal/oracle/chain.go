package oracle

import "math/big"

// A Chain is a Markov chain in continuous time with the stationary probabilities of its states, in
// fractions.
type Chain[S comparable] struct {
	Prob map[S]*big.Rat
	rate []map[int]*big.Rat // rate of the transitions from each state to each other one
	row  map[S]int
	all  []S
}

// NewChain returns the chain of the states reachable from start with their stationary
// probabilities; moves reports the rate of each transition from a state. All states must be
// reachable from each other. States are eliminated one after another without subtraction
// (Grassmann, Taksar and Heyman, "Regenerative analysis and steady state distributions for Markov
// chains", Operations Research 33, 1985), O(n³) operations on growing fractions: feasible for tens
// of states.
func NewChain[S comparable](start S, moves func(s S, move func(to S, rate *big.Rat))) *Chain[S] {
	c := &Chain[S]{Prob: map[S]*big.Rat{}, row: map[S]int{}}
	c.find(start)
	for i := 0; i < len(c.all); i++ {
		moves(c.all[i], func(to S, rate *big.Rat) {
			if to != c.all[i] && rate.Sign() > 0 {
				j := c.find(to)
				addTo(c.rate[i], j, rate)
			}
		})
	}
	n := len(c.all)
	out := make([]*big.Rat, n)
	for k := n - 1; k > 0; k-- {
		out[k] = new(big.Rat)
		for j, r := range c.rate[k] {
			if j < k {
				out[k].Add(out[k], r)
			}
		}
		for i := range k {
			r := c.rate[i][k]
			if r == nil {
				continue
			}
			for j, to := range c.rate[k] {
				if j < k && j != i {
					x := new(big.Rat).Mul(r, to)
					addTo(c.rate[i], j, x.Quo(x, out[k]))
				}
			}
		}
	}
	weight, total := []*big.Rat{big.NewRat(1, 1)}, big.NewRat(1, 1)
	for k := 1; k < n; k++ {
		w := new(big.Rat)
		for i := range k {
			if r := c.rate[i][k]; r != nil {
				w.Add(w, new(big.Rat).Mul(weight[i], r))
			}
		}
		weight = append(weight, w.Quo(w, out[k]))
		total.Add(total, w)
	}
	for i, s := range c.all {
		c.Prob[s] = new(big.Rat).Quo(weight[i], total)
	}
	return c
}

func (c *Chain[S]) find(s S) int {
	i, ok := c.row[s]
	if !ok {
		i = len(c.all)
		c.row[s] = i
		c.all, c.rate = append(c.all, s), append(c.rate, map[int]*big.Rat{})
	}
	return i
}

// Mean returns the mean of a function of the state.
func (c *Chain[S]) Mean(f func(S) *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for s, p := range c.Prob {
		sum.Add(sum, new(big.Rat).Mul(p, f(s)))
	}
	return sum
}

func addTo(row map[int]*big.Rat, j int, x *big.Rat) {
	if row[j] == nil {
		row[j] = new(big.Rat)
	}
	row[j].Add(row[j], x)
}
