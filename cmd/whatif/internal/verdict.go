package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"

	"productform/cluster"
	"productform/gang"
	"productform/internal/render"
	"productform/num"
	"productform/stability"
)

// A Verdict states whether a cluster is stable at a load, and what limits it, as in pfq stability.
type Verdict struct {
	Stable bool `json:"stable"`
	// Undecided reports that the load lies within the bounds on the critical load of gangs.
	Undecided bool `json:"undecided,omitempty"`

	// smallest load at which the model is unstable; null if no work arrives or all jobs give up
	CriticalLoad render.Number `json:"critical_load"`
	// the same if jobs did not give up; null if none do
	CrowdedLoad render.Number `json:"crowded_load"`

	// The bottleneck at the critical or crowded load; work at the requested load.
	BottleneckClasses  []int         `json:"bottleneck_classes"`
	BottleneckServers  []int         `json:"bottleneck_servers"`
	BottleneckWork     render.Number `json:"bottleneck_work"`
	BottleneckCapacity render.Number `json:"bottleneck_capacity"`

	Gangs *GangLimits `json:"gangs,omitempty"` // nil with another service
}

// GangLimits are the limits of jobs that hold several servers, at the shares of the classes.
type GangLimits struct {
	ThroughputLimit     render.Number `json:"throughput_limit"`      // jobs per unit of time
	WorkConservingLimit render.Number `json:"work_conserving_limit"` // limit of a policy that leaves no server idle
	// lost because a job that does not fit blocks others
	FIFOWaste render.Number `json:"fifo_waste"`
	// class whose jobs lower the limit most; "" if unknown
	Costliest string `json:"costliest"`
}

var errRange = errors.New("some of its numbers are outside the range from 1e-308 to 1e308; " +
	"use other units of time or of work")

// verdict decides whether m with its arrival rates multiplied by load is stable.
func verdict(ctx context.Context, m *cluster.Model, load *big.Rat) (*Verdict, error) {
	if m.Service == cluster.Gang {
		return gangVerdict(ctx, m, load)
	}
	patient := m.WithoutImpatient()
	r, err := stability.Cluster(ctx, patient)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Stable: r.CriticalScale == nil || load.Cmp(r.CriticalScale) < 0}
	v.CriticalLoad = limit(r.CriticalScale, load)
	if m.Theory() == cluster.Impatience {
		all := *m
		all.MeanPatience, all.Patience, all.Classes = nil, "", append([]cluster.Class(nil), m.Classes...)
		for i := range all.Classes {
			all.Classes[i].MeanPatience, all.Classes[i].Patience = nil, ""
		}
		crowded, err := stability.Cluster(ctx, &all)
		if err != nil {
			return nil, err
		}
		v.CrowdedLoad = limit(crowded.CriticalScale, load)
		if r.CriticalScale == nil {
			r = crowded
		}
	}
	return v, v.addBottleneck(r, load)
}

// addBottleneck adds the bottleneck of a model, if work arrives.
func (v *Verdict) addBottleneck(r *stability.Result, load *big.Rat) error {
	v.BottleneckClasses, v.BottleneckServers = append([]int{}, r.Bottleneck...), []int{}
	if r.CriticalScale == nil {
		return nil
	}
	v.BottleneckWork = render.Rat(new(big.Rat).Mul(r.Arrival, load), render.Unproved)
	v.BottleneckCapacity = render.Rat(r.Capacity, render.Unproved)
	for row, used := range r.BottleneckServers {
		if used > 0 {
			v.BottleneckServers = append(v.BottleneckServers, row)
		}
	}
	return checkLoads(v.CriticalLoad, v.CrowdedLoad)
}

// checkLoads checks that loads are in the range of float64, because the page computes with them.
func checkLoads(loads ...render.Number) error {
	for _, n := range loads {
		if _, beyond := n.Float.(json.Number); beyond {
			return errRange
		}
	}
	return nil
}

// limit returns a critical load, rounded so that it stays on its side of the load; null if there is
// none.
func limit(critical, load *big.Rat) render.Number {
	if critical == nil {
		return render.Number{}
	}
	return render.RatBeside(critical, load, render.Unproved)
}

// gangVerdict decides whether jobs that hold several servers can all start. The bottleneck is the
// row of servers that would limit the load if no server were idle.
func gangVerdict(ctx context.Context, m *cluster.Model, load *big.Rat) (*Verdict, error) {
	s, err := gang.CheckStability(ctx, m, gang.Settings{})
	if err != nil {
		return nil, err
	}
	v := &Verdict{Stable: true, BottleneckClasses: []int{}, BottleneckServers: []int{}}
	if s.CriticalScale == nil {
		return v, nil
	}
	low, high := ends(s.CriticalScale)
	if err := checkLoads(render.Rat(low, render.Unproved), render.Rat(high, render.Unproved)); err != nil {
		return nil, err
	}
	v.Stable = load.Cmp(low) < 0
	v.Undecided = !v.Stable && load.Cmp(high) < 0
	v.CriticalLoad = number64(s.CriticalScale)
	v.Gangs = &GangLimits{
		ThroughputLimit: number64(s.ThroughputLimit), WorkConservingLimit: number64(s.WorkConservingLimit),
		FIFOWaste: number64(s.FIFOWaste), Costliest: s.Costliest(),
	}
	w := m.LimitOfWork()
	work := new(big.Rat).Mul(new(big.Rat).SetInt64(int64(m.Servers[w.Row].Size())), w.ArrivalRate)
	work.Quo(work.Mul(work, load), w.Limit) // Σ λ_k w_k σ_k
	v.BottleneckClasses, v.BottleneckServers = append(v.BottleneckClasses, w.Classes...), []int{w.Row}
	v.BottleneckWork = render.Rat(work, render.Unproved)
	v.BottleneckCapacity = render.Rat(big.NewRat(int64(m.Servers[w.Row].Size()), 1), render.Unproved)
	return v, nil
}

// ends returns the bounds on a value, which has either bounds or a fraction.
func ends(v *num.Value) (low, high *big.Rat) {
	if v.Exact != nil {
		return v.Exact, v.Exact
	}
	low, _ = v.Low.Rat(nil)
	high, _ = v.High.Rat(nil)
	return low, high
}

func number64(v *num.Value) render.Number { return render.Style{}.Computed(v) }
