package main

import (
	"context"
	"errors"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/oneserver"
)

// oneServerColumns are the first columns of CSV.
var oneServerColumns = []string{"kind", "name", "count", "arrival_rate", "wait_probability", "mean_waiting",
	"mean_delay", "mean_queue", "mean_jobs", "server", "rate", "share", "utilization", "service", "engine", "states",
	"relative_error_bound", "time", "waiting", "delay", "jobs", "probability"}

// oneServerSections are the lines of CSV and the tables of text.
var oneServerSections = []render.Section{
	{Kind: "cluster", Columns: "mean_queue mean_jobs mean_waiting? mean_delay?"},
	{Kind: "class", Of: "classes",
		Columns: "name arrival_rate wait_probability mean_waiting mean_delay mean_queue"},
	{Of: "classes.waiting"},
	{Of: "classes.delay"},
	{Kind: "within", Of: "classes.within"},
	{Kind: "served_by", Of: "classes.served_by"},
	{Kind: "server", Of: "servers", Columns: "name count? utilization"},
	{Kind: "gradient", Of: "gradients", Columns: "class by of mean_waiting_change", Rows: perServer},
	{Kind: "queue_distribution", Of: "queue_distribution", Before: "jobs that wait"},
	{Kind: "distribution", Of: "jobs_distribution", Before: "all jobs"},
}

// solveOneServer solves a model in which each job runs on one server.
func (f *solveQuestion) solveOneServer(q command.Query, m *cluster.Model) (*solved, error) {
	ask := oneserver.Question{Levels: f.asked.Levels, Times: f.within, MaxJobs: f.asked.MaxJobs,
		Gradients: f.asked.Gradients}
	s := oneserver.Settings{Engine: f.settings.Engine, RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes}
	r, err := command.WithProgress(q, func(ctx context.Context) (*oneserver.Result, error) {
		return oneserver.Answer(ctx, m, ask, s)
	})
	switch {
	case errors.Is(err, num.ErrUnstable):
		return f.overloaded(q, m)
	case err != nil:
		return nil, f.explainOneServer(err)
	}
	a := &solved{
		stable: true, body: f.oneServerBody(m, r), sections: oneServerSections,
		lines: func(t *render.Text) { f.writeOneServer(t, r) },
	}
	if r.Engine == num.Float {
		a.bound = r.RelativeErrorBound
	}
	return a, nil
}

// explainOneServer adds what simulations can do to an error of package oneserver.
func (f *solveQuestion) explainOneServer(err error) error {
	var bad *input.Error
	if errors.As(err, &bad) && strings.HasSuffix(bad.Path, ".mean_size") {
		return &input.Error{Path: bad.Path, Value: bad.Value, Want: bad.Want + "; pfq simulate takes any sizes"}
	}
	return f.binding.Translate(err, "or pfq simulate, which estimates the means")
}

// patienceColumns are the first columns of CSV if jobs give up.
var patienceColumns = []string{"kind", "name", "count", "arrival_rate", "wait_probability", "abandon_probability",
	"mean_waiting", "mean_waiting_served", "mean_waiting_abandoned", "mean_delay", "mean_queue", "mean_jobs", "server",
	"rate", "share", "utilization", "service", "states", "relative_error_bound", "error_estimate", "time", "waiting",
	"delay", "served", "served_share"}

// patienceSections are the lines of CSV and the tables of text.
var patienceSections = []render.Section{
	{Kind: "cluster", Columns: "mean_queue mean_jobs abandon_probability mean_waiting mean_delay"},
	{Kind: "class", Of: "classes",
		Columns: "name arrival_rate wait_probability abandon_probability mean_waiting mean_delay mean_queue"},
	{Of: "classes", Columns: "name mean_waiting_served mean_waiting_abandoned"},
	{Of: "classes.waiting"},
	{Of: "classes.waiting_served"},
	{Kind: "within", Of: "classes.within", Columns: "name time waiting served served_share"},
	{Kind: "served_by", Of: "classes.served_by"},
	{Kind: "server", Of: "servers", Columns: "name count? utilization"},
}

// solvePatience solves a model in which waiting jobs give up.
func (f *solveQuestion) solvePatience(q command.Query, m *cluster.Model) (*solved, error) {
	s := oneserver.PatienceSettings{RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes, Times: f.within,
		Levels: f.asked.Levels}
	r, err := command.WithProgress(q, func(ctx context.Context) (*oneserver.PatienceResult, error) {
		return oneserver.SolvePatience(ctx, m, s)
	})
	switch {
	case errors.Is(err, num.ErrUnstable): // by jobs that never give up
		return f.overloaded(q, m.WithoutImpatient())
	case err != nil:
		return nil, f.explainOneServer(err)
	}
	return &solved{
		stable: true, body: f.patienceBody(m, r), sections: patienceSections,
		lines: func(t *render.Text) { writePatience(t, r) },
	}, nil
}

// writePatience writes the lines about jobs that give up.
func writePatience(t *render.Text, r *oneserver.PatienceResult) {
	if r.RelativeErrorBound != nil {
		trust, shown := command.Trust(num.Float, *r.RelativeErrorBound)
		t.Line("jobs that have waited for their patience give up; computed %s, shown %s", trust, shown)
	} else {
		t.Line("jobs that have waited for their patience give up; error estimate %s, tested and not proved",
			render.OneDigitUp(*r.ErrorEstimate))
	}
	t.Line("%d states: numbers of busy servers by group", r.States)
}

// patienceBody returns the fields of an answer about jobs that give up. There is no distribution of
// their delays.
func (f *solveQuestion) patienceBody(m *cluster.Model, r *oneserver.PatienceResult) render.Record {
	style := f.style(num.Float)
	body := append(command.ServiceHead(m, true), style.Record(r)...)
	rows := body.Get("classes").([]render.Record)
	for i, c := range r.Classes {
		if len(f.percentiles) > 0 {
			set := func(name string, values []num.Value) {
				rows[i] = rows[i].Set(name, command.PercentileFields(f.percentiles, values, style), "within")
			}
			set("waiting", c.Waiting)
			set("waiting_served", c.WaitingServed)
			set("delay", nil)
		}
		within := rows[i].Get("within").([]render.Record)
		for k, row := range within {
			within[k] = row.Set("delay", nil, "served")
		}
	}
	return body
}

// oneServerBody returns the fields of an answer about one server per job.
func (f *solveQuestion) oneServerBody(m *cluster.Model, r *oneserver.Result) render.Record {
	style := f.style(r.Engine)
	body := append(command.ServiceHead(m, true), style.Record(r)...)
	if r.Gradients != nil {
		body = body.Set("gradients", waitingGradients(m, r, style.Digits), "")
	}
	if r.Times != nil {
		body = body.Set("times", *r.Times, "")
	}
	times := f.style(num.Float)
	rows := body.Get("classes").([]render.Record)
	for i, c := range r.Classes {
		if len(f.percentiles) > 0 {
			rows[i] = rows[i].Set("waiting", command.PercentileFields(f.percentiles, c.Waiting, times), "")
			rows[i] = rows[i].Set("delay", command.PercentileFields(f.percentiles, c.Delay, times), "")
		}
		if f.within != nil {
			rows[i] = rows[i].Set("within", times.Rows(c.Within), "")
		}
	}
	return body
}

// A waitingGradient holds the derivative of the mean waiting time of a class with respect to one
// rate or capacity.
type waitingGradient struct {
	changedBy
	MeanWaiting render.Number `json:"mean_waiting_change"`
}

// waitingGradients returns the derivatives that are not 0.
func waitingGradients(m *cluster.Model, r *oneserver.Result, digits int) []waitingGradient {
	list := []waitingGradient{}
	for _, c := range r.Gradients {
		if c.MeanWaiting == nil {
			continue
		}
		add := func(by, of string, count *int, v *num.Value) {
			if !isZeroValue(v) {
				list = append(list, waitingGradient{changedBy{c.Name, by, of, count}, bounded(v, r.Engine, digits)})
			}
		}
		for j, of := range m.Classes {
			add("arrival_rate", of.Name, nil, &c.MeanWaiting.ArrivalRates[j])
		}
		for k, of := range m.Servers {
			size := of.Size()
			add("capacity", of.Name, &size, &c.MeanWaiting.Capacities[k])
		}
	}
	return list
}

// writeOneServer writes the lines about one server per job.
func (f *solveQuestion) writeOneServer(t *render.Text, r *oneserver.Result) {
	t.Line("%s", accuracy(r.Engine, r.RelativeErrorBound))
	t.Line("%d states: numbers of busy servers by group", r.States)
	if r.Times != nil {
		t.Line("times by the %s engine: %s", r.Times.Engine, strings.Join(f.trustInTimes(r.Times), ", "))
	}
}

// trustInTimes returns the bounds on the errors of the requested distributions of times.
func (f *solveQuestion) trustInTimes(p *oneserver.Precision) (list []string) {
	if f.percentiles != nil {
		list = append(list, "percentiles within "+render.OneDigitUp(p.RelativeErrorBound)+" of exact (relative)")
	}
	if f.within != nil {
		list = append(list, "probabilities within "+render.OneDigitUp(p.AbsoluteErrorBound)+" of exact")
	}
	return list
}
