package main

import (
	"errors"
	"io"
	"math"
	"testing"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/dispatch/swf"
	"productform/internal/input"
	"productform/traces"
)

// sample returns some jobs of the shipped log, scaled as in [L14], with workers of different
// speeds, some of which fail.
func sample(t testing.TB, jobs int, seed uint64) Scenario {
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
	sampling.Count, sampling.GapScale, sampling.Batch = jobs, 0.0002, 0.01 // makes jobs wait for one another
	list, _, err := sampling.Jobs(log, seed)
	if err != nil {
		t.Fatal(err)
	}
	s := Scenario{Scenario: dispatch.Scenario{
		Policy: dispatch.Policy{Rule: dispatch.EDF},
		Jobs:   list,
		Speeds: []float64{1, 0.5, 1.5, 1, 0.7, 1.3, 2, 0.9},
	}}
	whole, err := Simulate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Outages = outages(whole.Result.Makespan)
	return s
}

// outages takes six of eight workers away for a while and one permanently, in a run of the given
// length.
func outages(last float64) (list []dispatch.Outage) {
	for k, w := range []int{0, 2, 3, 4, 6, 7} {
		from := last * float64(k+1) / 9
		list = append(list, dispatch.Outage{Worker: w, From: from, To: from + last/5})
	}
	return append(list, dispatch.Outage{Worker: 1, From: last / 2, To: math.Inf(1)})
}

// Replays match the simulation to the last digit under all six policies.
func TestReplayMatchesRun(t *testing.T) {
	for k, name := range []string{
		"priority", "proportion", "workload:60", "deadline/priority", "deadline/kept", "edf",
	} {
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
			got, err := RunScenario(t.Context(), s, ScenarioSettings{Pace: 1000})
			if err != nil {
				t.Fatal(err)
			}
			if err := Compare(got, want); err != nil {
				t.Error(err)
			}
			if want.Result.Lost == 0 || want.Result.Tasks < 100 {
				t.Errorf("the sample has %d tasks, of which %d are lost: too few for this test",
					want.Result.Tasks, want.Result.Lost)
			}
		})
	}
}

// Replays of the baselines match too. Their jobs fit on the seven workers that remain in the end,
// and each requests twice its run time.
func TestReplayMatchesRigidRun(t *testing.T) {
	for k, name := range []string{"fcfs", "sjf", "easy", "easy/sjf", "conservative"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sample(t, 20, uint64(k+1))
			var err error
			if s.Rigid, err = rigid.ParsePolicy(name); err != nil {
				t.Fatal(err)
			}
			s.Policy, s.Speeds = dispatch.Policy{}, []float64{1, 1, 1, 1, 1, 1, 1, 1}
			for i := range s.Jobs {
				j := &s.Jobs[i]
				j.Tasks, j.Estimate = 1+j.Tasks%7, 2*j.Work
			}
			s.Jobs, _ = rigid.Settled(s.Jobs, false)
			s.Outages = nil
			whole, err := Simulate(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			s.Outages = outages(whole.Rigid.Makespan)
			want, err := Simulate(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			got, err := RunScenario(t.Context(), s, ScenarioSettings{Pace: 1000})
			if err != nil {
				t.Fatal(err)
			}
			if err := Compare(got, want); err != nil {
				t.Error(err)
			}
			if want.Rigid.Lost == 0 || want.Rigid.Waiting.Max == 0 {
				t.Errorf("%d tasks are lost, and jobs wait for at most %v s: too little for this test",
					want.Rigid.Lost, want.Rigid.Waiting.Max)
			}
		})
	}
}

// Compare finds every difference, and no others.
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
		"one moment missing":   func(l *Log) { l.Moments = l.Moments[:len(l.Moments)-1] },
		"an additional moment": func(l *Log) { l.Moments = append(l.Moments, l.Moments[0]) },
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
	if _, err := RunScenario(t.Context(), s, ScenarioSettings{Pace: 1}); err == nil {
		t.Error("a job with its own speeds is accepted")
	}
	s.Jobs[1].Speeds = nil
	s.Jobs[0].Submit, s.Jobs[1].Submit = 2, 1
	if _, err := RunScenario(t.Context(), s, ScenarioSettings{Pace: 1}); err == nil {
		t.Error("unsorted jobs are accepted")
	}
	good := func() Scenario {
		return Scenario{
			Rigid:    rigid.Policies()[0],
			Scenario: dispatch.Scenario{Speeds: []float64{1}, Jobs: []dispatch.Job{{Tasks: 1, Work: 1, Estimate: 1}}},
		}
	}
	s = good()
	if err := check(&s); err != nil {
		t.Fatal(err)
	}
	for path, spoil := range map[string]func(*Scenario){
		"Policy":           func(s *Scenario) { s.Policy.Rule = dispatch.EDF },
		"Learning.Default": func(s *Scenario) { s.Learning.Default = 1 },
		"Emergency":        func(s *Scenario) { s.Emergency = 1 },
		"Replan":           func(s *Scenario) { s.Replan = 1 },
		"Speeds[0]":        func(s *Scenario) { s.Speeds[0] = 2 },
		"Jobs[0].Estimate": func(s *Scenario) { s.Jobs[0].Estimate = 0.5 },
	} {
		s := good()
		spoil(&s)
		if bad := (*input.Error)(nil); !errors.As(check(&s), &bad) || bad.Path != path {
			t.Errorf("%s: error %v", path, check(&s))
		}
	}
}
