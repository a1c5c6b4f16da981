// This file finds which parts of a cluster depend on each other.

package bf

import (
	"context"
	"slices"

	"productform/cluster"
)

// A partIndex divides a model, without reducing it, into parts that share no server. Classes
// without arrivals and servers of capacity 0 belong to no part and link none. The normalizations of
// the parts multiply, so a class depends only on its own part.
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

// Apart reports whether a row of classes is known to depend on none of the listed parts.
func (p partIndex) Apart(class int, list []int) bool {
	return p.ofClass[class] >= 0 && !slices.Contains(list, p.ofClass[class])
}
