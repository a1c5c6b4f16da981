package dispatch_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"productform/dispatch"
	"productform/sizes"
)

// distribution returns a distribution, or fails.
func distribution[D sizes.Distribution](t testing.TB) func(d D, err error) sizes.Distribution {
	return func(d D, err error) sizes.Distribution {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

// checkPairs checks that gap, work, tasks and user are pairwise independent. It uses events of
// probability 1/2: above the median, two tasks, one of the two users with the fewest jobs. Tasks
// and user have four values each, so equal draws would be noticed, and are also compared on all
// events.
func checkPairs(t *testing.T, s dispatch.Synthetic, jobs []dispatch.Job, off float64) {
	t.Helper()
	gap, err := s.Gaps.Quantile(0.5)
	if err != nil {
		t.Fatal(err)
	}
	work, err := s.Work.Quantile(0.5)
	if err != nil {
		t.Fatal(err)
	}
	var both [4][4]float64
	type pair struct {
		tasks    int
		priority float64
	}
	pairs := map[pair]float64{}
	for i, j := range jobs[1:] {
		pairs[pair{j.Tasks, j.Priority}] += 1 / float64(len(jobs)-1)
		events := [4]bool{j.Submit-jobs[i].Submit > gap, j.Work > work, j.Tasks == 2, j.Priority >= 5}
		for a, x := range events {
			for b, y := range events {
				if x && y {
					both[a][b] += 1 / float64(len(jobs)-1)
				}
			}
		}
	}
	for p, share := range pairs {
		want := 1.0 / 16
		if p.tasks == 2 {
			want = 1.0 / 8
		}
		if math.Abs(share-want) > off {
			t.Errorf("%d tasks have priority %v with frequency %v, want %v", p.tasks, p.priority, share, want)
		}
	}
	for a := range both {
		for b := range a {
			if math.Abs(both[a][b]-0.25) > off {
				t.Errorf("events %d and %d happen together with share %v, want 1/4", b, a, both[a][b])
			}
		}
	}
}

// pareto has finite moments up to the third, as the central limit theorem needs.
func pareto(t testing.TB) sizes.Distribution {
	return distribution[sizes.Distribution](t)(sizes.NewBoundedPareto(0.5, 100, 1.5))
}

func synthetic(t testing.TB, jobs int) dispatch.Synthetic {
	return dispatch.Synthetic{
		Jobs: jobs, Gaps: distribution[sizes.Phased](t)(sizes.NewExponential(3)), Work: pareto(t),
		Tasks: []int{1, 2, 2, 8}, Users: 4,
		DeadlineFactor: 2, Parallelism: 4, LowestPriority: 1, HighestPriority: 7,
	}
}

// About thirty numbers may each be wrong with probability 1e-8. Empirical distribution
// functions of n draws are off by more than d somewhere with probability at most 2 exp(-2 n d²)
// (Dvoretzky, Kiefer and Wolfowitz; Massart, 1990), frequencies likewise (Hoeffding), and means by
// more than 5.8 standard errors with probability 7e-9 (normal distribution).
func TestSyntheticFollowsItsDistributions(t *testing.T) {
	const n = 20000
	off := math.Sqrt(math.Log(2/1e-8) / (2 * n))
	s := synthetic(t, n+1)
	jobs, err := s.Draw(11)
	if err != nil || len(jobs) != n+1 || jobs[0].Submit != 0 {
		t.Fatalf("%d jobs, error %v", len(jobs), err)
	}
	checkPairs(t, s, jobs, off)
	var gaps, works []float64
	tasks, priorities := map[int]float64{}, map[float64]float64{}
	for i, j := range jobs[1:] {
		gaps, works = append(gaps, j.Submit-jobs[i].Submit), append(works, j.Work)
		tasks[j.Tasks] += 1.0 / n
		priorities[j.Priority] += 1.0 / n
		if j.ID != int64(i)+2 {
			t.Fatalf("job %d in place %d", j.ID, i+2)
		}
	}
	for _, c := range []struct {
		name         string
		distribution sizes.Distribution
		draws        []float64
	}{{"gaps", s.Gaps, gaps}, {"work", s.Work, works}} {
		mean, err := sizes.Mean(c.distribution)
		if err != nil {
			t.Fatal(err)
		}
		scv, err := sizes.SCV(c.distribution)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for _, v := range c.draws {
			sum += v
		}
		if z := (sum/n - mean) / (mean * math.Sqrt(scv/n)); math.Abs(z) > 5.8 {
			t.Errorf("%s: mean %v, want %v, %v standard errors off", c.name, sum/n, mean, z)
		}
		slices.Sort(c.draws)
		for i, v := range c.draws {
			if p := c.distribution.CDF(v); p > float64(i+1)/n+off || p < float64(i)/n-off {
				t.Fatalf("%s: CDF(%v) = %v, %d of %d draws are below", c.name, v, p, i, n)
			}
		}
	}
	if d := math.Abs; len(tasks) != 3 || d(tasks[1]-0.25) > off || d(tasks[2]-0.5) > off || d(tasks[8]-0.25) > off {
		t.Errorf("shares of numbers of tasks: %v", tasks)
	}
	for k := 1; k <= 7; k += 2 {
		if p := priorities[float64(k)]; math.Abs(p-0.25) > off {
			t.Errorf("share of priority %d is %v, want 1/4", k, p)
		}
	}
	for k := 3; k <= 7; k += 2 {
		if priorities[float64(k)] > priorities[float64(k-2)]+1e-9 {
			t.Errorf("shares of priorities %v do not fall", priorities)
		}
	}
}

// A single-server FCFS queue obeys Lindley's recursion: W' = max(0, W + S - A).
func TestSyntheticUnderRun(t *testing.T) {
	s := synthetic(t, 3000)
	s.Tasks = []int{1}
	s.DeadlineFactor = 0 // EDF then takes jobs in the order given
	jobs, err := s.Draw(3)
	if err != nil {
		t.Fatal(err)
	}
	r, err := dispatch.Run(t.Context(), dispatch.Scenario{
		Jobs: jobs, Speeds: []float64{1}, Policy: dispatch.Policy{Rule: dispatch.EDF},
	})
	if err != nil {
		t.Fatal(err)
	}
	var wait float64
	for i, j := range jobs {
		if i > 0 {
			wait = max(0, wait+jobs[i-1].Work-(j.Submit-jobs[i-1].Submit))
		}
		// Times are up to 1e4, each with at most one rounding per job.
		if got := r.Jobs[i].Delay; math.Abs(got-wait-j.Work) > 1e-8 {
			t.Fatalf("job %d: response %v, want %v", i, got, wait+j.Work)
		}
	}

	s.Tasks, s.DeadlineFactor = []int{1, 2, 3}, 2
	if jobs, err = s.Draw(4); err != nil {
		t.Fatal(err)
	}
	tasks := 0
	for _, j := range jobs {
		tasks += j.Tasks
		want := j.Submit + 2*j.Work // fewer tasks than Parallelism
		if math.Abs(j.Deadline-want) > 1e-12*want {
			t.Fatalf("job %d is due at %v, want %v", j.ID, j.Deadline, want)
		}
	}
	for _, rule := range dispatch.AllRules() {
		r, err := dispatch.Run(t.Context(), dispatch.Scenario{
			Jobs: jobs, Speeds: []float64{1, 0.5, 2}, Policy: dispatch.Policy{Rule: rule},
		})
		if err != nil || r.Tasks != tasks {
			t.Errorf("%s: error %v", rule, err)
		}
	}
}

// A change of one parameter leaves the other draws unchanged.
func TestSyntheticStreams(t *testing.T) {
	s := synthetic(t, 50)
	draw := func(s dispatch.Synthetic, seed uint64) []dispatch.Job {
		jobs, err := s.Draw(seed)
		if err != nil {
			t.Fatal(err)
		}
		return jobs
	}
	base := draw(s, 1)
	if again := draw(s, 1); !slices.EqualFunc(base, again, identical) {
		t.Error("the same seed gives different jobs")
	}
	if other := draw(s, 2); slices.EqualFunc(base, other, identical) {
		t.Error("another seed gives the same jobs")
	}
	more, gaps, work, tasks, users := s, s, s, s, s
	more.Jobs = 80
	gaps.Gaps = pareto(t)
	work.Work = distribution[sizes.Phased](t)(sizes.NewErlang(3, 2))
	tasks.Tasks = []int{7}
	users.Users = 1
	for name, c := range map[string]struct {
		jobs                                []dispatch.Job
		submit, work, tasks, priority, user bool // whether each must stay the same
	}{
		"more":  {draw(more, 1)[:50], true, true, true, false, true},
		"gaps":  {draw(gaps, 1), false, true, true, true, true},
		"work":  {draw(work, 1), true, false, true, true, true},
		"tasks": {draw(tasks, 1), true, true, false, true, true},
		"users": {draw(users, 1), true, true, true, false, false},
	} {
		same := func(of func(dispatch.Job) float64) bool {
			return slices.EqualFunc(base, c.jobs, func(a, b dispatch.Job) bool { return of(a) == of(b) })
		}
		if got := same(func(j dispatch.Job) float64 { return j.Submit }); got != c.submit {
			t.Errorf("%s: same submissions: %v", name, got)
		}
		if got := same(func(j dispatch.Job) float64 { return j.Work }); got != c.work {
			t.Errorf("%s: same work: %v", name, got)
		}
		if got := same(func(j dispatch.Job) float64 { return float64(j.Tasks) }); got != c.tasks {
			t.Errorf("%s: same tasks: %v", name, got)
		}
		if got := same(func(j dispatch.Job) float64 { return j.Priority }); c.priority && !got {
			t.Errorf("%s: priorities differ", name)
		}
		if sameUsers(base, c.jobs) != c.user {
			t.Errorf("%s: same users: %v", name, !c.user)
		}
	}
	for _, j := range draw(users, 1) {
		if j.Priority != 7 {
			t.Fatalf("the only user has priority %v, want 7", j.Priority)
		}
	}
	work.Work = work.Gaps
	jobs := draw(work, 1)
	for i := range jobs[1:] { // submissions are sums, so gaps are exact up to 1e-12
		if gap := jobs[i+1].Submit - jobs[i].Submit; math.Abs(gap-jobs[i].Work) < 1e-9 ||
			math.Abs(gap-jobs[i+1].Work) < 1e-9 {
			t.Fatalf("gap %v is also a draw of work", gap)
		}
	}
}

// sameUsers reports whether jobs with equal priorities in b have equal priorities in a.
func sameUsers(a, b []dispatch.Job) bool {
	for i := range a {
		for k := range i {
			if (a[i].Priority == a[k].Priority) != (b[i].Priority == b[k].Priority) {
				return false
			}
		}
	}
	return true
}

func TestSyntheticErrors(t *testing.T) {
	huge := distribution[sizes.Distribution](t)(sizes.NewDeterministic(1e101))
	long := distribution[sizes.Distribution](t)(sizes.NewDeterministic(6e49))
	for _, c := range []struct {
		spoil func(s *dispatch.Synthetic)
		want  badEntry
	}{
		{func(s *dispatch.Synthetic) { s.Jobs = 0 }, badEntry{"Jobs", "0", wantCount}},
		{func(s *dispatch.Synthetic) { s.Gaps = nil }, badEntry{"Gaps", "", wantDistribution}},
		{func(s *dispatch.Synthetic) { s.Gaps = long },
			badEntry{"Gaps", long.String(), "a distribution that submits all 3 jobs by 1e50"}},
		{func(s *dispatch.Synthetic) { s.Work = nil }, badEntry{"Work", "", wantDistribution}},
		{func(s *dispatch.Synthetic) { s.Work = huge },
			badEntry{"Work", huge.String(), "a distribution whose draws are in [1e-50, 1e50]"}},
		{func(s *dispatch.Synthetic) { s.Work = long },
			badEntry{"DeadlineFactor", "2", "a factor that leaves the deadline of job 1 within 1e50"}},
		{func(s *dispatch.Synthetic) { s.Tasks = nil }, badEntry{"Tasks", "", "at least one number of tasks"}},
		{func(s *dispatch.Synthetic) { s.Tasks = []int{1, 0} }, badEntry{"Tasks[1]", "0", wantTasks}},
		{
			func(s *dispatch.Synthetic) { s.Tasks = []int{1, 1_000_000_001} },
			badEntry{"Tasks[1]", "1000000001", wantTasks},
		},
		{func(s *dispatch.Synthetic) { s.Users = 0 }, badEntry{"Users", "0", wantCount}},
		{func(s *dispatch.Synthetic) { s.Parallelism = -1 },
			badEntry{"Parallelism", "-1", wantParallelism}},
		{func(s *dispatch.Synthetic) { s.HighestPriority = 0 },
			badEntry{"HighestPriority", "0", wantHighest}},
	} {
		s := synthetic(t, 3)
		if _, err := s.Draw(1); err != nil {
			t.Fatal(err)
		}
		c.spoil(&s)
		if jobs, err := s.Draw(1); jobs != nil || !c.want.is(err) {
			t.Errorf("error %v, want %v", err, c.want)
		}
	}
}

// Jobs arrive every second, and each belongs to one of three users.
func ExampleSynthetic_Draw() {
	second, _ := sizes.NewDeterministic(1)
	work, _ := sizes.NewExponential(10)
	s := dispatch.Synthetic{
		Jobs: 1000, Gaps: second, Work: work, Tasks: []int{1, 2, 4}, Users: 3,
		DeadlineFactor: 2, Parallelism: 4, LowestPriority: 1, HighestPriority: 3,
	}
	jobs, err := s.Draw(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	speeds, _ := dispatch.UniformSpeeds(30, 0.5, 1.5, 1)
	var load, capacity float64
	of := map[float64]int{}
	for _, j := range jobs {
		load += float64(j.Tasks) * j.Work / jobs[len(jobs)-1].Submit
		of[j.Priority]++
	}
	for _, v := range speeds {
		capacity += v
	}
	fmt.Printf("load %.2f, jobs by priority %v\n", load/capacity, of)
	// Output: load 0.76, jobs by priority map[1:351 2:333 3:316]
}

func BenchmarkSynthetic(b *testing.B) {
	s := synthetic(b, 100000)
	b.Run("jobs=100000", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Draw(1); err != nil {
				b.Fatal(err)
			}
		}
	})
}
