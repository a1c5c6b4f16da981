package net

import (
	"context"
	"embed"
	"fmt"
	"math"
	"math/big"

	"productform/plots"
	"productform/sim"
	"productform/sizes"
)

// Source returns the common source of the entries.
func Source() plots.Source {
	return plots.Source{
		Prefix: "net", Name: "Networks", Title: "Networks of stations, losses, and pass-and-swap queues",
		Claim: "Product forms reach beyond one cluster: closed networks, loss systems, token balancers, " +
			"pass-and-swap queues.",
		Verdict: "Exact numbers and simulations agree, even where textbook recursions lose all digits.",
		Figures: len(Figures()),
	}
}

// Figures returns the entries.
func Figures() []plots.Spec {
	return []plots.Spec{
		{ID: "net-1", Title: "An interactive system against its number of users", Prepare: prepareInteractive},
		plots.Exact("net-2", "Many servers: textbook mean value analysis loses all digits", textbooks),
		{ID: "net-3", Title: "Calls that are lost, for agents with one skill or both", Prepare: prepareSkills},
		{ID: "net-4", Title: "The server whose token was released first, against others", Prepare: prepareAssignments},
		{ID: "net-5", Title: "Losses depend on the sizes only under first come, first served", Prepare: prepareLosses},
		{ID: "net-6", Title: "Pass-and-swap queues against first come, first served", Prepare: prepareSwaps},
	}
}

// texts are the captions and parameters.
var texts = plots.NewTexts(textFiles, "texts")

//go:embed texts
var textFiles embed.FS

// The looks of curves and points, by meaning.
const (
	firstLook = iota
	secondLook
	thirdLook
	fourthLook
	fifthLook
)

// simulate adds a simulation to the plan.
func simulate(
	ctx context.Context, p *plots.Plan, name string, s sim.System, e plots.Effort,
) (*plots.Simulation, error) {
	return p.Simulate(ctx, name, s, e, sim.Settings{Jumps: e.RareJumps(), WarmUp: plots.Shorter(e.WarmUp)})
}

// runWords describes the simulations of a figure.
func runWords(p *plots.Plan, e plots.Effort, kinds string) plots.RunWords {
	e.Jumps, e.WarmUp, e.CheckRuns = e.RareJumps(), plots.Shorter(e.WarmUp), e.Runs
	return p.RunWords(e, kinds)
}

// A shape is a distribution of sizes with mean 1.
type shape struct {
	Name string
	SCV  int // squared coefficient of variation
}

// shapes returns the simulated distributions.
func shapes() []shape {
	return []shape{{"deterministic", 0}, {"exponential", 1}, {"hyperexponential:10", 10}}
}

// sizes returns the distribution.
func (s shape) sizes() (sizes.Distribution, error) { return sizes.Parse(s.Name, 1) }

func (s shape) label() string { return fmt.Sprintf("SCV %d", s.SCV) }

// seen reports whether an estimate can be drawn: short runs may miss rare events. Such points are
// omitted.
func seen(e *sim.Estimate) bool { return e != nil && e.HalfWidth <= 3*e.Mean && e.Mean > 0 }

// addPoint adds an estimate to points, with its interval. On a logarithmic axis the interval is
// computed for the logarithm.
func addPoint(s *plots.Series, x float64, e *sim.Estimate, scale plots.Scale) {
	mean, low, high := e.Mean, e.Mean-e.HalfWidth, e.Mean+e.HalfWidth
	if scale == plots.Log {
		factor := math.Exp(e.HalfWidth / e.Mean)
		low, high = mean/factor, mean*factor
	}
	s.X, s.Y, s.Low, s.High = append(s.X, x), append(s.Y, mean), append(s.Low, low), append(s.High, high)
}

// addSeen adds the series that have points.
func addSeen(p *plots.Panel, all ...plots.Series) {
	for _, s := range all {
		if len(s.X) > 0 {
			p.Series = append(p.Series, s)
		}
	}
}

// float returns a number in float64.
func float(v *big.Rat) float64 {
	x, _ := v.Float64()
	return x
}

// solverTolerance returns the tolerance for comparing two engines: the proved bound of one of them,
// plus two roundings.
func solverTolerance(bound float64) float64 { return bound + 0x1p-52 }
