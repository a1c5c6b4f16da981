package gang

import (
	"context"
	"embed"
	"math"
	"math/big"
	"slices"

	"productform/cluster"
	exact "productform/gang"
	"productform/num"
	"productform/plots"
	"productform/sim"
	simcluster "productform/sim/cluster"
)

// Source returns the common source of the entries.
func Source() plots.Source {
	return plots.Source{
		Prefix: "gang", Name: "Jobs that need several servers", Title: "Jobs that need several servers",
		Claim: "If jobs hold several servers at once, first come, first served leaves servers idle while jobs wait; " +
			"the load limit and the mean waits can be computed exactly.",
		Verdict: "Simulations agree. A few jobs that need all servers can halve the load limit. At a load above " +
			"it, waits under backfilling stay short.",
		Figures: len(Figures()),
	}
}

// Figures returns the entries.
func Figures() []plots.Spec {
	return []plots.Spec{{ID: "gang-1", Title: "Cost of blocking", Prepare: prepare}}
}

// texts are the captions and parameters.
var texts = plots.NewTexts(textFiles, "texts")

//go:embed texts
var textFiles embed.FS

const servers = 16

// waitLoad is the load of the panels of waits, as a fraction of all servers.
func waitLoad() *big.Rat { return big.NewRat(1, 2) }

// fullLoad is a load at which jobs always wait under first come, first served, if its limit is at
// most limitOfPoints.
func fullLoad() *big.Rat { return big.NewRat(99, 100) }

const limitOfPoints = 0.95

// needs returns the servers that a large job holds, by curve of the load limit. The panels of waits
// use the last one.
func needs() []int { return []int{4, 8, servers} }

// simulatedShares and exactShares return the shares of large jobs of points and lines.
func simulatedShares() (shares []*big.Rat) {
	for _, thousandths := range []int64{10, 30, 100, 300, 600, 900} {
		shares = append(shares, big.NewRat(thousandths, 1000))
	}
	return shares
}

func exactShares() (shares []*big.Rat) {
	const decades, points = 3, 32
	for k := range decades*points + 1 {
		shares = append(shares, rational(math.Pow(10, float64(k)/points-decades)))
	}
	return shares
}

// rational returns x as a short fraction.
func rational(x float64) *big.Rat {
	const digits = 1e9
	return big.NewRat(int64(math.Round(x*digits)), digits)
}

// model returns a cluster with this load, as a fraction of all servers. A share of its jobs holds
// need servers each, the others one. Jobs take one unit of time on average.
func model(share *big.Rat, need int, load *big.Rat) *cluster.Model {
	one := big.NewRat(1, 1)
	work := new(big.Rat).Mul(share, big.NewRat(int64(need-1), 1)) // servers per job: 1 + share (need - 1)
	rate := new(big.Rat).Mul(load, big.NewRat(servers, 1))
	rate.Quo(rate, work.Add(work, one))
	large := new(big.Rat).Mul(rate, share)
	return &cluster.Model{Service: cluster.Gang, Servers: []cluster.Server{{Name: "servers", Count: servers}},
		Classes: []cluster.Class{
			{Name: "small", ArrivalRate: rate.Sub(rate, large), Needs: []cluster.Choice{{Choose: 1}}},
			{Name: "large", ArrivalRate: large, Needs: []cluster.Choice{{Choose: need}}},
		}}
}

// limit returns the load limit under first come, first served, as a fraction of all servers.
func limit(ctx context.Context, share *big.Rat, need int) (float64, error) {
	r, err := exact.CheckStability(ctx, model(share, need, waitLoad()), exact.Settings{Engine: num.Float})
	if err != nil {
		return 0, err
	}
	return 1 - r.FIFOWaste.Float, nil
}

// prepare plans gang-1.
func prepare(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
	full, err := planLimits(ctx, e, p)
	if err != nil {
		return nil, err
	}
	waits, err := planWaits(ctx, e, p)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, f *plots.Figure) error {
		if err := drawLimits(ctx, f, full); err != nil {
			return err
		}
		if err := drawWaits(ctx, f, waits); err != nil {
			return err
		}
		if err := checkEnds(ctx, f); err != nil {
			return err
		}
		e.CheckRuns = e.Runs
		words := p.RunWords(e, "arrivals, departures")
		words.Warned = slices.DeleteFunc(words.Warned, func(name string) bool { // overloaded on purpose
			return slices.ContainsFunc(full, func(q point) bool { return q.run.Name == name })
		})
		unstable, err := unstableShares(ctx)
		if err != nil {
			return err
		}
		return texts.Describe(f, map[string]any{
			"Servers": servers, "Load": waitLoad(), "Full": fullLoad(),
			"From": 100 * unstable.From, "To": 100 * unstable.To,
			"Rare": rare(), "Simulated": simulatedShares(), "Runs": words,
		}, nil)
	}, nil
}

// A point is a simulation at a share of large jobs.
type point struct {
	policy simcluster.Policy
	need   int
	share  *big.Rat
	run    *plots.Simulation
}

// rare is the share of large jobs up to which runs are long.
func rare() *big.Rat { return big.NewRat(1, 100) }

// plan adds a simulation to the plan.
func (q point) plan(ctx context.Context, e plots.Effort, p *plots.Plan, name string, load *big.Rat) (point, error) {
	system := simcluster.Cluster{Model: model(q.share, q.need, load), Policy: q.policy}
	var length sim.Settings
	if q.share.Cmp(rare()) > 0 {
		length = sim.Settings{Jumps: plots.Shorter(e.Jumps), WarmUp: plots.Shorter(e.WarmUp)}
	}
	run, err := p.Simulate(ctx, name, system, e, length)
	q.run = run
	return q, err
}

// axis returns the horizontal axis of all panels.
func axis() plots.Axis {
	return plots.Axis{Quantity: "share of large jobs", Scale: plots.Log, Min: 1e-3, Max: 1,
		Ticks: []float64{1e-3, 1e-2, 1e-1, 1}}
}
