package oracle

import (
	"fmt"
	"math/big"

	"pgregory.net/rapid"

	"productform/cluster"
)

// Options selects the models that [DrawModel] draws. The zero value means up to 5 classes on up to
// 5 single servers, with positive rates and capacities.
type Options struct {
	Servers, Classes int  // maximum number of rows; 0 means 5
	Count            int  // maximum number of servers per row; classes draw some of them, often all; 0 means 1
	ZeroRates        bool // some classes have no arrivals
	ZeroCapacities   bool // some servers have capacity 0; every class has a positive one
	Long             bool // some numbers are fractions of about 60 bits
	OwnSizes         bool // some classes have their own mean size
	Stable           bool // rates are scaled to a load of 1/20, 2/20, ..., or 19/20 of the critical one
}

// DrawModel draws a valid model. Numbers take few values, so ties occur.
func DrawModel(t *rapid.T, o Options) *cluster.Model {
	number := func(label string, zero bool) *big.Rat {
		low := int64(1)
		if zero {
			low = 0
		}
		if o.Long && rapid.IntRange(0, 9).Draw(t, label+" kind") == 0 {
			return big.NewRat(
				rapid.Int64Range(1, 1<<62).Draw(t, label), rapid.Int64Range(1<<60, 1<<62).Draw(t, label+" over"),
			)
		}
		return big.NewRat(rapid.Int64Range(low, 8).Draw(t, label), rapid.Int64Range(1, 5).Draw(t, label+" over"))
	}
	most := func(n int) int {
		if n == 0 {
			return 5
		}
		return n
	}
	m := &cluster.Model{}
	for s := range rapid.IntRange(1, most(o.Servers)).Draw(t, "servers") {
		row := cluster.Server{Name: fmt.Sprint("s", s), Count: 1, Capacity: number("capacity", o.ZeroCapacities)}
		if o.Count > 1 {
			row.Count = rapid.IntRange(0, o.Count).Draw(t, "count")
		}
		m.Servers = append(m.Servers, row)
	}
	works := rapid.IntRange(0, len(m.Servers)-1).Draw(t, "working server")
	if m.Servers[works].Capacity.Sign() == 0 {
		m.Servers[works].Capacity = big.NewRat(1, 3)
	}
	rows := make([]int, len(m.Servers))
	for s := range rows {
		rows[s] = s
	}
	for i := range rapid.IntRange(1, most(o.Classes)).Draw(t, "classes") {
		c := cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: number("rate", o.ZeroRates)}
		served := false
		for _, s := range rapid.Permutation(rows).Draw(t, "order")[:rapid.IntRange(1, len(rows)).Draw(t, "degree")] {
			choose := m.Servers[s].Size()
			if choose > 1 && !rapid.Bool().Draw(t, "whole") {
				choose = rapid.IntRange(1, choose).Draw(t, "choose")
			}
			c.Servers = append(c.Servers, cluster.Choice{Server: s, Choose: choose})
			served = served || m.Servers[s].Capacity.Sign() > 0
		}
		if !served {
			c.Servers = append(c.Servers, cluster.Choice{Server: works, Choose: 1})
		}
		if o.OwnSizes && rapid.Bool().Draw(t, "own size") {
			c.MeanSize = number("own mean size", false)
		}
		m.Classes = append(m.Classes, c)
	}
	if rapid.Bool().Draw(t, "sized") {
		m.MeanSize = number("mean size", false)
	}
	if o.Stable {
		return ScaleTo(m, big.NewRat(rapid.Int64Range(1, 19).Draw(t, "load"), 20))
	}
	return m
}

// ScaleTo returns m with its arrival rates scaled to a critical scale of 1/load: the set of classes
// with the highest load gets this load. A model without work does not change.
func ScaleTo(m *cluster.Model, load *big.Rat) *cluster.Model {
	_, critical := Extremes(m)
	if critical == nil {
		return m
	}
	return m.Scale(critical.Mul(critical, load))
}
