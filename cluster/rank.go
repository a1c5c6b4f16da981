package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

	"productform/internal/input"
	"productform/internal/ranktable"
)

// maxRankClasses limits the table of [Model.Rank]: 2^20 rationals take about 0.1 GB.
const maxRankClasses = 20

// Rank returns the rank function in jobs per unit of time: μ(A)/σ at the bit mask of each set A of
// classes (class i is bit i), 2^N values in O(N 2^N) additions. A group counts as one server of the
// summed capacity if every class that uses it takes all its servers.
//
// It returns the errors of [Model.Check], and a *[num.InputError] in four cases. The service is
// [Gang]. There are more than 20 classes. A class chooses some servers of a group, and thus stands
// for one class per combination; see [Model.Expand]. Classes differ in mean size; see
// [Model.EqualSizes]. Once ctx is done, Rank promptly returns ctx.Err().
func (m *Model) Rank(ctx context.Context) ([]*big.Rat, error) {
	if err := cmp.Or(m.Check(), m.RequireService(AllServers, OneServer)); err != nil {
		return nil, err
	}
	size, err := m.OneMeanSize()
	if err != nil {
		return nil, err
	}
	if n := len(m.Classes); n > maxRankClasses {
		return nil, input.Errorf("classes", fmt.Sprintf("%d of them", n),
			"at most %d, since the rank function has 2^N values; package bf takes more", maxRankClasses)
	}
	capacities := make([]*big.Rat, len(m.Servers))
	for s, server := range m.Servers {
		c := new(big.Rat).SetInt64(int64(server.Size()))
		c.Mul(c, server.Capacity)
		capacities[s] = c.Quo(c, size)
	}
	servers := make([][]int, len(m.Classes))
	for i, class := range m.Classes {
		for k, c := range class.Servers {
			if n := m.Servers[c.Server].Size(); c.Choose < n {
				return nil, input.Errorf(input.Index(input.Index("classes", i)+".servers", k)+".choose", c.Choose,
					"all %d servers of %s; Model.Expand expands other choices into single servers and classes, "+
						"package bf supports them directly",
					n, input.Quote(m.Servers[c.Server].Name))
			}
			servers[i] = append(servers[i], c.Server)
		}
	}
	return ranktable.OfServers(ctx, servers, capacities)
}
