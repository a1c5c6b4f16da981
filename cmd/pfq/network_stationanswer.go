package main

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/network"
	"productform/num"
	"productform/oneserver"
	"productform/sim"
	simnetwork "productform/sim/network"
)

// networkColumns are the first columns of CSV.
var networkColumns = []string{"kind", "name", "station", "class", "classes", "population", "discipline", "throughput",
	"mean_jobs", "mean_delay", "mean_response_time", "utilization", "empty_probability", "idle_probability", "jobs",
	"probability"}

const chainColumns = "classes population throughput mean_jobs mean_delay mean_response_time? " +
	"throughput_limit? limit_station?"

// networkSections are the lines of CSV and the tables of text.
var networkSections = []render.Section{
	{Kind: "network", Columns: "-"},
	{Kind: "chain", Of: "chains", Columns: chainColumns},
	{Kind: "station", Of: "stations", Columns: "name discipline mean_jobs utilization empty_probability"},
	{Kind: "visit", Of: "visits", Columns: "station class throughput mean_jobs mean_delay utilization"},
	{Kind: "within", Of: "visits.within"},
	{Kind: "node", Of: "nodes", Columns: "station name idle_probability"},
	{Kind: "distribution", Of: "stations.jobs_distribution"},
	{Kind: "state", Of: "likely_states", Columns: "state probability"},
	{
		Kind:    "state_visit",
		Of:      "likely_states.jobs",
		Columns: "state station class jobs departure_rate departure_probability",
	},
}

// sweepSections are the [networkSections] of a sweep, with tables of chains and of stations.
var sweepSections = []render.Section{
	{Kind: "network", Columns: "-"},
	{Kind: "chain", Of: "chains", Columns: chainColumns},
	{Kind: "station", Of: "stations", Columns: "name mean_jobs utilization empty_probability"},
	{Kind: "visit", Of: "visits", Columns: "-"},
	{Kind: "within", Of: "visits.within"},
	{Kind: "node", Of: "nodes", Columns: "-"},
	{Kind: "distribution", Of: "stations.jobs_distribution", Columns: "-"},
	{Kind: "state", Of: "likely_states", Columns: "state probability"},
	{Kind: "state_visit", Of: "likely_states.jobs", Columns: "-"},
}

// solution returns the answer for a result, nil if there is none, with the known distributions of
// times.
func (n stations) solution(
	f *networkQuestion, r *network.Result, limits *network.Stability, known knownTimes,
) networkSolution {
	flow := []string{sim.Throughput, sim.MeanJobs, sim.MeasuredDelay}
	s := networkSolution{columns: networkColumns, digits: command.Digits(f.settings.RelTol), parts: []part{
		{"chains", "chain", sim.OfClass, nil, flow},
		{"stations", "station", simnetwork.OfStation, nil,
			[]string{sim.MeanJobs, sim.Utilization, simnetwork.EmptyProbability}},
		{"visits", "visit", sim.OfVisit, n.visitRows(), flow},
	}}
	needsExponential := func(s network.Station) bool { return s.NeedsExponential() }
	s.exponential = r != nil && slices.ContainsFunc(n.Stations, needsExponential)
	var body render.Record
	note, tables := "", networkSections
	if r == nil {
		why := "too large to be solved"
		if n.uneven != nil {
			why = "by the arriving work: mean sizes differ by class, and then first come, first served has " +
				"no exact values"
		}
		body = n.body(&network.Result{Why: why}, limits, s.digits)
		for _, unknown := range []string{"engine", "method", "states", "relative_error_bound"} {
			body.Set(unknown, nil, "")
		}
		s.lines = []string{"stable; " + why}
	} else {
		body = n.body(r, limits, s.digits)
		note = n.noteResting(r)
		s.lines = []string{trust(r.Engine, r.RelativeErrorBound)}
		if known.hasVisit() {
			s.lines = append(s.lines, aboutTimes)
		}
		tables = f.withTimes(networkSections, known)
		s.lines = append(s.lines, fmt.Sprintf("%s: %s", r.Method, strings.TrimPrefix(r.Why, string(r.Method)+": ")))
		f.setTimes(body, r, known, s.digits)
	}
	if n.isLINE && f.simulation.Runs > 0 && f.sizes == "" {
		note = joined(note, "the simulated sizes are exponential, not those of the LINE file; "+
			"--sizes draws others")
	}
	f.setBody(&s, body, note, tables)
	if k := limits.Critical; k >= 0 {
		s.lines = append(s.lines, fmt.Sprintf("still stable with the arrival rates multiplied by anything below %s; "+
			"bottleneck: station %s, classes %s", render.SixBeside(limits.CriticalScale, big.NewRat(1, 1)),
			n.Stations[k].Name, strings.Join(n.names(limits.Stations[k].Bottleneck), ", ")))
	}
	return s
}

// aboutTimes is the line about distributions of times.
const aboutTimes = "times between proved bounds, shown to the digits that these share"

// hasVisit reports whether the times of some visit are known.
func (k knownTimes) hasVisit() bool {
	return slices.ContainsFunc(k.visits, func(d *network.VisitDelays) bool { return d != nil })
}

// withTimes returns sections with those of the known times.
func (f *networkQuestion) withTimes(sections []render.Section, known knownTimes) []render.Section {
	if !known.hasVisit() {
		return sections
	}
	sections = slices.Insert(slices.Clone(sections), 4, timeSections(f.percentiles)...)
	if slices.ContainsFunc(known.chains, func(r *network.ResponseTime) bool { return r != nil }) {
		sections = slices.Insert(sections, 2, responseSection(f.percentiles))
	}
	return sections
}

// setTimes adds the distributions of times to the fields of an answer.
func (f *networkQuestion) setTimes(body render.Record, r *network.Result, known knownTimes, digits int) {
	f.setDelays(body.Get("visits").([]render.Record), known.visits, digits)
	hasResponse := func(c network.ChainResult) bool { return c.MeanResponseTime != nil }
	if f.percentiles != nil && slices.ContainsFunc(r.Chains, hasResponse) {
		f.setResponses(body.Get("chains").([]render.Record), known.chains, digits)
	}
}

// body returns the fields of the answer for a stable network.
func (n stations) body(r *network.Result, limits *network.Stability, digits int) render.Record {
	style := render.Style{Engine: r.Engine, Digits: digits}
	body := style.Record(r).Set("critical_scale", style.Beside(limits.CriticalScale, big.NewRat(1, 1)), "chains")
	chains, closed := body.Get("chains").([]render.Record), limits.Chains
	for i, c := range chains {
		var population, limit, station any
		if r.Chains[i].Closed {
			population = r.Chains[i].Population
			limit, station = n.limit(style, closed[0])
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

// limit returns the largest throughput of a chain and the station that limits it, nil if there is
// no limit.
func (n stations) limit(style render.Style, c network.Saturation) (throughput, station any) {
	if c.Throughput == nil {
		return nil, nil
	}
	return style.Given(c.Throughput), n.Stations[c.Station].Name
}

// noteResting names the closed chains with jobs that never move, or returns "" if there are none.
func (n stations) noteResting(r *network.Result) string {
	var notes []string
	for _, c := range r.Chains {
		if !c.Closed || c.MovingJobs == c.Population {
			continue
		}
		verb := "are"
		if c.MovingJobs == 1 {
			verb = "is"
		}
		class := &n.Classes[c.Classes[0]]
		notes = append(notes, fmt.Sprintf("only %d of the %d jobs of class %s %s ever served: at station %s (lcfs) "+
			"a job that ends is at once the last to arrive; mean_delay counts only the jobs that are served",
			c.MovingJobs, c.Population, class.Name, verb, n.Stations[class.Visits[0].Station].Name))
	}
	return strings.Join(notes, "; ")
}

// setDelays adds the waiting times and delays to the visits, null if they are not known.
func (f *networkQuestion) setDelays(visits []render.Record, known []*network.VisitDelays, digits int) {
	style := render.Style{Engine: num.Enclose, Digits: digits}
	for k, d := range known {
		v := visits[k]
		if d == nil {
			d = new(network.VisitDelays)
			v = v.Set("wait_probability", nil, "").Set("mean_waiting", nil, "")
		} else {
			v = v.Set("wait_probability", style.Computed(&d.Waiting.Probability), "").
				Set("mean_waiting", style.Computed(d.Waiting.Mean), "")
		}
		if f.percentiles != nil {
			v = v.Set("waiting", command.PercentileFields(f.percentiles, d.Waiting.Quantiles, style), "").
				Set("delay", command.PercentileFields(f.percentiles, d.Quantiles, style), "")
		}
		if f.within != nil {
			v = v.Set("within", style.Rows(withinOf(f.within, d)), "")
		}
		visits[k] = v
	}
}

// setResponses adds the response times to the chains, null if they are not known.
func (f *networkQuestion) setResponses(chains []render.Record, known []*network.ResponseTime, digits int) {
	style := render.Style{Engine: num.Enclose, Digits: digits}
	for k, c := range chains {
		var quantiles []num.Value
		if known != nil && known[k] != nil {
			quantiles = known[k].Quantiles
		}
		chains[k] = c.Set("response_time", command.PercentileFields(f.percentiles, quantiles, style), "")
	}
}

// withinOf returns the probabilities that the waiting time and the delay of a visit are at most
// some times; none if they are not known.
func withinOf(times []*big.Rat, d *network.VisitDelays) (list []oneserver.Within) {
	rest := func(tail num.Value) num.Value {
		low, high := tail.Bounds()
		return num.BetweenFloats(math.Nextafter(1-high, 0), math.Nextafter(1-low, 1))
	}
	for k := range d.Tails {
		list = append(list, oneserver.Within{
			Time:    times[k],
			Waiting: rest(d.Waiting.Tails[k]),
			Delay:   rest(d.Tails[k]),
		})
	}
	return list
}

// swept returns the answer of the results for all populations, with the known distributions of
// times.
func (n stations) swept(
	f *networkQuestion, results []*network.Result, known []knownTimes, limits *network.Stability,
) networkSolution {
	worst, digits, name := results[0], command.Digits(f.settings.RelTol), n.Classes[f.populations.row].Name
	tables := f.withTimes(sweepSections, known[0])
	var points []render.Point
	for i, r := range results {
		if r.RelativeErrorBound > worst.RelativeErrorBound {
			worst = r
		}
		head := render.Record{{Key: "varied_class", Value: name},
			{Key: "varied_population", Value: int(f.populations.list[i].Num().Int64()), Title: "jobs of " + name}}
		body := n.body(r, limits, digits)
		f.setTimes(body, r, known[i], digits)
		points = append(points, render.Point{Head: head, Body: stable(body, n.noteResting(r)), Sections: tables})
	}
	lines := []string{trust(worst.Engine, worst.RelativeErrorBound)}
	if known[0].hasVisit() {
		lines = append(lines, aboutTimes)
	}
	return networkSolution{points: points, list: true, digits: digits,
		columns: append([]string{"varied_class", "varied_population"}, networkColumns...),
		lines: append(lines,
			fmt.Sprintf("%s of %s; %s", render.Counted(len(points), "population"), name, worst.Method))}
}

// bounded returns the answer of bounds.
func (n stations) bounded(chains []network.ChainBounds, limits *network.Stability) networkSolution {
	style := render.Style{Engine: num.Exact}
	rows, past := style.Rows(chains), "" // past is the note on throughputs that may exceed their limit
	for k, c := range limits.Chains {
		limit, station := n.limit(style, c)
		if limit != nil && chains[k].Throughput.High.Cmp(c.Throughput) > 0 {
			past = "a throughput limit is for a growing population; a smaller one may exceed it, since rates " +
				"fall with more jobs"
		}
		rows[k] = rows[k].Set("throughput_limit", limit, "throughput_of_one")
		rows[k] = rows[k].Set("limit_station", station, "throughput_of_one")
	}
	about := "proved bounds, computed exactly, shown to six digits"
	if len(rows) == 0 {
		about = "no chain is closed, and bounds are for closed chains: without --bounds the network is solved"
	}
	p := render.Point{Body: stable(render.Record{{Key: "bounds", Value: rows}}, ""), Sections: []render.Section{
		{Kind: "network", Columns: "-"},
		{Kind: "chain", Of: "bounds", Rows: spans, After: past,
			Columns: "classes population throughput mean_delay throughput_limit limit_station"},
	}}
	return networkSolution{points: []render.Point{p}, lines: []string{"stable; " + about}}
}

// visitRows returns the rows of all visits, by station and then by class, as in a [network.Result].
func (n stations) visitRows() (rows []int) {
	for i := range n.Stations {
		for c, class := range n.Classes {
			for v := range class.Visits {
				if class.Visits[v].Station == i {
					rows = append(rows, n.visitRow(c, v))
				}
			}
		}
	}
	return rows
}

// visitRow returns the position of a visit in the order of classes and their visits.
func (n stations) visitRow(class, visit int) int {
	for _, c := range n.Classes[:class] {
		visit += len(c.Visits)
	}
	return visit
}

func (n stations) names(classes []int) []string {
	return names(classes, func(c int) string { return n.Classes[c].Name })
}
