package command

import (
	"productform/cluster"
	"productform/internal/render"
)

// OwnMeanSize returns the mean size of a class, nil if no class has one of its own.
func OwnMeanSize(m *cluster.Model, class int, p render.Proof) *render.Number {
	if !m.HasOwnMeanSizes() {
		return nil
	}
	n := render.Rat(m.MeanSizeOf(class), p)
	return &n
}
