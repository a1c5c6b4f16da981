package sizes_test

import (
	"slices"
	"strings"
	"testing"

	"productform/dispatch/joblog"
	"productform/sizes"
)

// A log in CSV gives the sizes of the same log in Standard Workload Format.
func TestReadLogMatchesSWF(t *testing.T) {
	const csv = "job,submitted,elapsed,cpus\n1,0,120,4\n2,9,,4\n3,9,0,4\n4,9,0.1,3\n"
	const swf = "1 0 -1 120 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n2 9 -1 -1 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n" +
		"3 9 -1 0 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n4 9 -1 0.1 3 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n"
	for _, work := range []bool{false, true} {
		read := sizes.ReadRunTimes
		if work {
			read = sizes.ReadWork
		}
		want, err := read(strings.NewReader(swf), "log")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{csv, swf} {
			log := joblog.NewReader(strings.NewReader(text), "log", joblog.Dialect{})
			got, err := sizes.ReadLog(joblog.Plain{Reader: log}, "log", work)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Sizes, want.Sizes) || got.Skipped != want.Skipped ||
				len(got.Exact) != len(want.Exact) ||
				got.Exact[1].Cmp(want.Exact[1]) != 0 {
				t.Errorf("work %t: %v, want %v", work, got, want)
			}
		}
	}
	log := joblog.NewReader(strings.NewReader("id,run_time\n1,0\n"), "log", joblog.Dialect{})
	_, err := sizes.ReadLog(joblog.Plain{Reader: log}, "log", false)
	if err == nil || err.Error() != "log: want a log with jobs of known run time, not a log with none" {
		t.Errorf("error %v", err)
	}
}
