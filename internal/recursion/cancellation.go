package recursion

import "context"

// stepsPerLook is how many additions and products of float64 are done between two looks at a context: 0.1 ms.
const stepsPerLook = 1 << 16

// BigSteps is how many of them one addition and product of long numbers counts for.
const BigSteps = 1 << 8

// A Cancellation looks at a context once in so many steps.
type Cancellation struct {
	Ctx   context.Context
	steps int
}

// After counts steps, and returns the error of the context if it has ended.
func (c *Cancellation) After(steps int) error {
	if c.steps += steps; c.steps < stepsPerLook {
		return nil
	}
	c.steps = 0
	return c.Ctx.Err()
}
