package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"

	"productform/cluster"
	"productform/internal/render"
	"productform/stability"
)

// A Verdict states whether a cluster is stable at a load, and what limits it, as in pfq stability.
type Verdict struct {
	Stable bool `json:"stable"`
	// smallest load at which the model is unstable; null if no work arrives
	CriticalLoad render.Number `json:"critical_load"`

	// The bottleneck at the critical load; work at the requested load.
	BottleneckClasses  []int         `json:"bottleneck_classes"`
	BottleneckServers  []int         `json:"bottleneck_servers"`
	BottleneckWork     render.Number `json:"bottleneck_work"`
	BottleneckCapacity render.Number `json:"bottleneck_capacity"`
}

var errRange = errors.New("some of its numbers are outside the range from 1e-308 to 1e308; " +
	"use other units of time or of work")

// verdict decides whether m with its arrival rates multiplied by load is stable.
func verdict(ctx context.Context, m *cluster.Model, load *big.Rat) (*Verdict, error) {
	r, err := stability.Cluster(ctx, m)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Stable: true, BottleneckClasses: append([]int{}, r.Bottleneck...), BottleneckServers: []int{}}
	if r.CriticalScale == nil {
		return v, nil
	}
	v.Stable = load.Cmp(r.CriticalScale) < 0
	v.CriticalLoad = render.RatBeside(r.CriticalScale, load, render.Unproved)
	v.BottleneckWork = render.Rat(new(big.Rat).Mul(r.Arrival, load), render.Unproved)
	v.BottleneckCapacity = render.Rat(r.Capacity, render.Unproved)
	if _, beyond := v.CriticalLoad.Float.(json.Number); beyond { // the page computes with this number
		return nil, errRange
	}
	for row, used := range r.BottleneckServers {
		if used > 0 {
			v.BottleneckServers = append(v.BottleneckServers, row)
		}
	}
	return v, nil
}
