package loss_test

import (
	"fmt"
	"math/big"
	"testing"

	"productform/network/loss"
	"productform/num"
)

// In systems too large to test in fractions, each float64 number differs from the enclosure by at
// most its error bound: on trees, on tables and with tokens.
func TestLargeWithinBounds(t *testing.T) {
	nested := linkModel(5, 150, 0)
	for k := range nested.Classes {
		if k%2 == 1 {
			nested.Classes[k].Sources = 40 * k
		}
	}
	nested.Limits = []loss.Limit{
		{Classes: []int{0, 1, 2}, Most: 100}, {Classes: []int{0, 1}, Most: 75}, {Classes: []int{3}, Most: 44},
	}
	graph, waiting := drawn(rat(1, 1)), linkModel(3, 12, 2)
	graph.Room, graph.Limits[0].Most = 30, 20
	waiting.Count = 3
	waiting.Classes[1].Sources = 5
	tokens := &loss.Model{}
	for s := range 9 {
		tokens.Servers = append(tokens.Servers, loss.Server{
			Name:     fmt.Sprint("s", s),
			Capacity: rat(int64(s+3), 4),
			Tokens:   2,
		})
		tokens.Classes = append(tokens.Classes, loss.Class{
			Name:        fmt.Sprint("c", s),
			ArrivalRate: rat(5, 4),
			Servers:     []int{s / 3, 3 + s%3},
		})
	}
	for k := range tokens.Classes {
		tokens.Classes[k].Servers = append(tokens.Classes[k].Servers, 6, 7, 8)
		if k%3 == 0 {
			tokens.Classes[k].Servers = tokens.Classes[k].Servers[:2]
		}
	}
	tokens.Servers, tokens.Classes = tokens.Servers[:9], tokens.Classes[:4]
	for name, m := range map[string]*loss.Model{
		"one link": linkModel(4, 2000, 0),
		"nested":   nested,
		"pairs":    linkModel(3, 30, 2),
		"graph":    graph,
		"waiting":  waiting,
		"tokens":   tokens,
	} {
		float := solve(t, m, num.Float)
		want, err := loss.Solve(ctx, m, loss.Settings{Engine: num.Enclose, RelTol: 1e-20})
		if err != nil {
			t.Fatal(err)
		}
		if !(float.RelativeErrorBound < 1e-11) {
			t.Errorf("%s: bound %v", name, float.RelativeErrorBound)
		}
		bound := new(big.Rat).SetFloat64(float.RelativeErrorBound + 1e-20)
		all := values(want)
		for i, v := range values(float) {
			if v == nil || v.Float < 0x1p-1022 {
				continue
			}
			x, _ := all[i].Low.Rat(nil)
			off := new(big.Rat).SetFloat64(v.Float)
			if off.Sub(off, x).Abs(off); off.Cmp(mul(bound, x)) > 0 {
				t.Errorf("%s: number %d is %v, want %v within %v",
					name, i, v.Float, all[i].Float, float.RelativeErrorBound)
			}
		}
	}
}
