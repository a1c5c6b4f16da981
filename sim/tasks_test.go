package sim_test

import (
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sweep"
)

// Missing samples are computed elsewhere and put into the folder in reverse order, until none is
// missing. A run then finds all samples there and gives the same result as without them. With a
// precision, no batch is requested that a run would not perform.
func TestMissing(t *testing.T) {
	c := jump(simtest.ThreeServers(big.NewRat(1, 2)), 0)
	for _, s := range []sim.Settings{
		{Runs: 7, Jumps: 5000, Seed: 1},
		{Runs: 1000, Jumps: 5000, Seed: 1, Precision: 0.02},
		{Runs: 25, Jumps: 5000, Seed: 1, Precision: 1e-6},
		{Runs: 6, Jumps: 5000, Seed: 1, Precision: 1e-6},
	} {
		want, err := sim.Run(t.Context(), c, s)
		if err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		p, err := sim.NewPlan(t.Context(), c, s)
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		for {
			missing, err := sim.Missing(t.Context(), []*sim.Plan{p, p}, folder)
			if err != nil {
				t.Fatal(err)
			}
			if len(missing) == 0 {
				break
			}
			done += len(missing)
			for k := len(missing) - 1; k >= 0; k-- {
				body, err := missing[k].Body(t.Context())
				if err == nil {
					err = sweep.Put[sim.Sample](folder, missing[k].Key, body)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		reused := 0
		got, err := p.Run(t.Context(), sweep.Settings{
			Folder:   folder,
			Progress: func(now sweep.Progress) { reused = now.Reused },
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if reused != want.Runs || done != want.Runs {
			t.Errorf("%+v: %d runs put, %d found, want %d", s, done, reused, want.Runs)
		}
		if all, err := sim.Tasks(t.Context(), []*sim.Plan{p, p}); err != nil || len(all) != s.Runs {
			t.Errorf("%d tasks in total, want %d; %v", len(all), s.Runs, err)
		}
	}
}
