package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/cli"
)

// scenarioFlags select the scenario of a replay, in the names and formats of pfq dispatch.
type scenarioFlags struct {
	cli.LogFlags
	replan float64
}

func newScenarioFlags() scenarioFlags {
	return scenarioFlags{LogFlags: cli.LogFlags{
		PolicyList:     "deadline/priority",
		IsOnePolicy:    true,
		MostWorkers:    1000,
		StandardNumber: 8,
		IsSampled:      true,
	}}
}

func (f *scenarioFlags) add(cmd *cobra.Command) {
	f.Add(cmd)
	addNumber(cmd, &f.replan, "replan", "", "seconds after which to plan again if nothing happens (default never)")
}

// check rejects flags that cannot be combined.
func (f *scenarioFlags) check(given func(string) bool) error {
	if err := f.Check(given); err != nil {
		return err
	}
	if p := f.Policies[0]; given("replan") && p.Baseline != nil {
		return fmt.Errorf("--replan and --policy %s cannot be combined: its plans do not depend on time", p)
	}
	return nil
}

// scenario reads the log and creates the scenario that the flags select. outlived is the number of
// jobs that exceed their requested time.
func (f *scenarioFlags) scenario(ctx context.Context, trace string, stdin io.Reader) (
	s Scenario, outlived int, err error,
) {
	taken, err := f.Read(ctx, trace, stdin)
	if err != nil {
		return s, 0, err
	}
	s.Jobs, s.Speeds, s.Outages = taken.List, f.Speeds, f.Outages
	p := f.Policies[0]
	if p.Baseline != nil {
		s.Rigid = *p.Baseline
		s.Jobs, outlived = rigid.Settled(taken.Asking, f.Kill)
		return s, outlived, nil
	}
	s.Policy, s.Learning, s.Emergency, s.Replan = p.Policy, dispatch.Learning{Default: f.Learning},
		f.Emergency, f.replan
	return s, 0, nil
}
