package cli

import (
	"cmp"
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
	rest, ofLog := strings.CutPrefix(text, "log")
	factor, hasFactor := strings.CutPrefix(rest, ":")
	switch {
	case ofLog && rest == "":
		return Requests{rigid.Requests{Factor: 1}, true}, true
	case !ofLog:
		factor = text
	case !hasFactor || strings.HasPrefix(factor, uniformPrefix):
		return q, false
	}
	q.OfLog = ofLog
	q.Requests, ok = ParseFactors(factor)
	return q, ok
}

// FactorsWanted describes what [ParseFactors] reads.
const FactorsWanted = "F or uniform:F with 1 <= F <= 1e50"

// ParseFactors reads requested times that are run times times F, or times a number drawn from [1, F].
func ParseFactors(text string) (q rigid.Requests, ok bool) {
	factor, uniform := strings.CutPrefix(text, uniformPrefix)
	v, err := strconv.ParseFloat(factor, 64)
	return rigid.Requests{Factor: v, Uniform: uniform}, err == nil && v >= 1 && v <= 1e50
}

// FactorsText returns requested times in the form that [ParseFactors] reads.
func FactorsText(q rigid.Requests) string {
	factor := strconv.FormatFloat(cmp.Or(q.Factor, 1), 'g', -1, 64)
	if q.Uniform {
		return uniformPrefix + factor
	}
	return factor
}

// String returns the value in the form of the flag.
func (q Requests) String() string {
	if q.OfLog {
		return "log:" + FactorsText(q.Requests)
	}
	return FactorsText(q.Requests)
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
			hint := "; --drop-large omits larger jobs, and under --policy all their tasks need not run together"
			if f.IsOnePolicy {
				hint = ""
			}
			return input.Errorf(fmt.Sprintf("job %d, processors", j.ID), j.Tasks,
				"at most %d, the number of workers, as they run together under %s%s", f.Workers,
				f.Policies[first], hint)
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
