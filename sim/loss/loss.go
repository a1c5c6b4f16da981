package loss

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/internal/ranktable"
	"productform/network/loss"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/stations"
	"productform/sizes"
	"productform/stability"
)

// A System is a system in which arrivals that do not fit are lost.
//
// An arrival is lost if the units in use and its own together exceed the room or a limit. Sources
// are simulated individually: a source waits an exponential time after its last job departed or was
// lost, and then makes the next.
//
// Without servers a job is served at rate 1 from its arrival. With Count, each server takes one job
// at a time, in order of arrival. Servers of a compatibility graph each serve the oldest job that
// they can serve, and several can serve a job together. With a rank function, a job gets the rate
// that its class adds to the classes of older jobs. With Sharing, jobs share equal servers instead,
// each using at most one server, and they share the servers of a graph or the rates of a rank
// function by balanced fairness.
//
// With tokens, an arrival takes the free token of its servers that was released first, or as Assign
// specifies, and returns it on departure. Each server serves its jobs in order of arrival or, with
// Sharing, all of them equally. At the start, tokens are ordered round-robin over the servers. The
// result has a row for each single server, in the order of [loss.Model.Expanded].
//
// In the result, the arrival rate of a class of sources is their total rate while none of them has
// a job.
//
// A run with more than 10,000,000 jobs present at a time ends with an error that wraps
// [sim.ErrTooManyJobs]. If classes without a limit bring too much work, the error wraps a
// *[loss.UnstableError], except over a horizon. Balanced fairness of a graph supports at most 64
// classes.
type System struct {
	Model *loss.Model
	// whether jobs share the servers of a graph by balanced fairness, and equal servers equally,
	// instead of FCFS service
	Sharing bool
	Assign  Assignment // with tokens: "" means OldestToken

	// Sizes are the sizes of each class, with the mean of the model to 1e-12. If Sizes or an entry
	// is nil, Shape is used, scaled to that mean; a nil Shape means exponential. In theory only
	// means matter without servers and with Sharing.
	Sizes []sizes.Distribution
	Shape sizes.Distribution
}

// An Assignment determines which of the servers of its class a job gets if servers have tokens.
type Assignment string

// The assignments. All but OldestToken are for comparison; no product form is known for
// ShortestQueue.
const (
	OldestToken Assignment = "oldest token" // the server of the free token that was released first
	// a uniformly random server; the job is lost if that server has no free token
	RandomServer Assignment = "random server"
	// a server with the fewest jobs among those with a free token; ties are broken at random
	ShortestQueue Assignment = "shortest queue"
)

// A system holds the data shared by all replications.
type system struct {
	model    *loss.Model
	classes  []class
	most     []int // maximum number of units, by bound: the room, then each limit
	servers  int   // number of equal servers, 0 if there are none
	sharing  bool
	assign   Assignment
	tokens   []int // number of tokens by server; nil without tokens
	arrivals sizes.AliasTable
	rate     float64 // total rate of Poisson arrivals
	sources  int
	make     func() []stations.Station // makes one station, or with tokens one per server
}

// A class is a kind of job.
type class struct {
	name    string
	rate    float64 // λ
	sources int
	sizes   sizes.Distribution
	units   int
	bounds  []int // indices of the bounds on its units
	servers []int // servers that can serve it
}

// Describe implements [sim.System].
func (s System) Describe(ctx context.Context, o sim.Observation) (*sim.Description, error) {
	p, err := s.prepare()
	if err != nil {
		return nil, err
	}
	d := p.describe()
	if err := checkStable(ctx, s.Model); errors.Is(err, num.ErrUnstable) && o.OverHorizon {
		d.Unstable = "system"
	} else if err != nil {
		return nil, err
	}
	if d.JumpRate, err = p.pilot(ctx, d.Unstable != ""); err != nil {
		return nil, err
	}
	d.JumpRate += p.rate
	d.SizeRate = d.JumpRate / 2
	return d, sim.CheckRate("classes", d.JumpRate)
}

// describe describes the parts of the system.
func (p *system) describe() *sim.Description {
	d := &sim.Description{
		Method: "calendar of a system with losses", StepCost: 30, Measures: p.measures, Warnings: p.warnings,
		Start: func(ctx context.Context, r *sim.Stream) sim.Engine { return newMotion(ctx, p, r) },
	}
	var sizes []string
	for _, c := range p.classes {
		d.Classes = append(d.Classes, sim.Class{
			Name:        c.name,
			ArrivalRate: c.rate * float64(max(c.sources, 1)),
			MeanSize:    1,
		})
		d.Moments = append(d.Moments, sim.Moment{Sizes: c.sizes, Orders: []float64{1}, Of: "class " + c.name})
		sizes = append(sizes, c.sizes.String())
	}
	for _, server := range p.model.Servers {
		d.Servers = append(d.Servers, sim.Server{Name: server.Name, Size: 1})
	}
	d.Identity = []any{"loss", anonymous(p.model), p.sharing, p.assign, sizes}
	return d
}

// prepare checks the system and converts it.
func (s System) prepare() (*system, error) {
	if s.Model == nil {
		return nil, input.Errorf("Model", "nothing", "a system with losses")
	}
	m := s.Model
	if err := m.Check(); err != nil {
		return nil, err
	}
	m, _ = m.Expanded()
	if s.Sizes != nil && len(s.Sizes) != len(m.Classes) {
		return nil, input.Errorf("Sizes", fmt.Sprintf("%d distributions", len(s.Sizes)),
			"one for each of the %d classes",
			len(m.Classes))
	}
	p := &system{model: m, servers: m.Count, sharing: s.Sharing, assign: cmp.Or(s.Assign, OldestToken)}
	switch tokens := len(m.Servers) > 0 && m.Servers[0].Tokens > 0; {
	case !slices.Contains([]Assignment{OldestToken, RandomServer, ShortestQueue}, p.assign):
		return nil, input.Errorf("Assign", string(s.Assign), "oldest token, random server or shortest queue")
	case s.Assign != "" && !tokens:
		return nil, input.Errorf("Assign", string(s.Assign), "servers with tokens")
	}
	rates := make([]float64, len(m.Classes))
	for k := range m.Classes {
		c := &m.Classes[k]
		one := class{name: c.Name, sources: c.Sources, units: max(1, c.Units), servers: c.Servers}
		var err error
		if one.rate, err = sim.RateOf(fmt.Sprintf("classes[%d].arrival_rate", k), c.ArrivalRate); err != nil {
			return nil, err
		}
		if one.sizes, err = s.sizesOf(k); err != nil {
			return nil, err
		}
		if c.Sources == 0 {
			rates[k] = one.rate
			p.rate += one.rate
		} else if one.rate > 0 {
			p.sources += c.Sources
		}
		p.classes = append(p.classes, one)
	}
	if p.rate > 0 {
		p.arrivals = sizes.NewAliasTable(rates, nil)
	} else if p.sources == 0 {
		return nil, input.Errorf("classes", "arrival rates that are all 0", "jobs to simulate")
	}
	if p.sources > sim.MaxJobs {
		return nil, input.Errorf("classes", fmt.Sprintf("%d sources", p.sources), "at most %d sources of all classes",
			sim.MaxJobs)
	}
	p.addBounds()
	return p, p.addStations()
}

// sizesOf returns the sizes of class k.
func (s System) sizesOf(k int) (sizes.Distribution, error) {
	var given sizes.Distribution
	if s.Sizes != nil {
		given = s.Sizes[k]
	}
	return stations.SizesOf(
		given, s.Shape, s.Model.Classes[k].MeanSize, input.Index("Sizes", k), fmt.Sprintf("classes[%d].mean_size", k),
	)
}

// addBounds reads the room and the limits.
func (p *system) addBounds() {
	add := func(most int, classes func(k int) bool) {
		for k := range p.classes {
			if classes(k) {
				p.classes[k].bounds = append(p.classes[k].bounds, len(p.most))
			}
		}
		p.most = append(p.most, most)
	}
	if p.model.Room > 0 {
		add(p.model.Room, func(int) bool { return true })
	}
	for _, l := range p.model.Limits {
		add(l.Most, func(k int) bool { return slices.Contains(l.Classes, k) })
	}
}

// addStations prepares the stations.
func (p *system) addStations() error {
	var capacity []float64
	for s, server := range p.model.Servers {
		v, err := sim.RateOf(fmt.Sprintf("servers[%d].capacity", s), server.Capacity)
		if err != nil {
			return err
		}
		capacity = append(capacity, v)
		if server.Tokens > 0 {
			p.tokens = append(p.tokens, server.Tokens)
		}
	}
	var of [][]int
	var scale []float64
	largest := 0.0
	for k := range p.classes {
		mean, _ := num.OrOne(p.model.Classes[k].MeanSize).Float64()
		of, scale, largest = append(of, p.classes[k].servers), append(scale, mean), max(largest, mean)
	}
	one := func(make func() stations.Station) {
		p.make = func() []stations.Station { return []stations.Station{make()} }
	}
	c := p.servers
	switch {
	case p.tokens != nil:
		p.make = func() (list []stations.Station) {
			for _, v := range capacity {
				if p.sharing {
					list = append(list, stations.NewSharing(func(int) float64 { return v }, largest))
				} else {
					list = append(list, stations.NewServers(1, v))
				}
			}
			return list
		}
	case len(p.model.Rank) > 0:
		rank, err := p.rank()
		if err != nil {
			return err
		}
		if !p.sharing {
			one(func() stations.Station { return stations.NewRanked(rank, len(of)) })
			break
		}
		table := stations.NewBalance(len(of), func(set uint64) float64 { return rank[set] })
		one(func() stations.Station { return stations.NewShared(table.Rates, scale) })
	case len(capacity) == 0 && c == 0:
		one(func() stations.Station { return stations.NewServers(stations.Everyone, 1) })
	case c > 0 && p.sharing:
		one(func() stations.Station {
			return stations.NewSharing(func(n int) float64 { return float64(min(n, c)) }, largest)
		})
	case c > 0:
		one(func() stations.Station { return stations.NewServers(c, 1) })
	case !p.sharing:
		one(func() stations.Station { return stations.NewNodes(of, capacity) })
	case len(of) > stations.MaxClasses:
		return input.Errorf("classes", fmt.Sprintf("%d of them", len(of)), "at most %d under balanced fairness",
			stations.MaxClasses)
	default:
		table := stations.NewBalance(len(of), func(set uint64) float64 { return stations.Together(of, capacity, set) })
		one(func() stations.Station { return stations.NewShared(table.Rates, scale) })
	}
	return nil
}

// rank returns the rate of each set of classes, indexed by bit mask.
func (p *system) rank() ([]float64, error) {
	rank := make([]float64, 1<<len(p.classes))
	for r, x := range p.model.Rank {
		v, err := sim.RateOf(fmt.Sprintf("rank[%d].rate", r), x.Rate)
		if err != nil {
			return nil, err
		}
		rank[ranktable.Mask(x.Classes)] = v
	}
	return rank, nil
}

// maxFree is the largest number of unlimited classes for which all sets are checked.
const maxFree = 16

// checkStable returns an error if it can show that unlimited classes bring too much work.
func checkStable(ctx context.Context, m *loss.Model) error {
	if m.Room > 0 || m.Count == 0 && len(m.Servers) == 0 && len(m.Rank) == 0 ||
		len(m.Servers) > 0 && m.Servers[0].Tokens > 0 {
		return nil
	}
	var free []int
	var work []*big.Rat
	for k, c := range m.Classes {
		limited := slices.ContainsFunc(m.Limits, func(l loss.Limit) bool { return slices.Contains(l.Classes, k) })
		if c.Sources == 0 && !limited && c.ArrivalRate.Sign() > 0 {
			free, work = append(free, k), append(work, new(big.Rat).Mul(c.ArrivalRate, num.OrOne(c.MeanSize)))
		}
	}
	if len(free) == 0 {
		return nil
	}
	if m.Count > 0 {
		sum, capacity := num.SumRats(work), big.NewRat(int64(m.Count), 1)
		if sum.Cmp(capacity) < 0 {
			return nil
		}
		return &loss.UnstableError{Classes: free, Load: sum, Capacity: capacity}
	}
	if len(free) > maxFree {
		return nil
	}
	rank := make([]*big.Rat, 1<<len(free))
	for set := 1; set < len(rank); set++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var classes []int
		for i, k := range free {
			if set>>i&1 == 1 {
				classes = append(classes, k)
			}
		}
		rank[set] = rateOf(m, classes)
	}
	v, err := stability.Rank(ctx, work, rank)
	if err != nil || v.Stable {
		return err
	}
	e := &loss.UnstableError{Load: v.Arrival, Capacity: v.Capacity}
	for _, i := range v.Bottleneck {
		e.Classes = append(e.Classes, free[i])
	}
	return e
}

// rateOf returns the total rate while the given classes are present, in the order of the model.
func rateOf(m *loss.Model, classes []int) *big.Rat {
	for _, r := range m.Rank {
		if len(r.Classes) == len(classes) && slices.Equal(slices.Sorted(slices.Values(r.Classes)), classes) {
			return r.Rate
		}
	}
	rate := new(big.Rat)
	for s, server := range m.Servers {
		if slices.ContainsFunc(classes, func(k int) bool { return slices.Contains(m.Classes[k].Servers, s) }) {
			rate.Add(rate, server.Capacity)
		}
	}
	return rate
}

// anonymous returns the model without names.
func anonymous(m *loss.Model) *loss.Model {
	same := *m
	same.Servers, same.Classes = slices.Clone(m.Servers), slices.Clone(m.Classes)
	for s := range same.Servers {
		same.Servers[s].Name = ""
	}
	for k := range same.Classes {
		same.Classes[k].Name = ""
	}
	return &same
}
