package hb02

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"

	"productform/plots"
	"productform/sizes"
	"productform/traces"
)

// A logMeasure is a way to read sizes from a log.
type logMeasure struct {
	title, unit, words string
	read               func(r io.Reader, name string) (*sizes.List, error)
}

func runTimes() logMeasure {
	return logMeasure{"Run times", "s", "run times", sizes.ReadRunTimes}
}

func work() logMeasure {
	return logMeasure{"Work", "processor-s", "processor-seconds", sizes.ReadWork}
}

// sizes returns the positive sizes in the log, and the number of jobs without one.
func (m logMeasure) sizes() (jobSizes []float64, skipped int, err error) {
	r, err := traces.Open(plots.LogName)
	if err != nil {
		return nil, 0, err
	}
	list, err := m.read(r, plots.LogName)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, 0, err
	}
	return list.Sizes, list.Skipped, nil
}

// A sizeSummary holds the statistics of a list of sizes.
type sizeSummary struct {
	distribution sizes.Distribution
	mean, scv    float64
	half         float64 // fraction of largest jobs that bring half of the work
}

func describe(jobSizes []float64) (p sizeSummary, err error) {
	if p.distribution, err = sizes.NewEmpirical(jobSizes); err != nil {
		return p, err
	}
	if p.mean, err = sizes.Mean(p.distribution); err != nil {
		return p, err
	}
	if p.scv, err = sizes.SCV(p.distribution); err != nil {
		return p, err
	}
	sorted := slices.Sorted(slices.Values(jobSizes))
	rest := p.mean * float64(len(jobSizes)) / 2
	n := len(sorted)
	for rest > 0 {
		n--
		rest -= sorted[n]
	}
	p.half = float64(len(sorted)-n) / float64(len(sorted))
	return p, nil
}

// A fittedLog holds the data for the texts of tags-3 about sizes and the fitted distribution.
type fittedLog struct {
	Name, Words, Unit      string
	Jobs, Skipped          int
	Low, High, Mean, SCV   float64
	HalfPercent            float64 // percentage of largest jobs that bring half of the work
	Alpha, FitMean, FitSCV float64
}

// tailFits draws tails of measured sizes and of the distributions that fit them.
func tailFits(ctx context.Context, f *plots.Figure) error {
	var logs []fittedLog
	for k, m := range []logMeasure{runTimes(), work()} {
		if err := ctx.Err(); err != nil {
			return err
		}
		jobSizes, skipped, err := m.sizes()
		if err != nil {
			return err
		}
		p, err := describe(jobSizes)
		if err != nil {
			return err
		}
		fit, alpha, err := sizes.FitBoundedPareto(jobSizes)
		if err != nil {
			return fmt.Errorf("%s: %w", m.words, err)
		}
		low, high, _ := fit.Support()
		mean, err := sizes.Mean(fit)
		if err != nil {
			return err
		}
		scv, err := sizes.SCV(fit)
		if err != nil {
			return err
		}
		panel := plots.Panel{
			Title: m.title,
			X:     plots.Axis{Quantity: "size", Symbol: "x", Unit: m.unit, Scale: plots.Log},
			Y:     plots.Axis{Quantity: "fraction of the jobs that are larger", Scale: plots.Log, Min: 1e-5, Max: 2},
		}
		panel.Series = []plots.Series{
			tail("measured", plots.Steps, randomLook, p.distribution, low, high),
			tail("bounded Pareto", plots.Curve, leastLook, fit, low, high),
		}
		f.Panels = append(f.Panels, panel)
		logs = append(logs, fittedLog{
			Name: plots.LogName, Words: m.words, Unit: m.unit, Jobs: len(jobSizes), Skipped: skipped,
			Low: low, High: high, Mean: p.mean, SCV: p.scv, HalfPercent: 100 * p.half,
			Alpha: alpha, FitMean: mean, FitSCV: scv,
		})
		letter := fmt.Sprintf("%s%c", f.ID, 'a'+k)
		f.Checks = append(f.Checks,
			plots.SolverCheck(letter, "exponent α of the fit, by bisection", alpha, LikeliestAlpha(jobSizes),
				1e-9),
			plots.SolverCheck(letter, "squared coefficient of variation, as a sum over jobs", p.scv,
				SquaredVariation(jobSizes), 1e-11))
	}
	return texts.Describe(f, map[string]any{"Logs": logs, "LogWords": plots.LogWords}, nil)
}

// tail draws the positive part of P(X > x) from low to high.
func tail(label string, kind plots.Kind, look int, d sizes.Distribution, low, high float64) plots.Series {
	const perDecade = 60
	s := plots.Series{Label: label, Kind: kind, Look: look}
	n := int(math.Ceil(perDecade * math.Log10(high/low)))
	for k := range n {
		x := low * math.Pow(high/low, float64(k)/float64(n))
		if p := d.Survival(x); p > 0 {
			s.X, s.Y = append(s.X, x), append(s.Y, p)
		}
	}
	if kind == plots.Curve { // it decreases faster near the upper end
		for q := 1e-2; q > 0.99e-5; q /= math.Sqrt(10) {
			if x, err := d.Quantile(1 - q); err == nil && x > s.X[len(s.X)-1] {
				s.X, s.Y = append(s.X, x), append(s.Y, d.Survival(x))
			}
		}
	}
	return s
}

// moments returns the low end k of B(k, p, α), E[X²] and the coefficient of variation against α.
func moments(ctx context.Context, a []float64, high float64) (low, second, variation plots.Series, err error) {
	for _, alpha := range a {
		if err := ctx.Err(); err != nil {
			return low, second, variation, err
		}
		m, err := farm(alpha, high, 1, 0.5)
		if err != nil {
			return low, second, variation, err
		}
		k, _, _ := m.Sizes.Support()
		square, err := m.Sizes.Moment(2)
		if err != nil {
			return low, second, variation, err
		}
		scv, err := sizes.SCV(m.Sizes)
		if err != nil {
			return low, second, variation, err
		}
		for _, p := range []struct {
			s *plots.Series
			y float64
		}{{&low, k}, {&second, square}, {&variation, math.Sqrt(scv)}} {
			p.s.X, p.s.Y = append(p.s.X, alpha), append(p.s.Y, p.y)
		}
	}
	return low, second, variation, nil
}

// named returns the series with the given name.
func named(s plots.Series, label string, look int, thin bool) plots.Series {
	s.Label, s.Look, s.Thin = label, look, thin
	return s
}

// closedForms checks k and E[X²] in cases with simple closed forms: k = mean²/p at α = 1/2, k =
// mean/(2 - mean/p) at α = 2.
func closedForms(f *plots.Figure, kPanel, momentPanel string, high float64, low, second plots.Series) {
	half, two := paretoMean*paretoMean/high, paretoMean/(2-paretoMean/high)
	if kPanel != "" {
		f.Checks = append(f.Checks,
			plots.SolverCheck(kPanel, "smallest size k, α = 0.5, as E[X]²/p", low.At(0.5), half, 1e-12),
			plots.SolverCheck(kPanel, "smallest size k, α = 2, as E[X]/(2 − E[X]/p)", low.At(2), two, 1e-12))
	}
	f.Checks = append(f.Checks,
		plots.SolverCheck(momentPanel, "E[X²], α = 0.5, from the closed form of k", second.At(0.5),
			ParetoMoment(2, half, high, 0.5), 1e-10),
		plots.SolverCheck(momentPanel, "E[X²], α = 2, from the closed form of k", second.At(2),
			ParetoMoment(2, two, high, 2), 1e-10))
}

// secondMoment draws the smallest size and E[X²] for p = 10^10.
func secondMoment(ctx context.Context, f *plots.Figure) error {
	a := append(plots.Grid(4, 40, 80), plots.Grid(11, 40, 20)...)
	low, second, _, err := moments(ctx, a, wide)
	if err != nil {
		return err
	}
	f.Panels = []plots.Panel{
		{Title: "Smallest size", X: alphaAxis(),
			Y:      plots.Axis{Quantity: "smallest size", Symbol: "k", Unit: "s", Scale: plots.Log},
			Series: []plots.Series{named(low, "p = 10¹⁰ s", tagsLook, false)}},
		{Title: "Second moment", X: alphaAxis(),
			Y:      plots.Axis{Quantity: "second moment", Symbol: "E[X²]", Unit: "s²", Scale: plots.Log},
			Series: []plots.Series{named(second, "p = 10¹⁰ s", tagsLook, false)}},
	}
	type example struct{ Alpha, Low, Second float64 }
	var examples []example
	for _, alpha := range []float64{0.5, 1, 1.5, 2} {
		examples = append(examples, example{alpha, low.At(alpha), second.At(alpha)})
	}
	closedForms(f, f.ID+"a", f.ID+"b", wide, low, second)

	// The load carried by the longest jobs.
	half := func(alpha float64) (float64, error) {
		m, err := farm(alpha, wide, 1, 0.5)
		if err != nil {
			return 0, err
		}
		least, most, _ := m.Sizes.Support()
		n := sort.Search(1<<20, func(n int) bool {
			x := least * math.Pow(most/least, float64(n)/(1<<20))
			v, momentErr := m.Sizes.PartialMoment(1, x, most)
			err = errors.Join(err, momentErr)
			return v <= paretoMean/2
		})
		return m.Sizes.Survival(least * math.Pow(most/least, float64(n)/(1<<20))), err
	}
	var percent [4]float64
	for k, alpha := range []float64{1, 1.15, 1.2, 1.5} {
		part, err := half(alpha)
		if err != nil {
			return err
		}
		percent[k] = 100 * part
	}
	m, err := farm(0.2, wide, 1, 0.5)
	if err != nil {
		return err
	}
	var carried [2]float64
	for k, fraction := range []float64{1e-6, 1e-4} {
		x, err := m.Sizes.Quantile(1 - fraction)
		if err != nil {
			return err
		}
		v, err := m.Sizes.PartialMoment(1, x, wide)
		if err != nil {
			return err
		}
		carried[k] = v / paretoMean
	}
	words, verdicts := paretoWords(wide, "", "", a), plots.Verdicts{}
	words["Examples"], words["HalfPercent"], words["Carried"] = examples, percent, carried
	verdicts.Decide("longest", plots.Under(1).Has(percent[:]...))
	verdicts.Decide("carried", carried[0] >= 0.5 && carried[1] >= 0.99999)
	return texts.Describe(f, words, verdicts)
}

// smallerMoment draws E[X²] and the coefficient of variation for p = 10^7.
func smallerMoment(ctx context.Context, f *plots.Figure) error {
	a := paperAlphas()
	low, second, variation, err := moments(ctx, a, narrow)
	if err != nil {
		return err
	}
	wideLow, wideSecond, wideVariation, err := moments(ctx, a, wide)
	if err != nil {
		return err
	}
	pair := func(s, w plots.Series) []plots.Series {
		return []plots.Series{named(s, "p = 10⁷ s", tagsLook, false), named(w, "p = 10¹⁰ s", leastLook, true)}
	}
	f.Panels = []plots.Panel{
		{Title: "Second moment", X: alphaAxis(),
			Y:      plots.Axis{Quantity: "second moment", Symbol: "E[X²]", Unit: "s²", Scale: plots.Log},
			Series: pair(second, wideSecond)},
		{Title: "Coefficient of variation", X: alphaAxis(),
			Y:      plots.Axis{Quantity: "coefficient of variation", Symbol: "C", Scale: plots.Log},
			Series: pair(variation, wideVariation)},
	}
	closedForms(f, "", f.ID+"a", narrow, low, second)
	root := second
	root.Y = nil
	for _, square := range second.Y {
		root.Y = append(root.Y, math.Sqrt(square)/paretoMean)
	}
	words, verdicts := paretoWords(narrow, "", "", a), plots.Verdicts{}
	words["C"], words["Root"], words["WideLow"], words["Low"] = variation, root, wideLow.At(1), low.At(1)
	wideOrders, orders := math.Log10(wide/wideLow.At(1)), math.Log10(narrow/low.At(1))
	words["WideOrders"], words["Orders"] = wideOrders, orders
	verdicts.Decide("variation", plots.Rounded(2).Has(variation.At(2)) && plots.Rounded(33).Has(variation.At(0.2)))
	verdicts.Decide("orders", math.Floor(wideLow.At(1)) == 167 && plots.Rounded(287).Has(low.At(1)) &&
		plots.Rounded(8).Has(wideOrders) && plots.Rounded(5).Has(orders))
	return texts.Describe(f, words, verdicts)
}
