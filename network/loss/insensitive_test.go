package loss_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network/loss"
	"productform/num"
)

// phases is a state of jobs with two phases: x[2k] jobs of class k are in the first, x[2k+1] in the
// second.
type phases [6]int8

// inPhases returns the chain of a model whose jobs of class k have a first phase and, with
// probability second[k], a second one of the same mean, which keeps the mean size of the model.
// Each job is served at rate 1, or jobs share the equal servers, or, in a compatibility graph, the
// jobs of each class share its rate, which phi gives as a function of the numbers of jobs.
func inPhases(m *loss.Model, second []*big.Rat, phi func(x []int) []*big.Rat) *oracle.Chain[phases] {
	return oracle.NewChain(phases{}, func(x phases, move func(phases, *big.Rat)) {
		state, total, jobs := "", 0, make([]int, len(m.Classes))
		for k := range m.Classes {
			jobs[k] = int(x[2*k] + x[2*k+1])
			for range jobs[k] {
				state += string(rune('a' + k))
			}
			total += jobs[k]
		}
		for k := range m.Classes {
			if fits(m, state, k) {
				to := x
				to[2*k]++
				move(to, arrivals(m, state, k))
			}
			if jobs[k] == 0 {
				continue
			}
			speed := rat(1, 1) // speed of each job of the class
			switch {
			case m.Count > 0:
				speed = rat(int64(min(m.Count, total)), int64(total))
			case phi != nil:
				speed = quo(phi(jobs)[k], rat(int64(jobs[k]), 1))
			}
			speed = quo(mul(speed, addUp(rat(1, 1), second[k])), num.OrOne(m.Classes[k].MeanSize))
			first := mul(speed, rat(int64(x[2*k]), 1))
			to := x
			to[2*k]--
			move(to, mul(first, new(big.Rat).Sub(rat(1, 1), second[k])))
			to[2*k+1]++
			move(to, mul(first, second[k]))
			to = x
			to[2*k+1]--
			move(to, mul(speed, rat(int64(x[2*k+1]), 1)))
		}
	})
}

// balanced returns the rates of balanced fairness, Φ(x-e_k)/Φ(x), from (4) and (7) of [BC17].
func balanced(m *loss.Model) func(x []int) []*big.Rat {
	known := map[string]*big.Rat{}
	var balance func(x []int) *big.Rat
	balance = func(x []int) *big.Rat {
		key := string([]byte{byte(x[0]), byte(x[1])})
		if known[key] != nil {
			return known[key]
		}
		sum, used := new(big.Rat), map[int]bool{}
		for k := range x {
			if x[k] == 0 {
				continue
			}
			x[k]--
			sum.Add(sum, balance(x))
			x[k]++
			for _, s := range m.Classes[k].Servers {
				used[s] = true
			}
		}
		rate := new(big.Rat)
		for s := range used {
			rate.Add(rate, m.Servers[s].Capacity)
		}
		if len(used) == 0 {
			sum, rate = rat(1, 1), rat(1, 1)
		}
		known[key] = quo(sum, rate)
		return known[key]
	}
	return func(x []int) []*big.Rat {
		rates := make([]*big.Rat, len(x))
		for k := range x {
			rates[k] = new(big.Rat)
			if x[k] > 0 {
				all := balance(x)
				x[k]--
				rates[k].Quo(balance(x), all)
				x[k]++
			}
		}
		return rates
	}
}

// If each job is served on arrival, if jobs share equal servers, and under balanced fairness, only
// the mean sizes matter, which may differ by class.
func TestInsensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		third := func(label string) *big.Rat { return rat(rapid.Int64Range(0, 3).Draw(t, label), 3) }
		m := &loss.Model{Room: rapid.IntRange(1, 3).Draw(t, "room")}
		kind := rapid.IntRange(0, 2).Draw(t, "kind")
		var second []*big.Rat
		for k := range 2 {
			c := loss.Class{
				Name:        string(rune('a' + k)),
				ArrivalRate: rat(rapid.Int64Range(1, 9).Draw(t, "rate"), 4),
				MeanSize:    rat(rapid.Int64Range(1, 5).Draw(t, "size"), 2),
			}
			if rapid.Bool().Draw(t, "finite") {
				c.Sources = rapid.IntRange(1, 3).Draw(t, "sources")
			}
			if kind == 2 {
				c.Servers = []int{k}
				if rapid.Bool().Draw(t, "both") {
					c.Servers = []int{0, 1}
				}
			}
			m.Classes = append(m.Classes, c)
			second = append(second, third("second"))
		}
		if m.Room > 1 {
			m.Limits = []loss.Limit{{Classes: []int{1}, Most: 1}}
		}
		var phi func(x []int) []*big.Rat
		switch kind {
		case 1:
			m.Count = rapid.IntRange(1, 2).Draw(t, "servers")
		case 2:
			m.Servers = []loss.Server{
				{Name: "s", Capacity: rat(1, 1)},
				{Name: "t", Capacity: rat(rapid.Int64Range(1, 4).Draw(t, "capacity"), 3)},
			}
			phi = balanced(m)
		}
		chain := inPhases(m, second, phi)
		r := solve(t, m, num.Exact)
		for k := range m.Classes {
			equal(
				t, "jobs", *r.Classes[k].MeanJobs,
				chain.Mean(func(x phases) *big.Rat { return rat(int64(x[2*k]+x[2*k+1]), 1) }),
			)
		}
		equal(t, "empty", *r.EmptyProbability, chain.Prob[phases{}])
	})
}
