package elimination

import (
	"context"
	"runtime"
	"slices"
)

// passes holds one forward and one backward elimination on a mesh.
type passes struct {
	*mesh
	problem   *Problem
	ask       Settings
	weights   *weights // nil if there are none
	order     []int
	place     []int       // position of each server in the order
	buckets   []factors   // for each server, the factors that depend on its time when it is eliminated
	kept      []*function // for each server, the integral of the product of these factors
	outside   []factors   // for each of kept, all other factors with all other times integrated out
	scratches []*scratch  // scratch of each worker
}

func newPasses(p *Problem, o *Order, g *mesh, s Settings) *passes {
	e := &passes{mesh: g, problem: p, ask: s, order: o.Servers}
	for range runtime.GOMAXPROCS(0) {
		e.scratches = append(e.scratches, newScratch(g, max(1, slices.Max(widths(p, o)))))
	}
	e.place, e.buckets, e.kept, e.outside = o.places(), make([]factors, len(o.Servers)),
		make([]*function, len(o.Servers)), make([]factors, len(o.Servers))
	for s := range o.Servers {
		e.buckets[s].servers = []int{s}
	}
	for i, c := range p.Classes {
		b := &e.buckets[first(e.place, c.Servers)]
		b.classes = append(b.classes, i)
	}
	return e
}

// widths returns, for each server of the order, the number of remaining neighbours when it is
// eliminated.
func widths(p *Problem, o *Order) []int {
	place := o.places()
	knows := make([][]int, len(o.Servers)) // positions of servers, by the first
	add := func(servers []int) {
		if len(servers) > 0 {
			first := slices.Min(servers)
			knows[first] = append(knows[first], servers...)
		}
	}
	for _, c := range p.Classes {
		servers := make([]int, len(c.Servers))
		for i, s := range c.Servers {
			servers[i] = place[s]
		}
		add(servers)
	}
	w := make([]int, len(o.Servers))
	for k := range knows {
		slices.Sort(knows[k])
		stay := slices.DeleteFunc(slices.Compact(knows[k]), func(s int) bool { return s == k })
		w[k] = len(stay)
		add(stay)
	}
	return w
}

func (e *passes) integrate(ctx context.Context, f factors, gone, above int) (*function, error) {
	k, err := integrate(ctx, e.mesh, e.problem, f, gone, above, e.scratches)
	if err == nil && e.weights != nil {
		k.hat, err = e.hat(ctx, f, gone, above)
	}
	if err == nil && slices.Max(e.coarse) > e.most {
		return nil, errCoarse
	}
	return k, err
}

// forward integrates over one time after another, and stops when a bound grows by more than most.
func (e *passes) forward(ctx context.Context, most float64) error {
	e.most = most
	for _, s := range e.order {
		f, err := e.integrate(ctx, e.buckets[s], s, -1)
		if err != nil {
			return err
		}
		e.kept[s] = f
		if len(f.servers) > 0 {
			b := &e.buckets[first(e.place, f.servers)]
			b.functions = append(b.functions, f)
		}
	}
	return nil
}

// A clique is a server with the other servers of its bucket, and all factors of their times; it
// caches their integrals.
type clique struct {
	*passes
	server int
	all    factors
	made   []made
}

type made struct {
	gone, above int
	from        factors
	kept        *function
}

// back calls look for the cliques from the last to the first.
func (e *passes) back(ctx context.Context, look func(c *clique) error) error {
	for k := len(e.order) - 1; k >= 0; k-- {
		s := e.order[k]
		c := &clique{passes: e, server: s, all: e.buckets[s].times(e.outside[s])}
		if err := look(c); err != nil {
			return err
		}
		for _, before := range e.order[:k] {
			f := e.kept[before]
			if !slices.Contains(e.buckets[s].functions, f) {
				continue
			}
			rest, err := c.reduce(ctx, c.all.remove(f), f.servers, nil)
			if err != nil {
				return err
			}
			e.outside[before] = rest
		}
	}
	return nil
}

// reduce integrates over all times except those of the servers that stay. The servers above have
// times beyond that of the only server that stays; they are integrated last, because bounds are
// relative without them. Among the others, the cheapest integral comes first.
func (c *clique) reduce(ctx context.Context, f factors, stay, above []int) (factors, error) {
	const largestRank = 3*MaxWidth + 2
	for {
		gone, least := -1, 0
		for _, s := range f.scope(c.problem) {
			if slices.Contains(stay, s) {
				continue
			}
			rank := largestRank
			if !slices.Contains(above, s) {
				with, _ := f.split(c.problem, s)
				rank = with.rank(c.problem)
			}
			if gone < 0 || rank < least {
				gone, least = s, rank
			}
		}
		if gone < 0 {
			return f, nil
		}
		from := -1
		if slices.Contains(above, gone) {
			from = stay[0]
		}
		with, without := f.split(c.problem, gone)
		k := slices.IndexFunc(c.made, func(m made) bool {
			return m.gone == gone && m.above == from && m.from.equals(with)
		})
		if k < 0 {
			kept, err := c.integrate(ctx, with, gone, from)
			if err != nil {
				return factors{}, err
			}
			k = len(c.made)
			c.made = append(c.made, made{gone, from, with, kept})
		}
		f = without.times(factors{functions: []*function{c.made[k].kept}})
	}
}
