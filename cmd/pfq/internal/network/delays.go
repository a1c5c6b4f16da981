package network

import (
	"context"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/network"
	"productform/num"
)

// A visitDelays has the percentiles of the delays of visits that are known, by class and visit.
type visitDelays map[[2]int][]num.Value

// knowsDelays reports whether percentiles of delays at a station are known.
func knowsDelays(s network.Station) bool { return s.Discipline == network.FCFS && s.Rates == nil }

// delays returns the percentiles that were asked for of all visits of which they are known, nil if none were or the network is not solved.
func (f *networkFlags) delays(ctx context.Context, m *network.Model, isSolved bool) (visitDelays, error) {
	if f.percentiles == nil || !isSolved {
		return nil, nil
	}
	known := visitDelays{}
	var question network.DelayQuestion
	for _, p := range f.percentiles {
		question.Levels = append(question.Levels, p.Level)
	}
	for i := range m.Stations {
		if !knowsDelays(m.Stations[i]) {
			continue
		}
		question.Station = i
		visits, err := network.Delays(ctx, m, question, network.Settings{RelTol: f.tol, MaxBytes: int64(f.memory) << 20})
		if err != nil {
			return nil, err
		}
		for _, v := range visits {
			known[[2]int{v.Class, v.Visit}] = v.Quantiles
		}
	}
	return known, nil
}

// setDelays adds the percentiles to the visits, if some were asked for. Those that are not known do not exist.
func (s *stationSolution) setDelays(m *network.Model, known visitDelays, asked []command.Percentile) {
	if known == nil {
		return
	}
	s.knowsDelays = len(known) > 0
	for k := range s.Visits {
		v := &s.Visits[k]
		quantiles := known[v.of]
		for j, p := range asked {
			var value *num.Value
			if quantiles != nil {
				value = &quantiles[j]
			}
			v.Delay = append(v.Delay, render.Field{Key: p.Name, Value: render.Value(value, render.Bounds, s.digits)})
		}
	}
}
