package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"productform/bf"
	"productform/cluster"
	"productform/internal/render"
	"productform/num"
)

// What takes more would stop the page for seconds.
const (
	mostBytes            = 192 << 20 // that tables may take
	mostPercentileStates = 1 << 14   // of a model with percentiles
)

func settings() bf.Settings { return bf.Settings{MaxBytes: mostBytes} }

// A Solution holds the measures at a load, each the number that pfq solve gives.
type Solution struct {
	Stable             bool             `json:"stable"`
	Engine             num.Engine       `json:"engine,omitempty"`
	RelativeErrorBound float64          `json:"relative_error_bound"`
	States             int              `json:"states"`
	MeanJobs           any              `json:"mean_jobs"`
	MeanDelay          any              `json:"mean_delay"`
	Classes            []SolutionClass  `json:"classes"`
	Servers            []SolutionServer `json:"servers"`
	NoPercentiles      string           `json:"no_percentiles,omitempty"` // why there are none
}

// A SolutionClass holds those of a class; null where no jobs arrive.
type SolutionClass struct {
	ArrivalRate any `json:"arrival_rate"`
	Load        any `json:"load"`
	MeanJobs    any `json:"mean_jobs"`
	MeanDelay   any `json:"mean_delay"`
	ServiceRate any `json:"service_rate"`

	Percentiles []any `json:"percentiles,omitempty"` // of the delay, in the order of the question
}

// A SolutionServer holds that of a server.
type SolutionServer struct {
	Utilization any `json:"utilization"`
}

// solve returns the measures of m, which may be unstable, with percentiles of the delays if some are asked for.
func solve(ctx context.Context, m *cluster.Model, percentiles []string) (*Solution, error) {
	r, err := bf.Solve(ctx, m, settings())
	if errors.Is(err, num.ErrUnstable) {
		return &Solution{}, nil
	}
	if err != nil {
		return nil, err
	}
	s := solutionOf(r)
	return s, s.addPercentiles(ctx, m, percentiles)
}

// addPercentiles adds those that are asked for, or says why there are none.
func (s *Solution) addPercentiles(ctx context.Context, m *cluster.Model, percentiles []string) error {
	levels, err := levelsOf(percentiles)
	if err != nil || len(levels) == 0 {
		return err
	}
	if _, err := m.OneMeanSize(); err != nil {
		s.NoPercentiles = "classes differ in mean size, and service in order of arrival has formulas for exponential sizes of one mean only"
		return nil
	}
	if s.States > mostPercentileStates {
		s.NoPercentiles = fmt.Sprintf("this model has %d states; up to %d the page computes them, beyond pfq does", s.States, mostPercentileStates)
		return nil
	}
	r, err := bf.Delays(ctx, m, bf.DelayQuestion{Levels: levels}, settings())
	if err != nil {
		s.NoPercentiles = reason(err)
		return ctx.Err()
	}
	for i := range s.Classes {
		for k := range r.Classes[i].Quantiles {
			s.Classes[i].Percentiles = append(s.Classes[i].Percentiles, value(&r.Classes[i].Quantiles[k]))
		}
	}
	return nil
}

func solutionOf(r *bf.Result) *Solution {
	s := &Solution{Stable: true, Engine: r.Engine, RelativeErrorBound: r.RelativeErrorBound, MeanJobs: value(&r.MeanJobs), MeanDelay: value(r.MeanDelay)}
	for _, p := range r.Parts {
		s.States += p.States
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		s.Classes = append(s.Classes, SolutionClass{
			ArrivalRate: inBrowser(render.Rat(c.ArrivalRate, render.Unproved)), Load: value(&c.Load),
			MeanJobs: value(&c.MeanJobs), MeanDelay: value(c.MeanDelay), ServiceRate: value(c.ServiceRate)})
	}
	for i := range r.Servers {
		s.Servers = append(s.Servers, SolutionServer{value(&r.Servers[i].Utilization)})
	}
	return s
}

// value returns a number of a result, nil if it does not exist.
func value(v *num.Value) any { return inBrowser(render.Value(v, render.Unproved, 0)) }

// inBrowser returns a number for the page: one beyond the range of float64 as a text, since browsers
// would read it as 0 or infinity.
func inBrowser(n render.Number) any {
	if beyond, ok := n.Float.(json.Number); ok {
		return beyond.String()
	}
	return n.Float
}

// A Curve holds solutions at several loads.
type Curve struct {
	Points []*Solution `json:"points"` // in the order of the question
}

// curve solves m at each load. The loads that are stable are solved together, which is faster.
func curve(ctx context.Context, m *cluster.Model, q Question) (*Curve, error) {
	loads, err := numbers("loads", q.Loads)
	if err != nil {
		return nil, err
	}
	c := &Curve{Points: make([]*Solution, len(loads))}
	results, err := bf.LoadSweep(ctx, m, loads, settings())
	if err == nil {
		for i, r := range results {
			c.Points[i] = solutionOf(r)
			if err := c.Points[i].addPercentiles(ctx, m.Scale(loads[i]), q.Percentiles); err != nil {
				return nil, err
			}
		}
		return c, nil
	}
	if !errors.Is(err, num.ErrUnstable) {
		return nil, err
	}
	for i, load := range loads {
		if c.Points[i], err = solve(ctx, m.Scale(load), q.Percentiles); err != nil {
			return nil, err
		}
	}
	return c, nil
}

var one = big.NewRat(1, 1) // never changed
