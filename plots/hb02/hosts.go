package hb02

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"productform/plots"
	"productform/tags"
)

// An expansionPolicy is the server expansion of one policy.
type expansionPolicy struct {
	label  string
	look   int
	thin   bool
	policy tags.Policy
}

// expansion draws Figure 13: the fewest hosts to add to two for a mean slowdown of 3.
func expansion(id, title string) plots.Spec {
	prepare := func(_ context.Context, e plots.Effort, _ *plots.Plan) (plots.Build, error) {
		a := plots.Grid(20, 200, 100)
		if e.Precision == plots.Draft {
			a = plots.Grid(4, 40, 20)
		}
		return func(ctx context.Context, f *plots.Figure) error { return drawExpansion(ctx, f, a) }, nil
	}
	return plots.Spec{ID: id, Title: title, Prepare: prepare}
}

// The system that is expanded.
const (
	startHosts = 2
	startLoad  = 0.7
)

// added returns the hosts to add under a policy against α.
func (g expansionPolicy) added(ctx context.Context, a []float64) (plots.Series, error) {
	s := plots.Series{Label: g.label, Look: g.look, Thin: g.thin, Kind: plots.Steps}
	if g.policy == tags.PolicyRandom {
		s.Kind = plots.Curve // steps of a single host would be too small to see
	}
	for _, alpha := range a {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		m, err := farm(alpha, wide, startHosts, startLoad)
		if err != nil {
			return s, err
		}
		x, err := tags.Expand(ctx, m, g.policy, tags.ExpansionSettings{})
		if err != nil {
			return s, fmt.Errorf("%s, α = %g: %w", g.label, alpha, err)
		}
		if !x.Within {
			return s, fmt.Errorf("%s, α = %g: no number of hosts gives a mean slowdown of 3", g.label, alpha)
		}
		s.X, s.Y = append(s.X, alpha), append(s.Y, x.Extra.Float)
	}
	return s, nil
}

func drawExpansion(ctx context.Context, f *plots.Figure, a []float64) error {
	var all []plots.Series
	for _, g := range []expansionPolicy{
		{"TAGS-opt-slowdown", tagsLook, false, tags.PolicyTAGS},
		{"LWR", leastLook, false, tags.PolicyCentral},
		{"LWR as printed", printedLook, true, tags.PolicyCentralPrinted},
		{"Random", randomLook, false, tags.PolicyRandom},
	} {
		s, err := g.added(ctx, a)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	few := slices.Clone(all[:3])
	for _, s := range all[:3] {
		if last := len(s.Y) - 1; s.Y[last] != s.Y[last-1] { // a step without width
			few = append(few, lastPoint(s, s.Label, s.Look))
		}
	}
	f.Panels = []plots.Panel{
		{Title: "TAGS and LWR", X: alphaAxis(), Y: plots.Axis{Quantity: "hosts to add"}, Series: few},
		{Title: "All policies", X: alphaAxis(), Y: plots.Axis{Quantity: "hosts to add", Scale: plots.Log}, Series: all},
	}
	f.OneLegend = true
	words, verdicts := paretoWords(wide, "2 before the expansion", "0.7 before the expansion", a), plots.Verdicts{}
	best, least, printed, random := all[0], all[1], all[2], all[3]
	if err := checkExpansion(f, least, random); err != nil {
		return err
	}
	rangeClaims(words, verdicts, best, least, printed, random)
	if err := exampleClaims(ctx, words, verdicts, least, printed, random); err != nil {
		return err
	}
	return texts.Describe(f, words, verdicts)
}

// lastPoint returns the last point of a series, as points.
func lastPoint(s plots.Series, label string, look int) plots.Series {
	last := len(s.X) - 1
	return plots.Series{Label: label, Kind: plots.Points, Look: look, X: s.X[last:], Y: s.Y[last:]}
}

// lastCutoffs names the last point of a curve at which some cutoffs keep every host below load 1.
const lastCutoffs = "last with cutoffs"

// checkExpansion compares with the formulas as printed in the paper.
func checkExpansion(f *plots.Figure, least, random plots.Series) error {
	for _, alpha := range []float64{0.2, 1, 2} {
		fewest, err := addedHosts(alpha, startLoad, startHosts)
		if err != nil {
			return err
		}
		m, err := farm(alpha, wide, startHosts, startLoad)
		if err != nil {
			return err
		}
		q := literal(m, alpha)
		moment := func(j float64) float64 { return ParetoMoment(j, q.Low, q.High, alpha) }
		work := startLoad * startHosts
		added := math.Ceil(work+work*moment(2)/moment(1)*moment(-1)/6) - startHosts
		f.Checks = append(f.Checks,
			plots.SolverCheck(f.ID+"a", fmt.Sprintf("hosts to add, Least-Work-Remaining, α = %g, with the sum over "+
				"states of M/M/h", alpha), least.At(alpha), fewest, 0),
			plots.SolverCheck(f.ID+"b", fmt.Sprintf("hosts to add, Random, α = %g, by its formula", alpha),
				random.At(alpha), added, 1e-12))
	}
	return nil
}

// rangeClaims decides the claims of the paper about the curves.
func rangeClaims(words map[string]any, verdicts plots.Verdicts, best, least, printed, random plots.Series) {
	var above []string // α for which TAGS needs 3 or more hosts
	most, from := 0.0, math.NaN()
	for k, x := range best.X {
		most = max(most, best.Y[k])
		if best.Y[k] > 2 && math.IsNaN(from) {
			from = x
		}
		if last := k+1 == len(best.X); !math.IsNaN(from) && (last || best.Y[k+1] <= 2) {
			above = append(above, fmt.Sprintf("%g to %g", from, x))
			from = math.NaN()
		}
	}
	high := false // at an α other than 0.2
	for _, x := range tenths()[1:] {
		high = high || best.At(x) > 2
	}
	lowest, highest := slices.Min(least.Y), slices.Max(least.Y)
	words["Most"], words["Above"], words["Lowest"], words["Highest"] = most, above, lowest, highest
	words["LowestPrinted"], words["HighestPrinted"], words["Random"] = slices.Min(printed.Y),
		slices.Max(printed.Y), random
	verdicts.Decide("TAGS", best.At(0.2) == 3 && !high)
	verdicts.Decide("LWR", lowest == 1 && highest == 27)
	verdicts.Decide("Random", plots.PowerOfTen(5).Has(random.At(1)))
}

// exampleClaims decides the claims of the paper about α = 0.6.
func exampleClaims(ctx context.Context, words map[string]any, verdicts plots.Verdicts, least, printed,
	random plots.Series) error {
	const alpha = 0.6
	at := func(c method, hosts int) (float64, error) {
		m, err := farm(alpha, wide, hosts, startLoad*startHosts/float64(hosts))
		if err != nil {
			return 0, err
		}
		v, err := c.means(ctx, m)
		return v.slowdown, err
	}
	before, err := at(forSlowdown(), 2)
	if err != nil {
		return err
	}
	killed, err := at(forSlowdown(), 4)
	if err != nil {
		return err
	}
	four, err := at(leastWork(), 4)
	if err != nil {
		return err
	}
	thirteen, err := at(leastWork(), 13)
	if err != nil {
		return err
	}
	fewest := least.At(alpha) + startHosts
	words["TwoHosts"], words["FourHosts"], words["LWRFour"], words["LWRThirteen"] = before, killed, four, thirteen
	words["LWRFewest"], words["PrintedFewest"] = fewest, printed.At(alpha)+startHosts
	verdicts.Decide("TAGS-0.6", math.Round(before/1e9) == 1 && killed <= math.Sqrt(10))
	verdicts.Decide("LWR-0.6", math.Abs(math.Log10(four)-8) < 0.5 && fewest == 13)
	verdicts.Decide("Random-0.6", plots.PowerOfTen(9).Has(random.At(alpha)))
	return nil
}

// addedHosts tries increasing numbers of hosts under Least-Work-Remaining.
func addedHosts(alpha, load float64, hosts int) (float64, error) {
	for n := hosts; ; n++ {
		m, err := farm(alpha, wide, n, load*float64(hosts)/float64(n))
		if err != nil {
			return 0, err
		}
		if literal(m, alpha).LeastWorkSlowdown() <= 3 {
			return float64(n - hosts), nil
		}
	}
}

// moreHosts draws the minimum mean slowdown against the number of hosts at fixed system loads.
func moreHosts(id, title string) plots.Spec {
	prepare := func(_ context.Context, e plots.Effort, _ *plots.Plan) (plots.Build, error) {
		most := 16
		if e.Precision == plots.Draft {
			most = 6
		}
		return func(ctx context.Context, f *plots.Figure) error { return drawMoreHosts(ctx, f, most) }, nil
	}
	return plots.Spec{ID: id, Title: title, Prepare: prepare}
}

func drawMoreHosts(ctx context.Context, f *plots.Figure, most int) error {
	shown := []float64{0.2, 0.6, 1, 1.4, 1.8}
	hosts := plots.Axis{Quantity: "number of hosts", Symbol: "h", Min: 0.5, Max: float64(most) + 0.5}
	for _, h := range []float64{1, 2, 3, 4, 5, 6, 8, 12, 16} {
		if h <= hosts.Max {
			hosts.Ticks = append(hosts.Ticks, h)
		}
	}
	slowdown := slowdownAxis() // the same for all panels
	slowdown.Min, slowdown.Max, slowdown.Ticks = 1e-4, 1e29, []float64{1e-4, 1, 1e4, 1e8, 1e12, 1e16, 1e20, 1e24, 1e28}
	var ends []string
	for k, load := range paperLoads() {
		p := plots.Panel{Title: fmt.Sprintf("System load %g", load), X: hosts, Y: slowdown}
		for look, alpha := range shown {
			s, checks, err := byHosts(ctx, f.ID+string(rune('a'+k)), alpha, load, most)
			if err != nil {
				return err
			}
			s.Label, s.Look, s.Marked = fmt.Sprintf("α = %g", alpha), look, true
			if len(s.X) < most {
				ends = append(ends, fmt.Sprintf("h = %d at load %g, α = %g", len(s.X), load, alpha))
			}
			p.Series = append(p.Series, s)
			f.Checks = append(f.Checks, checks...)
		}
		for _, s := range p.Series {
			if len(s.X) < most {
				p.Series = append(p.Series, lastPoint(s, lastCutoffs, endLook))
			}
		}
		f.Panels = append(f.Panels, p)
	}
	f.OneLegend = true
	low, high := f.Panels[0].Series, f.Panels[2].Series
	var gained []float64
	for _, s := range low[:4] {
		gained = append(gained, s.At(2)/s.At(4))
	}
	words, verdicts := paretoWords(wide, fmt.Sprintf("1 to %d", most), "0.3, 0.5, 0.7", shown), plots.Verdicts{}
	words["Most"], words["Ends"], words["Gained"], words["Last"], words["High"] = most, ends, gained, low[4], high
	verdicts.Decide("more", slices.Min(gained[:3]) > 10 && gained[3] > 1)
	verdicts.Decide("load-0.7", len(high[0].X) < 4)
	return texts.Describe(f, words, verdicts)
}

// byHosts returns the minimum mean slowdown for 1, 2, ... hosts, as long as there are cutoffs, with
// checks.
func byHosts(ctx context.Context, figure string, alpha, load float64, most int) (s plots.Series, checks []plots.Check,
	err error) {
	for h := 1; h <= most; h++ {
		if err := ctx.Err(); err != nil {
			return s, nil, err
		}
		m, err := farm(alpha, wide, h, load)
		if err != nil {
			return s, nil, err
		}
		r, err := tags.Optimize(ctx, m, tags.PolicyTAGS, bySlowdown())
		if errors.Is(err, tags.ErrInfeasible) {
			break
		}
		if err != nil {
			return s, nil, err
		}
		s.X, s.Y = append(s.X, float64(h)), append(s.Y, r.MeanSlowdown.Float)
		switch q := literal(m, alpha); {
		case h == 1:
			checks = append(checks, plots.SolverCheck(figure,
				fmt.Sprintf("one host, load %g, α = %g, by Theorem 1", load, alpha), r.MeanSlowdown.Float,
				q.LeastWorkSlowdown(), 1e-9))
		case alpha == 1 && h <= 8:
			at, _ := q.Evaluate(r.Cutoffs...)
			checks = append(checks, plots.SolverCheck(figure,
				fmt.Sprintf("%d hosts, load %g, α = 1, by the formulas as printed", h, load), r.MeanSlowdown.Float,
				at.Slowdown, 1e-8))
		}
	}
	return s, checks, nil
}
