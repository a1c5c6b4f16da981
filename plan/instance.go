package plan

import (
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// An instance is a problem with names resolved and costs as whole numbers.
type instance struct {
	*Problem
	base    system   // with the arrival rates scaled
	options []option // upgrades, then new servers
	edges   []edge
	targets []target
	unit    *big.Rat  // all costs are whole multiples of it
	aim     int       // row of the class to minimize; -1 for all jobs
	kind    kind      // how plans are solved
	now     *Solution // solution of base; nil until it is known
}

// An option is something that can be bought in a number of steps.
type option struct {
	server   int   // row whose capacity or size grows; -1 for new servers
	count    int   // servers that a step adds to the row; 0 for capacity
	classes  []int // classes of new servers
	name     string
	capacity *big.Rat // capacity of a step; nil if it adds servers
	cost     int64
	most     int
}

// An edge leads to a server of the model or, if option is not negative, to all purchased new
// servers of that option.
type edge struct {
	class  int
	choice cluster.Choice // choice of a server of the model
	option int
	cost   int64
}

// A target is a target of the problem with rows instead of names. For the distribution of a time,
// limit is the limit on P(T > time), or on P(T <= time) if isLeast.
type target struct {
	measure   Measure
	row       int // row of the class or server, -1 for all jobs
	limit     *big.Rat
	isLeast   bool     // the limit is a minimum
	low, high float64  // doubles around the limit
	time      *big.Rat // limit of a percentile, or time of a service level
	level     *big.Rat // level of a percentile, in (0, 1)
}

// newInstance checks a problem and resolves it.
func newInstance(p *Problem) (*instance, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	unit, whole, err := p.WholeCosts()
	if err != nil {
		return nil, err
	}
	in := &instance{Problem: p, base: p.system().scale(num.OrOne(p.Scale)), unit: unit, aim: -1,
		kind: kindOf(p.Service())}
	if p.Minimize != "" {
		in.aim = p.ClassRow(p.Minimize)
	}
	for _, t := range p.Targets {
		in.targets = append(in.targets, newTarget(p, t))
	}
	for _, u := range p.Upgrades {
		in.options = append(in.options, option{
			server:   p.ServerRow(u.Server),
			name:     u.Server,
			capacity: u.Step,
			count:    u.Count,
			cost:     whole[len(in.options)],
			most:     u.Most,
		})
	}
	for _, s := range p.NewServers {
		o := option{server: -1, name: s.Name, capacity: s.Capacity, cost: whole[len(in.options)], most: s.Most}
		for _, name := range s.Classes {
			o.classes = append(o.classes, p.ClassRow(name))
		}
		in.options = append(in.options, o)
	}
	for k, e := range p.Edges {
		in.edges = append(in.edges, edge{class: p.ClassRow(e.Class), option: -1, cost: whole[len(in.options)+k]})
		to := &in.edges[k]
		if added := p.NewServerRow(e.Server); added >= 0 {
			to.option = len(p.Upgrades) + added
		} else {
			to.choice = cluster.Choice{Server: p.ServerRow(e.Server), Choose: max(e.Choose, 1)}
		}
	}
	return in, in.checkServed()
}

// checkServed rejects service levels of the served jobs whose dependence on the servers is unknown.
func (in *instance) checkServed() error {
	if !isImpatient(in.base.cluster) || in.isAlwaysPool() {
		return nil
	}
	for i, t := range in.targets {
		if t.measure == ServedShareWithin {
			return input.Errorf(input.Index("targets", i)+".served_share", ratText(t.limit), "served, unless all "+
				"plans leave one pool of equal servers with one exponential patience")
		}
	}
	return nil
}

// newTarget resolves a target, with doubles around its limit.
func newTarget(p *Problem, t Target) target {
	r := target{measure: t.Measure, row: -1, limit: t.Limit, isLeast: t.IsLeast(), time: t.Within}
	switch {
	case t.Measure == Utilization:
		r.row = p.ServerRow(t.Server)
	case t.Class != "":
		r.row = p.ClassRow(t.Class)
	}
	if t.Level != nil {
		r.time, r.level = t.Limit, new(big.Rat).Quo(t.Level, hundred)
		r.limit, r.isLeast = r.level, true
		if p.Service() == serviceAll {
			r.limit, r.isLeast = new(big.Rat).Sub(one, r.level), false
		}
	}
	r.low, r.high = arithmetic.Around(r.limit)
	return r
}

// inUnits returns the largest number of units within a cost.
func (in *instance) inUnits(cost *big.Rat) int64 {
	n := new(big.Rat).Quo(cost, in.unit)
	q := new(big.Int).Quo(n.Num(), n.Denom())
	if q.BitLen() > 62 {
		return 1 << 62
	}
	return q.Int64()
}

// rat converts a number of units to a cost.
func (in *instance) rat(units int64) *big.Rat {
	return new(big.Rat).Mul(in.unit, new(big.Rat).SetInt64(units))
}

// bits is a set of edges.
type bits uint32

func (b bits) has(k int) bool { return b>>k&1 == 1 }

func (b bits) list() (rows []int) {
	for k := range MaxEdges {
		if b.has(k) {
			rows = append(rows, k)
		}
	}
	return rows
}

func bitsOf(rows []int) (b bits) {
	for _, k := range rows {
		b |= 1 << k
	}
	return b
}

// cost returns the cost of a plan.
func (in *instance) cost(edges bits, steps []int) int64 {
	sum := in.edgeCost(edges)
	for k, n := range steps {
		sum += in.options[k].cost * int64(n)
	}
	return sum
}

func (in *instance) edgeCost(edges bits) (sum int64) {
	for k, e := range in.edges {
		if edges.has(k) {
			sum += e.cost
		}
	}
	return sum
}

// choice returns a plan in the terms of the problem.
func (in *instance) choice(edges bits, steps []int) Choice {
	return Choice{Steps: slices.Clone(steps), Edges: edges.list()}
}

// resolve checks a choice and returns it as a set of edges and steps.
func (in *instance) resolve(c Choice) (edges bits, steps []int, err error) {
	steps = make([]int, len(in.options))
	if c.Steps != nil && len(c.Steps) != len(steps) {
		return 0, nil, input.Errorf("Choice.Steps", len(c.Steps), "%d numbers, one for each upgrade and new server",
			len(steps))
	}
	copy(steps, c.Steps)
	for k, n := range steps {
		if n < 0 || n > in.options[k].most {
			return 0, nil, input.Errorf(input.Index("Choice.Steps", k), n, "an integer from 0 to %d",
				in.options[k].most)
		}
	}
	for i, k := range c.Edges {
		if k < 0 || k >= len(in.edges) || i > 0 && k <= c.Edges[i-1] {
			return 0, nil, input.Errorf(input.Index("Choice.Edges", i), k, "rows of edges, increasing, below %d",
				len(in.edges))
		}
	}
	return bitsOf(c.Edges), steps, nil
}

// maxSteps returns the maximum number of steps of each option.
func (in *instance) maxSteps() []int {
	steps := make([]int, len(in.options))
	for k, o := range in.options {
		steps[k] = o.most
	}
	return steps
}

// cluster returns the cluster with a plan.
func (in *instance) cluster(edges bits, steps []int) *cluster.Model {
	m := *in.base.cluster
	m.Servers = slices.Clone(m.Servers)
	m.Classes = slices.Clone(m.Classes)
	add := func(class int, c cluster.Choice) {
		own := m.Classes[class].Servers
		m.Classes[class].Servers = append(own[:len(own):len(own)], c)
	}
	for k, o := range in.options {
		n := steps[k]
		switch {
		case n == 0:
		case o.count > 0:
			grow(&m, o.server, n*o.count)
		case o.server >= 0:
			more := new(big.Rat).SetInt64(int64(n))
			more.Mul(more, o.capacity)
			m.Servers[o.server].Capacity = more.Add(more, m.Servers[o.server].Capacity)
		default:
			for _, i := range in.usersOf(k, edges) {
				add(i, cluster.Choice{Server: len(m.Servers), Choose: n})
			}
			m.Servers = append(m.Servers, cluster.Server{Name: o.name, Count: n, Capacity: o.capacity})
		}
	}
	for k, e := range in.edges {
		if edges.has(k) && e.option < 0 {
			choice := e.choice
			if size := in.base.cluster.Servers[choice.Server].Size(); choice.Choose == size {
				choice.Choose = m.Servers[choice.Server].Size()
			}
			add(e.class, choice)
		}
	}
	return &m
}

// grow adds servers to a row. Classes that use all of it use the new ones as well.
func grow(m *cluster.Model, row, more int) {
	size := m.Servers[row].Size()
	m.Servers[row].Count = size + more
	for i := range m.Classes {
		for k, c := range m.Classes[i].Servers {
			if c.Server == row && c.Choose == size {
				m.Classes[i].Servers = slices.Clone(m.Classes[i].Servers)
				m.Classes[i].Servers[k].Choose = size + more
			}
		}
	}
}

// usersOf returns the classes that use the new servers of an option, with a set of edges.
func (in *instance) usersOf(option int, edges bits) []int {
	classes := slices.Clone(in.options[option].classes)
	for k, e := range in.edges {
		if edges.has(k) && e.option == option {
			classes = append(classes, e.class)
		}
	}
	return classes
}
