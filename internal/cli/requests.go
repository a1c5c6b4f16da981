package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"productform/dispatch/rigid"
	"productform/dispatch/swf"
	"productform/internal/input"
)

// Requests determines the requested times of jobs for the baselines.
type Requests struct {
	rigid.Requests
	OfLog bool // from the log, if it has one
}

const requestsWanted = "log, log:F, F or uniform:F with 1 <= F <= 1e50"

// addRequests adds the flags of the baselines.
func (f *LogFlags) addRequests(cmd *cobra.Command) {
	f.Requests = Requests{rigid.Requests{Factor: 1}, true}
	Flag[Requests]{
		Name:    "requests",
		Kind:    "log[:F]|F|uniform:F",
		Default: "log",
		Want:    requestsWanted,
		Parse:   parseRequests,
		Usage: "requested times of fcfs, sjf, easy and conservative: those of the log, otherwise run times " +
			"times F (1)",
	}.Add(cmd, &f.Requests)
	AddSwitch(cmd, &f.Kill, "kill", "under fcfs, sjf, easy and conservative, end jobs at their requested times")
}

// parseRequests reads --requests.
func parseRequests(text string) (q Requests, ok bool) {
	q.Factor = 1
	factor, uniform := strings.CutPrefix(text, uniformPrefix)
	q.Uniform = uniform
	if !uniform {
		rest, ofLog := strings.CutPrefix(text, "log")
		after, hasFactor := strings.CutPrefix(rest, ":")
		switch {
		case ofLog && rest == "":
			return Requests{rigid.Requests{Factor: 1}, true}, true
		case ofLog && !hasFactor:
			return q, false
		case ofLog:
			factor, q.OfLog = after, true
		}
	}
	v, err := strconv.ParseFloat(factor, 64)
	q.Factor = v
	return q, err == nil && v >= 1 && v <= 1e50
}

// String returns the value in the form of the flag.
func (q Requests) String() string {
	factor := strconv.FormatFloat(q.Factor, 'g', -1, 64)
	switch {
	case q.Uniform:
		return uniformPrefix + factor
	case q.OfLog:
		return "log:" + factor
	}
	return factor
}

// ask sets the requested times of jobs if there is a baseline. places holds the positions of the
// jobs in the log.
func (f *LogFlags) ask(taken *Jobs, log []swf.Job, places []int, seed uint64) (err error) {
	first := slices.IndexFunc(f.Policies, func(p Policy) bool { return p.Baseline != nil })
	if first < 0 {
		return nil
	}
	for _, j := range taken.List {
		if j.Tasks > f.Workers {
			return input.Errorf(fmt.Sprintf("job %d, processors", j.ID), j.Tasks,
				"at most %d, the number of workers, as they run together under %s", f.Workers, f.Policies[first])
		}
	}
	var requested []float64
	if f.Requests.OfLog {
		requested = rigid.Requested(log, places, f.Sampling.TimeScale)
		for _, v := range requested {
			if v > 0 {
				taken.Asked++
			}
		}
	}
	q := f.Requests.Requests
	q.Seed = seed
	taken.Asking, err = q.Apply(taken.List, requested)
	return err
}
