package fluid

import (
	"context"
	"math/rand/v2"
	"testing"

	"productform/num"
)

// Filling is a direct method, so its residual is only rounding. Shares that are a tenth too small
// or too large have a residual of at least a tenth, except for balanced fairness, which detects
// only shares that are too large.
func TestResidual(t *testing.T) {
	for _, policy := range Policies() {
		for seed := range uint64(200) {
			pool := pfRandomPool(rand.New(rand.NewPCG(seed, 7)))
			if policy == BF {
				pool.Jobs = pool.Jobs[:min(len(pool.Jobs), 4)]
				for i := range pool.Jobs {
					pool.Jobs[i].Weight = nil
				}
			}
			a, err := Allocate(context.Background(), pool, policy, Settings{Engine: num.Float})
			if err != nil {
				t.Fatalf("%s, seed %d: %v", policy, seed, err)
			}
			if !(a.Residual <= 1e-10) {
				t.Errorf("%s, seed %d: residual %g", policy, seed, a.Residual)
			}
			full := false
			for _, r := range a.Resources {
				full = full || r.Saturated
			}
			if policy != BF && !full {
				t.Errorf("%s, seed %d: no resource is saturated", policy, seed)
			}
			p, err := newProblem(NewProfiles(pool), "")
			if err != nil {
				t.Fatal(err)
			}
			count := benchCounts(pool)
			for _, factor := range []float64{0.9, 1.1} {
				share := make([]float64, p.rows)
				for i, j := range a.Jobs {
					share[i] = factor * j.DominantShare.Float
				}
				r := p.residual(policy.method(), count, share, p.utilization(count, share), make([]float64, len(share)))
				if seen := policy != PF && policy != BF || factor > 1 && full; seen && !(r >= 0.0999) {
					t.Errorf("%s, seed %d: residual %g after shares times %v", policy, seed, r, factor)
				}
			}
		}
	}
}
