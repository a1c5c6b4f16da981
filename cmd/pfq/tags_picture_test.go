package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/plots"
)

// plotTags returns the command pfq plot tags, which here writes captions instead of pictures.
func plotTags() *cobra.Command {
	return newTagsPlot(func(use string, figure func(command.Query, bool) (*plots.Figure, error)) *cobra.Command {
		return command.NewWriter(use, []string{"text"}, nil, func(q command.Query) ([]byte, bool, error) {
			f, err := figure(q, false)
			if f == nil || err != nil {
				return nil, false, err
			}
			if f.ID = "tags"; f.Validate() != nil {
				return nil, false, f.Validate()
			}
			text := f.Caption
			for _, p := range f.Panels {
				text += "\n" + p.Title
				for _, r := range p.Regions {
					text += "; " + r.Label
				}
			}
			return []byte(text), true, nil
		})
	})
}

var drawing = commandtest.Program(func() *cobra.Command { return command.Root(plotTags()) }).Run

// Input that cannot be drawn is rejected. If there are no cutoffs at all the status is 1, and loads
// without cutoffs are shaded.
func TestPicture(t *testing.T) {
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{"", "--hosts is missing: want an integer in 1..64", 2},
		{"shop.yaml --hosts 2", `unexpected argument "shop.yaml": tags takes flags only`, 2},
		{"--hosts 2", "--sizes is missing: want", 2},
		{"--hosts 2 --sizes lognormal:9", "--mean is missing", 2},
		{
			"--hosts 2 --sizes lognormal:9 --mean 1 --load 0.5,1",
			"--load[1] = 1: want a number > 0 and < 1, or a range", 2,
		},
		{"--hosts 2 --sizes lognormal:9 --mean 1 --load 0:0.5:0.1", "--load[0] = 0:0.5:0.1: want", 2},
		{
			"--hosts 2 --sizes lognormal:9 --mean 1 --load 0.5,0.4",
			"--load = 2/5: want loads that increase, more than 1/2 before it", 2,
		},
		{"--hosts 2 --sizes lognormal:9 --mean 1 --objective speed", "--objective = speed: want", 2},
		{"--hosts 2 --sizes exponential --mean 1", "--objective = slowdown, the default: want waiting", 2},
		{"--hosts 2 --sizes lognormal:9 --mean 1 --jumps 5000", "--jumps needs --runs", 2},
		{
			"--hosts 2 --sizes lognormal:9 --mean 1 --scale 1",
			"unknown flag: --scale; --load takes the loads themselves", 2,
		},
		{
			"--hosts 2 --sizes lognormal:9 --mean 1 --cutoffs 1", "unknown flag: --cutoffs; the best cutoffs are drawn",
			2,
		},
		{"--hosts 2 --speeds 1 --sizes lognormal:9 --mean 1 --load 0.5", "--speeds", 2},
		{"--hosts 2 --sizes file:nowhere.txt", "nowhere.txt", 2},
		{"--hosts 2 --sizes lognormal:9 --mean 1 --load 0.9,0.95", "there is nothing to draw: no cutoffs keep every " +
			"host below load 1; there are such cutoffs at loads below 0.817394", 1},
	} {
		stdout, stderr, status := drawing("", append([]string{"tags"}, strings.Fields(c.args)...)...)
		if status != c.status || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %q %q, want %q", c.args, status, stdout, stderr, c.want)
		}
	}
	stdout, stderr, _ := drawing("", strings.Fields(
		"tags --hosts 2 --sizes lognormal:9 --mean 1 --load 0.3,0.6,0.9 --objective slowdown=1,waiting=2",
	)...)
	for _, want := range []string{
		"2 hosts; sizes are lognormal:9: mean 1", "Objective: slowdown=1,waiting=2.", "below 0.8174.",
		"; least-work-remaining is an approximation, 2.1 times the truth at loads near 0 and right near 1.",
		"mean slowdown under TAGS and its rivals; TAGS: no cutoffs\n" +
			"mean waiting time under TAGS and its rivals; TAGS: no cutoffs\nbest cutoffs; TAGS: no cutoffs\n" +
			"loads of the hosts under TAGS; TAGS: no cutoffs",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %s", want, stdout)
		}
	}
	if want := "pfq: note: TAGS is not drawn at 1 of 3 loads: no cutoffs keep every host below load 1; there are " +
		"such cutoffs at loads below 0.817394\n"; stderr != want {
		t.Errorf("%q, want %q", stderr, want)
	}
}

// If the best cutoffs leave hosts idle, these cutoffs are not drawn, which the caption states;
// unknown rivals are not named.
func TestPictureOfIdleHosts(t *testing.T) {
	stdout, stderr, status := drawing(
		"", strings.Fields("tags --hosts 2 --speeds 1,20 --sizes deterministic --mean 1 --load 0.3,0.4")...,
	)
	if status != 0 || stderr != "" || strings.Contains(stdout, "best cutoffs\n") ||
		!strings.Contains(stdout, "2 hosts of speeds 1, 20;") ||
		!strings.Contains(stdout, "Hosts with a cutoff of 0, which is not drawn, are idle.") ||
		strings.Contains(stdout, "round-robin") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// A picture never overwrites the file of sizes that it shows.
func TestPictureNotOntoSizes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sizes.txt")
	commandtest.WriteFile(t, file, "1\n2\n3\n")
	_, stderr, status := drawing("", "tags", "--hosts", "2", "--sizes", "file:"+file, "--load", "0.5", "-o", file)
	if text, err := os.ReadFile(file); status != 2 || !strings.Contains(stderr, "--output") || err != nil ||
		string(text) != "1\n2\n3\n" {
		t.Errorf("status %d, %s%s", status, stderr, text)
	}
}

// Cancelling the context at any time ends the work.
func TestPictureEnds(t *testing.T) {
	for _, args := range []string{
		"--hosts 3 --sizes lognormal:9 --mean 1 --load 0.001:0.7:0.001",
		"--hosts 2 --sizes lognormal:9 --mean 1 --load 0.5 --runs 500 --jumps 1e6",
	} {
		for _, after := range []time.Duration{0, 50 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			cmd := plotTags()
			err := cmd.ParseFlags(strings.Fields(args))
			if err == nil {
				err = cmd.PreRunE(cmd, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			cmd.SetContext(ctx)
			cmd.SetErr(&out)
			cmd.SetOut(&out)
			if err := cmd.RunE(cmd, nil); !errors.Is(err, command.ErrInterrupted) {
				t.Errorf("%s after %v: %v", args, after, err)
			}
			cancel()
		}
	}
}
