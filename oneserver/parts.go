package oneserver

import (
	"math/big"
	"strconv"

	"productform/cluster"
	"productform/internal/ranktable"
)

// A part is one component of a model: groups of equal servers, and classes that use no others.
type part struct {
	groups  []group
	classes []class
}

// A group is n equal servers: those of one row of the model, or of several rows of equal capacity
// that the same classes use as a whole.
type group struct {
	rows     []int
	n        int
	capacity *big.Rat // μ_s, jobs per unit of time
}

// A class draws servers from some groups of its part.
type class struct {
	row     int // its row in the model
	rate    *big.Rat
	choices []choice
}

// A choice is the number of servers that a job draws from a group.
type choice struct{ group, servers int }

// servers returns the number of servers of a part.
func (p *part) servers() int {
	sum := 0
	for _, g := range p.groups {
		sum += g.n
	}
	return sum
}

// choices returns the number of groups that the classes use, added up.
func (p *part) choices() int {
	sum := 0
	for _, c := range p.classes {
		sum += len(c.choices)
	}
	return sum
}

// draws returns the number of classes that draw some servers of a group.
func (p *part) draws() int {
	sum := 0
	for _, c := range p.classes {
		for _, k := range c.choices {
			if k.servers < p.groups[k.group].n {
				sum++
				break
			}
		}
	}
	return sum
}

// limits returns the numbers of servers of the groups.
func (p *part) limits() []int {
	list := make([]int, len(p.groups))
	for g := range list {
		list[g] = p.groups[g].n
	}
	return list
}

// split returns the parts of a model whose jobs have this mean size. Classes without arrivals and
// servers that no other class uses are in none.
func split(m *cluster.Model, size *big.Rat) []*part {
	arriving := make([]int, 0, len(m.Classes))
	for i := range m.Classes {
		if m.Classes[i].ArrivalRate.Sign() > 0 {
			arriving = append(arriving, i)
		}
	}
	root := components(m, arriving)
	users := make([][]byte, len(m.Servers)) // classes of each row, and whether they use all of it
	for _, i := range arriving {
		for _, c := range m.Classes[i].Servers {
			u := strconv.AppendInt(users[c.Server], int64(i), 10)
			if c.Choose < m.Servers[c.Server].Size() { // only this row
				u = append(u, '/')
				u = strconv.AppendInt(u, int64(c.Server), 10)
			}
			users[c.Server] = append(u, ' ')
		}
	}
	var parts []*part
	partOf, groupOf := make(map[int]*part), make([]int, len(m.Servers))
	known := make(map[string]int) // groups by users and capacity
	for s, row := range m.Servers {
		if users[s] == nil {
			continue
		}
		p := partOf[root[s]]
		if p == nil {
			p = new(part)
			partOf[root[s]] = p
			parts = append(parts, p)
		}
		key := string(users[s]) + row.Capacity.RatString()
		g, ok := known[key]
		if !ok {
			g = len(p.groups)
			known[key] = g
			p.groups = append(p.groups, group{capacity: new(big.Rat).Quo(row.Capacity, size)})
		}
		groupOf[s] = g
		p.groups[g].rows = append(p.groups[g].rows, s)
		p.groups[g].n += row.Size()
	}
	for _, i := range arriving {
		k := m.Classes[i]
		p := partOf[root[k.Servers[0].Server]]
		x := class{row: i, rate: k.ArrivalRate}
		for _, c := range k.Servers {
			if g := groupOf[c.Server]; p.groups[g].rows[0] == c.Server {
				servers := c.Choose
				if servers == m.Servers[c.Server].Size() {
					servers = p.groups[g].n
				}
				x.choices = append(x.choices, choice{g, servers})
			}
		}
		p.classes = append(p.classes, x)
	}
	return parts
}

// components returns, for each row of servers, a row of its component in the graph of some classes.
func components(m *cluster.Model, classes []int) []int {
	sets := ranktable.Singles(len(m.Servers))
	for _, i := range classes {
		servers := m.Classes[i].Servers
		for _, c := range servers {
			sets.Join(c.Server, servers[0].Server)
		}
	}
	root := make([]int, len(m.Servers))
	for s := range root {
		root[s] = sets.Root(s)
	}
	return root
}
