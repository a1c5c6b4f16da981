package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"productform/sim"
	"productform/sim/farm"
	"productform/sizes"
	"productform/sweep"
	"productform/tags"
)

// A row is a setting of the table, with the cutoffs that minimize the mean slowdown.
type row struct {
	max, alpha float64
	hosts      int
	load       float64
	best       tags.Result
}

// rows returns the settings of the table for which cutoffs exist; sizes have mean 3000 in all of
// them.
func rows() ([]row, error) {
	var rows []row
	for _, top := range []float64{1e5, 1e6, 1e7} {
		for _, alpha := range []float64{1.2, 1.5, 1.9} {
			jobSizes, err := sizes.NewBoundedParetoOfMean(alpha, top, 3000)
			if err != nil {
				return nil, err
			}
			for _, hosts := range []int{2, 3} {
				for _, load := range []float64{0.3, 0.5, 0.7} {
					m := tags.Model{Sizes: jobSizes, Hosts: hosts, Load: load}
					most, err := tags.MaxLoad(context.Background(), m)
					if err != nil {
						return nil, err
					}
					if load >= most {
						continue
					}
					best, err := tags.Optimize(context.Background(), m, tags.PolicyTAGS, tags.Objective{Slowdown: 1})
					if err != nil {
						return nil, err
					}
					rows = append(rows, row{top, alpha, hosts, load, best})
				}
			}
		}
	}
	return rows, nil
}

// setting returns the start of a line of the table: the simulated setting, and E[S] by the formula.
func (r row) setting() string {
	cutoffs := make([]string, len(r.best.Cutoffs))
	for i, s := range r.best.Cutoffs {
		cutoffs[i] = fmt.Sprintf("%.5g", s)
	}
	return fmt.Sprintf("| %.0e | %v | %d | %v | %s | %.4g |",
		r.max, r.alpha, r.hosts, r.load, strings.Join(cutoffs, ", "), r.best.MeanSlowdown.Float)
}

// line returns the line of the table for a result.
func (r row) line(s *sim.Result) string {
	ratio := func(e *sim.Estimate, formula float64) string {
		return fmt.Sprintf("%.3f ± %.3f", e.Mean/formula, e.HalfWidth/formula)
	}
	cells := []string{
		ratio(s.All(farm.MeanSlowdown), r.best.MeanSlowdown.Float),
		ratio(s.All(farm.MeanWaiting), r.best.MeanWaiting.Float),
	}
	for i := range 3 {
		wait, scv := "", ""
		if i < r.hosts {
			wait = ratio(s.Estimate(farm.OfHost, i, farm.VisitWaiting), r.best.Hosts[i].VisitWait.Float)
			scv = fmt.Sprintf("%.3f", s.Estimate(farm.OfHost, i, farm.InterarrivalSCV).Mean)
		}
		cells = append(cells, wait)
		if i > 0 {
			cells = append(cells, scv)
		}
	}
	return r.setting() + " " + strings.Join(cells, " | ") + " |"
}

// printPoissonGap prints the table of docs/tags-simulation.md: the errors of the TAGS formulas,
// which assume that arrivals at hosts 2 and later form Poisson processes. The arrivals are in fact
// less irregular. Each row takes 10^8 simulated jumps, three minutes in total on two cores; -jumps
// shortens it.
func printPoissonGap(args []string) error {
	flags := flag.NewFlagSet("poisson-gap", flag.ContinueOnError)
	jumps := flags.Float64("jumps", 5e6, "jumps of each of the 20 runs of a row")
	if err := flags.Parse(args); err != nil {
		return errors.Join(errUsage, err)
	}
	rows, err := rows()
	if err != nil {
		return err
	}
	var plans []*sim.Plan
	for _, r := range rows {
		m := tags.Model{Hosts: r.hosts, Load: r.load}
		if m.Sizes, err = sizes.NewBoundedParetoOfMean(r.alpha, r.max, 3000); err != nil {
			return err
		}
		p, err := sim.NewPlan(
			context.Background(), farm.Farm{Model: m, Policy: tags.PolicyTAGS, Cutoffs: r.best.Cutoffs},
			sim.Settings{Runs: 20, Jumps: *jumps, WarmUp: *jumps / 10, Seed: 1},
		)
		if err != nil {
			return err
		}
		plans = append(plans, p)
	}
	results, err := sim.RunAll(context.Background(), plans, sweep.Settings{})
	if err != nil {
		return err
	}
	for i, r := range rows {
		fmt.Println(r.line(results[i]))
	}
	return nil
}
