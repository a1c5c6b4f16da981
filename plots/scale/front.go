// This file draws an overview of the project in one picture: how long do jobs take on all their
// servers, how long do they wait for one server, what should one buy, and which policy should
// dispatch them?
//
// The models are the examples of the README and the guide: a shop with two servers, a pool of GPUs,
// upgrades for the shop, and a year of a supercomputer.

package scale

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math/big"

	"productform/bf"
	"productform/cluster"
	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/dispatch/swf"
	"productform/num"
	"productform/oneserver"
	"productform/plan"
	"productform/plots"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/stability"
	"productform/traces"
)

// FrontSource returns the source of the entries.
func FrontSource() plots.Source {
	return plots.Source{
		Prefix: "front", Name: "This project", Title: "Four questions",
		Claim:   "Four questions about a shared cluster have exact answers, each from one command.",
		Verdict: "Simulations and other engines give the same numbers.",
		Figures: len(FrontFigures()),
	}
}

// FrontFigures returns the entries.
func FrontFigures() []plots.Spec {
	return []plots.Spec{{ID: "front-1", Title: "Four questions", Prepare: prepare}}
}

// frontTexts are the captions and parameters.
var frontTexts = plots.NewTexts(frontTextFiles, "texts")

//go:embed texts
var frontTextFiles embed.FS

// shop returns the cluster of the guide.
func shop() *cluster.Model {
	rat := big.NewRat
	return &cluster.Model{
		Servers: []cluster.Server{{Name: "big", Capacity: rat(2, 1)}, {Name: "small", Capacity: rat(1, 1)}},
		Classes: []cluster.Class{
			{Name: "web", ArrivalRate: rat(1, 1), Servers: cluster.On(0, 1)},
			{Name: "reports", ArrivalRate: rat(2, 5), Servers: cluster.On(1)},
		},
		MeanSize: rat(1, 1),
	}
}

// gpus returns the GPUs of the README.
func gpus() *cluster.Model {
	rat := big.NewRat
	return &cluster.Model{
		Service: cluster.OneServer,
		Servers: []cluster.Server{
			{Name: "new", Count: 8, Capacity: rat(3, 1)}, {Name: "old", Count: 16, Capacity: rat(1, 1)},
		},
		Classes: []cluster.Class{
			{Name: "team A", ArrivalRate: rat(14, 1), Servers: []cluster.Choice{{Server: 0, Choose: 8}}},
			{Name: "team B", ArrivalRate: rat(20, 1), Servers: []cluster.Choice{
				{Server: 0, Choose: 8}, {Server: 1, Choose: 16},
			}},
		},
		MeanSize: rat(1, 1),
	}
}

// gpuFactors returns the factors of the arrival rates at which the pool is simulated.
func gpuFactors() []*big.Rat {
	return []*big.Rat{big.NewRat(4, 5), big.NewRat(9, 10), big.NewRat(1, 1), big.NewRat(11, 10)}
}

// simulatedFactors returns the factors of the arrival rates at which the shop is simulated.
func simulatedFactors() []*big.Rat {
	var all []*big.Rat
	for k := int64(1); k <= 8; k++ {
		all = append(all, big.NewRat(k, 4))
	}
	return all
}

// prepare plans the simulations of the shop and of the pool.
func prepare(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
	var runs []*plots.Simulation
	for _, factor := range simulatedFactors() {
		system := simcluster.Cluster{Model: shop().Scale(factor), Policy: simcluster.FCFS}
		run, err := p.Simulate(ctx, "shop at "+factor.RatString()+" times its arrival rates", system, e, sim.Settings{})
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	var waits []*plots.Simulation
	for _, factor := range gpuFactors() {
		system := simcluster.Cluster{Model: gpus().Scale(factor), Policy: simcluster.LongestIdle}
		run, err := p.Simulate(ctx, "pool at "+factor.RatString()+" times its arrival rates", system, e, sim.Settings{})
		if err != nil {
			return nil, err
		}
		waits = append(waits, run)
	}
	return func(ctx context.Context, f *plots.Figure) error {
		for _, add := range []func(context.Context, *plots.Figure) error{
			func(ctx context.Context, f *plots.Figure) error { return addDelays(ctx, f, runs) },
			func(ctx context.Context, f *plots.Figure) error { return addWaits(ctx, f, waits) },
			addPlans, addDispatch,
		} {
			if err := add(ctx, f); err != nil {
				return err
			}
		}
		return frontTexts.Describe(f, map[string]any{
			"Runs":     p.RunWords(e, "arrivals and ends of jobs"),
			"Log":      plots.LogName,
			"LogWords": plots.LogWords,
		}, nil)
	}, nil
}

// unstable returns the region of an axis of loads where a cluster is not stable.
func unstable(ctx context.Context, m *cluster.Model, loads plots.Axis) ([]plots.Region, error) {
	r, err := stability.Cluster(ctx, m)
	if err != nil {
		return nil, err
	}
	limit, _ := r.CriticalScale.Float64()
	return []plots.Region{{Label: "unstable", From: limit, To: loads.Max}}, nil
}

// addDelays draws mean delays of the shop against the load, simulated and exact.
func addDelays(ctx context.Context, f *plots.Figure, runs []*plots.Simulation) error {
	var factors []*big.Rat
	for k := int64(1); k <= 211; k++ {
		factors = append(factors, big.NewRat(k, 100))
	}
	model, err := bf.Prepare(ctx, shop())
	if err != nil {
		return err
	}
	exact, err := model.Sweep(ctx, factors, bf.Question{}, bf.Settings{})
	if err != nil {
		return err
	}
	panel := plots.Panel{
		Title: "On all servers: how long do jobs take?",
		X:     plots.Axis{Quantity: "load (times the arrival rates)", Max: 2.4},
		Y:     plots.Axis{Quantity: "mean delay", Unit: "seconds", Scale: plots.Log, Min: 0.2, Max: 100},
	}
	if panel.Regions, err = unstable(ctx, shop(), panel.X); err != nil {
		return err
	}
	var points []plots.Series
	for i, class := range shop().Classes {
		line := plots.Series{Label: class.Name, Look: i}
		for k, r := range exact {
			x, _ := factors[k].Float64()
			line.X, line.Y = append(line.X, x), append(line.Y, r.Classes[i].MeanDelay.Float)
		}
		panel.Series = append(panel.Series, line)
		dots := plots.Series{Label: class.Name, Kind: plots.Points, Look: i}
		for k, factor := range simulatedFactors() {
			x, _ := factor.Float64()
			delay := runs[k].Result.Class(i, sim.MeanDelay)
			dots.X, dots.Y = append(dots.X, x), append(dots.Y, delay.Mean)
			dots.Low, dots.High = append(dots.Low, delay.Mean-delay.HalfWidth),
				append(dots.High, delay.Mean+delay.HalfWidth)
			f.Checks = append(f.Checks, plots.SimulatedCheck(
				f.ID+"a", fmt.Sprintf("mean delay of %s, load %s", class.Name, factor.RatString()),
				line.At(x), delay, runs[k].Name,
			))
		}
		points = append(points, dots)
	}
	panel.Series = append(panel.Series, points...)
	f.Panels = append(f.Panels, panel)
	return nil
}

// addWaits draws mean waiting times of the pool against the load, simulated and exact.
func addWaits(ctx context.Context, f *plots.Figure, runs []*plots.Simulation) error {
	const minutes = 60 // in an hour, the unit of the model
	m := gpus()
	panel := plots.Panel{
		Title: "On one server: how long do they wait?",
		X:     plots.Axis{Quantity: "load (times the arrival rates)", Min: 0.6, Max: 1.3},
		Y:     plots.Axis{Quantity: "mean waiting time", Unit: "minutes", Scale: plots.Log, Min: 0.01, Max: 100},
	}
	var err error
	if panel.Regions, err = unstable(ctx, m, panel.X); err != nil {
		return err
	}
	lines := make([]plots.Series, len(m.Classes))
	for k := int64(60); k <= 115; k++ {
		factor := big.NewRat(k, 100)
		x, _ := factor.Float64()
		r, err := oneserver.Solve(ctx, m.Scale(factor), oneserver.Settings{})
		if err != nil {
			return err
		}
		for i, class := range r.Classes {
			lines[i].X, lines[i].Y = append(lines[i].X, x), append(lines[i].Y, minutes*class.MeanWaiting.Float)
		}
	}
	dots := make([]plots.Series, len(m.Classes))
	for i, class := range m.Classes {
		lines[i].Label, lines[i].Look = class.Name, i
		dots[i] = plots.Series{Label: class.Name, Kind: plots.Points, Look: i}
		for k, factor := range gpuFactors() {
			x, _ := factor.Float64()
			wait := runs[k].Result.Class(i, simcluster.MeanWaiting)
			mean, low, high, err := plots.LogInterval(wait)
			if err != nil {
				return fmt.Errorf("%s: %w", runs[k].Name, err)
			}
			dots[i].X, dots[i].Y = append(dots[i].X, x), append(dots[i].Y, minutes*mean)
			dots[i].Low, dots[i].High = append(dots[i].Low, minutes*low), append(dots[i].High, minutes*high)
			f.Checks = append(f.Checks, plots.SimulatedCheck(
				f.ID+"b", fmt.Sprintf("mean waiting time of %s, load %s", class.Name, factor.RatString()),
				lines[i].At(x)/minutes, wait, runs[k].Name,
			))
		}
	}
	panel.Series = append(lines, dots...)
	f.Panels = append(f.Panels, panel)
	return nil
}

// purchases returns the possible purchases for the shop when its load grows by half.
func purchases() *plan.Problem {
	rat := big.NewRat
	return &plan.Problem{
		Model: shop(), Scale: rat(3, 2),
		Upgrades: []plan.Upgrade{
			{Server: "small", Step: rat(1, 2), Cost: rat(2, 1), Most: 4},
			{Server: "big", Step: rat(1, 1), Cost: rat(3, 1), Most: 2},
		},
		NewServers: []plan.NewServer{{
			Name:     "spare",
			Capacity: rat(1, 1),
			Classes:  []string{"reports"},
			Cost:     rat(5, 1),
			Most:     2,
		}},
		Edges: []plan.Edge{{Class: "reports", Server: "big", Cost: rat(1, 1)}},
	}
}

// addPlans draws the minimum mean delay for each cost.
func addPlans(ctx context.Context, f *plots.Figure) error {
	p := purchases()
	frontier, err := plan.Frontier(ctx, p, plan.SearchSettings{})
	if err != nil {
		return err
	}
	best := plots.Series{Label: "best plan for its cost", Kind: plots.Steps, Marked: true, Look: 2}
	for _, a := range frontier {
		cost, _ := a.Plan.Cost.Float64()
		delay := a.Plan.Solution.MeanDelay.Float
		best.X, best.Y = append(best.X, cost), append(best.Y, delay)
		again, err := bf.Solve(ctx, a.Plan.Model, bf.Settings{Engine: num.Exact})
		if err != nil {
			return err
		}
		f.Checks = append(f.Checks, plots.SolverCheck(
			f.ID+"c", fmt.Sprintf("mean delay of the best plan of cost %g, in fractions", cost), delay,
			again.MeanDelay.Float, 1e-12,
		))
	}
	f.Panels = append(f.Panels, plots.Panel{
		Title:  "What should we buy?",
		X:      plots.Axis{Quantity: "cost", Unit: "price units"},
		Y:      plots.Axis{Quantity: "mean delay", Unit: "seconds", Max: 2},
		Series: []plots.Series{best},
	})
	return nil
}

// siteWorkers are the processors of the log.
const siteWorkers = 400

// addDispatch draws mean delays of a year of jobs under policies of sites and of [L14].
func addDispatch(ctx context.Context, f *plots.Figure) error {
	jobs, err := year()
	if err != nil {
		return err
	}
	axis := plots.Axis{Quantity: "policy"}
	together, apart := plots.Series{Label: "tasks of a job together", Kind: plots.Points, Look: 0}, plots.Series{
		Label: "tasks separately",
		Kind:  plots.Points,
		Look:  1,
	}
	for _, p := range []struct {
		label    string
		order    rigid.Order
		backfill rigid.Backfill
	}{{"FCFS", rigid.FCFS, rigid.None}, {"EASY", rigid.FCFS, rigid.EASY}} {
		r, err := rigid.Run(ctx, rigid.Scenario{
			Jobs:    jobs,
			Workers: siteWorkers,
			Policy:  rigid.Policy{Order: p.order, Backfill: p.backfill},
		})
		if err != nil {
			return err
		}
		axis.Categories = append(axis.Categories, p.label)
		together.X, together.Y = append(together.X, float64(len(axis.Categories))),
			append(together.Y, r.Delay.Mean/3600)
	}
	for _, name := range []string{"priority", "deadline/deadline", "edf"} {
		policy, err := dispatch.ParsePolicy(name)
		if err != nil {
			return err
		}
		speeds := make([]float64, siteWorkers)
		for i := range speeds {
			speeds[i] = 1
		}
		r, err := dispatch.Run(ctx, dispatch.Scenario{Jobs: jobs, Speeds: speeds, Policy: policy})
		if err != nil {
			return err
		}
		axis.Categories = append(axis.Categories, map[string]string{
			"priority":          "priority",
			"deadline/deadline": "deadline",
			"edf":               "EDF",
		}[name])
		apart.X, apart.Y = append(apart.X, float64(len(axis.Categories))), append(apart.Y, r.Delay.Mean/3600)
	}
	f.Panels = append(f.Panels, plots.Panel{
		Title:  "Which policy on my log?",
		X:      axis,
		Y:      plots.Axis{Quantity: "mean delay", Unit: "hours", Max: 12},
		Series: []plots.Series{together, apart},
	})
	return nil
}

// year returns all jobs of the log.
func year() ([]dispatch.Job, error) {
	r, err := traces.Open(plots.LogName)
	if err != nil {
		return nil, err
	}
	log, err := swf.ReadAll(r, plots.LogName)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	jobs, _, err := dispatch.WholeLog().Jobs(log.Jobs, 1)
	return jobs, err
}
