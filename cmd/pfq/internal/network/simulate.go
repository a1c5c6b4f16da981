package network

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/render"
	"productform/network"
	"productform/num"
	"productform/sim"
	simnetwork "productform/sim/network"
)

// plan checks what is to be simulated.
func (f *networkFlags) plan(ctx context.Context, m *network.Model) (*sim.Plan, error) {
	system := simnetwork.Network{Model: m}
	if f.sizes != "" {
		var err error
		if system.Shape, err = command.ParseSizes("--sizes", f.sizes, 1); err != nil {
			return nil, command.FlagError{Err: err}
		}
	}
	plan, err := sim.NewPlan(ctx, system, f.simulation)
	if err != nil {
		return nil, command.SimulationError(err, f.simulation.Folder)
	}
	return plan, nil
}

// plans returns the plans of what answer simulates, at every factor. An unstable network has none.
func (f *networkFlags) plans(q command.Query) (plans []*sim.Plan, err error) {
	m, err := read(q)
	if err != nil {
		return nil, err
	}
	if m.network == nil {
		return nil, command.FlagError{Err: errors.New("--runs is of no use here: it is for networks with stations")}
	}
	all := []*network.Model{m.network}
	if f.factors != nil {
		all = nil
	}
	for _, factor := range f.factors {
		all = append(all, m.network.Scale(factor))
	}
	for _, one := range all {
		plan, err := f.plan(q.Ctx, one)
		if errors.Is(err, num.ErrUnstable) {
			fmt.Fprintln(q.Stderr, "pfq: note: an unstable network has no runs; without --part and --tasks the command says why")
			continue
		}
		if err != nil {
			return nil, command.InFile(q.File, err)
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// A simulated is what a simulation of a network estimates.
type simulated struct {
	Method   string           `json:"method"`
	Sizes    string           `json:"sizes"`
	Runs     int              `json:"runs"`
	Jumps    float64          `json:"jumps"`
	Time     float64          `json:"time"`
	WarmUp   float64          `json:"warm_up"`
	Seed     uint64           `json:"seed"`
	Chains   []simulatedChain `json:"chains"`
	Stations []simulatedPlace `json:"stations"`
	Visits   []simulatedVisit `json:"visits"`
	Warnings []string         `json:"warnings"`
	Speed    *float64         `json:"jumps_per_second"`
}

type simulatedChain struct {
	Chain         string           `json:"chain"`
	Throughput    *render.Estimate `json:"throughput"`
	MeanJobs      *render.Estimate `json:"mean_jobs"`
	MeasuredDelay *render.Estimate `json:"measured_delay"`
	Delay         render.Record    `json:"delay,omitempty"` // the percentiles asked for
}

type simulatedPlace struct {
	Station          string           `json:"station"`
	MeanJobs         *render.Estimate `json:"mean_jobs"`
	Utilization      *render.Estimate `json:"utilization"`
	EmptyProbability *render.Estimate `json:"empty_probability"`
}

type simulatedVisit struct {
	Visit         string           `json:"visit"`
	Throughput    *render.Estimate `json:"throughput"`
	MeanJobs      *render.Estimate `json:"mean_jobs"`
	MeasuredDelay *render.Estimate `json:"measured_delay"`
	Delay         render.Record    `json:"delay,omitempty"`
}

// simulate runs the plan, and sets what it finds beside the result, nil if there is none or theory has none for these sizes.
func (f *networkFlags) simulate(q command.Query, plan *sim.Plan, m *network.Model, r *network.Result) (*simulated, error) {
	found, speed, err := command.Replicate(q.Ctx, plan, f.simulation, q.Stderr)
	if err != nil {
		return nil, err
	}
	if r != nil && !f.insensitive(m) {
		r = nil
	}
	s := &simulated{Method: found.Method, Sizes: f.shape(), Runs: found.Runs, Jumps: found.Jumps, Time: found.Time, WarmUp: found.WarmUp, Seed: f.simulation.Seed,
		Chains: []simulatedChain{}, Stations: []simulatedPlace{}, Visits: []simulatedVisit{}, Warnings: append([]string{}, found.Warnings...), Speed: speed}
	percentiles := func(kind sim.Kind, index int) render.Record {
		return command.Quantiles(f.percentiles, f.simulation.Levels, found, kind, index, nil)
	}
	for k, c := range found.Classes {
		var exact network.ChainResult
		if r != nil {
			exact = r.Chains[k]
		}
		s.Chains = append(s.Chains, simulatedChain{c.Name, beside(found.Class(k, sim.Throughput), r, &exact.Throughput), beside(found.Class(k, sim.MeanJobs), r, &exact.MeanJobs),
			beside(found.Class(k, sim.MeasuredDelay), r, exact.MeanDelay), percentiles(sim.OfClass, k)})
	}
	visits := make([]*network.VisitResult, len(found.Visits)) // in the order of classes and their visits
	for i := range m.Stations {
		var exact network.StationResult
		if r != nil {
			exact = r.Stations[i]
			for k := range exact.Visits {
				visits[visitRow(m, exact.Visits[k].Class, exact.Visits[k].Visit)] = &exact.Visits[k]
			}
		}
		at := func(name string) *sim.Estimate { return found.Estimate(simnetwork.OfStation, i, name) }
		s.Stations = append(s.Stations, simulatedPlace{m.Stations[i].Name, beside(at(sim.MeanJobs), r, &exact.MeanJobs), beside(at(sim.Utilization), r, exact.Utilization),
			beside(at(simnetwork.EmptyProbability), r, &exact.ProbEmpty)})
	}
	for k, v := range found.Visits {
		var exact network.VisitResult
		if visits[k] != nil {
			exact = *visits[k]
		}
		at := func(name string) *sim.Estimate { return found.Estimate(sim.OfVisit, k, name) }
		s.Visits = append(s.Visits, simulatedVisit{v.Name, beside(at(sim.Throughput), r, &exact.Throughput), beside(at(sim.MeanJobs), r, &exact.MeanJobs),
			beside(at(sim.MeasuredDelay), r, exact.MeanDelay), percentiles(sim.OfVisit, k)})
	}
	return s, nil
}

// beside returns an estimate beside its exact value, if there is a result.
func beside(e *sim.Estimate, r *network.Result, exact *num.Value) *render.Estimate {
	if r == nil {
		exact = nil
	}
	return command.Estimated(e, exact)
}

// visitRow returns the place of a visit in the order of classes and their visits.
func visitRow(m *network.Model, class, visit int) int {
	for _, c := range m.Classes[:class] {
		visit += len(c.Visits)
	}
	return visit
}

// shape returns the name of the sizes that are simulated.
func (f *networkFlags) shape() string {
	if f.sizes == "" {
		return "exponential"
	}
	return f.sizes
}

// insensitive reports whether theory holds for the sizes that are simulated: exponential ones, or stations where only the means matter.
func (f *networkFlags) insensitive(m *network.Model) bool {
	if f.sizes == "" || f.sizes == "exponential" {
		return true
	}
	return !slices.ContainsFunc(m.Stations, func(s network.Station) bool {
		return s.Discipline == network.FCFS || s.Discipline == network.Order || s.Discipline == network.LCFS && s.Servers > 1
	})
}

// lines returns the lines of CSV.
func (s *simulated) lines() []render.Lines {
	whole := *s
	whole.Speed = nil
	return []render.Lines{{Kind: "simulation", Of: whole}, {Kind: "simulated_chain", Of: s.Chains}, {Kind: "simulated_station", Of: s.Stations}, {Kind: "simulated_visit", Of: s.Visits}}
}

func (s *simulated) text(t *render.Text) {
	t.Blank()
	t.Line("%s; sizes %s", s.Method, s.Sizes)
	t.Line("%s, observed for a time of %s after a warm-up of %s; seed %d; ± at confidence %v", render.Counted(s.Runs, "run"), render.Six(s.Time), render.Six(s.WarmUp), s.Seed, s.confidence())
	t.Line("")
	t.Table(s.Chains, "chain", "throughput", "mean_jobs", "measured_delay")
	t.Table(s.Stations, "station", "mean_jobs", "utilization", "empty_probability")
	t.Table(s.Visits, "visit", "throughput", "mean_jobs", "measured_delay")
	var chains, visits []render.Record
	for _, c := range s.Chains {
		chains = append(chains, render.Fields(c))
	}
	for _, v := range s.Visits {
		visits = append(visits, render.Fields(v))
	}
	command.QuantileTables(t, chains, "delay")
	command.QuantileTables(t, visits, "delay")
}

// confidence returns that of the intervals.
func (s *simulated) confidence() any {
	for _, c := range s.Chains {
		if c.Throughput != nil {
			return c.Throughput.Confidence
		}
	}
	return "-"
}

// noted writes on the standard error why there are no exact numbers.
func noted(q command.Query, err error) {
	fmt.Fprintln(q.Stderr, "pfq: note: no exact means:", cli.OneLine(err))
}
