package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
)

func mustRun(t testing.TB, s dispatch.Scenario) *dispatch.Result {
	t.Helper()
	r, err := dispatch.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The measures of three jobs on two equal workers match a calculation by hand. Job 0 has both
// workers until 4; then job 1 runs from 4 to 7 and job 2 from 4 to 10. Job 1, of priority 3, waits
// for job 0, of priority 1, from time 1; job 2, of priority 2, from time 2.
func TestMeasuresByHand(t *testing.T) {
	jobs := []dispatch.Job{
		{Submit: 0, Tasks: 2, Work: 4, Priority: 1, Deadline: 5},
		{Submit: 1, Tasks: 1, Work: 3, Priority: 3, Deadline: 20},
		{Submit: 2, Tasks: 1, Work: 6, Priority: 2, Deadline: 8},
	}
	want := dispatch.Result{
		Jobs: []dispatch.Record{
			{Job: 0, Start: 0, Finish: 4, Delay: 4, Slowdown: 1},
			{Job: 1, Start: 4, Finish: 7, Delay: 6, Slowdown: 2},
			{Job: 2, Start: 4, Finish: 10, Delay: 8, Slowdown: 8. / 6, Missed: 2},
		},
		RunningViolationRate: (1./2*1 + 2./3*2) / 10,
		DeadlineMissPenalty:  2 * 2, Missed: 1,
		Waiting:     dispatch.Spread{Count: 3, Mean: 5. / 3, P50: 2, P95: 3, P99: 3, Max: 3},
		Delay:       dispatch.Spread{Count: 3, Mean: 6, P50: 6, P95: 8, P99: 8, Max: 8},
		Slowdown:    dispatch.Spread{Count: 3, Mean: (1 + 2 + 8./6) / 3, P50: 8. / 6, P95: 2, P99: 2, Max: 2},
		Utilization: 17. / 20, Makespan: 10, Decisions: 5, Tasks: 4,
	}
	s := dispatch.Scenario{Jobs: jobs, Speeds: []float64{1, 1}}

	// Priority plans no worker for job 0 once the others are present.
	s.Policy = dispatch.Policy{Rule: dispatch.Priority}
	if err := sameResult(mustRun(t, s), &want); err != nil {
		t.Errorf("priority: %v", err)
	}

	// EDF plans both workers for job 0 while it is present: decisions at 0, 1, 2, 4, 7, with 1/2
	// and 2/3 violated at 1 and 2.
	s.Policy = dispatch.Policy{Rule: dispatch.EDF}
	want.PriorityViolationRate = want.RunningViolationRate
	want.DecisionViolationRate = (1./2 + 2./3) / 5
	if err := sameResult(mustRun(t, s), &want); err != nil {
		t.Errorf("edf: %v", err)
	}
}

// For two hundred jobs of 1 to 200 seconds that do not overlap, the quantiles are the smallest
// values that satisfy the definition.
func TestQuantiles(t *testing.T) {
	s := dispatch.Scenario{Speeds: []float64{2}, Policy: dispatch.Policy{Rule: dispatch.EDF}}
	for i := range 200 {
		s.Jobs = append(s.Jobs, dispatch.Job{Submit: 1000 * float64(i), Tasks: 1, Work: 2 * float64(1+i*7%200)})
	}
	r := mustRun(t, s)
	if want := (dispatch.Spread{Count: 200, Mean: 100.5, P50: 100, P95: 190, P99: 198, Max: 200}); r.Delay != want {
		t.Errorf("response %+v, want %+v", r.Delay, want)
	}
	if want := (dispatch.Spread{Count: 200, Mean: 1, P50: 1, P95: 1, P99: 1, Max: 1}); r.Slowdown != want {
		t.Errorf("slowdown %+v, want %+v", r.Slowdown, want)
	}
	s.Jobs = []dispatch.Job{{Submit: 3, Tasks: 5, Work: 0, Priority: 1}}
	r = mustRun(t, s)
	if r.Slowdown != (dispatch.Spread{}) || r.Utilization != 0 || r.Makespan != 0 || r.PriorityViolationRate != 0 ||
		r.Decisions != 5 {
		t.Errorf("no work: %+v", r)
	}
}

// The deadline policy follows the work of finished tasks. Twenty tasks are due in 40 seconds and
// estimated at 8 seconds each, which takes four workers. The first six tasks need 4 seconds, the
// others 10, so first fewer workers are planned and then more.
func TestLearningByHand(t *testing.T) {
	works := slices.Concat(slices.Repeat([]float64{4}, 6), slices.Repeat([]float64{10}, 14))
	for _, c := range []struct {
		window        int
		times         []float64
		planned       []int // ⌈tasks left · estimate / time left⌉, at most the number of tasks left
		finish, until float64
	}{
		// 20·8/40, 16·4/36, 14·4/32, 12·5.5/22 with 44/8 = 5.5, 9·(74/11)/12 = 5.05, 3·(134/17)/2
		{0, []float64{0, 4, 8, 18, 28, 38}, []int{4, 2, 2, 3, 6, 3}, 48, 8},
		// ..., 12·10/22 = 5.45, 6·10/12, 1·10/2
		{2, []float64{0, 4, 8, 18, 28, 38}, []int{4, 2, 2, 6, 5, 1}, 48, 8},
	} {
		var times []float64
		var planned []int
		r := mustRun(t, dispatch.Scenario{
			Jobs:     []dispatch.Job{{Tasks: 20, Works: works, Deadline: 40, Priority: 1}},
			Speeds:   slices.Repeat([]float64{1}, 8),
			Policy:   dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareKept},
			Learning: dispatch.Learning{Default: 8, Window: c.window},
			Watch: func(d *dispatch.Decision) {
				if len(d.Present) > 0 {
					times, planned = append(times, d.Time), append(planned, d.Planned[0])
				}
			},
		})
		if !slices.Equal(times, c.times) || !slices.Equal(planned, c.planned) {
			t.Errorf("window %d: planned %v at %v, want %v at %v", c.window, planned, times, c.planned, c.times)
		}
		if r.Makespan != c.finish || r.Jobs[0].Missed != c.until {
			t.Errorf("window %d: %+v", c.window, r.Jobs[0])
		}
	}
}

// An emergency at time 2 takes the last two of three workers from job 0, whose lost tasks restart
// later. Job 1, for which a worker is also planned, is not an emergency and waits for the emergency
// to end.
func TestEmergencyByHand(t *testing.T) {
	s := dispatch.Scenario{
		Jobs: []dispatch.Job{
			{Submit: 0, Tasks: 3, Work: 10, Priority: 1},
			{Submit: 1, Tasks: 1, Work: 3, Priority: 2},
			{Submit: 2, Tasks: 2, Work: 4, Priority: 9},
		},
		Speeds: []float64{1, 1, 1}, Policy: dispatch.Policy{Rule: dispatch.Priority}, Emergency: 9,
	}
	r := mustRun(t, s)
	want := []dispatch.Record{
		{Job: 0, Start: 0, Finish: 19, Delay: 19, Slowdown: 1.9, Lost: 2},
		{Job: 1, Start: 6, Finish: 9, Delay: 8, Slowdown: 8. / 3},
		{Job: 2, Start: 2, Finish: 6, Delay: 4, Slowdown: 1},
	}
	if !slices.Equal(r.Jobs, want) || r.Lost != 2 || r.Utilization != 41./57 || r.Wasted != 4./57 {
		t.Errorf("%+v", r)
	}
	s.Emergency = 9.5
	if r := mustRun(t, s); r.Jobs[2].Start != 10 || r.Lost != 0 {
		t.Errorf("no emergency: %+v", r)
	}
}

// Two tasks of work 20 are due at 22, and two workers have speed 2. At time t the job needs speed
// 40/(22 - t), which one worker provides until time 2. After that, the first multiple of the period
// gives it the second worker, for 10 seconds.
func TestReplanByHand(t *testing.T) {
	s := dispatch.Scenario{
		Jobs:   []dispatch.Job{{Tasks: 2, Work: 20, Deadline: 22, Priority: 1}},
		Speeds: []float64{2, 2},
		Policy: dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareKept},
	}
	for _, c := range []struct {
		replan, finish float64
		times          []float64 // times of decisions
	}{
		{0, 20, []float64{0, 10, 20}},
		{5, 15, []float64{0, 5, 10, 15}}, // the first task ends at 10
		{2, 14, []float64{0, 2, 4, 6, 8, 10, 12, 14}},
		{1.5, 13, []float64{0, 1.5, 3, 4.5, 6, 7.5, 9, 10, 10.5, 12, 13}},
		{40, 20, []float64{0, 10, 20}},
	} {
		s.Replan = c.replan
		var times []float64
		s.Watch = func(d *dispatch.Decision) { times = append(times, d.Time) }
		if r := mustRun(t, s); r.Makespan != c.finish || !slices.Equal(times, c.times) {
			t.Errorf("period %v: done at %v, want %v; decisions at %v, want %v",
				c.replan, r.Makespan, c.finish, times, c.times)
		}
	}
}

// NextReplan returns the first multiple that does not coincide with the time, and terminates even
// if multiples are closer together than rounding.
func TestNextReplan(t *testing.T) {
	for _, c := range []struct{ now, period, want float64 }{
		{0, 5, 5}, {4.9, 5, 5}, {5, 5, 10}, {5 - 1e-13, 5, 10}, {5 - 1e-10, 5, 5}, {0.3, 0.1, 0.4},
		{0.1 + 0.2, 0.1, 0.4}, {1e9, 7, 142857143 * 7},
	} {
		if got := dispatch.NextReplan(c.now, c.period); got != c.want {
			t.Errorf("after %v in steps of %v: %v, want %v", c.now, c.period, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		now := rapid.Float64Range(0, 1e50).Draw(t, "now")
		period := rapid.Float64Range(1e-50, 1e50).Draw(t, "period")
		next := dispatch.NextReplan(now, period)
		if !(next > now && next <= now*(1+3e-12)+period*(1+1e-12)) {
			t.Fatalf("after %v in steps of %v: %v", now, period, next)
		}
	})
}

// singleTasks draws jobs of one task, occasionally more than the workers can handle.
func singleTasks(random *rand.Rand, jobs, workers, priorities int) []dispatch.Job {
	var list []dispatch.Job
	now := 0.0
	for range jobs {
		now += random.ExpFloat64() / float64(workers)
		list = append(list, dispatch.Job{
			Submit: now, Tasks: 1, Work: 0.9 * random.ExpFloat64(), Priority: float64(random.IntN(priorities)),
		})
	}
	return list
}

// firstComeRules returns the policies under which equal jobs are served FCFS.
func firstComeRules() []dispatch.Policy {
	var policies []dispatch.Policy
	for _, rule := range dispatch.AllRules() {
		policies = append(policies, dispatch.Policy{Rule: rule}, dispatch.Policy{
			Rule:  rule,
			Spare: dispatch.SpareByDeadline,
		})
	}
	return policies
}

// With one worker, delays follow Lindley's recursion W' = max(0, W + S - A). With several, they
// follow the recursion of Kiefer and Wolfowitz on the sorted vector of the remaining work of each
// worker. Times are below about 1000, so sums of a thousand terms agree to 1e-9.
func TestFirstComeFirstServed(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		jobs := singleTasks(rand.New(rand.NewPCG(6, uint64(workers))), 1000, workers, 1)
		before := make([]float64, workers)
		var waits []float64
		for i := range jobs {
			if i > 0 {
				for k := range before {
					before[k] = max(0, before[k]-(jobs[i].Submit-jobs[i-1].Submit))
				}
			}
			slices.Sort(before)
			waits = append(waits, before[0])
			before[0] += jobs[i].Work
		}
		for _, p := range firstComeRules() {
			r := mustRun(t, dispatch.Scenario{Jobs: jobs, Speeds: slices.Repeat([]float64{1}, workers), Policy: p})
			for i, rec := range r.Jobs {
				if math.Abs(rec.Start-jobs[i].Submit-waits[i]) > 1e-9 {
					t.Fatalf("%d workers, %+v: job %d waits %v, want %v",
						workers, p, i, rec.Start-jobs[i].Submit, waits[i])
				}
			}
		}
	}
}

// One worker with single tasks under the priority rule is a non-preemptive priority queue, which a
// separate loop simulates.
func TestPriorityQueue(t *testing.T) {
	jobs := singleTasks(rand.New(rand.NewPCG(7, 8)), 1000, 1, 4)
	r := mustRun(t, dispatch.Scenario{
		Jobs:   jobs,
		Speeds: []float64{1},
		Policy: dispatch.Policy{Rule: dispatch.Priority},
	})
	waiting := slices.Clone(jobs)
	place := map[float64]int{}
	for i, j := range jobs {
		place[j.Submit] = i
	}
	now := 0.0
	for len(waiting) > 0 {
		now = max(now, waiting[0].Submit)
		best := 0
		for k, j := range waiting {
			if j.Submit <= now && j.Priority > waiting[best].Priority {
				best = k
			}
		}
		j := waiting[best]
		if got := r.Jobs[place[j.Submit]].Start; got != now {
			t.Fatalf("job %d starts at %v, want %v", place[j.Submit], got, now)
		}
		now += j.Work
		waiting = slices.Delete(waiting, best, best+1)
	}
}

// The mean response time of the M/M/1 queue at load 1/2 is 2 service times. Means over batches of
// 2000 jobs are almost independent; chance exceeds six standard errors of 100 batches once in ten
// million.
func TestSingleServerQueueMean(t *testing.T) {
	const batches, size = 100, 2000
	random := rand.New(rand.NewPCG(9, 10))
	s := dispatch.Scenario{Speeds: []float64{1}, Policy: dispatch.Policy{Rule: dispatch.EDF}}
	now := 0.0
	for range batches * size {
		now += 2 * random.ExpFloat64()
		s.Jobs = append(s.Jobs, dispatch.Job{Submit: now, Tasks: 1, Work: random.ExpFloat64()})
	}
	r := mustRun(t, s)
	var sum, squares float64
	for b := range batches {
		mean := 0.0
		for _, rec := range r.Jobs[b*size : (b+1)*size] {
			mean += rec.Delay / size
		}
		sum += mean
		squares += mean * mean
	}
	mean := sum / batches
	half := 6 * math.Sqrt((squares/batches-mean*mean)/(batches-1))
	if math.Abs(mean-2) > half || half > 0.2 {
		t.Errorf("mean response %v ± %v, want 2", mean, half)
	}
}

// A scenario gives the same digits twice, and from several goroutines that share it, and is not
// modified.
func TestSameDigits(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for n := range 100 {
		s := randomScenario(dispatch.AllRules()[n%len(dispatch.AllRules())], dispatch.SpareByDeadline, random.IntN)
		text := fmt.Sprintf("%+v", s)
		want, wantErr := dispatch.Run(context.Background(), s)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := dispatch.Run(context.Background(), s)
				if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr) {
					t.Errorf("%+v, %v, want %+v, %v", got, err, want, wantErr)
				}
			})
		}
		wg.Wait()
		if now := fmt.Sprintf("%+v", s); now != text {
			t.Errorf("scenario became %s, was %s", now, text)
		}
	}
}

// Jobs with distinct submission times may be listed in any order.
func TestOrderOfJobs(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for n := range 300 {
		s := randomScenario(dispatch.AllRules()[n%len(dispatch.AllRules())], "", random.IntN)
		for i, k := range random.Perm(len(s.Jobs)) {
			j := &s.Jobs[i]
			late := j.Deadline - j.Submit
			if j.Submit = float64(k); j.Deadline > 0 {
				j.Deadline = j.Submit + late
			}
		}
		want, wantErr := dispatch.Run(context.Background(), s)
		shuffled := s
		perm := random.Perm(len(s.Jobs))
		shuffled.Jobs = nil
		for _, i := range perm {
			shuffled.Jobs = append(shuffled.Jobs, s.Jobs[i])
		}
		got, err := dispatch.Run(context.Background(), shuffled)
		if wantErr != nil || err != nil {
			if (wantErr == nil) != (err == nil) {
				t.Fatalf("error %v, want %v", err, wantErr)
			}
			continue
		}
		back := *got
		back.Jobs = make([]dispatch.Record, len(perm))
		for k, i := range perm {
			back.Jobs[i] = got.Jobs[k]
			back.Jobs[i].Job = i
		}
		if !slices.Equal(back.Jobs, want.Jobs) {
			t.Fatalf("%+v, want %+v", back.Jobs, want.Jobs)
		}
		if err := sameResult(&back, want); err != nil {
			t.Fatal(err)
		}
	}
}

// A scenario in another unit of time, a power of two, has exactly the same result in that unit.
func TestUnitOfTime(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	for n := range 300 {
		s := randomScenario(dispatch.AllRules()[n%len(dispatch.AllRules())], dispatch.SpareByDeadline, random.IntN)
		unit := math.Ldexp(1, random.IntN(61)-30)
		want, wantErr := dispatch.Run(context.Background(), s)
		got, err := dispatch.Run(context.Background(), inUnit(s, unit))
		if wantErr != nil || err != nil {
			if (wantErr == nil) != (err == nil) {
				t.Fatalf("error %v, want %v", err, wantErr)
			}
			continue
		}
		times := []*float64{&want.DeadlineMissPenalty, &want.Makespan}
		for i := range want.Jobs {
			rec := &want.Jobs[i]
			times = append(times, &rec.Start, &rec.Finish, &rec.Delay, &rec.Missed)
		}
		for _, p := range []*dispatch.Spread{&want.Waiting, &want.Delay} {
			times = append(times, &p.Mean, &p.P50, &p.P95, &p.P99, &p.Max)
		}
		for _, v := range times {
			*v *= unit
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("unit %v: %+v, want %+v", unit, got, want)
		}
	}
}

// A run stops within a thousand decisions after its cancellation, and returns the cause.
func TestCancel(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	decisions := 0
	s := dispatch.Scenario{
		Jobs: []dispatch.Job{{Tasks: 1e9, Work: 1}}, Speeds: []float64{1}, Policy: dispatch.Policy{Rule: dispatch.EDF},
		Watch: func(*dispatch.Decision) {
			if decisions++; decisions == 1500 {
				cancel(cause)
			}
		},
	}
	r, err := dispatch.Run(ctx, s)
	if r != nil || err != cause || decisions > 2500 {
		t.Errorf("%v, error %v after %d decisions", r, err, decisions)
	}
	before := decisions
	if r, err := dispatch.Run(ctx, s); r != nil || err != cause || decisions != before {
		t.Errorf("%v, error %v after %d decisions", r, err, decisions)
	}
}

// With many workers a cancelled run stops before the next decision.
func TestCancelManyWorkers(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	decisions := 0
	_, err := dispatch.Run(ctx, dispatch.Scenario{
		Jobs: []dispatch.Job{{Tasks: 1e9, Work: 1}}, Speeds: slices.Repeat([]float64{1}, 100000),
		Policy: dispatch.Policy{Rule: dispatch.EDF},
		Watch: func(*dispatch.Decision) {
			if decisions++; decisions == 3 {
				cancel()
			}
		},
	})
	if err != context.Canceled || decisions != 3 {
		t.Errorf("error %v after %d decisions", err, decisions)
	}
}

// A valid scenario is accepted, and each invalid entry gives its own error.
func TestScenarioErrors(t *testing.T) {
	good := func() dispatch.Scenario {
		return dispatch.Scenario{
			Jobs: []dispatch.Job{
				{Submit: 0, Deadline: 9, Priority: 1, Tasks: 2, Work: 1, Estimate: 2},
				{Submit: 5, Deadline: 9, Priority: 1, Tasks: 2, Works: []float64{1, 2}, Speeds: []float64{1, 2}},
			},
			Speeds: []float64{1, 2},
			Policy: dispatch.Policy{Rule: dispatch.Deadline},
			Outages: []dispatch.Outage{
				{Worker: 1, From: 4, To: 6}, {Worker: 0, From: 2, To: 3}, {Worker: 1, From: 6, To: 9},
			},
			Learning:  dispatch.Learning{Default: 1, Window: 3},
			Emergency: 2,
		}
	}
	mustRun(t, good())
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		want  badEntry
		spoil func(s *dispatch.Scenario)
	}{
		{badEntry{"Jobs", "no jobs", wantOne}, func(s *dispatch.Scenario) { s.Jobs = nil }},
		{badEntry{"Speeds", "no workers", wantOne}, func(s *dispatch.Scenario) { s.Speeds = nil }},
		{badEntry{"Speeds[1]", "0", wantPositive}, func(s *dispatch.Scenario) { s.Speeds[1] = 0 }},
		{badEntry{"Speeds[0]", "-1", wantPositive}, func(s *dispatch.Scenario) { s.Speeds[0] = -1 }},
		{badEntry{"Speeds[0]", "NaN", wantPositive}, func(s *dispatch.Scenario) { s.Speeds[0] = nan }},
		{badEntry{"Speeds[0]", "+Inf", wantPositive}, func(s *dispatch.Scenario) { s.Speeds[0] = inf }},
		{badEntry{"Policy.Rule", "", wantRule}, func(s *dispatch.Scenario) { s.Policy.Rule = "" }},
		{badEntry{"Policy.Spare", "all", wantSpare}, func(s *dispatch.Scenario) { s.Policy.Spare = "all" }},
		{badEntry{"Policy.Reserve", "NaN", wantFraction}, func(s *dispatch.Scenario) { s.Policy.Reserve = nan }},
		{badEntry{"Policy.Horizon", "-1", wantHorizon},
			func(s *dispatch.Scenario) { s.Policy.Horizon = -1 }},
		{badEntry{"Jobs[0].Submit", "-1", wantTime}, func(s *dispatch.Scenario) { s.Jobs[0].Submit = -1 }},
		{badEntry{"Jobs[0].Submit", "NaN", wantTime}, func(s *dispatch.Scenario) { s.Jobs[0].Submit = nan }},
		{badEntry{"Jobs[1].Deadline", "4", wantDeadlineAfter5},
			func(s *dispatch.Scenario) { s.Jobs[1].Deadline = 4 }},
		{badEntry{"Jobs[1].Deadline", "5", wantDeadlineAfter5},
			func(s *dispatch.Scenario) { s.Jobs[1].Deadline = 5 }},
		{badEntry{"Jobs[1].Deadline", "+Inf", wantDeadlineAfter5},
			func(s *dispatch.Scenario) { s.Jobs[1].Deadline = inf }},
		{badEntry{"Jobs[1].Deadline", "NaN", wantDeadlineAfter5},
			func(s *dispatch.Scenario) { s.Jobs[1].Deadline = nan }},
		{badEntry{"Jobs[0].Priority", "-1", wantNonnegative}, func(s *dispatch.Scenario) { s.Jobs[0].Priority = -1 }},
		{badEntry{"Jobs[0].Priority", "NaN", wantNonnegative}, func(s *dispatch.Scenario) { s.Jobs[0].Priority = nan }},
		{badEntry{"Jobs[0].Tasks", "0", wantTasks}, func(s *dispatch.Scenario) { s.Jobs[0].Tasks = 0 }},
		{
			badEntry{"Jobs[0].Tasks", "1000000001", wantTasks},
			func(s *dispatch.Scenario) { s.Jobs[0].Tasks = 1_000_000_001 },
		},
		{badEntry{"Jobs[0].MaxWorkers", "-1", wantMost}, func(s *dispatch.Scenario) { s.Jobs[0].MaxWorkers = -1 }},
		{badEntry{"Jobs[0].Work", "-1", wantWork}, func(s *dispatch.Scenario) { s.Jobs[0].Work = -1 }},
		{badEntry{"Jobs[0].Work", "NaN", wantWork}, func(s *dispatch.Scenario) { s.Jobs[0].Work = nan }},
		{badEntry{"Jobs[0].Estimate", "NaN", wantEstimate}, func(s *dispatch.Scenario) { s.Jobs[0].Estimate = nan }},
		{badEntry{"Jobs[0].Estimate", "-2", wantEstimate}, func(s *dispatch.Scenario) { s.Jobs[0].Estimate = -2 }},
		{badEntry{"Jobs[1].Works", "1", wantWorks}, func(s *dispatch.Scenario) { s.Jobs[1].Works = []float64{1} }},
		{badEntry{"Jobs[1].Works", "0", wantWorks}, func(s *dispatch.Scenario) { s.Jobs[1].Works = []float64{} }},
		{badEntry{"Jobs[1].Work", "3", "0 if Works is set"}, func(s *dispatch.Scenario) { s.Jobs[1].Work = 3 }},
		{badEntry{"Jobs[1].Works[1]", "+Inf", wantWork}, func(s *dispatch.Scenario) { s.Jobs[1].Works[1] = inf }},
		{
			badEntry{"Jobs[1].Speeds", "3", "2 speeds, one per worker"},
			func(s *dispatch.Scenario) { s.Jobs[1].Speeds = []float64{1, 2, 3} },
		},
		{badEntry{"Jobs[1].Speeds[0]", "0", wantPositive}, func(s *dispatch.Scenario) { s.Jobs[1].Speeds[0] = 0 }},
		{badEntry{"Learning.Default", "-1", wantDefault}, func(s *dispatch.Scenario) { s.Learning.Default = -1 }},
		{badEntry{"Learning.Default", "NaN", wantDefault}, func(s *dispatch.Scenario) { s.Learning.Default = nan }},
		{badEntry{"Learning.Window", "-1", wantNumber}, func(s *dispatch.Scenario) { s.Learning.Window = -1 }},
		{
			badEntry{"Learning.Window", "3", "0 without a Default"},
			func(s *dispatch.Scenario) { s.Learning.Default = 0 },
		},
		{badEntry{"Emergency", "NaN", wantEmergency}, func(s *dispatch.Scenario) { s.Emergency = nan }},
		{badEntry{"Emergency", "-3", wantEmergency}, func(s *dispatch.Scenario) { s.Emergency = -3 }},
		{badEntry{"Replan", "-1", wantDefault}, func(s *dispatch.Scenario) { s.Replan = -1 }},
		{badEntry{"Replan", "NaN", wantDefault}, func(s *dispatch.Scenario) { s.Replan = nan }},
		{badEntry{"Replan", "+Inf", wantDefault}, func(s *dispatch.Scenario) { s.Replan = inf }},
		{badEntry{"Outages[1].Worker", "-1", wantWorker}, func(s *dispatch.Scenario) { s.Outages[1].Worker = -1 }},
		{badEntry{"Outages[1].Worker", "2", wantWorker}, func(s *dispatch.Scenario) { s.Outages[1].Worker = 2 }},
		{badEntry{"Outages[0].From", "-1", wantTime}, func(s *dispatch.Scenario) { s.Outages[0].From = -1 }},
		{badEntry{"Outages[0].From", "+Inf", wantTime}, func(s *dispatch.Scenario) { s.Outages[0].From = inf }},
		{badEntry{"Outages[0].To", "4", wantEndAfter4},
			func(s *dispatch.Scenario) { s.Outages[0].To = 4 }},
		{badEntry{"Outages[0].To", "NaN", wantEndAfter4},
			func(s *dispatch.Scenario) { s.Outages[0].To = nan }},
		{badEntry{"Outages[0].To", "1e+300", wantEndAfter4},
			func(s *dispatch.Scenario) { s.Outages[0].To = 1e300 }},
		{badEntry{"Outages[2].From", "6", "a time >= 6.5, the end of Outages[0] of the same worker"},
			func(s *dispatch.Scenario) { s.Outages[0].To = 6.5 }},
		{badEntry{"Outages[2].From", "6", "a time >= +Inf, the end of Outages[0] of the same worker"},
			func(s *dispatch.Scenario) { s.Outages[0].To = inf }},
	} {
		s := good()
		c.spoil(&s)
		r, err := dispatch.Run(context.Background(), s)
		if r != nil || !c.want.is(err) {
			t.Errorf("%v, error %v, want %v", r, err, c.want)
		}
	}
}

// At the extremes of the valid ranges all numbers stay finite.
func TestExtremesAreFinite(t *testing.T) {
	for name, s := range map[string]dispatch.Scenario{
		"slow": {Speeds: []float64{1e-50}, Jobs: slices.Repeat([]dispatch.Job{
			{Tasks: 1000, Work: 1e50, Priority: 1e50, Deadline: 1}}, 100)},
		"tiny and huge": {Speeds: []float64{1e50, 1e-50}, Jobs: []dispatch.Job{
			{Tasks: 9, Work: 1e50}, {Tasks: 9, Work: 1e-50, Deadline: 1e50, Submit: 1e-50}}},
	} {
		for _, rule := range dispatch.AllRules() {
			s.Policy = dispatch.Policy{Rule: rule, Horizon: 1e-50}
			r, err := dispatch.Run(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(r) // rejects NaN and infinity
			if err != nil {
				t.Errorf("%s, %s: %v in %+v", name, rule, err, text)
			}
		}
	}
}

// A slowdown divides by a lower bound on the shortest time of a job alone. The test finds that time
// by trying all assignments of tasks to workers: it is at least the bound, and on equal workers
// less than twice the bound. Three tasks on two equal workers take 2 s, but the bound is 1.5 s.
func TestSlowdownBound(t *testing.T) {
	above := 0
	rapid.Check(t, func(t *rapid.T) {
		speeds := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 1, 0.5, 0.25, 4}), 1, 4).Draw(t, "speeds")
		if rapid.Bool().Draw(t, "equal") {
			speeds = slices.Repeat(speeds[:1], len(speeds))
		}
		works := rapid.SliceOfN(rapid.SampledFrom([]float64{0.5, 1, 1, 3, 7}), 1, 6).Draw(t, "works")
		r, err := dispatch.Run(t.Context(), dispatch.Scenario{
			Speeds: speeds,
			Policy: dispatch.Policy{Rule: dispatch.EDF},
			Jobs:   []dispatch.Job{{Tasks: len(works), Works: works}},
		})
		if err != nil {
			t.Fatal(err)
		}
		least, busy := math.Inf(1), make([]float64, len(speeds))
		var place func(task int)
		place = func(task int) {
			if task == len(works) {
				least = min(least, slices.Max(busy))
				return
			}
			for s, v := range speeds {
				before := busy[s]
				busy[s] += works[task] / v
				place(task + 1)
				busy[s] = before
			}
		}
		place(0)
		bound := r.Jobs[0].Delay / r.Jobs[0].Slowdown
		const rounding = 1e-14 // error of sums of six terms and two quotients
		if bound > least*(1+rounding) || slices.Min(speeds) == slices.Max(speeds) && least >= 2*bound {
			t.Fatalf("the bound is %v, the shortest time %v", bound, least)
		}
		if least > bound*(1+rounding) {
			above++
		}
	})
	if above == 0 {
		t.Error("the bound is always attained: few cases tried")
	}
	r := mustRun(t, dispatch.Scenario{
		Speeds: []float64{1, 1},
		Policy: dispatch.Policy{Rule: dispatch.EDF},
		Jobs:   []dispatch.Job{{Tasks: 3, Work: 1}},
	})
	if r.Jobs[0].Delay != 2 || r.Jobs[0].Slowdown != 2/1.5 {
		t.Errorf("%+v", r.Jobs[0])
	}
}
