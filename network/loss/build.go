package loss

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/ranktable"
	"productform/num"
)

// maxSets is the maximum number of classes, or of pools of servers with tokens, whose sets are
// tabulated.
const maxSets = 20

// A bound is a limit that can be reached, in units of the greatest common divisor of the units of
// its jobs.
type bound struct {
	classes []int
	units   []int // units of a job, by class
	most    int
}

// bounds returns the room and the limits, except those that the sources cannot reach.
func (m *Model) bounds() []bound {
	limits := slices.Clone(m.Limits)
	if m.Room > 0 {
		all := make([]int, len(m.Classes))
		for k := range all {
			all[k] = k
		}
		limits = append(limits, Limit{Classes: all, Most: m.Room})
	}
	var list []bound
	for _, l := range limits {
		b, most, unbounded := bound{classes: l.Classes}, 0, false
		for _, k := range l.Classes {
			c := &m.Classes[k]
			b.units = append(b.units, c.units())
			b.most = gcd(b.most, c.units())
			most += min(c.Sources, maxUnits) * c.units()
			unbounded = unbounded || c.Sources == 0
		}
		if !unbounded && most <= l.Most {
			continue
		}
		g := b.most
		for j := range b.units {
			b.units[j] /= g
		}
		b.most = l.Most / g
		list = append(list, b)
	}
	return list
}

// unbound returns the classes that no limit binds.
func unbound(classes int, bounds []bound) (list []int) {
	bind := make([]bool, classes)
	for _, b := range bounds {
		for _, k := range b.classes {
			bind[k] = true
		}
	}
	for k := range classes {
		if !bind[k] {
			list = append(list, k)
		}
	}
	return list
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// A builder makes a table of some members.
type builder struct{ *table }

func (b *builder) add(top int, soft bool) int {
	b.Limits, b.soft = append(b.Limits, top), append(b.soft, soft)
	return len(b.soft) - 1
}

// bind adds a hard axis to members.
func (b *builder) bind(members, units []int, most int) int {
	at := b.add(most, false)
	for j, k := range members {
		b.members[k].hard = append(b.members[k].hard, step{at, units[j]})
	}
	if len(members) == 1 {
		b.members[members[0]].own = at
	}
	return at
}

// finish sets strides. They are wrong if the table is too large, which [table.checkSize] reports.
func (b *builder) finish() *table {
	b.Box = lattice.FirstFastest(b.Limits)
	for k := range b.members {
		m := &b.members[k]
		for _, h := range m.hard {
			m.shift += h.units * b.Stride[h.axis]
		}
		if m.soft >= 0 {
			m.drops = b.Stride[m.soft]
		}
	}
	return b.table
}

// checkSize rejects a table that takes too much memory.
func (t *table) checkSize(bytesEach, maxBytes float64) error {
	size := lattice.Size(t.Limits)
	if need := size * bytesEach; need > maxBytes {
		return &num.TooLargeError{States: size, Bytes: need, Limit: int64(maxBytes),
			Input: input.Errorf("", fmt.Sprintf("a table of %.3g entries, about %.3g GB", size, need/1e9),
				"limits whose table takes at most %.3g GB: a factor for each limit, class or server",
				maxBytes/1e9)}
	}
	return nil
}

func newBuilder() *builder { return &builder{&table{jobs: -1, free: new(big.Rat)}} }

// newTable returns the table of the classes; rows[j] lists the classes of member j. If each job is
// served at rate 1, only classes that a limit binds are included. Poisson classes with the same
// servers, limits and units are one member, which brings the work of all of them. The error is an
// [*UnstableError], a [*num.TooLargeError] or the error of the context.
func (m *Model) newTable(ctx context.Context) (t *table, rows [][]int, err error) {
	b, bounds := newBuilder(), m.bounds()
	member, rows := m.members(bounds)
	for _, list := range rows {
		work := new(big.Rat)
		for _, k := range list {
			work.Add(work, m.Classes[k].work())
		}
		b.members = append(b.members, newMember(work, m.Classes[list[0]].Sources))
	}
	for _, l := range bounds {
		var members, units []int
		for j, k := range l.classes {
			if !slices.Contains(members, member[k]) {
				members, units = append(members, member[k]), append(units, l.units[j])
			}
		}
		at := b.bind(members, units, l.most)
		if len(members) == len(rows) && slices.Max(units) == 1 {
			b.jobs = at
		}
	}
	for k := range b.members {
		if s := b.members[k].sources; s > 0 && b.members[k].own < 0 {
			b.bind([]int{k}, []int{1}, s)
		}
	}
	switch {
	case m.Count > 0:
		err = b.wait(m.Count, rows)
	case m.hasSets():
		err = b.sets(ctx, m, rows)
	}
	if err != nil {
		return nil, nil, err
	}
	return b.finish(), rows, nil
}

// members returns the member of each class, -1 for none, and the classes of each member.
func (m *Model) members(bounds []bound) (member []int, rows [][]int) {
	unlimited := unbound(len(m.Classes), bounds)
	limits := make([][]int, len(m.Classes))
	for l, b := range bounds {
		for _, k := range b.classes {
			limits[k] = append(limits[k], l)
		}
	}
	first := map[string]int{}
	member = make([]int, len(m.Classes))
	for k, c := range m.Classes {
		member[k] = -1
		if m.Count == 0 && !m.hasSets() && slices.Contains(unlimited, k) {
			continue
		}
		key := fmt.Sprint(slices.Sorted(slices.Values(c.Servers)), limits[k], c.units())
		j, ok := first[key]
		if !ok || c.Sources > 0 || len(m.Rank) > 0 {
			j = len(rows)
			rows = append(rows, nil)
			if c.Sources == 0 {
				first[key] = j
			}
		}
		member[k] = j
		rows[j] = append(rows[j], k)
	}
	return member, rows
}

func newMember(work *big.Rat, sources int) member {
	return member{work: work, sources: sources, soft: -1, own: -1}
}

// wait adds the axis that equal servers need: it counts jobs, up to the number of servers if no
// limit counts them.
func (b *builder) wait(servers int, rows [][]int) error {
	b.servers = servers
	if b.jobs < 0 {
		b.jobs = b.add(servers, true)
		for k := range b.members {
			b.members[k].soft = b.jobs
		}
	}
	var free []int
	for k := range b.members {
		if len(b.members[k].hard) == 0 {
			free = append(free, rows[k]...)
			b.free.Add(b.free, b.members[k].work)
		}
	}
	if capacity := big.NewRat(int64(servers), 1); len(free) > 0 && b.free.Cmp(capacity) >= 0 {
		slices.Sort(free)
		return &UnstableError{Classes: free, Load: b.free, Capacity: capacity}
	}
	return nil
}

// sets adds the axes for rates of sets of classes: the set of members present.
func (b *builder) sets(ctx context.Context, m *Model, rows [][]int) error {
	n := len(b.members)
	if n > maxSets {
		return setLimitError("classes", n)
	}
	for k := range b.members {
		if b.members[k].own < 0 {
			b.members[k].soft = b.add(1, true)
		}
	}
	rank, err := b.rank(ctx, m, rows)
	if err != nil {
		return err
	}
	free, isFree := make([]*big.Rat, n), 0
	for k := range b.members {
		free[k] = new(big.Rat)
		if len(b.members[k].hard) == 0 {
			free[k], isFree = b.members[k].work, isFree|1<<k
		}
	}
	load, err := ranktable.Sums(ctx, free)
	if err != nil {
		return err
	}
	var worst *UnstableError
	most := big.NewRat(1, 1)
	b.drain = make([]*big.Rat, len(rank))
	for set := range rank {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.drain[set] = new(big.Rat).Sub(rank[set], load[set])
		if set&^isFree != 0 || set == 0 || b.drain[set].Sign() > 0 {
			continue
		}
		if q := new(big.Rat).Quo(load[set], rank[set]); q.Cmp(most) > 0 || worst == nil {
			worst, most = &UnstableError{Load: load[set], Capacity: rank[set]}, q
			for _, k := range ranktable.Members(set) {
				worst.Classes = append(worst.Classes, rows[k]...)
			}
		}
	}
	if worst != nil {
		slices.Sort(worst.Classes)
		return worst
	}
	return nil
}

// rank returns μ(A) at the bit mask of each set of members, and sets the nodes.
func (b *builder) rank(ctx context.Context, m *Model, rows [][]int) ([]*big.Rat, error) {
	b.nodes = make([]uint, len(m.Servers))
	if len(m.Rank) > 0 { // each member is one class
		rank := make([]*big.Rat, 1<<len(rows))
		rank[0] = new(big.Rat)
		for _, r := range m.Rank {
			rank[ranktable.Mask(r.Classes)] = r.Rate
		}
		return rank, nil
	}
	var servers [][]int
	for k, list := range rows {
		servers = append(servers, m.Classes[list[0]].Servers)
		for _, s := range servers[k] {
			b.nodes[s] |= 1 << k
		}
	}
	var capacities []*big.Rat
	for _, s := range m.Servers {
		capacities = append(capacities, s.Capacity)
	}
	return ranktable.OfServers(ctx, servers, capacities)
}

func setLimitError(path string, n int) error {
	return &num.TooLargeError{States: float64(uint64(1) << min(n, 63)),
		Input: input.Errorf(path, fmt.Sprintf("%d of them", n),
			"at most %d, with named servers or a rank function: all their sets are tabulated",
			maxSets)}
}
