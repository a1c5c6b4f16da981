package network

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"productform/network"
	"productform/sim"
	"productform/sim/internal/simtest"
)

// Response times of a tandem have the exact percentiles; with processor sharing, they have the exact
// mean. Without percentiles they are not observed.
func TestResponseTimesMatchTheory(t *testing.T) {
	m, err := network.Read(strings.NewReader(`
stations: [{name: think, discipline: delay}, {name: a, discipline: fcfs}, {name: b, discipline: fcfs},
  {name: c, discipline: sharing}]
classes:
- {name: web, population: 2, visits: [{station: c, mean_size: 1/2, next: {c: 1/2, think: 1/2}},
  {station: think, next: {c: 1}}]}
- {name: user, population: 8, visits: [{station: think, mean_size: 4, next: {a: 1}}, {station: a, mean_size: 1/2,
  next: {b: 1}}, {station: b, mean_size: 2/5, next: {think: 1}}]}
- {name: open, arrival_rate: 1/4, visits: [{station: c, next: {out: 1}}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	levels := []float64{0.5, 0.95}
	settings := sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 2.5e3, Seed: 1, Levels: levels}
	r, err := sim.Run(t.Context(), Network{Model: m}, settings)
	if err != nil {
		t.Fatal(err)
	}
	row := func(chain string) int {
		return slices.IndexFunc(r.Visits, func(v sim.Class) bool { return v.Name == ResponseTime(chain) })
	}
	if row("open") >= 0 || row("web") != 6 || row("user") != 7 {
		t.Fatalf("rows %d, %d, %d", row("web"), row("user"), row("open"))
	}
	exact, err := network.ResponseTimes(t.Context(), m, []*big.Rat{rat("0.5"), rat("0.95")}, nil, network.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for k, level := range levels {
		q, want := r.Quantile(sim.OfVisit, row("user"), level), exact[1].Quantiles[k].Float
		if z := q.Z(want); !(math.Abs(z) < 5) {
			t.Errorf("percentile %v is %v, want %v (z %v)", level, q.Value, want, z)
		}
	}
	solved, err := network.Solve(t.Context(), m, network.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for k, chain := range []string{"web", "user"} {
		simtest.Near(t, "mean response time of "+chain, r.Estimate(sim.OfVisit, row(chain), sim.MeasuredDelay),
			solved.Chains[k].MeanResponseTime.Float)
	}
	none, err := sim.Run(t.Context(), Network{Model: m}, sim.Settings{Runs: 2, Jumps: 2e3, Seed: 1})
	if err != nil || len(none.Visits) != 6 {
		t.Errorf("%d visits, %v, want those of the model", len(none.Visits), err)
	}
}
