package stability_test

import (
	"context"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/oneserver"
	"productform/stability"
)

// drawLimited draws a small model with limits in heavy traffic.
func drawLimited(s cluster.Service) *rapid.Generator[*cluster.Model] {
	return rapid.Custom(func(t *rapid.T) *cluster.Model {
		m := oracle.DrawModel(t, oracle.Options{
			Servers: 3, Classes: 4, Count: 3, ZeroRates: true,
			ZeroCapacities: s == cluster.AllServers, OwnSizes: s == cluster.AllServers,
		})
		m.Service = s
		return m
	}).Filter(func(m *cluster.Model) bool {
		r, err := stability.Cluster(context.Background(), m)
		return err == nil && r.HeavyTraffic != nil
	})
}

// meansAt returns the exact mean jobs of each class at a load of 1-h, times h.
func meansAt(t *rapid.T, m *cluster.Model, h *big.Rat) []*big.Rat {
	m = oracle.ScaleTo(m, new(big.Rat).Sub(big.NewRat(1, 1), h))
	means := make([]*big.Rat, len(m.Classes))
	if m.Service == cluster.OneServer {
		r, err := oneserver.Solve(t.Context(), m, oneserver.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Classes {
			means[i] = new(big.Rat)
			if c.MeanDelay != nil {
				means[i].Mul(c.MeanDelay.Exact, m.Classes[i].ArrivalRate)
			}
		}
	} else {
		r, err := bf.Solve(t.Context(), m, bf.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Classes {
			means[i] = c.MeanJobs.Exact
		}
	}
	for i, x := range means {
		means[i] = new(big.Rat).Mul(x, h)
	}
	return means
}

// The limits are those of exact means, in fractions, at the loads 1 - 2^-k, extrapolated to 1: the
// means times 1 - load are analytic at 1, so each step of Richardson's method multiplies the error
// by about 2^-k.
func TestHeavyTrafficByExtrapolation(t *testing.T) {
	const first, steps = 24, 4
	for _, s := range []cluster.Service{cluster.AllServers, cluster.OneServer} {
		models := drawLimited(s)
		rapid.Check(t, func(t *rapid.T) {
			m := models.Draw(t, "model")
			r, err := stability.Cluster(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			var rows [][]*big.Rat
			for k := range uint(steps) {
				rows = append(rows, meansAt(t, m, big.NewRat(1, 1<<(first+k))))
			}
			for order := 1; order < steps; order++ {
				factor := big.NewRat(1<<order, 1)
				for k := range steps - order {
					for i := range m.Classes {
						x := new(big.Rat).Mul(factor, rows[k+1][i])
						x.Sub(x, rows[k][i])
						rows[k][i] = x.Quo(x, big.NewRat(1<<order-1, 1))
					}
				}
			}
			// The error is about (c 2^-first)^steps, where c is at most a thousand for these models. No
			// other fraction with a denominator below 10^6 is as close.
			tol := big.NewRat(1, 2e12)
			for i, want := range r.HeavyTraffic {
				off := new(big.Rat).Sub(rows[0][i], want)
				if off.Abs(off).Cmp(tol) > 0 || want.Denom().Cmp(big.NewInt(1e6)) >= 0 {
					t.Fatalf("%s: limit of class %d: %v, extrapolated %v", s, i, want, rows[0][i].FloatString(20))
				}
			}
		})
	}
}
