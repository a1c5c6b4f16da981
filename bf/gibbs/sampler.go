package gibbs

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// A sampler draws the lifetimes of the servers of a part, sweep after sweep.
type sampler struct {
	*order
	random   *rand.Rand
	life     []float64 // T_s
	idle     []float64 // p_s(0)/C_s of each server given the other lifetimes, from the last sweep
	byRow    [][]int32 // the servers of each row drawn from, by lifetime
	rises    []rise    // rises for the last server updated
	more     []rise    // scratch
	merged   []rise    // scratch
	given    conditional
	cursors  []cursor
	proposed *order       // scratch of exchange
	weights  blockWeights // scratch of exchange
}

// newSampler returns a sampler that starts at an order and draws from the given random numbers.
func newSampler(p *part, start []int32, random *rand.Rand) *sampler {
	n := len(p.capacity)
	s := &sampler{order: newOrder(p), random: random, life: make([]float64, n), idle: make([]float64, n),
		byRow: make([][]int32, len(p.rows)), proposed: newOrder(p), weights: newBlockWeights(n)}
	for k, server := range start {
		s.deaths[k].server = server
	}
	s.set()
	s.redrawLifetimes()
	return s
}

// redrawLifetimes redraws all lifetimes given the order of deaths.
func (s *sampler) redrawLifetimes() {
	t := 0.0
	for r := range s.byRow {
		s.byRow[r] = s.byRow[r][:0]
	}
	for k := range s.deaths {
		t += s.random.ExpFloat64() / s.slack[k]
		server := s.deaths[k].server
		s.deaths[k].at, s.life[server] = t, t
		if r := s.row[server]; s.rows[r].drawn {
			s.byRow[r] = append(s.byRow[r], server)
		}
	}
}

// sweep draws each lifetime given the others, proposes exchanges of blocks if some stand out, and
// draws all lifetimes given their order. The error is ctx.Err().
func (s *sampler) sweep(ctx context.Context) error {
	const serversPerLook = 64
	for server := range s.life {
		if server%serversPerLook == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		s.update(int32(server))
	}
	for k := range s.deaths {
		d := &s.deaths[k]
		d.at = s.life[d.server]
	}
	sortDeaths(s.deaths)
	s.set()
	for range s.exchanges {
		s.exchange()
	}
	s.redrawLifetimes()
	return nil
}

// update draws one lifetime given the others.
func (s *sampler) update(server int32) {
	rises := s.rises[:0]
	for _, l := range s.links[server] {
		at := math.Inf(1)
		for _, o := range l.servers[:l.own] {
			at = min(at, s.life[o])
		}
		for _, o := range l.servers[l.own+1:] {
			at = min(at, s.life[o])
		}
		rises = append(rises, rise{at, l.rate})
	}
	sortRises(rises)
	for _, u := range s.uses[server] {
		if !s.classes[u.class].alone {
			s.more = s.risesOf(s.more[:0], server, u)
			s.merged = merge(s.merged[:0], rises, s.more)
			rises, s.merged = s.merged, rises
		}
	}
	t, atZero := s.given.draw(rises, s.last[server], s.random)
	s.rises = rises
	s.idle[server] = atZero / s.capacity[server]
	before := s.life[server]
	s.life[server] = t
	if r := s.row[server]; s.rows[r].drawn {
		s.move(s.byRow[r], server, before)
	}
}

// move moves a server to its new place in its row; before is its previous lifetime.
func (s *sampler) move(row []int32, server int32, before float64) {
	k, _ := slices.BinarySearchFunc(row, before, func(o int32, t float64) int {
		at := s.life[o]
		if o == server {
			at = before
		}
		switch {
		case at < t:
			return -1
		case at > t:
			return 1
		}
		return 0
	})
	for row[k] != server { // after others with the same lifetime
		k++
	}
	for ; k > 0 && s.life[row[k-1]] > s.life[server]; k-- {
		row[k] = row[k-1]
	}
	for ; k+1 < len(row) && s.life[row[k+1]] < s.life[server]; k++ {
		row[k] = row[k+1]
	}
	row[k] = server
}

// A cursor iterates over the servers of a row by lifetime.
type cursor struct {
	servers []int32
	parts   []float64 // probability that the drawn servers are alive, by the number of servers alive
	alive   int
}

// risesOf appends, in order, the times at which deaths of other servers end ways to serve a class
// that include the given server, each with the rate of these ways.
func (s *sampler) risesOf(rises []rise, server int32, u use) []rise {
	c := &s.classes[u.class]
	end := math.Inf(1)
	for _, o := range c.plain {
		if o != server {
			end = min(end, s.life[o])
		}
	}
	s.cursors = s.cursors[:0]
	for d := range c.draws {
		draw := &c.draws[d]
		x := cursor{s.byRow[draw.row], draw.among, len(draw.among) - 1}
		if int32(d) == u.draw {
			x.parts, x.alive = draw.with, len(draw.with)-1
		}
		s.cursors = append(s.cursors, x)
	}
	within := s.allAlive()
	for {
		next, at := s.nextDeath(server)
		if next == nil || at >= end {
			break
		}
		next.servers = next.servers[1:]
		next.alive--
		after := s.allAlive()
		rises = append(rises, rise{at, c.rate * (within - after)})
		if within = after; within == 0 {
			return rises
		}
	}
	if end < math.Inf(1) {
		rises = append(rises, rise{end, c.rate * within})
	}
	return rises
}

// allAlive returns the probability that all drawn servers are alive.
func (s *sampler) allAlive() float64 {
	p := 1.0
	for _, c := range s.cursors {
		p *= c.parts[c.alive]
	}
	return p
}

// nextDeath returns the row in which a server other than this one dies next, nil if none is left.
func (s *sampler) nextDeath(but int32) (next *cursor, at float64) {
	at = math.Inf(1)
	for k := range s.cursors {
		c := &s.cursors[k]
		if len(c.servers) > 0 && c.servers[0] == but {
			c.servers = c.servers[1:]
		}
		if len(c.servers) > 0 && s.life[c.servers[0]] < at {
			next, at = c, s.life[c.servers[0]]
		}
	}
	return next, at
}
