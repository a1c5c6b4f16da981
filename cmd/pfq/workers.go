package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/internal/input"
)

const (
	mostDispatchWorkers = 1_000_000
	mostLogJobs         = 10_000_000 // of 144 bytes each
	policiesWanted      = "all, or policies such as deadline/priority,workload:60,edf"
	workersWanted       = "an integer in 1..1000000"
	speedsWanted        = "speeds such as 1,1,0.5 or 10x1,10x0.5, one a worker, or uniform:LOW:HIGH"
	uniformWanted       = "uniform:LOW:HIGH with 1e-50 <= LOW <= HIGH <= 1e50"
	outagesWanted       = "outages WORKERS@FROM-TO such as 1-6@55-115,8@200-"
)

// parseInterval reads LOW:HIGH with least <= LOW <= HIGH <= most.
func parseInterval(least, most float64) func(string) (interval, bool) {
	return func(text string) (interval, bool) {
		low, high, _ := strings.Cut(text, ":")
		a, errLow := strconv.ParseFloat(low, 64)
		b, errHigh := strconv.ParseFloat(high, 64)
		return interval{a, b}, errLow == nil && errHigh == nil && a >= least && a <= b && b <= most
	}
}

// parseSpeeds reads --heterogeneous; uniform speeds are drawn here as well.
func (f *dispatchFlags) parseSpeeds() error {
	const flag = "--heterogeneous"
	bounds, uniform := strings.CutPrefix(f.heterogeneous, "uniform:")
	if uniform {
		v, ok := parseInterval(1e-50, 1e50)(bounds)
		if !ok {
			return input.Errorf(flag, f.heterogeneous, "%s", uniformWanted)
		}
		f.uniform = true
		var err error
		f.speeds, err = dispatch.UniformSpeeds(f.workers, v.low, v.high, f.seed)
		return err
	}
	if f.heterogeneous == "" {
		f.speeds = slices.Repeat([]float64{1}, f.workers)
		return nil
	}
	for i, word := range strings.Split(f.heterogeneous, ",") {
		word = strings.TrimSpace(word)
		count, speed, counted := strings.Cut(word, "x")
		n, ok := 1, true
		if counted {
			n, ok = parseInt(mostDispatchWorkers)(count)
		} else {
			speed = word
		}
		v, err := strconv.ParseFloat(speed, 64)
		switch {
		case err != nil && !strings.Contains(f.heterogeneous, ","):
			return input.Errorf(flag, f.heterogeneous, "%s", speedsWanted)
		case !ok || err != nil || !(v >= 1e-50 && v <= 1e50):
			return input.Errorf(input.Index(flag, i), cmp.Or(word, "nothing"), "a speed in [1e-50, 1e50], or NxSPEED for N workers")
		case n > f.workers-len(f.speeds): // before so many are made
			return input.Errorf(input.Index(flag, i), word, "%d speeds in all, one a worker", f.workers)
		}
		f.speeds = append(f.speeds, slices.Repeat([]float64{v}, n)...)
	}
	if len(f.speeds) != f.workers {
		return input.Errorf(flag, counted(len(f.speeds), "speed"), "%d speeds, one a worker", f.workers)
	}
	return nil
}

// An outageGroup is an item of --outages: the workers first to last, counted from 1, are away.
type outageGroup struct {
	text        string
	first, last int
	from, to    float64
}

// outageForm has the parts of an outage; a minus after e belongs to a number.
var outageForm = regexp.MustCompile(`^(\d+)(?:-(\d+))?@((?:[^-eE]|[eE]-?)+)-(.*)$`)

func parseOutage(text string) (g outageGroup, ok bool) {
	parts := outageForm.FindStringSubmatch(text)
	if parts == nil {
		return g, false
	}
	first, errFirst := strconv.Atoi(parts[1])
	last, errLast := strconv.Atoi(cmp.Or(parts[2], parts[1]))
	from, errFrom := strconv.ParseFloat(parts[3], 64)
	to, errTo := strconv.ParseFloat(cmp.Or(parts[4], "+Inf"), 64)
	g = outageGroup{text, first, last, from, to}
	return g, errFirst == nil && errLast == nil && errFrom == nil && errTo == nil
}

// parseOutages reads --outages.
func (f *dispatchFlags) parseOutages() error {
	const flag = "--outages"
	if f.outageList == "" {
		return nil
	}
	var groups []outageGroup
	for i, text := range strings.Split(f.outageList, ",") {
		g, ok := parseOutage(text)
		path, value := input.Index(flag, i), cmp.Or(text, "nothing")
		switch {
		case !ok:
			return input.Errorf(path, value, "WORKERS@FROM-TO such as 1-6@55-115, or 8@200- for good")
		case g.first < 1 || g.last > f.workers:
			return input.Errorf(path, value, "workers in 1..%d", f.workers)
		case g.first > g.last:
			return input.Errorf(path, value, "workers FIRST-LAST with FIRST <= LAST")
		case !(g.from >= 0 && g.from <= 1e50 && g.to > g.from):
			return input.Errorf(path, value, "times FROM-TO with 0 <= FROM < TO, FROM at most 1e50")
		}
		for k, h := range groups {
			if max(g.first, h.first) <= min(g.last, h.last) && g.from < h.to && h.from < g.to {
				return input.Errorf(path, value, "an outage that does not overlap %s, %s[%d], which takes worker %d as well", h.text, flag, k, max(g.first, h.first))
			}
		}
		groups = append(groups, g)
		for w := g.first; w <= g.last; w++ {
			f.outages = append(f.outages, dispatch.Outage{Worker: w - 1, From: g.from, To: g.to})
		}
	}
	return nil
}

// readTrace reads the log until the context is done.
func readTrace(ctx context.Context, name string, stdin io.Reader) (log []swf.Job, err error) {
	from, err := openLog(name, stdin)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	reader := swf.NewReader(from, source(name))
	for {
		job, err := reader.Read()
		switch {
		case err == io.EOF:
			return log, nil
		case err != nil:
			return nil, err
		}
		if len(log) == mostLogJobs {
			return nil, input.InFile(source(name), input.Errorf("", "a longer one", "a log of at most %d jobs", mostLogJobs))
		}
		log = append(log, job)
		if len(log)%1000 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// jobsOf makes jobs of the log.
func (f *dispatchFlags) jobsOf(log []swf.Job, name string) (jobs []dispatch.Job, skipped int, err error) {
	jobs, skipped, err = f.sampling.Jobs(log, f.seed)
	var bad *input.Error
	if !errors.As(err, &bad) {
		return jobs, skipped, err
	}
	flags := map[string]string{"Count": "--sample", "TimeScale": "--time-scale", "GapScale": "--gap-scale", "Batch": "--batch", "DeadlineFactor": "--deadline-factor"}
	if flag := flags[bad.Path]; flag != "" {
		return nil, 0, &input.Error{Path: flag, Value: bad.Value, Want: bad.Want}
	}
	return nil, 0, input.InFile(name, bad)
}
