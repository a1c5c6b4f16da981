package oneserver

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// TestGradients compares derivatives with quotients of small differences, in fractions, and the
// other engines with the fractions.
func TestGradients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Servers: 3, Classes: 3, Count: 2, Stable: true})
		m.Service = cluster.OneServer
		q := Question{Gradients: true}
		r, err := Answer(t.Context(), m, q, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		step := new(big.Rat).SetFrac64(1, 1<<50)
		// check compares with the means of the models in which a number is one step lower and one
		// step higher.
		check := func(what string, number **big.Rat, of func(*Partials) num.Value) {
			at := *number
			defer func() { *number = at }()
			means := func(x *big.Rat) *Result {
				*number = x
				r, err := Solve(t.Context(), m, Settings{Engine: num.Exact})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			low, high := means(new(big.Rat).Sub(at, step)), means(new(big.Rat).Add(at, step))
			for i, c := range r.Gradients {
				quotient := new(big.Rat).Sub(high.Classes[i].MeanWaiting.Exact, low.Classes[i].MeanWaiting.Exact)
				want, _ := quotient.Quo(quotient, new(big.Rat).Add(step, step)).Float64()
				got := of(c.MeanWaiting)
				if size := max(1, r.Classes[i].MeanWaiting.Float); !oracle.Near(got.Float/size, want/size, 1e-9) &&
					!(got.Float-want < 1e-9*size && want-got.Float < 1e-9*size) {
					t.Errorf("wait of class %d by %s: %v, want %v", i, what, got.Float, want)
				}
			}
		}
		for j := range m.Classes {
			check(m.Classes[j].Name, &m.Classes[j].ArrivalRate,
				func(p *Partials) num.Value { return p.ArrivalRates[j] })
		}
		for s := range m.Servers {
			check(m.Servers[s].Name, &m.Servers[s].Capacity, func(p *Partials) num.Value { return p.Capacities[s] })
		}
		for _, engine := range []num.Engine{num.Float, num.Enclose} {
			other, err := Answer(t.Context(), m, q, Settings{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Gradients {
				for k, list := range [][2][]num.Value{
					{other.Gradients[i].MeanWaiting.ArrivalRates, r.Gradients[i].MeanWaiting.ArrivalRates},
					{other.Gradients[i].MeanWaiting.Capacities, r.Gradients[i].MeanWaiting.Capacities},
				} {
					for j, v := range list[0] {
						x := list[1][j].Exact
						if v.Low == nil {
							t.Fatalf("%s: derivative %d %d of class %d has no bounds: %v, %v", engine, k, j, i, v, x)
						}
						if low, _ := v.Low.Rat(nil); low.Cmp(x) > 0 {
							t.Errorf("%s: derivative %d %d of class %d = %v above %v", engine, k, j, i, v.Low, x)
						}
						if high, _ := v.High.Rat(nil); high.Cmp(x) < 0 {
							t.Errorf("%s: derivative %d %d of class %d = %v below %v", engine, k, j, i, v.High, x)
						}
					}
				}
			}
		}
	})
}
