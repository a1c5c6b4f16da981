package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/network/loss"
	"productform/sim"
	simloss "productform/sim/loss"
	"productform/sizes"
)

// lossColumns are the first columns of CSV.
var lossColumns = []string{"kind", "name", "classes", "most", "offered", "blocking", "throughput", "mean_jobs",
	"mean_delay", "wait_probability", "mean_queue", "mean_waiting", "mean_units", "utilization"}

// losses are a system with losses.
type losses struct{ *loss.Model }

func (m losses) isOpen() bool { return true }

func (m losses) scale(factor *big.Rat) networkModel { return losses{m.Scale(factor)} }

func (m losses) meanSize() *big.Rat { return nil }

func (m losses) system(shape sizes.Distribution) sim.System {
	return simloss.System{Model: m.Model, Shape: shape}
}

func (m losses) decide(f *networkQuestion, q command.Query) (
	over *unstable, solve func() (networkSolution, error), err error,
) {
	r, err := command.WithProgress(q, func(ctx context.Context) (*loss.Result, error) {
		settings := loss.Settings{Engine: f.settings.Engine, RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes}
		return loss.Solve(ctx, m.Model, settings)
	})
	var bad *loss.UnstableError
	if errors.As(err, &bad) {
		classes := names(bad.Classes, func(k int) string { return m.Classes[k].Name })
		return &unstable{Bottleneck: classes, BottleneckWork: bad.Load, BottleneckCapacity: bad.Capacity}, nil, nil
	}
	return nil, func() (networkSolution, error) { return m.solution(f, r), nil }, err
}

func (m losses) solution(f *networkQuestion, r *loss.Result) networkSolution {
	style := render.Style{Engine: r.Engine, Digits: command.Digits(f.settings.RelTol)}
	body := style.Record(r).Set("limits", append(style.Rows(r.Room), style.Rows(r.Limits)...), "")
	_, first := m.Expanded() // the first server of each group
	class, server := "name offered blocking throughput mean_jobs mean_delay", "name utilization"
	serverMeasures := []string{sim.Utilization}
	classMeasures := []string{simloss.Offered, simloss.Blocking, sim.Throughput, sim.MeanJobs, sim.MeasuredDelay}
	if m.Count > 0 {
		class += " wait_probability mean_queue mean_waiting"
		classMeasures = append(classMeasures, simloss.WaitProbability, simloss.MeanWaiting)
	}
	if slices.ContainsFunc(m.Servers, func(one loss.Server) bool { return one.Count > 1 }) {
		server = "name count utilization"
	}
	if len(r.Servers) > 0 && r.Servers[0].MeanJobs != nil {
		server += " mean_jobs throughput"
		serverMeasures = append(serverMeasures, sim.MeanJobs)
	}
	s := networkSolution{digits: style.Digits, columns: lossColumns, exponential: m.Count > 0 || len(m.Servers) > 0,
		lines: []string{trust(r.Engine, r.RelativeErrorBound),
			fmt.Sprintf("%s, %s", r.Method, render.Counted(r.States, "state"))},
		parts: []part{
			{"classes", "class", sim.OfClass, nil, classMeasures},
			{"servers", "server", sim.OfServer, first, serverMeasures},
		}}
	f.setBody(&s, body, m.noteFastServers(), []render.Section{
		{Kind: "system", Columns: "blocking throughput mean_jobs mean_delay empty_probability"},
		{Kind: "class", Of: "classes", Columns: class},
		{Kind: "server", Of: "servers", Columns: server},
		{Kind: "limit", Of: "limits", Columns: "classes most mean_units utilization"},
	})
	return s
}

// noteFastServers warns about servers whose capacity and tokens look like a number of agents; it is
// "" if there are none.
func (m losses) noteFastServers() string {
	for _, s := range m.Servers {
		if s.Tokens > 1 && s.Capacity.Cmp(big.NewRat(int64(s.Tokens), 1)) == 0 {
			return fmt.Sprintf("server %s is one server that works %d times as fast as capacity 1 and holds %d jobs; "+
				"for %[2]d servers that take one job each, write count: %[2]d, capacity: 1, tokens: 1",
				s.Name, s.Tokens, s.Tokens)
		}
	}
	return ""
}
