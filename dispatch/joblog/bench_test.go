package joblog

import (
	"math/rand/v2"
	"strings"
	"testing"

	"productform/dispatch/swf"
)

// Each log has a million jobs: the jobs of a real log, repeated.
func BenchmarkRead(b *testing.B) {
	jobs := whole(shipped(b))
	for _, c := range []struct {
		name  string
		write writer
	}{{"sacct", writeSacct}, {"csv", writeTable(",")}, {"json", writeTable("")}, {"pbs", writePBS}} {
		text, want, _ := c.write(jobs, rand.New(rand.NewPCG(1, 1)))
		heading, rows := "", text
		if c.name == "sacct" || c.name == "csv" {
			heading, rows, _ = strings.Cut(text, "\n")
			heading += "\n"
		}
		times := 1_000_000/len(want) + 1
		text = heading + strings.Repeat(rows, times)
		b.Run("jobs=1000000/file="+c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var kept []swf.Job
				for job, err := range NewReader(strings.NewReader(text), "log", Dialect{}).All() {
					if err != nil {
						b.Fatal(err)
					}
					kept = append(kept, job.Job)
				}
				if len(kept) != times*len(want) {
					b.Fatalf("%d jobs", len(kept))
				}
			}
		})
	}
}
