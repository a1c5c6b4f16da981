package command

import (
	"testing"
	"time"

	"productform/sweep"
)

// The remaining time is described in words.
func TestTimeleft(t *testing.T) {
	for _, c := range []struct {
		progress  sweep.Progress
		precision float64
		want      string
	}{
		{sweep.Progress{}, 0, "runs"},
		{sweep.Progress{Left: 61400 * time.Millisecond, LeftKnown: true}, 0, "runs, 1m1s left"},
		{sweep.Progress{Left: time.Second, LeftKnown: true}, 0.1, "runs, 1s to the next check"},
	} {
		if got := remainingTime(c.progress, c.precision > 0); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
