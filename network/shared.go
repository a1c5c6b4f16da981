package network

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/network/internal/demands"
	"productform/num"
)

// newShared describes station i, whose visits and loads are known.
func (s *system) newShared(ctx context.Context, i int) (*demands.Shared, error) {
	of, st := &s.model.Stations[i], &s.Stations[i]
	sh := &demands.Shared{}
	switch {
	case of.Nodes != nil:
		groupKinds(sh, st, func(v demands.Visit) string {
			nodes := slices.Clone(s.model.Classes[v.Class].Visits[v.Visit].Nodes)
			slices.Sort(nodes)
			return fmt.Sprint(nodes)
		})
	case of.Limits != nil:
		groupKinds(sh, st, func(v demands.Visit) string {
			var in []int
			for l, limit := range of.Limits {
				if slices.Contains(limit.Classes, v.Class) {
					in = append(in, l)
				}
			}
			return fmt.Sprint(in)
		})
	default:
		groupKinds(sh, st, func(v demands.Visit) string { return fmt.Sprint(v.Class) })
	}
	if of.Table != nil {
		var classes []int
		for _, v := range st.Visits {
			classes = append(classes, v.Class)
		}
		form, err := newTableForm(ctx, s.model, i, classes)
		sh.Form = form
		return sh, err
	}
	for _, k := range sh.Kinds {
		most := 1
		if of.Limits != nil {
			most = s.saturation(of, st, k)
		}
		sh.Most = append(sh.Most, most)
	}
	vectors := 1.0
	for _, m := range sh.Most {
		vectors *= float64(m + 1)
	}
	if vectors > demands.MaxVectors {
		bad := input.Errorf(input.Index("stations", i), fmt.Sprintf("%d kinds of classes", len(sh.Kinds)),
			"at most %d sets of classes that it tells apart, or vectors of their numbers up to the limits, not %.0f", demands.MaxVectors, vectors)
		return nil, &num.TooLargeError{Input: bad, States: vectors, Bytes: 64 * vectors, Limit: 64 * demands.MaxVectors}
	}
	sh.Much = 1
	switch {
	case of.Nodes != nil:
		rateOfNodes(sh, s.model, of, st)
	case of.Limits != nil:
		sh.Much = max(of.Servers, 1)
		rateOfLimits(sh, of, st)
	default:
		rateOfRank(sh, of, st)
	}
	return sh, nil
}

// groupKinds makes the kinds: visits of one role, of one closed chain or all open.
func groupKinds(sh *demands.Shared, st *demands.Station, role func(v demands.Visit) string) {
	of := map[string]int{}
	for row, v := range st.Visits {
		key := fmt.Sprint(v.K, " ", role(v))
		i, ok := of[key]
		if !ok {
			i = len(sh.Kinds)
			of[key] = i
			sh.Kinds = append(sh.Kinds, demands.Kind{K: v.K, Work: new(big.Rat)})
		}
		sh.Kinds[i].Visits = append(sh.Kinds[i].Visits, row)
		sh.Kinds[i].Work = new(big.Rat).Add(sh.Kinds[i].Work, v.Work)
	}
}

// saturation returns the number of jobs of a kind from which on more do not matter: what its limits and servers allow, and no more than there are.
func (s *system) saturation(of *Station, st *demands.Station, k demands.Kind) int {
	most := max(of.Servers, 1)
	class := st.Visits[k.Visits[0]].Class
	for _, l := range of.Limits {
		if slices.Contains(l.Classes, class) {
			most = min(most, l.Most)
		}
	}
	if k.K >= 0 {
		most = min(most, s.Chains[s.Closed[k.K]].Population)
	}
	return most
}

// rateOfNodes sets μ(y), the capacity of all nodes that serve a kind with y_c > 0.
func rateOfNodes(sh *demands.Shared, m *Model, of *Station, st *demands.Station) {
	sh.Serves = make([][]bool, len(of.Nodes))
	for n := range sh.Serves {
		sh.Serves[n] = make([]bool, len(sh.Kinds))
	}
	for c, k := range sh.Kinds {
		v := st.Visits[k.Visits[0]]
		for _, n := range m.Classes[v.Class].Visits[v.Visit].Nodes {
			sh.Serves[n][c] = true
		}
	}
	// Nodes that serve the same kinds are one.
	type group struct {
		serves   []bool
		capacity *big.Rat
	}
	groups := map[string]*group{}
	var order []*group
	for n, node := range of.Nodes {
		key := fmt.Sprint(sh.Serves[n])
		if groups[key] == nil {
			groups[key] = &group{sh.Serves[n], new(big.Rat)}
			order = append(order, groups[key])
		}
		groups[key].capacity.Add(groups[key].capacity, node.Capacity)
	}
	sh.Rate = func(y []int) *big.Rat {
		rate := new(big.Rat)
		for _, g := range order {
			for c, n := range y {
				if n > 0 && g.serves[c] {
					rate.Add(rate, g.capacity)
					break
				}
			}
		}
		return rate
	}
}

// rateOfLimits sets μ(y): with b(L) the bound of a set, the busy servers of it are the least of b(L) and the sum over the largest sets in it and the classes of it in none of
// these; the servers bound the whole.
func rateOfLimits(sh *demands.Shared, of *Station, st *demands.Station) {
	limits := slices.Clone(of.Limits)
	slices.SortStableFunc(limits, func(a, b Limit) int { return len(a.Classes) - len(b.Classes) }) // those inside come first
	first := func(c int) int { return st.Visits[sh.Kinds[c].Visits[0]].Class }
	parent := make([]int, len(limits)) // the least set around a limit, len(limits) the station
	for l := range limits {
		parent[l] = len(limits)
		for o := l + 1; o < len(limits); o++ {
			if slices.Contains(limits[o].Classes, limits[l].Classes[0]) {
				parent[l] = o
				break
			}
		}
	}
	home := make([]int, len(sh.Kinds)) // the least set that holds a kind
	for c := range home {
		home[c] = slices.IndexFunc(limits, func(l Limit) bool { return slices.Contains(l.Classes, first(c)) })
		if home[c] < 0 {
			home[c] = len(limits)
		}
	}
	rate := num.OrOne(of.Rate)
	busy := make([]int, len(limits)+1)
	sh.Rate = func(y []int) *big.Rat {
		clear(busy)
		for c, n := range y {
			busy[home[c]] += n
		}
		for l, limit := range limits {
			busy[parent[l]] += min(busy[l], limit.Most)
		}
		n := min(busy[len(limits)], max(of.Servers, 1))
		return new(big.Rat).Mul(big.NewRat(int64(n), 1), rate)
	}
}

// rateOfRank sets μ(y) from the table of sets.
func rateOfRank(sh *demands.Shared, of *Station, st *demands.Station) {
	bit := map[int]int{} // of the kind of a class
	for c, k := range sh.Kinds {
		bit[st.Visits[k.Visits[0]].Class] = 1 << c
	}
	rates := make([]*big.Rat, 1<<len(sh.Kinds))
	rates[0] = new(big.Rat)
	for _, r := range of.Rank {
		mask := 0
		for _, c := range r.Classes {
			mask |= bit[c]
		}
		rates[mask] = r.Rate
	}
	sh.Rate = func(y []int) *big.Rat {
		mask := 0
		for c, n := range y {
			if n > 0 {
				mask |= 1 << c
			}
		}
		return rates[mask]
	}
}
