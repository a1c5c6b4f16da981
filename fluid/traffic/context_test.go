package traffic

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/fluid"
	"productform/internal/oracle"
)

// Every method checks the context while it works, and returns its error.
func TestSolveEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	two, three := randomTraffic(r, 2, 2, big.NewRat(1, 2)), randomTraffic(r, 3, 2, big.NewRat(1, 2))
	for _, c := range []struct {
		t      *Model
		policy fluid.Policy
		s      Settings
	}{
		{two, fluid.PF, Settings{}},
		{three, fluid.DRF, Settings{Limits: []int{14, 14, 14}}},
		{withoutWeights(two, fluid.BF), fluid.BF, Settings{}},
	} {
		asked := oracle.NewCountdown(1 << 30)
		if _, err := Solve(asked, c.t, c.policy, c.s); err != nil {
			t.Fatal(err)
		}
		questions := asked.Asked()
		for part := range 20 {
			left := part * questions / 20
			if v, err := Solve(oracle.NewCountdown(left), c.t, c.policy, c.s); v != nil ||
				!errors.Is(err, context.Canceled) {
				t.Fatalf("%s, cancelled at check %d of %d: %v, %v", c.policy, left+1, questions, v, err)
			}
		}
	}
}
