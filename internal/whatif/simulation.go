package whatif

import (
	"context"
	"errors"

	"productform/cluster"
	"productform/num"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sweep"
)

// A Simulation holds estimates, each that of pfq simulate with the same runs, jumps and seed.
type Simulation struct {
	Stable   bool              `json:"stable"`
	Method   string            `json:"method,omitempty"`
	Runs     int               `json:"runs"`
	Jumps    float64           `json:"jumps"`
	Classes  []SimulatedClass  `json:"classes"`
	Servers  []SimulatedServer `json:"servers"`
	Warnings []string          `json:"warnings"`
}

// A SimulatedClass holds estimates of a class; null where the simulation saw no jobs.
type SimulatedClass struct {
	MeanJobs    *Estimate `json:"mean_jobs"`
	MeanDelay   *Estimate `json:"mean_delay"`
	ServiceRate *Estimate `json:"service_rate"`

	Percentiles []*Quantile `json:"percentiles,omitempty"` // of the delay, in the order of the question; null where too few jobs were seen
}

// A SimulatedServer holds that of a server.
type SimulatedServer struct {
	Utilization *Estimate `json:"utilization"`
}

// An Estimate is a mean with the interval Mean ± HalfWidth.
type Estimate struct {
	Mean      float64 `json:"mean"`
	HalfWidth float64 `json:"half_width"`
}

// A Quantile is an estimate with the interval from Low to High.
type Quantile struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// simulate simulates m in order of arrival with exponential sizes.
func simulate(ctx context.Context, m *cluster.Model, q Question, progress func(float64)) (*Simulation, error) {
	exact, err := levelsOf(q.Percentiles)
	if err != nil {
		return nil, err
	}
	var levels []float64
	for _, v := range exact {
		level, _ := v.Float64()
		levels = append(levels, level)
	}
	r, err := sim.Run(ctx, simcluster.Cluster{Model: m}, sim.Settings{Runs: q.Runs, Jumps: q.Jumps, Seed: q.Seed, Levels: levels},
		func(p sweep.Progress) { progress(float64(p.Done) / float64(p.Total)) })
	if errors.Is(err, num.ErrUnstable) {
		return &Simulation{}, nil
	}
	if err != nil {
		return nil, err
	}
	s := &Simulation{Stable: true, Method: r.Method, Runs: r.Runs, Jumps: r.Jumps, Warnings: append([]string{}, r.Warnings...)}
	for i := range r.Classes {
		c := SimulatedClass{MeanJobs: estimate(r.Class(i, sim.MeanJobs)), MeanDelay: estimate(r.Class(i, sim.MeanDelay)), ServiceRate: estimate(r.Class(i, sim.ServiceRate))}
		for _, level := range levels {
			var found *Quantile
			if e := r.Quantile(sim.OfClass, i, level); e != nil {
				found = &Quantile{e.Value, e.Low, e.High}
			}
			c.Percentiles = append(c.Percentiles, found)
		}
		s.Classes = append(s.Classes, c)
	}
	for k := range r.Servers {
		s.Servers = append(s.Servers, SimulatedServer{estimate(r.Server(k, sim.Utilization))})
	}
	return s, nil
}

func estimate(e *sim.Estimate) *Estimate {
	if e == nil {
		return nil
	}
	return &Estimate{e.Mean, e.HalfWidth}
}
