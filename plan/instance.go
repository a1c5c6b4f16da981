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
	base    *cluster.Model // with the arrival rates scaled
	options []option       // upgrades, then new servers
	edges   []edge
	targets []target
	unit    *big.Rat // all costs are whole multiples of it
	aim     int      // row of the class to minimize, -1 for all jobs
}

// An option is something of which a number of steps can be bought.
type option struct {
	server   int   // row whose capacity grows; -1 for new servers
	classes  []int // of new servers
	name     string
	capacity *big.Rat // of a step
	cost     int64
	most     int
}

// An edge leads to a server of the model or, if option is not negative, to the new servers of that option, as many as are bought.
type edge struct {
	class  int
	choice cluster.Choice // of a server of the model
	option int
	cost   int64
}

// A target is a [Target] with rows for names; limit is that on P(T > delay) for a percentile.
type target struct {
	measure   Measure
	row       int // of the class or server, -1 for all jobs
	limit     *big.Rat
	low, high float64  // doubles around the limit
	delay     *big.Rat // of a percentile
	level     *big.Rat // of a percentile, in (0, 1)
}

// newInstance checks a problem and resolves it.
func newInstance(p *Problem) (*instance, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	in := &instance{Problem: p, base: p.Model.Scale(num.OrOne(p.Scale)), aim: -1}
	if p.Minimize != "" {
		in.aim, _ = p.class("", p.Minimize)
	}
	for _, t := range p.Targets {
		in.targets = append(in.targets, p.target(t))
	}
	var costs []*big.Rat
	for _, u := range p.Upgrades {
		costs = append(costs, u.Cost)
	}
	for _, s := range p.NewServers {
		costs = append(costs, s.Cost)
	}
	for _, e := range p.Edges {
		costs = append(costs, e.Cost)
	}
	whole, err := in.wholeCosts(costs)
	if err != nil {
		return nil, err
	}
	for _, u := range p.Upgrades {
		s, _ := p.server("", u.Server)
		in.options = append(in.options, option{server: s, name: u.Server, capacity: u.Step, cost: whole[len(in.options)], most: u.Most})
	}
	for _, s := range p.NewServers {
		o := option{server: -1, name: s.Name, capacity: s.Capacity, cost: whole[len(in.options)], most: s.Most}
		for _, name := range s.Classes {
			i, _ := p.class("", name)
			o.classes = append(o.classes, i)
		}
		in.options = append(in.options, o)
	}
	for k, e := range p.Edges {
		i, _ := p.class("", e.Class)
		in.edges = append(in.edges, edge{class: i, option: -1, cost: whole[len(in.options)+k]})
		to := &in.edges[k]
		if added := p.newServer(e.Server); added >= 0 {
			to.option = len(p.Upgrades) + added
		} else {
			s, _ := p.server("", e.Server)
			to.choice = cluster.Choice{Server: s, Choose: max(e.Choose, 1)}
		}
	}
	return in, nil
}

// target resolves a target, with doubles around its limit.
func (p *Problem) target(t Target) target {
	r := target{measure: t.Measure, row: -1, limit: t.Limit}
	switch {
	case t.Measure == Utilization:
		r.row, _ = p.server("", t.Server)
	case t.Class != "":
		r.row, _ = p.class("", t.Class)
	}
	if t.Measure == Percentile {
		r.delay, r.level = t.Limit, new(big.Rat).Quo(t.Level, hundred)
		r.limit = new(big.Rat).Sub(one, r.level)
	}
	r.low, r.high = arithmetic.Around(r.limit)
	return r
}

// wholeCosts sets the unit and returns costs as multiples of it.
func (in *instance) wholeCosts(costs []*big.Rat) ([]int64, error) {
	refused := func(k int) error {
		path := input.Index("edges", k-len(in.Upgrades)-len(in.NewServers))
		switch u := len(in.Upgrades); {
		case k < u:
			path = input.Index("upgrades", k)
		case k < u+len(in.NewServers):
			path = input.Index("new_servers", k-u)
		}
		return input.Errorf(path+".cost", costs[k].RatString(), "costs that add up to at most 2^62 of their common unit: fewer digits, or multiples of one fraction")
	}
	denominator := big.NewInt(1)
	for k, c := range costs {
		if num.JoinDenominator(denominator, c); denominator.BitLen() > 62 {
			return nil, refused(k)
		}
	}
	in.unit = new(big.Rat).SetFrac(big.NewInt(1), denominator)
	total := new(big.Rat)
	most := func(k int) int64 {
		switch u := len(in.Upgrades); {
		case k < u:
			return int64(in.Upgrades[k].Most)
		case k < u+len(in.NewServers):
			return int64(in.NewServers[k-u].Most)
		}
		return 1
	}
	whole := make([]int64, len(costs))
	for k, c := range costs {
		n := new(big.Rat).Quo(c, in.unit)
		total.Add(total, new(big.Rat).Mul(n, big.NewRat(most(k), 1)))
		if total.Num().BitLen() > 62 {
			return nil, refused(k)
		}
		whole[k] = n.Num().Int64()
	}
	return whole, nil
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

// rat returns a number of units as a cost.
func (in *instance) rat(units int64) *big.Rat {
	return new(big.Rat).Mul(in.unit, new(big.Rat).SetInt64(units))
}

// A bits holds a set of edges.
type bits uint32

func (b bits) has(k int) bool { return b>>k&1 == 1 }

func (b bits) list() (rows []int) {
	for k := range maxEdges {
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

// cost returns that of a plan.
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

// choice returns a plan in the words of the problem.
func (in *instance) choice(edges bits, steps []int) Choice {
	return Choice{Steps: slices.Clone(steps), Edges: edges.list()}
}

// resolve checks a choice and returns it as a set of edges and steps.
func (in *instance) resolve(c Choice) (edges bits, steps []int, err error) {
	steps = make([]int, len(in.options))
	if c.Steps != nil && len(c.Steps) != len(steps) {
		return 0, nil, input.Errorf("Choice.Steps", len(c.Steps), "%d numbers, one for each upgrade and new server", len(steps))
	}
	copy(steps, c.Steps)
	for k, n := range steps {
		if n < 0 || n > in.options[k].most {
			return 0, nil, input.Errorf(input.Index("Choice.Steps", k), n, "an integer from 0 to %d", in.options[k].most)
		}
	}
	for i, k := range c.Edges {
		if k < 0 || k >= len(in.edges) || i > 0 && k <= c.Edges[i-1] {
			return 0, nil, input.Errorf(input.Index("Choice.Edges", i), k, "rows of edges, increasing, below %d", len(in.edges))
		}
	}
	return bitsOf(c.Edges), steps, nil
}

// most returns the most steps of each option.
func (in *instance) most() []int {
	steps := make([]int, len(in.options))
	for k, o := range in.options {
		steps[k] = o.most
	}
	return steps
}

// model returns the cluster with a plan.
func (in *instance) model(edges bits, steps []int) *cluster.Model {
	m := *in.base
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
			add(e.class, e.choice)
		}
	}
	return &m
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

// Apply returns the model of the problem with a plan: its rates scaled, its capacities raised, new servers after the
// others, each kind as a group that its classes choose whole, and edges added, to new servers where there are any. Parts may be
// shared with the problem's.
func (p *Problem) Apply(c Choice) (*cluster.Model, error) {
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	edges, steps, err := in.resolve(c)
	if err != nil {
		return nil, err
	}
	return in.model(edges, steps), nil
}

// Cost returns what a plan costs.
func (p *Problem) Cost(c Choice) (*big.Rat, error) {
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	edges, steps, err := in.resolve(c)
	if err != nil {
		return nil, err
	}
	return in.rat(in.cost(edges, steps)), nil
}
