package line_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/network/line"
)

// meanOf reads shop with another distribution at its stack, and returns the resulting mean.
func meanOf(t rapid.TB, distribution any) *big.Rat {
	text, err := json.Marshal(distribution)
	if err != nil {
		t.Fatal(err)
	}
	m, err := line.Read(strings.NewReader(
		strings.Replace(shop, `{"type": "Exp", "params": {"lambda": 3}}`, string(text), 1)))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, v := range m.Classes[0].Visits {
		if m.Stations[v.Station].Name == "Stack" {
			return v.MeanSize
		}
	}
	t.Fatal("no visit")
	return nil
}

type fields = map[string]any

// The mean of a distribution from its own parameters matches the mean of its phases, computed by
// elimination, and the mean of a fit to it.
func TestMeansOfDistributionsByPhases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "phases")
		rates := make([]float64, n)
		for k := range rates {
			rates[k] = float64(rapid.IntRange(1, 64).Draw(t, "rate")) / 8
		}
		alpha, rows := make([]float64, n), make([][]float64, n)
		for k := range rows {
			rows[k] = make([]float64, n)
			rows[k][k] = -rates[k]
		}
		var own fields
		switch kind := rapid.SampledFrom([]string{"Erlang", "HyperExp", "Coxian"}).Draw(t, "type"); kind {
		case "Erlang":
			own = fields{"type": kind, "params": fields{"lambda": rates[0], "k": n}}
			alpha[0] = 1
			for k := range rows {
				rows[k][k] = -rates[0]
				if k+1 < n {
					rows[k][k+1] = rates[0]
				}
			}
		case "HyperExp":
			left := 64
			for k := range alpha {
				share := left
				if k+1 < n {
					share = rapid.IntRange(0, left).Draw(t, "share")
				}
				left -= share
				alpha[k] = float64(share) / 64
			}
			own = fields{"type": kind, "params": fields{"p": alpha, "lambda": rates}}
		case "Coxian":
			alpha[0] = 1
			phi := make([]float64, n)
			for k := range phi {
				phi[k] = 1
				if k+1 < n {
					phi[k] = float64(rapid.IntRange(0, 8).Draw(t, "phi")) / 8
					rows[k][k+1] = rates[k] * (1 - phi[k])
				}
			}
			own = fields{"type": kind, "params": fields{"mu": rates, "phi": phi}}
		}
		want := meanOf(t, own)
		kind := rapid.SampledFrom([]string{"APH", "PH"}).Draw(t, "by")
		phases := fields{"type": kind, "ph": fields{"alpha": alpha, "T": rows}}
		if got := meanOf(t, phases); got.Cmp(want) != 0 {
			t.Errorf("%v has mean %v, %v %v", own, want, phases, got)
		}
		fit := fields{"type": "Lognormal", "fit": fields{"method": "fitMeanAndSCV", "mean": want.RatString(), "scv": 3}}
		if got := meanOf(t, fit); got.Cmp(want) != 0 {
			t.Errorf("%v has mean %v", fit, got)
		}
	})
}

// The mean times of any phases, which may return to earlier ones, satisfy the equations of their
// matrix.
func TestMeansOfPhasesThatReturn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "phases")
		rows, ends := make([][]int, n), make([]int, n)
		for i := range rows {
			rows[i] = make([]int, n)
			ends[i] = rapid.IntRange(1, 9).Draw(t, "end") // a matrix in which each phase can end
			rows[i][i] = -ends[i]
			for j := range rows {
				if i != j {
					rows[i][j] = rapid.IntRange(0, 9).Draw(t, "rate")
					rows[i][i] -= rows[i][j]
				}
			}
		}
		// From each start i, x_i satisfies -T x = 1.
		x := make([]*big.Rat, n)
		for i := range x {
			alpha := make([]int, n)
			alpha[i] = 1
			x[i] = meanOf(t, fields{"type": "PH", "ph": fields{"alpha": alpha, "T": rows}})
		}
		for i := range rows {
			sum := new(big.Rat)
			for j, rate := range rows[i] {
				sum.Sub(sum, new(big.Rat).Mul(big.NewRat(int64(rate), 1), x[j]))
			}
			if sum.Cmp(big.NewRat(1, 1)) != 0 {
				t.Errorf("row %d of %v: %v, want 1", i, rows, sum)
			}
		}
	})
}

// Means of distributions without phases match their formulas.
func TestMeansOfOtherDistributions(t *testing.T) {
	for text, want := range map[string]string{
		`{"type": "Uniform", "params": {"a": 1, "b": 4}}`:                                  "5/2",
		`{"type": "Uniform", "params": {"a": 0, "b": 0.5}}`:                                "1/4",
		`{"type": "Pareto", "params": {"alpha": 3, "scale": 2}}`:                           "3",
		`{"type": "Gamma", "fit": {"method": "fitMean", "mean": 0.3}}`:                     "3/10",
		`{"type": "Erlang", "fit": {"method": "fitMeanAndOrder", "mean": 2, "order": 4}}`:  "2",
		`{"type": "HyperExp", "fit": {"method": "fitMeanAndSCV", "mean": 0.25, "scv": 9}}`: "1/4",
	} {
		if got := meanOf(t, json.RawMessage(text)); got.RatString() != want {
			t.Errorf("%s: mean %v, want %s", text, got, want)
		}
	}
}
