package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/traces"
)

// scenarioFlags say what is replayed: a part of what pfq dispatch takes, by the same names and forms.
type scenarioFlags struct {
	policy              string
	workers             int
	speeds, outages     string
	learn, emergency    float64
	replan              float64
	sample              int
	seed                int
	timeScale, gapScale float64
}

func (f *scenarioFlags) add(cmd *cobra.Command) {
	f.policy, f.seed = "deadline/priority", 1
	lin := dispatch.LinSampling(1)
	f.timeScale, f.gapScale = lin.TimeScale, lin.GapScale
	cli.AddText(cmd, &f.policy, "policy", "", "a policy such as deadline/priority, workload:60 or edf", "`POLICY` that shares the workers")
	addInt(cmd, &f.workers, "workers", 1, 1000, "number `W` of workers (default 8)")
	cli.AddText(cmd, &f.speeds, "heterogeneous", "", "speeds such as 1,1,0.5 or 10x1,10x0.5, one a worker", "`SPEEDS` of the workers, such as 4x1,4x0.5 (default 1 each)")
	cli.AddText(cmd, &f.outages, "outages", "", outagesWanted, "`OUTAGES` of workers, such as 1-6@55-115,8@200-")
	addNumber(cmd, &f.learn, "learn", "", "hide run times from the policy: seconds for a task, until one of the job is done")
	addNumber(cmd, &f.emergency, "emergency", "", "`PRIORITY` from which on jobs take workers from tasks in hand")
	addNumber(cmd, &f.replan, "replan", "", "seconds after which to plan anew though nothing happened (default never)")
	addInt(cmd, &f.sample, "sample", 1, 100_000, "take `N` consecutive jobs (default one in a hundred)")
	addInt(cmd, &f.seed, "seed", 0, math.MaxInt32, "of the random numbers of the sample")
	addNumber(cmd, &f.timeScale, "time-scale", fmt.Sprint(f.timeScale), "multiply run times by this")
	addNumber(cmd, &f.gapScale, "gap-scale", fmt.Sprint(f.gapScale), "multiply times between submissions by this")
}

const outagesWanted = "outages WORKERS@FROM-TO such as 1-6@55-115,8@200-"

// scenario reads the log and makes the scenario of the flags.
func (f *scenarioFlags) scenario(ctx context.Context, trace string, stdin io.Reader) (s dispatch.Scenario, err error) {
	m := managerFlags{policy: f.policy, learn: f.learn, emergency: f.emergency}
	settings, err := m.settings()
	if err != nil {
		return s, err
	}
	s.Policy, s.Learning, s.Emergency, s.Replan = settings.Rules.Policy, settings.Rules.Learning, settings.Rules.Emergency, f.replan
	if s.Speeds, err = parseSpeeds(f.speeds, f.workers); err != nil {
		return s, err
	}
	if s.Outages, err = parseOutages(f.outages, len(s.Speeds)); err != nil {
		return s, err
	}
	log, err := readLog(ctx, trace, stdin)
	if err != nil {
		return s, err
	}
	sampling := dispatch.LinSampling(len(log))
	if f.sample > 0 {
		sampling.Count = f.sample
	}
	sampling.TimeScale, sampling.GapScale = f.timeScale, f.gapScale
	s.Jobs, _, err = sampling.Jobs(log, uint64(f.seed))
	return s, err
}

// readLog reads a log by its file, - for the standard input, or the name under which it is shipped.
func readLog(ctx context.Context, name string, stdin io.Reader) (log []swf.Job, err error) {
	source := name
	var from io.Reader
	if name == "-" {
		from, source = stdin, "standard input"
	} else if slices.Contains(traces.Names(), name) {
		shipped, err := traces.Open(name)
		if err != nil {
			return nil, err
		}
		defer shipped.Close()
		from = shipped
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	for r := swf.NewReader(from, source); ctx.Err() == nil; {
		j, err := r.Read()
		if err == io.EOF {
			return log, nil
		}
		if err != nil {
			return nil, err
		}
		log = append(log, j)
	}
	return nil, context.Cause(ctx)
}

// parseSpeeds reads --heterogeneous beside --workers, 0 if that is not given.
func parseSpeeds(text string, workers int) (speeds []float64, err error) {
	const flag, standard = "--heterogeneous", 8
	if text == "" {
		if workers == 0 {
			workers = standard
		}
		return slices.Repeat([]float64{1}, workers), nil
	}
	for i, word := range strings.Split(text, ",") {
		count, speed, counted := strings.Cut(strings.TrimSpace(word), "x")
		n := 1
		if counted {
			n, err = strconv.Atoi(count)
		} else {
			speed = count
		}
		v, bad := strconv.ParseFloat(speed, 64)
		if err != nil || bad != nil || n < 1 || n > 1000-len(speeds) || !(v >= 1e-50 && v <= 1e50) {
			return nil, input.Errorf(input.Index(flag, i), word, "a speed in [1e-50, 1e50], or NxSPEED for N workers, at most 1000 in all")
		}
		speeds = append(speeds, slices.Repeat([]float64{v}, n)...)
	}
	if workers != 0 && workers != len(speeds) {
		return nil, input.Errorf(flag, strconv.Itoa(len(speeds))+" speeds", "%d speeds, one a worker", workers)
	}
	return speeds, nil
}

// outageForm has the parts of an outage; a minus after e belongs to a number.
var outageForm = regexp.MustCompile(`^(\d+)(?:-(\d+))?@((?:[^-eE]|[eE]-?)+)-(.*)$`)

// parseOutages reads --outages: workers FIRST-LAST, counted from 1, are away FROM-TO.
func parseOutages(text string, workers int) (outages []dispatch.Outage, err error) {
	if text == "" {
		return nil, nil
	}
	for i, word := range strings.Split(text, ",") {
		wrong := input.Errorf(input.Index("--outages", i), word, "WORKERS@FROM-TO such as 1-6@55-115, or 8@200- for good, of workers in 1..%d", workers)
		part := outageForm.FindStringSubmatch(word)
		if part == nil {
			return nil, wrong
		}
		if part[2] == "" {
			part[2] = part[1]
		}
		if part[4] == "" {
			part[4] = "+Inf"
		}
		first, err1 := strconv.Atoi(part[1])
		last, err2 := strconv.Atoi(part[2])
		from, err3 := strconv.ParseFloat(part[3], 64)
		to, err4 := strconv.ParseFloat(part[4], 64)
		if errors.Join(err1, err2, err3, err4) != nil || first < 1 || last > workers || first > last || !(to > from) {
			return nil, wrong
		}
		for w := first; w <= last; w++ {
			outages = append(outages, dispatch.Outage{Worker: w - 1, From: from, To: to})
		}
	}
	return outages, nil
}
