package network

import (
	"context"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/network"
	"productform/num"
)

// knowsDelays reports whether percentiles of delays at a station are known.
func knowsDelays(s network.Station) bool { return s.Discipline == network.FCFS && s.Rates == nil }

// delays returns the percentiles of each row of visits in the answer, nil for a visit of which they are
// not known. It returns nil without --percentiles, or if the network is not solved.
func (f *networkFlags) delays(ctx context.Context, m *network.Model, r *network.Result) ([][]num.Value, error) {
	if f.percentiles == nil || r == nil {
		return nil, nil
	}
	var question network.DelayQuestion
	for _, p := range f.percentiles {
		question.Levels = append(question.Levels, p.Level)
	}
	var known [][]num.Value
	for i, s := range r.Stations {
		ofStation := make([][]num.Value, len(s.Visits))
		if knowsDelays(m.Stations[i]) {
			question.Station = i
			settings := network.Settings{RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes}
			visits, err := network.Delays(ctx, m, question, settings)
			if err != nil {
				return nil, err
			}
			for k, v := range visits {
				ofStation[k] = v.Quantiles
			}
		}
		known = append(known, ofStation...)
	}
	return known, nil
}

// setDelays adds the percentiles to the visits, if some were asked for. Those that are not known do not exist.
func setDelays(visits []render.Record, known [][]num.Value, asked []command.Percentile, digits int) {
	style := render.Style{Engine: num.Enclose, Digits: digits}
	for k, quantiles := range known {
		visits[k] = visits[k].Set("delay", command.PercentileFields(asked, quantiles, style), "")
	}
}

// delaySection is the table of the percentiles.
func delaySection(asked []command.Percentile) render.Section {
	s := render.Section{Of: "visits", Columns: "station class"}
	s.Rows = func(visits []render.Record) (rows []render.Record) {
		for _, v := range visits {
			rows = append(rows, v.Flat())
		}
		return rows
	}
	for _, p := range asked {
		s.Columns += " delay_" + p.Name
	}
	return s
}
