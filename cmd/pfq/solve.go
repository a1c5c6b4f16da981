// This file implements pfq solve: mean numbers of jobs, delays, waiting times and
// utilizations of a cluster.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"productform/bf"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/stability"
)

// A solveQuestion holds the flags of pfq solve.
type solveQuestion struct {
	binding     *cli.Binding
	asked       bf.Question
	settings    bf.Settings
	percentiles []command.Percentile // asked.Levels as written
	scaling     command.Scaling
	within      []*big.Rat // times of --within, for one server per job
}

// newSolveCommand returns the command solve.
func newSolveCommand() *cobra.Command {
	var f solveQuestion
	cmd := command.New("solve MODEL", f.answer)
	b, s := cli.Bind(cmd), &f.settings
	f.binding = b
	b.Engine(&s.Engine)
	cli.Choice(b, &s.Lattice, "Lattice", "lattice", bf.Lattices(), "states to sum over")
	b.Tol(&s.RelTol)
	b.Int(&f.asked.MaxJobs, "MaxJobs", "distribution", bf.MostJobs,
		fmt.Sprintf("also give the probabilities of 0, ..., `N` jobs in total, N from 1 to %d", bf.MostJobs))
	b.Switch(&f.asked.ByClass, "ByClass", "by-class",
		"also give the probabilities of --distribution for each class")
	command.AddPercentiles(cmd, &f.percentiles,
		"also give these percentiles of the delay of each class, first come, first served with exponential sizes")
	b.Name("Levels", "percentiles")
	command.AddWithin(cmd, &f.within, "the waiting time and the delay of each class (service: one)")
	b.Name("Times", "within")
	cli.AddSwitch(cmd, &f.asked.Gradients, "gradients",
		"also give the derivatives of the means of each class with respect to every rate and capacity")
	b.Memory(&s.MaxBytes)
	command.AddScaling(cmd, &f.scaling, "solve")
	cli.AddGone(cmd, "exact", "it is --engine exact")
	return cmd
}

// answer solves the model, at every factor if factors are given.
func (f *solveQuestion) answer(q command.Query) (a render.Answer, stable bool, err error) {
	m, err := command.ReadModel(q)
	if err == nil {
		err = command.CheckPercentiles(f.percentiles)
	}
	if err == nil && f.asked.ByClass && f.asked.MaxJobs == 0 {
		err = input.Errorf("--by-class", "true", "--distribution N as well")
	}
	if err != nil {
		return a, false, err
	}
	kind, err := f.kindOf(m)
	if err != nil {
		return a, false, err
	}
	for _, p := range f.percentiles {
		f.asked.Levels = append(f.asked.Levels, p.Level)
	}
	// The solver counts its tables; this limit keeps other garbage from growing as large.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(f.settings.MaxBytes))
	switch {
	case kind.solve != nil:
		a, stable, err = f.answerKind(q, m, kind)
	case f.scaling.Factors != nil:
		a, stable, err = f.sweep(q, m)
	default:
		a, stable, err = f.answerOne(q, m)
	}
	return a, stable, command.InFile(q.File, err)
}

// answerOne solves the unscaled model.
func (f *solveQuestion) answerOne(q command.Query, m *cluster.Model) (a render.Answer, stable bool, err error) {
	r, verdict, err := f.solve(q, m)
	if err != nil {
		return a, false, err
	}
	if r == nil {
		return command.UnstableAnswer(m, verdict, f.settings.Engine), false, nil
	}
	f.warn([]*bf.Result{r}, q.Stderr)
	return f.newSolveResult(m, r, nil).singleAnswer(), true, nil
}

// solve solves the model, or explains why it is unstable.
func (f *solveQuestion) solve(q command.Query, m *cluster.Model) (r *bf.Result, unstable *stability.Result, err error) {
	answer := func() (*bf.Result, error) {
		return ask(f, q, func(ctx context.Context) (*bf.Result, error) {
			return bf.Answer(ctx, m, f.asked, f.settings)
		})
	}
	if hasLargeDraws(m) {
		r, err = answer()
		if !errors.Is(err, num.ErrUnstable) {
			return r, nil, err
		}
	}
	verdict, err := command.Decide(q, m)
	if err != nil || !verdict.Stable {
		return nil, verdict, err
	}
	r, err = answer()
	return r, nil, err
}

// hasLargeDraws reports whether the numbers of ways to choose servers are so large that the
// fractions of [stability.Cluster] take long. [bf.Solve] determines whether such a model is stable,
// but not its margin.
func hasLargeDraws(m *cluster.Model) bool {
	const many = 5000
	for _, k := range m.Classes {
		for _, c := range k.Servers {
			if min(c.Choose, m.Servers[c.Server].Size()-c.Choose) > many {
				return true
			}
		}
	}
	return false
}

// warn writes a warning if the engine float was requested and missed the tolerance.
func (f *solveQuestion) warn(results []*bf.Result, stderr io.Writer) {
	worst := 0.0
	for _, r := range results {
		if r.Engine == num.Float {
			worst = max(worst, r.RelativeErrorBound)
		}
	}
	f.warnMissed(worst, stderr)
}

// warnMissed writes a warning if the error bound exceeds the tolerance with the engine float.
func (f *solveQuestion) warnMissed(worst float64, stderr io.Writer) {
	if worst > f.settings.RelTol {
		fmt.Fprintf(stderr, "pfq: warning: the error bound %s of the engine float is above --tol %g, "+
			"which auto and enclose keep\n", render.OneDigitUp(worst), f.settings.RelTol)
	}
}

// ask calls the solver. Its errors use the terms of the command line.
func ask[T any](f *solveQuestion, q command.Query, solve func(context.Context) (T, error)) (T, error) {
	r, err := command.WithProgress(q, solve)
	err = f.binding.Translate(err, f.alternative())
	var bad *input.Error
	if errors.As(err, &bad) && len(f.percentiles) > 0 && strings.HasSuffix(bad.Path, ".mean_size") {
		want := bad.Want + "; pfq simulate --percentiles estimates them"
		err = &input.Error{Path: bad.Path, Value: bad.Value, Want: want}
	}
	return r, err
}

// alternative names another command for a model that is too large.
func (f *solveQuestion) alternative() string {
	switch {
	case len(f.percentiles) > 0:
		return "or pfq simulate --percentiles, which estimates them"
	case f.asked.Gradients:
		return "or pfq estimate --gradients, which estimates derivatives of the mean number of jobs"
	}
	return "or pfq estimate, with intervals in place of bounds"
}

// sweep solves the model at every factor and reports whether it is stable at all of them.
func (f *solveQuestion) sweep(q command.Query, m *cluster.Model) (a render.Answer, stable bool, err error) {
	row, err := f.scaling.Row(m)
	if err != nil {
		return a, false, err
	}
	points := make([]point, len(f.scaling.Factors))
	var factors []*big.Rat // factors at which the model is stable
	for i, factor := range f.scaling.Factors {
		scale := render.Style{Engine: f.settings.Engine}.Given(factor)
		points[i] = point{factor: factor, at: &command.Scaled{Class: f.scaling.Class, Scale: scale}}
		if hasLargeDraws(m) {
			float := f.settings
			float.Engine = num.Float
			_, err := command.WithProgress(q, func(ctx context.Context) (*bf.Result, error) {
				return bf.Solve(ctx, command.ScaleRow(m, row, factor), float)
			})
			if !errors.Is(err, num.ErrUnstable) {
				factors = append(factors, factor) // if this fails, the sweep will report the error
				continue
			}
		}
		verdict, err := command.Decide(q, command.ScaleRow(m, row, factor))
		if err != nil {
			return a, false, err
		}
		if verdict.Stable {
			factors = append(factors, factor)
		} else {
			points[i].unstable = verdict
		}
	}
	results, err := ask(f, q, func(ctx context.Context) ([]*bf.Result, error) {
		return f.solveAt(ctx, m, row, factors)
	})
	if err != nil {
		return a, false, err
	}
	f.warn(results, q.Stderr)
	stable = len(results) == len(points)
	for i := range points {
		if points[i].unstable == nil {
			points[i].solution = f.newSolveResult(m, results[0], points[i].at)
			results = results[1:]
		}
	}
	return f.sweepAnswer(m, points), stable, nil
}

// solveAt solves the model with the arrival rate in a row, or all of them if row is -1, multiplied
// by each of the factors.
func (f *solveQuestion) solveAt(ctx context.Context, m *cluster.Model, row int, factors []*big.Rat) (
	results []*bf.Result, err error) {
	if row < 0 {
		p, err := bf.Prepare(ctx, m)
		if err != nil {
			return nil, err
		}
		if results, err = p.Sweep(ctx, factors, f.asked, f.settings); err != nil {
			return nil, cmp.Or(errors.Unwrap(err), err) // omits the number of the factor
		}
		return results, nil
	}
	for _, factor := range factors {
		r, err := bf.Answer(ctx, m.ScaleClass(row, factor), f.asked, f.settings)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}
