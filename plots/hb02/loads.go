package hb02

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"productform/plots"
	"productform/tags"
)

// loadAxis returns the axis for the loads of hosts.
func loadAxis(most float64) plots.Axis {
	return plots.Axis{Quantity: "load of a host", Symbol: "ρᵢ", Max: most}
}

// twoLoads returns the loads of two hosts and their sum, against α.
func twoLoads(ctx context.Context, a []float64, load float64,
	solve func(context.Context, tags.Model) (tags.Result, error)) (first, second, sum plots.Series,
	results []tags.Result, err error) {
	first, second, sum = plots.Series{Label: "host 1", Look: firstHostLook}, plots.Series{Label: "host 2",
		Look: secondHostLook}, plots.Series{Label: "sum", Look: sumLook}
	for _, alpha := range a {
		if err := ctx.Err(); err != nil {
			return first, second, sum, nil, err
		}
		m, err := farm(alpha, wide, 2, load)
		if err != nil {
			return first, second, sum, nil, err
		}
		r, err := solve(ctx, m)
		if err != nil {
			return first, second, sum, nil, fmt.Errorf("load %g, α = %g: %w", load, alpha, err)
		}
		results = append(results, r)
		for k, s := range []*plots.Series{&first, &second, &sum} {
			y := r.Hosts[0].Load.Float + r.Hosts[1].Load.Float
			if k < 2 {
				y = r.Hosts[k].Load.Float
			}
			s.X, s.Y = append(s.X, alpha), append(s.Y, y)
		}
	}
	return first, second, sum, results, nil
}

func best(o tags.Objective) func(context.Context, tags.Model) (tags.Result, error) {
	return func(ctx context.Context, m tags.Model) (tags.Result, error) {
		return tags.Optimize(ctx, m, tags.PolicyTAGS, o)
	}
}

// balance returns the α at which the loads of the two hosts are equal, by linear interpolation of
// the series.
func balance(first, second plots.Series) float64 {
	for k := 1; k < len(first.X); k++ {
		a, b := second.Y[k-1]-first.Y[k-1], second.Y[k]-first.Y[k]
		if a > 0 && b <= 0 {
			return first.X[k-1] + (first.X[k]-first.X[k-1])*a/(a-b)
		}
	}
	return math.NaN()
}

// hostLoads draws Figure 8: the loads of two hosts under the three flavours of TAGS.
func hostLoads(id, title string) plots.Spec {
	farms := []checkFarm{
		{panel: "a", objective: bySlowdown(), alpha: 1.5, high: wide, hosts: 2, load: 0.5},
		{panel: "b", objective: byWaiting(), alpha: 1.5, high: wide, hosts: 2, load: 0.5},
	}
	return withCheckFarms(id, title, farms, func(ctx context.Context, f *plots.Figure, runs plots.RunWords) error {
		a := paperAlphas()
		low, high, cross := 0.0, 1.0, []string{}
		over := true
		firsts := plots.Panel{Title: "Host 1 under all three", X: alphaAxis(), Y: loadAxis(1)}
		for k, c := range []struct {
			title string
			solve func(context.Context, tags.Model) (tags.Result, error)
		}{{"TAGS-opt-slowdown", best(bySlowdown())}, {"TAGS-opt-waitingtime", best(byWaiting())}, {"TAGS-opt-fairness",
			fairest}} {
			first, second, _, results, err := twoLoads(ctx, a, 0.5, c.solve)
			if err != nil {
				return err
			}
			f.Panels = append(f.Panels,
				plots.Panel{Title: c.title, X: alphaAxis(), Y: loadAxis(1), Series: []plots.Series{first, second},
					References: []plots.Reference{{Label: "both under Random", Y: 0.5}}})
			firsts.Series = append(firsts.Series, named(first, strings.TrimPrefix(c.title, "TAGS-"), k+2, false))
			for _, alpha := range []float64{1, 1.5} {
				m, err := farm(alpha, wide, 2, 0.5)
				if err != nil {
					return err
				}
				at := results[slices.IndexFunc(a, func(x float64) bool { return math.Abs(x-alpha) < 1e-9 })]
				_, hosts := literal(m, alpha).Evaluate(at.Cutoffs...)
				for i := range hosts {
					f.Checks = append(f.Checks, plots.SolverCheck(f.ID+string(rune('a'+k)),
						fmt.Sprintf("load of host %d, α = %g, by the formulas as printed", i+1, alpha),
						at.Hosts[i].Load.Float, hosts[i].Load, 1e-9))
				}
			}
			low, high = max(low, first.At(0.2)), min(high, second.At(0.2))
			over = over && first.At(1.5) > second.At(1.5)
			cross = append(cross, fmt.Sprintf("%.2f for %s", balance(first, second), c.title))
		}
		words, verdicts := paretoWords(wide, "2", "0.5", a), plots.Verdicts{}
		words["FirstHost"], words["Panels"], words["Equal"] = runs, f.Panels, cross
		f.Panels = append(f.Panels, firsts)
		words["LargestFirst"], words["LeastSecond"] = low, high
		verdicts.Decide("low", low < 0.05 && high > 0.95)
		verdicts.Decide("high", over)
		verdicts.Decide("middle", math.Abs(balance(f.Panels[0].Series[0], f.Panels[0].Series[1])-1) <= 0.2)
		return texts.Describe(f, words, verdicts)
	})
}

// excess draws Figure 10: the loads of two hosts and their sum at three system loads.
func excess(id, title string) plots.Spec {
	farms := []checkFarm{
		{panel: "a", objective: bySlowdown(), alpha: 1.5, high: wide, hosts: 2, load: 0.3},
		{panel: "b", objective: bySlowdown(), alpha: 1.5, high: wide, hosts: 2, load: 0.5},
		{panel: "c", objective: bySlowdown(), alpha: 1, high: wide, hosts: 2, load: 0.7},
	}
	return withCheckFarms(id, title, farms, func(ctx context.Context, f *plots.Figure, runs plots.RunWords) error {
		a := paperAlphas()
		extra := make(map[float64]plots.Series)
		parts := plots.Panel{
			Title: "Excess due to killed runs",
			X:     alphaAxis(),
			Y:     plots.Axis{Quantity: "excess over the load 2ρ", Unit: "%"},
		}
		var cross []string
		balanced := true
		for k, load := range paperLoads() {
			first, second, sum, results, err := twoLoads(ctx, a, load, best(bySlowdown()))
			if err != nil {
				return err
			}
			p := plots.Panel{Title: fmt.Sprintf("System load %g", load), X: alphaAxis(),
				Y:          plots.Axis{Quantity: "load", Max: 2},
				Series:     []plots.Series{first, second, sum},
				References: []plots.Reference{{Label: "sum without kills", Y: 2 * load}}}
			f.Panels = append(f.Panels, p)
			e := plots.Series{X: a}
			for i, r := range results {
				e.Y = append(e.Y, 100*r.Excess.Float/(2*load))               // in % of the load
				if slices.Contains([]float64{0.2, 0.6, 1, 1.4, 1.8}, a[i]) { // the two definitions in the Appendix
					f.Checks = append(f.Checks, plots.SolverCheck(f.ID+string(rune('a'+k)),
						fmt.Sprintf("sum of loads, load %g, α = %g, as hρ + λ p₂ s₁", load, a[i]), sum.Y[i],
						2*load+r.ArrivalRate.Float*r.Hosts[1].Visit.Float*r.Cutoffs[0], 1e-9))
				}
			}
			extra[load] = e
			parts.Series = append(parts.Series, named(e, fmt.Sprintf("load %g", load), k+3, false))
			b := balance(first, second)
			cross = append(cross, fmt.Sprintf("%.2f at load %g", b, load))
			balanced = balanced && math.Abs(b-1) <= 0.2
		}
		f.Panels = append(f.Panels, parts)
		least := slices.Index(extra[0.7].Y, slices.Min(extra[0.7].Y))
		words, verdicts := paretoWords(wide, "2", "0.3, 0.5, 0.7", a), plots.Verdicts{}
		low, middle, high, at := extra[0.3], extra[0.5], extra[0.7], a[least]
		words["FirstHost"], words["LeastAt"], words["Equal"] = runs, at, cross
		words["Low"], words["Middle"], words["High"] = low, middle, high
		verdicts.Decide("higher", max(low.At(0.6), middle.At(0.6)) <= 1 && min(low.At(1.5), middle.At(1.5)) >= 5)
		verdicts.Decide("least", math.Abs(at-1) <= 0.2+1e-9 && high.At(at) < 10 && min(high.At(0.4), high.At(1.6)) > 10)
		verdicts.Decide("balanced", balanced)
		return texts.Describe(f, words, verdicts)
	})
}
