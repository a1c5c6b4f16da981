// This part of the package tells on which classes and servers of a cluster the others depend.

package bf

import (
	"context"
	"slices"

	"productform/cluster"
)

// partIndex tells the parts of a model that share no server, as it is: classes without arrivals and
// servers of capacity 0 link none, and are in none themselves. As the normalizations of the parts
// multiply, a class depends on its own part only.
type partIndex struct{ ofClass, ofServer []int } // by row, -1 for none

// newPartIndex returns the parts of a model.
func newPartIndex(ctx context.Context, m *cluster.Model) (partIndex, error) {
	p := partIndex{slices.Repeat([]int{-1}, len(m.Classes)), slices.Repeat([]int{-1}, len(m.Servers))}
	components, err := m.Reduce(ctx)
	for k, c := range components {
		for _, row := range slices.Concat(c.Classes...) {
			p.ofClass[row] = k
		}
		for _, row := range slices.Concat(c.Servers...) {
			p.ofServer[row] = k
		}
	}
	return p, err
}

// OfRate returns the parts that change with the rate of a row of classes.
func (p partIndex) OfRate(m *cluster.Model, row int) (list []int) {
	if k := p.ofClass[row]; k >= 0 {
		return []int{k}
	}
	for _, c := range m.Classes[row].Servers {
		list = append(list, p.ofServer[c.Server])
	}
	return list
}

// OfCapacity returns the parts that change with the capacity of a row of servers.
func (p partIndex) OfCapacity(m *cluster.Model, row int) (list []int) {
	if k := p.ofServer[row]; k >= 0 {
		return []int{k}
	}
	for i, class := range m.Classes {
		if slices.ContainsFunc(class.Servers, func(c cluster.Choice) bool { return c.Server == row }) {
			list = append(list, p.ofClass[i])
		}
	}
	return list
}

// Apart reports whether a row of classes depends on none of these parts, as far as that is known.
func (p partIndex) Apart(class int, list []int) bool {
	return p.ofClass[class] >= 0 && !slices.Contains(list, p.ofClass[class])
}
