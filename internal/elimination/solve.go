package elimination

import (
	"context"

	"productform/internal/input"
)

// Solve returns the measures of a problem by an order of [NewOrder], or any other one.
//
// The error is an [*input.Error], that of the context.
func Solve(ctx context.Context, p *Problem, o *Order, s Settings) (*Result, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if !(s.Tolerance > 0 && s.Tolerance < 1) {
		return nil, input.Errorf("Tolerance", s.Tolerance, "a number in (0, 1)")
	}
	return nil, tooWide(o.Width)
}
