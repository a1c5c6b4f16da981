// Package allocate is the command allocate of pfq.
package allocate

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
)

// clusterFields are those of the models of other commands.
var clusterFields = []string{"servers", "classes", "mean_size"}

// An allocateFlags holds what the flags of allocate ask for.
type allocateFlags struct {
	binding        *cli.Binding
	policies       command.Policies
	sharing        fluid.Settings // RelTol is that of traffic, too, 0 for the default
	dynamic, audit bool
	chain          traffic.Settings // MaxStates is 0 for the default
	settings       sim.Settings     // Runs is 0 unless there is a simulation
	percentiles    []command.Percentile
	factors        []*big.Rat // of the arrival rates; nil for the traffic as it is
}

// New returns the command.
func New() *cobra.Command {
	var f allocateFlags
	cmd := command.New("allocate POOL", f.answer)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.check(cmd.Flags().Changed) }
	f.add(cmd)
	return cmd
}

// add gives the flags to the command.
func (f *allocateFlags) add(cmd *cobra.Command) {
	b := cli.Bind(cmd)
	f.binding = b
	f.policies.Add(b, "how resources are shared")
	b.Engine(&f.sharing.Engine)
	b.Number(&f.sharing.RelTol, "RelTol", "tol", "", "a number >= 1e-300, or >= 1e-14 with --dynamic, and < 1",
		"relative error asked of the engine enclose (default 1e-09), or of the truncation with --dynamic (default 1e-10)",
		func(v float64) bool { return v >= 1e-300 && v < 1 })
	cli.AddSwitch(cmd, &f.audit, "audit", "also say what can be held against the allocation, and how efficient and fair it is")
	cli.AddSwitch(cmd, &f.dynamic, "dynamic", "jobs come and go")
	b.Int(&f.chain.MaxStates, "MaxStates", "states", 1e9, "most `STATES` of the Markov chain (default 10000000)")
	command.AddScale(cmd, &f.factors, "with --dynamic, answer", "all arrival rates")
	command.AddSimulation(b, &f.settings, &f.percentiles, "also simulate the jobs that come and go, in so many `RUNS`", f.plans)
}

// check accepts flags that go together.
func (f *allocateFlags) check(given func(string) bool) error {
	for _, name := range []string{"runs", "states", "scale"} {
		if given(name) && !f.dynamic {
			return fmt.Errorf("--%s needs --dynamic", name)
		}
	}
	if err := command.CheckSimulation(given, &f.settings, f.percentiles); err != nil {
		return err
	}
	for _, c := range []struct{ name, why string }{
		{"engine", "means in random traffic are computed in double precision only, with bounds"},
		{"audit", "it is of one allocation, and in random traffic every state has another"},
	} {
		if given(c.name) && f.dynamic {
			return fmt.Errorf("--%s and --dynamic exclude each other: %s", c.name, c.why)
		}
	}
	if err := f.policies.Check(); err != nil {
		return err
	}
	rational := !slices.Contains(f.policies.List(), fluid.PF)
	if e := f.sharing.Engine; f.policies.Several() && (e == num.Enclose || e == num.Exact && !rational) {
		return input.Errorf("--engine", e, "auto or float with --policy %s: no other engine has all of them", f.policies.String())
	}
	tol := f.sharing.RelTol
	if f.dynamic && tol != 0 && tol < 1e-14 {
		return input.Errorf("--tol", tol, "a number >= 1e-14 and < 1 with --dynamic")
	}
	if f.audit && tol > 0.1 {
		return input.Errorf("--tol", tol, "a number <= 0.1 with --audit")
	}
	return nil
}

// answer reads the file and answers, and says whether the jobs do not pile up.
func (f *allocateFlags) answer(q command.Query) (a render.Answer, stable bool, err error) {
	if f.dynamic {
		t, err := f.readTraffic(q)
		if err != nil {
			return a, false, err
		}
		if f.factors == nil {
			a, stable, err = f.traffic(q, t)
		} else {
			a, stable, err = command.AtFactors(q, f.factors, func(q command.Query, factor *big.Rat) (render.Answer, bool, error) {
				return f.traffic(q, t.Scale(factor))
			})
		}
		return a, stable, command.InFile(q.File, f.translate(namingDemand(err, t.Pool())))
	}
	p, err := command.Read(q, fluid.ReadPool, fluid.ReadPoolFile, "solve", clusterFields...)
	if err != nil {
		if errors.Is(err, fluid.ErrJobsComeAndGo) {
			err = fmt.Errorf("%w, with --dynamic", err)
		}
		return a, false, err
	}
	a, err = f.share(q, p)
	return a, true, command.InFile(q.File, f.translate(namingDemand(err, p)))
}

// readTraffic reads a file of jobs that come and go.
func (f *allocateFlags) readTraffic(q command.Query) (*traffic.Model, error) {
	t, err := command.Read(q, traffic.Read, traffic.ReadFile, "solve", clusterFields...)
	if errors.Is(err, fluid.ErrJobsStay) {
		err = fmt.Errorf("%w, without --dynamic", err)
	}
	return t, err
}

// namingDemand names the resource in an error about the demands of a job, which are very large or small for one: the one
// whose part of the capacity is farthest from 1.
func namingDemand(err error, p *fluid.Pool) error {
	var bad *input.Error
	if !errors.As(err, &bad) {
		return err
	}
	for i, job := range p.Jobs {
		path := input.Index("jobs", i)
		if bad.Path != path+".demand" && bad.Path != path+".tasks" {
			continue
		}
		most, at := -1, 0
		for j, d := range job.Demand {
			if d == nil || d.Sign() == 0 {
				continue
			}
			part := new(big.Rat).Quo(d, p.Resources[j].Capacity)
			if off := part.Num().BitLen() - part.Denom().BitLen(); max(off, -off) > most {
				most, at = max(off, -off), j
			}
		}
		want := bad.Want
		if bad.Path == path+".tasks" {
			want = "a demand with which numbers of tasks are within the range of double precision"
		}
		return input.Errorf(input.Field(path+".demand", p.Resources[at].Name), render.SixRat(job.Demand[at]), "%s", want)
	}
	return err
}

// translate names the flags of settings in an error, and alternatives to solving traffic that is too large.
func (f *allocateFlags) translate(err error) error {
	return command.TranslateTraffic(f.binding, err, f.chain, f.settings.Runs)
}

// share allocates the resources among jobs that stay.
func (f *allocateFlags) share(q command.Query, p *fluid.Pool) (render.Answer, error) {
	under := func(q command.Query, policy fluid.Policy) (*answered, error) {
		a, err := command.WithProgress(q, func(ctx context.Context) (*allocation, error) {
			return f.allocate(ctx, p, policy)
		})
		if err != nil {
			return nil, err
		}
		return a.answer(), nil
	}
	if f.policies.Several() {
		return f.compare(q, under, allocationsText)
	}
	a, err := under(q, f.policies.List()[0])
	if err != nil {
		return render.Answer{}, err
	}
	return a.Answer, nil
}
