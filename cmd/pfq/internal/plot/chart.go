package plot

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/input"
	"productform/plots"
	"productform/sim"
	simcluster "productform/sim/cluster"
)

const estimateLook = 7 // dark grey

// A chart is the common part of panels against load.
type chart struct {
	x        plots.Axis // its title is that of the axis
	factors  []*big.Rat // factors with known numbers
	asked    []*big.Rat // nil if no factors were requested
	critical *big.Rat   // smallest factor without numbers; nil if there are numbers at all factors
	beyond   string     // text for the requested factors without values
	points   []point    // nil without simulation
	apart    bool       // whether points may lie off the curves and look like them
	table    bool       // whether the output is a table, not a picture

	unsolved []plots.Region // regions without theoretical numbers
}

// fortieths is the number of equal parts of the critical factor at whose ends clusters are drawn,
// and other models as far as numbers are known.
const fortieths = 40

// twentieths is the number of equal parts of the critical factor at whose ends pools are drawn:
// near it chains have many states.
const twentieths = 20

// chart returns the panels against load: at the requested factors below the critical one, or at its
// n-ths.
func (f *question) chart(critical *big.Rat, n int64) chart {
	c := chart{x: plots.Axis{Quantity: "load", Unit: "times the arrival rates"},
		asked: f.scaling.Factors, critical: critical, beyond: "unstable", table: f.table,
		factors: f.loads(critical, n)}
	if !f.table && critical != nil {
		c.x.Unit += "; stable below " + plots.Short(float(critical))
	}
	return c
}

// checkCritical returns an error if the critical factor is beyond the range of float64, in which
// loads are drawn.
func checkCritical(critical *big.Rat) error {
	if v := float(critical); v == 0 || math.IsInf(v, 0) {
		return input.Errorf("model", "a critical load beyond 1e±308",
			"a load within the range of float64: count time, or work, in other units")
	}
	return nil
}

// loads returns the factors below the critical one that are drawn; those requested if it is nil.
func (f *question) loads(critical *big.Rat, n int64) (factors []*big.Rat) {
	if critical == nil {
		return f.scaling.Factors
	}
	if f.scaling.Factors == nil {
		for k := int64(1); k < n; k++ {
			factors = append(factors, new(big.Rat).Mul(critical, big.NewRat(k, n)))
		}
		return factors
	}
	for _, factor := range f.scaling.Factors {
		if factor.Cmp(critical) < 0 {
			factors = append(factors, factor)
		}
	}
	return factors
}

// A quantity is shown by one or more panels.
type quantity struct {
	title      string // "" for the name
	name, unit string
	rows       []string                         // classes or servers with curves
	drawn      []int                            // rows that are drawn; nil for all
	theory     func(load, row int) *float64     // nil for a class without arrivals, and if theory has no number
	simulated  func(p point, row int) *estimate // nil if there are too few jobs for an estimate
	grows      bool                             // without bound near the limit of stability
	part       bool                             // whether it is a fraction, at most 1
	apart      bool                             // whether there are no curves through the points
}

// quantityOf returns the quantity that a word of --show selects, and its name in results of theory
// and simulation.
func quantityOf(word string) (q quantity, field string) {
	of, time := sim.OfClass, "units of time"
	switch word {
	case delay:
		field, q.unit, q.grows = sim.MeanDelay, time, true
	case waiting:
		field, q.unit, q.grows = simcluster.MeanWaiting, time, true
	case jobs:
		field, q.grows = sim.MeanJobs, true
	case queue:
		field, q.grows = simcluster.MeanQueue, true
	case rate:
		field, q.unit = sim.ServiceRate, "work per unit of time"
	case waits:
		field, q.part = simcluster.WaitProbability, true
	case abandons:
		field, q.part = simcluster.AbandonProbability, true
	case timesOut:
		field, q.part = simcluster.TimeoutProbability, true
	case waste:
		field, q.part = "fifo_waste", true
	case utilization:
		field, q.part, of = sim.Utilization, true, sim.OfServer
	}
	q.name = strings.ReplaceAll(field, "_", " ")
	q.simulated = func(p point, row int) *estimate { return mean(p.result.Estimate(of, row, field)) }
	return q, field
}

// known returns a number of a record, nil if it does not exist, or 0 if it is outside the range of
// float64.
func known(v any) *float64 {
	if n := command.ExactValue(v); n != nil {
		return &n.Float
	}
	return nil
}

// An estimate is a simulated number with its interval.
type estimate struct{ value, low, high float64 }

func mean(e *sim.Estimate) *estimate {
	if e == nil {
		return nil
	}
	return &estimate{e.Mean, e.Mean - e.HalfWidth, e.Mean + e.HalfWidth}
}

// panels returns the panels of a quantity: one, or several with the same axes if there are many
// curves.
func (c *chart) panels(q quantity) (panels []plots.Panel) {
	var rows []int
	for row := range q.rows {
		if q.drawn != nil && !slices.Contains(q.drawn, row) {
			continue
		}
		if c.isKnown(q, row) || c.isSimulated(q, row) { // a class without arrivals has no delay
			rows = append(rows, row)
		}
	}
	count := plots.PanelsOf(len(rows))
	y := c.axis(q, rows)
	for k := range count {
		part := rows[k*len(rows)/count : (k+1)*len(rows)/count]
		panel := plots.Panel{Title: cmp.Or(q.title, q.name), X: c.loadAxis(), Y: y,
			Regions: slices.Concat(c.unsolved, c.regions())}
		if count > 1 {
			panel.Title = fmt.Sprintf("%s, %d of %d", panel.Title, k+1, count)
		}
		for look, row := range part {
			if s := c.curve(q, row, look); s.X != nil {
				panel.Series = append(panel.Series, s)
			}
		}
		panel.Series = append(panel.Series, c.estimates(q, part)...)
		panels = append(panels, panel)
	}
	return panels
}

// isKnown reports whether theory has a number of a row.
func (c *chart) isKnown(q quantity, row int) bool {
	for k := range c.factors {
		if q.theory(k, row) != nil {
			return true
		}
	}
	return false
}

// isSimulated reports whether there is an estimate of a row.
func (c *chart) isSimulated(q quantity, row int) bool {
	return slices.ContainsFunc(c.points, func(p point) bool { return q.simulated(p, row) != nil })
}

// curve returns the theoretical curve of a row.
func (c *chart) curve(q quantity, row, look int) plots.Series {
	s := plots.Series{Label: c.label(q.rows, row), Look: look}
	for k, factor := range c.factors {
		if y := q.theory(k, row); y != nil {
			s.X, s.Y = append(s.X, float(factor)), append(s.Y, *y)
		}
	}
	s.Marked = len(s.X) == 1 // a line would be invisible
	return s
}

// estimates returns the simulation results of some rows: one series for all in a picture in which
// each point lies on its curve, otherwise separate series.
func (c *chart) estimates(q quantity, rows []int) (all []plots.Series) {
	var together plots.Series
	for _, p := range c.points {
		for _, row := range rows {
			if v := q.simulated(p, row); v != nil {
				add(&together, float(c.factors[p.load]), v)
			}
		}
	}
	if len(together.X) == 0 {
		return nil
	}
	together.Label, together.Kind, together.Look = "simulated", plots.Points, estimateLook
	if !c.table && !c.apart && !q.apart {
		return []plots.Series{together}
	}
	for look, row := range rows {
		s := plots.Series{Label: c.label(q.rows, row), Kind: plots.Points, Look: look}
		if c.table {
			s.Group = together.Label
		}
		for _, p := range c.points {
			if v := q.simulated(p, row); v != nil {
				add(&s, float(c.factors[p.load]), v)
			}
		}
		if len(s.X) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// add adds a point.
func add(s *plots.Series, x float64, v *estimate) {
	s.X, s.Y, s.Low, s.High = append(s.X, x), append(s.Y, v.value), append(s.Low, v.low), append(s.High, v.high)
}

// loadAxis returns the horizontal axis, which ends at the critical factor unless factors are given.
func (c *chart) loadAxis() plots.Axis {
	a := c.x
	if c.asked == nil {
		a.Max = float(c.critical)
		return a
	}
	const narrow = 1e-6 // an axis this narrow has no ticks
	switch first, last := float(c.factors[0]), float(c.asked[len(c.asked)-1]); {
	case last-first < narrow*last:
	case first < last/2:
		a.Max = last
	default:
		a.Min, a.Max = first, last
	}
	return a
}

// regions returns the requested factors beyond the critical one.
func (c *chart) regions() []plots.Region {
	if c.asked == nil || c.critical == nil || len(c.factors) == len(c.asked) {
		return nil
	}
	last := float(c.asked[len(c.asked)-1])
	if from := float(c.critical); from < last {
		return []plots.Region{{Label: c.beyond, From: from, To: last}}
	}
	return nil
}

// axis returns the vertical axis of a quantity, from 0, or logarithmic if values differ widely.
func (c *chart) axis(q quantity, rows []int) plots.Axis {
	var values []float64
	for _, row := range rows {
		for k := range c.factors {
			if y := q.theory(k, row); y != nil {
				values = append(values, *y)
			}
		}
		for _, p := range c.points {
			if v := q.simulated(p, row); v != nil {
				values = append(values, v.low, v.high)
			}
		}
	}
	a := plots.Axis{Quantity: q.name, Unit: q.unit}.Hold(values, q.grows)
	if q.part && len(values) > 0 {
		a.Max = max(1, slices.Max(values)) // intervals may extend above 1
	}
	return a
}

// label returns a name; in a picture it fits next to a curve and differs from the names of other
// rows.
func (c *chart) label(names []string, row int) string { return c.named(names, row, 24) }

// short returns a name; in a picture two of them fit into a title, and it differs from the names of
// other rows.
func (c *chart) short(names []string, row int) string { return c.named(names, row, 16) }

// named returns a name; in a picture it has at most the given number of letters.
func (c *chart) named(names []string, row, most int) string {
	if c.table {
		return names[row]
	}
	return shortened(names, row, most)
}

// shortened returns a name of at most the given number of letters, distinct from those of other
// rows.
func shortened(names []string, row, most int) string {
	name := []rune(names[row])
	if len(name) <= most {
		return names[row]
	}
	return fmt.Sprintf("%s… (%d)", string(name[:most-6]), row+1)
}

// checkPanels rejects a picture that needs more panels than fit.
func checkPanels(field, value string, count int, instead ...string) error {
	if count <= plots.MostPanels {
		return nil
	}
	want := fmt.Sprintf("less to draw: at most %d panels of %d curves, not %d", plots.MostPanels, plots.MostCurves,
		count)
	if len(instead) > 0 {
		want += "; with " + strings.Join(instead, " and ") + " there is less"
	}
	return &input.Error{Path: field, Value: value, Want: want}
}

func float(v *big.Rat) float64 {
	f, _ := v.Float64()
	return f
}
