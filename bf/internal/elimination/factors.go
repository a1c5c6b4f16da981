package elimination

import "slices"

// factors is a product: C_s e^{-C_s t_s} over servers, e^{λ_i min_{S_i} t} over classes, and
// functions.
type factors struct {
	servers   []int
	classes   []int
	functions []*function
}

// split separates the factors that depend on the time of a server from the others.
func (f factors) split(p *Problem, server int) (with, without factors) {
	put := func(knows bool) *factors {
		if knows {
			return &with
		}
		return &without
	}
	for _, s := range f.servers {
		side := put(s == server)
		side.servers = append(side.servers, s)
	}
	for _, i := range f.classes {
		side := put(slices.Contains(p.Classes[i].Servers, server))
		side.classes = append(side.classes, i)
	}
	for _, k := range f.functions {
		side := put(slices.Contains(k.servers, server))
		side.functions = append(side.functions, k)
	}
	return with, without
}

// times returns the product of two lists of factors.
func (f factors) times(g factors) factors {
	return factors{
		slices.Concat(f.servers, g.servers), slices.Concat(f.classes, g.classes),
		slices.Concat(f.functions, g.functions),
	}
}

// remove removes a function.
func (f factors) remove(k *function) factors {
	f.functions = slices.DeleteFunc(slices.Clone(f.functions), func(x *function) bool { return x == k })
	return f
}

// equals reports whether two products have the same factors.
func (f factors) equals(g factors) bool {
	return slices.Equal(f.servers, g.servers) && slices.Equal(f.classes, g.classes) &&
		slices.Equal(f.functions, g.functions)
}

// rank orders integrals of all factors over the time of a server by their work: first by the number
// of remaining servers, then by whether a single function depends on all of them.
func (f factors) rank(p *Problem) int {
	stay, most := len(f.scope(p))-1, 0
	var known []int
	for _, k := range f.functions {
		most = max(most, len(k.servers)-1)
		known = append(known, k.servers...)
	}
	slices.Sort(known)
	switch {
	case most == stay:
		return 3*stay + 1
	case len(slices.Compact(known)) == stay+1:
		return 3*stay + 2
	}
	return 3 * stay
}

// scope lists the servers whose times the factors depend on, in increasing order.
func (f factors) scope(p *Problem) []int {
	all := slices.Clone(f.servers)
	for _, i := range f.classes {
		all = append(all, p.Classes[i].Servers...)
	}
	for _, k := range f.functions {
		all = append(all, k.servers...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
