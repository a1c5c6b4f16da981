// This file implements pfq estimate: estimates of what pfq solve computes, for models with hundreds
// of classes and servers.

package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/spf13/cobra"

	"productform/bf/gibbs"
	"productform/bf/windows"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/stability"
)

// windowServers is the largest number of servers in a window of --bounds, each of which takes
// milliseconds.
const windowServers = 12

// An estimateQuestion holds the flags of pfq estimate.
type estimateQuestion struct {
	binding  *cli.Binding
	settings gibbs.Settings
	bounds   bool       // whether to prove bounds on mean delays, too
	factors  []*big.Rat // factors of the arrival rates; nil leaves them unchanged
}

// newEstimateCommand returns the command estimate.
func newEstimateCommand() *cobra.Command {
	var f estimateQuestion
	cmd := command.New("estimate MODEL", f.answer)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.check(cmd.Flags().Changed) }
	b, s := cli.Bind(cmd), &f.settings
	f.binding = b
	b.Number(&s.Precision, "Precision", "precision", "0.005", "a number > 0 and < 1",
		"stop when the half-width of the mean number of jobs is at most this fraction of it",
		func(v float64) bool { return v > 0 && v < 1 })
	b.Int(&s.Sweeps, "Sweeps", "sweeps", gibbs.MostSweeps,
		"measure `N` sweeps of each of the eight chains, or up to an eighth more, in place of --precision")
	b.Int(&s.MaxJobs, "MaxJobs", "distribution", gibbs.MostJobs,
		"also estimate the probabilities of 0, ..., `N` jobs in total, N from 1 to 10000")
	b.Switch(&s.ByClass, "ByClass", "by-class", "also estimate the probabilities of --distribution for each class")
	b.Switch(&s.Gradient, "Gradient", "gradients",
		"also estimate the derivatives of the mean number of jobs with respect to every rate and capacity")
	cli.AddSwitch(
		cmd, &f.bounds, "bounds", "also prove bounds on the mean delay of each class, from the servers near it",
	)
	command.AddScale(cmd, &f.factors, "estimate", "all arrival rates")
	command.AddSeed(b, &s.Seed)
	command.AddConfidence(b, &s.Confidence)
	command.AddParallel(b, &s.Workers, "`N` chains at a time")
	return cmd
}

// check rejects flags that contradict each other.
func (f *estimateQuestion) check(given func(string) bool) error {
	switch {
	case given("sweeps") && given("precision"):
		return fmt.Errorf("--sweeps and --precision cannot be combined")
	case f.settings.ByClass && !given("distribution"):
		return input.Errorf("--distribution", "", "an integer in 1..%d, with --by-class", gibbs.MostJobs)
	}
	return nil
}

// answer estimates the measures of the model, at every factor if factors are given.
func (f *estimateQuestion) answer(q command.Query) (a render.Answer, found bool, err error) {
	m, err := command.ReadModelOfAll(q)
	if err != nil {
		return a, false, err
	}
	if f.factors == nil {
		return f.answerOne(q, m)
	}
	return command.AtFactors(q, f.factors, func(q command.Query, factor *big.Rat) (render.Answer, bool, error) {
		return f.answerOne(q, m.Scale(factor))
	})
}

// answerOne estimates the measures of a model, or explains why it is unstable.
func (f *estimateQuestion) answerOne(q command.Query, m *cluster.Model) (render.Answer, bool, error) {
	type reporter = func(done, total int)
	r, err := command.WithBar(q, "sweeps", func(ctx context.Context, report reporter) (*gibbs.Result, error) {
		return gibbs.Run(ctx, m, f.settings, func(p gibbs.Progress) { report(p.Done, p.Total) })
	})
	if errors.Is(err, num.ErrUnstable) {
		var verdict *stability.Result
		if verdict, err = command.Decide(q, m); err == nil {
			return command.UnstableAnswer(m, verdict, num.Float), false, nil
		}
	}
	if err != nil {
		return render.Answer{}, false, command.InFile(q.File, f.binding.Translate(err, ""))
	}
	var bounds []*windows.Bounds
	if f.bounds {
		bounds, err = command.WithBar(q, "classes with bounds",
			func(ctx context.Context, report reporter) ([]*windows.Bounds, error) {
				return windows.Delays(ctx, m, windowServers, report)
			})
		if err != nil {
			return render.Answer{}, false, command.InFile(q.File, err)
		}
	}
	list, err := warnings(q.Ctx, m, r, bounds)
	if err != nil {
		return render.Answer{}, false, err
	}
	for _, w := range list {
		fmt.Fprintln(q.Stderr, "pfq: warning:", w)
	}
	r.Warnings = list
	return answer(m, r, f.settings, bounds), true, nil
}
