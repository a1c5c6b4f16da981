package cli

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/internal/input"
	"productform/internal/render"
)

// settleWorkers takes the number of workers from the comments of a log, unless a flag sets it.
func (f *LogFlags) settleWorkers(header []string, name string) error {
	if f.Workers > 0 {
		return nil
	}
	processors, ok := swf.MaxProcs(header)
	switch {
	case !ok:
		return &input.Error{Path: "--workers", Want: f.workersWanted()}
	case processors > int64(f.MostWorkers):
		return input.InFile(name, input.Errorf("MaxProcs", processors, "%s", f.workersWanted()))
	}
	f.Workers = int(processors)
	return f.parseWorkers()
}

// parseWorkers reads the speeds and outages of the workers, whose number is known.
func (f *LogFlags) parseWorkers() error {
	return cmp.Or(f.parseSpeeds(), f.parseOutages())
}

// An interval is LOW:HIGH.
type interval struct{ low, high float64 }

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
func (f *LogFlags) parseSpeeds() error {
	const flag = "--heterogeneous"
	if bounds, uniform := strings.CutPrefix(f.heterogeneous, uniformPrefix); uniform {
		v, ok := parseInterval(1e-50, 1e50)(bounds)
		if !ok {
			return input.Errorf(flag, f.heterogeneous, "%s", uniformWanted)
		}
		var err error
		f.Speeds, err = dispatch.UniformSpeeds(f.Workers, v.low, v.high, f.Seed)
		return err
	}
	if f.heterogeneous == "" {
		f.Speeds = slices.Repeat([]float64{1}, f.Workers)
		return nil
	}
	for i, word := range strings.Split(f.heterogeneous, ",") {
		word = strings.TrimSpace(word)
		count, speed, counted := strings.Cut(word, "x")
		n, ok := 1, true
		if counted {
			n, ok = ParseInt(f.MostWorkers)(count)
		} else {
			speed = word
		}
		v, err := strconv.ParseFloat(speed, 64)
		switch {
		case err != nil && !strings.Contains(f.heterogeneous, ","):
			return input.Errorf(flag, f.heterogeneous, "%s", speedsWanted)
		case !ok || err != nil || !input.Speed.Has(v):
			return input.Errorf(
				input.Index(flag, i), cmp.Or(word, "nothing"), "a speed in [1e-50, 1e50], or NxSPEED for N workers",
			)
		case n > f.Workers-len(f.Speeds): // check before the allocation
			return input.Errorf(input.Index(flag, i), word, "%d speeds in total, one per worker", f.Workers)
		}
		f.Speeds = append(f.Speeds, slices.Repeat([]float64{v}, n)...)
	}
	if len(f.Speeds) != f.Workers {
		return input.Errorf(flag, render.Counted(len(f.Speeds), "speed"), "%d speeds, one per worker", f.Workers)
	}
	return nil
}

// An outageGroup is an item of --outages: the workers first to last, counted from 1, are away.
type outageGroup struct {
	text        string
	first, last int
	from, to    float64
}

// outageForm matches an outage and its parts; a minus after e belongs to a number.
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
func (f *LogFlags) parseOutages() error {
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
			return input.Errorf(
				path, value,
				"WORKERS@FROM-TO such as 1-6@55-115, or 8@200- for good, in seconds from the first submission",
			)
		case g.first < 1 || g.last > f.Workers:
			return input.Errorf(path, value, "workers in 1..%d", f.Workers)
		case g.first > g.last:
			return input.Errorf(path, value, "workers FIRST-LAST with FIRST <= LAST")
		case !(g.from >= 0 && g.from <= 1e50 && g.to > g.from):
			return input.Errorf(path, value, "times FROM-TO with 0 <= FROM < TO, FROM at most 1e50")
		}
		for k, h := range groups {
			if max(g.first, h.first) <= min(g.last, h.last) && g.from < h.to && h.from < g.to {
				return input.Errorf(path, value,
					"an outage that does not overlap %s, %s[%d], which takes worker %d as well",
					h.text, flag, k, max(g.first, h.first))
			}
		}
		groups = append(groups, g)
		for w := g.first; w <= g.last; w++ {
			f.Outages = append(f.Outages, dispatch.Outage{Worker: w - 1, From: g.from, To: g.to})
		}
	}
	return nil
}
