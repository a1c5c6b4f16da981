package network

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/network/swap"
	"productform/num"
	"productform/sim"
	simswap "productform/sim/swap"
)

// swapColumns are the first columns of CSV.
var swapColumns = []string{"kind", "name", "throughput", "completions", "mean_jobs", "mean_delay", "utilization"}

// swaps solves a pass-and-swap queue, or says why it is unstable. With --runs it also simulates the queue.
func (f *networkFlags) swaps(q command.Query, all model) (a render.Answer, found bool, err error) {
	m := all.swap
	r, err := command.WithProgress(q, func(ctx context.Context) (*swap.Result, error) {
		settings := swap.Settings{Engine: f.settings.Engine, RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes}
		return swap.Solve(ctx, m, settings)
	})
	var unstable *cluster.UnstableError
	switch {
	case errors.As(err, &unstable):
		var names []string
		for _, i := range unstable.Classes {
			names = append(names, m.Classes[i].Name)
		}
		size := num.OrOne(m.MeanSize) // rates of a queue count jobs
		work, capacity := new(big.Rat).Mul(unstable.ArrivalRate, size), new(big.Rat).Mul(unstable.Capacity, size)
		return f.overloaded(names, work, capacity), false, nil
	case err != nil:
		return a, false, f.translate(err)
	}
	plan, err := f.planned(q, all)
	if err != nil {
		return a, false, err
	}
	style := render.Style{Engine: r.Engine, Digits: command.Digits(f.settings.RelTol)}
	note := f.notes(all, true, noteStaying(m, r))
	s := solution{body: style.Record(r), note: note, digits: style.Digits, columns: swapColumns,
		lines: []string{trust(r.Engine, r.RelativeErrorBound),
			fmt.Sprintf("pass-and-swap queue, %s, %s", r.Method, render.Counted(r.States, "state")), note}}
	whole := "normalization empty_probability mean_jobs mean_delay"
	if m.IsClosed() {
		whole = "normalization mean_jobs"
	}
	s.sections = []render.Section{
		{Kind: "queue", Columns: whole},
		{Kind: "class", Of: "classes", Columns: "name throughput completions mean_jobs mean_delay"},
		{Kind: "server", Of: "servers"},
	}
	s.parts = []part{
		{"classes", "class", sim.OfClass, nil,
			[]string{sim.Throughput, simswap.Completions, sim.MeanJobs, sim.MeasuredDelay}},
		{"servers", "server", sim.OfServer, nil, []string{sim.Utilization}},
	}
	return f.simulate(q, all, plan, s)
}

// noteStaying names the classes of a closed queue with jobs that never leave, "" if there are none.
func noteStaying(m *swap.Model, r *swap.Result) string {
	var notes []string
	for i, c := range r.Classes {
		all, leave := m.Classes[i].Population, "leave"
		if c.LeavingJobs == nil || *c.LeavingJobs == all {
			continue
		}
		switch *c.LeavingJobs {
		case 0:
			notes = append(notes, fmt.Sprintf("no job of class %s ever leaves, and there is no mean_delay: "+
				"each time one is done, it takes the place of a job behind it", c.Name))
			continue
		case 1:
			leave = "leaves"
		}
		notes = append(notes, fmt.Sprintf("only %d of the %d jobs of class %s ever %s, and mean_delay counts "+
			"only these: each time another one is done, it takes the place of a job behind it",
			*c.LeavingJobs, all, c.Name, leave))
	}
	return strings.Join(notes, "; ")
}
