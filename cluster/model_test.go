package cluster_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"productform/cluster"
)

// size bounds the models drawn.
type size struct {
	servers, classes, count int
}

// drawModel draws a model that passes Check: rates and capacities are often 0, sets of
// servers are often equal, groups are often chosen whole.
func drawModel(t *rapid.T, most size) *cluster.Model {
	m := &cluster.Model{}
	number := func(label string) *big.Rat {
		return big.NewRat(rapid.Int64Range(0, 4).Draw(t, label), rapid.Int64Range(1, 5).Draw(t, "over"))
	}
	for s := range rapid.IntRange(1, most.servers).Draw(t, "servers") {
		m.Servers = append(m.Servers, cluster.Server{
			Name:     fmt.Sprint("s", s),
			Count:    max(1, rapid.IntRange(-1, most.count).Draw(t, "count")),
			Capacity: number("capacity"),
		})
	}
	one := rapid.IntRange(0, len(m.Servers)-1).Draw(t, "working")
	if m.Servers[one].Capacity.Sign() == 0 {
		m.Servers[one].Capacity = big.NewRat(1, 3)
	}
	for i := range rapid.IntRange(1, most.classes).Draw(t, "classes") {
		c := cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: number("rate")}
		served := false
		for _, s := range rapid.Permutation(indices(m.Servers)).Draw(t, "order")[:rapid.IntRange(1, len(m.Servers)).Draw(t, "degree")] {
			choose := m.Servers[s].Count
			if !rapid.Bool().Draw(t, "whole") {
				choose = rapid.IntRange(1, choose).Draw(t, "choose")
			}
			c.Servers = append(c.Servers, cluster.Choice{Server: s, Choose: choose})
			served = served || m.Servers[s].Capacity.Sign() > 0
		}
		if !served {
			c.Servers = append(c.Servers, cluster.Choice{Server: one, Choose: 1})
		}
		m.Classes = append(m.Classes, c)
	}
	if rapid.Bool().Draw(t, "sized") {
		m.MeanSize = big.NewRat(rapid.Int64Range(1, 5).Draw(t, "size"), 3)
	}
	return m
}

func indices[T any](list []T) []int {
	out := make([]int, len(list))
	for i := range out {
		out[i] = i
	}
	return out
}

// shape writes a model so that two are the same if and only if the texts are.
func shape(m *cluster.Model) string {
	var b strings.Builder
	for _, s := range m.Servers {
		fmt.Fprintf(&b, "%q x%d %s\n", s.Name, s.Size(), s.Capacity.RatString())
	}
	for _, c := range m.Classes {
		fmt.Fprintf(&b, "%q %s %v\n", c.Name, c.ArrivalRate.RatString(), c.Servers)
	}
	if m.MeanSize != nil {
		fmt.Fprintf(&b, "%s", m.MeanSize.RatString())
	}
	return b.String()
}

// rank returns μ(A)/σ of a model of single servers, from the definition.
func rank(m *cluster.Model, a []int) *big.Rat {
	mu := new(big.Rat)
	for s, server := range m.Servers {
		if slices.ContainsFunc(a, func(i int) bool {
			return slices.ContainsFunc(m.Classes[i].Servers, func(c cluster.Choice) bool { return c.Server == s })
		}) {
			mu.Add(mu, server.Capacity)
		}
	}
	if m.MeanSize != nil {
		mu.Quo(mu, m.MeanSize)
	}
	return mu
}

// subsets calls f with every set of n indices.
func subsets(n int, f func(a []int)) {
	for mask := range 1 << n {
		var a []int
		for i := range n {
			if mask>>i&1 == 1 {
				a = append(a, i)
			}
		}
		f(a)
	}
}
