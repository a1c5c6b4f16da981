package estimate

import (
	"cmp"
	"math"
	"slices"

	"productform/bf/gibbs"
	"productform/bf/windows"
	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
)

// An estimation is the answer.
type estimation struct {
	Stable           bool              `json:"stable"`
	Service          command.Service   `json:"service"`
	MeanJobs         *render.Estimate  `json:"mean_jobs"`
	MeanDelay        *render.Estimate  `json:"mean_delay"`
	EmptyProbability *render.Estimate  `json:"empty_probability"` // null where the interval would hold 0
	Classes          []classRow        `json:"classes"`
	Servers          []serverRow       `json:"servers"`
	JobsDistribution []render.Estimate `json:"jobs_distribution,omitempty"`
	Gradients        []gradientRow     `json:"gradients,omitempty"`
	Chains           int               `json:"chains"`
	Sweeps           int               `json:"sweeps"`
	BurnIn           int               `json:"burn_in"`
	Autocorrelation  float64           `json:"autocorrelation"`
	EffectiveSamples float64           `json:"effective_samples"`
	RHat             float64           `json:"r_hat"`
	PrecisionMet     *bool             `json:"precision_met"` // null with --sweeps
	Seed             uint64            `json:"seed"`
	Warnings         []string          `json:"warnings"`
	Note             string            `json:"note,omitempty"`

	confidence float64
}

type classRow struct {
	Name             string            `json:"name" title:"class"`
	ArrivalRate      render.Number     `json:"arrival_rate"`
	MeanSize         *render.Number    `json:"mean_size,omitempty"` // nil if no class has one of its own
	MeanJobs         *render.Estimate  `json:"mean_jobs"`
	MeanDelay        *render.Estimate  `json:"mean_delay"`
	MeanDelayLow     *render.Number    `json:"mean_delay_low,omitempty"` // proved; nil without --bounds
	MeanDelayHigh    *render.Number    `json:"mean_delay_high,omitempty"`
	ServiceRate      *render.Estimate  `json:"service_rate"`
	JobsDistribution []render.Estimate `json:"jobs_distribution,omitempty"`
}

type serverRow struct {
	Name        string           `json:"name" title:"server"`
	Count       int              `json:"count,omitempty"`
	Utilization *render.Estimate `json:"utilization"`
}

// A gradientRow says by how much the mean number of jobs changes with one rate or capacity.
type gradientRow struct {
	By       string           `json:"by" title:"for each unit of"` // arrival_rate or capacity
	Of       string           `json:"of"`                          // a class or a server
	MeanJobs *render.Estimate `json:"mean_jobs_change"`
}

const byRate, byCapacity = "arrival_rate", "capacity"

// columns are the first columns of CSV.
var columns = []string{"kind", "name", "count", "arrival_rate", "mean_jobs", "mean_jobs_half_width", "mean_delay", "mean_delay_half_width",
	"service_rate", "service_rate_half_width", "utilization", "utilization_half_width", "jobs", "probability", "probability_half_width"}

func newEstimation(m *cluster.Model, r *gibbs.Result, s gibbs.Settings) *estimation {
	e := &estimation{Stable: true, Service: command.AllServers, MeanJobs: estimated(&r.MeanJobs),
		MeanDelay: estimated(r.MeanDelay), EmptyProbability: estimated(r.EmptyProbability),
		Classes: []classRow{}, Servers: []serverRow{}, JobsDistribution: law(r.JobsDistribution),
		Chains: r.Chains, Sweeps: r.Sweeps, BurnIn: r.BurnIn, Autocorrelation: r.Autocorrelation, EffectiveSamples: r.EffectiveSamples, RHat: r.RHat,
		Seed: s.Seed, Warnings: []string{}, confidence: s.Confidence}
	if s.Sweeps == 0 {
		e.PrecisionMet = &r.PrecisionMet
	}
	if _, err := m.OneMeanSize(); err != nil {
		e.Note = "mean sizes differ by class: the answer is that of balanced fairness, not that of service in order of arrival"
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		e.Classes = append(e.Classes, classRow{Name: m.Classes[i].Name, ArrivalRate: render.Rat(c.ArrivalRate, render.Unproved),
			MeanSize: command.OwnMeanSize(m, i, render.Unproved), MeanJobs: estimated(&c.MeanJobs), MeanDelay: estimated(c.MeanDelay),
			ServiceRate: estimated(c.ServiceRate), JobsDistribution: law(c.JobsDistribution)})
	}
	for i, server := range m.Servers {
		e.Servers = append(e.Servers, serverRow{server.Name, command.GroupSize(server), estimated(&r.Servers[i].Utilization)})
	}
	if g := r.Gradient; g != nil {
		e.Gradients = []gradientRow{}
		for i, x := range g.ArrivalRates {
			e.Gradients = append(e.Gradients, gradientRow{byRate, m.Classes[i].Name, estimated(x)})
		}
		for i, x := range g.Capacities {
			e.Gradients = append(e.Gradients, gradientRow{byCapacity, m.Servers[i].Name, estimated(x)})
		}
	}
	return e
}

// withBounds adds proved bounds of the mean delays of the classes, if there are any. It returns e.
func (e *estimation) withBounds(bounds []*windows.Bounds) *estimation {
	for i, b := range bounds {
		low, high := &render.Number{}, &render.Number{}
		if b != nil {
			low.Float = b.Low
			if b.High != nil {
				high.Float = *b.High
			}
		}
		e.Classes[i].MeanDelayLow, e.Classes[i].MeanDelayHigh = low, high
	}
	return e
}

// estimated returns an estimate as answers have it, nil for none.
func estimated(e *gibbs.Estimate) *render.Estimate {
	if e == nil {
		return nil
	}
	return &render.Estimate{Mean: e.Mean, HalfWidth: &e.HalfWidth, Confidence: e.Confidence}
}

func law(list []gibbs.Estimate) (law []render.Estimate) {
	for i := range list {
		law = append(law, *estimated(&list[i]))
	}
	return law
}

// A probabilityRow is the probability of a number of jobs, in all or of a class.
type probabilityRow struct {
	Name        string          `json:"name,omitempty" title:"class"`
	Jobs        int             `json:"jobs"`
	Probability render.Estimate `json:"probability"`
}

func rowsOf(name string, law []render.Estimate) (rows []probabilityRow) {
	for n, p := range law {
		rows = append(rows, probabilityRow{name, n, p})
	}
	return rows
}

// byClass returns the distributions of the classes.
func (e *estimation) byClass() (rows []probabilityRow) {
	for _, c := range e.Classes {
		rows = append(rows, rowsOf(c.Name, c.JobsDistribution)...)
	}
	return rows
}

func (e *estimation) answer() render.Answer {
	whole := render.Fields(e)
	lists := []string{"classes", "servers", "jobs_distribution", "gradients"}
	whole = slices.DeleteFunc(whole, func(f render.Field) bool { return slices.Contains(lists, f.Key) })
	var classes []render.Record
	for _, c := range e.Classes {
		row := render.Fields(c)
		classes = append(classes, slices.DeleteFunc(row, func(f render.Field) bool { return slices.Contains(lists, f.Key) }))
	}
	lines := []render.Lines{{Kind: "cluster", Of: whole}, {Kind: "class", Of: classes}, {Kind: "server", Of: e.Servers}, {Kind: "gradient", Of: e.Gradients},
		{Kind: "distribution", Of: rowsOf("", e.JobsDistribution)}, {Kind: "distribution", Of: e.byClass()}}
	return render.Answer{JSON: e, Lines: lines, Columns: columns, Text: e.text}
}

func (e *estimation) text(t *render.Text) {
	e.Service.Write(t)
	t.Line("stable; estimates, not bounds: ± at confidence %g", e.confidence)
	t.Line("%d chains of %d sweeps, after a warm-up of %d each; autocorrelation time "+
		"%.3g sweeps; split R-hat %.4g; seed %d",
		e.Chains, e.Sweeps, e.BurnIn, e.Autocorrelation, e.RHat, e.Seed)
	if e.Note != "" {
		t.Line("%s", e.Note)
	}
	t.Line("")
	t.Table(e, "mean_jobs", "mean_delay", "empty_probability")
	classes := []string{"name", "arrival_rate", "mean_jobs", "mean_delay", "service_rate"}
	if len(e.Classes) > 0 && e.Classes[0].MeanSize != nil {
		classes = slices.Insert(classes, 2, "mean_size")
	}
	t.Table(e.Classes, classes...)
	if len(e.Classes) > 0 && e.Classes[0].MeanDelayLow != nil {
		t.Line("proved bounds on the mean delays, not estimates; a delay is exact if its bounds coincide:")
		t.Table(e.Classes, "name", "mean_delay_low", "mean_delay_high")
	}
	servers := []string{"name", "utilization"}
	if slices.ContainsFunc(e.Servers, func(s serverRow) bool { return s.Count > 1 }) {
		servers = slices.Insert(servers, 1, "count")
	}
	t.Table(e.Servers, servers...)
	e.gradientsText(t)
	t.Table(rowsOf("", e.JobsDistribution), "jobs", "probability")
	t.Table(e.byClass(), "name", "jobs", "probability")
}

// gradientsText writes the derivatives, of rates and of capacities the largest first, and which capacities cannot be told from the one that is worth most.
func (e *estimation) gradientsText(t *render.Text) {
	var rows []gradientRow
	alike := 0
	for _, by := range []string{byRate, byCapacity} {
		part := slices.DeleteFunc(slices.Clone(e.Gradients), func(g gradientRow) bool { return g.By != by })
		slices.SortStableFunc(part, func(x, y gradientRow) int { return cmp.Compare(y.size(), x.size()) })
		rows = append(rows, part...)
		if by == byCapacity && len(part) > 0 {
			alike = len(part) - len(slices.DeleteFunc(slices.Clone(part), part[0].isLike))
		}
	}
	t.Table(rows, "by", "of", "mean_jobs_change")
	if alike > 1 {
		t.Line("the %d capacities that are worth most cannot be told apart", alike)
	}
}

// size returns the absolute value of a derivative, -1 if there is none.
func (g gradientRow) size() float64 {
	if g.MeanJobs == nil {
		return -1
	}
	return math.Abs(g.MeanJobs.Mean)
}

// isLike reports whether two derivatives differ by no more than the interval of their difference, as if they were independent.
func (g gradientRow) isLike(other gradientRow) bool {
	return g.MeanJobs != nil && other.MeanJobs != nil && math.Abs(g.MeanJobs.Mean-other.MeanJobs.Mean) <= math.Hypot(*g.MeanJobs.HalfWidth, *other.MeanJobs.HalfWidth)
}
