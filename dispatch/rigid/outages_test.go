package rigid_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/dispatch/rigid"
)

// drawOutages adds outages in whole seconds, some of them permanent.
func drawOutages(t *rapid.T, s *rigid.Scenario) {
	for w := range s.Workers {
		from := 0.0
		for range rapid.IntRange(0, 2).Draw(t, "outages") {
			from += float64(rapid.IntRange(0, 12).Draw(t, "up"))
			to := from + float64(rapid.IntRange(1, 12).Draw(t, "away"))
			if rapid.IntRange(0, 9).Draw(t, "for good") == 0 {
				to = math.Inf(1)
			}
			s.Outages = append(s.Outages, dispatch.Outage{Worker: w, From: from, To: to})
			if from = to; math.IsInf(to, 1) {
				break
			}
		}
	}
}

// With workers that fail and return, Run and the reference implementation start the same jobs at
// the same times, lose jobs equally often, and report the same jobs that never end.
func TestOutagesMatchSlow(t *testing.T) {
	lost := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		drawOutages(t, &s)
		want := runSlow(s)
		never := slices.DeleteFunc(slices.Clone(want), func(j *slowJob) bool { return !j.isLeft })
		got, err := rigid.Run(context.Background(), s)
		var stranded *dispatch.StrandedError
		if errors.As(err, &stranded) {
			if len(never) == 0 || stranded.Jobs != len(never) || stranded.Job != never[0].place {
				t.Fatalf("%v; the reference program has %d jobs left", err, len(never))
			}
			return
		}
		if err != nil || len(never) > 0 {
			t.Fatalf("%v, %d jobs never finish", err, len(never))
		}
		for i, want := range want {
			got := got.Jobs[i]
			if got.Start != want.start || got.Finish != want.start+want.runs || got.Backfilled != want.backfilled ||
				got.Lost != want.lost*want.workers {
				t.Fatalf("job %d: %+v, want a start at %v, a run of %v, backfilled %v, lost %d times",
					i, got, want.start, want.runs, want.backfilled, want.lost)
			}
			lost += want.lost
		}
	})
	if lost == 0 {
		t.Error("no job was lost in all cases")
	}
}
