package command

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"productform/fluid/traffic"
	"productform/internal/cli"
	"productform/internal/render"
)

// TranslateTraffic is [cli.Binding.Translate] for errors of [traffic.Solve]. For traffic that is
// too large it gives specific advice and, without runs, explains how to simulate it.
func TranslateTraffic(b *cli.Binding, err error, s traffic.Settings, runs int, advice ...string) error {
	var large *traffic.UnsolvedError
	if !errors.As(err, &large) {
		return b.Translate(err, "")
	}
	if runs == 0 {
		advice = append(advice, "--runs 20 to simulate")
	}
	bad := *large.Input
	if large.States > 0 && s.MaxStates == 0 {
		bad.Path, bad.Value = "jobs", "a load of "+render.SixBeside(large.Load, big.NewRat(1, 1))
		bad.Want = fmt.Sprintf("a load farther from 1, as exact means would take %s, and --states is %s",
			large.Reason(), large.Input.Value)
	}
	switch {
	case large.Classes > 0 && runs == 0:
		bad.Want += "; add --runs 20 to simulate, or omit a resource that is never full"
	case large.States == 0 && large.Classes == 0 && bad.Path == "jobs":
		return err
	case large.Classes == 0 && advice != nil:
		bad.Want += "; or " + strings.Join(advice, ", or ")
	}
	return b.Translate(&bad, "")
}
