package recursion

import "context"

// stepsPerLook is the number of float64 additions and products between two checks of a context: 0.1
// ms.
const stepsPerLook = 1 << 16

// BigSteps is the number of steps that one addition and product of long numbers counts for.
const BigSteps = 1 << 8

// A Cancellation checks a context once every stepsPerLook steps.
type Cancellation struct {
	Ctx   context.Context
	steps int
}

// After counts steps, and returns the error of the context if it is cancelled.
func (c *Cancellation) After(steps int) error {
	if c.steps += steps; c.steps < stepsPerLook {
		return nil
	}
	c.steps = 0
	return c.Ctx.Err()
}
