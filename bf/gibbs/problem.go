package gibbs

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
	"productform/stability"
)

// A problem is a model prepared for sweeps: its parts, which share no servers, and how its rows
// relate to them.
type problem struct {
	model   *cluster.Model
	parts   []*part
	classes []classRow // one per row of the model's classes
	servers []serverRow
	rate    float64 // Σ λ_i
}

// A classRow maps a row of the model's classes to the class of the parts that includes it.
type classRow struct {
	class  int     // among the classes of all parts; -1 if its jobs never arrive
	rate   float64 // λ_i, jobs per unit of time
	size   float64 // σ_i/σ: one of its jobs brings as much work as this many jobs of mean size σ
	worked float64 // λ_i σ_i, work per unit of time
}

// A serverRow maps a row of the model's servers to the row of the parts that includes it.
type serverRow struct {
	row int // among the rows of all parts; -1 if it serves no jobs
	// added to the capacity of each server of the part's row per unit of this row's capacity, in
	// jobs per unit of time
	gain    float64
	reached []reachable // if its capacity is 0, the jobs that a server of the row could serve
}

// A reachable is the fraction of the jobs of a class that may be assigned to a server.
type reachable struct {
	class int // row of the model
	part  float64
}

// A part is a component of the model, in a unit of time that makes the total capacity of its
// servers 1.
type part struct {
	unit     float64   // its unit of time
	capacity []float64 // C_s of each single server
	// C_s minus the rates of the classes that have no other server: the hazard rate of T_s in the
	// long run
	last        []float64
	row         []int32 // row of each server
	rows        []groupRow
	classes     []class
	links       [][]link // by server: to the classes that have other servers and draw none
	uses        [][]use  // by server: uses by the classes that draw servers
	firstClass  int      // index of its first class among the classes of all parts
	firstRow    int
	startOrders [][]int32 // at most as many as there are chains
	exchanges   int       // proposed in each sweep
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

// A draw selects choose of the n servers of a row. It holds the probabilities that the drawn
// servers are among k given ones.
type draw struct {
	row    int
	choose int
	among  []float64 // C(k, d)/C(n, d), k = 0..n
	with   []float64 // probability that a given server is drawn, and d-1 among k of the others, k = 0..n-1
}

// A link leads from a server to a class that it serves.
type link struct {
	rate    float64
	servers []int32
	own     int // place of the server among them
}

// A use is a way in which a class uses a server: always, or by one of its draws.
type use struct {
	class int32
	draw  int32 // -1 for plain
}

// Limits on models.
const (
	widest     = 1e100 // largest ratio of two capacities
	maxServers = 1 << 20
	maxSteps   = 1e9 // largest number of steps of a sweep
)

// newProblem reduces a model that has passed its check. It returns an error if the model is
// unstable or too close to unstable.
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

// checkSize rejects a model with too many servers, or with classes that make a sweep too slow: for
// each server of a class, a sweep visits all servers of the class.
func checkSize(m *cluster.Model) error {
	servers, steps := 0, 0.0
	for s, row := range m.Servers {
		if servers += row.Size(); servers > maxServers {
			return &num.TooLargeError{Input: input.Errorf(input.Index("servers", s)+".count",
				row.Size(), "at most %d servers in total",
				maxServers)}
		}
	}
	for i, c := range m.Classes {
		n := 0.0
		for _, choice := range c.Servers {
			n += float64(m.Servers[choice.Server].Size())
		}
		if steps += n * n; steps > maxSteps {
			return &num.TooLargeError{States: steps, Input: input.Errorf(input.Index("classes", i)+".servers",
				fmt.Sprintf("%.0f servers", n),
				"classes of fewer servers: the sum of the squares of their numbers is at most %.0e", float64(maxSteps))}
		}
	}
	return nil
}

// checkStable returns an error if a model is unstable, or so close to it that rounding swamps the
// rates M(K) - λ(K). These are differences of sums of positive numbers, whose terms it counts. If
// the model is stable with rates 1+e times as large, they are at least M(K) e/(1+e), because (1+e)
// λ(A) < μ(A) <= M(K) for the classes A inside K.
func (p *problem) checkStable(ctx context.Context) error {
	const digits = 1e-10 // per term; the unit roundoff is 1.1e-16
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
		"a load of at most 1 - %.2g of the capacity: closer to it, float64 has too few digits", float64(terms)*digits)
}

// newPart converts a component to a part.
func newPart(m *cluster.Model) (*part, error) {
	total, least, most := 0.0, math.Inf(1), 0.0
	for _, row := range m.Servers {
		c := float(row.Capacity)
		total, least, most = total+float64(row.Size())*c, min(least, c), max(most, c)
	}
	if !(least*widest >= 1 && total <= widest && least*widest >= most) {
		return nil, input.Errorf("servers",
			fmt.Sprintf("capacities of %.3g to %.3g jobs per unit of time", least, most),
			"capacities and their quotients in [%.0e, %.0e]", 1/widest, widest)
	}
	a := &part{unit: 1 / total}
	for r, row := range m.Servers {
		a.rows = append(a.rows, groupRow{first: len(a.capacity), count: row.Size()})
		for range row.Size() {
			a.capacity = append(a.capacity, float(row.Capacity)*a.unit)
			a.row = append(a.row, int32(r))
		}
	}
	a.last = slices.Clone(a.capacity)
	a.links, a.uses = make([][]link, len(a.row)), make([][]use, len(a.row))
	for _, c := range m.Classes {
		a.addClass(m, c)
	}
	a.setStarts()
	return a, nil
}

// addClass adds a class to the part.
func (a *part) addClass(m *cluster.Model, c cluster.Class) {
	k := class{rate: float(c.ArrivalRate) * a.unit}
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
	number := int32(len(a.classes))
	// each job has one server: a row has at most one such class
	only := len(c.Servers) == 1 && c.Servers[0].Choose == 1
	k.alone = only && len(k.draws) == 1
	a.classes = append(a.classes, k)
	for s := range k.plain {
		if server := k.plain[s]; len(k.draws) > 0 {
			a.uses[server] = append(a.uses[server], use{number, -1})
		} else if len(k.plain) > 1 {
			a.links[server] = append(a.links[server], link{k.rate, k.plain, s})
		}
	}
	for d, draw := range k.draws {
		row := a.rows[draw.row]
		for s := row.first; s < row.first+row.count; s++ {
			a.uses[s] = append(a.uses[s], use{number, int32(d)})
		}
	}
	if only {
		row := a.rows[c.Servers[0].Server]
		each := new(big.Rat).Quo(c.ArrivalRate, big.NewRat(int64(row.count), 1))
		last := float(each.Sub(m.Servers[c.Servers[0].Server].Capacity, each)) * a.unit
		for s := row.first; s < row.first+row.count; s++ {
			a.last[s] = last
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

// findReached lists the jobs that servers of capacity 0 could serve.
func (p *problem) findReached() {
	for i, c := range p.model.Classes {
		if p.classes[i].class < 0 {
			continue
		}
		for _, choice := range c.Servers {
			if row := p.model.Servers[choice.Server]; row.Capacity.Sign() == 0 {
				to := &p.servers[choice.Server].reached
				*to = append(*to, reachable{i, float64(choice.Choose) / float64(row.Size())})
			}
		}
	}
}

// float returns the nearest float64, which may be infinite.
func float(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}

// isFinite reports whether x is a number.
func isFinite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }
