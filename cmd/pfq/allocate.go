// This file implements pfq allocate: divisible resources shared among permanent jobs, or
// jobs that arrive and depart.

package main

import (
	"cmp"
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
	"productform/sim/pool"
)

// clusterFields are fields of the models of other commands.
var clusterFields = command.ClusterFields("servers", "classes", "mean_size")

// An allocateQuestion holds the flags of pfq allocate.
type allocateQuestion struct {
	binding        *cli.Binding
	policies       command.Policies
	sharing        fluid.Settings // RelTol also applies to traffic; 0 means the default
	dynamic, audit bool
	chain          traffic.Settings   // MaxStates 0 means the default
	settings       command.Simulation // Runs is 0 without a simulation
	percentiles    []command.Percentile
	factors        []*big.Rat // factors of the arrival rates; nil leaves the rates unchanged
}

// newAllocateCommand returns the command allocate.
func newAllocateCommand() *cobra.Command {
	var f allocateQuestion
	cmd := command.New("allocate POOL", f.answer)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.check(cmd.Flags().Changed) }
	f.add(cmd)
	return cmd
}

// add adds the flags to the command.
func (f *allocateQuestion) add(cmd *cobra.Command) {
	b := cli.Bind(cmd)
	f.binding = b
	f.policies.Add(b, "how resources are shared")
	b.Engine(&f.sharing.Engine)
	b.Number(&f.sharing.RelTol, "RelTol", "tol", "", "a number >= 1e-300, or >= 1e-14 with --dynamic, and < 1",
		fmt.Sprintf("relative tolerance for the engine enclose (default %v), or for the truncation with --dynamic "+
			"(default %v)", num.DefaultRelTol, traffic.DefaultTruncationTol),
		func(v float64) bool { return v >= 1e-300 && v < 1 })
	b.Name("TruncationTol", "tol")
	cli.AddSwitch(cmd, &f.audit, "audit",
		"also report the weaknesses of the allocation, and how efficient and fair it is")
	cli.AddSwitch(cmd, &f.dynamic, "dynamic", "jobs arrive and depart")
	b.Int(&f.chain.MaxStates, "MaxStates", "states", 1e9,
		fmt.Sprintf("maximum number of `STATES` of the Markov chain (default %d)", traffic.DefaultMaxStates))
	command.AddScale(cmd, &f.factors, "with --dynamic, answer", "all arrival rates")
	command.AddSimulation(b, &f.settings, &f.percentiles,
		"also simulate the jobs that arrive and depart, in this many `RUNS`", f.plans)
}

// check rejects flags that contradict each other.
func (f *allocateQuestion) check(given func(string) bool) error {
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
		{"audit", "an audit covers one allocation, and in random traffic every state has another"},
	} {
		if given(c.name) && f.dynamic {
			return fmt.Errorf("--%s and --dynamic cannot be combined: %s", c.name, c.why)
		}
	}
	if err := f.policies.Check(); err != nil {
		return err
	}
	rational := !slices.Contains(f.policies.List(), fluid.PF)
	if e := f.sharing.Engine; f.policies.Several() && (e == num.Enclose || e == num.Exact && !rational) {
		return input.Errorf("--engine", e, "auto or float with --policy %s: no other engine supports all of them",
			f.policies.String())
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

// answer reads the file and answers the question. It returns false if the traffic is unstable.
func (f *allocateQuestion) answer(q command.Query) (a render.Answer, stable bool, err error) {
	if f.dynamic {
		t, err := f.readTraffic(q)
		if err != nil {
			return a, false, err
		}
		if f.factors == nil {
			a, stable, err = f.traffic(q, t)
		} else {
			at := func(q command.Query, factor *big.Rat) (render.Answer, bool, error) {
				return f.traffic(q, t.Scale(factor))
			}
			a, stable, err = command.AtFactors(q, f.factors, at)
		}
		return a, stable, command.InFile(q.File, f.translate(err))
	}
	p, err := command.Read(q, fluid.ReadPool, fluid.ReadPoolFile, "solve", clusterFields...)
	if err != nil {
		if errors.Is(err, fluid.ErrTraffic) {
			err = fmt.Errorf("%w, with --dynamic", err)
		}
		return a, false, err
	}
	a, err = f.share(q, p)
	return a, true, command.InFile(q.File, f.translate(err))
}

// share allocates the resources among jobs that stay.
func (f *allocateQuestion) share(q command.Query, p *fluid.Pool) (render.Answer, error) {
	under := func(q command.Query, policy fluid.Policy) (*allocateAnswer, error) {
		a, err := command.WithProgress(q, func(ctx context.Context) (*allocation, error) {
			return f.allocate(ctx, p, policy)
		})
		if err != nil {
			return nil, namingDemand(err, p)
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

// allocate shares the resources among jobs that stay.
func (f *allocateQuestion) allocate(ctx context.Context, p *fluid.Pool, policy fluid.Policy) (*allocation, error) {
	r, err := fluid.Allocate(ctx, p, policy, f.sharing)
	if err != nil {
		return nil, err
	}
	a := &allocation{Allocation: r, digits: command.Digits(cmp.Or(f.sharing.RelTol, num.DefaultRelTol))}
	a.style = render.Style{Engine: r.Engine, Digits: a.digits}
	if f.sharing.RelTol == 0 {
		a.digits = 6
	}
	if f.audit {
		err = a.addAudit(ctx, p)
	}
	return a, err
}

// readTraffic reads a file of jobs that arrive and depart.
func (f *allocateQuestion) readTraffic(q command.Query) (*traffic.Model, error) {
	t, err := command.Read(q, traffic.Read, traffic.ReadFile, "solve", clusterFields...)
	if errors.Is(err, fluid.ErrStaticPool) {
		err = fmt.Errorf("%w, without --dynamic", err)
	}
	return t, err
}

// traffic computes the mean numbers of jobs in random traffic, and reports whether they are finite.
func (f *allocateQuestion) traffic(q command.Query, t *traffic.Model) (answer render.Answer, stable bool, err error) {
	a := &trafficCase{policy: fluid.Policy(f.policies.String()), traffic: t}
	if errors.As(t.Stable(), &a.overload) {
		return a.answer().Answer, false, nil
	}
	under := func(q command.Query, policy fluid.Policy) (*allocateAnswer, error) {
		a, err := f.underPolicy(q, t, policy)
		if err != nil {
			return nil, namingDemand(err, t.Pool())
		}
		return a.answer(), nil
	}
	if f.policies.Several() {
		text := func(text *render.Text, all []*allocateAnswer) { a.compareText(text, all) }
		if f.settings.Runs > 0 { // intervals are too wide for one column each
			text = writeEach
		}
		answer, err = f.compare(q, under, text)
		return answer, true, err
	}
	one, err := under(q, f.policies.List()[0])
	if err != nil {
		return answer, false, err
	}
	return one.Answer, true, nil
}

// underPolicy solves stable traffic under a policy, and simulates it on request.
func (f *allocateQuestion) underPolicy(
	q command.Query, t *traffic.Model, policy fluid.Policy,
) (a *trafficCase, err error) {
	a = &trafficCase{policy: policy, traffic: t, settings: f.settings.Settings, asked: f.percentiles}
	var plan *sim.Plan
	if f.settings.Runs > 0 { // checked before any long computation
		if plan, err = f.plan(q.Ctx, t, policy); err != nil {
			return nil, err
		}
	}
	a.result, err = f.solveTraffic(q, t, policy)
	switch {
	case plan != nil && errors.Is(err, traffic.ErrUnsolved):
		a.why = "no exact means: " + f.reasonTooLarge(err, policy)
	case err != nil:
		return nil, err
	}
	if plan != nil {
		if a.simulated, a.speed, err = command.Replicate(q.Ctx, plan, f.settings, q.Stderr); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (f *allocateQuestion) solveTraffic(
	q command.Query, t *traffic.Model, policy fluid.Policy,
) (*traffic.Result, error) {
	return command.WithProgress(q, func(ctx context.Context) (*traffic.Result, error) {
		return traffic.Solve(ctx, t, policy, traffic.Settings{
			TruncationTol: f.sharing.RelTol,
			MaxStates:     f.chain.MaxStates,
		})
	})
}

// plan returns the plan of a simulation.
func (f *allocateQuestion) plan(ctx context.Context, t *traffic.Model, policy fluid.Policy) (*sim.Plan, error) {
	return command.NewPlan(ctx, f.binding, pool.Divisible{Traffic: *t, Policy: policy}, &f.settings)
}

// plans returns the plans of the simulations that answer runs, at every factor. Unstable traffic
// has none.
func (f *allocateQuestion) plans(q command.Query) (plans []*sim.Plan, err error) {
	t, err := f.readTraffic(q)
	if err != nil {
		return nil, err
	}
	return command.PlansAt(q, f.factors, t, (*traffic.Model).Scale, "unstable traffic has",
		func(t *traffic.Model) ([]*sim.Plan, error) {
			if err := t.Stable(); errors.Is(err, num.ErrUnstable) {
				return nil, err
			}
			plans, err := f.plansOf(q, t)
			return plans, f.translate(namingDemand(err, t.Pool()))
		})
}

// plansOf returns the plan of each policy. If there are several, policies that reject the traffic
// are omitted unless all do.
func (f *allocateQuestion) plansOf(q command.Query, t *traffic.Model) (plans []*sim.Plan, err error) {
	for _, policy := range f.policies.List() {
		plan, failed := f.plan(q.Ctx, t, policy)
		var bad *input.Error
		switch {
		case failed == nil:
			plans = append(plans, plan)
		case errors.As(failed, &bad):
			err = cmp.Or(err, failed)
		default:
			return nil, failed
		}
	}
	if plans == nil {
		return nil, err
	}
	return plans, nil
}

// reasonTooLarge explains why traffic cannot be solved.
func (f *allocateQuestion) reasonTooLarge(err error, policy fluid.Policy) string {
	var large *traffic.UnsolvedError
	if errors.As(err, &large) {
		switch {
		case large.Classes > 0:
			return string(policy) + " is computed for " + large.Reason()
		case large.States > 0:
			return fmt.Sprintf("at a load of %s they would take %s, and --states is %s",
				render.SixBeside(large.Load, big.NewRat(1, 1)), large.Reason(), large.Input.Value)
		}
	}
	return cli.OneLine(f.translate(err))
}

// translate names the flags of settings in an error, and alternatives if traffic is too large to
// solve.
func (f *allocateQuestion) translate(err error) error {
	return command.TranslateTraffic(f.binding, err, f.chain, f.settings.Runs)
}

// namingDemand names a resource in an error about very large or small demands of a job: the one
// whose demand, as a fraction of the capacity, is farthest from 1.
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
		path = input.Field(path+".demand", p.Resources[at].Name)
		return input.Errorf(path, render.SixRat(job.Demand[at]), "%s", want)
	}
	return err
}
