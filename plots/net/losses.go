package net

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/network/loss"
	"productform/plots"
	simloss "productform/sim/loss"
)

// Numbers of net-5.
const (
	channels   = 30
	conference = 6
	mostOfThem = 18
	places     = 5
)

// link returns a link with the given channels and load: calls use one channel and are two thirds of
// the work; conferences use more.
func link(rho *big.Rat) *loss.Model {
	part := func(p *big.Rat, units int64) *big.Rat {
		work := new(big.Rat).Mul(rho, big.NewRat(channels, units))
		return work.Mul(work, p)
	}
	return &loss.Model{
		Room: channels,
		Classes: []loss.Class{{Name: "call", ArrivalRate: part(big.NewRat(2, 3), 1)},
			{Name: "conference", ArrivalRate: part(big.NewRat(1, 3), conference), Units: conference}},
		Limits: []loss.Limit{{Classes: []int{1}, Most: mostOfThem}},
	}
}

// oneServer returns a server with a waiting room.
func oneServer(rho *big.Rat) *loss.Model {
	return &loss.Model{Count: 1, Room: places, Classes: []loss.Class{{Name: "job", ArrivalRate: rho}}}
}

// A lossPanel is a system of net-5.
type lossPanel struct {
	Title, letter string
	jobs          string // what is lost
	system        string // panels of the same system share their runs
	model         func(rho *big.Rat) *loss.Model
	class         int // class that is drawn
	sharing       bool
	ordered       bool // whether jobs are served FCFS, so sizes matter
}

func lossPanels() []lossPanel {
	return []lossPanel{
		{Title: "Calls on a link", letter: "a", jobs: "calls", system: "link", model: link},
		{Title: "Conferences on the same link", letter: "b", jobs: "conferences", system: "link", model: link,
			class: 1},
		{
			Title:   "A shared server with a waiting room",
			letter:  "c",
			jobs:    "jobs",
			system:  "shared server",
			model:   oneServer,
			sharing: true,
		},
		{
			Title:   "The same, first come, first served",
			letter:  "d",
			jobs:    "jobs",
			system:  "server, first come, first served",
			model:   oneServer,
			ordered: true,
		},
	}
}

// A sizedRun is a simulation of a system.
type sizedRun struct {
	system string
	shape  shape
	rho    *big.Rat
	run    *plots.Simulation
}

// prepareLosses plans net-5.
func prepareLosses(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
	var runs []sizedRun
	for _, panel := range lossPanels() {
		if slices.ContainsFunc(runs, func(r sizedRun) bool { return r.system == panel.system }) {
			continue
		}
		for _, s := range shapes() {
			law, err := s.sizes()
			if err != nil {
				return nil, err
			}
			for _, rho := range skillLoads() {
				name := fmt.Sprintf("%s, %s, load %s", panel.system, s.label(), plots.Decimal(rho))
				run, err := simulate(
					ctx, p, name, simloss.System{Model: panel.model(rho), Sharing: panel.sharing, Shape: law}, e,
				)
				if err != nil {
					return nil, err
				}
				runs = append(runs, sizedRun{panel.system, s, rho, run})
			}
		}
	}
	return func(ctx context.Context, f *plots.Figure) error {
		for _, one := range lossPanels() {
			panel, err := one.draw(ctx, f, runs)
			if err != nil {
				return err
			}
			f.Panels = append(f.Panels, panel)
		}
		plots.ShareY(f.Panels[:2])
		plots.ShareY(f.Panels[2:])
		f.OneLegend = true
		return texts.Describe(f, map[string]any{
			"Channels": channels, "Conference": conference, "Most": mostOfThem, "Places": places, "Loads": exactLoads(),
			"Simulated": skillLoads(), "Runs": runWords(p, e, "arrivals, ends of jobs"),
		}, nil)
	}, nil
}

// draw draws blocking against the load.
func (l lossPanel) draw(ctx context.Context, f *plots.Figure, runs []sizedRun) (plots.Panel, error) {
	panel := plots.Panel{Title: l.Title, X: loadAxis(), Y: blockingAxis(l.jobs)}
	line := plots.Series{Label: "exact", Look: firstLook}
	for _, rho := range exactLoads() {
		r, err := loss.Solve(ctx, l.model(rho), loss.Settings{})
		if err != nil {
			return panel, err
		}
		line.X, line.Y = append(line.X, float(rho)), append(line.Y, r.Classes[l.class].Blocking.Float)
	}
	panel.Series = append(panel.Series, line)
	for look, s := range shapes() {
		dots := plots.Series{Label: "simulated, " + s.label(), Kind: plots.Points, Look: secondLook + look, Bars: true}
		for _, one := range runs {
			if one.system != l.system || one.shape != s {
				continue
			}
			lost := one.run.Result.Class(l.class, simloss.Blocking)
			if !seen(lost) {
				continue
			}
			addPoint(&dots, float(one.rho), lost, plots.Log)
			if !l.ordered || s.SCV == 1 {
				f.Checks = append(f.Checks, plots.SimulatedCheck(
					f.ID+l.letter, fmt.Sprintf("blocking, %s, load %s", s.label(), plots.Decimal(one.rho)),
					line.At(float(one.rho)), lost, one.run.Name,
				))
			}
		}
		addSeen(&panel, dots)
	}
	return panel, nil
}
