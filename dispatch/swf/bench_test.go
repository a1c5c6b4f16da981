package swf_test

import (
	"io"
	"strings"
	"testing"

	"productform/dispatch/swf"
)

// manyJobs returns a million lines: a real log, repeated.
func manyJobs(b *testing.B) string {
	const jobs = 1_000_000
	var lines []string
	for line := range strings.Lines(sdsc(b)) {
		if line[0] != ';' {
			lines = append(lines, line)
		}
	}
	var text strings.Builder
	for i := range jobs {
		text.WriteString(lines[i%len(lines)])
	}
	return text.String()
}

func BenchmarkRead(b *testing.B) {
	plain := manyJobs(b)
	decimals := strings.Repeat("1 0.5 12.25 120.125 4 118.75 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n", 1_000_000)
	for _, c := range []struct{ name, text string }{{"plain", plain}, {"gzip", packed(plain)}, {"decimals", decimals}} {
		b.Run("jobs=1000000/file="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			jobs := 0
			for b.Loop() {
				for _, err := range swf.NewReader(strings.NewReader(c.text), "log").All() {
					if err != nil {
						b.Fatal(err)
					}
					jobs++
				}
			}
			b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
	b.Run("jobs=1000000/into=memory", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := swf.ReadAll(strings.NewReader(plain), "log"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	log, err := swf.ReadAll(strings.NewReader(manyJobs(b)), "log")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("jobs=1000000", func(b *testing.B) {
		b.ReportAllocs()
		jobs := 0
		for b.Loop() {
			w := swf.NewWriter(io.Discard)
			for _, j := range log.Jobs {
				if err := w.Write(j); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				b.Fatal(err)
			}
			jobs += len(log.Jobs)
		}
		b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
	})
}
