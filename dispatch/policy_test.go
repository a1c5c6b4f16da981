package dispatch_test

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/dispatch"
)

// An instance is the input of a policy.
type instance struct {
	policy  dispatch.Policy
	percent int // reserve, in percent
	jobs    []dispatch.Request
	speeds  []float64
	now     float64
}

func (in *instance) assign(t rapid.TB) []int {
	t.Helper()
	plan, err := in.policy.Assign(in.jobs, in.speeds, in.now)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func (in *instance) clone() instance {
	c := *in
	c.speeds, c.jobs = slices.Clone(in.speeds), slices.Clone(in.jobs)
	for j := range c.jobs {
		c.jobs[j].Speeds = slices.Clone(c.jobs[j].Speeds)
	}
	return c
}

// drawInstance draws a small instance whose numbers are integers or tenths, which causes ties,
// deadlines that are due now, and needs that are met exactly.
func drawInstance(t *rapid.T) *instance {
	unit := float64(rapid.SampledFrom([]int{1, 10}).Draw(t, "unit"))
	number := func(low, high int, what string) float64 {
		return float64(rapid.IntRange(low, high).Draw(t, what)) / unit
	}
	workers := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(13, 100)).Draw(t, "workers")
	fastest := rapid.IntRange(1, 4).Draw(t, "fastest")
	drawSpeeds := func(what string) []float64 {
		speeds := make([]float64, workers)
		for s := range speeds {
			speeds[s] = number(1, fastest, what)
		}
		return speeds
	}
	percent := rapid.IntRange(0, 100).Draw(t, "percent")
	in := &instance{
		policy: dispatch.Policy{
			Rule: rapid.SampledFrom(dispatch.AllRules()).Draw(t, "rule"),
			Spare: rapid.SampledFrom([]dispatch.Spare{"", dispatch.SpareByPriority, dispatch.SpareByDeadline,
				dispatch.SpareKept}).Draw(t, "spare"),
			Reserve: float64(percent) / 100,
			Horizon: number(0, 12, "horizon"),
		},
		percent: percent,
		speeds:  drawSpeeds("speed"),
		now:     number(0, 10, "now"),
		jobs: make(
			[]dispatch.Request, rapid.OneOf(rapid.IntRange(0, 8), rapid.IntRange(workers, workers+3)).Draw(t, "jobs"),
		),
	}
	for j := range in.jobs {
		r := &in.jobs[j]
		r.Priority = number(0, 4, "priority")
		r.Deadline = number(0, 20, "deadline")
		r.Tasks = rapid.OneOf(rapid.IntRange(1, 6), rapid.IntRange(1, 6), rapid.Just(100_000)).Draw(t, "tasks")
		r.Work = number(0, 30, "work")
		r.MaxWorkers = max(0, rapid.IntRange(-6, 6).Draw(t, "most workers"))
		if rapid.IntRange(0, 3).Draw(t, "own") == 0 {
			r.Speeds = drawSpeeds("own speed")
		}
	}
	return in
}

// A literal applies the text of [L14], section 5, job by job and worker by worker. It searches for
// each next job and worker from scratch, and compares sums of fractions.
type literal struct {
	*instance
	plan []int
}

func (l *literal) idle() int {
	n := 0
	for _, j := range l.plan {
		if j < 0 {
			n++
		}
	}
	return n
}

func (l *literal) given(j int) int {
	n := 0
	for _, i := range l.plan {
		if i == j {
			n++
		}
	}
	return n
}

// canUse reports whether job j can use one more worker.
func (l *literal) canUse(j int) bool { return l.given(j) < maxWorkersOf(&l.jobs[j]) && l.idle() > 0 }

// maxWorkersOf returns the number of workers that a job can use.
func maxWorkersOf(r *dispatch.Request) int {
	if r.MaxWorkers > 0 && r.MaxWorkers < r.Tasks {
		return r.MaxWorkers
	}
	return r.Tasks
}

// throughput is th_j^s, the speed of worker s at tasks of job j.
func (l *literal) throughput(j, s int) float64 {
	if l.jobs[j].Speeds != nil {
		return l.jobs[j].Speeds[s]
	}
	return l.speeds[s]
}

// add gives job j one more worker and returns its throughput.
func (l *literal) add(j int) *big.Rat {
	best := -1
	for s := range l.plan {
		if l.plan[s] >= 0 {
			continue
		}
		faster := l.policy.Rule == dispatch.Workload || l.policy.Rule == dispatch.Deadline
		if best < 0 || faster && l.throughput(j, s) > l.throughput(j, best) {
			best = s
		}
	}
	l.plan[best] = j
	return fraction(l.throughput(j, best))
}

// sorted returns the jobs in the order of the comparison; ties keep the given order.
func (l *literal) sorted(before func(a, b *dispatch.Request) bool) []int {
	var order []int
	for len(order) < len(l.jobs) {
		first := -1
		for j := range l.jobs {
			if !slices.Contains(order, j) && (first < 0 || before(&l.jobs[j], &l.jobs[first])) {
				first = j
			}
		}
		order = append(order, first)
	}
	return order
}

func higherPriority(a, b *dispatch.Request) bool { return a.Priority > b.Priority }

func earlierDeadline(a, b *dispatch.Request) bool {
	return a.Deadline != 0 && (b.Deadline == 0 || a.Deadline < b.Deadline)
}

func fraction(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// enough reports whether x is at least the need, up to a relative error of 1e-9.
func enough(x, need *big.Rat) bool {
	return x.Cmp(new(big.Rat).Mul(need, big.NewRat(999_999_999, 1_000_000_000))) >= 0
}

func (l *literal) run() []int {
	l.plan = slices.Repeat([]int{-1}, len(l.speeds))
	m := len(l.speeds)
	order := l.sorted(higherPriority)
	switch l.policy.Rule {
	case dispatch.Priority:
		// "The job with highest priority can use at most the 1 - r of all workers and the remaining
		// workers [...] will be assigned to jobs with lower priority, in the manner that one job
		// receives one worker."
		for i, j := range order {
			most := 1
			for i == 0 && (most+1)*100 <= (100-l.percent)*m {
				most++
			}
			for l.given(j) < most && l.canUse(j) {
				l.add(j)
			}
		}
	case dispatch.Proportion:
		// "The number of workers a job is assigned equals to the number of all workers multiplies
		// it ratio", rounded up.
		total := new(big.Rat)
		for _, j := range order {
			total.Add(total, fraction(l.jobs[j].Work))
		}
		for _, j := range order {
			share := new(big.Rat)
			if total.Sign() > 0 {
				share.Quo(fraction(l.jobs[j].Work), total)
				share.Mul(share, big.NewRat(int64(m), 1))
			}
			for l.canUse(j) && (l.given(j) == 0 || !enough(big.NewRat(int64(l.given(j)), 1), share)) {
				l.add(j)
			}
		}
	case dispatch.Workload:
		// "Assign the top k workers that can satisfy the workload requirement": Σ th times the
		// horizon is the work.
		horizon := big.NewRat(1, 1)
		if l.policy.Horizon != 0 {
			horizon = fraction(l.policy.Horizon)
		}
		for _, j := range order {
			done := new(big.Rat)
			for l.canUse(j) && (l.given(j) == 0 || !enough(done, fraction(l.jobs[j].Work))) {
				done.Add(done, new(big.Rat).Mul(l.add(j), horizon))
			}
		}
	case dispatch.Deadline:
		// "Assign the top k workers that can finish J_m before its deadline": Σ 1/T >= 1/d, d the
		// time left.
		for _, j := range order {
			work, left := fraction(l.jobs[j].Work), new(big.Rat).Sub(fraction(l.jobs[j].Deadline), fraction(l.now))
			if l.canUse(j) && (l.jobs[j].Deadline == 0 || left.Sign() > 0 && work.Sign() == 0) {
				l.add(j) // any time suffices, or none is needed
				continue
			}
			sum := new(big.Rat)
			for l.canUse(j) && (left.Sign() <= 0 || !enough(sum, new(big.Rat).Inv(left))) {
				if th := l.add(j); left.Sign() > 0 {
					alone := new(big.Rat).Quo(work, th) // T
					sum.Add(sum, alone.Inv(alone))
				}
			}
		}
	case dispatch.EDF:
		for _, j := range l.sorted(earlierDeadline) {
			for l.canUse(j) {
				l.add(j)
			}
		}
	}
	// "For jobs still requires worker to process, sort them by the criteria (priority or deadline),
	// and allocate the rest workers one by one until workers are used up or every job has obtained
	// enough workers."
	if l.policy.Spare == dispatch.SpareByDeadline {
		order = l.sorted(earlierDeadline)
	}
	// the first job has its fraction of the workers, so others precede it
	if l.policy.Rule == dispatch.Priority && len(order) > 0 {
		first := l.sorted(higherPriority)[0]
		order = append(slices.DeleteFunc(order, func(j int) bool { return j == first }), first)
	}
	for l.policy.Spare != dispatch.SpareKept {
		i := slices.IndexFunc(order, l.canUse)
		if i < 0 {
			break
		}
		l.add(order[i])
	}
	return l.plan
}

// Assign returns the plan that the text of [L14] describes.
func TestAssignMatchesPaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t)
		if got, want := in.assign(t), (&literal{instance: in}).run(); !slices.Equal(got, want) {
			t.Fatalf("plan %v, want %v", got, want)
		}
	})
}

// counts returns the number of workers planned for each job.
func counts(plan []int, jobs int) []int {
	n := make([]int, jobs)
	for _, j := range plan {
		if j >= 0 {
			n[j]++
		}
	}
	return n
}

// Every plan satisfies the general invariants and the promises of its policy. No worker can have
// two jobs, since a plan names one job per worker.
//
// Under all rules except EDF no job is without a worker while one of lower priority has one, so
// planned violations are 0: the rule goes through the jobs in order of priority as long as workers
// are left, and gives each at least one. If it reaches all jobs, each has a worker. If not, the
// jobs with workers come first in the order, and no spare worker is left. Under EDF the same holds
// for deadlines.
func TestAssignInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t)
		before := in.clone()
		plan := in.assign(t)
		if diff := gocmp.Diff(before, *in, gocmp.AllowUnexported(instance{})); diff != "" {
			t.Fatalf("arguments changed: %s", diff)
		}
		if len(plan) != len(in.speeds) {
			t.Fatalf("%d of %d workers planned", len(plan), len(in.speeds))
		}
		for s, j := range plan {
			if j < -1 || j >= len(in.jobs) {
				t.Fatalf("worker %d has job %d of %d", s, j, len(in.jobs))
			}
		}
		n := counts(plan, len(in.jobs))
		kept := in.policy.Spare == dispatch.SpareKept && in.policy.Rule != dispatch.EDF
		for j := range n {
			if n[j] > maxWorkersOf(&in.jobs[j]) {
				t.Fatalf("job %d can use %d workers but has %d", j, maxWorkersOf(&in.jobs[j]), n[j])
			}
			if n[j] < maxWorkersOf(&in.jobs[j]) && !kept && slices.Contains(plan, -1) {
				t.Fatalf("a worker that job %d can use is idle: %v", j, plan)
			}
		}
		comesFirst := higherPriority
		if in.policy.Rule == dispatch.EDF {
			comesFirst = earlierDeadline
		}
		for a := range n {
			for b := range n {
				if n[a] == 0 && n[b] > 0 && comesFirst(&in.jobs[a], &in.jobs[b]) {
					t.Fatalf("job %d has no worker, though %d has: %v", a, b, plan)
				}
			}
		}
	})
}

// The first job gets at most all workers outside the reserve, unless no other job can use one more
// worker. If spare workers are kept, no other job has more than one, and the first job stays within
// its limit.
func TestReserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t)
		in.policy.Rule = dispatch.Priority
		n := counts(in.assign(t), len(in.jobs))
		for i, j := range (&literal{instance: in}).sorted(higherPriority) {
			switch part := (100 - in.percent) * len(in.speeds); {
			case i == 0 && n[j] > 1 && n[j]*100 > part:
				for other := range n {
					if other != j && n[other] < maxWorkersOf(&in.jobs[other]) || in.policy.Spare == dispatch.SpareKept {
						t.Fatalf("first job %d has %v of %d workers, reserve %v",
							j, n, len(in.speeds), in.policy.Reserve)
					}
				}
			case i > 0 && n[j] > 1 && in.policy.Spare == dispatch.SpareKept:
				t.Fatalf("job %d, at position %d, has %d workers", j, i, n[j])
			}
		}
	})
}

// The first of three jobs has many tasks. With half of 8 workers reserved, it has 4 and the others
// 1 each, which leaves 2 spare workers.
func TestReserveSpare(t *testing.T) {
	for _, test := range []struct {
		spare         dispatch.Spare
		second, third int // numbers of tasks
		want          string
	}{
		{dispatch.SpareByPriority, 3, 3, "AAAABCBB"}, // B can use both
		{dispatch.SpareByDeadline, 3, 3, "AAAABCCC"}, // and so can C, which is due earlier
		{dispatch.SpareByPriority, 2, 3, "AAAABCBC"},
		{dispatch.SpareByPriority, 1, 2, "AAAABCCA"}, // one is left, which only A can use
		{dispatch.SpareByDeadline, 1, 1, "AAAABCAA"},
		{dispatch.SpareKept, 3, 3, "AAAABC.."},
	} {
		in := instance{
			policy: dispatch.Policy{Rule: dispatch.Priority, Reserve: 0.5, Spare: test.spare},
			speeds: slices.Repeat([]float64{1}, 8),
			jobs: []dispatch.Request{
				{Priority: 3, Deadline: 1, Tasks: 100, Work: 100},
				{Priority: 2, Deadline: 3, Tasks: test.second, Work: 1},
				{Priority: 1, Deadline: 2, Tasks: test.third, Work: 1},
			},
		}
		if got := letters(in.assign(t)); got != test.want {
			t.Errorf("spare by %s, %d and %d tasks: %s, want %s", test.spare, test.second, test.third, got, test.want)
		}
	}
}

// Workload and deadline meet the need of a job with as few of the remaining workers as possible,
// and miss it only if the job has all workers that it can use. All subsets are tried. Works, speeds
// and times are integers, so sums are exact.
func TestFewestWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := func(low, high int, what string) float64 { return float64(rapid.IntRange(low, high).Draw(t, what)) }
		in := &instance{policy: dispatch.Policy{
			Rule:    rapid.SampledFrom([]dispatch.Rule{dispatch.Workload, dispatch.Deadline}).Draw(t, "rule"),
			Spare:   dispatch.SpareKept,
			Horizon: whole(1, 4, "horizon"),
		}}
		in.speeds = make([]float64, rapid.IntRange(1, 9).Draw(t, "workers"))
		for s := range in.speeds {
			in.speeds[s] = whole(1, 6, "speed")
		}
		seconds := make([]float64, rapid.IntRange(1, 4).Draw(t, "jobs"))
		for j := range seconds {
			r := dispatch.Request{
				Priority: float64(len(seconds) - j), Deadline: whole(1, 4, "deadline"),
				Tasks: rapid.IntRange(1, 9).Draw(t, "tasks"),
				Work:  whole(0, 60, "work"),
			}
			if rapid.Bool().Draw(t, "own") {
				for range in.speeds {
					r.Speeds = append(r.Speeds, whole(1, 6, "own speed"))
				}
			}
			seconds[j] = in.policy.Horizon
			if in.policy.Rule == dispatch.Deadline {
				seconds[j] = r.Deadline
			}
			in.jobs = append(in.jobs, r)
		}
		plan := in.assign(t)
		l := &literal{instance: in}
		left := uint(1)<<len(in.speeds) - 1
		for j := range in.jobs {
			reaches := func(set uint) bool {
				var sum float64
				for s := range in.speeds {
					if set>>s&1 == 1 {
						sum += l.throughput(j, s)
					}
				}
				return sum*seconds[j] >= in.jobs[j].Work
			}
			var has uint
			for s, i := range plan {
				if i == j {
					has |= 1 << s
				}
			}
			canUse := min(in.jobs[j].Tasks, bits.OnesCount(left))
			if canUse > 0 && has == 0 || !reaches(has) && bits.OnesCount(has) < canUse {
				t.Fatalf("job %d has workers %b of %b but needs more", j, has, left)
			}
			for set := left; set > 0; set = (set - 1) & left {
				if n := bits.OnesCount(set); reaches(set) && (n < bits.OnesCount(has) || n <= canUse && !reaches(has)) {
					t.Fatalf("job %d has workers %b of %b, though %b reach its need", j, has, left, set)
				}
			}
			left &^= has
		}
	})
}

// Without ties, the order of jobs does not matter, nor does the order of workers under rules that
// use speeds. Other rules hand out workers in the given order, regardless of their speeds.
func TestAssignEquivariant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t)
		distinct := func(n int, what string) []float64 {
			v := make([]float64, n)
			for i, k := range permutation(t, n, what) {
				v[i] = 1 + float64(k)/8
			}
			return v
		}
		in.speeds = distinct(len(in.speeds), "speeds")
		priorities, deadlines := distinct(len(in.jobs), "priorities"), distinct(len(in.jobs), "deadlines")
		for j := range in.jobs {
			r := &in.jobs[j]
			r.Priority, r.Deadline = priorities[j], deadlines[j]
			if r.Speeds != nil {
				r.Speeds = distinct(len(in.speeds), "own speeds")
			}
		}
		ofJobs, ofWorkers := permutation(t, len(in.jobs), "of jobs"), permutation(t, len(in.speeds), "of workers")
		other := in.clone()
		for s, to := range ofWorkers {
			other.speeds[to] = in.speeds[s]
		}
		for j, to := range ofJobs {
			other.jobs[to] = in.jobs[j]
			if in.jobs[j].Speeds != nil {
				other.jobs[to].Speeds = make([]float64, len(in.speeds))
				for s, at := range ofWorkers {
					other.jobs[to].Speeds[at] = in.jobs[j].Speeds[s]
				}
			}
		}
		want := make([]int, len(in.speeds))
		for s, j := range in.assign(t) {
			if j >= 0 {
				j = ofJobs[j]
			}
			if in.policy.Rule == dispatch.Workload || in.policy.Rule == dispatch.Deadline {
				s = ofWorkers[s]
			}
			want[s] = j
		}
		if got := other.assign(t); !slices.Equal(got, want) {
			t.Fatalf("plan %v, want %v", got, want)
		}
	})
}

func permutation(t *rapid.T, n int, what string) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return rapid.Permutation(order).Draw(t, what)
}

// Plans do not depend on the units of time and of work. Units differ by powers of two, so scaling
// is exact.
func TestAssignUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t)
		in.policy.Horizon = cmp.Or(in.policy.Horizon, 1)
		want := in.assign(t)
		second := math.Ldexp(1, rapid.IntRange(-40, 40).Draw(t, "second"))
		work := math.Ldexp(1, rapid.IntRange(-40, 40).Draw(t, "work"))
		other := in.clone()
		other.now *= second
		other.policy.Horizon *= second
		for s := range other.speeds {
			other.speeds[s] *= work / second
		}
		for j := range other.jobs {
			r := &other.jobs[j]
			r.Deadline *= second
			r.Work *= work
			for s := range r.Speeds {
				r.Speeds[s] *= work / second
			}
		}
		if got := other.assign(t); !slices.Equal(got, want) {
			t.Fatalf("plan %v, want %v", got, want)
		}
	})
}

// The first of two jobs gets the right number of equally fast workers when rounding or a limit
// decides. The second job has priority 0 and as many tasks as there are workers.
func TestFirstJob(t *testing.T) {
	priority := func(r float64) dispatch.Policy { return dispatch.Policy{Rule: dispatch.Priority, Reserve: r} }
	workload := func(h float64) dispatch.Policy { return dispatch.Policy{Rule: dispatch.Workload, Horizon: h} }
	for _, test := range []struct {
		name        string
		policy      dispatch.Policy
		workers     int
		speed       float64
		work, other float64
		deadline    float64
		tasks       int
		now         float64
		want        int
	}{
		{"0.07·100 is 7.000000000000001 in float64", priority(0.07), 100, 1, 1, 1, 0, 100, 0, 93},
		{"0.29·100 is 28.999999999999996", priority(0.29), 100, 1, 1, 1, 0, 100, 0, 71},
		{"⌈0.071·100⌉ = 8", priority(0.071), 100, 1, 1, 1, 0, 100, 0, 92},
		{"⌈1e-300·3⌉ = 1", priority(1e-300), 3, 1, 1, 1, 0, 3, 0, 2},
		{"all but one", priority(0), 3, 1, 1, 1, 0, 2, 0, 2},
		{"none reserved", priority(0), 3, 1, 1, 1, 0, 3, 0, 3},
		{"all reserved", priority(1), 3, 1, 1, 1, 0, 3, 0, 1},
		{"one worker, reserved", priority(0.5), 1, 1, 1, 1, 0, 3, 0, 1},

		{"10·0.3/(0.3+0.7) is exactly 3", dispatch.Policy{Rule: dispatch.Proportion}, 10, 1, 0.3, 0.7, 0, 10, 0, 3},
		{
			"3 and 5e-10 of it", dispatch.Policy{Rule: dispatch.Proportion}, 10, 1, 3 * (1 + 5e-10),
			7 * (1 - 3.0/7*5e-10), 0, 10, 0, 3,
		},
		{
			"3 and 3e-9 of it", dispatch.Policy{Rule: dispatch.Proportion}, 10, 1, 3 * (1 + 3e-9),
			7 * (1 - 3.0/7*3e-9), 0, 10, 0, 4,
		},
		{"no work at all", dispatch.Policy{Rule: dispatch.Proportion}, 10, 1, 0, 0, 0, 10, 0, 1},
		{"all work", dispatch.Policy{Rule: dispatch.Proportion}, 10, 1, 1, 0, 0, 10, 0, 10},
		{"1e-50 of 1e50", dispatch.Policy{Rule: dispatch.Proportion}, 10, 1, 1e-50, 1e50, 0, 10, 0, 1},

		{"0.1+0.1+0.1 is more than 0.3, 3 needed", workload(0), 9, 0.1, 0.3, 1, 0, 9, 0, 3},
		{"0.7 over 0.1 is less than 7", workload(0), 9, 0.1, 0.7, 1, 0, 9, 0, 7},
		{"eight times 0.1 is less than 0.8", workload(0), 9, 0.1, 0.8, 1, 0, 9, 0, 8},
		{"3 and 5e-10 of it needed", workload(1), 9, 1, 3 * (1 + 5e-10), 1, 0, 9, 0, 3},
		{"3 and 3e-9 of it needed", workload(1), 9, 1, 3 * (1 + 3e-9), 1, 0, 9, 0, 4},
		{"no work", workload(1), 9, 1, 0, 1, 0, 9, 0, 1},
		{"more than tasks", workload(1), 9, 1, 6, 1, 0, 5, 0, 5},
		{"more than workers", workload(1), 9, 1, 60, 1, 0, 100, 0, 9},
		{"largest need", workload(1e-50), 9, 1, 1e50, 1, 0, 9, 0, 9},

		{"0.3 in 0.3-0.2 seconds", dispatch.Policy{Rule: dispatch.Deadline}, 9, 1, 0.3, 1, 0.3, 9, 0.2, 3},
		{
			"3 and 5e-10 of it in 1 second", dispatch.Policy{Rule: dispatch.Deadline}, 9, 1,
			3 * (1 + 5e-10), 1, 2, 9, 1, 3,
		},
		{"3 and 3e-9 of it in 1 second", dispatch.Policy{Rule: dispatch.Deadline}, 9, 1, 3 * (1 + 3e-9), 1, 2, 9, 1, 4},
		{"the deadline is now", dispatch.Policy{Rule: dispatch.Deadline}, 9, 1, 1, 1, 2, 7, 2, 7},
		{"the deadline is now, and no work is left", dispatch.Policy{Rule: dispatch.Deadline}, 9, 1, 0, 1, 2, 7, 2, 7},
		{"it has passed, and no work is left", dispatch.Policy{Rule: dispatch.Deadline}, 9, 1, 0, 1, 2, 7, 3, 7},
		{"no work", dispatch.Policy{Rule: dispatch.Deadline}, 9, 1, 0, 1, 2, 7, 1, 1},
		{"no deadline", dispatch.Policy{Rule: dispatch.Deadline}, 9, 1, 1e50, 1, 0, 7, 1e50, 1},
		{
			"the smallest time", dispatch.Policy{Rule: dispatch.Deadline}, 9, 1, 1e50, 1,
			math.SmallestNonzeroFloat64, 7, 0, 7,
		},
	} {
		in := instance{policy: test.policy, speeds: slices.Repeat([]float64{test.speed}, test.workers), now: test.now}
		in.policy.Spare = dispatch.SpareKept
		in.jobs = []dispatch.Request{
			{Priority: 0, Tasks: test.workers, Work: test.other},
			{Priority: 1, Tasks: test.tasks, Work: test.work, Deadline: test.deadline},
		}
		if got := counts(in.assign(t), 2)[1]; got != test.want {
			t.Errorf("%s: %d workers, want %d", test.name, got, test.want)
		}
	}
}

// Assign names every invalid entry.
func TestAssignBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		spoil func(*instance)
		want  badEntry
	}{
		{func(in *instance) { in.policy.Rule = "fifo" }, badEntry{"Policy.Rule", "fifo", wantRule}},
		{func(in *instance) { in.policy.Rule = "" }, badEntry{"Policy.Rule", "", wantRule}},
		{func(in *instance) { in.policy.Spare = "none" }, badEntry{"Policy.Spare", "none", wantSpare}},
		{func(in *instance) { in.policy.Reserve = -0.1 }, badEntry{"Policy.Reserve", "-0.1", wantFraction}},
		{func(in *instance) { in.policy.Reserve = 1.1 }, badEntry{"Policy.Reserve", "1.1", wantFraction}},
		{func(in *instance) { in.policy.Reserve = nan }, badEntry{"Policy.Reserve", "NaN", wantFraction}},
		{func(in *instance) { in.policy.Horizon = -1 }, badEntry{"Policy.Horizon", "-1", wantHorizon}},
		{func(in *instance) { in.policy.Horizon = 1e-101 }, badEntry{"Policy.Horizon", "1e-101", wantHorizon}},
		{func(in *instance) { in.policy.Horizon = inf }, badEntry{"Policy.Horizon", "+Inf", wantHorizon}},
		{func(in *instance) { in.policy.Horizon = nan }, badEntry{"Policy.Horizon", "NaN", wantHorizon}},
		{func(in *instance) { in.speeds = nil }, badEntry{"Speeds", "no workers", wantOne}},
		{func(in *instance) { in.speeds[1] = 0 }, badEntry{"Speeds[1]", "0", wantPositive}},
		{func(in *instance) { in.speeds[1] = -1 }, badEntry{"Speeds[1]", "-1", wantPositive}},
		{func(in *instance) { in.speeds[1] = nan }, badEntry{"Speeds[1]", "NaN", wantPositive}},
		{func(in *instance) { in.speeds[1] = inf }, badEntry{"Speeds[1]", "+Inf", wantPositive}},
		{func(in *instance) { in.now = -1 }, badEntry{"Now", "-1", wantTime}},
		{func(in *instance) { in.now = nan }, badEntry{"Now", "NaN", wantTime}},
		{func(in *instance) { in.now = inf }, badEntry{"Now", "+Inf", wantTime}},
		{func(in *instance) { in.jobs[1].Priority = -1 }, badEntry{"Jobs[1].Priority", "-1", wantNonnegative}},
		{func(in *instance) { in.jobs[1].Priority = nan }, badEntry{"Jobs[1].Priority", "NaN", wantNonnegative}},
		{func(in *instance) { in.jobs[1].Deadline = -1 }, badEntry{"Jobs[1].Deadline", "-1", wantDeadline}},
		{func(in *instance) { in.jobs[1].Deadline = inf }, badEntry{"Jobs[1].Deadline", "+Inf", wantDeadline}},
		{func(in *instance) { in.jobs[1].Tasks = 0 }, badEntry{"Jobs[1].Tasks", "0", wantCount}},
		{func(in *instance) { in.jobs[1].Tasks = -1 }, badEntry{"Jobs[1].Tasks", "-1", wantCount}},
		{func(in *instance) { in.jobs[1].MaxWorkers = -1 }, badEntry{"Jobs[1].MaxWorkers", "-1", wantMost}},
		{func(in *instance) { in.jobs[1].Work = -1 }, badEntry{"Jobs[1].Work", "-1", wantSeconds}},
		{func(in *instance) { in.jobs[1].Work = nan }, badEntry{"Jobs[1].Work", "NaN", wantSeconds}},
		{func(in *instance) { in.jobs[1].Work = 1e101 }, badEntry{"Jobs[1].Work", "1e+101", wantSeconds}},
		{func(in *instance) { in.jobs[1].Speeds = []float64{} }, badEntry{"Jobs[1].Speeds", "0", wantSpeeds}},
		{func(in *instance) { in.jobs[1].Speeds = in.speeds[:2] }, badEntry{"Jobs[1].Speeds", "2", wantSpeeds}},
		{func(in *instance) { in.jobs[1].Speeds[2] = 0 }, badEntry{"Jobs[1].Speeds[2]", "0", wantPositive}},
		{func(in *instance) { in.jobs[1].Speeds[2] = nan }, badEntry{"Jobs[1].Speeds[2]", "NaN", wantPositive}},
	} {
		for _, rule := range dispatch.AllRules() {
			in := instance{
				policy: dispatch.Policy{Rule: rule, Reserve: 0.5, Horizon: 2},
				speeds: []float64{1, 2, 3},
				jobs: []dispatch.Request{
					{Priority: 1, Deadline: 5, Tasks: 2, Work: 3},
					{Priority: 2, Deadline: 4, Tasks: 3, Work: 2, Speeds: []float64{3, 2, 1}},
				},
			}
			in.assign(t)
			test.spoil(&in)
			plan, err := in.policy.Assign(in.jobs, in.speeds, in.now)
			if plan != nil || !test.want.is(err) {
				t.Errorf("rule %s: plan %v, error %v, want %v", rule, plan, err, test.want)
			}
		}
	}
}

// Without jobs all workers are idle.
func TestAssignNoJobs(t *testing.T) {
	for _, rule := range dispatch.AllRules() {
		plan, err := dispatch.Policy{Rule: rule}.Assign(nil, []float64{1, 2}, 0)
		if err != nil || !slices.Equal(plan, []int{-1, -1}) {
			t.Errorf("rule %s: plan %v, error %v", rule, plan, err)
		}
	}
}

// A schedule is the hand-computed history of the five jobs of the example.
type schedule struct {
	policy dispatch.Policy
	plans  string   // by second, as long as jobs are present
	work   []string // by worker: the job whose task it runs, by second
	finish [5]float64
	missed float64 // total penalty
	broken float64 // violation rate
}

// The example worked out by hand, second by second. Workers 1 to 4 take two seconds per task,
// workers 5 to 7 one. Remaining work is given in tasks: "A4" means that 4 tasks, of work 8, of job
// A are left, running ones included.
var schedules = map[string]schedule{
	// 0: A may have 7 and has 4 tasks: AAAA, then B C D one each. No worker is left for E.
	// 1: workers 5, 6, 7 have done B, C, D. A4 B1 C4 D3 E3: the same plan.
	// 2: A and B are done. C3 D2 E3: C may have 7 and has 3 tasks: CCC, D E one each, spare D, then
	// E.
	// 3: workers 5, 6, 7 have done E, D, E. C3 and D1 are running, and worker 5 starts E1.
	"priority": {
		policy: dispatch.Policy{Rule: dispatch.Priority},
		plans:  "AAAABCD AAAABCD CCCDEDE CCCDE..",
		work: []string{
			"AACC",
			"AACC",
			"AACC",
			"AADD",
			"BBEE",
			"CCD.",
			"DDE.",
		},
		finish: [5]float64{2, 2, 4, 4, 4},
		missed: 1, // E, of priority 1, by 1 second
	},
	// 0: A may have 7-⌈3.5⌉ = 3, the others have one each.
	// 1: workers 5, 6, 7 have done C, D, E. A4 B2 C4 D3 E2: the same plan.
	// 2: all running tasks are done. A1 B1 C3 D2 E1: A B C D E one each, spare C C.
	// 3: workers 5, 6, 7 have done E, C, C. A1 B1 C1 and one of D2 are running; worker 5 starts the
	// other one.
	"priority, r = 1/2": {
		policy: dispatch.Policy{Rule: dispatch.Priority, Reserve: 0.5},
		plans:  "AAABCDE AAABCDE ABCDECC ABCDD..",
		work: []string{
			"AAAA",
			"AABB",
			"AACC",
			"BBDD",
			"CCED",
			"DDC.",
			"EEC.",
		},
		finish: [5]float64{4, 4, 4, 4, 3},
	},
	// 0: 18 tasks, A4 B2 C5 D4 E3: ⌈7·4/18⌉ = 2, ⌈14/18⌉ = 1, ⌈35/18⌉ = 2, 2, and for E none of
	// ⌈21/18⌉ = 2.
	// 1: workers 5, 6, 7 have done C, D, D. 15 tasks, A4 B2 C4 D2 E3: 2, 1, 2, ⌈14/15⌉ = 1, and for
	// E one of ⌈21/15⌉ = 2.
	// 2: A, B, C of workers 1 to 4 are done, and C, D, E. 8 tasks, A2 B1 C2 D1 E2: 2, 1, 2, 1, and
	// one of 2.
	// 3: workers 5, 6, 7 have done C, D, E. 5 tasks, A2 B1 C1 E1: 2, 1, 1, 1; those of A, B, C are
	// running.
	"proportion": {
		policy: dispatch.Policy{Rule: dispatch.Proportion},
		plans:  "AABCCDD AABCCDE AABCCDE AABCE..",
		work: []string{
			"AAAA",
			"AAAA",
			"BBBB",
			"CCCC",
			"CCCE",
			"DDD.",
			"DEE.",
		},
		finish: [5]float64{4, 4, 4, 3, 4},
		missed: 1, // E
	},
	// 0: A needs speed 8/3: workers 5, 6. B 4/3: worker 7. C 10/3: workers 1 to 4, total speed 4.
	// 1: workers 5, 6, 7 have done A, A, B. A2 B1 C5 D4 E3: A 4/3: worker 5. B 2/3: 6. C 10/3: 7,
	// 1, 2. D 8/3: 3, 4, all that is left. C is running four tasks, so worker 7 goes to the first
	// job that runs on fewer than planned: D.
	// 2: A1 C1 D3 E3: A 2/3: 5. C 2/3: 6. D 6/3: 7. E 6/3: 1, 2. Spare: D, two more.
	// 3: workers 5, 6, 7 have done A, C, D. D2 E3: D 4/3: 5. E 6/3: 6. Spare by speed: D 7, then E
	// 1, 2. D is running two tasks, so only worker 6 starts one, the last of E.
	"workload": {
		policy: dispatch.Policy{Rule: dispatch.Workload, Horizon: 3},
		plans:  "CCCCAAB CCDDABC EEDDACD EE..DED",
		work: []string{
			"CCEE",
			"CCEE",
			"CCDD",
			"CCDD",
			"AAA.",
			"ABCE",
			"BDD.",
		},
		finish: [5]float64{3, 2, 3, 4, 4},
		missed: 1, // E
	},
	// 0: A needs speed 8/9: worker 5. B 4/6: 6. C 10/7: 7. D 8/8: 1. E 6/3: 2, 3. Spare 4: A.
	// 1: workers 5, 6, 7 have done A, B, C. A3 B1 C4 D4 E3: A 6/8: 5. B 2/5: 6. C 8/6: 7. D 8/7:
	// 1, 2. E 6/2 = 3: 3, 4, all that is left. A runs on worker 4, one as planned, so worker 5 goes
	// to D, which runs on one of two.
	// 2: A2 C3 D2 E1: A 4/7: 5. C 6/5: 6. D 4/6: 7. E 2/1: 1, for its only task. Spare: A 2, then C
	// 3, 4.
	// 3: workers 5, 6, 7 have done A, C, D. A1 C2 E1 are running, D1 needs 2/5: worker 7. (A
	// 2/6: 5. C 4/4: 6. E is late:
	// 1. Spare: C 2.)
	"deadline, priority": {
		policy: dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareByPriority},
		plans:  "DEEAABC DDEEABC EACCACD EC..ACD",
		work: []string{
			"DDEE",
			"EEAA",
			"EECC",
			"AACC",
			"ADA.",
			"BBC.",
			"CCDD",
		},
		finish: [5]float64{4, 2, 4, 4, 4},
		missed: 1, // E
	},
	// 0: as above, but spare 4: E, whose deadline is the earliest.
	// 1: A3 B1 C4 D4 E3, the plan as above. E is running three tasks, one more than planned, and D
	// waits.
	// 2: B and E are done. A2 C3 D3: A 4/7: 5. C 6/5: 6. D 6/6: 7. Spare: C 1, 2, deadline 7, then
	// D 3, 4, deadline 8.
	// 3: workers 5, 6, 7 have done A, C, D. C2 D2 are running, worker 5 starts A1. (C 4/4: 6. D
	// 4/5: 7. Spare: C 1, D 2.)
	"deadline, deadline": {
		policy: dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareByDeadline},
		plans:  "DEEEABC DDEEABC CCDDACD CD..ACD",
		work: []string{
			"DDCC",
			"EECC",
			"EEDD",
			"EEDD",
			"AAAA",
			"BBC.",
			"CCD.",
		},
		finish: [5]float64{4, 2, 4, 4, 2},
	},
	// 0: as above, but worker 4 is kept.
	// 1: A3 B1 C4 D4 E3, the plan as above. E is running two tasks as planned, so worker 4 goes to
	// D, which runs on one of two.
	// 2: A2 C3 D3 E1: A 4/7: 5. C 6/5: 6. D 6/6: 7. E 2/1: 1, its only task. D runs on worker 4, as
	// many as planned: 2, 3, 7 are kept.
	// 3: workers 4, 5, 6 have done D, A, C. A1 C2 D2 E1: A 2/6: 5. C 4/4: 6. D 4/5: 7. E is late:
	// 1, running.
	// 4: A and E are done. C1 D1: C 2/3: 5. D 2/4: 6.
	"deadline, kept": {
		policy: dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareKept},
		plans:  "DEE.ABC DDEEABC E...ACD E...ACD ....CD.",
		work: []string{
			"DDEE.",
			"EE...",
			"EE...",
			".DD..",
			"AAAAC",
			"BBCCD",
			"CC.D.",
		},
		finish: [5]float64{4, 2, 5, 5, 4},
		missed: 1, // E
	},
	// 0: E 3, B 6, C 7: 1 to 3, 4 and 5, 6 and 7.
	// 1: workers 5, 6, 7 have done B, C, C. B1 C3 E3: E 1 to 3, B 4, C 5 to 7.
	// 2: E, B, C are done. D4 A4: D 1 to 4, A 5 to 7.
	// 3: workers 5, 6, 7 have done A. D4 are running, worker 5 starts A1.
	"edf": {
		policy: dispatch.Policy{Rule: dispatch.EDF},
		plans:  "EEEBBCC EEEBCCC DDDDAAA DDDDA..",
		work: []string{
			"EEDD",
			"EEDD",
			"EEDD",
			"BBDD",
			"BCAA",
			"CCA.",
			"CCA.",
		},
		finish: [5]float64{4, 2, 2, 4, 2},
		broken: 0.2, // A and D of five, until 2 of 4
	},
}

func TestFiveJobsByHand(t *testing.T) {
	for name, want := range schedules {
		plans, hand := map[int]string{}, map[int]string{}
		begun := map[string]int{}
		s := dispatch.Scenario{Jobs: fiveJobs, Speeds: fiveSpeeds, Policy: want.policy}
		s.Watch = func(d *dispatch.Decision) {
			if len(d.Present) > 0 {
				plans[int(d.Time)], hand[int(d.Time)] = letters(d.Plan()), letters(d.Hand())
			}
			for _, e := range d.Events {
				begun[fmt.Sprint(e.Kind, e.Job)]++
			}
		}
		r, err := dispatch.Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		wantPlans, wantHand := map[int]string{}, map[int]string{}
		for second, plan := range strings.Fields(want.plans) {
			wantPlans[second] = plan
			var column strings.Builder
			for _, row := range want.work {
				column.WriteByte(row[second])
			}
			wantHand[second] = column.String()
		}
		if diff := gocmp.Diff(wantPlans, plans); diff != "" {
			t.Errorf("%s: plans (-want +got):\n%s", name, diff)
		}
		if diff := gocmp.Diff(wantHand, hand); diff != "" {
			t.Errorf("%s: running tasks (-want +got):\n%s", name, diff)
		}
		// A letter stands for one unit of work, or two on the last three workers: the table
		// accounts for all work.
		var rows [5]float64
		start := [5]float64{9, 9, 9, 9, 9}
		for worker, row := range want.work {
			for second, letter := range row {
				if j := int(letter - 'A'); letter != '.' {
					rows[j] += fiveSpeeds[worker]
					start[j] = min(start[j], float64(second))
				}
			}
		}
		for j, job := range fiveJobs {
			if rows[j] != float64(job.Tasks)*job.Work || begun["finished"+strconv.Itoa(j)] != job.Tasks {
				t.Errorf("%s: job %d: work %v in the table, %d tasks done",
					name, j, rows[j], begun["finished"+strconv.Itoa(j)])
			}
			if rec := r.Jobs[j]; rec.Start != start[j] || rec.Finish != want.finish[j] {
				t.Errorf("%s: job %d runs from %v to %v, want %v to %v",
					name, j, rec.Start, rec.Finish, start[j], want.finish[j])
			}
		}
		if r.DeadlineMissPenalty != want.missed || math.Abs(r.PriorityViolationRate-want.broken) > 1e-15 {
			t.Errorf("%s: penalty %v, violation rate %v, want %v, %v",
				name, r.DeadlineMissPenalty, r.PriorityViolationRate,
				want.missed, want.broken)
		}
	}
}

// docs/dispatch.md shows the same schedules.
func TestFiveJobsInDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/dispatch.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "worker  priority  ")
	lines := strings.Split("    worker  priority  "+table, "\n")
	for name, want := range schedules {
		column := strings.Index(lines[0], "  "+name+"  ") + 2
		if column < 2 {
			column = strings.LastIndex(lines[0], "  "+name) + 2 // the last one
		}
		for worker, row := range want.work {
			if got := lines[worker+1][column:]; got != row && !strings.HasPrefix(got, row+"  ") {
				t.Errorf("%s, worker %d: %q, want %q", name, worker+1, got, row)
			}
		}
		row := fmt.Sprintf("| %s | %v | %v | %v |\n",
			name, strings.Join(strings.Fields(strings.Trim(fmt.Sprint(want.finish), "[]")), " | "),
			want.broken, want.missed)
		if !strings.Contains(string(page), row) {
			t.Errorf("no row %q", row)
		}
	}
}
