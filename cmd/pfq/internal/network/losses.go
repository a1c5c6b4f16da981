package network

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
)

// lossColumns are the first columns of CSV.
var lossColumns = []string{"kind", "name", "classes", "most", "offered", "blocking", "throughput", "mean_jobs",
	"mean_delay", "wait_probability", "mean_queue", "mean_waiting", "mean_units", "utilization"}

// losses solves a system with losses, or says why it is unstable. With --runs it also simulates the system.
func (f *networkFlags) losses(q command.Query, all model) (a render.Answer, found bool, err error) {
	m := all.loss
	r, err := command.WithProgress(q, func(ctx context.Context) (*loss.Result, error) {
		settings := loss.Settings{Engine: f.settings.Engine, RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes}
		return loss.Solve(ctx, m, settings)
	})
	var unstable *loss.UnstableError
	switch {
	case errors.As(err, &unstable):
		var names []string
		for _, k := range unstable.Classes {
			names = append(names, m.Classes[k].Name)
		}
		return f.overloaded(names, unstable.Load, unstable.Capacity), false, nil
	case err != nil:
		return a, false, f.translate(err)
	}
	plan, err := f.planned(q, all)
	if err != nil {
		return a, false, err
	}
	style := render.Style{Engine: r.Engine, Digits: command.Digits(f.settings.RelTol)}
	note := f.notes(all, true, noteFastServers(m))
	body := style.Record(r).Set("limits", append(style.Rows(r.Room), style.Rows(r.Limits)...), "")
	s := solution{body: body, note: note, digits: style.Digits, columns: lossColumns, lines: []string{
		trust(r.Engine, r.RelativeErrorBound),
		fmt.Sprintf("%s, %s", r.Method, render.Counted(r.States, "state")), note}}
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
	s.sections = []render.Section{
		{Kind: "system", Columns: "blocking throughput mean_jobs mean_delay empty_probability"},
		{Kind: "class", Of: "classes", Columns: class},
		{Kind: "server", Of: "servers", Columns: server},
		{Kind: "limit", Of: "limits", Columns: "classes most mean_units utilization"},
	}
	_, first := m.Expanded() // the first server of each group
	s.parts = []part{
		{"classes", "class", sim.OfClass, nil, classMeasures},
		{"servers", "server", sim.OfServer, first, serverMeasures},
	}
	return f.simulate(q, all, plan, s)
}

// noteFastServers warns of servers whose capacity and tokens look like a number of agents, "" if there are none.
func noteFastServers(m *loss.Model) string {
	for _, s := range m.Servers {
		if s.Tokens > 1 && s.Capacity.Cmp(big.NewRat(int64(s.Tokens), 1)) == 0 {
			return fmt.Sprintf("server %s is one server that works %d times as fast as capacity 1 and holds %d jobs; "+
				"for %[2]d servers that take one job each, write count: %[2]d, capacity: 1, tokens: 1",
				s.Name, s.Tokens, s.Tokens)
		}
	}
	return ""
}
