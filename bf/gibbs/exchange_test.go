package gibbs

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"productform/cluster"
)

// permutations calls f with all orders of a list.
func permutations(list []int32, k int, f func()) {
	if k == len(list) {
		f()
		return
	}
	for j := k; j < len(list); j++ {
		list[k], list[j] = list[j], list[k]
		permutations(list, k+1, f)
		list[k], list[j] = list[j], list[k]
	}
}

// An exchange preserves the distribution of orders, proportional to Π 1/slack: a chi-square test
// over all orders of four servers, which fails by chance once in a million runs.
func TestExchangeKeepsDistribution(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) *cluster.Model {
		m := &cluster.Model{}
		for s := range 4 {
			capacity := big.NewRat(rapid.Int64Range(1, 3).Draw(t, "capacity"), 1)
			rate := big.NewRat(rapid.Int64Range(1, 9).Draw(t, "rate"), 10)
			m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: capacity})
			on := cluster.On(s, (s+1)%4)
			m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", s), ArrivalRate: rate, Servers: on})
		}
		return m
	})
	for k := range 20 {
		p, err := newProblem(t.Context(), draw.Example(k))
		if err != nil {
			t.Fatal(err)
		}
		a := p.parts[0]
		var orders [][]int32
		var weights []float64
		number := map[[4]int32]int{}
		o, list, sum := newOrder(a), []int32{0, 1, 2, 3}, 0.0
		permutations(list, 0, func() {
			for k, s := range list {
				o.deaths[k].server = s
			}
			o.set()
			w := 1.0
			for _, d := range o.slack {
				w /= d
			}
			number[[4]int32(list)] = len(orders)
			orders, weights, sum = append(orders, append([]int32(nil), list...)), append(weights, w), sum+w
		})
		random := rand.New(rand.NewPCG(uint64(k), 1))
		const draws = 20_000
		counts := make([]float64, len(orders))
		s := newSampler(a, orders[0], random)
		for range draws {
			u, from := random.Float64()*sum, 0
			for u -= weights[0]; u > 0 && from+1 < len(orders); u -= weights[from] {
				from++
			}
			for k, server := range orders[from] {
				s.deaths[k].server = server
			}
			s.set()
			s.exchange()
			counts[number[[4]int32(serversOf(s.deaths))]]++
		}
		chi := 0.0
		for k, w := range weights {
			want := draws * w / sum
			chi += (counts[k] - want) * (counts[k] - want) / want
		}
		if p := (distuv.ChiSquared{K: float64(len(orders) - 1)}).Survival(chi); p < 1e-6/20 {
			t.Errorf("model %d: chi-square %v, p = %v", k, chi, p)
		}
	}
}
