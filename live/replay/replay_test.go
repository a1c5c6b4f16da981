package replay

import (
	"io"
	"math"
	"testing"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/traces"
)

// sample returns some jobs of the shipped log, scaled as in [L14], for unequal workers of which some fail.
func sample(t testing.TB, jobs int, seed uint64) dispatch.Scenario {
	t.Helper()
	from, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	var log []swf.Job
	for r := swf.NewReader(from, "log"); ; {
		j, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, j)
	}
	sampling := dispatch.LinSampling(1)
	sampling.Count, sampling.GapScale, sampling.Batch = jobs, 0.0002, 0.01 // so that jobs wait for one another
	list, _, err := sampling.Jobs(log, seed)
	if err != nil {
		t.Fatal(err)
	}
	s := dispatch.Scenario{Policy: dispatch.Policy{Rule: dispatch.EDF}, Jobs: list, Speeds: []float64{1, 0.5, 1.5, 1, 0.7, 1.3, 2, 0.9}}
	whole, err := Simulate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	last := whole.Result.Makespan
	for k, w := range []int{0, 2, 3, 4, 6, 7} {
		from := last * float64(k+1) / 9
		s.Outages = append(s.Outages, dispatch.Outage{Worker: w, From: from, To: from + last/5})
	}
	s.Outages = append(s.Outages, dispatch.Outage{Worker: 1, From: last / 2, To: math.Inf(1)})
	return s
}

// Replays are the simulation to the last digit, under all six policies.
func TestReplayIsRun(t *testing.T) {
	for k, name := range []string{"priority", "proportion", "workload:60", "deadline/priority", "deadline/kept", "edf"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sample(t, 20, uint64(k+1))
			var err error
			if s.Policy, err = dispatch.ParsePolicy(name); err != nil {
				t.Fatal(err)
			}
			if k%2 == 1 {
				s.Learning, s.Emergency = dispatch.Learning{Default: 10}, 8
			}
			if name == "deadline/kept" {
				s.Replan = 5
			}
			want, err := Simulate(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Run(t.Context(), s, Settings{Pace: 1000})
			if err != nil {
				t.Fatal(err)
			}
			if err := Compare(got, want); err != nil {
				t.Error(err)
			}
			if want.Result.Lost == 0 || want.Result.Tasks < 100 {
				t.Errorf("the sample has %d tasks, of which %d are lost: too little to tell", want.Result.Tasks, want.Result.Lost)
			}
		})
	}
}

// Compare finds what differs, and nothing else.
func TestCompare(t *testing.T) {
	s := sample(t, 5, 1)
	want, err := Simulate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	again := func() *Log {
		l, err := Simulate(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if err := Compare(again(), want); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(*Log){
		"a time one digit off": func(l *Log) { l.Moments[3].At = math.Nextafter(l.Moments[3].At, 0) },
		"an event":             func(l *Log) { l.Moments[2].Events[0].Task++ },
		"one moment less":      func(l *Log) { l.Moments = l.Moments[:len(l.Moments)-1] },
		"one moment more":      func(l *Log) { l.Moments = append(l.Moments, l.Moments[0]) },
		"a measure":            func(l *Log) { l.Result.Delay.Mean = math.Nextafter(l.Result.Delay.Mean, 0) },
	} {
		l := again()
		change(l)
		if Compare(l, want) == nil {
			t.Errorf("%s: no difference found", what)
		}
	}
}

func TestCheck(t *testing.T) {
	s := sample(t, 5, 1)
	s.Jobs[1].Speeds = s.Speeds
	if _, err := Run(t.Context(), s, Settings{Pace: 1}); err == nil {
		t.Error("a job with speeds of its own is replayed")
	}
	s.Jobs[1].Speeds = nil
	s.Jobs[0].Submit, s.Jobs[1].Submit = 2, 1
	if _, err := Run(t.Context(), s, Settings{Pace: 1}); err == nil {
		t.Error("jobs out of order are replayed")
	}
}
