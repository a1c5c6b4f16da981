package stations

import (
	"context"
	"fmt"
	"math/big"

	"productform/num"
	"productform/sim"
	"productform/sizes"
)

// SizesOf returns the sizes of jobs with an exact mean; nil means 1. They are the given sizes,
// which must have that mean, or the shape scaled to it, or exponential sizes. The error names the
// path of the sizes or of the mean.
func SizesOf(given, shape sizes.Distribution, exact *big.Rat, path, meanPath string) (sizes.Distribution, error) {
	if given == nil && shape != nil {
		mean, _ := num.OrOne(exact).Float64()
		var err error
		if given, err = sizes.WithMean(shape, mean); err != nil {
			return nil, fmt.Errorf("the sizes of shape %v: %w", shape, err)
		}
	}
	d, _, err := sim.SizesOf(given, exact, path, meanPath)
	return d, err
}

// pilotSteps is the number of steps that a pilot run observes, and the number of warm-up steps
// before, in addition to the steps that its jobs need.
const pilotSteps = 20_000

// Pilot estimates the growth of a count per unit of time from a short run. It is for unknown rates
// that only determine the length of runs. A system that does not start empty gets more additional
// steps; an unstable system gets a tenth of the basic steps. state returns the time and the count.
func Pilot(
	ctx context.Context, more int, unstable bool, step func() error, state func() (now, count float64),
) (float64, error) {
	steps := pilotSteps + more
	if unstable {
		steps = pilotSteps / 10
	}
	var began, before float64
	for k := range 2 * steps {
		if k%1000 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if k == steps {
			began, before = state()
		}
		if err := step(); err != nil {
			return 0, err
		}
	}
	now, count := state()
	return (count - before) / (now - began), nil
}

// IDs assigns numbers to jobs, and reuses the numbers of departed jobs.
type IDs struct {
	used int
	free []int32
}

// Take returns the number of a new job. first reports whether it is used for the first time; it is
// then the largest so far.
func (i *IDs) Take() (id int32, first bool) {
	if last := len(i.free) - 1; last >= 0 {
		id = i.free[last]
		i.free = i.free[:last]
		return id, false
	}
	i.used++
	return int32(i.used - 1), true
}

// Give releases the number of a departing job.
func (i *IDs) Give(id int32) { i.free = append(i.free, id) }

// Present returns the number of jobs.
func (i *IDs) Present() int { return i.used - len(i.free) }
