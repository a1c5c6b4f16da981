package main

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// For any sequence of problems, each is written when it is first seen, two lines about one problem
// are at least a period apart, and the counts add up to all lines.
func TestLogSuppressesRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &problems{seen: map[problem]*sightings{}}
		now := time.Unix(0, 0)
		all, counted := map[problem]int{}, map[problem]int{}
		last := map[problem]time.Time{}
		for range rapid.IntRange(1, 200).Draw(t, "lines") {
			now = now.Add(time.Duration(rapid.IntRange(0, 6000).Draw(t, "milliseconds")) * time.Millisecond)
			p := problem{message: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "message")}
			all[p]++
			suppressed, isDue := s.note(p, now)
			before, wasSeen := last[p]
			if isDue != (!wasSeen || now.Sub(before) >= repeatPeriod) {
				t.Fatalf("written: %v, %v after the last", isDue, now.Sub(before))
			}
			if !isDue {
				continue
			}
			last[p] = now
			if counted[p] += 1 + suppressed; counted[p] != all[p] && now.Sub(before) <= time.Minute {
				t.Fatalf("%d of %d lines counted", counted[p], all[p])
			}
			counted[p] = all[p]
		}
	})
}

// Workers of one process that wait for the same server share a line. Lines without an error are all
// written.
func TestLogOfManySlots(t *testing.T) {
	var said lines
	log := newLog(&said, "text")
	for range 200 {
		log.With("worker", "w").Warn("waiting for the server", "error", "refused")
		log.Warn("results differ", "task", 1)
	}
	log.Warn("waiting for the server", slog.String("error", "other error"))
	waiting, differ := strings.Count(said.String(), "waiting for"), strings.Count(said.String(), "results differ")
	if waiting != 2 || differ != 200 {
		t.Errorf("%d and %d lines", waiting, differ)
	}
}
