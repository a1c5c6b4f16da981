package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"productform/dispatch"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/live/manager"
	"productform/live/server"
)

// managerFlags are the flags of a manager.
type managerFlags struct {
	manager.Settings
	policy string
	rules  dispatch.Rules // unless the policy is from package rigid
}

func (f *managerFlags) add(cmd *cobra.Command) {
	f.policy = "deadline/priority"
	f.LostAfter, f.Keep = 2*time.Second, 7*24*time.Hour
	cli.AddText(
		cmd, &f.policy, "policy", "", "a policy such as deadline/priority, workload:60, edf or easy",
		"`POLICY` that shares the workers, as pfq dispatch names them",
	)
	cli.AddGone(cmd, "policy-service", "managers use no policy service; --policy names the policy")
	cli.AddGone(cmd, "verify", "no task runs twice; submit a job under two names and compare the outputs")
	addNumber(cmd, &f.rules.Learning.Default, "learn", "", "assumed duration of a task in seconds, until one of its "+
		"job is done; then measured durations replace the estimates of jobs")
	addInt(
		cmd, &f.rules.Learning.Window, "learn-last", 0, math.MaxInt32,
		"with --learn: number of most recently finished tasks of a job in the mean; 0 for all",
	)
	cli.AddSwitch(
		cmd, &f.rules.Learning.Speeds, "learn-speeds",
		"measure how fast each worker is at each kind of task; measured speeds replace those that workers announce",
	)
	addNumber(
		cmd, &f.rules.Emergency, "emergency", "", "jobs of this `PRIORITY` or more take workers from running tasks",
	)
	addDuration(cmd, &f.LostAfter, "lost-after", 10*time.Millisecond, "how long a worker may be silent")
	addDuration(cmd, &f.Replan, "replan", 0, "how often to plan again if nothing happens; 0s for never")
	addDuration(cmd, &f.Keep, "keep", time.Second, "how long a finished job is kept, with its results")
	addDuration(cmd, &f.Settle, "settle", 0, "how long to wait for more events of the same moment")
}

// settings returns the settings of the manager.
func (f *managerFlags) settings() (manager.Settings, error) {
	s, learning := f.Settings, f.rules.Learning
	policy, err := cli.ParsePolicy(f.policy)
	if bad := (*input.Error)(nil); errors.As(err, &bad) {
		return s, &input.Error{Path: "--policy", Value: bad.Value, Want: bad.Want}
	}
	if err != nil {
		return s, err
	}
	switch {
	case learning.Window > 0 && learning.Default == 0:
		return s, input.Errorf("--learn-last", learning.Window, "0 without --learn")
	case policy.Baseline == nil:
		s.Rules = f.rules
		s.Rules.Policy = policy.Policy
		return s, nil
	case learning.Speeds:
		return s, fmt.Errorf("--learn-speeds and --policy %s cannot be combined: "+
			"the workers of this policy are equal", policy)
	case learning.Default > 0:
		return s, fmt.Errorf("--learn and --policy %s cannot be combined: "+
			"jobs request their run times under this policy", policy)
	case f.rules.Emergency > 0:
		return s, fmt.Errorf("--emergency and --policy %s cannot be combined: "+
			"this policy takes no workers away", policy)
	}
	s.Rigid = *policy.Baseline
	return s, nil
}

// serverFlags are the flags of an embedded server.
type serverFlags struct {
	server.Settings
	memory bool
}

func (f *serverFlags) add(cmd *cobra.Command) {
	f.Listen = "127.0.0.1:4222"
	cli.AddText(cmd, &f.Store, "store", "", "the name of a folder", "`DIR` of all stored data, used by this server "+
		"only (default $XDG_STATE_HOME/pfq-live, otherwise ~/.local/state/pfq-live)")
	cli.Flag[int64]{Name: "store-limit", Kind: "size", Want: wantSize, Parse: parseSize,
		Usage: "`SIZE` of the store at which submissions and results wait until there is room, such as 10GiB " +
			"(default 75 % of its size and the free space of its disk)"}.Add(cmd, &f.MaxStore)
	cli.AddSwitch(cmd, &f.memory, "memory", "keep everything in memory: nothing is left when the server ends")
	cli.AddText(
		cmd, &f.Listen, "listen", "", "HOST:PORT", "`HOST:PORT` to listen on; beyond this machine only with --keys",
	)
	cli.AddText(
		cmd, &f.Keys, "keys", "", "a folder made by pfq-live keys init",
		"folder `DIR` with the keys: connections then need a key and TLS",
	)
	cli.AddSwitch(cmd, &f.Insecure, "insecure", "listen beyond this machine even without keys")
	cli.Flag[time.Duration]{
		Name:    "sync",
		Kind:    "always|duration",
		Usage:   "when data is flushed to the disk: before each acknowledgement, or at this interval",
		Default: "always",
		Want:    "always or a duration such as 2m",
		Parse: func(text string) (time.Duration, bool) {
			if text == "always" {
				return 0, true
			}
			d, err := time.ParseDuration(text)
			return d, err == nil && d > 0
		},
	}.Add(cmd, &f.Sync)
}

// settings returns the settings of the server and of its streams.
func (f *serverFlags) settings() (server.Settings, server.Layout, error) {
	s := f.Settings
	if f.memory {
		if s.Store != "" {
			return s, server.Layout{}, errors.New("--store and --memory cannot be combined")
		}
		if s.MaxStore > 0 {
			return s, server.Layout{}, errors.New("--store-limit needs a store on disk, not --memory")
		}
		return s, server.Layout{Memory: true}, nil
	}
	var err error
	if s.Store == "" {
		s.Store, err = stateFolder()
	}
	return s, server.Layout{}, err
}

const wantSize = "a size of at least 1MiB and at most 1000TiB, such as 500MiB or 10GiB"

// parseSize parses a whole number of bytes with a unit.
func parseSize(text string) (int64, bool) {
	for unit, bytes := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseInt(number, 10, 64)
			return n * bytes, err == nil && n > 0 && n <= 1000<<40/bytes && n*bytes >= 1<<20
		}
	}
	return 0, false
}
