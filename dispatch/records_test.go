package dispatch_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
)

// Written records can be read back, and the measures of the run follow from them.
func TestRecordsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) dispatch.Job {
			j := dispatch.Job{
				ID:       rapid.Int64().Draw(t, "id"),
				Submit:   rapid.Float64Range(0, 10).Draw(t, "submit"),
				Priority: rapid.Float64Range(0, 1e9).Draw(t, "priority"),
				Tasks:    rapid.IntRange(1, 5).Draw(t, "tasks"),
			}
			if rapid.Bool().Draw(t, "due") {
				j.Deadline = j.Submit + rapid.Float64Range(0.1, 3).Draw(t, "deadline")
			}
			if rapid.Bool().Draw(t, "equal") {
				j.Work = rapid.SampledFrom([]float64{0, 0.1, 1.0 / 3, 2}).Draw(t, "work")
			} else {
				j.Works = rapid.SliceOfN(rapid.Float64Range(1e-9, 2), j.Tasks, j.Tasks).Draw(t, "works")
			}
			return j
		}), 1, 20).Draw(t, "jobs")
		r, err := dispatch.Run(t.Context(), dispatch.Scenario{
			Jobs: jobs, Speeds: []float64{1, 0.3}, Policy: dispatch.Policy{Rule: dispatch.Priority},
			Outages: []dispatch.Outage{{Worker: 1, From: 2, To: 3}, {Worker: 0, From: 5, To: 5.5}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := dispatch.WriteRecords(&text, jobs, r); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&text).ReadAll()
		if err != nil || len(rows) != len(jobs)+1 {
			t.Fatalf("%d rows, error %v", len(rows), err)
		}
		names := []string{"id", "submit", "deadline", "priority", "tasks", "work", "start", "finish", "delay",
			"slowdown", "missed", "lost"}
		if !slices.Equal(rows[0], names) {
			t.Fatalf("names %v", rows[0])
		}
		var penalty, response float64
		missed, lost, slow := 0, 0, 0
		for i, row := range rows[1:] {
			j, rec := jobs[i], r.Jobs[i]
			var v [12]float64
			for c, field := range row {
				if field == "" && (c == 2 || c == 9) {
					continue
				}
				x, err := strconv.ParseFloat(field, 64)
				if err != nil {
					t.Fatalf("%s of job %d: %v", names[c], i, err)
				}
				v[c] = x
			}
			work := float64(j.Tasks) * j.Work
			for _, w := range j.Works {
				work += w
			}
			want := [12]float64{float64(j.ID), j.Submit, j.Deadline, j.Priority, float64(j.Tasks), work,
				rec.Start, rec.Finish, rec.Delay, rec.Slowdown, rec.Missed, float64(rec.Lost)}
			if v != want || row[0] != fmt.Sprint(j.ID) {
				t.Fatalf("job %d: %v, want %v", i, row, want)
			}
			if (row[2] == "") != (j.Deadline == 0) || (row[9] == "") != (work == 0) {
				t.Fatalf("job %d: empty fields of %q", i, row)
			}
			penalty += v[3] * v[10]
			response += (v[7] - v[1]) / float64(len(jobs))
			if v[10] > 0 {
				missed++
			}
			if row[9] != "" {
				slow++
			}
			lost += int(v[11])
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-13*b } // sum of twenty positive terms
		if !near(penalty, r.DeadlineMissPenalty) || !near(response, r.Delay.Mean) ||
			missed != r.Missed || lost != r.Lost || slow != r.Slowdown.Count {
			t.Fatalf("%v, %v, %d missed, %d lost, %d slowdowns; the run reports %+v",
				penalty, response, missed, lost, slow, r)
		}
	})
}

// full accepts at most room bytes.
type full struct{ room int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return 0, errFull
	}
	f.room -= len(p)
	return len(p), nil
}

func TestRecordsErrors(t *testing.T) {
	jobs := make([]dispatch.Job, 1000)
	for i := range jobs {
		jobs[i] = dispatch.Job{ID: int64(i), Tasks: 1, Work: 1}
	}
	r, err := dispatch.Run(t.Context(), dispatch.Scenario{
		Jobs: jobs, Speeds: []float64{1}, Policy: dispatch.Policy{Rule: dispatch.EDF},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, 5000, 10000} {
		if err := dispatch.WriteRecords(&full{room}, jobs, r); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: error %v", room, err)
		}
	}
	var text bytes.Buffer
	err = dispatch.WriteRecords(&text, jobs[1:], r)
	if !(badEntry{"Jobs", "999", "the 1000 jobs of the run"}).is(err) || text.Len() > 0 {
		t.Errorf("error %v after %d bytes", err, text.Len())
	}
	err = dispatch.WriteRecords(&text, jobs, r, dispatch.Column{Name: "user", Texts: []string{"ann"}})
	if !(badEntry{"columns[0].Texts", "1", "1000 strings, one per job"}).is(err) || text.Len() > 0 {
		t.Errorf("error %v after %d bytes", err, text.Len())
	}
}

// The second job has to wait for its single worker, and is late.
func ExampleWriteRecords() {
	jobs := []dispatch.Job{
		{ID: 7, Priority: 2, Tasks: 4, Work: 1.5},
		{ID: 8, Submit: 1, Deadline: 4.25, Priority: 1, Tasks: 1, Work: 2},
	}
	r, err := dispatch.Run(context.Background(), dispatch.Scenario{
		Jobs: jobs, Speeds: []float64{1, 1}, Policy: dispatch.Policy{Rule: dispatch.Priority},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	users := dispatch.Column{Name: "user", Texts: []string{"ann", "bob, at night"}}
	if err := dispatch.WriteRecords(os.Stdout, jobs, r, users); err != nil {
		fmt.Println(err)
	}
	// Output:
	// id,submit,deadline,priority,tasks,work,start,finish,delay,slowdown,missed,lost,user
	// 7,0,,2,4,6,0,3,3,1,0,0,ann
	// 8,1,4.25,1,1,2,3,5,4,2,0.75,0,"bob, at night"
}

func BenchmarkRecords(b *testing.B) {
	jobs := yearJobs(b)[:10000]
	r, err := dispatch.Run(b.Context(), dispatch.Scenario{
		Jobs: jobs, Speeds: []float64{1, 2}, Policy: dispatch.Policy{Rule: dispatch.EDF},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("jobs=10000", func(b *testing.B) {
		var text bytes.Buffer
		for b.Loop() {
			text.Reset()
			if err := dispatch.WriteRecords(&text, jobs, r); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(text.Len()))
	})
}
