package net

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/network/loss"
	"productform/plots"
	simloss "productform/sim/loss"
)

// Numbers of net-4.
const (
	balancedServers = 5
	tokensEach      = 6
)

// A choice describes which servers jobs can use.
type choice struct {
	Words, Letter string
	servers       int // number of servers of each job, in a ring
}

func choices() []choice {
	return []choice{
		{"each job on any server", "a", balancedServers}, {"each job on two servers next to each other", "b", 2},
	}
}

// balancer returns servers in a ring, each with tokens, and a class for each server and the servers
// behind it.
func balancer(c choice, rho *big.Rat) *loss.Model {
	m := new(loss.Model)
	for s := range balancedServers {
		m.Servers = append(m.Servers, loss.Server{
			Name:     fmt.Sprint("server ", s+1),
			Capacity: big.NewRat(1, 1),
			Tokens:   tokensEach,
		})
		one := loss.Class{Name: fmt.Sprint("class ", s+1), ArrivalRate: rho}
		for k := range c.servers {
			one.Servers = append(one.Servers, (s+k)%balancedServers)
		}
		m.Classes = append(m.Classes, one)
	}
	return m
}

// randomBlocking returns the fraction of jobs lost with random assignment. Each server is then an
// M/M/1 queue at load ρ with one place per token.
func randomBlocking(rho float64) float64 {
	sum := 0.0
	for n := range tokensEach + 1 {
		sum += math.Pow(rho, float64(n))
	}
	return math.Pow(rho, tokensEach) / sum
}

// rules are the assignments, in the order of the legend.
func rules() []simloss.Assignment {
	return []simloss.Assignment{simloss.RandomServer, simloss.OldestToken, simloss.ShortestQueue}
}

// An assigned is a simulation of an assignment.
type assigned struct {
	choice choice
	rule   simloss.Assignment
	rho    *big.Rat
	run    *plots.Simulation
}

// balancerLoads returns the simulated loads.
func balancerLoads() []*big.Rat {
	return []*big.Rat{
		big.NewRat(7, 10), big.NewRat(8, 10), big.NewRat(9, 10), big.NewRat(1, 1), big.NewRat(11, 10),
		big.NewRat(12, 10),
	}
}

// prepareAssignments plans net-4.
func prepareAssignments(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
	var runs []assigned
	for _, c := range choices() {
		for _, rule := range rules() {
			for _, rho := range balancerLoads() {
				name := fmt.Sprintf("%d servers, %s, %s, load %s", balancedServers, c.Words, rule, plots.Decimal(rho))
				run, err := simulate(ctx, p, name, simloss.System{Model: balancer(c, rho), Assign: rule}, e)
				if err != nil {
					return nil, err
				}
				runs = append(runs, assigned{c, rule, rho, run})
			}
		}
	}
	return func(ctx context.Context, f *plots.Figure) error {
		for _, c := range choices() {
			panel, err := drawAssignments(ctx, f, c, runs)
			if err != nil {
				return err
			}
			f.Panels = append(f.Panels, panel)
		}
		plots.ShareY(f.Panels)
		return texts.Describe(f, map[string]any{
			"Servers": balancedServers, "Tokens": tokensEach, "Choices": choices(), "Loads": exactLoads(),
			"Simulated": balancerLoads(), "Runs": runWords(p, e, "arrivals, ends of jobs"),
		}, nil)
	}, nil
}

// drawAssignments draws blocking against the load.
func drawAssignments(ctx context.Context, f *plots.Figure, c choice, runs []assigned) (plots.Panel, error) {
	panel := plots.Panel{Title: capital(c.Words), X: loadAxis(), Y: blockingAxis("jobs")}
	random := plots.Series{Label: "at random", Look: secondLook}
	oldest := plots.Series{Label: "oldest token", Look: firstLook}
	for _, rho := range exactLoads() {
		r, err := loss.Solve(ctx, balancer(c, rho), loss.Settings{})
		if err != nil {
			return panel, err
		}
		x := float(rho)
		random.X, random.Y = append(random.X, x), append(random.Y, randomBlocking(x))
		oldest.X, oldest.Y = append(oldest.X, x), append(oldest.Y, r.Blocking.Float)
	}
	panel.Series = []plots.Series{random, oldest}
	points := map[simloss.Assignment]*plots.Series{
		simloss.RandomServer:  {Label: "at random", Kind: plots.Points, Look: secondLook},
		simloss.OldestToken:   {Label: "oldest token", Kind: plots.Points, Look: firstLook},
		simloss.ShortestQueue: {Label: "shortest queue, simulated", Look: thirdLook, Marked: true},
	}
	for _, one := range runs {
		if one.choice != c {
			continue
		}
		x, lost := float(one.rho), one.run.Result.All(simloss.Blocking)
		if !seen(lost) {
			continue
		}
		addPoint(points[one.rule], x, lost, plots.Log)
		exact := map[simloss.Assignment]float64{
			simloss.RandomServer: randomBlocking(x),
			simloss.OldestToken:  oldest.At(x),
		}[one.rule]
		if exact > 0 {
			f.Checks = append(f.Checks, plots.SimulatedCheck(
				f.ID+c.Letter, fmt.Sprintf("blocking, %s, load %s", one.rule, plots.Decimal(one.rho)),
				exact, lost, one.run.Name,
			))
		}
	}
	for _, rule := range rules() {
		addSeen(&panel, *points[rule])
	}
	return panel, nil
}
