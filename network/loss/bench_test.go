package loss_test

import (
	"fmt"
	"testing"

	"productform/network/loss"
	"productform/num"
)

func BenchmarkErlangB(b *testing.B) {
	for _, engine := range []num.Engine{num.Float, num.Enclose} {
		b.Run(fmt.Sprintf("servers=1000000/engine=%s", engine), func(b *testing.B) {
			for b.Loop() {
				if _, err := loss.ErlangB(ctx, 1_000_000, rat(999_000, 1), loss.FormulaSettings{
					Engine: engine,
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSolve(b *testing.B) {
	sources := linkModel(4, 2000, 0)
	for k := range sources.Classes {
		sources.Classes[k].Sources = 500
	}
	sources.Limits = []loss.Limit{{Classes: []int{0, 1}, Most: 1000}}
	graph, tokens := drawn(rat(1, 1)), &loss.Model{}
	graph.Room, graph.Limits[0].Most = 200, 100
	for k := range 5 {
		tokens.Servers = append(tokens.Servers, loss.Server{Name: fmt.Sprint("s", k), Capacity: rat(1, 1), Tokens: 10})
		tokens.Classes = append(tokens.Classes, loss.Class{
			Name:        fmt.Sprint("c", k),
			ArrivalRate: rat(4, 5),
			Servers:     []int{k, (k + 1) % 5},
		})
	}
	for _, c := range []struct {
		name string
		m    *loss.Model
	}{
		{"link/units=1000000", linkModel(4, 1_000_000, 0)}, {"nested/units=2000", sources},
		{"pairs/states=262701", linkModel(3, 100, 2)}, {"graph/units=200", graph}, {"tokens/states=161051", tokens},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := loss.Solve(ctx, c.m, loss.Settings{Engine: num.Float}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
