// Package network is the command network of pfq.
package network

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/network"
	"productform/network/loss"
	"productform/num"
)

// A networkFlags holds what the flags of network ask for.
type networkFlags struct {
	engine       string
	tol          float64
	memory       int // MiB
	distribution int // most jobs; 0 for no distribution
	factors      []*big.Rat
}

const (
	defaultMemory    = 16 << 10 // MiB
	mostMemory       = 1 << 20  // MiB
	mostDistribution = 100_000  // jobs
)

// New returns the command.
func New() *cobra.Command {
	f := networkFlags{tol: 1e-9, memory: defaultMemory}
	cmd := command.New("network MODEL", f.answer)
	cli.AddChoice(cmd, &f.engine, "engine", command.Engines, "arithmetic")
	cli.Flag[float64]{Name: "tol", Kind: "float", Usage: "relative error asked of the engines auto and enclose", Default: "1e-09",
		Want: "a number >= 1e-300 and < 1", Parse: command.ParseTolerance}.Add(cmd, &f.tol)
	cli.Flag[int]{Name: "distribution", Usage: fmt.Sprintf("also give the probabilities of 0, ..., `N` jobs at each station, N from 1 to %d", mostDistribution),
		Want: fmt.Sprintf("an integer in 1..%d", mostDistribution), Parse: cli.ParseInt(mostDistribution)}.Add(cmd, &f.distribution)
	cli.Flag[int]{Name: "memory", Usage: "memory the tables may take, in `MIB` (2^20 bytes); a model that needs more is refused",
		Default: strconv.Itoa(defaultMemory), Want: fmt.Sprintf("an integer in 1..%d", mostMemory), Parse: cli.ParseInt(mostMemory)}.Add(cmd, &f.memory)
	command.AddScale(cmd, &f.factors, "solve", "all arrival rates")
	return cmd
}

// answer solves the model, at every factor if there are some.
func (f *networkFlags) answer(q command.Query) (a render.Answer, found bool, err error) {
	m, err := read(q)
	if err != nil {
		return a, false, err
	}
	if m.loss != nil && f.distribution > 0 {
		return a, false, errors.New("--distribution is of no use here: it is for networks with stations")
	}
	one := func(q command.Query, factor *big.Rat) (render.Answer, bool, error) {
		if m.loss != nil {
			return f.losses(q, m.loss.Scale(factor))
		}
		return f.stations(q, m.network.Scale(factor))
	}
	if f.factors == nil {
		a, found, err = one(q, big.NewRat(1, 1))
	} else {
		a, found, err = command.AtFactors(q, f.factors, one)
	}
	return a, found, command.InFile(q.File, err)
}

// stations solves a network, or says why it is unstable.
func (f *networkFlags) stations(q command.Query, m *network.Model) (a render.Answer, found bool, err error) {
	type answer struct {
		limits *network.Stability
		result *network.Result // nil if unstable
	}
	r, err := command.WithProgress(q, func(ctx context.Context) (r answer, err error) {
		if r.limits, err = network.CheckStability(ctx, m); err != nil || !r.limits.Stable {
			return r, err
		}
		r.result, err = network.Solve(ctx, m, network.Settings{Engine: num.Engine(f.engine), RelTol: f.tol, MaxJobs: f.distribution, MaxBytes: int64(f.memory) << 20})
		return r, err
	})
	if err != nil {
		return a, false, f.translate(err)
	}
	if r.result == nil {
		u := newUnstable(m, r.limits, command.GivenProof(num.Engine(f.engine)))
		return render.Answer{JSON: u, Lines: []render.Lines{{Of: u}}, Text: u.text}, false, nil
	}
	s := newSolution(m, r.result, r.limits, command.Digits(f.tol))
	return render.Answer{JSON: s, Lines: s.lines(), Columns: columns, Text: s.text}, true, nil
}

// losses solves a system with losses, or says why it is unstable.
func (f *networkFlags) losses(q command.Query, m *loss.Model) (a render.Answer, found bool, err error) {
	r, err := command.WithProgress(q, func(ctx context.Context) (*loss.Result, error) {
		return loss.Solve(ctx, m, loss.Settings{Engine: num.Engine(f.engine), RelTol: f.tol, MaxBytes: int64(f.memory) << 20})
	})
	var overloaded *loss.UnstableError
	switch {
	case errors.As(err, &overloaded):
		u := newOverloaded(m, overloaded, command.GivenProof(num.Engine(f.engine)))
		return render.Answer{JSON: u, Lines: []render.Lines{{Of: u}}, Text: u.text}, false, nil
	case err != nil:
		return a, false, f.translate(err)
	}
	s := newLosses(m, r, command.Digits(f.tol))
	return render.Answer{JSON: s, Lines: s.lines(), Columns: lossColumns, Text: s.text}, true, nil
}

// translate puts flags in the place of settings.
func (f *networkFlags) translate(err error) error {
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	path, want := bad.Path, bad.Want
	var large *num.TooLargeError
	if errors.As(err, &large) {
		if need := large.Bytes / (1 << 20); need > float64(f.memory) && need < mostMemory {
			want += fmt.Sprintf("; or --memory %.0f, if the machine has as much", need+1)
		}
	}
	flags := map[string]string{"Engine": "--engine", "RelTol": "--tol", "MaxJobs": "--distribution", "MaxBytes": "--memory"}
	if flag := flags[path]; flag != "" {
		path = flag
	}
	return &input.Error{Path: path, Value: bad.Value, Want: want}
}
