package dispatch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/dispatch/swf"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/internal/tree"
)

// A policy is one of package dispatch, or a baseline if that is not nil.
type policy struct {
	dispatch.Policy
	baseline *rigid.Policy
}

func (p policy) String() string {
	if p.baseline != nil {
		return p.baseline.String()
	}
	return p.Policy.String()
}

// parsePolicies reads --policy.
func (f *dispatchFlags) parsePolicies() error {
	if f.policyList == everyPolicy {
		f.policies = allRules()
		return nil
	}
	for i, name := range strings.Split(f.policyList, ",") {
		p, err := parsePolicy(name)
		path := input.Index("--policy", i)
		if bad := (*input.Error)(nil); errors.As(err, &bad) {
			return &input.Error{Path: path, Value: cmp.Or(bad.Value, "nothing"), Want: bad.Want}
		}
		if slices.Contains(policyNames(f.policies), p.String()) {
			return input.Errorf(path, name, "each policy once")
		}
		f.policies = append(f.policies, p)
	}
	return nil
}

// parsePolicy returns the policy of a name, of either package.
func parsePolicy(name string) (policy, error) {
	if rigid.Known(name) {
		p, err := rigid.ParsePolicy(name)
		return policy{baseline: &p}, err
	}
	rule, _, _ := strings.Cut(name, "/")
	rule, _, _ = strings.Cut(rule, ":")
	if slices.Contains(dispatch.AllRules(), dispatch.Rule(rule)) {
		p, err := dispatch.ParsePolicy(name)
		return policy{Policy: p}, err
	}
	words := func(yield func(string) bool) {
		for _, p := range append(allRules(), baselines()...) {
			if word, _, _ := strings.Cut(p.String(), "/"); !yield(strings.TrimSuffix(word, ":1")) {
				return
			}
		}
	}
	return policy{}, input.Errorf("policy", name, "one of %s%s", strings.Join(append(dispatch.Names(), rigid.Names()...), ", "), tree.DidYouMean(rule, words, strings.Clone))
}

// allRules returns the policies that are compared by default.
func allRules() (list []policy) {
	for _, name := range []string{"priority", "proportion", "workload", "deadline/priority", "deadline/deadline", "edf"} {
		p, err := dispatch.ParsePolicy(name)
		if err != nil {
			panic(err) // a name of ours
		}
		list = append(list, policy{Policy: p})
	}
	return list
}

// baselines returns those of package rigid.
func baselines() (list []policy) {
	for _, p := range rigid.Policies() {
		list = append(list, policy{baseline: &p})
	}
	return list
}

func policyNames(list []policy) (names []string) {
	for _, p := range list {
		names = append(names, p.String())
	}
	return names
}

// requests says for how long jobs of the baselines ask.
type requests struct {
	rigid.Requests
	ofLog bool // where it tells
}

const requestsWanted = "log, log:F, F or uniform:F with 1 <= F <= 1e50"

// addRequests gives the flags of the baselines.
func (f *dispatchFlags) addRequests(cmd *cobra.Command) {
	f.requests = requests{rigid.Requests{Factor: 1}, true}
	cli.Flag[requests]{Name: "requests", Kind: "log[:F]|F|uniform:F", Default: "log", Want: requestsWanted, Parse: parseRequests,
		Usage: "requested times of fcfs, sjf, easy and conservative: those of the log, else run times times F (1)"}.Add(cmd, &f.requests)
	cli.AddSwitch(cmd, &f.kill, "kill", "likewise, end jobs at their requested times")
}

// parseRequests reads --requests.
func parseRequests(text string) (q requests, ok bool) {
	q.Factor = 1
	factor, uniform := strings.CutPrefix(text, uniformPrefix)
	q.Uniform = uniform
	if !uniform {
		rest, ofLog := strings.CutPrefix(text, "log")
		after, hasFactor := strings.CutPrefix(rest, ":")
		switch {
		case ofLog && rest == "":
			return requests{rigid.Requests{Factor: 1}, true}, true
		case ofLog && !hasFactor:
			return q, false
		case ofLog:
			factor, q.ofLog = after, true
		}
	}
	v, err := strconv.ParseFloat(factor, 64)
	q.Factor = v
	return q, err == nil && v >= 1 && v <= 1e50
}

// String returns the form in which the flag takes it.
func (q requests) String() string {
	factor := strconv.FormatFloat(q.Factor, 'g', -1, 64)
	switch {
	case q.Uniform:
		return uniformPrefix + factor
	case q.ofLog:
		return "log:" + factor
	}
	return factor
}

// checkBaselines accepts flags that baselines can do with.
func (f *dispatchFlags) checkBaselines(given func(string) bool) error {
	isBaseline := func(p policy) bool { return p.baseline != nil }
	first := slices.IndexFunc(f.policies, isBaseline)
	if first < 0 {
		for _, flag := range []string{"requests", "kill"} {
			if given(flag) {
				return fmt.Errorf("--%s is of no use without fcfs, sjf, easy or conservative in --policy", flag)
			}
		}
		return nil
	}
	for _, c := range []struct{ flag, why string }{
		{"heterogeneous", "its workers are equal"}, {"outages", "its workers never fail"}, {"timeline", "it does not say which worker is whose"},
	} {
		if given(c.flag) {
			return fmt.Errorf("--%s is of no use with --policy %s: %s", c.flag, f.policies[first], c.why)
		}
	}
	if given("emergency") && !slices.ContainsFunc(f.policies, func(p policy) bool { return !isBaseline(p) }) {
		return fmt.Errorf("--emergency is of no use with --policy %s, which takes no workers away", f.policyList)
	}
	return nil
}

// ask gives jobs their requested times if there is a baseline. The places are those of the jobs in the log.
func (a *dispatchAnswer) ask(log []swf.Job, places []int) (err error) {
	f := a.flags
	first := slices.IndexFunc(f.policies, func(p policy) bool { return p.baseline != nil })
	if first < 0 {
		return nil
	}
	for _, j := range a.jobs {
		if j.Tasks > f.workers {
			return input.InFile(a.name, input.Errorf(fmt.Sprintf("job %d, processors", j.ID), j.Tasks,
				"at most %d, the number of workers, as they run together under %s", f.workers, f.policies[first]))
		}
	}
	var requested []float64
	if f.requests.ofLog {
		requested = rigid.Requested(log, places, f.sampling.TimeScale)
		for _, v := range requested {
			if v > 0 {
				a.asked++
			}
		}
	}
	q := f.requests.Requests
	q.Seed = f.seed
	a.asking, err = q.Apply(a.jobs, requested)
	if bad := (*input.Error)(nil); errors.As(err, &bad) {
		return input.InFile(a.name, bad)
	}
	return err
}

// baselineMeasures are those that baselines alone have.
type baselineMeasures struct {
	Waiting         render.Record `json:"waiting" unit:"s"`
	BoundedSlowdown render.Record `json:"bounded_slowdown" unit:"-"`
	Backfilled      int           `json:"backfilled" unit:"jobs"`
	Outlived        int           `json:"outlived" unit:"jobs"`
	Requests        string        `json:"requests"`
	RequestsOfLog   int           `json:"requests_of_log"` // jobs
	Kill            bool          `json:"kill"`
}

// fillBaseline tells of a run of a baseline; what it has no word of does not exist.
func (a *dispatchAnswer) fillBaseline(row *replayed, v *rigid.Result) error {
	f := a.flags
	if f.requests.Uniform {
		row.Seed = &f.seed
	}
	var spreads [4]render.Record
	for k, c := range []struct {
		of    dispatch.Spread
		value func(*rigid.Record) float64
	}{
		{v.Delay, func(r *rigid.Record) float64 { return r.Delay }}, {v.Slowdown, func(r *rigid.Record) float64 { return r.Slowdown }},
		{v.Waiting, func(r *rigid.Record) float64 { return r.Waiting }}, {v.BoundedSlowdown, func(r *rigid.Record) float64 { return r.BoundedSlowdown }},
	} {
		var err error
		if spreads[k], err = spread(f.percentiles, c.of, v.Jobs, c.value); err != nil {
			return err
		}
	}
	row.dispatchMeasures = &dispatchMeasures{
		MissPenalty: v.DeadlineMissPenalty, Missed: v.Missed, Makespan: v.Makespan, Delay: spreads[0],
		SlowdownFormula: slowdownFormula, Slowdown: spreads[1], Utilization: numberIf(v.Makespan > 0, v.Utilization),
	}
	row.baselineMeasures = &baselineMeasures{
		Waiting: spreads[2], BoundedSlowdown: spreads[3], Backfilled: v.Backfilled, Outlived: v.Outlived,
		Requests: f.requests.String(), RequestsOfLog: a.asked, Kill: f.kill,
	}
	return nil
}

// writeBaselines says what the baselines do, and what is measured of them alone.
func (a *dispatchAnswer) writeBaselines(t *render.Text) {
	if a.asking == nil {
		return
	}
	t.Line("bounded slowdown: max(1, delay / max(run time, 10 s)); waiting: from submission to begin")
	var names, others []string
	for _, p := range a.flags.policies {
		if p.baseline != nil {
			names = append(names, p.String())
		} else {
			others = append(others, p.String())
		}
	}
	line := "tasks of a job begin together under " + strings.Join(names, ", ")
	if others != nil {
		line += ", and need not under " + strings.Join(others, ", ")
	}
	t.Line("%s", line)
	f := a.flags
	run := "run times x " + render.Six(f.requests.Factor)
	if f.requests.Uniform {
		run = fmt.Sprintf("run times x uniform on [1, %s] (seed %d)", render.Six(f.requests.Factor), f.seed)
	}
	line = "requested times: " + run
	if f.requests.ofLog {
		line = fmt.Sprintf("requested times: those of the log for %s, %s for %d", command.Counted(a.asked, "job"), run, len(a.jobs)-a.asked)
	}
	if f.kill {
		line += "; jobs are killed at them"
	}
	t.Line("%s", line)
}
