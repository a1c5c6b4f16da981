package network

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/ranktable"
	"productform/network/internal/convolution"
	"productform/num"
)

// newShared describes station i, whose visits and loads are known.
func (s *system) newShared(ctx context.Context, i int) (*convolution.Shared, error) {
	of, st := &s.model.Stations[i], &s.Stations[i]
	sh := &convolution.Shared{}
	switch {
	case of.Nodes != nil:
		groupKinds(sh, st, func(v convolution.Visit) string {
			nodes := slices.Clone(s.model.Classes[v.Class].Visits[v.Visit].Nodes)
			slices.Sort(nodes)
			return fmt.Sprint(nodes)
		})
	case of.Limits != nil:
		groupKinds(sh, st, func(v convolution.Visit) string {
			var in []int
			for l, limit := range of.Limits {
				if slices.Contains(limit.Classes, v.Class) {
					in = append(in, l)
				}
			}
			return fmt.Sprint(in)
		})
	default:
		groupKinds(sh, st, func(v convolution.Visit) string { return fmt.Sprint(v.Class) })
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
	if vectors := lattice.Size(sh.Most); vectors > convolution.MaxVectors {
		bad := input.Errorf(input.Index("stations", i), fmt.Sprintf("%d kinds of classes", len(sh.Kinds)),
			"at most %d sets of classes that it distinguishes, or vectors of their numbers up to the limits, not %.0f",
			convolution.MaxVectors, vectors)
		return nil, &num.TooLargeError{
			Input:  bad,
			States: vectors,
			Bytes:  64 * vectors,
			Limit:  64 * convolution.MaxVectors,
		}
	}
	switch {
	case of.Nodes != nil:
		sh.OfNodes(s.nodesOf(i, sh.Kinds))
	case of.Limits != nil:
		sh.OfLimits(max(of.Servers, 1), num.OrOne(of.Rate), limitsOf(of, st, sh.Kinds))
	default:
		sh.OfSets(rankOf(of, st, sh.Kinds))
	}
	return sh, nil
}

// groupKinds builds the kinds: each contains the visits of one role, from one closed chain or from
// all open ones.
func groupKinds(sh *convolution.Shared, st *convolution.Station, role func(v convolution.Visit) string) {
	of := map[string]int{}
	for row, v := range st.Visits {
		key := fmt.Sprint(v.K, " ", role(v))
		i, ok := of[key]
		if !ok {
			i = len(sh.Kinds)
			of[key] = i
			sh.Kinds = append(sh.Kinds, convolution.Kind{K: v.K, Work: new(big.Rat)})
		}
		sh.Kinds[i].Visits = append(sh.Kinds[i].Visits, row)
		sh.Kinds[i].Work = new(big.Rat).Add(sh.Kinds[i].Work, v.Work)
	}
}

// saturation returns the number of jobs of a kind above which the rate does not change, according
// to its limits and servers; it is at most the number of jobs in the model.
func (s *system) saturation(of *Station, st *convolution.Station, k convolution.Kind) int {
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

// nodesOf returns the capacities of the nodes of station i, and which kinds each serves.
func (s *system) nodesOf(i int, kinds []convolution.Kind) (capacities []*big.Rat, serves [][]bool) {
	for _, n := range s.model.Stations[i].Nodes {
		capacities, serves = append(capacities, n.Capacity), append(serves, make([]bool, len(kinds)))
	}
	for c, k := range kinds {
		v := s.Stations[i].Visits[k.Visits[0]]
		for _, n := range s.model.Classes[v.Class].Visits[v.Visit].Nodes {
			serves[n][c] = true
		}
	}
	return capacities, serves
}

// limitsOf returns the limits of a station for its kinds; each limit contains either all classes of
// a kind or none.
func limitsOf(of *Station, st *convolution.Station, kinds []convolution.Kind) []ranktable.Limit {
	var limits []ranktable.Limit
	for _, l := range of.Limits {
		limit := ranktable.Limit{Most: l.Most}
		for c, k := range kinds {
			if slices.Contains(l.Classes, st.Visits[k.Visits[0]].Class) {
				limit.Classes = append(limit.Classes, c)
			}
		}
		limits = append(limits, limit)
	}
	return limits
}

// rankOf returns the rank function of a station at the bit masks of its kinds, of which there is
// one for each class.
func rankOf(of *Station, st *convolution.Station, kinds []convolution.Kind) []*big.Rat {
	var visitors []int
	for _, k := range kinds {
		visitors = append(visitors, st.Visits[k.Visits[0]].Class)
	}
	rates := make([]*big.Rat, 1<<len(kinds))
	rates[0] = new(big.Rat)
	for _, r := range of.Rank {
		rates[maskOf(r.Classes, visitors)] = r.Rate
	}
	return rates
}
