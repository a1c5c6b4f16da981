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

// fillBaseline tells of a run of a baseline; what it has no word of does not exist.
func (a *dispatchAnswer) fillBaseline(row *replayed, v *rigid.Result) error {
	f := a.flags
	if f.Requests.Uniform {
		row.Seed = &f.Seed
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
		MissPenalty: v.DeadlineMissPenalty, Missed: v.Missed, MissedPart: a.part(v.Missed), Makespan: v.Makespan, Delay: spreads[0],
		SlowdownFormula: slowdownFormula, Slowdown: spreads[1], Utilization: numberIf(v.Makespan > 0, v.Utilization),
		Wasted: numberIf(v.Makespan > 0, v.Wasted), Lost: &v.Lost,
	}
	row.baselineMeasures = &baselineMeasures{
		Waiting: spreads[2], BoundedSlowdown: spreads[3], Backfilled: v.Backfilled, Outlived: v.Outlived,
		Requests: f.Requests.String(), RequestsOfLog: a.Asked, Kill: f.Kill,
	}
	return nil
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
