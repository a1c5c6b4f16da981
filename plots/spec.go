package plots

import (
	"context"
)

// A Precision determines the amount of simulation for a figure.
type Precision string

// The precisions. On two cores the whole catalogue takes half a minute at Draft, a quarter of an
// hour at Normal and more than an hour at Paper, which is the effort of [BC17]. Runs of farms, of
// shared resources (from tags-6) and of package net are a tenth as long; drafts of package net and
// fluid-5 observe a fifth. dispatch-6 draws ten samples per run, and dispatch-7 draws four.
const (
	Draft  Precision = "draft"  // 10 runs of 5·10^4 jumps after as many; coarser grids
	Normal Precision = "normal" // 20 runs of 10^6 jumps after 10^6
	Paper  Precision = "paper"  // 100 runs of 10^6 jumps after 10^6
)

// Precisions returns the precisions, coarsest first.
func Precisions() []Precision { return []Precision{Draft, Normal, Paper} }

// A Spec is a figure yet to be computed; see [Compute].
type Spec struct {
	ID    string // such as "bf-1"; also the name of the files
	Title string // one line

	// Prepare adds the simulations that the figure needs to the plan, and returns the function that
	// fills in the figure once they have results.
	Prepare func(context.Context, Effort, *Plan) (Build, error)
}

// A Build fills in a figure whose ID and Title are set.
type Build func(context.Context, *Figure) error

// Exact returns the spec of a figure that needs no simulation, which build fills in.
func Exact(id, title string, build func(context.Context, Effort, *Figure) error) Spec {
	return Spec{ID: id, Title: title, Prepare: func(_ context.Context, e Effort, _ *Plan) (Build, error) {
		return func(ctx context.Context, f *Figure) error { return build(ctx, e, f) }, nil
	}}
}
