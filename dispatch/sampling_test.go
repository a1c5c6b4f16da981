package dispatch_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/internal/input"
	"productform/traces"
)

// naiveJobs takes count jobs starting at start, and implements each rule as a search over all jobs.
func naiveJobs(s dispatch.Sampling, log []swf.Job, start, count int) []dispatch.Job {
	var sorted []swf.Job
	taken := make([]bool, len(log))
	for {
		next := -1
		for i, l := range log {
			usable := l.Submit >= 0 && l.RunTime >= 0 && l.Processors >= 1
			if usable && !taken[i] && (next < 0 || l.Submit < log[next].Submit) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		taken[next] = true
		sorted = append(sorted, log[next])
	}
	sorted = sorted[start : start+count]

	jobs := make([]dispatch.Job, count)
	for i := range sorted {
		jobs[i].Submit = (sorted[i].Submit - sorted[0].Submit) * s.GapScale
	}
	scale, batch := decimal(s.GapScale), decimal(s.Batch)
	for head := 0; head < count; {
		next := head + 1
		gap := func() *big.Rat { return decimal(sorted[next].Submit - sorted[head].Submit) }
		for next < count && new(big.Rat).Mul(scale, gap()).Cmp(batch) < 0 {
			jobs[next].Submit = jobs[head].Submit
			next++
		}
		head = next
	}
	size := map[int64]int{} // jobs by user
	for _, l := range sorted {
		size[l.User]++
	}
	for i, l := range sorted {
		j := &jobs[i]
		j.ID, j.Tasks, j.Work = l.Number, int(l.Processors), l.RunTime*s.TimeScale
		if s.DeadlineFactor > 0 && j.Work > 0 {
			j.Deadline = j.Submit + s.DeadlineFactor*j.Work
			if j.Tasks >= s.Parallelism {
				j.Deadline = j.Submit + s.DeadlineFactor*j.Work*float64(j.Tasks)/float64(s.Parallelism)
			}
		}
		before, others := map[int64]bool{}, map[int64]bool{}
		for _, o := range sorted {
			if o.User != l.User {
				others[o.User] = true
				if a, b := size[o.User], size[l.User]; a < b || a == b && o.User < l.User {
					before[o.User] = true
				}
			}
		}
		j.Priority = s.HighestPriority
		if len(others) > 0 {
			j.Priority -= (s.HighestPriority - s.LowestPriority) * float64(len(before)) / float64(len(others))
		}
	}
	return jobs
}

// decimal returns the number as which v is printed: 0.1 is one tenth.
func decimal(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	return r
}

// sameJobs compares up to rounding. At most six operations on positive numbers make each number of
// a job; the only subtraction takes at most 99/100 of the highest priority.
func sameJobs(got, want []dispatch.Job) bool {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-13*math.Abs(b) }
	return slices.EqualFunc(got, want, func(a, b dispatch.Job) bool {
		return a.ID == b.ID && a.Tasks == b.Tasks && a.Works == nil && a.Speeds == nil && a.Estimate == 0 &&
			near(a.Submit, b.Submit) && near(a.Work, b.Work) && near(a.Deadline, b.Deadline) &&
			near(a.Priority, b.Priority)
	})
}

func drawLog(t *rapid.T) []swf.Job {
	log := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) swf.Job {
		return swf.Job{
			Submit:     float64(rapid.IntRange(-1, 20).Draw(t, "submit")),
			RunTime:    rapid.SampledFrom([]float64{-1, 0, 0.7, 1, 3, 40}).Draw(t, "run time"),
			Processors: rapid.Int64Range(-1, 9).Draw(t, "processors"),
			User:       rapid.Int64Range(-1, 4).Draw(t, "user"),
		}
	}), 0, 30).Draw(t, "log")
	for i := range log {
		log[i].Number = int64(i) + 1
	}
	return append(log, swf.Job{Number: 99, Submit: 5, RunTime: 2, Processors: 4, User: 1}) // the only usable job
}

// The naive program decides in decimal arithmetic which jobs form a batch. In this test that agrees
// with the rounded product of a scale and a whole number of seconds.
func TestSamplingAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		before := slices.Clone(log)
		usable := 0
		for _, l := range log {
			if min(l.Submit, l.RunTime) >= 0 && l.Processors > 0 {
				usable++
			}
		}
		s := dispatch.Sampling{
			Count:          rapid.IntRange(0, usable).Draw(t, "count"),
			TimeScale:      rapid.SampledFrom([]float64{1, 0.001, 7}).Draw(t, "time scale"),
			GapScale:       rapid.SampledFrom([]float64{1, 0.125, 0.1, 3}).Draw(t, "gap scale"),
			Batch:          rapid.SampledFrom([]float64{0, 0.2, 0.25, 1, 2, 6}).Draw(t, "batch"),
			DeadlineFactor: rapid.SampledFrom([]float64{0, 0.5, 2}).Draw(t, "factor"),
			Parallelism:    rapid.IntRange(1, 6).Draw(t, "parallelism"),
			LowestPriority: rapid.SampledFrom([]float64{0, 1, 100}).Draw(t, "lowest"), HighestPriority: 100,
		}
		seed := rapid.Uint64().Draw(t, "seed")
		jobs, skipped, err := s.Jobs(log, seed)
		if err != nil || skipped != len(log)-usable {
			t.Fatalf("%d skipped, want %d; error %v", skipped, len(log)-usable, err)
		}
		count := s.Count
		if count == 0 {
			count = usable
		}
		from := func(start int) bool { return sameJobs(jobs, naiveJobs(s, log, start, count)) }
		found := false
		for start := 0; start <= usable-count && !found; start++ {
			found = from(start)
		}
		if !found {
			t.Fatalf("%+v is not a sample of the log from any start", jobs)
		}
		if again, _, _ := s.Jobs(log, seed); !slices.EqualFunc(again, jobs, identical) {
			t.Fatal("the same seed gives different jobs")
		}
		if !slices.Equal(log, before) {
			t.Fatal("the log was changed")
		}
		if _, err := dispatch.Run(t.Context(), dispatch.Scenario{
			Jobs: jobs, Speeds: []float64{1, 0.5, 2}, Policy: dispatch.Policy{Rule: dispatch.Deadline},
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// identical reports whether two jobs agree in the fields that a workload sets.
func identical(a, b dispatch.Job) bool {
	return a.ID == b.ID && a.Submit == b.Submit && a.Deadline == b.Deadline && a.Priority == b.Priority &&
		a.Tasks == b.Tasks && a.Work == b.Work
}

// Twelve jobs leave eight starts for five. By Hoeffding's inequality the frequency of a start is
// off by more than d with probability at most 2 exp(-2 n d²) for n seeds, which is 1e-8 for the d
// in this test.
func TestStartIsUniform(t *testing.T) {
	var log []swf.Job
	for i := range int64(12) {
		log = append(log, swf.Job{Number: i, Submit: float64(i), RunTime: 1, Processors: 1})
	}
	s := dispatch.WholeLog()
	s.Count = 5
	const seeds = 4000
	counts := map[int64]int{}
	for seed := range uint64(seeds) {
		jobs, _, err := s.Jobs(log, seed)
		if err != nil {
			t.Fatal(err)
		}
		for k, j := range jobs {
			if j.ID != jobs[0].ID+int64(k) {
				t.Fatalf("job %d after %d", j.ID, jobs[0].ID)
			}
		}
		counts[jobs[0].ID]++
	}
	off := math.Sqrt(math.Log(2/1e-8) / (2 * seeds))
	for start := range int64(8) {
		if p := float64(counts[start]) / seeds; math.Abs(p-1.0/8) > off {
			t.Errorf("start %d has share %v of the seeds, want 1/8", start, p)
		}
	}
	if len(counts) != 8 {
		t.Errorf("%d starts, want 8", len(counts))
	}
}

// yearOfSDSC reads the included log without package swf.
func yearOfSDSC(t testing.TB) []swf.Job {
	t.Helper()
	text, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	var log []swf.Job
	for lines := bufio.NewScanner(text); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), ";") {
			continue
		}
		var v []float64
		for _, f := range strings.Fields(lines.Text()) {
			x, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, x)
		}
		log = append(log, swf.Job{
			Number: int64(v[0]), Submit: v[1], RunTime: v[3], Processors: int64(v[4]), User: int64(v[11]),
		})
	}
	return log
}

// The sums are those of
//
//	awk '!/^;/{n++; w+=$4*$5; d+=2*$4*($5>=4?$5/4:1); if($4==0)z++; u[$12]++} END{...}'
//
// on the log, exact since all terms are multiples of 1/2. There are 60 users: user 32 has one job,
// users 35 and 52 have two, and user 2 has the most, 6773.
func TestWholeYearOfSDSC(t *testing.T) {
	log := yearOfSDSC(t)
	jobs, skipped, err := dispatch.WholeLog().Jobs(log, 1)
	if err != nil || len(jobs) != 32135 || skipped != 0 {
		t.Fatalf("%d jobs, %d skipped, error %v", len(jobs), skipped, err)
	}
	var work, due float64
	idle := 0
	priorities := map[float64]int{}
	for i, j := range jobs {
		work += j.Work * float64(j.Tasks)
		if j.Deadline > 0 {
			due += j.Deadline - j.Submit
		} else {
			idle++
		}
		priorities[j.Priority]++
		if j.Submit != log[i].Submit {
			t.Fatalf("job %d is submitted at %v, want %v", j.ID, j.Submit, log[i].Submit)
		}
	}
	if work != 9559663355 || due != 4795815274 || idle != 7 {
		t.Errorf("total work %v, total deadlines %v, %d jobs without", work, due, idle)
	}
	var ranked []float64
	for p := range priorities {
		ranked = append(ranked, p)
	}
	slices.Sort(ranked)
	slices.Reverse(ranked)
	if len(ranked) != 60 || ranked[0] != 100 || ranked[59] != 1 {
		t.Fatalf("%d priorities, %v", len(ranked), ranked)
	}
	for k, p := range ranked {
		if want := 100 - 99*float64(k)/59; math.Abs(p-want) > 1e-13 { // error of three roundings of numbers up to 100
			t.Errorf("priority %v of rank %d, want %v", p, k, want)
		}
		if k > 0 && priorities[p] < priorities[ranked[k-1]] {
			t.Errorf("rank %d has %d jobs, the one before %d", k, priorities[p], priorities[ranked[k-1]])
		}
	}
	of := map[int64]float64{}
	for i, j := range jobs {
		of[log[i].User] = j.Priority
	}
	if of[32] != ranked[0] || of[35] != ranked[1] || of[52] != ranked[2] || of[2] != 1 || priorities[1] != 6773 {
		t.Errorf("users 32, 35, 52, 2 have priorities %v, %v, %v, %v", of[32], of[35], of[52], of[2])
	}
}

// The samples of [L14] have 321 jobs, in batches at least a second apart.
func TestLinSampling(t *testing.T) {
	log := yearOfSDSC(t)
	s := dispatch.LinSampling(len(log))
	if s.Count != 321 {
		t.Fatalf("%d jobs, want 321", s.Count)
	}
	for jobs, want := range map[int]int{0: 1, 1: 1, 199: 1, 200: 2, 32135: 321} {
		if got := dispatch.LinSampling(jobs).Count; got != want {
			t.Errorf("%d of %d jobs, want %d", got, jobs, want)
		}
	}
	for seed := range uint64(5) {
		jobs, skipped, err := s.Jobs(log, seed)
		if err != nil || len(jobs) != 321 || skipped != 0 {
			t.Fatalf("%d jobs, %d skipped, error %v", len(jobs), skipped, err)
		}
		// the log is in order of submission
		start := slices.IndexFunc(log, func(l swf.Job) bool { return l.Number == jobs[0].ID })
		if start > len(log)-321 || !sameJobs(jobs, naiveJobs(s, log[start:start+321], 0, 321)) {
			t.Fatalf("seed %d: not the sample starting at %d", seed, start)
		}
		lowest, highest := jobs[0].Priority, jobs[0].Priority
		tasks := 0
		for i, j := range jobs {
			if gap := j.Submit - jobs[max(0, i-1)].Submit; gap > 0 && gap < 1-1e-8 { // at 3e6 s
				t.Errorf("seed %d: %v s between batches", seed, gap)
			}
			lowest, highest = min(lowest, j.Priority), max(highest, j.Priority)
			tasks += j.Tasks
		}
		if lowest != 1 || highest != 100 {
			t.Errorf("seed %d: priorities from %v to %v", seed, lowest, highest)
		}
		speeds, err := dispatch.UniformSpeeds(20, 0.5, 1.5, seed)
		if err != nil {
			t.Fatal(err)
		}
		rule := dispatch.AllRules()[seed]
		r, err := dispatch.Run(t.Context(), dispatch.Scenario{
			Jobs:   jobs,
			Speeds: speeds,
			Policy: dispatch.Policy{Rule: rule},
		})
		if err != nil || r.Tasks != tasks {
			t.Fatalf("seed %d, %s: error %v", seed, rule, err)
		}
	}
}

// Ten seconds of the log always become one second, which ends a batch of one second.
func TestBatchEnds(t *testing.T) {
	var log []swf.Job
	for i := range 1000 {
		log = append(log, swf.Job{Submit: 10 * float64(i), RunTime: 1, Processors: 1})
	}
	s := dispatch.LinSampling(0)
	s.Count = 0
	jobs, _, err := s.Jobs(log, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range jobs {
		if j.Submit != float64(i) {
			t.Fatalf("job %d is submitted at %v, want %d", i, j.Submit, i)
		}
	}
}

// At 1e15 s the clock advances in eighths of a second.
func TestDeadlineBelowTheClock(t *testing.T) {
	log := []swf.Job{
		{Number: 1, Submit: 0, RunTime: 1e-3, Processors: 1},
		{Number: 2, Submit: 1e15, RunTime: 1e-3, Processors: 1},
		{Number: 3, Submit: 1e15, RunTime: 0.1, Processors: 1},
	}
	jobs, _, err := dispatch.WholeLog().Jobs(log, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{2e-3, 1e15 + 0.125, 1e15 + 0.25} {
		if jobs[i].Deadline != want {
			t.Errorf("job %d is due at %v, want %v", i+1, jobs[i].Deadline, want)
		}
	}
	if _, err := dispatch.Run(t.Context(), dispatch.Scenario{
		Jobs: jobs, Speeds: []float64{1}, Policy: dispatch.Policy{Rule: dispatch.EDF},
	}); err != nil {
		t.Error(err)
	}
}

// Each invalid entry of a sampling is rejected, on a log of three usable jobs.
func TestSamplingErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	log := []swf.Job{
		{Number: 1, Submit: 0, RunTime: 3, Processors: 2, User: 5},
		{Number: 2, Submit: 1e10, RunTime: 1e10, Processors: 8, User: 6},
		{Number: 3, Submit: 4, RunTime: swf.Unknown, Processors: 1},
		{Number: 4, Submit: 7, RunTime: 0, Processors: 1},
	}
	for _, c := range []struct {
		spoil func(s *dispatch.Sampling, log []swf.Job)
		want  badEntry
	}{
		{func(s *dispatch.Sampling, _ []swf.Job) { s.Count = -1 }, badEntry{"Count", "-1", wantNumber}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.Count = 4 },
			badEntry{"Count", "4", "at most 3, the number of usable jobs"}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.TimeScale = 0 }, badEntry{"TimeScale", "0", wantPositive}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.TimeScale = nan }, badEntry{"TimeScale", "NaN", wantPositive}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.TimeScale = 1e45 },
			badEntry{"TimeScale", "1e+45", "a factor that brings the run time of job 2 into [1e-50, 1e50]"}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.GapScale = -2 }, badEntry{"GapScale", "-2", wantPositive}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.GapScale = inf }, badEntry{"GapScale", "+Inf", wantPositive}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.GapScale = 1e45 },
			badEntry{"GapScale", "1e+45", "a factor that submits job 2 by 1e50"}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.Batch = -1 }, badEntry{"Batch", "-1", wantSeconds}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.Batch = nan }, badEntry{"Batch", "NaN", wantSeconds}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.DeadlineFactor = -1 },
			badEntry{"DeadlineFactor", "-1", wantFactor}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.DeadlineFactor = nan },
			badEntry{"DeadlineFactor", "NaN", wantFactor}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.DeadlineFactor = 1e45 },
			badEntry{"DeadlineFactor", "1e+45", "a factor that leaves the deadline of job 2 within 1e50"}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.Parallelism = 0 },
			badEntry{"Parallelism", "0", wantParallelism}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.DeadlineFactor, s.Parallelism = 0, -1 },
			badEntry{"Parallelism", "-1", wantParallelism}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.LowestPriority = -1 },
			badEntry{"LowestPriority", "-1", wantNonnegative}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.LowestPriority = 101 },
			badEntry{"HighestPriority", "100", "a number in [101, 1e50], at least the lowest priority"}},
		{func(s *dispatch.Sampling, _ []swf.Job) { s.HighestPriority = nan },
			badEntry{"HighestPriority", "NaN", wantHighest}},
		{func(_ *dispatch.Sampling, log []swf.Job) { log[2].Submit = -3 },
			badEntry{"job 3, submit time", "-3", "a time in [0, 1e50], or -1 for unknown"}},
		{func(_ *dispatch.Sampling, log []swf.Job) { log[0].RunTime = nan },
			badEntry{"job 1, run time", "NaN", "seconds in [0, 1e50], or -1 for unknown"}},
		{func(_ *dispatch.Sampling, log []swf.Job) { log[3].Processors = -2 },
			badEntry{"job 4, processors", "-2", wantProcessors}},
		{func(_ *dispatch.Sampling, log []swf.Job) { log[3].Processors = 1_000_000_001 },
			badEntry{"job 4, processors", "1000000001", wantProcessors}},
		{func(_ *dispatch.Sampling, log []swf.Job) {
			log[0].Processors, log[1].Processors, log[3].Submit = 0, -1, -1
		},
			badEntry{"", "a log with none", "a job of known submission, run time and processors"}},
	} {
		s, bad := dispatch.WholeLog(), slices.Clone(log)
		if _, _, err := s.Jobs(bad, 1); err != nil {
			t.Fatal(err)
		}
		c.spoil(&s, bad)
		jobs, skipped, err := s.Jobs(bad, 1)
		if jobs != nil || skipped != 0 || !c.want.is(err) {
			t.Errorf("error %v, want %v", err, c.want)
		}
	}
	s := dispatch.WholeLog()
	s.DeadlineFactor, s.Parallelism = 0, 0
	if _, _, err := s.Jobs(log, 1); err != nil {
		t.Errorf("no deadlines: %v", err)
	}
}

// The mean of n uniform numbers on [0.5, 1.5] is off by more than d with probability at most 2
// exp(-2 n d²).
func TestUniformSpeeds(t *testing.T) {
	const n = 10000
	speeds, err := dispatch.UniformSpeeds(n, 0.5, 1.5, 7)
	if err != nil || len(speeds) != n {
		t.Fatalf("%d speeds, error %v", len(speeds), err)
	}
	var sum float64
	for _, v := range speeds {
		sum += v
	}
	if off := math.Sqrt(math.Log(2/1e-8) / (2 * n)); math.Abs(sum/n-1) > off {
		t.Errorf("mean %v", sum/n)
	}
	if low, high := slices.Min(speeds), slices.Max(speeds); !(low >= 0.5 && low < 0.51 && high <= 1.5 && high > 1.49) {
		t.Errorf("speeds from %v to %v", low, high)
	}
	few, _ := dispatch.UniformSpeeds(5, 0.5, 1.5, 7)
	if other, _ := dispatch.UniformSpeeds(5, 0.5, 1.5, 8); !slices.Equal(few, speeds[:5]) || slices.Equal(few, other) {
		t.Errorf("speeds %v, %v, %v", few, speeds[:5], other)
	}
	if equal, err := dispatch.UniformSpeeds(3, 0.1, 0.1, 7); err != nil ||
		!slices.Equal(equal, []float64{0.1, 0.1, 0.1}) {
		t.Errorf("equal speeds %v, error %v", equal, err)
	}
	for _, c := range []struct {
		workers   int
		low, high float64
		want      badEntry
	}{
		{0, 1, 2, badEntry{"Workers", "0", wantCount}},
		{1, 0, 2, badEntry{"Low", "0", wantPositive}},
		{1, math.NaN(), 2, badEntry{"Low", "NaN", wantPositive}},
		{1, 2, 1, badEntry{"High", "1", wantHigh}},
		{1, 2, math.Inf(1), badEntry{"High", "+Inf", wantHigh}},
		{1, 2, math.NaN(), badEntry{"High", "NaN", wantHigh}},
	} {
		if got, err := dispatch.UniformSpeeds(c.workers, c.low, c.high, 1); got != nil || !c.want.is(err) {
			t.Errorf("%v, error %v, want %v", got, err, c.want)
		}
	}
}

// The samples that [L14] takes from the log of the Paragon at San Diego have 321 jobs.
func ExampleLinSampling() {
	text, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer text.Close()
	log, err := swf.ReadAll(text, "SDSC-Par-1996")
	if err != nil {
		fmt.Println(err)
		return
	}
	jobs, skipped, err := dispatch.LinSampling(len(log.Jobs)).Jobs(log.Jobs, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	tasks, batches := 0, 1
	for i, j := range jobs {
		tasks += j.Tasks
		if i > 0 && j.Submit > jobs[i-1].Submit {
			batches++
		}
	}
	fmt.Printf("%d jobs in %d batches, %d tasks, %d skipped\n", len(jobs), batches, tasks, skipped)
	// Output: 321 jobs in 310 batches, 5819 tasks, 0 skipped
}

// In ten minutes of a log, accelerated tenfold, the first two jobs form a batch. User 8 has fewer
// jobs and therefore the higher priority.
func ExampleSampling_Jobs() {
	log := []swf.Job{
		{Number: 1, Submit: 100, RunTime: 60, Processors: 2, User: 7},
		{Number: 2, Submit: 105, RunTime: 30, Processors: 8, User: 8},
		{Number: 3, Submit: 400, RunTime: swf.Unknown, Processors: 1, User: 8},
		{Number: 4, Submit: 700, RunTime: 90, Processors: 4, User: 7},
	}
	s := dispatch.Sampling{
		TimeScale: 0.1, GapScale: 0.1, Batch: 1,
		DeadlineFactor: 2, Parallelism: 4, LowestPriority: 1, HighestPriority: 100,
	}
	jobs, skipped, err := s.Jobs(log, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, j := range jobs {
		fmt.Printf("job %d at %v s: %d tasks of %v s, due at %v s, priority %v\n",
			j.ID, j.Submit, j.Tasks, j.Work, j.Deadline, j.Priority)
	}
	fmt.Println("skipped:", skipped)
	// Output:
	// job 1 at 0 s: 2 tasks of 6 s, due at 12 s, priority 1
	// job 2 at 0 s: 8 tasks of 3 s, due at 12 s, priority 100
	// job 4 at 60 s: 4 tasks of 9 s, due at 78 s, priority 1
	// skipped: 1
}

func BenchmarkSampling(b *testing.B) {
	log := yearOfSDSC(b)
	for _, count := range []int{321, 32135} {
		b.Run(fmt.Sprintf("jobs=%d", count), func(b *testing.B) {
			s := dispatch.WholeLog()
			s.Count = count
			for b.Loop() {
				if _, _, err := s.Jobs(log, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A log is rejected if and only if one of its jobs has more than 10^9 processors, or the sampled
// jobs have more than 10^10 in total; a run of such jobs is also rejected. Sums are computed
// with big integers.
func TestTooManyTasks(t *testing.T) {
	stopped, cancel := context.WithCancel(t.Context())
	cancel() // otherwise an accepted run would take hours
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 15).Draw(t, "jobs")
		var log []swf.Job
		var jobs []dispatch.Job
		sum, first := new(big.Int), -1
		for i := range n {
			processors := rapid.SampledFrom([]int64{1, 2, 999_999_999, 1_000_000_000}).Draw(t, "processors")
			if rapid.IntRange(0, 20).Draw(t, "large") == 0 {
				processors = rapid.SampledFrom([]int64{
					1_000_000_001, min(1<<31, math.MaxInt), min(100_000_000_000_000, math.MaxInt),
					min(1<<53, math.MaxInt),
				}).Draw(t, "too many")
			}
			log = append(log, swf.Job{Number: int64(i), Submit: float64(i), RunTime: 1, Processors: processors})
			jobs = append(jobs, dispatch.Job{Submit: float64(i), Tasks: int(processors), Work: 1})
			sum.Add(sum, big.NewInt(processors))
			if first < 0 && (processors > 1e9 || sum.Cmp(big.NewInt(10_000_000_000)) > 0) {
				first = i
			}
		}
		_, _, err := dispatch.WholeLog().Jobs(log, 1)
		_, runErr := dispatch.Run(stopped, dispatch.Scenario{
			Jobs:   jobs,
			Speeds: []float64{1},
			Policy: dispatch.Policy{Rule: dispatch.EDF},
		})
		if first < 0 {
			if err != nil || runErr != context.Canceled {
				t.Fatalf("%v tasks: %v, %v", sum, err, runErr)
			}
			return
		}
		var bad, badRun *input.Error
		if !errors.As(err, &bad) || !errors.As(runErr, &badRun) {
			t.Fatalf("%v tasks: %v, %v", sum, err, runErr)
		}
		if want := fmt.Sprintf("Jobs[%d].Tasks", first); badRun.Path != want ||
			badRun.Value != fmt.Sprint(log[first].Processors) {
			t.Fatalf("got %v, want %s", runErr, want)
		}
		if !strings.HasPrefix(bad.Path, "job ") || !strings.HasSuffix(bad.Path, ", processors") {
			t.Fatalf("got %v", err)
		}
	})
}
