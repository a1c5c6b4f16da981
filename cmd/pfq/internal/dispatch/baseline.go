package dispatch

import (
	"fmt"
	"strings"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/render"
)

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

// ofBaseline returns the measures of a run of a baseline, nil for those that baselines lack.
func (a *dispatchAnswer) ofBaseline(v *rigid.Result) measures {
	f := a.flags
	spread := func(s dispatch.Spread, value func(*rigid.Record) float64) render.Record {
		return f.spread(s, len(v.Jobs), func(k int) float64 { return value(&v.Jobs[k]) })
	}
	return measures{&dispatchMeasures{
		MissPenalty: v.DeadlineMissPenalty, Missed: v.Missed, MissedPart: a.part(v.Missed), Makespan: v.Makespan,
		Delay:           spread(v.Delay, func(r *rigid.Record) float64 { return r.Delay }),
		SlowdownFormula: slowdownFormula,
		Slowdown:        spread(v.Slowdown, func(r *rigid.Record) float64 { return r.Slowdown }),
		Utilization:     numberIf(v.Makespan > 0, v.Utilization), Wasted: numberIf(v.Makespan > 0, v.Wasted),
		Lost: &v.Lost,
	}, &baselineMeasures{
		Waiting:         spread(v.Waiting, func(r *rigid.Record) float64 { return r.Waiting }),
		BoundedSlowdown: spread(v.BoundedSlowdown, func(r *rigid.Record) float64 { return r.BoundedSlowdown }),
		Backfilled:      v.Backfilled, Outlived: v.Outlived,
		Requests: f.Requests.String(), RequestsOfLog: a.Asked, Kill: f.Kill,
	}}
}

// writeBaselines says what the baselines do, and what is measured of them alone.
func (a *dispatchAnswer) writeBaselines(t *render.Text) {
	if a.Asking == nil {
		return
	}
	t.Line("bounded slowdown: max(1, delay / max(run time, 10 s)); waiting: from submission to begin")
	var names, others []string
	for _, p := range a.flags.Policies {
		if p.Baseline != nil {
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
	run := "run times x " + render.Six(f.Requests.Factor)
	if f.Requests.Uniform {
		run = fmt.Sprintf("run times x uniform on [1, %s] (seed %d)", render.Six(f.Requests.Factor), f.Seed)
	}
	line = "requested times: " + run
	switch {
	case f.Requests.OfLog && f.samples > 0:
		line = "requested times: those of the log, or else " + run
	case f.Requests.OfLog:
		line = fmt.Sprintf("requested times: those of the log for %s, %s for %d", render.Counted(a.Asked, "job"), run, len(a.List)-a.Asked)
	}
	if f.Kill {
		line += "; jobs are killed at them"
	}
	t.Line("%s", line)
}
