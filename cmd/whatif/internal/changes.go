package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/bf"
	"productform/cluster"
	"productform/gang"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/oneserver"
)

// Changes lists single changes of a model that reduce a measure, those that reduce it most per unit
// of cost first.
type Changes struct {
	Measure string   `json:"measure"` // mean_delay, mean_waiting or abandon_probability, of all jobs
	Changes []Change `json:"changes"`
}

// A Change is a single change of a model.
type Change struct {
	Words   string     `json:"words"`
	Model   Model      `json:"model"`    // model after the change
	Total   float64    `json:"total"`    // relative change of the measure of all jobs
	Cost    float64    `json:"cost"`     // in units of the prices
	PerCost float64    `json:"per_cost"` // Total/Cost
	Classes []*float64 `json:"classes"`  // the same as Total for each class; null without arrivals

	kind changeKind
}

// Prices are the costs of changes. More capacity costs in proportion: 10 % for a row of n servers
// costs n/10 servers.
type Prices struct {
	Servers    []string `json:"servers"`    // for one more server, by row; none for 1 each
	Connection string   `json:"connection"` // for one more connection; "" for 1
}

type changeKind int

const (
	moreServers changeKind = iota
	moreCapacity
	moreConnections
	changeKinds
)

// Limits on the numbers of changes that are solved and listed.
const (
	mostRows        = 6 // one more server, by row
	mostCapacities  = 3
	mostConnections = 24
	mostChanges     = 4 // plus the best one of each kind
)

// changes tries one more server in a row, 10 % more capacity, and connections. Each change is
// solved, so the listed effects are exact, but another single change may do better.
//
// Capacities are tried for the servers with the largest gradients of the mean number of jobs, or
// the highest utilization; connections from the classes with the largest measures to the servers
// with the lowest utilization.
func changes(ctx context.Context, m *cluster.Model, load *big.Rat, p Prices) (*Changes, error) {
	prices, err := p.read(len(m.Servers))
	if err != nil {
		return nil, err
	}
	before, err := measure(ctx, m.Scale(load), "")
	switch {
	case errors.Is(err, num.ErrUnstable):
		return &Changes{Changes: []Change{}}, nil
	case err != nil:
		return nil, err
	}
	list := &Changes{Measure: before.name, Changes: []Change{}}
	if before.total == nil || *before.total == 0 {
		return list, nil
	}
	var all []Change
	for _, t := range trials(m, before, prices) {
		after, err := measure(ctx, t.model.Scale(load), before.name)
		var large *num.TooLargeError
		if errors.As(err, &large) || errors.Is(err, num.ErrUnstable) {
			continue
		}
		if err != nil {
			return nil, err
		}
		total := relative(after.total, before.total)
		if total == nil {
			continue
		}
		c := Change{Words: t.words, Model: describe(t.model).Model, Total: *total, Cost: t.cost, kind: t.kind}
		c.PerCost = c.Total / c.Cost
		for i := range before.classes {
			c.Classes = append(c.Classes, relative(after.classes[i], before.classes[i]))
		}
		if c.Total < 0 {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b Change) int { return cmp.Compare(a.PerCost, b.PerCost) })
	var listed [changeKinds]bool
	for i, c := range all {
		if i < mostChanges || !listed[c.kind] {
			listed[c.kind] = true
			list.Changes = append(list.Changes, c)
		}
	}
	return list, nil
}

// A priceList holds prices as numbers.
type priceList struct {
	servers    []float64
	connection float64
}

func (p Prices) read(rows int) (list priceList, err error) {
	read := func(path, text string) float64 {
		v, bad := num.ParseRat(cmp.Or(text, "1"))
		if bad == nil {
			if price := num.Nearest(v); 1e-100 <= price && price <= 1e100 {
				return price
			}
		}
		err = cmp.Or(err, error(input.Errorf(path, text, "a number from 1e-100 to 1e100")))
		return 1
	}
	list = priceList{slices.Repeat([]float64{1}, rows), read("prices.connection", p.Connection)}
	if n := len(p.Servers); n != 0 && n != rows {
		return list, input.Errorf("prices.servers", fmt.Sprintf("%d of them", n),
			"none, or one for each of %d rows", rows)
	}
	for row := range p.Servers {
		list.servers[row] = read(input.Index("prices.servers", row), p.Servers[row])
	}
	return list, err
}

// A measured holds the measure that changes are to reduce, and the numbers that choose them.
type measured struct {
	name    string
	total   *float64 // nil if no jobs arrive
	classes []*float64
	busy    []float64 // by row of servers
	gains   []float64 // by row, derivatives with respect to log capacities; nil if unknown
}

// measure solves a model. The measure is the one with the given name; by default the mean delay if
// jobs run on all their servers, otherwise the mean waiting time, or the fraction of jobs that give
// up if no job waits.
func measure(ctx context.Context, m *cluster.Model, name string) (*measured, error) {
	switch m.Theory() {
	case cluster.SeveralServers:
		return measureGangs(ctx, m)
	case cluster.Impatience:
		return measurePatience(ctx, m, name)
	case cluster.SingleServers:
		return measureOne(ctx, m)
	}
	return measureAll(ctx, m, name == "")
}

func measureGangs(ctx context.Context, m *cluster.Model) (*measured, error) {
	r, err := gang.Solve(ctx, m, gang.Settings{})
	if err != nil {
		return nil, err
	}
	return &measured{
		name: "mean_waiting", total: float(r.MeanWaiting),
		classes: collect(r.Classes, func(c gang.ClassResult) *float64 { return float(c.MeanWaiting) }),
		busy:    collect(r.Servers, func(s gang.ServerResult) float64 { return s.Utilization.Float }),
	}, nil
}

func measureOne(ctx context.Context, m *cluster.Model) (*measured, error) {
	r, err := oneserver.Answer(ctx, m, oneserver.Question{}, oneserver.Settings{MaxBytes: mostBytes})
	if err != nil {
		return nil, err
	}
	return &measured{
		name: "mean_waiting", total: float(r.MeanWaiting),
		classes: collect(r.Classes, func(c oneserver.ClassResult) *float64 { return float(c.MeanWaiting) }),
		busy:    collect(r.Servers, func(s oneserver.ServerResult) float64 { return s.Utilization.Float }),
	}, nil
}

func measurePatience(ctx context.Context, m *cluster.Model, name string) (*measured, error) {
	r, err := oneserver.SolvePatience(ctx, m, oneserver.PatienceSettings{MaxBytes: mostBytes, MaxWork: mostWork})
	if err != nil {
		return nil, err
	}
	a := &measured{
		name: "mean_waiting", total: r.MeanWaiting,
		classes: collect(r.Classes, func(c oneserver.PatienceClass) *float64 { return c.MeanWaiting }),
		busy:    collect(r.Servers, func(s oneserver.PatienceServer) float64 { return s.Utilization }),
	}
	if name == abandonment || name == "" && a.total != nil && *a.total == 0 {
		a.name, a.total = abandonment, r.AbandonProbability
		a.classes = collect(r.Classes, func(c oneserver.PatienceClass) *float64 { return c.AbandonProbability })
	}
	return a, nil
}

// measureAll also takes the gains of capacities if they are requested and not too large to compute.
func measureAll(ctx context.Context, m *cluster.Model, gains bool) (*measured, error) {
	r, err := bf.Answer(ctx, m, bf.Question{Gradient: gains}, settings())
	var large *num.TooLargeError
	if gains && errors.As(err, &large) { // delays alone need less
		r, err = bf.Answer(ctx, m, bf.Question{}, settings())
	}
	if err != nil {
		return nil, err
	}
	a := &measured{
		name: "mean_delay", total: float(r.MeanDelay),
		classes: collect(r.Classes, func(c bf.ClassResult) *float64 { return float(c.MeanDelay) }),
		busy:    collect(r.Servers, func(s bf.ServerResult) float64 { return s.Utilization.Float }),
	}
	if r.Gradient != nil {
		for row, s := range m.Servers {
			c, _ := s.Capacity.Float64()
			a.gains = append(a.gains, r.Gradient.Capacities[row].Float*c) // negative
		}
	}
	return a, nil
}

// collect returns a number of each row.
func collect[Row, Number any](rows []Row, number func(Row) Number) []Number {
	list := make([]Number, len(rows))
	for i, r := range rows {
		list[i] = number(r)
	}
	return list
}

func float(v *num.Value) *float64 {
	if v == nil {
		return nil
	}
	return &v.Float
}

// relative returns the relative change of a number, nil if there was no number, or 0, before the
// change, or if it is beyond float64.
func relative(after, before *float64) *float64 {
	if before == nil || *before == 0 {
		return nil
	}
	part := *after / *before - 1
	if math.IsInf(part, 0) {
		return nil
	}
	return &part
}

// A trial is a changed model.
type trial struct {
	kind  changeKind
	words string
	model *cluster.Model
	cost  float64
}

// trials returns the changes to try.
func trials(m *cluster.Model, now *measured, p priceList) []trial {
	tried := slices.Concat(servers(m, now, p), connections(m, now, p))
	if m.Service != cluster.Gang {
		tried = append(tried, capacities(m, now, p)...)
	}
	return tried
}

// servers returns the models with one more server in a row, for the busiest rows. A class that runs
// on the whole row also runs on the new server.
func servers(m *cluster.Model, now *measured, p priceList) (tried []trial) {
	const mostServers = 1_000_000
	for _, row := range best(len(m.Servers), func(row int) float64 { return -now.busy[row] }) {
		size := m.Servers[row].Size()
		if len(tried) == mostRows || now.busy[row] == 0 || size >= mostServers {
			continue
		}
		changed := *m
		changed.Servers, changed.Classes = slices.Clone(m.Servers), slices.Clone(m.Classes)
		changed.Servers[row].Count = size + 1
		for i := range changed.Classes {
			c := &changed.Classes[i]
			c.Servers = slices.Clone(c.Servers)
			for k := range c.Servers {
				if choice := &c.Servers[k]; choice.Server == row && choice.Choose == size && isWhole(m, size) {
					choice.Choose++
				}
			}
		}
		words := fmt.Sprintf("one more server %s (%d → %d)", m.Servers[row].Name, size, size+1)
		tried = append(tried, trial{moreServers, words, &changed, p.servers[row]})
	}
	return tried
}

// isWhole reports whether a class that names a row of this size means the whole row after a server
// is added: if a job runs on one of them, or if the row is a group.
func isWhole(m *cluster.Model, size int) bool { return m.Service == cluster.OneServer || size > 1 }

// capacities returns the models with 10 % more capacity in one row.
func capacities(m *cluster.Model, now *measured, p priceList) (tried []trial) {
	gain := func(row int) float64 { return -now.busy[row] }
	if now.gains != nil {
		gain = func(row int) float64 { return now.gains[row] }
	}
	for _, row := range best(len(m.Servers), gain)[:min(len(m.Servers), mostCapacities)] {
		if !(gain(row) < 0) {
			continue
		}
		more := new(big.Rat).Mul(m.Servers[row].Capacity, big.NewRat(11, 10))
		changed := *m
		changed.Servers = slices.Clone(m.Servers)
		changed.Servers[row].Capacity = more
		words := fmt.Sprintf("capacity of %s %s → %s",
			m.Servers[row].Name, render.SixRat(m.Servers[row].Capacity), render.SixRat(more))
		cost := p.servers[row] * float64(m.Servers[row].Size()) / 10
		tried = append(tried, trial{moreCapacity, words, &changed, cost})
	}
	return tried
}

// connections returns the models with one more connection, for pairs of a class with a large
// measure and a server that is often idle. A job that runs on all its servers gets one server of a
// group, and a job that runs on one gets the choice of the whole group.
func connections(m *cluster.Model, now *measured, p priceList) (tried []trial) {
	if m.Service == cluster.Gang {
		return nil
	}
	large := func(i int) float64 {
		if of := now.classes[i]; of != nil {
			return -*of
		}
		return 0
	}
	for _, i := range best(len(m.Classes), large) {
		for _, row := range best(len(m.Servers), func(row int) float64 { return now.busy[row] }) {
			s := m.Servers[row]
			has := slices.ContainsFunc(m.Classes[i].Servers, func(c cluster.Choice) bool { return c.Server == row })
			useless := m.Service == cluster.OneServer && s.Capacity.Sign() == 0
			if has || useless || now.classes[i] == nil || len(tried) == mostConnections {
				continue
			}
			choice := cluster.Choice{Server: row, Choose: 1}
			if m.Service == cluster.OneServer {
				choice.Choose = s.Size()
			}
			changed := *m
			changed.Classes = slices.Clone(m.Classes)
			changed.Classes[i].Servers = append(slices.Clone(m.Classes[i].Servers), choice)
			words := fmt.Sprintf("%s on %s as well", m.Classes[i].Name, s.Name)
			tried = append(tried, trial{moreConnections, words, &changed, p.connection})
		}
	}
	return tried
}

// best returns 0..n-1 in increasing order of a number.
func best(n int, number func(int) float64) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(number(a), number(b)) })
	return list
}
