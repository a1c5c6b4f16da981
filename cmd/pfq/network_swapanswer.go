package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/network/swap"
	"productform/num"
	"productform/sim"
	simswap "productform/sim/swap"
	"productform/sizes"
)

// swapColumns are the first columns of CSV.
var swapColumns = []string{"kind", "name", "throughput", "completions", "mean_jobs", "mean_delay", "utilization"}

// swaps are a pass-and-swap queue.
type swaps struct{ *swap.Model }

func (m swaps) isOpen() bool {
	return slices.ContainsFunc(m.Classes, func(c swap.Class) bool { return c.ArrivalRate != nil })
}

func (m swaps) scale(factor *big.Rat) networkModel { return swaps{m.Scale(factor)} }

func (m swaps) meanSize() *big.Rat { return m.MeanSize }

func (m swaps) system(shape sizes.Distribution) sim.System {
	return simswap.Queue{Model: m.Model, Sizes: shape}
}

func (m swaps) decide(f *networkQuestion, q command.Query) (
	over *unstable, solve func() (networkSolution, error), err error,
) {
	r, err := command.WithProgress(q, func(ctx context.Context) (*swap.Result, error) {
		settings := swap.Settings{Engine: f.settings.Engine, RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes}
		return swap.Solve(ctx, m.Model, settings)
	})
	var bad *cluster.UnstableError
	if errors.As(err, &bad) {
		size := num.OrOne(m.MeanSize) // queue rates count jobs, not work
		work, capacity := new(big.Rat).Mul(bad.ArrivalRate, size), new(big.Rat).Mul(bad.Capacity, size)
		classes := names(bad.Classes, func(k int) string { return m.Classes[k].Name })
		return &unstable{Bottleneck: classes, BottleneckWork: work, BottleneckCapacity: capacity}, nil, nil
	}
	return nil, func() (networkSolution, error) { return m.solution(f, r), nil }, err
}

func (m swaps) solution(f *networkQuestion, r *swap.Result) networkSolution {
	style := render.Style{Engine: r.Engine, Digits: command.Digits(f.settings.RelTol)}
	s := networkSolution{digits: style.Digits, columns: swapColumns, exponential: true,
		lines: []string{trust(r.Engine, r.RelativeErrorBound),
			fmt.Sprintf("pass-and-swap queue, %s, %s", r.Method, render.Counted(r.States, "state"))},
		parts: []part{
			{"classes", "class", sim.OfClass, nil,
				[]string{sim.Throughput, simswap.Completions, sim.MeanJobs, sim.MeasuredDelay}},
			{"servers", "server", sim.OfServer, nil, []string{sim.Utilization}},
		}}
	whole := "normalization empty_probability mean_jobs mean_delay"
	if m.IsClosed() {
		whole = "normalization mean_jobs"
	}
	f.setBody(&s, style.Record(r), m.noteStaying(r), []render.Section{
		{Kind: "queue", Columns: whole},
		{Kind: "class", Of: "classes", Columns: "name throughput completions mean_jobs mean_delay"},
		{Kind: "server", Of: "servers"},
	})
	return s
}

// noteStaying names the classes of a closed queue with jobs that never leave; it returns "" if
// there are none.
func (m swaps) noteStaying(r *swap.Result) string {
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
