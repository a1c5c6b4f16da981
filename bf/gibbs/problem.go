package gibbs

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
	"productform/stability"
)

// A problem is a model as chains sweep it: its parts that share no server, and what its rows have to do with them.
type problem struct {
	model   *cluster.Model
	parts   []*part
	classes []classRow // one a row of the model's classes
	servers []serverRow
	rate    float64 // Σ λ_i
}

// A classRow says of which class of the parts a row of the model has a share.
type classRow struct {
	class  int     // among the classes of all parts; -1 if its jobs never arrive
	rate   float64 // λ_i, jobs per unit of time
	size   float64 // σ_i/σ; its jobs bring as much work as this many of mean size σ
	worked float64 // λ_i σ_i, work per unit of time
}

// A serverRow says of which row of the parts a row of the model is a part.
type serverRow struct {
	row     int       // among the rows of all parts; -1 if it carries nothing
	gain    float64   // by which a capacity of the row adds to that of each server of the row of the part, in jobs per unit of time
	reached []reaches // if its capacity is 0, the jobs that a server of the row could serve
}

// A reaches says which part of the jobs of a class may be assigned to a server.
type reaches struct {
	class int // row of the model
	part  float64
}

// A part is a component of the model, in units of time in which the capacity of all its servers together is 1.
type part struct {
	unit        float64   // of its time
	capacity    []float64 // C_s of each single server
	last        []float64 // C_s less the rates of the classes that have no other server: the rate at which T_s ends in the long run
	row         []int32   // row of each server
	rows        []groupRow
	classes     []class
	links       [][]link // of each server, to the classes that have other servers and draw none
	uses        [][]use  // of each server, by the classes that draw servers
	firstClass  int      // of its classes among those of all parts
	firstRow    int
	rateOfAll   float64 // Σ λ_i
	startOrders [2][]int32
}

// A groupRow is a single server or a group of equal ones.
type groupRow struct {
	first, count int  // its servers
	drawn        bool // some class draws servers from it
}

// A class is served by the servers of plain, and by servers drawn from groups.
type class struct {
	rate  float64
	plain []int32
	draws []draw
	alone bool // each job has one server
}

// A draw is that of choose servers of a row of n. It gives the probabilities that those drawn are among k of them.
type draw struct {
	row    int
	choose int
	among  []float64 // C(k, d)/C(n, d), k = 0..n
	with   []float64 // that they are a given server and d-1 among k of the others, k = 0..n-1
}

// A link leads from a server to a class, of which it has the other servers.
type link struct {
	rate   float64
	others []int32
}

// A use says that a class uses a server: as one of those that it always has, or by one of its draws.
type use struct {
	class int32
	draw  int32 // -1 for plain
}

// Limits of what is estimated.
const (
	widest     = 1e100 // the largest capacity of a part over the least
	maxServers = 1 << 20
	maxLinks   = 1 << 26 // of servers and classes
	maxRises   = 1e9     // in a sweep
)

// newProblem reduces a model that has passed its check. It is an error if the model is unstable, or too near to it.
func newProblem(ctx context.Context, m *cluster.Model) (*problem, error) {
	equal := m.EqualSizes()
	p := &problem{model: m, classes: make([]classRow, len(m.Classes)), servers: make([]serverRow, len(m.Servers))}
	if err := checkSize(m); err != nil {
		return nil, err
	}
	for i, c := range m.Classes {
		size := new(big.Rat).Quo(m.MeanSizeOf(i), num.OrOne(equal.MeanSize))
		p.classes[i] = classRow{class: -1, rate: float(c.ArrivalRate), size: float(size), worked: float(m.Work(i))}
		p.rate += p.classes[i].rate
	}
	for s := range p.servers {
		p.servers[s].row = -1
	}
	components, err := equal.Reduce(ctx)
	if err != nil {
		return nil, err
	}
	classes, rows := 0, 0
	for k := range components {
		c := &components[k]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, err := newPart(&c.Model)
		if err != nil {
			return nil, err
		}
		a.firstClass, a.firstRow = classes, rows
		for i, list := range c.Classes {
			for _, row := range list {
				p.classes[row].class = classes + i
			}
		}
		for s, list := range c.Servers {
			for _, row := range list {
				times := big.NewRat(int64(equal.Servers[row].Size()/c.Model.Servers[s].Size()), 1)
				p.servers[row] = serverRow{row: rows + s, gain: float(times.Quo(times, num.OrOne(equal.MeanSize)))}
			}
		}
		classes, rows = classes+len(c.Classes), rows+len(c.Servers)
		p.parts = append(p.parts, a)
	}
	p.findReached()
	return p, p.checkStable(ctx)
}

// checkSize refuses a model whose servers, or whose links of servers and classes, are too many to be looked at one by one.
func checkSize(m *cluster.Model) error {
	servers, links, rises := 0, 0, 0.0
	for s, row := range m.Servers {
		if servers += row.Size(); servers > maxServers {
			return &num.TooLargeError{Input: input.Errorf(input.Index("servers", s), row.Size(), "at most %d servers in all", maxServers)}
		}
	}
	for i, c := range m.Classes {
		drawn, all := 0.0, 0.0
		for _, choice := range c.Servers {
			n := m.Servers[choice.Server].Size()
			links += n
			all += float64(n)
			if choice.Choose < n {
				drawn += float64(n)
			}
		}
		if rises += all * (1 + drawn); rises > maxRises || links > maxLinks {
			return &num.TooLargeError{States: rises, Input: input.Errorf(input.Index("classes", i)+".servers", fmt.Sprintf("%.3g servers", all),
				"classes that use at most %d servers in all, and whose draws take at most %.0e steps, the servers times those of the groups drawn from",
				maxLinks, maxRises)}
		}
	}
	return nil
}

// checkStable returns an error if a model is unstable, or so nearly that the rates M(K) - λ(K) are lost in rounding. These are
// differences of sums of positive numbers, of which it counts the terms: where the model is stable with rates 1+e times as large, they
// are at least M(K) e/(1+e), as for the classes A inside K, (1+e) λ(A) < μ(A) <= M(K).
func (p *problem) checkStable(ctx context.Context) error {
	const digits = 1e-10 // for each term; the unit of rounding is 1.1e-16
	terms := 0
	for _, a := range p.parts {
		terms += len(a.capacity) + len(a.classes)
		for _, uses := range a.uses {
			terms += len(uses)
		}
	}
	e := big.NewRat(int64(terms), int64(1/digits))
	near, err := stability.Overload(ctx, p.model.Scale(e.Add(e, big.NewRat(1, 1))))
	if err != nil || near == nil {
		return err
	}
	u, err := stability.Overload(ctx, p.model)
	switch {
	case err != nil:
		return err
	case u != nil:
		return u
	}
	load := new(big.Rat).Quo(near.ArrivalRate, e)
	return input.Errorf("model", fmt.Sprintf("a load of 1 - %.2g", 1-float(load.Quo(load, near.Capacity))),
		"a load of at most 1 - %.2g of what it can bear, since doubles lose what is left", float64(terms)*digits)
}

// newPart lays out a component.
func newPart(m *cluster.Model) (*part, error) {
	total, least := new(big.Rat), m.Servers[0].Capacity
	for _, row := range m.Servers {
		size := new(big.Rat).SetInt64(int64(row.Size()))
		total.Add(total, size.Mul(size, row.Capacity))
		if row.Capacity.Cmp(least) < 0 {
			least = row.Capacity
		}
	}
	relative := func(x *big.Rat) *big.Rat { return new(big.Rat).Quo(x, total) }
	unit := float(new(big.Rat).Inv(total))
	if !(float(relative(least))*widest >= 1 && unit*widest >= 1 && unit <= widest) {
		return nil, input.Errorf("servers", fmt.Sprintf("capacities of %.3g to %.3g jobs per unit of time", float(least), 1/unit),
			"capacities and their quotients in [%.0e, %.0e]", 1/widest, widest)
	}
	a := &part{unit: unit}
	last := []*big.Rat{}
	for r, row := range m.Servers {
		a.rows = append(a.rows, groupRow{first: len(a.capacity), count: row.Size()})
		for range row.Size() {
			a.capacity = append(a.capacity, float(relative(row.Capacity)))
			last = append(last, relative(row.Capacity))
			a.row = append(a.row, int32(r))
		}
	}
	a.links, a.uses = make([][]link, len(last)), make([][]use, len(last))
	for _, c := range m.Classes {
		a.addClass(c, relative(c.ArrivalRate), last)
	}
	for _, x := range last {
		a.last = append(a.last, float(x))
	}
	a.setStarts()
	return a, nil
}

// addClass adds a class to the part, of whose servers last has C_s less the rates of classes that have no other.
func (a *part) addClass(c cluster.Class, rate *big.Rat, last []*big.Rat) {
	k := class{rate: float(rate)}
	for _, choice := range c.Servers {
		row := &a.rows[choice.Server]
		if choice.Choose == row.count {
			for s := range row.count {
				k.plain = append(k.plain, int32(row.first+s))
			}
			continue
		}
		row.drawn = true
		k.draws = append(k.draws, newDraw(choice.Server, row.count, choice.Choose))
	}
	k.alone = len(k.plain) == 0 && len(k.draws) == 1 && k.draws[0].choose == 1
	number := int32(len(a.classes))
	a.classes = append(a.classes, k)
	a.rateOfAll += k.rate
	if len(k.draws) == 0 {
		if len(k.plain) == 1 {
			last[k.plain[0]].Sub(last[k.plain[0]], rate)
			return
		}
		for j, s := range k.plain {
			others := make([]int32, 0, len(k.plain)-1)
			others = append(append(others, k.plain[:j]...), k.plain[j+1:]...)
			a.links[s] = append(a.links[s], link{k.rate, others})
		}
		return
	}
	for _, s := range k.plain {
		a.uses[s] = append(a.uses[s], use{number, -1})
	}
	for d, draw := range k.draws {
		row := a.rows[draw.row]
		for s := row.first; s < row.first+row.count; s++ {
			a.uses[s] = append(a.uses[s], use{number, int32(d)})
			if k.alone {
				last[s].Sub(last[s], new(big.Rat).Quo(rate, big.NewRat(int64(row.count), 1)))
			}
		}
	}
}

// newDraw returns the draw of d of the n servers of a row.
func newDraw(row, n, d int) draw {
	w := draw{row: row, choose: d, among: make([]float64, n+1), with: make([]float64, n)}
	w.among[n], w.with[n-1] = 1, float64(d)/float64(n)
	for k := n; k >= d; k-- {
		w.among[k-1] = w.among[k] * float64(k-d) / float64(k)
	}
	for k := n - 1; k >= d && k > 0; k-- {
		w.with[k-1] = w.with[k] * float64(k-(d-1)) / float64(k)
	}
	return w
}

// setStarts sets the orders in which the servers die where chains start: the least loaded first, and last. The load of a server is
// here that of its classes, shared equally among their servers.
func (a *part) setStarts() {
	load := make([]float64, len(a.capacity))
	for _, c := range a.classes {
		servers := len(c.plain)
		for _, d := range c.draws {
			servers += d.choose
		}
		each := c.rate / float64(servers)
		for _, s := range c.plain {
			load[s] += each / a.capacity[s]
		}
		for _, d := range c.draws {
			row := a.rows[d.row]
			for s := row.first; s < row.first+row.count; s++ {
				load[s] += each * float64(d.choose) / float64(row.count) / a.capacity[s]
			}
		}
	}
	for k := range a.startOrders {
		order := make([]int32, len(load))
		keys := make([]death, len(load))
		for s := range keys {
			keys[s] = death{load[s] * float64(1-2*k), int32(s)}
		}
		sortDeaths(keys)
		for j, key := range keys {
			order[j] = key.server
		}
		a.startOrders[k] = order
	}
}

// findReached lists the jobs that servers of capacity 0 could serve.
func (p *problem) findReached() {
	for i, c := range p.model.Classes {
		if p.classes[i].class < 0 {
			continue
		}
		for _, choice := range c.Servers {
			if row := p.model.Servers[choice.Server]; row.Capacity.Sign() == 0 {
				to := &p.servers[choice.Server].reached
				*to = append(*to, reaches{i, float64(choice.Choose) / float64(row.Size())})
			}
		}
	}
}

// float returns the nearest double, which may be infinite.
func float(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}

// isFinite reports whether x is a number.
func isFinite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }
