package plan_test

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/network"
	"productform/network/loss"
	"productform/num"
	"productform/plan"
)

// drawStation draws a station of some discipline.
func drawStation(t *rapid.T, name string) network.Station {
	s := network.Station{Name: name, Discipline: network.Sharing}
	switch rapid.IntRange(0, 5).Draw(t, "discipline") {
	case 0:
		s.Discipline, s.Rate = network.Delay, half(t, 1, 4, "rate")
	case 1:
		s.Discipline, s.Servers = network.FCFS, 2
	case 2: // may fall
		s.Rates = []*big.Rat{half(t, 2, 4, "rate"), half(t, 2, 5, "rate")}
	case 3:
		s.Discipline, s.Servers = network.LCFS, 1
	default:
		s.Rate = half(t, 1, 4, "rate")
	}
	return s
}

// drawNetwork draws a network of two or three stations and one or two chains, open or closed.
func drawNetwork(t *rapid.T) *plan.Problem {
	m := &network.Model{}
	p := &plan.Problem{Network: m}
	for i := range rapid.IntRange(2, 3).Draw(t, "stations") {
		s := drawStation(t, fmt.Sprint("s", i))
		m.Stations = append(m.Stations, s)
		u := plan.Upgrade{Server: s.Name, Cost: half(t, 1, 6, "cost"), Most: rapid.IntRange(1, 3).Draw(t, "most")}
		switch {
		case s.Rates != nil:
			continue
		case s.Discipline == network.Delay || rapid.Bool().Draw(t, "faster"):
			u.Step = half(t, 1, 2, "step")
		default:
			u.Count = 1
		}
		p.Upgrades = append(p.Upgrades, u)
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "chains") {
		c := network.Class{Name: fmt.Sprint("c", i)}
		if rapid.IntRange(0, 2).Draw(t, "open") == 0 {
			c.ArrivalRate = half(t, 1, 2, "rate")
		} else {
			c.Population = rapid.IntRange(1, 4).Draw(t, "jobs")
		}
		for s := range m.Stations {
			c.Visits = append(c.Visits, network.Visit{Station: s, Count: half(t, 2, 4, "visits")})
		}
		m.Classes = append(m.Classes, c)
	}
	return p
}

// networkTargets lists the targets that a network may have.
func networkTargets(p *plan.Problem) (targets []plan.Target) {
	limit := big.NewRat(1, 2)
	all := []plan.Target{
		{Measure: plan.MeanDelay, Class: "c0"}, {Measure: plan.Throughput, Class: "c0"},
		{Measure: plan.ResponseTime, Class: "c0"}, {Measure: plan.MeanDelay, Class: "c1"}, {Measure: plan.Throughput},
		{Measure: plan.Utilization, Server: "s0"}, {Measure: plan.Utilization, Server: "s1"},
	}
	for _, t := range all {
		one := *p
		t.Limit = limit
		if one.Targets = []plan.Target{t}; one.Check() == nil {
			targets = append(targets, t)
		}
	}
	return targets
}

// solveNetworks solves a network with a plan, in fractions.
func solveNetworks(p *plan.Problem, c plan.Choice, targets []plan.Target) (list []num.Value, err error) {
	m := *p.Network
	m.Stations = slices.Clone(m.Stations)
	for k, u := range p.Upgrades {
		s := &m.Stations[p.ServerRow(u.Server)]
		s.Servers = max(s.Servers, 1) + c.Steps[k]*u.Count
		if u.Step != nil {
			s.Rate = new(big.Rat).Add(num.OrOne(s.Rate), new(big.Rat).Mul(u.Step, big.NewRat(int64(c.Steps[k]), 1)))
		}
		if s.Discipline == network.Delay {
			s.Servers = 0
		}
	}
	r, err := network.Solve(context.Background(), &m, network.Settings{Engine: num.Exact})
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		chain := r.Chains[max(0, p.ClassRow(t.Class))]
		switch t.Measure {
		case plan.MeanDelay:
			list = append(list, *chain.MeanDelay)
		case plan.Throughput:
			list = append(list, chain.Throughput)
		case plan.ResponseTime:
			list = append(list, *chain.MeanResponseTime)
		default:
			list = append(list, *r.Stations[p.ServerRow(t.Server)].Utilization)
		}
	}
	return list, nil
}

// drawLosses draws a link, a link with a limit, or a waiting room, for one or two classes.
func drawLosses(t *rapid.T) *plan.Problem {
	m := &loss.Model{Room: rapid.IntRange(2, 4).Draw(t, "room")}
	p := &plan.Problem{Loss: m}
	upgrade := func(name string, most int) {
		p.Upgrades = append(p.Upgrades, plan.Upgrade{Server: name, Count: rapid.IntRange(1, 2).Draw(t, "count"),
			Cost: half(t, 1, 6, "cost"), Most: most})
	}
	upgrade("room", 5)
	for i := range rapid.IntRange(1, 2).Draw(t, "classes") {
		c := loss.Class{Name: fmt.Sprint("c", i), ArrivalRate: half(t, 1, 4, "rate"), MeanSize: half(t, 1, 4, "size")}
		c.Units = rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "units")
		if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
			c.Sources = rapid.IntRange(1, 6).Draw(t, "sources")
		}
		m.Classes = append(m.Classes, c)
	}
	if rapid.Bool().Draw(t, "queue") {
		m.Count = rapid.IntRange(1, 2).Draw(t, "servers")
		upgrade("servers", 2)
	}
	if len(m.Classes) > 1 && rapid.Bool().Draw(t, "limit") {
		m.Limits = []loss.Limit{{Classes: []int{1}, Most: 2}}
		upgrade("limits[0]", 2)
	}
	return p
}

// lossTargets lists the targets that a system with losses may have.
func lossTargets(p *plan.Problem) []plan.Target {
	targets := []plan.Target{{Measure: plan.Blocking}, {Measure: plan.Blocking, Class: "c0"},
		{Measure: plan.Throughput}, {Measure: plan.Throughput, Class: "c0"}}
	if p.Loss.Count > 0 {
		targets = append(targets, plan.Target{Measure: plan.MeanWaiting, Class: "c0"})
	}
	return targets
}

// solveLosses solves a system with losses with a plan, in fractions.
func solveLosses(p *plan.Problem, c plan.Choice, targets []plan.Target) (list []num.Value, err error) {
	m := *p.Loss
	m.Limits = slices.Clone(m.Limits)
	for k, u := range p.Upgrades {
		number := map[string]*int{"room": &m.Room, "servers": &m.Count}[u.Server]
		if number == nil {
			number = &m.Limits[0].Most
		}
		*number += c.Steps[k] * u.Count
	}
	r, err := loss.Solve(context.Background(), &m, loss.Settings{Engine: num.Exact})
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		of := r.Classes[0]
		switch {
		case t.Measure == plan.MeanWaiting:
			list = append(list, *of.MeanWaiting)
		case t.Measure == plan.Blocking && t.Class == "":
			list = append(list, *r.Blocking)
		case t.Measure == plan.Blocking:
			list = append(list, of.Blocking)
		case t.Class == "":
			list = append(list, r.Throughput)
		default:
			list = append(list, of.Throughput)
		}
	}
	return list, nil
}

// The cheapest plan of networks and systems with losses is that of brute force, its certificate is
// accepted, and a corrupted one only if it still proves the answer.
func TestNetworksMatchBruteForce(t *testing.T) {
	kinds := map[string]func(*rapid.T) *centre{
		"network": func(t *rapid.T) *centre {
			p := drawNetwork(t)
			if len(p.Upgrades) == 0 || p.Check() != nil {
				t.Skip("nothing to upgrade, or a chain of lcfs stations whose jobs may never move")
			}
			return drawCentre(t, p, networkTargets(p), solveNetworks)
		},
		"losses": func(t *rapid.T) *centre {
			p := drawLosses(t)
			return drawCentre(t, p, lossTargets(p), solveLosses)
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		kinds[rapid.SampledFrom(slices.Sorted(maps.Keys(kinds))).Draw(t, "kind")](t).check(t)
	})
}
