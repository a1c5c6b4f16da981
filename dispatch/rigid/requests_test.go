package rigid_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/dispatch/swf"
	"productform/internal/input"
)

func TestRequests(t *testing.T) {
	jobs := []dispatch.Job{{ID: 7, Work: 4}, {ID: 8, Work: 0}, {ID: 9, Work: 10}}
	before := slices.Clone(jobs)
	for _, c := range []struct {
		requests  rigid.Requests
		requested []float64
		want      []float64
	}{
		{rigid.Requests{}, nil, []float64{4, 0, 10}},
		{rigid.Requests{Factor: 3}, nil, []float64{12, 0, 30}},
		{rigid.Requests{Factor: 3}, []float64{-1, 60, 5}, []float64{12, 60, 5}},
		{rigid.Requests{Factor: 1, Uniform: true}, nil, []float64{4, 0, 10}},
	} {
		got, err := c.requests.Apply(jobs, c.requested)
		if err != nil {
			t.Fatal(err)
		}
		for i, j := range got {
			if j.Estimate != c.want[i] || j.ID != jobs[i].ID || j.Work != jobs[i].Work {
				t.Errorf("%+v: job %+v, want %v", c.requests, j, c.want[i])
			}
		}
	}
	if !reflect.DeepEqual(jobs, before) {
		t.Error("the jobs are modified")
	}
	for path, spoil := range map[string]func() (rigid.Requests, []float64){
		"Factor":    func() (rigid.Requests, []float64) { return rigid.Requests{Factor: 0.5}, nil },
		"Requested": func() (rigid.Requests, []float64) { return rigid.Requests{}, []float64{1} },
		"job 9, requested time": func() (rigid.Requests, []float64) {
			return rigid.Requests{}, []float64{
				1, 1, math.Inf(1),
			}
		},
	} {
		requests, requested := spoil()
		var bad *input.Error
		if _, err := requests.Apply(jobs, requested); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

// The mean of 10,000 factors uniform on [1, 5] differs from 3 by more than 0.07 with probability at
// most 2 exp(-2·10⁴·(0.07/4)²) = 0.004; the seed is fixed. The same seed gives the same factors.
func TestRequestsUniform(t *testing.T) {
	jobs := make([]dispatch.Job, 10_000)
	for i := range jobs {
		jobs[i].Work = 2
	}
	q := rigid.Requests{Factor: 5, Uniform: true, Seed: 1}
	got, err := q.Apply(jobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, j := range got {
		sum += j.Estimate / 2
		if j.Estimate < 2 || j.Estimate > 10 {
			t.Fatalf("a factor of %v", j.Estimate/2)
		}
	}
	if mean := sum / 10_000; math.Abs(mean-3) > 0.07 {
		t.Errorf("mean %v", mean)
	}
	if again, _ := q.Apply(jobs, nil); !reflect.DeepEqual(again, got) {
		t.Error("the second draw differs")
	}
	q.Seed = 2
	if other, _ := q.Apply(jobs, nil); reflect.DeepEqual(other, got) {
		t.Error("all seeds give the same requests")
	}
}

func TestWriteRecords(t *testing.T) {
	jobs := []dispatch.Job{
		{ID: 3, Tasks: 2, Work: 4, Estimate: 6, Priority: 2}, {ID: 5, Submit: 1, Deadline: 2.5, Tasks: 2, Work: 0},
		{ID: 6, Submit: 1, Tasks: 1, Work: 3, Estimate: 2},
	}
	r := mustRun(t, rigid.Scenario{
		Jobs:    jobs,
		Workers: 3,
		Policy:  rigid.Policy{Order: rigid.FCFS, Backfill: rigid.EASY},
	})
	var b strings.Builder
	if err := rigid.WriteRecords(&b, jobs, r); err != nil {
		t.Fatal(err)
	}
	want :=
		`id,submit,deadline,priority,workers,run_time,requested,start,finish,waiting,delay,slowdown,` +
			`bounded_slowdown,missed,backfilled,outlived,lost
3,0,,2,2,4,6,0,4,0,4,1,1,0,false,false,0
5,1,2.5,0,2,0,1,4,4,3,3,,1,1.5,false,false,0
6,1,,0,1,3,2,1,4,0,3,1,1,0,true,true,0
`
	if b.String() != want {
		t.Errorf("%s, want %s", b.String(), want)
	}
	if err := rigid.WriteRecords(&b, jobs[:1], r); err == nil {
		t.Error("a different number of jobs was written")
	}
}

// Requested times stay with their jobs, which a sample takes in order of submission.
func TestRequested(t *testing.T) {
	log := []swf.Job{
		{Number: 1, Submit: 9, RunTime: 1, Processors: 1, RequestedTime: 60},
		{Number: 1, Submit: 3, RunTime: 1, Processors: 1, RequestedTime: swf.Unknown},
		{Number: 2, Submit: 0, RunTime: swf.Unknown, Processors: 1, RequestedTime: 70},
		{Number: 1, Submit: 1, RunTime: 1, Processors: 1, RequestedTime: 80},
	}
	s := dispatch.WholeLog()
	s.TimeScale = 0.5
	jobs, places, skipped, err := s.Take(log, 1)
	if err != nil || skipped != 1 || len(jobs) != 3 || !slices.Equal(places, []int{3, 1, 0}) {
		t.Fatalf("%v, places %v, %d skipped, error %v", jobs, places, skipped, err)
	}
	if got := rigid.Requested(log, places, s.TimeScale); !slices.Equal(got, []float64{40, 0, 30}) {
		t.Errorf("requested %v", got)
	}
}
