package network

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/network"
	"productform/num"
	"productform/sim"
	simnetwork "productform/sim/network"
)

// columns are the first columns of CSV.
var columns = []string{"kind", "name", "station", "class", "classes", "population", "discipline", "throughput",
	"mean_jobs", "mean_delay", "utilization", "empty_probability", "idle_probability", "jobs", "probability"}

const chainColumns = "classes population throughput mean_jobs mean_delay throughput_limit? limit_station?"

// sections are the lines of CSV and the tables of text.
var sections = []render.Section{
	{Kind: "network", Columns: "-"},
	{Kind: "chain", Of: "chains", Columns: chainColumns},
	{Kind: "station", Of: "stations", Columns: "name discipline mean_jobs utilization empty_probability"},
	{Kind: "visit", Of: "visits", Columns: "station class throughput mean_jobs mean_delay utilization"},
	{Kind: "node", Of: "nodes", Columns: "station name idle_probability"},
	{Kind: "distribution", Of: "stations.jobs_distribution"},
}

// stations solves a network, or says why it is unstable. With --runs it also simulates the network.
func (f *networkFlags) stations(q command.Query, all model) (a render.Answer, found bool, err error) {
	m := all.network
	limits, err := command.WithProgress(q, func(ctx context.Context) (*network.Stability, error) {
		return network.CheckStability(ctx, m)
	})
	if err != nil {
		return a, false, f.translate(err)
	}
	if !limits.Stable {
		return f.unstable(m, limits), false, nil
	}
	plan, err := f.planned(q, all)
	if err != nil {
		return a, false, err
	}
	var r *network.Result
	if all.uneven == nil {
		r, err = command.WithProgress(q, func(ctx context.Context) (*network.Result, error) {
			return f.solve(ctx, q, m)
		})
		if err = f.orNoted(q, plan, "means", err); err != nil {
			return a, false, err
		}
	}
	delays, err := command.WithProgress(q, func(ctx context.Context) ([][]num.Value, error) {
		return f.delays(ctx, m, r)
	})
	if err = f.orNoted(q, plan, "percentiles", err); err != nil {
		return a, false, err
	}
	flow := []string{sim.Throughput, sim.MeanJobs, sim.MeasuredDelay}
	s := solution{sections: sections, columns: columns, digits: command.Digits(f.settings.RelTol), parts: []part{
		{"chains", "chain", sim.OfClass, nil, flow},
		{"stations", "station", simnetwork.OfStation, nil,
			[]string{sim.MeanJobs, sim.Utilization, simnetwork.EmptyProbability}},
		{"visits", "visit", sim.OfVisit, visitsByStation(m), flow},
	}}
	if r == nil {
		why := "too large to be solved"
		if all.uneven != nil {
			why = "by the work that comes: mean sizes differ by class, and service in order of arrival has no " +
				"exact values then"
		}
		s.body = bodyOf(m, &network.Result{Why: why}, limits, s.digits)
		for _, unknown := range []string{"engine", "method", "states", "relative_error_bound"} {
			s.body.Set(unknown, nil, "")
		}
		s.lines = []string{"stable; " + why}
	} else {
		s.body = bodyOf(m, r, limits, s.digits)
		s.note = noteResting(m, r)
		s.lines = []string{trust(r.Engine, r.RelativeErrorBound)}
		if slices.ContainsFunc(delays, func(known []num.Value) bool { return known != nil }) {
			s.lines = append(s.lines, "percentiles between proved bounds, shown to the digits that these share")
			s.sections = slices.Insert(slices.Clone(sections), 4, delaySection(f.percentiles))
		}
		s.lines = append(s.lines, fmt.Sprintf("%s: %s", r.Method, strings.TrimPrefix(r.Why, string(r.Method)+": ")))
		setDelays(s.body.Get("visits").([]render.Record), delays, f.percentiles, s.digits)
	}
	s.note = f.notes(all, r != nil, s.note)
	s.lines = append(s.lines, s.note)
	if k := limits.Critical; k >= 0 {
		s.lines = append(s.lines, fmt.Sprintf("still stable with the arrival rates multiplied by anything below %s; "+
			"bottleneck: station %s, classes %s", render.SixBeside(limits.CriticalScale, big.NewRat(1, 1)),
			m.Stations[k].Name, strings.Join(classNames(m, limits.Stations[k].Bottleneck), ", ")))
	}
	return f.simulate(q, all, plan, s)
}

// bodyOf returns the fields of the answer for a stable network.
func bodyOf(m *network.Model, r *network.Result, limits *network.Stability, digits int) render.Record {
	style := render.Style{Engine: r.Engine, Digits: digits}
	body := style.Record(r).Set("critical_scale", style.Beside(limits.CriticalScale, big.NewRat(1, 1)), "chains")
	chains, closed := body.Get("chains").([]render.Record), limits.Chains
	for i, c := range chains {
		var population, limit, station any
		if r.Chains[i].Closed {
			population = r.Chains[i].Population
			if closed[0].Throughput != nil {
				limit, station = style.Given(closed[0].Throughput), m.Stations[closed[0].Station].Name
			}
			closed = closed[1:]
		}
		c = c.Set("population", population, "")
		chains[i] = c.Set("throughput_limit", limit, "").Set("limit_station", station, "")
	}
	var visits, nodes []render.Record
	for _, s := range r.Stations {
		visits, nodes = append(visits, style.Rows(s.Visits)...), append(nodes, style.Rows(s.Nodes)...)
	}
	return body.Set("visits", visits, "").Set("nodes", nodes, "")
}

// noteResting names the closed chains with jobs that never move, "" if there are none.
func noteResting(m *network.Model, r *network.Result) string {
	var notes []string
	for _, c := range r.Chains {
		if !c.Closed || c.MovingJobs == c.Population {
			continue
		}
		verb := "are"
		if c.MovingJobs == 1 {
			verb = "is"
		}
		class := &m.Classes[c.Classes[0]]
		notes = append(notes, fmt.Sprintf("only %d of the %d jobs of class %s %s ever served: at station %s (lcfs) "+
			"a job that ends is at once the last to arrive; mean_delay counts only the jobs that are served",
			c.MovingJobs, c.Population, class.Name, verb, m.Stations[class.Visits[0].Station].Name))
	}
	return strings.Join(notes, "; ")
}

// trust returns the line of text on the errors of the numbers.
func trust(engine num.Engine, bound float64) string {
	trust := "within " + render.OneDigitUp(bound) + " of exact (relative)"
	if bound == 0 {
		trust = "exactly"
	}
	shown := "to six digits"
	if engine == num.Exact {
		shown = "as short fractions and to six digits"
	}
	return fmt.Sprintf("stable; %s engine, computed %s, shown %s", engine, trust, shown)
}

// An unstable is the answer for an overloaded model.
type unstable struct {
	Stable bool `json:"stable"` // false
	*critical
	Bottleneck         []string `json:"bottleneck"`
	BottleneckWork     *big.Rat `json:"bottleneck_work"`
	BottleneckCapacity *big.Rat `json:"bottleneck_capacity"`
}

// A critical is the overloaded station of a network.
type critical struct {
	Scale   *big.Rat `json:"critical_scale" beside:"1"`
	Station string   `json:"station"`
}

// answer returns the answer with its text.
func (u unstable) answer(f *networkFlags, text func(*render.Text)) render.Answer {
	r := render.Style{Engine: f.settings.Engine}.Record(u)
	return render.Answer{JSON: r, Lines: []render.Lines{{Of: r}}, Text: text}
}

// unstable returns the answer for an overloaded network.
func (f *networkFlags) unstable(m *network.Model, limits *network.Stability) render.Answer {
	load, station := limits.Stations[limits.Critical], m.Stations[limits.Critical].Name
	classes := classNames(m, load.Bottleneck)
	u := unstable{false, &critical{limits.CriticalScale, station}, classes, load.Work, load.Capacity}
	return u.answer(f, func(t *render.Text) {
		t.Line("unstable: would be stable with the arrival rates multiplied by anything below %s",
			render.SixBeside(limits.CriticalScale, big.NewRat(1, 1)))
		t.Line("bottleneck: station %s, classes %s: work %s per unit of time on capacity %s", station,
			strings.Join(classes, ", "), render.SixRat(load.Work), render.SixBeside(load.Capacity, load.Work))
	})
}

// overloaded returns the answer for a model without stations in which these classes bring too much work.
func (f *networkFlags) overloaded(classes []string, work, capacity *big.Rat) render.Answer {
	u := unstable{Bottleneck: classes, BottleneckWork: work, BottleneckCapacity: capacity}
	return u.answer(f, func(t *render.Text) {
		t.Line("unstable: nothing limits the jobs of %s", strings.Join(classes, ", "))
		t.Line("work %s per unit of time on capacity %s", render.SixRat(work), render.SixBeside(capacity, work))
	})
}

func classNames(m *network.Model, classes []int) []string {
	names := []string{}
	for _, c := range classes {
		names = append(names, m.Classes[c].Name)
	}
	return names
}
