package windows

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"productform/bf"
	"productform/cluster"
	"productform/num"
)

// A component is a component of a reduced model, with the bounds found so far.
type component struct {
	model   *cluster.Model
	servers int     // maximum number of servers of a window
	uses    [][]int // classes of each row of servers
	bounds  []bracket
	solved  map[string]bool // whether each cluster solved so far is stable
}

func newComponent(m *cluster.Model, servers int) *component {
	c := &component{
		model:   m,
		servers: servers,
		uses:    make([][]int, len(m.Servers)),
		bounds:  make([]bracket, len(m.Classes)),
		solved:  map[string]bool{},
	}
	for i, class := range m.Classes {
		c.bounds[i].low = new(big.Rat)
		for _, choice := range class.Servers {
			c.uses[choice.Server] = append(c.uses[choice.Server], i)
		}
	}
	return c
}

// bound finds bounds on the mean delay of class i.
func (c *component) bound(ctx context.Context, i int) error {
	near, own := c.nearestServers(i)
	if own > len(near) {
		c.bounds[i].raise(c.isolatedDelay(i))
	} else if _, err := c.solve(ctx, i, near, false); err != nil {
		return err
	}
	for n := len(near); n > 0; n-- {
		if stable, err := c.solve(ctx, i, near[:n], true); err != nil || stable {
			return err
		}
	}
	return nil
}

// nearestServers lists the servers of a window by their rows: first those of a job of class i, then
// their neighbours. A job of the class has own servers; if the window is smaller, only the first
// are listed. Servers of a group are interchangeable, so a job may have any of them.
func (c *component) nearestServers(i int) (list []int, own int) {
	taken := map[int]int{}
	take := func(row, n int) {
		n = min(n, c.servers-len(list))
		taken[row] += n
		list = append(list, slices.Repeat([]int{row}, n)...)
	}
	var rows []int
	for _, choice := range c.model.Classes[i].Servers {
		own += choice.Choose
		take(choice.Server, choice.Choose)
		rows = append(rows, choice.Server)
	}
	for k := 0; k < len(rows) && len(list) < c.servers; k++ {
		row := rows[k]
		take(row, c.model.Servers[row].Size()-taken[row])
		for _, j := range c.uses[row] {
			for _, choice := range c.model.Classes[j].Servers {
				if _, known := taken[choice.Server]; !known {
					taken[choice.Server] = 0
					rows = append(rows, choice.Server)
				}
			}
		}
	}
	return list, own
}

// isolatedDelay returns the mean delay of a job of class i on its servers without any jobs of other
// classes. Other jobs of class i are included if all have the same servers.
func (c *component) isolatedDelay(i int) *big.Rat {
	free, whole := new(big.Rat), true
	for _, choice := range c.model.Classes[i].Servers {
		row := c.model.Servers[choice.Server]
		whole = whole && choice.Choose == row.Size()
		free.Add(free, new(big.Rat).Mul(big.NewRat(int64(choice.Choose), 1), row.Capacity))
	}
	if whole {
		free.Sub(free, c.model.Classes[i].ArrivalRate)
	}
	return free.Inv(free)
}

// solve solves the cluster of a window and records the resulting bounds: lower bounds, or upper
// bounds if restricted limits classes with servers outside to those inside. It reports whether the
// cluster is stable. The window holds all servers of a job of class i, or only some of them and no
// others.
func (c *component) solve(ctx context.Context, i int, list []int, restricted bool) (stable bool, err error) {
	w := c.newWindow(list, restricted)
	key := fmt.Sprint(w.inside, restricted)
	if stable, known := c.solved[key]; known && (!stable || w.holds(c.model.Classes[i])) {
		return stable, nil
	}
	places := map[int]int{} // rows of classes in the window's model
	for _, row := range w.rows {
		for _, j := range c.uses[row] {
			if _, known := places[j]; known {
				continue
			}
			w.add(c.model.Classes[j])
			places[j] = -1
			if j == i || w.holds(c.model.Classes[j]) {
				places[j] = len(w.model.Classes) - 1
			}
		}
	}
	r, err := bf.Solve(ctx, &w.model, bf.Settings{RelTol: 1e-6})
	if restricted && errors.Is(err, num.ErrUnstable) {
		c.solved[key] = false
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.solved[key] = true
	off := new(big.Rat).SetFloat64(r.RelativeErrorBound)
	within := new(big.Rat).Sub(big.NewRat(1, 1), off)
	for j, place := range places {
		if place < 0 {
			continue
		}
		delay := new(big.Rat).SetFloat64(r.Classes[place].MeanDelay.Float)
		if restricted {
			c.bounds[j].lower(delay.Quo(delay, within))
		} else {
			c.bounds[j].raise(delay.Mul(delay, within))
		}
	}
	return true, nil
}
