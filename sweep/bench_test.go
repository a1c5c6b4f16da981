package sweep

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// BenchmarkRun measures the overhead of Run for a task that does nothing.
func BenchmarkRun(b *testing.B) {
	for _, floats := range []int{50, 1000} { // 1 kB and 20 kB of JSON
		const n = 1000
		tasks, want, _ := walks(b, n, floats)
		for i := range tasks {
			tasks[i].Run = constant(want[i])
		}
		for _, folder := range []string{"none", "new", "kept"} {
			b.Run(fmt.Sprintf("floats=%d/folder=%s", floats, folder), func(b *testing.B) {
				s := Settings{}
				if folder == "kept" {
					s.Folder = b.TempDir()
					mustRun(b, tasks, s, want)
				}
				for b.Loop() {
					if folder == "new" {
						b.StopTimer()
						if s.Folder != "" {
							if err := os.RemoveAll(s.Folder); err != nil {
								b.Fatal(err)
							}
						}
						s.Folder = b.TempDir()
						b.StartTimer()
					}
					if _, err := Run(b.Context(), tasks, s); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/task")
			})
		}
	}
}

func BenchmarkKey(b *testing.B) {
	for b.Loop() {
		if _, err := Key("walk", uint64(7), newWalk(0, 1)); err != nil {
			b.Fatal(err)
		}
	}
}

func constant(w walk) func(context.Context) (walk, error) {
	return func(context.Context) (walk, error) { return w, nil }
}
