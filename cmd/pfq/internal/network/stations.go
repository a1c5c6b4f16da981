package network

import (
	"fmt"
	"math/big"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/network"
	"productform/num"
)

// A solution is the answer for a stable network.
type stationSolution struct {
	Stable             bool            `json:"stable"`
	Engine             *num.Engine     `json:"engine"` // nil, as the next, for a network that is simulated but too large to be solved
	Method             *network.Method `json:"method"`
	Why                string          `json:"why"`
	States             *float64        `json:"states"`
	RelativeErrorBound *float64        `json:"relative_error_bound"`
	CriticalScale      render.Number   `json:"critical_scale"`
	Chains             []chain         `json:"chains"`
	Stations           []station       `json:"stations"`
	Visits             []visit         `json:"visits"`
	Nodes              []node          `json:"nodes"`
	Note               string          `json:"note,omitempty"`
	Simulated          render.Record   `json:"simulated,omitempty"`

	digits    int
	simulated *simulated
	limits    *network.Stability
	model     *network.Model

	knowsDelays bool // some percentile of a delay is known
}

// A chain is a row of the classes that jobs change between.
type chain struct {
	Classes    []string      `json:"classes" title:"chain"`
	Population *int          `json:"population"` // nil for an open one
	Throughput render.Number `json:"throughput"`
	MeanJobs   render.Number `json:"mean_jobs"`
	MeanDelay  render.Number `json:"mean_delay"`

	// What the throughput of a closed chain comes to with ever more jobs, and where they then wait; null if nothing limits it.
	Limit        render.Number `json:"throughput_limit"`
	LimitStation *string       `json:"limit_station"`
}

// A station is a row of one station.
type station struct {
	Name             string             `json:"name" title:"station"`
	Discipline       network.Discipline `json:"discipline"`
	MeanJobs         render.Number      `json:"mean_jobs"`
	Utilization      render.Number      `json:"utilization"`
	EmptyProbability render.Number      `json:"empty_probability"`

	JobsDistribution []render.Number `json:"jobs_distribution,omitempty"`
}

// A visit is a row of one class at one station.
type visit struct {
	Station     string        `json:"station"`
	Class       string        `json:"class"`
	Throughput  render.Number `json:"throughput"`
	MeanJobs    render.Number `json:"mean_jobs"`
	MeanDelay   render.Number `json:"mean_delay"`
	Utilization render.Number `json:"utilization"`
	Delay       render.Record `json:"delay,omitempty"` // the percentiles asked for, null where they are not known

	of [2]int // class and visit
}

// A node is a row of a named server of a station.
type node struct {
	Station         string        `json:"station"`
	Name            string        `json:"name" title:"node"`
	IdleProbability render.Number `json:"idle_probability"`
}

// A jobsProbability is the probability of a number of jobs at a station.
type jobsProbability struct {
	Name        string        `json:"name" title:"station"`
	Jobs        int           `json:"jobs"`
	Probability render.Number `json:"probability"`
}

// columns are the first columns of CSV.
var columns = []string{"kind", "name", "station", "class", "classes", "population", "discipline", "throughput", "mean_jobs", "mean_delay", "utilization",
	"empty_probability", "idle_probability", "jobs", "probability"}

// newSolution returns the answer of a result, nil for a network that is too large to be solved.
func newSolution(m *network.Model, r *network.Result, limits *network.Stability, found *simulated, digits int) *stationSolution {
	if r == nil {
		return &stationSolution{Stable: true, Why: "too large to be solved", CriticalScale: render.RatBeside(limits.CriticalScale, big.NewRat(1, 1), render.Unproved),
			Chains: []chain{}, Stations: []station{}, Visits: []visit{}, Nodes: []node{}, Simulated: found.record(), simulated: found, limits: limits, model: m}
	}
	proof := command.ProofOf(r.Engine)
	value := func(v *num.Value) render.Number { return render.Value(v, proof, digits) }
	given := command.GivenProof(r.Engine)
	s := &stationSolution{
		Stable: true, Engine: &r.Engine, Method: &r.Method, Why: r.Why, States: &r.States, RelativeErrorBound: &r.RelativeErrorBound,
		CriticalScale: render.RatBeside(limits.CriticalScale, big.NewRat(1, 1), given),
		Chains:        []chain{}, Stations: []station{}, Visits: []visit{}, Nodes: []node{},
		Simulated: found.record(), simulated: found, digits: digits, limits: limits, model: m,
	}
	s.Note = noteResting(m, r)
	closed := 0
	for i := range r.Chains {
		c := &r.Chains[i]
		row := chain{Classes: classNames(m, c.Classes), Throughput: value(&c.Throughput), MeanJobs: value(&c.MeanJobs), MeanDelay: value(c.MeanDelay)}
		if c.Closed {
			row.Population = &c.Population
			limit := &limits.Chains[closed]
			closed++
			if limit.Throughput != nil {
				row.Limit, row.LimitStation = render.Rat(limit.Throughput, given), &m.Stations[limit.Station].Name
			}
		}
		s.Chains = append(s.Chains, row)
	}
	for i := range r.Stations {
		at, name := &r.Stations[i], m.Stations[i].Name
		row := station{Name: name, Discipline: m.Stations[i].Discipline, MeanJobs: value(&at.MeanJobs), Utilization: value(at.Utilization), EmptyProbability: value(&at.ProbEmpty)}
		for n := range at.JobsDistribution {
			row.JobsDistribution = append(row.JobsDistribution, value(&at.JobsDistribution[n]))
		}
		s.Stations = append(s.Stations, row)
		for k := range at.Visits {
			v := &at.Visits[k]
			s.Visits = append(s.Visits, visit{name, m.Classes[v.Class].Name, value(&v.Throughput), value(&v.MeanJobs), value(v.MeanDelay), value(v.Utilization), nil, [2]int{v.Class, v.Visit}})
		}
		for k := range at.Nodes {
			s.Nodes = append(s.Nodes, node{name, m.Stations[i].Nodes[k].Name, value(&at.Nodes[k].ProbIdle)})
		}
	}
	return s
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

func (s *stationSolution) distribution() (rows []jobsProbability) {
	for _, at := range s.Stations {
		for n, p := range at.JobsDistribution {
			rows = append(rows, jobsProbability{at.Name, n, p})
		}
	}
	return rows
}

// lines returns the lines of CSV.
func (s *stationSolution) lines() []render.Lines {
	whole := *s
	whole.Simulated = nil
	lines := []render.Lines{{Kind: "network", Of: whole}, {Kind: "chain", Of: s.Chains}, {Kind: "station", Of: s.Stations}, {Kind: "visit", Of: s.Visits},
		{Kind: "node", Of: s.Nodes}, {Kind: "distribution", Of: s.distribution()}}
	return append(lines, s.simulated.lines()...)
}

func (s *stationSolution) text(t *render.Text) {
	t.Digits = s.digits
	if s.Engine == nil {
		t.Line("stable; %s", s.Why)
	} else {
		heading(t, *s.Engine, *s.RelativeErrorBound)
		if s.knowsDelays {
			t.Line("percentiles between proved bounds, shown to the digits that these share")
		}
		t.Line("%s: %s", *s.Method, strings.TrimPrefix(s.Why, string(*s.Method)+": "))
	}
	if s.Note != "" {
		t.Line("%s", s.Note)
	}
	if l := s.limits; l.CriticalScale != nil {
		at := l.Stations[l.Critical]
		t.Line("still stable with the arrival rates multiplied by anything below %s; bottleneck: station %s, classes %s",
			render.SixBeside(l.CriticalScale, big.NewRat(1, 1)), s.model.Stations[l.Critical].Name, strings.Join(classNames(s.model, at.Bottleneck), ", "))
	}
	t.Line("")
	if s.Engine != nil {
		t.Table(s.Chains, chainColumns(s.Chains)...)
		t.Table(s.Stations, "name", "discipline", "mean_jobs", "utilization", "empty_probability")
		t.Table(s.Visits, "station", "class", "throughput", "mean_jobs", "mean_delay", "utilization")
		if s.knowsDelays {
			s.delayText(t)
		}
	}
	if len(s.Nodes) > 0 {
		t.Table(s.Nodes, "station", "name", "idle_probability")
	}
	if rows := s.distribution(); rows != nil {
		t.Table(rows, "name", "jobs", "probability")
	}
	s.simulated.text(t)
}

// delayText writes the requested percentiles.
func (s *stationSolution) delayText(t *render.Text) {
	var rows []render.Record
	columns := []string{"station", "class"}
	for k, v := range s.Visits {
		for _, f := range v.Delay {
			if k == 0 {
				columns = append(columns, "delay_"+f.Key)
			}
		}
		rows = append(rows, render.Fields(v).Flat())
	}
	t.Table(rows, columns...)
}

// trust says how far the numbers can be trusted.
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

func chainColumns(chains []chain) []string {
	all := []string{"classes", "population", "throughput", "mean_jobs", "mean_delay"}
	for _, c := range chains {
		if c.LimitStation != nil {
			return append(all, "throughput_limit", "limit_station")
		}
	}
	return all
}

// An unstable says what overloads a network.
type unstable struct {
	Stable             bool          `json:"stable"` // false
	CriticalScale      render.Number `json:"critical_scale"`
	Station            string        `json:"station"`
	Bottleneck         []string      `json:"bottleneck"`
	BottleneckWork     render.Number `json:"bottleneck_work"`
	BottleneckCapacity render.Number `json:"bottleneck_capacity"`

	load  network.Load
	scale *big.Rat
}

func newUnstable(m *network.Model, limits *network.Stability, p render.Proof) unstable {
	load := limits.Stations[limits.Critical]
	return unstable{
		CriticalScale: render.RatBeside(limits.CriticalScale, big.NewRat(1, 1), p), Station: m.Stations[limits.Critical].Name,
		Bottleneck: classNames(m, load.Bottleneck), BottleneckWork: render.Rat(load.Work, p), BottleneckCapacity: render.Rat(load.Capacity, p),
		load: load, scale: limits.CriticalScale,
	}
}

func (u unstable) text(t *render.Text) {
	t.Line("unstable: would be stable with the arrival rates multiplied by anything below %s", render.SixBeside(u.scale, big.NewRat(1, 1)))
	t.Line("bottleneck: station %s, classes %s: work %s per unit of time on capacity %s", u.Station, strings.Join(u.Bottleneck, ", "), render.SixRat(u.load.Work), render.SixBeside(u.load.Capacity, u.load.Work))
}

func classNames(m *network.Model, classes []int) []string {
	names := []string{}
	for _, c := range classes {
		names = append(names, m.Classes[c].Name)
	}
	return names
}

func heading(t *render.Text, engine num.Engine, bound float64) { t.Line("%s", trust(engine, bound)) }
