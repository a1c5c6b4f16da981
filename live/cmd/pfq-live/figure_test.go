package main

import (
	"testing"
	"time"

	"productform/live/manager"
	"productform/plots/l14"
)

// [L14], Figure 6.1, runs while server, manager and workers are killed as in figure dispatch-9. The
// events match the simulation to the last digit, and therefore the record that the figure draws.
func TestFailingJobUnderKills(t *testing.T) {
	t.Parallel() // mostly waits
	ctx := limited(t, 100*time.Second)
	s := Scenario{Scenario: l14.FailingJob()}
	want, err := Simulate(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	v := startReplay(ctx, t, &s, 200)
	place := func(k l14.Kill) int {
		switch k.What {
		case l14.KilledServer:
			return 0
		case l14.KilledManager:
			return 1
		}
		return 2 + k.Worker
	}
	kills, end := l14.Kills(), want.Moments[len(want.Moments)-1].At
	for p, err := range manager.Plans(ctx, v.js) {
		if err != nil {
			t.Fatal(err)
		}
		for len(kills) > 0 && p.At >= kills[0].At {
			if p.At != kills[0].At {
				t.Errorf("%+v at %v s", kills[0], p.At)
			}
			v.killAndStart(t, place(kills[0]))
			kills = kills[1:]
		}
		if p.At >= end {
			break
		}
	}
	if len(kills) > 0 {
		t.Errorf("not killed: %+v", kills)
	}
	got, err := Read(ctx, v.js, &s, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := Compare(got, want); err != nil {
		t.Error(err)
	}
	if j := got.Result.Jobs[0]; j.Finish > s.Jobs[0].Deadline {
		t.Errorf("done at %v s, after the deadline", j.Finish)
	}
}
