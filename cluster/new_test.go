package cluster_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/num"
)

// A model built from floats equals the model of a file with their decimals.
func TestNewAsInFile(t *testing.T) {
	got, err := cluster.New([]float64{2, 0.1}, []float64{1e-7, 0.4}, [][]int{{0, 1}, {1}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := cluster.Read(strings.NewReader(`
servers: [{name: server 1, capacity: 2}, {name: server 2, capacity: 0.1}]
classes:
- {name: class 1, arrival_rate: 1e-7, servers: [server 1, server 2]}
- {name: class 2, arrival_rate: 0.4, servers: [server 2]}
`))
	if err != nil {
		t.Fatal(err)
	}
	var a, b strings.Builder
	if err := errors.Join(got.WriteJSON(&a), want.WriteJSON(&b)); err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() {
		t.Errorf("New: %s\nthe file: %s", a.String(), b.String())
	}
}

func TestNewBad(t *testing.T) {
	for _, c := range []struct {
		capacities, rates []float64
		servers           [][]int
		path              string
	}{
		{[]float64{1, math.NaN()}, []float64{1}, [][]int{{0}}, "servers[1].capacity"},
		{[]float64{1, 2}, []float64{1, math.Inf(1)}, [][]int{{0}, {1}}, "classes[1].arrival_rate"},
		{[]float64{1}, []float64{-0.5}, [][]int{{0}}, "classes[0].arrival_rate"},
		{[]float64{1}, []float64{1, 2}, [][]int{{0}}, "classes"},
		{[]float64{1}, []float64{1}, [][]int{{1}}, "classes[0].servers[0]"},
		{nil, nil, nil, "servers"},
	} {
		m, err := cluster.New(c.capacities, c.rates, c.servers)
		var bad *num.InputError
		if m != nil || !errors.As(err, &bad) || bad.Path != c.path {
			t.Errorf("New(%v, %v, %v): %v, want an error at %s", c.capacities, c.rates, c.servers, err, c.path)
		}
	}
}

// The floats nearest to the numbers of a model are those from which it was built.
func TestNewRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.SliceOfN(rapid.Float64Range(1e-300, 1e300), 1, 5)
		capacities, rates := positive.Draw(t, "capacities"), positive.Draw(t, "rates")
		servers := rapid.SliceOfN(rapid.Just([]int{0}), len(rates), len(rates)).Draw(t, "servers")
		m, err := cluster.New(capacities, rates, servers)
		if err != nil {
			t.Fatal(err)
		}
		for s, c := range m.Servers {
			if got, _ := c.Capacity.Float64(); got != capacities[s] {
				t.Errorf("capacity %v, want %v", got, capacities[s])
			}
		}
		for i, c := range m.Classes {
			if got, _ := c.ArrivalRate.Float64(); got != rates[i] {
				t.Errorf("rate %v, want %v", got, rates[i])
			}
		}
	})
}
