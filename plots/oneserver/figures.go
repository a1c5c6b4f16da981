package oneserver

import (
	"context"
	"embed"
	"fmt"
	"math/big"

	"productform/bf"
	"productform/cluster"
	"productform/network/loss"
	exact "productform/oneserver"
	"productform/plots"
	"productform/sim"
	simcluster "productform/sim/cluster"
)

// Source returns the common source of the entries.
func Source() plots.Source {
	return plots.Source{
		Prefix: "one", Name: "One server per job", Title: "One server per job",
		Claim: "If a job takes the server that has been idle longest, waiting times have a product form for any " +
			"compatibilities and speeds of servers.",
		Verdict: "Simulations agree. Rules that keep one queue differ while servers are idle, and hardly at high load.",
		Figures: len(Figures()),
	}
}

// Figures returns the entries.
func Figures() []plots.Spec {
	return []plots.Spec{{ID: "one-1", Title: "Choice of server and cancellation of copies", Prepare: prepare}}
}

// texts are the captions and parameters.
var texts = plots.NewTexts(textFiles, "texts")

//go:embed texts
var textFiles embed.FS

// simulatedLoads and exactLoads return the loads of points and lines.
func simulatedLoads() []*big.Rat { return plots.Multiples(10, 9) } // 0.1, 0.2, ..., 0.9

func exactLoads() []*big.Rat { return plots.Multiples(40, 38) } // 0.025, 0.05, ..., 0.95

// pool returns four fast and eight slow servers; half of the work can run on fast ones only.
func pool(rho *big.Rat) *cluster.Model {
	m := &cluster.Model{Service: cluster.OneServer, Servers: []cluster.Server{
		{Name: "fast", Count: fast, Capacity: big.NewRat(speed, 1)},
		{Name: "slow", Count: slow, Capacity: big.NewRat(1, 1)},
	}}
	rate := new(big.Rat).Mul(rho, big.NewRat((fast*speed+slow)/2, 1))
	m.Classes = []cluster.Class{
		{Name: "picky", ArrivalRate: rate, Servers: []cluster.Choice{{Server: 0, Choose: fast}}},
		{Name: "any", ArrivalRate: rate, Servers: []cluster.Choice{{Server: 0, Choose: fast},
			{Server: 1, Choose: slow}}},
	}
	return m
}

const (
	fast, speed = 4, 3
	slow        = 8
	nodes       = 10 // servers of the cluster with copies
	copies      = 2
)

// copied returns equal servers, of which every job draws some for its copies.
func copied(rho *big.Rat, s cluster.Service) *cluster.Model {
	return &cluster.Model{Service: s,
		Servers: []cluster.Server{{Name: "servers", Count: nodes, Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "jobs", ArrivalRate: new(big.Rat).Mul(rho, big.NewRat(nodes, 1)),
			Servers: []cluster.Choice{{Server: 0, Choose: copies}}}}}
}

// A rule is a policy with its label.
type rule struct {
	policy simcluster.Policy
	label  string
}

func rules() []rule {
	return []rule{{simcluster.LongestIdle, "longest idle"}, {simcluster.FastestIdle, "fastest idle"},
		{simcluster.RandomIdle, "random idle"}, {simcluster.JSQ, "shortest queue"}}
}

// services returns the two ways to run copies.
func services() []rule {
	return []rule{{simcluster.LongestIdle, "cancelled when one starts"}, {simcluster.FCFS, "cancelled when one ends"}}
}

// serviceOf returns the service of a way to run copies.
func serviceOf(r rule) cluster.Service {
	if r.policy == simcluster.FCFS {
		return cluster.AllServers
	}
	return cluster.OneServer
}

// A point is a simulation of a rule at one load.
type point struct {
	rule rule
	rho  *big.Rat
	run  *plots.Simulation
}

// prepare plans one-1.
func prepare(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
	plan := func(what string, list []rule, model func(*big.Rat, rule) *cluster.Model) (points []point, err error) {
		for _, r := range list {
			for _, rho := range simulatedLoads() {
				name := fmt.Sprintf("%s, %s, load %s", what, r.label, plots.Decimal(rho))
				s := simcluster.Cluster{Model: model(rho, r), Policy: r.policy}
				run, err := p.Simulate(ctx, name, s, e,
					sim.Settings{Jumps: plots.Shorter(e.Jumps), WarmUp: plots.Shorter(e.WarmUp)})
				if err != nil {
					return nil, err
				}
				points = append(points, point{r, rho, run})
			}
		}
		return points, nil
	}
	idle, err := plan("fast and slow servers", rules(), func(rho *big.Rat, _ rule) *cluster.Model { return pool(rho) })
	if err != nil {
		return nil, err
	}
	twice, err := plan("copies", services(), func(rho *big.Rat, r rule) *cluster.Model {
		return copied(rho, serviceOf(r))
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, f *plots.Figure) error {
		if err := drawRules(ctx, f, idle); err != nil {
			return err
		}
		if err := drawCopies(ctx, f, twice); err != nil {
			return err
		}
		if err := checkPool(ctx, f); err != nil {
			return err
		}
		e.Jumps, e.WarmUp, e.CheckRuns = plots.Shorter(e.Jumps), plots.Shorter(e.WarmUp), e.Runs
		return texts.Describe(f, map[string]any{
			"Fast": fast, "Speed": speed, "Slow": slow, "Nodes": nodes, "Copies": copies,
			"Loads": exactLoads(), "Simulated": simulatedLoads(), "Runs": p.RunWords(e, "arrivals, departures"),
		}, nil)
	}, nil
}

// panel returns a panel of the mean delay against the load.
func panel(title string) plots.Panel {
	return plots.Panel{Title: title, X: plots.Axis{Quantity: "load", Symbol: "ρ", Max: 1},
		Y: plots.Axis{Quantity: "mean delay", Unit: "units of time", Scale: plots.Log}}
}

// line returns an exact curve.
func line(ctx context.Context, label string, look int, delay func(context.Context, *big.Rat) (float64, error)) (
	s plots.Series, err error) {
	s = plots.Series{Label: label, Look: look}
	for _, rho := range exactLoads() {
		y, err := delay(ctx, rho)
		if err != nil {
			return s, err
		}
		x, _ := rho.Float64()
		s.X, s.Y = append(s.X, x), append(s.Y, y)
	}
	return s, nil
}

// dots returns the simulated points of a rule, with their intervals.
func dots(label string, look int, r rule, points []point) (plots.Series, error) {
	s := plots.Series{Label: label, Kind: plots.Points, Look: look}
	for _, p := range points {
		if p.rule != r {
			continue
		}
		mean, low, high, err := plots.LogInterval(p.run.Result.All(sim.MeanDelay))
		if err != nil {
			return s, fmt.Errorf("%s: %w", p.run.Name, err)
		}
		x, _ := p.rho.Float64()
		s.X, s.Y, s.Low, s.High = append(s.X, x), append(s.Y, mean), append(s.Low, low), append(s.High, high)
	}
	return s, nil
}

// delayOfOne returns the exact mean delay of all jobs if each runs on one server.
func delayOfOne(ctx context.Context, m *cluster.Model) (float64, error) {
	r, err := exact.Solve(ctx, m, exact.Settings{})
	if err != nil {
		return 0, err
	}
	return r.MeanDelay.Float, nil
}

// delayOfAll returns the exact mean delay of all jobs if each runs on all its servers.
func delayOfAll(ctx context.Context, m *cluster.Model) (float64, error) {
	r, err := bf.Solve(ctx, m, bf.Settings{})
	if err != nil {
		return 0, err
	}
	return r.MeanDelay.Float, nil
}

// drawRules draws the rules for idle servers.
func drawRules(ctx context.Context, f *plots.Figure, points []point) error {
	a := panel("Choice of server")
	known, err := line(ctx, rules()[0].label, 0, func(ctx context.Context, rho *big.Rat) (float64, error) {
		return delayOfOne(ctx, pool(rho))
	})
	if err != nil {
		return err
	}
	a.Series = append(a.Series, known)
	for look, r := range rules() {
		s, err := dots(r.label, look, r, points)
		if err != nil {
			return err
		}
		if r != rules()[0] { // no exact curve
			s.Kind, s.Marked = plots.Curve, true
		}
		a.Series = append(a.Series, s)
	}
	f.Panels = append(f.Panels, a)
	addChecks(f, "a", known, rules()[0], points)
	return nil
}

// addChecks compares the points of a rule with its exact curve.
func addChecks(f *plots.Figure, letter string, known plots.Series, r rule, points []point) {
	for _, p := range points {
		if x, _ := p.rho.Float64(); p.rule == r {
			f.Checks = append(f.Checks, plots.SimulatedCheck(f.ID+letter,
				fmt.Sprintf("mean delay, %s, load %s", r.label, plots.Decimal(p.rho)), known.At(x),
				p.run.Result.All(sim.MeanDelay), p.run.Name))
		}
	}
}

// drawCopies draws the two ways to run copies.
func drawCopies(ctx context.Context, f *plots.Figure, points []point) error {
	b := panel("Cancellation of copies")
	for k, r := range services() {
		look := 0
		if k > 0 {
			look = 1 // dark enough for its label
		}
		known, err := line(ctx, r.label, look, func(ctx context.Context, rho *big.Rat) (float64, error) {
			if serviceOf(r) == cluster.AllServers {
				return delayOfAll(ctx, copied(rho, cluster.AllServers))
			}
			return delayOfOne(ctx, copied(rho, cluster.OneServer))
		})
		if err != nil {
			return err
		}
		s, err := dots(r.label, look, r, points)
		if err != nil {
			return err
		}
		b.Series = append(b.Series, known, s)
		addChecks(f, "b", known, r, points)
	}
	f.Panels = append(f.Panels, b)
	return nil
}

// checkPool compares a pool of equal servers with Erlang's formula.
func checkPool(ctx context.Context, f *plots.Figure) error {
	rho := big.NewRat(9, 10)
	m := copied(rho, cluster.OneServer)
	m.Classes[0].Servers[0].Choose = nodes
	r, err := exact.Solve(ctx, m, exact.Settings{})
	if err != nil {
		return err
	}
	want, err := loss.ErlangC(ctx, nodes, m.Classes[0].ArrivalRate, loss.FormulaSettings{})
	if err != nil {
		return err
	}
	f.Checks = append(f.Checks, plots.SolverCheck(f.ID+"b",
		fmt.Sprintf("probability of waiting, %d servers for all, load 0.9, by Erlang's formula", nodes),
		r.Classes[0].WaitProbability.Float, want.Float, r.RelativeErrorBound+want.Float*0x1p-50))
	return nil
}
