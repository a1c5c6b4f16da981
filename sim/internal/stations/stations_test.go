package stations

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"productform/internal/ranktable"
)

// A naive station stores the remaining work of each job, oldest first, and recomputes all rates
// after each event.
type naive struct {
	jobs  []naiveJob
	rates func(jobs []naiveJob) []float64
	now   float64
}

type naiveJob struct {
	Job
	left float64
}

// pass applies the work done up to the given time.
func (s *naive) pass(to float64) {
	for k, r := range s.rates(s.jobs) {
		s.jobs[k].left -= r * (to - s.now)
	}
	s.now = to
}

// next returns the job that finishes next, and when.
func (s *naive) next() (first int, at float64) {
	first, at = -1, math.Inf(1)
	for k, r := range s.rates(s.jobs) {
		if t := s.now + s.jobs[k].left/r; r > 0 && t < at {
			first, at = k, t
		}
	}
	return first, at
}

// oldest gives the whole rate to the oldest job.
func oldest(rate float64) func(jobs []naiveJob) []float64 {
	return func(jobs []naiveJob) []float64 {
		rates := make([]float64, len(jobs))
		if len(jobs) > 0 {
			rates[0] = rate
		}
		return rates
	}
}

// equally gives all jobs equal rates.
func equally(jobs []naiveJob) []float64 {
	return slices.Repeat([]float64{1 / float64(max(len(jobs), 1))}, len(jobs))
}

// byNodes lets each node serve the oldest job that it can.
func byNodes(of [][]int, capacity []float64) func(jobs []naiveJob) []float64 {
	return func(jobs []naiveJob) []float64 {
		rates := make([]float64, len(jobs))
		for n, c := range capacity {
			if k := slices.IndexFunc(jobs, func(j naiveJob) bool { return slices.Contains(of[j.Class], n) }); k >= 0 {
				rates[k] += c
			}
		}
		return rates
	}
}

// Queues that grow to thousands of jobs and shrink again keep their order and precision, although
// stations save memory and reset their work.
func TestLongQueues(t *testing.T) {
	of, capacity := [][]int{{0}, {0, 1}, {1}}, []float64{1, 1.5}
	one := func(int) float64 { return 1 }
	youngest := func(jobs []naiveJob) []float64 {
		rates := oldest(1)(jobs)
		slices.Reverse(rates)
		return rates
	}
	for name, c := range map[string]struct {
		station Station
		rates   func(jobs []naiveJob) []float64
	}{
		"one server": {NewServers(1, 2), oldest(2)},
		"oldest":     {NewFirst(one, 3), oldest(1)},
		"youngest":   {NewLast(one, 3), youngest},
		"last":       {NewLastServers(1, 1, 3), youngest},
		"nodes":      {NewNodes(of, capacity), byNodes(of, capacity)},
		"sharing":    {NewSharing(one, 1), equally},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		s := &naive{rates: c.rates}
		const jobs = 2500
		for k := 0; k < 3*jobs || len(s.jobs) > 0; k++ {
			// the queue grows to thousands of jobs, stays at one or two for a long time, grows
			// again and empties
			arrives := k < jobs || len(s.jobs) < 2 && k < 3*jobs || k > 3*jobs-500 && k < 3*jobs
			first, at := s.next()
			if arrives && (first < 0 || r.IntN(3) > 0) {
				if first >= 0 {
					at = s.now + (at-s.now)*r.Float64()
				} else {
					at = s.now + r.ExpFloat64()
				}
				s.pass(at)
				j := naiveJob{Job{int32(k), int32(r.IntN(3))}, r.ExpFloat64()}
				s.jobs = append(s.jobs, j)
				if err := c.station.Arrive(at, j.Job, j.left); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if first < 0 {
				continue
			}
			// the remaining work of the naive station accumulates rounding errors
			if got := c.station.Next(); math.Abs(got-at) > 1e-7*max(1, at) {
				t.Fatalf("%s, event %d: next at %v, want %v", name, k, got, at)
			}
			job, err := c.station.Depart()
			if err != nil {
				t.Fatal(err)
			}
			s.pass(at)
			if job != s.jobs[first].Job {
				t.Fatalf("%s, event %d: %v leaves, want %v", name, k, job, s.jobs[first].Job)
			}
			s.jobs = slices.Delete(s.jobs, first, first+1)
			if k%100 == 0 {
				c.station.Shift(at)
				s.now -= at
			}
		}
		if at := c.station.Next(); !math.IsInf(at, 1) || c.station.Rate() != 0 {
			t.Errorf("%s: an empty station has its next departure at %v, and the rate %v", name, at, c.station.Rate())
		}
	}
}

// A reached limit blocks exactly its classes, including those that a larger limit contains.
func TestLimits(t *testing.T) {
	q := NewLimited(4, 1, []ranktable.Limit{{Classes: []int{0}, Most: 1}, {Classes: []int{0, 1}, Most: 2}}, 3)
	for k, class := range []int32{0, 0, 1, 1, 2, 0, 2, 2} {
		if err := q.Arrive(0, Job{int32(k), class}, 100); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{0, 2, 4, 6}; !slices.Equal(q.working, want) || q.Rate() != 4 {
		t.Errorf("%v have servers, want %v; rate %v", q.working, want, q.Rate())
	}
}

// A chain of swaps matches a calculation by hand: of jobs 0 1 2 1, the first finishes and takes the
// place of the first job that it can swap with, and so on.
func TestSwaps(t *testing.T) {
	joined := [][]bool{{false, true, false}, {true, false, true}, {false, true, false}}
	q := NewFirst(func(int) float64 { return 1 }, 3).Swapping(joined, func(int32) float64 { return 1 })
	for k, class := range []int32{0, 1, 2, 1} {
		if err := q.Arrive(0, Job{int32(k), class}, 1); err != nil {
			t.Fatal(err)
		}
	}
	left, err := q.Depart()
	if err != nil {
		t.Fatal(err)
	}
	var order []int32
	for _, j := range q.jobs[q.head:] {
		order = append(order, j.ID)
	}
	if left != (Job{3, 1}) || q.Ended() != 0 || !slices.Equal(order, []int32{0, 1, 2}) {
		t.Errorf("%v leaves, %v stay, class %d was done", left, order, q.Ended())
	}
}

// A station that is never empty occasionally resets its work, without any effect: jobs depart at
// the same times as at a naive station.
func TestSharingNeverEmpty(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	station := NewSharing(func(int) float64 { return 1 }, 1)
	s := &naive{rates: equally}
	arrive := func(id int32) {
		j := naiveJob{Job{ID: id}, r.ExpFloat64()}
		s.jobs = append(s.jobs, j)
		if err := station.Arrive(s.now, j.Job, j.left); err != nil {
			t.Fatal(err)
		}
	}
	const jobs = 3
	for id := range int32(jobs) {
		arrive(id)
	}
	anew := 0
	for id := int32(jobs); id < 20_000; id++ {
		first, at := s.next()
		if got := station.Next(); math.Abs(got-at) > 1e-9 {
			t.Fatalf("job %d: next at %v, want %v", id, got, at)
		}
		before := station.queues[0].attained
		job, err := station.Depart()
		if err != nil {
			t.Fatal(err)
		}
		if station.queues[0].attained < before {
			anew++
		}
		s.pass(at)
		if job != s.jobs[first].Job {
			t.Fatalf("%v leaves, want %v", job, s.jobs[first].Job)
		}
		s.jobs = slices.Delete(s.jobs, first, first+1)
		arrive(id)
		station.Shift(s.now)
		s.now = 0
	}
	if anew < 3 {
		t.Errorf("work was reset only %d times", anew)
	}
}

// In M/M/1 with service in random order the waiting time has the mean of FCFS and the second moment
// of FCFS divided by 1 - ρ/2 (Kingman, "On queues in which customers are served in random order",
// Mathematical Proceedings of the Cambridge Philosophical Society 58, 1962). Seeds are fixed; a
// correct station fails once in ten million seeds.
func TestRandomOrderHasKingmansSecondMoment(t *testing.T) {
	const rho, batches, jobs = 0.7, 64, 20_000
	var first, second []float64
	for seed := range uint64(batches) {
		draws := rand.New(rand.NewPCG(seed, 3))
		s := NewRandom(1, 1, draws)
		arrived, work := make([]float64, jobs), make([]float64, jobs)
		sum, squares, left := 0.0, 0.0, 0
		depart := func() {
			at := s.Next()
			job, err := s.Depart()
			if err != nil {
				t.Fatal(err)
			}
			wait := max(0, at-arrived[job.ID]-work[job.ID])
			sum, squares, left = sum+wait, squares+wait*wait, left+1
		}
		now := 0.0
		for id := range jobs {
			now += draws.ExpFloat64() / rho
			for s.Next() <= now {
				depart()
			}
			arrived[id], work[id] = now, draws.ExpFloat64()
			if err := s.Arrive(now, Job{ID: int32(id)}, work[id]); err != nil {
				t.Fatal(err)
			}
		}
		for left < jobs {
			depart()
		}
		first, second = append(first, sum/jobs), append(second, squares/jobs)
	}
	wait := 1 / (1 - rho) // mean of the positive waiting times under FCFS, which are exponential
	for _, c := range []struct {
		what string
		list []float64
		want float64
	}{{"mean", first, rho * wait}, {"second moment", second, rho * 2 * wait * wait / (1 - rho/2)}} {
		mean, variance := stat.MeanVariance(c.list, nil)
		if z := (mean - c.want) / math.Sqrt(variance/batches); math.Abs(z) > 5.8 {
			t.Errorf("%s of the wait: %v, want %v, z = %v", c.what, mean, c.want, z)
		}
	}
}
