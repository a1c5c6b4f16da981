package swap

import (
	"context"
	"math"
	"math/rand/v2"

	"productform/sim"
	"productform/sim/internal/stations"
)

// A motion is the engine of a pass-and-swap queue. An event scans the jobs up to the first of each
// class and, for a finished job, all jobs behind it; it allocates only when there are more jobs
// than ever before.
type motion struct {
	*system
	draws   *rand.Rand
	now     float64
	arrival float64 // time of the next arrival, +Inf if there is none
	queue   *stations.Ordered
	jobs    []job
	ids     stations.IDs
	err     error // error at the start
	sim.Population

	serves stations.Usage // jobs that each server can serve
	ended  []float64      // finished jobs since Restart, by class
	gone   []float64      // departed jobs since Restart, by class
}

// A job is a job of the queue.
type job struct {
	came  float64 // arrival time; +Inf in a closed queue before its first departure
	class int32
}

func newMotion(ctx context.Context, s *system, r *sim.Stream) *motion {
	m := &motion{
		system: s, draws: rand.New(r), arrival: math.Inf(1),
		Population: sim.NewPopulation(len(s.classes)), serves: make(stations.Usage, len(s.capacity)),
		ended: make([]float64, len(s.classes)), gone: make([]float64, len(s.classes)),
	}
	of := make([][]int, len(s.classes))
	for i, c := range s.classes {
		of[i] = c.servers
	}
	m.queue = stations.NewNodes(of, s.capacity).Swapping(s.swaps, func(int32) float64 {
		return s.sizes.Sample(m.draws)
	})
	if s.rate > 0 {
		m.arrival = m.draws.ExpFloat64() / s.rate
	}
	nothing := sim.NewTotals(len(s.classes), len(s.capacity))
	for n, class := range s.start {
		if n%1000 == 0 && ctx.Err() != nil {
			m.err = ctx.Err()
		}
		if m.err == nil {
			m.err = m.join(class, math.Inf(1), nothing)
		}
		if m.err != nil {
			break
		}
	}
	return m
}

// next returns the time of the next event.
func (m *motion) next() float64 { return min(m.arrival, m.queue.Next()) }

// Advance simulates t units of time. The error wraps [sim.ErrTooManyJobs].
func (m *motion) Advance(t float64, seen *sim.Totals) error {
	if m.err != nil {
		return m.err
	}
	for m.next() <= t {
		if err := m.step(seen); err != nil {
			return err
		}
	}
	m.flush(t, seen)
	return nil
}

// step simulates the next event.
func (m *motion) step(seen *sim.Totals) error {
	m.now = m.next()
	seen.Jumps++
	if m.arrival > m.now {
		return m.depart(seen)
	}
	m.arrival = m.now + m.draws.ExpFloat64()/m.rate
	return m.join(int(m.arrivals.Pick(m.draws.Uint64())), m.now, seen)
}

// join adds a job to the end of the queue; came is its arrival time.
func (m *motion) join(class int, came float64, seen *sim.Totals) error {
	if err := sim.CheckJobs(m.Total+1, sim.MaxJobs); err != nil {
		return err
	}
	id, first := m.ids.Take()
	if first {
		m.jobs = append(m.jobs, job{})
	}
	m.jobs[id] = job{came, int32(class)}
	m.change(class, 1, seen)
	return m.queue.Arrive(m.now, stations.Job{ID: id, Class: int32(class)}, m.sizes.Sample(m.draws))
}

// depart removes the job that finds no place when the next job finishes. In a closed queue this job
// returns.
func (m *motion) depart(seen *sim.Totals) error {
	left, err := m.queue.Depart()
	if err != nil {
		return err
	}
	m.ended[m.queue.Ended()]++
	j := m.jobs[left.ID]
	class := int(j.class)
	m.ids.Give(left.ID)
	m.gone[class]++
	m.change(class, -1, seen)
	if m.start == nil || !math.IsInf(j.came, 1) {
		seen.Leave(class, m.now-j.came)
	}
	if m.start == nil {
		return nil
	}
	return m.join(class, m.now, seen)
}

// change counts up to now, and then changes the number of jobs of a class.
func (m *motion) change(class, by int, seen *sim.Totals) {
	m.Change(class, by, m.now, seen)
	for _, s := range m.classes[class].servers {
		m.serves.Change(s, by, m.now, seen.Busy)
	}
}

// flush counts up to the end of an advance at time t, which becomes time 0.
func (m *motion) flush(t float64, seen *sim.Totals) {
	m.Flush(t, seen)
	if m.start != nil {
		seen.Number += float64(m.Total) * t
	}
	m.serves.Flush(t, seen.Busy)
	for k := range m.jobs {
		m.jobs[k].came -= t
	}
	m.queue.Shift(t)
	m.arrival -= t
	m.now = 0
}

// pilot estimates the rate of finished jobs in a separate short run.
func (s *system) pilot(ctx context.Context, unstable bool) (float64, error) {
	m := newMotion(ctx, s, sim.NewStream([32]byte{}))
	if m.err != nil {
		return 0, m.err
	}
	seen := sim.NewTotals(len(s.classes), len(s.capacity))
	return stations.Pilot(
		ctx, 3*len(s.start), unstable, func() error { return m.step(seen) },
		func() (now, ended float64) { return m.now, sim.Sum(m.ended) },
	)
}
