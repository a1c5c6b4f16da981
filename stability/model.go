package stability

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
)

// maxDenominatorBits is the maximum number of bits of the common denominator times the number of
// numbers brought to it: 1 GB.
const maxDenominatorBits int64 = 1 << 33

// A graph is a model in integers: rates and capacities are multiples of 1/unit. Classes with the
// same choices are merged, a group of servers becomes one server of the summed capacity, and
// servers without capacity are omitted.
//
// Such a graph has the critical scale of its model. If the combinations of a class can divide their
// work among servers without overload, this remains true after averaging over all permutations of
// equal servers. Then each combination of a class gives the same amount to each server of a group,
// and only the total that the class gives to the group matters.
type graph struct {
	model    *cluster.Model
	work     []*big.Rat // λ_i of each row of classes
	total    []*big.Rat // total capacity of each row of servers
	unit     *big.Int
	server   []int      // row of a server of the network
	index    []int32    // server of the network for each row, or -1
	capacity []*big.Int // capacity of each server of the network
	class    []int32    // class of the network of a row
	rows     [][]int    // rows of a class of the network: those with λ_i > 0, or otherwise the first
	load     []*big.Int // λ of a class of the network
	single   []bool     // whether a class of the network has a single combination of servers
	*network
}

func newGraph(ctx context.Context, m *cluster.Model) (*graph, error) {
	const why = "jobs that give up overload no cluster, and pfq solve answers about them"
	if err := cmp.Or(m.Check(), m.RequireService(cluster.AllServers, cluster.OneServer),
		m.RequireEndlessPatience(why), m.RequireNoTimeouts()); err != nil {
		return nil, err
	}
	g := &graph{model: m, work: work(m), total: totals(m)}
	if err := g.findUnit(ctx); err != nil {
		return nil, err
	}
	g.index = make([]int32, len(m.Servers))
	for s, c := range g.total {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g.index[s] = -1
		if c.Sign() > 0 {
			g.index[s] = int32(len(g.server))
			g.server = append(g.server, s)
			g.capacity = append(g.capacity, g.whole(c))
		}
	}
	var servers [][]int32
	byChoices := map[string]int{}
	var key []byte
	for row, class := range m.Classes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		choices := slices.DeleteFunc(slices.Clone(class.Servers), func(c cluster.Choice) bool {
			return g.total[c.Server].Sign() == 0
		})
		slices.SortFunc(choices, func(a, b cluster.Choice) int { return a.Server - b.Server })
		key = key[:0]
		single := true
		for _, c := range choices {
			key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(c.Server)), uint64(c.Choose))
			single = single && c.Choose == m.Servers[c.Server].Size()
		}
		i, ok := byChoices[string(key)]
		if !ok {
			i = len(g.rows)
			g.class = append(g.class, int32(i))
			byChoices[string(key)] = i
			list := make([]int32, len(choices))
			for k, c := range choices {
				list[k] = g.index[c.Server]
			}
			servers = append(servers, list)
			g.rows = append(g.rows, []int{row})
			g.load = append(g.load, g.whole(g.work[row]))
			g.single = append(g.single, single)
			continue
		}
		g.class = append(g.class, int32(i))
		if g.work[row].Sign() > 0 {
			if g.load[i].Sign() == 0 {
				g.rows[i] = nil
			}
			g.rows[i] = append(g.rows[i], row)
			g.load[i].Add(g.load[i], g.whole(g.work[row]))
		}
	}
	g.network = newNetwork(servers, len(g.server))
	return g, nil
}

// work returns λ_i, arrival rate times mean size, of each row of classes.
func work(m *cluster.Model) []*big.Rat {
	rates := make([]*big.Rat, len(m.Classes))
	for i := range rates {
		rates[i] = m.Work(i)
	}
	return rates
}

// totals returns the total capacity of each row of servers.
func totals(m *cluster.Model) []*big.Rat {
	capacities := make([]*big.Rat, len(m.Servers))
	for s, server := range m.Servers {
		capacities[s] = times(server.Size(), server.Capacity)
	}
	return capacities
}

func times(n int, x *big.Rat) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt64(int64(n)), x)
}

// findUnit sets unit to the least common denominator of all rates and capacities.
func (g *graph) findUnit(ctx context.Context) error {
	g.unit = big.NewInt(1)
	count := len(g.work) + len(g.total)
	for _, list := range [][]*big.Rat{g.work, g.total} {
		for _, x := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			num.JoinDenominator(g.unit, x)
			if most := maxDenominatorBits / int64(count); int64(g.unit.BitLen()) > most {
				return input.Errorf("", "one of more",
					"%d rates and capacities with a common denominator of at most %d bits (fewer digits, or "+
						"multiples of one fraction)", count, most)
			}
		}
	}
	return nil
}

// whole returns x·unit, an integer.
func (g *graph) whole(x *big.Rat) *big.Int { return scaled(x, g.unit) }

func scaled(x *big.Rat, unit *big.Int) *big.Int {
	w := new(big.Int).Quo(unit, x.Denom())
	return w.Mul(w, x.Num())
}

// sums returns λ(A) and μ(A) for classes and servers of the network, in units.
func (g *graph) sums(classes, servers []int32) (load, capacity *big.Int) {
	load, capacity = new(big.Int), new(big.Int)
	for _, i := range classes {
		load.Add(load, g.load[i])
	}
	for _, s := range servers {
		capacity.Add(capacity, g.capacity[s])
	}
	return load, capacity
}

// rowsOf returns the rows of a set of classes of the network, in increasing order.
func (g *graph) rowsOf(classes []int32) []int {
	n := 0
	for _, i := range classes {
		n += len(g.rows[i])
	}
	rows := make([]int, 0, n)
	for _, i := range classes {
		rows = append(rows, g.rows[i]...)
	}
	slices.Sort(rows)
	return rows
}

// serversOf returns the number of servers of each row that belong to a set of servers of the
// network, including all servers without capacity that these rows of classes may use.
func (g *graph) serversOf(servers []int32, classes []int) []int {
	counts := make([]int, len(g.model.Servers))
	for _, s := range servers {
		row := g.server[s]
		counts[row] = g.model.Servers[row].Size()
	}
	g.addIdle(counts, classes)
	return counts
}

// addIdle adds to the counts all servers without capacity that these rows of classes may use.
func (g *graph) addIdle(counts []int, classes []int) {
	for _, i := range classes {
		for _, c := range g.model.Classes[i].Servers {
			if g.total[c.Server].Sign() == 0 {
				counts[c.Server] = g.model.Servers[c.Server].Size()
			}
		}
	}
}
