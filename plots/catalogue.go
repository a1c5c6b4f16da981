package plots

import (
	"context"
	"slices"
)

// A Precision says how much a figure is simulated.
type Precision string

// The precisions. On two cores the whole catalogue takes about a minute at Draft, some ten minutes at Normal and
// most of an hour at Paper, which is the effort of [BC17]. Runs of farms and of shared resources (tags-6 and on) are a tenth as long;
// dispatch-6 draws ten samples a run, dispatch-7 four.
const (
	Draft  Precision = "draft"  // 10 runs of 4·10^5 jumps after 2·10^5; coarser grids
	Normal Precision = "normal" // 20 runs of 10^6 jumps after 10^6
	Paper  Precision = "paper"  // 100 runs of 10^6 jumps after 10^6
)

// Precisions returns the precisions, coarsest first.
func Precisions() []Precision { return []Precision{Draft, Normal, Paper} }

// An Entry is a figure of the catalogue that is yet to be computed, see [Compute].
type Entry struct {
	ID    string
	Title string

	prepare func(effort) (*project, error)
}

// Catalogue returns every figure there is, in the order of the papers.
func Catalogue() []Entry {
	return slices.Concat(bonaldComte(), harcholBalter(), bonaldRoberts(), lin())
}

// analytic returns the entry of a figure that needs no simulation, which build fills in.
func analytic(id, title string, build func(context.Context, effort, *Figure) error) Entry {
	return Entry{ID: id, Title: title, prepare: func(e effort) (*project, error) {
		return &project{build: func(ctx context.Context) (*Figure, error) {
			f := &Figure{ID: id, Title: title}
			return f, build(ctx, e, f)
		}}, nil
	}}
}
