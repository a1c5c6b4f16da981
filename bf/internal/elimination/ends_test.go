package elimination_test

import (
	"context"
	"testing"

	"productform/bf/internal/elimination"
	"productform/internal/oracle"
)

// Solve returns promptly after cancellation, at any stage.
func TestSolveReturnsAfterCancellation(t *testing.T) {
	p := &elimination.Problem{Capacities: []float64{100}}
	for s := range 20 {
		p.Capacities = append(p.Capacities, 100)
		p.Classes = append(p.Classes, elimination.Class{Rate: 60, Servers: []int{s / 2, s + 1}}, elimination.Class{
			Rate:    10,
			Servers: []int{s},
		})
	}
	o, err := elimination.NewOrder(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := oracle.CheckEnds(func(ctx context.Context) error {
		_, err := elimination.Solve(ctx, p, o, elimination.Settings{
			Tolerance: 1e-9,
			ByClass:   20,
			Gradients: true,
			Of:        []int{3},
		})
		return err
	}, 2000, 1); err != nil {
		t.Error(err)
	}
}
