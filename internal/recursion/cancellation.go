package recursion

import "context"

// stepsPerCheck is the number of float64 additions and products between two checks of a context,
// which take 0.1 ms.
const stepsPerCheck = 1 << 16

// BigSteps is the number of steps that one addition and product of long numbers counts as.
const BigSteps = 1 << 8

// A Cancellation checks a context once every stepsPerCheck steps.
type Cancellation struct {
	Ctx   context.Context
	steps int
}

// After counts steps, and returns the error of the context if it is cancelled.
func (c *Cancellation) After(steps int) error {
	if c.steps += steps; c.steps < stepsPerCheck {
		return nil
	}
	c.steps = 0
	return c.Ctx.Err()
}

// Fill returns n copies of x. It checks the context between blocks of them. Once that is cancelled,
// the remaining ones are zero values, and the next call of [Cancellation.After] returns its error.
func Fill[T any](c *Cancellation, x T, n int) []T {
	const size = 1 << 14
	list := make([]T, n)
	for first := 0; first < n; first += size {
		block := list[first:min(first+size, n)]
		if err := c.After(len(block)); err != nil {
			c.steps = stepsPerCheck
			break
		}
		block[0] = x
		for k := 1; k < len(block); k *= 2 {
			copy(block[k:], block[:k])
		}
	}
	return list
}
