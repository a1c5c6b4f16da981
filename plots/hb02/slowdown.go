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

// bySlowdown and byWaiting return the objectives that cutoffs minimize.
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
	}
	return withCheckFarms(id, title,
		[]checkFarm{{panel: "a", objective: v.objective, alpha: 1.5, high: wide, hosts: 2, load: 0.5}}, v.build)
}

func (v twoHostFigure) build(ctx context.Context, f *plots.Figure, runs plots.RunWords) error {
	all, err := againstAlpha(
		ctx, wide, 2, 0.5, v.pick, append([]method{v.method, forFairness()}, otherPolicies()...)...,
	)
	if err != nil {
		return err
	}
	best, fair, rest := all[0], all[1], all[2:]
	f.OneLegend = true
	ratios := plots.Panel{
		Title:      "Ratio to " + v.method.label,
		X:          alphaAxis(),
		References: []plots.Reference{{Label: "equal", Y: 1}},
		Y:          plots.Axis{Quantity: "ratio of " + v.word + "s", Scale: plots.Log},
	}
	for _, s := range append([]plots.Series{fair}, rest...) {
		q := named(quotient(s, best), s.Label, s.Look, s.Thin)
		ratios.Series = append(ratios.Series, q)
	}
	f.Panels = []plots.Panel{
		{
			Title:  strings.ToUpper(v.word[:1]) + v.word[1:],
			X:      alphaAxis(),
			Y:      v.axis,
			Series: append([]plots.Series{best, fair}, rest...),
		},
		ratios,
	}
	a := paperAlphas()
	words := paretoWords(wide, "2", "0.5", a)
	least, random := rest[0], rest[2]
	words["FirstHost"], words["Best"], words["Fair"], words["LWR"] = runs, best, fair, least
	c := comparison{best, least, rest[1], words, plots.Verdicts{}}
	if err := bestCutoffs(f, "a", "", wide, 0.5, best, v.pick, 1, 1.5, 2); err != nil {
		return err
	}
	for _, alpha := range []float64{1, 1.5} {
		m, err := farm(alpha, wide, 2, 0.5)
		if err != nil {
			return err
		}
		if v.id == "tags-6" {
			f.Checks = append(f.Checks, plots.SolverCheck(f.ID+"a",
				fmt.Sprintf("common mean slowdown, TAGS-opt-fairness, α = %g, by bisection", alpha), fair.At(alpha),
				literal(m, alpha).Fair(), 1e-7))
		}
	}
	for _, alpha := range []float64{0.2, 1, 2} {
		f.Checks = append(f.Checks, plots.SolverCheck(f.ID+"a",
			fmt.Sprintf("Random over Least-Work-Remaining, α = %g, as (1 + ρ)/ρ", alpha),
			random.At(alpha)/least.At(alpha), 3, 1e-12))
	}
	if v.id == "tags-6" {
		slowdownClaims(c, fair, random)
	} else if err := waitingClaims(ctx, c, fair); err != nil {
		return err
	}
	return texts.Describe(f, words, c.verdicts)
}

// bestCutoffs checks the minimum for two hosts against a search with the formulas as printed in the
// paper.
func bestCutoffs(f *plots.Figure, panel, at string, high, load float64, best plots.Series, pick func(means) float64,
	a ...float64) error {
	for _, alpha := range a {
		m, err := farm(alpha, high, 2, load)
		if err != nil {
			return err
		}
		least := literal(m, alpha).Least(func(all Means) float64 {
			return pick(means{all.Slowdown,
				all.Waiting})
		})
		quantity := fmt.Sprintf("%s, α = %g%s, by golden sections on the formulas as printed", best.Label, alpha, at)
		f.Checks = append(f.Checks, plots.SolverCheck(f.ID+panel, quantity, best.At(alpha), least, 1e-7))
	}
	return nil
}

// orders returns the decimal logarithm of a/b at α.
func orders(a, b plots.Series, alpha float64) float64 { return math.Log10(a.At(alpha) / b.At(alpha)) }

// A comparison holds TAGS and Least-Work-Remaining, corrected and as printed, with the data for
// texts and the verdicts on claims.
type comparison struct {
	best, least, printed plots.Series
	words                map[string]any
	verdicts             plots.Verdicts
}

// gainWords holds the data for the text of a claim about two numbers: with the corrected formula,
// and with the printed one.
type gainWords struct {
	Orders, Printed float64
	OnlyPrinted     bool // whether the claim holds only with the printed formula
}

// gain records by how many orders of magnitude TAGS is better at α, under the name of the claim.
func (c comparison) gain(name string, alpha float64, asked plots.Limit) {
	a, b := orders(c.least, c.best, alpha), orders(c.printed, c.best, alpha)
	c.words[name] = gainWords{a, b, asked.Has(b) && !asked.Has(a)}
	c.verdicts.Decide(name, asked.Has(a))
}

// tenths returns the exponents 0.2, 0.3, ..., 2, for counts.
func tenths() []float64 { return plots.Grid(2, 20, 10) }

// worseWords holds the data for texts about the exponents at which TAGS is worse.
type worseWords struct {
	At, Printed []string
	OnlyPrinted bool
}

// claimEverywhere records whether TAGS is better at every α, under the name of the claim.
func (c comparison) claimEverywhere(name string) {
	worse := func(rival plots.Series) (worse []string) {
		for _, x := range tenths() {
			if !(c.best.At(x) < rival.At(x)) {
				worse = append(worse, plots.Short(x))
			}
		}
		return worse
	}
	a, b := worse(c.least), worse(c.printed)
	c.words[name] = worseWords{a, b, b == nil && a != nil}
	c.verdicts.Decide(name, a == nil)
}

// slowdownClaims decides the claims of the paper about Figure 6.
func slowdownClaims(c comparison, fair, random plots.Series) {
	corrected, printed := random.At(1)/c.least.At(1), random.At(1)/c.printed.At(1)
	about := plots.Limit{Least: math.Sqrt(10), Most: 10 * math.Sqrt(10)}
	c.words["OverLWR"] = struct {
		Corrected, Printed float64
		OnlyPrinted        bool
	}{corrected, printed, about.Has(printed) && !about.Has(corrected)}
	c.verdicts.Decide("Random", about.Has(corrected))
	c.gain("Gain1.5", 1.5, plots.Rounded(2))
	c.gain("Gain1", 1, plots.AtLeast(4))
	c.gain("Gain0.4", 0.4, plots.AtLeast(9))
	worst, at := 0.0, 0.0
	near := 2.0
	for _, x := range tenths() {
		r := fair.At(x) / c.best.At(x)
		if r > worst {
			worst, at = r, x
		}
		if r > 10 {
			near = x
		}
	}
	c.words["Worst"], c.words["WorstAt"], c.words["AboveTen"] = worst, at, near
	c.verdicts.Decide("fairness", worst <= 10)
}

// waitingClaims decides the claims of the paper about Figure 7.
func waitingClaims(ctx context.Context, c comparison, fair plots.Series) error {
	c.gain("Gain1", 1, plots.AtLeast(2))
	captioned, err := againstAlpha(ctx, wide, 2, 0.5, waitingOf, forSlowdown())
	if err != nil {
		return err
	}
	slow := captioned[0]
	c.words["Slow"] = slow
	longer := func(x float64) bool { return slow.At(x) >= c.least.At(x) }
	c.verdicts.Decide("caption", !slices.ContainsFunc([]float64{0.2, 0.4, 0.6, 0.8, 1}, longer))
	c.verdicts.Decide("fairness", fair.At(0.2) < c.least.At(0.2) && orders(c.least, fair, 1) >= 2)
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
		gains := plots.Panel{
			Title:      "Ratio of LWR to TAGS-opt-slowdown",
			X:          alphaAxis(),
			Y:          plots.Axis{Quantity: "ratio of mean slowdowns", Scale: plots.Log},
			References: []plots.Reference{{Label: "equal", Y: 1}},
		}
		var missing []string
		words, verdicts := paretoWords(wide, "2", "0.3, 0.5, 0.7", a), plots.Verdicts{}
		for k, load := range paperLoads() {
			s, err := againstAlpha(
				ctx, wide, 2, load, slowdownOf, append([]method{forSlowdown()}, otherPolicies()...)...,
			)
			if err != nil {
				return err
			}
			f.Panels = append(f.Panels, plots.Panel{Title: fmt.Sprintf("System load %g", load), X: alphaAxis(),
				Y: slowdownAxis(), Series: s})
			gain := named(quotient(s[1], s[0]), fmt.Sprintf("load %g", load), ratioLook+k, false)
			gains.Series = append(gains.Series, gain)
			if n := len(a) - len(s[0].X); n > 0 {
				missing = append(missing, fmt.Sprintf("at load %g there are no cutoffs for %d values of α", load, n))
			}
			letter := string(rune('a' + k))
			if err := bestCutoffs(f, letter, fmt.Sprintf(", load %g", load), wide, load, s[0], slowdownOf, 1,
				2); err != nil {
				return err
			}
			f.Checks = append(f.Checks, plots.SolverCheck(f.ID+letter,
				fmt.Sprintf("Random over Least-Work-Remaining, load %g, as (1 + ρ)/ρ", load), s[3].At(1)/s[1].At(1),
				(1+load)/load, 1e-12))
			comparison{s[0], s[1], s[2], words, verdicts}.claimEverywhere(fmt.Sprintf("Worse%g", load))
		}
		plots.ShareY(f.Panels)
		f.Panels, f.OneLegend = append(f.Panels, gains), true
		words["FirstHost"], words["Missing"] = runs, missing
		low, high := f.Panels[0].Series, f.Panels[2].Series
		c := comparison{low[0], low[1], low[2], words, verdicts}
		c.gain("Low1", 1, plots.AtLeast(4))
		c.gain("Low0.6", 0.6, plots.AtLeast(7))
		c.gain("Low0.2", 0.2, plots.Limit{Least: 19.5, Most: plots.Under(20).Most})
		comparison{high[0], high[1], high[2], words, verdicts}.gain("High1", 1, plots.Rounded(4))
		sita, err := againstAlpha(ctx, wide, 2, 0.3, slowdownOf, equalLoads()) // SITA-E knows the sizes
		if err != nil {
			return err
		}
		var gained []float64
		for _, alpha := range []float64{0.4, 0.8, 1, 1.5} {
			gained = append(gained, orders(sita[0], low[0], alpha))
		}
		words["SITA"] = gained
		verdicts.Decide("SITA", plots.AtLeast(2).Has(gained[:3]...))
		return texts.Describe(f, words, verdicts)
	})
}

// overTAGS returns the mean slowdown of Least-Work-Remaining, corrected and as printed, divided by
// the mean slowdown of TAGS.
func overTAGS(s []plots.Series, name string, look int) []plots.Series {
	return []plots.Series{named(quotient(s[1], s[0]), name, look, false),
		named(quotient(s[2], s[0]), name+", as printed", look, true)}
}

// ratioPanel draws the ratios of overTAGS.
func ratioPanel(series []plots.Series) plots.Panel {
	return plots.Panel{Title: "Ratio of LWR to TAGS-opt-slowdown", X: alphaAxis(),
		Y:      plots.Axis{Quantity: "ratio of mean slowdowns", Scale: plots.Log},
		Series: series, References: []plots.Reference{{Label: "equal", Y: 1}}}
}

// fourHosts draws Figure 12: mean slowdown with four hosts at load 0.3.
func fourHosts(id, title string) plots.Spec {
	return withCheckFarms(id, title,
		[]checkFarm{{panel: "a", objective: bySlowdown(), alpha: 1.5, high: wide, hosts: 4, load: 0.3}},
		func(ctx context.Context, f *plots.Figure, runs plots.RunWords) error {
			a := paperAlphas()
			all := append([]method{forSlowdown()}, otherPolicies()...)
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
				ratioPanel(append(overTAGS(four, "4 hosts", ratioLook), overTAGS(two, "2 hosts", ratioLook+1)...)),
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
					plots.SolverCheck(f.ID+"a", fmt.Sprintf("TAGS-opt-slowdown, α = %g, by the formulas as printed at "+
						"these cutoffs", alpha), four[0].At(alpha), at.Slowdown, 1e-9),
					plots.SolverCheck(
						f.ID+"a", fmt.Sprintf("Least-Work-Remaining, α = %g, with the sum over states of "+
							"M/M/4", alpha),
						four[1].At(alpha), literal(m, alpha).LeastWorkSlowdown(), 1e-9,
					))
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
			gainedHigh, gainedLow := two[1].At(2)/four[1].At(2), two[1].At(0.2)/four[1].At(0.2)
			words, verdicts := paretoWords(wide, "4, and 2 in (b)", "0.3", a), plots.Verdicts{}
			words["FirstHost"], words["GainedHigh"], words["GainedLow"] = runs, gainedHigh, gainedLow
			words["Most"], words["MostAt"] = most, at
			words["Over"], words["Below"], words["Counted"] = over, below, len(tenths())
			other := func(x float64) bool { return math.Abs(four[3].At(x)/two[3].At(x)-1) > 1e-12 }
			verdicts.Decide("Random", !slices.ContainsFunc(a, other))
			verdicts.Decide("LWR", plots.Rounded(2).Has(math.Log10(gainedHigh)) && gainedLow < gainedHigh*(1-1e-9))
			verdicts.Decide("under-6", over == 0 && 2*below >= len(tenths()))
			c := comparison{four[0], four[1], four[2], words, verdicts}
			c.gain("Gain1", 1, plots.Limit{Least: 4, Most: 5})
			c.gain("Gain0.6", 0.6, plots.Limit{Least: 7.5, Most: plots.Rounded(9).Most})
			c.gain("Gain0.2", 0.2, plots.AtLeast(25))
			return texts.Describe(f, words, verdicts)
		})
}

// smallerRange draws Figure 15: mean slowdown with two hosts and p = 10^7.
func smallerRange(id, title string) plots.Spec {
	return withCheckFarms(id, title,
		[]checkFarm{{panel: "a", objective: bySlowdown(), alpha: 1.5, high: narrow, hosts: 2, load: 0.5}},
		func(ctx context.Context, f *plots.Figure, runs plots.RunWords) error {
			a := paperAlphas()
			all := append([]method{forSlowdown()}, otherPolicies()...)
			s, err := againstAlpha(ctx, narrow, 2, 0.5, slowdownOf, all...)
			if err != nil {
				return err
			}
			w, err := againstAlpha(ctx, wide, 2, 0.5, slowdownOf, all...)
			if err != nil {
				return err
			}
			f.Panels = []plots.Panel{
				{Title: "Two hosts, system load 0.5, p = 10⁷ s", X: alphaAxis(), Y: slowdownAxis(), Series: s},
				ratioPanel(append(overTAGS(s, "p = 10⁷ s", ratioLook), overTAGS(w, "p = 10¹⁰ s", ratioLook+1)...)),
			}
			f.OneLegend = true
			if err := bestCutoffs(f, "a", ", p = 10⁷", narrow, 0.5, s[0], slowdownOf, 1, 1.5, 2); err != nil {
				return err
			}
			grows := true
			ratio := quotient(s[1], s[0])
			for k := 1; k < len(ratio.Y); k++ {
				grows = grows && ratio.Y[k] < ratio.Y[k-1]
			}
			words, verdicts := paretoWords(narrow, "2", "0.5", a), plots.Verdicts{}
			words["FirstHost"], words["Ratio"] = runs, ratio
			comparison{s[0], s[1], s[2], words, verdicts}.gain("Gain1", 1, plots.AtLeast(2))
			verdicts.Decide("grows", grows)
			return texts.Describe(f, words, verdicts)
		})
}
