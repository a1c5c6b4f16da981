package joblog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A time shown by the clock of a zone is the only time in UTC at which the clock shows it, if there
// is exactly one.
func TestZoneMatchesSearch(t *testing.T) {
	const form = "2006-01-02T15:04:05"
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York", "Asia/Kolkata",
			"Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "America/Sao_Paulo"}).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		clock := newWallClock(zone)
		near := rapid.Int64Range(0, 2_000_000_000).Draw(t, "near")
		if _, end := time.Unix(near, 0).In(zone).ZoneBounds(); rapid.Bool().Draw(t, "at a change") && !end.IsZero() {
			near = end.Unix()
		}
		for _, off := range rapid.SliceOfN(rapid.Int64Range(-200, 200), 1, 9).Draw(t, "quarters") {
			shown := near/900*900 + 900*off
			text := time.Unix(shown, 0).UTC().Format(form)
			var at []int64
			for k := int64(-60); k <= 60; k++ {
				if time.Unix(shown+900*k, 0).In(zone).Format(form) == text {
					at = append(at, shown+900*k)
				}
			}
			m := moment{seconds: shown}
			reason := clock.settle(&m)
			switch {
			case len(at) == 0 && reason == SkippedTime, len(at) == 2 && reason == RepeatedTime:
			case len(at) != 1 || reason != 0 || m.seconds != at[0] || m.value != float64(at[0]):
				t.Fatalf("%s in %v: %d, reason %q, want %v", text, zone, m.seconds, reason, at)
			}
		}
	})
}

// Dates without a zone are read in that of the dialect; jobs with a time that its clock skips or
// shows twice are dropped, and counted.
func TestZoneOfDates(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	text := "JobID|Submit|Start|End|Elapsed|NCPUS\n" + strings.Join([]string{
		"1|2026-10-24T23:00:00|2026-10-25T01:30:00|2026-10-25T03:30:00|03:00:00|4", // the clock shows two hours
		"2|2026-10-25T01:00:00|2026-10-25T02:30:00|2026-10-25T03:30:00|01:00:00|4",
		"3|2026-03-29T01:59:59|2026-03-29T03:00:00|2026-03-29T03:00:01|00:00:01|4",
		"4|2026-03-29T02:00:00|2026-03-29T03:00:00|2026-03-29T03:00:01|00:00:01|4",
		"5|2026-10-25T02:30:00Z|2026-10-25T02:30:00+02:00|2026-10-25T02:30:00+01:00|01:00:00|4",
		"6|2026-10-25T02:30:00|Unknown|Unknown|00:00:00|4",
	}, "\n") + "\n"
	r := NewReader(strings.NewReader(text), "log", Dialect{Zone: berlin})
	var got string
	for j, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprintf("%d:%.0f+%.0f+%.0f ", j.Number, j.Submit, j.Wait, j.RunTime)
	}
	if want := "1:1792875600+9000+10800 3:1774745999+1+1 5:1792895400+-1+3600 "; got != want {
		t.Errorf("jobs %s, want %s", got, want)
	}
	lines := `jobs that never started are omitted: 1 record, the first in line 7
jobs with a time that the clocks of the zone skip are omitted: 1 record, the first in line 5
jobs with a time that the clocks of the zone show twice are omitted: 1 record, the first in line 3
jobs start before their submission; their waiting time is unknown: 1 record, the first in line 6
jobs are submitted before the job above them; they count in the order of submission: 1 record, the first in line 4`
	if got := strings.Join(r.Report().Lines(), "\n"); got != lines {
		t.Errorf("report %s", got)
	}
	_, err = NewReader(strings.NewReader("1 2 3\n"), "log", Dialect{Zone: berlin}).Read()
	const want = "--zone = Europe/Berlin: want none for a log in Standard Workload Format, whose times are seconds"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v", err)
	}
}
