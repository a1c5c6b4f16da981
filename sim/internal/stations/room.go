package stations

import (
	"context"
	"fmt"
	"math/big"

	"productform/num"
	"productform/sim"
	"productform/sizes"
)

// SizesOf returns the sizes of jobs of an exact mean, nil for 1: those given, which must have that mean; or else of a shape, scaled to it; or else exponential ones.
// The error names the path of the sizes or of the mean.
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

// pilotSteps are those that a pilot run observes, and as many before, besides those that its jobs need.
const pilotSteps = 20_000

// Pilot returns by how much a count grows per unit of time, as a run of some steps sees it: for rates that are not known beforehand, from which the length of runs
// comes, and nothing else. It takes more steps than for a room that is empty at the start, or a tenth of them if the room is unstable; state returns the time and the count.
func Pilot(ctx context.Context, more int, unstable bool, step func() error, state func() (now, count float64)) (float64, error) {
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

// IDs are the numbers of the jobs present, the smallest that are free: those of jobs that left are used again.
type IDs struct {
	used int
	free []int32
}

// Take returns the number of a new job, and whether it is one that none had before: the largest so far.
func (i *IDs) Take() (id int32, first bool) {
	if last := len(i.free) - 1; last >= 0 {
		id = i.free[last]
		i.free = i.free[:last]
		return id, false
	}
	i.used++
	return int32(i.used - 1), true
}

// Give gives back the number of a job that leaves.
func (i *IDs) Give(id int32) { i.free = append(i.free, id) }

// Present returns the number of jobs.
func (i *IDs) Present() int { return i.used - len(i.free) }
