package bc17

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/bf"
	"productform/num"
	"productform/plots"
	"productform/sim"
)

// A histogram is one panel with the distribution of the number of jobs in a cluster.
type histogram struct {
	configuration
	rho   *big.Rat
	most  int // largest number of jobs computed
	scale plots.Scale
	step  int // step between the numbers of jobs shown for one simulation
	runs  []histogramRun
}

// A histogramRun is the simulation for a histogram.
type histogramRun struct {
	label string
	look  int
	exact bool // whether balanced fairness is exact for it
	run   *plots.Simulation
}

// loadedWords holds the data for texts about a cluster at one load.
type loadedWords struct {
	Short, ID string
	Load      *big.Rat
	Words     systemWords
}

// leastShown is the smallest probability shown.
const leastShown = 2e-5

// axisStep divides the ends of the axis of a distribution that is far from 0.
const axisStep = 50

// longerFive is the factor on the jumps of a run with m = 5, most of which are interruptions.
const longerFive = 4

// distribution returns the figure of the distribution of the number of jobs in a small cluster and
// in a large one.
func distribution(id string, small, large configuration) plots.Spec {
	title := "Distribution of the number of jobs"
	prepare := func(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
		panels := []*histogram{
			{configuration: small, rho: big.NewRat(8, 10), most: 100, scale: plots.Log, step: 3},
			{configuration: large, rho: big.NewRat(9, 10), most: 500, step: 12},
		}
		zipf := sizeDistributions()[2]
		for _, h := range panels {
			s := sim.Settings{Distribution: h.most}
			fcfs, err := h.simulateAt(ctx, p, e, h.rho, exponentialSizes(), 0, s)
			if err != nil {
				return nil, err
			}
			s.Jumps, s.WarmUp = longerFive*e.Jumps, longerFive*e.WarmUp
			five, err := h.simulateAt(ctx, p, e, h.rho, zipf, 5, s)
			if err != nil {
				return nil, err
			}
			h.runs = []histogramRun{{"FCFS, exponential sizes", fcfsLook, true, fcfs},
				{"m = 5, Zipf sizes", fiveLook, false, five}}
			if h.Sharing {
				shared, err := h.shareAt(ctx, p, e, h.rho, zipf, sim.Settings{Distribution: h.most})
				if err != nil {
					return nil, err
				}
				h.runs = append(h.runs, histogramRun{"processor sharing, Zipf sizes", sharingLook, true, shared})
			}
		}
		return func(ctx context.Context, f *plots.Figure) error {
			var systems []loadedWords
			unseen := 0
			for k, h := range panels {
				if err := ctx.Err(); err != nil {
					return err
				}
				solved, err := bf.Answer(
					ctx, h.at(h.rho, big.NewRat(1, 1)), bf.Question{MaxJobs: h.most}, bf.Settings{},
				)
				if err != nil {
					return err
				}
				panel, missed := h.panel(solved.JobsDistribution)
				unseen += missed
				f.Panels = append(f.Panels, panel)
				f.Checks = append(f.Checks, h.check(fmt.Sprintf("%s%c", id, 'a'+k), solved.JobsDistribution)...)
				systems = append(systems, loadedWords{h.Short, h.ID, h.rho, h.Words})
			}
			f.OneLegend = true
			return texts.Describe(f, map[string]any{
				"Systems": systems, "Least": leastShown, "Zipf": zipf.Words, "Runs": runWords(p, e),
				"Longer": longerFive, "Unseen": unseen,
			}, nil)
		}, nil
	}
	return plots.Spec{ID: id, Title: title, Prepare: prepare}
}

// sharingLook is the look of processor sharing.
const sharingLook = 3

// panel draws exact probabilities as a curve and simulated ones as points, and counts the points
// without observations.
func (h *histogram) panel(exact []num.Value) (panel plots.Panel, unseen int) {
	panel = plots.Panel{
		Title: h.Short + ", load " + plots.Decimal(h.rho),
		X:     plots.Axis{Quantity: "number of jobs", Symbol: "n"},
		Y:     plots.Axis{Quantity: "probability of n jobs", Scale: h.scale},
	}
	curve := plots.Series{Label: "balanced fairness", Look: balancedLook}
	first, last := -1, 0
	for n, v := range exact {
		if v.Float < leastShown {
			continue
		}
		if first < 0 {
			first = n
		}
		last = n
		curve.X, curve.Y = append(curve.X, float64(n)), append(curve.Y, v.Float)
	}
	if first >= axisStep {
		panel.X.Min, panel.X.Max = axisStep*math.Floor(float64(first)/axisStep),
			axisStep*math.Ceil(float64(last)/axisStep)
	}
	panel.Series = append(panel.Series, curve)
	for k, g := range h.runs {
		s := plots.Series{Label: g.label, Kind: plots.Points, Look: g.look}
		for n := first + k*h.step/len(h.runs); n <= last; n += h.step {
			mean, low, high, err := plots.LogInterval(&g.run.Result.Distribution[n])
			if err != nil {
				unseen++
				continue
			}
			s.X, s.Y, s.Low, s.High = append(s.X, float64(n)), append(s.Y, mean), append(s.Low, low), append(s.High,
				high)
		}
		if len(s.X) > 0 {
			panel.Series = append(panel.Series, s)
		}
	}
	return panel, unseen
}

// check compares the probabilities at the median and at the first and last deciles of the
// distribution.
func (h *histogram) check(figure string, exact []num.Value) []plots.Check {
	var checks []plots.Check
	for _, g := range h.runs {
		if !g.exact {
			continue
		}
		for _, part := range []float64{0.5, 0.1, 0.9} {
			n, sum := 0, exact[0].Float
			for sum < part {
				n++
				sum += exact[n].Float
			}
			quantity := fmt.Sprintf("probability of %d jobs, %s, load %s", n, g.label, plots.Decimal(h.rho))
			checks = append(checks,
				plots.SimulatedCheck(figure, quantity, exact[n].Float, &g.run.Result.Distribution[n], g.run.Name))
		}
	}
	return checks
}
