package dispatch

import (
	"cmp"
	"math"
	"slices"

	"productform/internal/input"
)

// An Outage makes a worker unavailable from From until To. Its running task is lost and runs again
// from the start, unless it finishes at From, up to the rounding described at [Run].
type Outage struct {
	Worker   int     // index in the list of speeds
	From, To float64 // 0 <= From < To; To = +Inf means forever
}

// CheckOutages checks each outage for a number of workers, and that outages of one worker do not
// overlap. The error is a [num.InputError] with the path of the entry, such as Outages[2].From.
func CheckOutages(outages []Outage, workers int) error {
	order := make([]int, len(outages))
	for i, o := range outages {
		order[i] = i
		path := input.Index("Outages", i)
		switch {
		case o.Worker < 0 || o.Worker >= workers:
			return input.Errorf(input.Field(path, "Worker"), o.Worker, "a worker, 0 to %d", workers-1)
		case !input.IsTime(o.From):
			return input.Moment.Check(input.Field(path, "From"), o.From)
		case !(o.To > o.From && (o.To <= input.Largest || math.IsInf(o.To, 1))):
			return input.Errorf(input.Field(path, "To"), o.To,
				"a time in (%v, 1e50], after the start of the outage, or +Inf", o.From)
		}
	}
	compare := func(a, b int) int {
		x, y := outages[a], outages[b]
		return cmp.Or(cmp.Compare(x.Worker, y.Worker), cmp.Compare(x.From, y.From))
	}
	slices.SortStableFunc(order, compare)
	for k := 1; k < len(order); k++ {
		before, after := outages[order[k-1]], outages[order[k]]
		if before.Worker == after.Worker && after.From < before.To {
			return input.Errorf(input.Field(input.Index("Outages", order[k]), "From"), after.From,
				"a time >= %v, the end of Outages[%d] of the same worker", before.To, order[k-1])
		}
	}
	return nil
}

// An Edge is the start or the end of an outage.
type Edge struct {
	Time   float64 // in seconds
	Up     bool    // whether the worker returns
	Worker int     // index in the list of speeds
}

// Edges returns the starts and ends of outages in the order in which a simulated clock processes
// them. An outage without an end has no second edge. A worker that returns exactly when its next
// outage starts is up for no time.
func Edges(outages []Outage) (edges []Edge) {
	for _, o := range outages {
		edges = append(edges, Edge{o.From, false, o.Worker})
		if !math.IsInf(o.To, 1) {
			edges = append(edges, Edge{o.To, true, o.Worker})
		}
	}
	slices.SortStableFunc(edges, func(a, b Edge) int {
		if c := cmp.Compare(a.Time, b.Time); c != 0 || a.Up == b.Up {
			return c
		}
		if a.Up {
			return -1
		}
		return 1
	})
	return edges
}
