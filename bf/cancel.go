package bf

import "context"

// stepsPerLook is how many additions and products of float64 are done between two looks at a context: 0.1 ms.
const stepsPerLook = 1 << 16

// bigSteps is how many of them one addition and product of long numbers counts for.
const bigSteps = 1 << 8

// A cancellation looks at a context once in so many steps.
type cancellation struct {
	ctx   context.Context
	steps int
}

// after counts steps, and returns the error of the context if it has ended.
func (c *cancellation) after(steps int) error {
	if c.steps += steps; c.steps < stepsPerLook {
		return nil
	}
	c.steps = 0
	return c.ctx.Err()
}
