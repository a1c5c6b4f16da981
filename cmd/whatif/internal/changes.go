package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"productform/bf"
	"productform/cluster"
	"productform/internal/render"
	"productform/num"
)

// Changes lists single changes of a model that reduce the mean delay of all jobs, best first.
type Changes struct {
	Changes []Change `json:"changes"`
}

// A Change is a single change of a model.
type Change struct {
	Words   string     `json:"words"`
	Model   Model      `json:"model"`   // model after the change
	Total   float64    `json:"total"`   // relative change of the mean delay of all jobs
	Classes []*float64 `json:"classes"` // the same for each class; null without arrivals
}

// Limits on the numbers of changes that are solved and listed, by kind.
const (
	mostCapacities  = 3
	mostConnections = 24
	mostChanges     = 4 // plus the best capacity change, if all of them are connections
)

// changes tries 10 % more capacity for the servers with the largest gradients of the mean number of
// jobs, and connections from the classes with the longest delays to the servers with the lowest
// utilization. Each change is solved, so the listed effects are exact, but another single change
// may do better.
func changes(ctx context.Context, m *cluster.Model, load *big.Rat) (*Changes, error) {
	now := m.Scale(load)
	before, err := bf.Answer(ctx, now, bf.Question{Gradient: true}, settings())
	if errors.Is(err, num.ErrUnstable) || err == nil && before.MeanDelay == nil {
		return &Changes{}, nil
	}
	if err != nil {
		return nil, err
	}
	c := comparison{load, before}
	capacity, err := c.improvements(ctx, capacities(m, before.Gradient))
	if err != nil {
		return nil, err
	}
	connection, err := c.improvements(ctx, connections(m, before))
	if err != nil {
		return nil, err
	}
	told := slices.Concat(capacity, connection)
	slices.SortStableFunc(told, byTotal)
	told = told[:min(len(told), mostChanges)]
	if len(capacity) > 0 && byTotal(capacity[0], told[len(told)-1]) > 0 {
		told = append(told, capacity[0])
	}
	return &Changes{told}, nil
}

// A comparison solves changed models at a load.
type comparison struct {
	load   *big.Rat
	before *bf.Result
}

// improvements returns the changes that reduce the mean delay of all jobs, best first.
func (c comparison) improvements(ctx context.Context, tried []trial) ([]Change, error) {
	var list []Change
	for _, t := range tried {
		after, err := bf.Solve(ctx, t.model.Scale(c.load), settings())
		if err != nil {
			return nil, err
		}
		total := relative(after.MeanDelay, c.before.MeanDelay)
		change := Change{Words: t.words, Model: describe(t.model).Model, Total: *total}
		for i := range c.before.Classes {
			change.Classes = append(change.Classes, relative(after.Classes[i].MeanDelay, c.before.Classes[i].MeanDelay))
		}
		if change.Total < 0 {
			list = append(list, change)
		}
	}
	slices.SortStableFunc(list, byTotal)
	return list, nil
}

func byTotal(a, b Change) int { return cmp.Compare(a.Total, b.Total) }

// relative returns the relative change of a number, nil if there was no number before the change.
func relative(after, before *num.Value) *float64 {
	if before == nil {
		return nil
	}
	part := after.Float/before.Float - 1
	return &part
}

// A trial is a changed model.
type trial struct {
	words string
	model *cluster.Model
}

// capacities returns the models with 10 % more capacity in one row, for the rows with the largest
// gradients.
func capacities(m *cluster.Model, g *bf.Gradient) []trial {
	gain := func(row int) float64 {
		c, _ := m.Servers[row].Capacity.Float64()
		return g.Capacities[row].Float * c // negative
	}
	var tried []trial
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
		tried = append(tried, trial{words, &changed})
	}
	return tried
}

// connections returns the models with one more connection, for pairs of a class with a long delay
// and a server that is often idle.
func connections(m *cluster.Model, now *bf.Result) []trial {
	delay := func(i int) float64 {
		if d := now.Classes[i].MeanDelay; d != nil {
			return -d.Float
		}
		return 0
	}
	busy := func(row int) float64 { return now.Servers[row].Utilization.Float }
	var tried []trial
	for _, i := range best(len(m.Classes), delay) {
		for _, row := range best(len(m.Servers), busy) {
			has := slices.ContainsFunc(m.Classes[i].Servers, func(c cluster.Choice) bool { return c.Server == row })
			if has || now.Classes[i].MeanDelay == nil || len(tried) == mostConnections {
				continue
			}
			changed := *m
			changed.Classes = slices.Clone(m.Classes)
			changed.Classes[i].Servers = append(slices.Clone(m.Classes[i].Servers), cluster.Choice{
				Server: row,
				Choose: 1,
			})
			words := fmt.Sprintf("%s on %s as well", m.Classes[i].Name, m.Servers[row].Name)
			tried = append(tried, trial{words, &changed})
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
