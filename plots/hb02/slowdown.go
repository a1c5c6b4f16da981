package hb02

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"productform/internal/oracle/paper"
	"productform/plots"
	"productform/tags"
)

// bySlowdown and byWaiting are what cutoffs are to make least.
func bySlowdown() tags.Objective { return tags.Objective{Slowdown: 1} }
func byWaiting() tags.Objective  { return tags.Objective{Waiting: 1} }

// A twoHostFigure is one of the two measures of Figures 6 and 7 of [HB02].
type twoHostFigure struct {
	id        string
	objective tags.Objective
	method    method
	axis      plots.Axis
	pick      func(means) float64
	word      string
}

// twoHosts draws Figure 6 or 7: mean slowdown or mean waiting time with two hosts, against α.
func twoHosts(id, title string) plots.Spec {
	v := twoHostFigure{id, bySlowdown(), forSlowdown(), slowdownAxis(), slowdownOf, "mean slowdown"}
	if id == "tags-7" {
		v = twoHostFigure{id, byWaiting(), forWaiting(), waitingAxis(), waitingOf, "mean waiting time"}
		v.axis.Min, v.axis.Max, v.axis.Ticks = 1e3, 1e12, []float64{1e3, 1e6, 1e9, 1e12} // one for both panels
	}
	return withCheckFarms(id, title, []checkFarm{{panel: "a", objective: v.objective, alpha: 1.5, high: wide, hosts: 2, load: 0.5}}, v.build)
}

func (v twoHostFigure) build(ctx context.Context, f *plots.Figure, runs plots.RunWords) error {
	all, err := againstAlpha(ctx, wide, 2, 0.5, v.pick, append([]method{v.method, forFairness()}, rivals()...)...)
	if err != nil {
		return err
	}
	best, fair, rest := all[0], all[1], all[2:]
	f.OneLegend = true
	f.Panels = []plots.Panel{
		{Title: v.method.label, X: alphaAxis(), Y: v.axis, Series: append([]plots.Series{best}, rest...)},
		{Title: "TAGS-opt-fairness", X: alphaAxis(), Y: v.axis, Series: append([]plots.Series{fair, best}, rest...)},
	}
	a := paperAlphas()
	words := paretoWords(wide, "2", "0.5", a)
	words["FirstHost"] = runs
	if err := texts.Describe(f, words, nil); err != nil {
		return err
	}
	least, printed, random := rest[0], rest[1], rest[2]
	if err := bestCutoffs(f, "a", "", wide, 0.5, best, v.pick, 1, 1.5, 2); err != nil {
		return err
	}
	for _, alpha := range []float64{1, 1.5} {
		m, err := farm(alpha, wide, 2, 0.5)
		if err != nil {
			return err
		}
		if v.id == "tags-6" {
			f.Checks = append(f.Checks, plots.SolverCheck(f.ID+"b", fmt.Sprintf("common mean slowdown, TAGS-opt-fairness, α = %g, by bisection", alpha), fair.At(alpha), literal(m, alpha).Fair(), 1e-7))
		}
	}
	for _, alpha := range []float64{0.2, 1, 2} {
		f.Checks = append(f.Checks, plots.SolverCheck(f.ID+"a", fmt.Sprintf("Random over Least-Work-Remaining, α = %g, as (1 + ρ)/ρ", alpha), random.At(alpha)/least.At(alpha), 3, 1e-12))
	}
	if v.id == "tags-7" {
		return v.waitingClaims(ctx, f, best, fair, least, printed)
	}
	v.slowdownClaims(f, best, fair, least, printed, random)
	return nil
}

// bestCutoffs checks the least value of two hosts against a search with the formulas as the paper writes them.
func bestCutoffs(f *plots.Figure, panel, at string, high, load float64, best plots.Series, pick func(means) float64, a ...float64) error {
	for _, alpha := range a {
		m, err := farm(alpha, high, 2, load)
		if err != nil {
			return err
		}
		least := literal(m, alpha).Least(func(all paper.Means) float64 { return pick(means{all.Slowdown, all.Waiting}) })
		quantity := fmt.Sprintf("%s, α = %g%s, by golden sections on the formulas as printed", best.Label, alpha, at)
		f.Checks = append(f.Checks, plots.SolverCheck(f.ID+panel, quantity, best.At(alpha), least, 1e-7))
	}
	return nil
}

// orders returns the decimal logarithm of a/b at α.
func orders(a, b plots.Series, alpha float64) float64 { return math.Log10(a.At(alpha) / b.At(alpha)) }

// gain states how many orders of magnitude one policy is better than Least-Work-Remaining.
func gain(figure, sentence, criterion string, alpha float64, best, least, printed plots.Series, ok func(orders float64) bool) plots.Claim {
	a, b := orders(least, best, alpha), orders(printed, best, alpha)
	return plots.Finding(figure, sentence, criterion,
		fmt.Sprintf("%.2f orders of magnitude; %.2f with Least-Work-Remaining as printed.", a, b)+printedOnly(ok(a), ok(b)), ok(a))
}

func atLeast(limit float64) func(float64) bool { return func(v float64) bool { return v >= limit } }

// tenths are the exponents 0.2, 0.3, ..., 2, for counting.
func tenths() []float64 { return plots.Grid(2, 20, 10) }

// everywhere states whether one policy is better than Least-Work-Remaining at every α.
func everywhere(figure, sentence string, best, least, printed plots.Series) plots.Claim {
	worse := func(rival plots.Series) (worse []string) {
		for _, x := range tenths() {
			if !(best.At(x) < rival.At(x)) {
				worse = append(worse, plots.Short(x))
			}
		}
		return worse
	}
	a, b := worse(least), worse(printed)
	words := func(w []string) string {
		if len(w) == 0 {
			return "at no α"
		}
		return "at α = " + strings.Join(w, ", ")
	}
	return plots.Finding(figure, sentence, "Its mean slowdown is below that of Least-Work-Remaining at α = 0.2, 0.3, ..., 2.",
		"TAGS is worse "+words(a)+"; with Least-Work-Remaining as printed "+words(b)+"."+printedOnly(len(a) == 0, len(b) == 0), len(a) == 0)
}

func (v twoHostFigure) slowdownClaims(f *plots.Figure, best, fair, least, printed, random plots.Series) {
	ratio := [2]float64{random.At(1) / least.At(1), random.At(1) / printed.At(1)}
	between := func(v float64) bool { return math.Abs(math.Log10(v)-1) <= 0.5 }
	f.Claims = append(f.Claims,
		plots.Finding(f.ID+"a", "Least-Work-Remaining consistently outperforms Random by about an order of magnitude.", "Random over Least-Work-Remaining is between √10 and 10√10.",
			fmt.Sprintf("%.3g for every α; %.3g with Least-Work-Remaining as printed.", ratio[0], ratio[1])+printedOnly(between(ratio[0]), between(ratio[1])), between(ratio[0])),
		gain(f.ID+"a", "At α = 1.5 TAGS-opt-slowdown outperforms Least-Work-Remaining by 2 orders of magnitude.", "log₁₀ of the ratio rounds to 2.", 1.5, best, least, printed, atLeast(1.5)),
		gain(f.ID+"a", "At α ≈ 1 by over 4 orders of magnitude.", "log₁₀ of the ratio is at least 4 at α = 1.", 1, best, least, printed, atLeast(4)),
		gain(f.ID+"a", "At α = 0.4 by over 9 orders of magnitude.", "log₁₀ of the ratio is at least 9.", 0.4, best, least, printed, atLeast(9)))
	worst, at := 0.0, 0.0
	near := 2.0
	for _, x := range tenths() {
		r := fair.At(x) / best.At(x)
		if r > worst {
			worst, at = r, x
		}
		if r > 10 {
			near = x
		}
	}
	f.Claims = append(f.Claims, plots.Finding(f.ID+"b", "The performance of TAGS-opt-fairness is not far from that of TAGS-opt-slowdown.", "Its mean slowdown is at most 10 times the least one at α = 0.2, 0.3, ..., 2.",
		fmt.Sprintf("Largest ratio %.3g, at α = %g; above 10 for α up to %g; %.3g at α = 1.5. Close only on the scale of the picture.", worst, at, near, fair.At(1.5)/best.At(1.5)), worst <= 10))
}

func (v twoHostFigure) waitingClaims(ctx context.Context, f *plots.Figure, best, fair, least, printed plots.Series) error {
	f.Claims = append(f.Claims, gain(f.ID+"a", "Again TAGS shows several orders of magnitude improvement over the other policies.", "log₁₀ of the ratio to Least-Work-Remaining is at least 2 at α = 1, with the cutoffs that are best for the mean waiting time.", 1, best, least, printed, atLeast(2)))
	captioned, err := againstAlpha(ctx, wide, 2, 0.5, waitingOf, forSlowdown())
	if err != nil {
		return err
	}
	slow := captioned[0]
	f.Claims = append(f.Claims,
		plots.Finding(f.ID+"a", "(Caption) Mean waiting time under TAGS-opt-slowdown improves on Least-Work-Remaining.", "It is shorter at α = 0.2, 0.4, ..., 1.",
			fmt.Sprintf("%s s against %s s at α = 0.2, %s s against %s s at 0.4; shorter from 0.6 on.", plots.Short(slow.At(0.2)), plots.Short(least.At(0.2)), plots.Short(slow.At(0.4)), plots.Short(least.At(0.4))),
			!slices.ContainsFunc([]float64{0.2, 0.4, 0.6, 0.8, 1}, func(x float64) bool { return slow.At(x) >= least.At(x) })),
		plots.Finding(f.ID+"b", "TAGS-opt-fairness shows several orders of magnitude improvement in waiting time too.", "It is below Least-Work-Remaining at every α, by at least 2 orders of magnitude at α = 1.",
			fmt.Sprintf("%s times that of Least-Work-Remaining at α = 0.2, %s times at α = 1.", plots.Short(fair.At(0.2)/least.At(0.2)), plots.Short(fair.At(1)/least.At(1))),
			fair.At(0.2) < least.At(0.2) && orders(least, fair, 1) >= 2))
	return nil
}

// paperLoads are the system loads of Figures 9 and 10 of [HB02].
func paperLoads() []float64 { return []float64{0.3, 0.5, 0.7} }

// systemLoads draws Figure 9: mean slowdown with two hosts at three loads.
func systemLoads(id, title string) plots.Spec {
	farms := []checkFarm{
		{panel: "a", objective: bySlowdown(), alpha: 1.5, high: wide, hosts: 2, load: 0.3},
		{panel: "c", objective: bySlowdown(), alpha: 1, high: wide, hosts: 2, load: 0.7},
	}
	return withCheckFarms(id, title, farms, func(ctx context.Context, f *plots.Figure, runs plots.RunWords) error {
		a := paperAlphas()
		var missing []string
		for k, load := range paperLoads() {
			s, err := againstAlpha(ctx, wide, 2, load, slowdownOf, append([]method{forSlowdown()}, rivals()...)...)
			if err != nil {
				return err
			}
			f.Panels = append(f.Panels, plots.Panel{Title: fmt.Sprintf("System load %g", load), X: alphaAxis(), Y: slowdownAxis(), Series: s})
			if n := len(a) - len(s[0].X); n > 0 {
				missing = append(missing, fmt.Sprintf("at load %g there are no cutoffs for %d values of α", load, n))
			}
			letter := string(rune('a' + k))
			if err := bestCutoffs(f, letter, fmt.Sprintf(", load %g", load), wide, load, s[0], slowdownOf, 1, 2); err != nil {
				return err
			}
			f.Checks = append(f.Checks, plots.SolverCheck(f.ID+letter, fmt.Sprintf("Random over Least-Work-Remaining, load %g, as (1 + ρ)/ρ", load), s[3].At(1)/s[1].At(1), (1+load)/load, 1e-12))
			f.Claims = append(f.Claims, everywhere(f.ID+letter, fmt.Sprintf("At load %g TAGS-opt-slowdown improves upon the other policies under the full range of α.", load), s[0], s[1], s[2]))
		}
		words := paretoWords(wide, "2", "0.3, 0.5, 0.7", a)
		words["FirstHost"], words["Missing"] = runs, missing
		if err := texts.Describe(f, words, nil); err != nil {
			return err
		}
		low, high := f.Panels[0].Series, f.Panels[2].Series
		f.Claims = append(f.Claims,
			gain(f.ID+"a", "At load 0.3 TAGS-opt-slowdown improves upon Least-Work-Remaining by over 4 orders of magnitude at α = 1.", "log₁₀ of the ratio is at least 4.", 1, low[0], low[1], low[2], atLeast(4)),
			gain(f.ID+"a", "At load 0.3 by 7 orders of magnitude at α = 0.6.", "log₁₀ of the ratio is at least 7.", 0.6, low[0], low[1], low[2], atLeast(7)),
			gain(f.ID+"a", "At load 0.3 by almost 20 orders of magnitude at α = 0.2.", "log₁₀ of the ratio is between 19.5 and 20.", 0.2, low[0], low[1], low[2], func(v float64) bool { return v >= 19.5 && v < 20 }),
			gain(f.ID+"c", "At load 0.7 the improvement at α ≈ 1 is still about 4 orders of magnitude.", "log₁₀ of the ratio rounds to 4 at α = 1.", 1, high[0], high[1], high[2], func(v float64) bool { return math.Round(v) == 4 }))
		return sizeClaim(ctx, f, low[0])
	})
}

// sizeClaim compares TAGS at load 0.3 with a policy that knows sizes.
func sizeClaim(ctx context.Context, f *plots.Figure, best plots.Series) error {
	all, err := againstAlpha(ctx, wide, 2, 0.3, slowdownOf, equalLoads())
	if err != nil {
		return err
	}
	at := func(alpha float64) float64 { return orders(all[0], best, alpha) }
	f.Claims = append(f.Claims, plots.Finding(f.ID+"a", "For not-too-high loads (< 0.5) TAGS improves upon SITA-E by several orders of magnitude for heavy-tailed workloads (section 2).", "log₁₀ of the ratio is at least 2 at α = 0.4, 0.8 and 1, at load 0.3.",
		fmt.Sprintf("%.2f orders of magnitude at α = 0.4, %.2f at 0.8, %.2f at 1, %.2f at 1.5.", at(0.4), at(0.8), at(1), at(1.5)), min(at(0.4), at(0.8), at(1)) >= 2))
	return nil
}

// overTAGS returns how many times as large the mean slowdown of Least-Work-Remaining is, corrected and as printed.
func overTAGS(s []plots.Series, name string, look int) []plots.Series {
	return []plots.Series{named(quotient(s[1], s[0]), name, look, false), named(quotient(s[2], s[0]), name+", as printed", look, true)}
}

// ratioPanel draws such ratios.
func ratioPanel(series []plots.Series) plots.Panel {
	return plots.Panel{Title: "LWR over TAGS-opt-slowdown", X: alphaAxis(), Y: plots.Axis{Quantity: "ratio of mean slowdowns", Scale: plots.Log},
		Series: series, References: []plots.Reference{{Label: "equal", Y: 1}}}
}

// fourHosts draws Figure 12: mean slowdown with four hosts at load 0.3.
func fourHosts(id, title string) plots.Spec {
	return withCheckFarms(id, title, []checkFarm{{panel: "a", objective: bySlowdown(), alpha: 1.5, high: wide, hosts: 4, load: 0.3}}, func(ctx context.Context, f *plots.Figure, runs plots.RunWords) error {
		a := paperAlphas()
		all := append([]method{forSlowdown()}, rivals()...)
		four, err := againstAlpha(ctx, wide, 4, 0.3, slowdownOf, all...)
		if err != nil {
			return err
		}
		two, err := againstAlpha(ctx, wide, 2, 0.3, slowdownOf, all...)
		if err != nil {
			return err
		}
		f.Panels = []plots.Panel{
			{Title: "Four hosts, system load 0.3", X: alphaAxis(), Y: slowdownAxis(), Series: four},
			ratioPanel(append(overTAGS(four, "4 hosts", tagsLook), overTAGS(two, "2 hosts", leastLook)...)),
		}
		words := paretoWords(wide, "4, and 2 in (b)", "0.3", a)
		words["FirstHost"] = runs
		if err := texts.Describe(f, words, nil); err != nil {
			return err
		}
		for _, alpha := range []float64{1, 1.5} {
			m, err := farm(alpha, wide, 4, 0.3)
			if err != nil {
				return err
			}
			best, err := tags.Optimize(ctx, m, tags.PolicyTAGS, bySlowdown())
			if err != nil {
				return err
			}
			at, _ := literal(m, alpha).Evaluate(best.Cutoffs...)
			f.Checks = append(f.Checks,
				plots.SolverCheck(f.ID+"a", fmt.Sprintf("TAGS-opt-slowdown, α = %g, by the formulas as printed at these cutoffs", alpha), four[0].At(alpha), at.Slowdown, 1e-9),
				plots.SolverCheck(f.ID+"a", fmt.Sprintf("Least-Work-Remaining, α = %g, with the sum over states of M/M/4", alpha), four[1].At(alpha), literal(m, alpha).LeastWorkSlowdown(), 1e-9))
		}
		most, at, over := 0.0, 0.0, 0
		below := 0
		for _, x := range tenths() {
			v := four[0].At(x)
			if v > most {
				most, at = v, x
			}
			if v > 6 {
				over++
			}
			if v < 1 {
				below++
			}
		}
		gained := [2]float64{two[1].At(2) / four[1].At(2), two[1].At(0.2) / four[1].At(0.2)}
		f.Claims = append(f.Claims,
			plots.Finding(f.ID+"a", "The performance of Random stayed the same as with 2 hosts.", "The mean slowdowns differ by less than 10⁻¹² of them at every α.", "They are the same.",
				!slices.ContainsFunc(a, func(x float64) bool { return math.Abs(four[3].At(x)/two[3].At(x)-1) > 1e-12 })),
			plots.Finding(f.ID+"a", "Least-Work-Remaining improved by a couple of orders of magnitude in the higher α region, but less in the lower one.", "log₁₀ of the improvement rounds to 2 at α = 2 and is less at α = 0.2.",
				fmt.Sprintf("%.3g times at α = 2, %.3g times at α = 0.2: the same for every α, in either reading.", gained[0], gained[1]), math.Round(math.Log10(gained[0])) == 2 && gained[1] < gained[0]*(1-1e-9)),
			plots.Finding(f.ID+"a", "The mean slowdown under TAGS-opt-slowdown is never over 6 and often under 1.", "Of α = 0.2, 0.3, ..., 2 it is over 6 at none and below 1 at half.",
				fmt.Sprintf("Largest %.3g, at α = %g; over 6 at %d of %d values of α, below 1 at %d. The caption of the paper says \"almost never\", which holds.", most, at, over, len(tenths()), below), over == 0 && 2*below >= len(tenths())),
			gain(f.ID+"b", "At α ≈ 1 TAGS improves upon Least-Work-Remaining by 4 to 5 orders of magnitude.", "log₁₀ of the ratio is between 4 and 5 at α = 1.", 1, four[0], four[1], four[2], func(v float64) bool { return v >= 4 && v <= 5 }),
			gain(f.ID+"b", "At α = 0.6 by 8 or 9 orders of magnitude.", "log₁₀ of the ratio rounds to 8 or 9.", 0.6, four[0], four[1], four[2], func(v float64) bool { return v >= 7.5 && v < 9.5 }),
			gain(f.ID+"b", "At α = 0.2 by over 25 orders of magnitude.", "log₁₀ of the ratio is at least 25.", 0.2, four[0], four[1], four[2], atLeast(25)))
		return nil
	})
}

// smallerRange draws Figure 15: mean slowdown with two hosts and p = 10^7.
func smallerRange(id, title string) plots.Spec {
	return withCheckFarms(id, title, []checkFarm{{panel: "a", objective: bySlowdown(), alpha: 1.5, high: narrow, hosts: 2, load: 0.5}}, func(ctx context.Context, f *plots.Figure, runs plots.RunWords) error {
		a := paperAlphas()
		all := append([]method{forSlowdown()}, rivals()...)
		s, err := againstAlpha(ctx, narrow, 2, 0.5, slowdownOf, all...)
		if err != nil {
			return err
		}
		w, err := againstAlpha(ctx, wide, 2, 0.5, slowdownOf, all...)
		if err != nil {
			return err
		}
		f.Panels = []plots.Panel{
			{Title: "Two hosts, system load 0.5, p = 10⁷", X: alphaAxis(), Y: slowdownAxis(), Series: s},
			ratioPanel(append(overTAGS(s, "p = 10⁷", tagsLook), overTAGS(w, "p = 10¹⁰", leastLook)...)),
		}
		words := paretoWords(narrow, "2", "0.5", a)
		words["FirstHost"] = runs
		if err := texts.Describe(f, words, nil); err != nil {
			return err
		}
		if err := bestCutoffs(f, "a", ", p = 10⁷", narrow, 0.5, s[0], slowdownOf, 1, 1.5, 2); err != nil {
			return err
		}
		grows := true
		ratio := quotient(s[1], s[0])
		for k := 1; k < len(ratio.Y); k++ {
			grows = grows && ratio.Y[k] < ratio.Y[k-1]
		}
		f.Claims = append(f.Claims,
			gain(f.ID+"a", "For α ≈ 1 TAGS improves upon the other policies by over 2 orders of magnitude.", "log₁₀ of the ratio is at least 2 at α = 1.", 1, s[0], s[1], s[2], atLeast(2)),
			plots.Finding(f.ID+"b", "As α drops, the improvement increases.", "The ratio falls in α from 0.2 to 2.", fmt.Sprintf("From %s at α = 0.2 to %s at α = 2.", plots.Short(ratio.At(0.2)), plots.Short(ratio.At(2))), grows))
		return nil
	})
}
