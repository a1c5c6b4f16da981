package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/oneserver"
	"productform/stability"
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

// checkOneServer rejects flags that have no meaning for one server per job, and for all servers per
// job those that have none there.
func (f *solveQuestion) checkOneServer(m *cluster.Model) error {
	if m.Service != cluster.OneServer {
		if f.within != nil {
			return cli.FlagError{Err: input.Errorf("--within", f.within[0].RatString(),
				"a model with service: one; --percentiles gives times for both")}
		}
		return nil
	}
	switch {
	case f.settings.Lattice != "" && f.settings.Lattice != "auto":
		return cli.FlagError{Err: input.Errorf("--lattice", f.settings.Lattice, "a model with service: all; "+
			"service: one sums over numbers of busy servers, and pfq simulate takes any number of servers")}
	case f.asked.ByClass:
		return cli.FlagError{Err: input.Errorf("--by-class", true, "a model with service: all")}
	}
	return nil
}

// A scaledPoint is the answer for one factor of the arrival rates.
type scaledPoint[R any] struct {
	factor   *big.Rat        // nil without --scale
	at       *command.Scaled // nil without --scale
	unstable *stability.Result
	result   *R // nil if unstable
}

// newPoints returns a point for each factor of --scale, or one for the model itself.
func newPoints[R any](f *solveQuestion) (points []scaledPoint[R]) {
	for _, factor := range f.scaling.Factors {
		scale := render.Style{Engine: f.settings.Engine}.Given(factor)
		points = append(points, scaledPoint[R]{factor, &command.Scaled{Class: f.scaling.Class, Scale: scale}, nil, nil})
	}
	if points == nil {
		points = make([]scaledPoint[R], 1)
	}
	return points
}

// answerPoints returns the answer at all points. With --scale, the factor is the first column.
func (f *solveQuestion) answerPoints(all []render.Point, columns []string, text func(t *render.Text)) render.Answer {
	scaled := f.scaling.Factors != nil
	if scaled {
		columns = append([]string{"scale"}, columns...)
	}
	return render.Points(all, scaled, columns, text)
}

// unstablePoint returns the answer at a point where the model is unstable.
func (p *scaledPoint[R]) unstablePoint(m *cluster.Model, e num.Engine) render.Point {
	kind := ""
	if p.at != nil {
		kind = "unstable"
	}
	return render.Point{Head: headOf(p.at), Body: command.Unstable(m, p.unstable, e),
		Sections: []render.Section{{Kind: kind, Columns: "-"}}}
}

// text starts a line about a point and reports whether its model is stable; otherwise it writes
// why.
func (p *scaledPoint[R]) text(t *render.Text, m *cluster.Model, e num.Engine) (stable bool) {
	if p.factor != nil {
		t.WriteString("scale " + render.SixRat(p.factor))
		if p.at.Class != "" {
			t.WriteString(" of " + p.at.Class)
		}
		t.WriteString(": ")
	}
	if p.unstable != nil {
		command.WriteLimits(t, m, p.unstable, e)
	}
	return p.unstable == nil
}

type oneServerPoint = scaledPoint[oneserver.Result]

// answerOneServer solves a model in which each job runs on one server.
func (f *solveQuestion) answerOneServer(q command.Query, m *cluster.Model) (a render.Answer, stable bool, err error) {
	row, err := f.scaling.Row(m)
	if err != nil {
		return a, false, err
	}
	points := newPoints[oneserver.Result](f)
	stable = true
	for i := range points {
		if err := f.solveOneServer(q.Part(i, len(points)), m, row, &points[i]); err != nil {
			return a, false, err
		}
		stable = stable && points[i].result != nil
	}
	f.warnOneServer(points, q.Stderr)
	all := make([]render.Point, len(points))
	for i := range points {
		all[i] = f.oneServerBody(m, &points[i])
	}
	return f.answerPoints(all, oneServerColumns, func(t *render.Text) { f.oneServerText(t, m, points) }), stable, nil
}

// solveOneServer solves the model at one factor.
func (f *solveQuestion) solveOneServer(q command.Query, m *cluster.Model, row int, p *oneServerPoint) error {
	if p.factor != nil {
		m = command.ScaleRow(m, row, p.factor)
	}
	ask := oneserver.Question{Levels: f.asked.Levels, Times: f.within, MaxJobs: f.asked.MaxJobs,
		Gradients: f.asked.Gradients}
	s := oneserver.Settings{Engine: f.settings.Engine, RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes}
	var err error
	p.result, err = command.WithProgress(q, func(ctx context.Context) (*oneserver.Result, error) {
		return oneserver.Answer(ctx, m, ask, s)
	})
	if errors.Is(err, num.ErrUnstable) {
		p.unstable, err = command.Decide(q, m)
		return err
	}
	return f.explainOneServer(err)
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

// answerPatience solves a model in which waiting jobs give up, at every factor if factors are given.
func (f *solveQuestion) answerPatience(q command.Query, m *cluster.Model) (a render.Answer, stable bool, err error) {
	for _, flag := range []struct {
		name, value string
		given       bool
	}{
		{"--engine", string(f.settings.Engine), f.settings.Engine != num.Auto && f.settings.Engine != num.Float},
		{"--distribution", fmt.Sprint(f.asked.MaxJobs), f.asked.MaxJobs > 0},
		{"--gradients", "true", f.asked.Gradients},
	} {
		if flag.given {
			return a, false, cli.FlagError{Err: input.Errorf(flag.name, flag.value, "a model without mean_patience: "+
				"jobs that give up are solved in float64, for means, --percentiles and --within")}
		}
	}
	row, err := f.scaling.Row(m)
	if err != nil {
		return a, false, err
	}
	points, all := newPoints[oneserver.PatienceResult](f), []render.Point(nil)
	stable = true
	for i := range points {
		p := &points[i]
		if err := f.solvePatience(q.Part(i, len(points)), m, row, p); err != nil {
			return a, false, err
		}
		if p.result == nil {
			stable = false
			all = append(all, p.unstablePoint(m, f.settings.Engine))
			continue
		}
		all = append(all, render.Point{
			Head: headOf(p.at), Body: f.patienceBody(m, p.result), Sections: patienceSections,
		})
	}
	return f.answerPoints(all, patienceColumns, func(t *render.Text) { f.patienceText(t, m, points) }), stable, nil
}

// solvePatience solves the model at one factor.
func (f *solveQuestion) solvePatience(
	q command.Query, m *cluster.Model, row int, p *scaledPoint[oneserver.PatienceResult],
) (err error) {
	if p.factor != nil {
		m = command.ScaleRow(m, row, p.factor)
	}
	s := oneserver.PatienceSettings{RelTol: f.settings.RelTol, MaxBytes: f.settings.MaxBytes, Times: f.within,
		Levels: f.asked.Levels}
	p.result, err = command.WithProgress(q, func(ctx context.Context) (*oneserver.PatienceResult, error) {
		return oneserver.SolvePatience(ctx, m, s)
	})
	if errors.Is(err, num.ErrUnstable) { // by jobs that never give up
		p.unstable, err = command.Decide(q, m.WithoutImpatient())
		return err
	}
	return f.explainOneServer(err)
}

// patienceText writes the lines above the tables.
func (f *solveQuestion) patienceText(
	t *render.Text, m *cluster.Model, points []scaledPoint[oneserver.PatienceResult],
) {
	command.WriteService(t, m)
	for _, p := range points {
		if !p.text(t, m, f.settings.Engine) {
			continue
		}
		if r := p.result; r.RelativeErrorBound != nil {
			trust, shown := command.Trust(num.Float, *r.RelativeErrorBound)
			t.Line("jobs that have waited for their patience give up; computed %s, shown %s", trust, shown)
		} else {
			t.Line("jobs that have waited for their patience give up; error estimate %s, tested and not proved",
				render.OneDigitUp(*r.ErrorEstimate))
		}
		t.Line("%d states: numbers of busy servers by group", p.result.States)
	}
}

// patienceBody returns the fields of an answer about jobs that give up. There is no distribution of
// their delays.
func (f *solveQuestion) patienceBody(m *cluster.Model, r *oneserver.PatienceResult) render.Record {
	style := render.Style{Engine: num.Float, Digits: command.Digits(f.settings.RelTol)}
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

// warnOneServer writes a warning if the engine float was requested and missed the tolerance.
func (f *solveQuestion) warnOneServer(points []oneServerPoint, stderr io.Writer) {
	worst := 0.0
	for _, p := range points {
		if p.result != nil && p.result.Engine == num.Float {
			worst = max(worst, p.result.RelativeErrorBound)
		}
	}
	f.warnMissed(worst, stderr)
}

// oneServerBody returns the fields of the answer at a point.
func (f *solveQuestion) oneServerBody(m *cluster.Model, p *oneServerPoint) render.Point {
	if p.unstable != nil {
		return p.unstablePoint(m, f.settings.Engine)
	}
	r := p.result
	style := render.Style{Engine: r.Engine, Digits: command.Digits(f.settings.RelTol)}
	body := append(command.ServiceHead(m, true), style.Record(r)...)
	if r.Gradients != nil {
		body = body.Set("gradients", waitingGradients(m, r, style.Digits), "")
	}
	if r.Times != nil {
		body = body.Set("times", *r.Times, "")
	}
	times := render.Style{Engine: num.Float, Digits: style.Digits}
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
	return render.Point{Head: headOf(p.at), Body: body, Sections: oneServerSections}
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

// oneServerText writes the lines above the tables.
func (f *solveQuestion) oneServerText(t *render.Text, m *cluster.Model, points []oneServerPoint) {
	command.WriteService(t, m)
	for _, p := range points {
		if !p.text(t, m, f.settings.Engine) {
			continue
		}
		r := p.result
		t.Digits = command.Digits(f.settings.RelTol)
		trust, shown := command.Trust(r.Engine, r.RelativeErrorBound)
		t.Line("stable; %s engine, computed %s, shown %s", r.Engine, trust, shown)
		t.Line("%d states: numbers of busy servers by group", r.States)
		if r.Times != nil {
			t.Line("times by the %s engine: %s", r.Times.Engine, strings.Join(f.trustInTimes(r.Times), ", "))
		}
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
