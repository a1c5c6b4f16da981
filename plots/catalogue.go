package plots

import (
	"context"

	"productform/internal/input"
)

// A Precision says how many points a figure is computed at.
type Precision string

// The precisions. On two cores Draft takes seconds and the whole catalogue at Draft ends within two minutes.
const (
	Draft  Precision = "draft"
	Normal Precision = "normal"
	Paper  Precision = "paper"
)

// Precisions returns the precisions, fewest points first.
func Precisions() []Precision { return []Precision{Draft, Normal, Paper} }

// An Entry is a figure of the catalogue that is yet to be computed.
type Entry struct {
	ID    string
	Title string

	build func(context.Context, Precision) (*Figure, error)
}

// Build computes the figure. It stops early with the context's error if that is cancelled.
func (e Entry) Build(ctx context.Context, p Precision) (*Figure, error) {
	switch p {
	case Draft, Normal, Paper:
		return e.build(ctx, p)
	}
	return nil, input.Errorf("precision", p, "draft, normal or paper")
}

// Catalogue returns every figure there is, in the order of the papers.
func Catalogue() []Entry {
	return bonaldComte()
}
