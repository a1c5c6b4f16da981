package network

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"productform/internal/input"
	"productform/network"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/stations"
	"productform/sizes"
)

// A Network is a network of stations, open, closed or mixed. Jobs are simulated individually: at
// each visit a job draws its work, is served by the rule of the station, and moves on with the
// probabilities of the model.
//
//   - Delay, Sharing and FCFS are the usual disciplines; with Rates, FCFS gives the whole rate to
//     the first job.
//   - LCFS gives one server to each of the last jobs to arrive, or with Rates the whole rate to
//     the last one. An interrupted job later resumes where it stopped.
//   - Random is like FCFS, but a server that becomes free picks a waiting job at random.
//   - Order serves jobs in order of arrival. Each of the Nodes serves the oldest job that it can
//     serve, and several can serve a job together. With Limits, each job takes a server if
//     older jobs leave one and no limit forbids it. With Rank, a job gets what its class adds to
//     the rate of the set of classes before it.
//   - Balanced gives φ_c(x) = Φ(x-e_c)/Φ(x) to class c, shared equally by its jobs. Φ is the
//     balance function of Nodes, Limits or Rank, or that of the Table. It is needed at all states
//     below those reached; a run that would need more than 256 MB for them ends with an error that
//     wraps [sim.ErrTooManyStates].
//
// If a class gives the numbers of its visits instead of their order, each visit is followed by one
// drawn in proportion to these numbers. With n visits in total, each is the last of its cycle, or
// of the job, with probability 1/n.
//
// Closed jobs start at the first visit of their class. The classes of the result are the chains.
// Delays are times in the network (open chains) or cycle times (closed chains), from one arrival at
// the reference to the next. With Levels, the response times of closed chains with Delay are
// measured like visits; see [ResponseTime]. A run with more than 10,000,000 jobs present at a time
// ends with an error that wraps [sim.ErrTooManyJobs]. If open chains overload a station, the error
// wraps a *[network.UnstableError], except over a horizon.
type Network struct {
	Model *network.Model

	// Sizes[c][v] is the distribution of the work of visit v of class c, with the mean of the model
	// to 1e-12. If Sizes, or the entry of a class or visit, is nil, Shape is used, scaled to that
	// mean; a nil Shape means exponential. With Delay, Sharing, LCFS (one server, or Rates) and
	// Balanced, only means matter in theory.
	Sizes [][]sizes.Distribution
	Shape sizes.Distribution
}

// A system holds the data shared by all replications of a network.
type system struct {
	model    *network.Model
	chains   []chain
	visits   []visit
	stations []station
	nodes    []node
	arrivals sizes.AliasTable // draws the first visit of an arrival
	rate     float64          // total rate of arrivals from outside
	closed   bool             // whether there are closed chains; n then counts the jobs away from the references
	// chains whose response times are observed, in rows of totals after the visits
	responses []int
	horizon   bool // whether runs are observed from the start, when Little's law does not hold
}

// A chain is a set of classes between which jobs change.
type chain struct {
	name       string
	closed     bool
	population int
	rate       float64 // rate of arrivals from outside
	reference  int     // closed: the visit at which cycles start
	cycle      float64 // total visits per cycle, for a closed chain that gives numbers of visits; otherwise 0
	response   int     // row of its response times after the visits, counted from 1; 0 if there is none
}

// A visit is a visit of a class to a station.
type visit struct {
	name    string
	chain   int
	station int
	class   int32 // class at the station
	sizes   sizes.Distribution
	next    sizes.AliasTable // draws the code of the next step
	nodes   []int            // indices in system.nodes of the nodes that can serve it
	away    int              // 1 if its jobs are counted in n, otherwise 0
	start   int              // jobs that start here
	outside float64          // arrivals from outside per unit of time
	rate    float64          // approximate visits per unit of time of an open chain; 0 otherwise
}

// Codes of the step after a visit: the next visit, plus newCycle if a cycle ends before it, or
// leaves.
const (
	newCycle = 1 << 31
	leaves   = 1<<31 - 1
)

// A station describes how to make a station of the model.
type station struct {
	name string
	full float64 // total rate of its servers; 0 if it has none, or one per job
	make func(draws *rand.Rand) stations.Station
}

// A node is a server of a station with Nodes.
type node struct{ name string }

// maxVisits is the maximum total number of visits of all classes.
const maxVisits = 1_000_000

// ResponseTime returns the name of the visit, after those of the model, whose delays are the
// response times of a closed chain with Delay: the times in a cycle at other stations. It exists if
// delays are needed ([sim.Observation]).
func ResponseTime(chain string) string { return chain + ": response time" }

// addResponses adds rows for the response times of closed chains with Delay.
func (s *system) addResponses() {
	delayed := make([]bool, len(s.chains))
	for _, v := range s.visits {
		delayed[v.chain] = delayed[v.chain] || s.isDelay(v.station)
	}
	for k := range s.chains {
		if s.chains[k].closed && delayed[k] {
			s.responses = append(s.responses, k)
			s.chains[k].response = len(s.responses)
		}
	}
}

func (s *system) isDelay(station int) bool {
	return s.model.Stations[station].Discipline == network.Delay
}

// newTotals returns empty totals.
func (s *system) newTotals() *sim.Totals {
	return sim.NewTotals(len(s.chains)+len(s.visits)+len(s.responses), len(s.stations)+len(s.nodes))
}

// Describe implements [sim.System].
func (n Network) Describe(ctx context.Context, o sim.Observation) (*sim.Description, error) {
	s, err := n.prepare(ctx)
	if err != nil {
		return nil, err
	}
	s.horizon = o.OverHorizon
	if o.Delays {
		s.addResponses()
	}
	d := s.describe()
	if s.rate > 0 {
		if err := checkStable(ctx, n.Model); errors.Is(err, num.ErrUnstable) && o.OverHorizon {
			d.Unstable = "network"
		} else if err != nil {
			return nil, err
		}
	}
	d.JumpRate = s.rate
	for _, v := range s.visits {
		d.JumpRate += v.rate
	}
	if s.closed {
		rate, err := s.pilot(ctx, d.Unstable != "")
		if err != nil {
			return nil, err
		}
		d.JumpRate += rate
	}
	d.SizeRate = d.JumpRate
	return d, sim.CheckRate("classes", d.JumpRate)
}

// prepare checks the network and converts it.
func (n Network) prepare(ctx context.Context) (*system, error) {
	if n.Model == nil {
		return nil, input.Errorf("Model", "nothing", "a network of stations")
	}
	if err := n.Model.Check(); err != nil {
		return nil, err
	}
	s := &system{model: n.Model}
	if err := s.addVisits(n); err != nil {
		return nil, err
	}
	if err := s.addStations(ctx); err != nil {
		return nil, err
	}
	return s, s.solveFlows(ctx)
}

// describe describes the parts of the system.
func (s *system) describe() *sim.Description {
	d := &sim.Description{
		Method: "calendar of a network of stations", StepCost: s.stepCost(), Measures: s.measures, Warnings: s.warnings,
		Start: func(ctx context.Context, r *sim.Stream) sim.Engine { return newMotion(ctx, s, r) },
	}
	for _, c := range s.chains {
		d.Classes = append(d.Classes, sim.Class{Name: c.name, ArrivalRate: c.rate, MeanSize: 1})
	}
	var sizes []string
	for _, v := range s.visits {
		d.Visits = append(d.Visits, sim.Class{Name: v.name, ArrivalRate: v.rate, MeanSize: 1})
		orders := []float64{1}
		if s.model.Stations[v.station].NeedsExponential() {
			orders = []float64{1, 2} // the distribution of sizes matters
		}
		d.Moments = append(d.Moments, sim.Moment{Sizes: v.sizes, Orders: orders, Rate: v.rate, Of: v.name})
		sizes = append(sizes, v.sizes.String())
	}
	for _, k := range s.responses {
		d.Visits = append(d.Visits, sim.Class{Name: ResponseTime(s.chains[k].name), MeanSize: 1})
		d.Format = "response times of chains"
	}
	d.Identity = []any{"network", anonymous(s.model), sizes}
	for _, i := range s.stations {
		d.Servers = append(d.Servers, sim.Server{Name: i.name, Size: 1})
	}
	for _, k := range s.nodes {
		d.Servers = append(d.Servers, sim.Server{Name: k.name, Size: 1})
	}
	if s.closed {
		d.Counted = sim.Counted{List: JobsAway, Words: "jobs away from the references of their chains"}
	}
	return d
}

// stepCost returns the approximate time of an event in units of 10 ns. Stations that inspect jobs
// one by one may inspect all jobs of closed chains, or one per server.
func (s *system) stepCost() float64 {
	cost, closed := 30.0, 0
	for _, k := range s.chains {
		closed += k.population
	}
	for _, i := range s.model.Stations {
		switch i.Discipline {
		case network.LCFS:
			cost = max(cost, 30+float64(min(i.Servers, closed+1000)))
		case network.Order:
			cost = max(cost, 30+float64(closed)/4)
		}
	}
	return cost
}

// addVisits reads classes, chains and visits.
func (s *system) addVisits(n Network) error {
	m := n.Model
	if n.Sizes != nil && len(n.Sizes) != len(m.Classes) {
		return input.Errorf("Sizes", fmt.Sprintf("%d lists", len(n.Sizes)), "one for each of the %d classes",
			len(m.Classes))
	}
	at := make([]int, len(m.Classes)) // the first visit of each class
	count := 0
	for c := range m.Classes {
		at[c] = count
		count += len(m.Classes[c].Visits)
	}
	if count > maxVisits {
		return input.Errorf("classes", fmt.Sprintf("%d visits", count), "at most %d visits of all classes", maxVisits)
	}
	ofClass, err := s.addChains(m, at)
	if err != nil {
		return err
	}
	local := make([]int32, len(m.Stations))
	firstNode := make([]int, len(m.Stations))
	for i := range m.Stations {
		firstNode[i] = len(s.nodes)
		for _, k := range m.Stations[i].Nodes {
			s.nodes = append(s.nodes, node{m.Stations[i].Name + "/" + k.Name})
		}
	}
	for c := range m.Classes {
		class := &m.Classes[c]
		if n.Sizes != nil && n.Sizes[c] != nil && len(n.Sizes[c]) != len(class.Visits) {
			return input.Errorf(input.Index("Sizes", c),
				fmt.Sprintf("%d distributions", len(n.Sizes[c])), "one for each of the %d visits",
				len(class.Visits))
		}
		for k, v := range class.Visits {
			one := visit{
				name:    class.Name + " at " + m.Stations[v.Station].Name,
				chain:   ofClass[c],
				station: v.Station,
				class:   local[v.Station],
				next:    s.ways(m, c, k, at, &s.chains[ofClass[c]]),
				away:    1,
			}
			local[v.Station]++
			for _, node := range v.Nodes {
				one.nodes = append(one.nodes, firstNode[v.Station]+node)
			}
			if one.sizes, err = n.sizesOf(c, k); err != nil {
				return err
			}
			s.visits = append(s.visits, one)
		}
		s.visits[at[c]].start = class.Population
	}
	visits := make([]int, len(s.chains))
	for _, v := range s.visits {
		visits[v.chain]++
	}
	for k, c := range s.chains {
		if c.closed && visits[k] > 1 {
			s.visits[c.reference].away = 0
		}
	}
	return s.addArrivals(m, at)
}

// sizesOf returns the sizes of visit v of class c.
func (n Network) sizesOf(c, v int) (sizes.Distribution, error) {
	var given sizes.Distribution
	if n.Sizes != nil && n.Sizes[c] != nil {
		given = n.Sizes[c][v]
	}
	return stations.SizesOf(
		given, n.Shape, n.Model.Classes[c].Visits[v].MeanSize, fmt.Sprintf("Sizes[%d][%d]", c, v),
		fmt.Sprintf("classes[%d].visits[%d].mean_size", c, v),
	)
}

// addChains finds the chains, and returns the chain of each class.
func (s *system) addChains(m *network.Model, at []int) (ofClass []int, err error) {
	ofClass = slices.Repeat([]int{-1}, len(m.Classes))
	linked := make([][]int, len(m.Classes)) // for each class, the classes that change into it or that it changes into
	for c := range m.Classes {
		for _, v := range m.Classes[c].Visits {
			for _, b := range v.Next {
				if b.Class >= 0 && b.Probability.Sign() > 0 {
					linked[c], linked[b.Class] = append(linked[c], b.Class), append(linked[b.Class], c)
				}
			}
		}
	}
	for c := range m.Classes {
		if ofClass[c] >= 0 {
			continue
		}
		k := chain{closed: true, reference: at[c] + m.Classes[c].Reference}
		classes := []int{c}
		ofClass[c] = len(s.chains)
		for at := 0; at < len(classes); at++ {
			for _, other := range linked[classes[at]] {
				if ofClass[other] < 0 {
					ofClass[other] = len(s.chains)
					classes = append(classes, other)
				}
			}
		}
		slices.Sort(classes)
		var names []string
		for _, c := range classes {
			class := &m.Classes[c]
			names = append(names, class.Name)
			k.population += class.Population
			if class.ArrivalRate != nil {
				rate, err := sim.RateOf(fmt.Sprintf("classes[%d].arrival_rate", c), class.ArrivalRate)
				if err != nil {
					return nil, err
				}
				k.closed, k.rate = false, k.rate+rate
			}
		}
		k.name = strings.Join(names, "+")
		if class := &m.Classes[c]; k.closed && class.Visits[0].Count != nil {
			k.cycle = visitsInAll(class)
		}
		s.chains = append(s.chains, k)
		s.closed = s.closed || k.closed
	}
	return ofClass, nil
}

// checkStable returns an error if open chains bring a station too much work. It does not detect
// this for tables of rates without a product form or for models that are too large.
func checkStable(ctx context.Context, m *network.Model) error {
	r, err := network.CheckStability(ctx, m)
	var large *num.TooLargeError
	var table *network.TableError
	switch {
	case errors.As(err, &large), errors.As(err, &table):
		return nil
	case err != nil:
		return err
	case r.Stable:
		return nil
	}
	load := r.Stations[r.Critical]
	return &network.UnstableError{
		Station:  r.Critical,
		Name:     m.Stations[r.Critical].Name,
		Classes:  load.Bottleneck,
		Work:     load.Work,
		Capacity: load.Capacity,
	}
}

// anonymous returns the model without names.
func anonymous(m *network.Model) *network.Model {
	same := &network.Model{Stations: slices.Clone(m.Stations), Classes: slices.Clone(m.Classes)}
	for i := range same.Stations {
		s := &same.Stations[i]
		s.Name, s.Nodes = "", slices.Clone(s.Nodes)
		for k := range s.Nodes {
			s.Nodes[k].Name = ""
		}
	}
	for c := range same.Classes {
		same.Classes[c].Name = ""
	}
	return same
}
