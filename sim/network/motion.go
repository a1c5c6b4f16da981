package network

import (
	"context"
	"math"
	"math/rand/v2"

	"productform/sim"
	"productform/sim/internal/stations"
)

// A motion is the engine of a network. An event takes the time that the stations need that a job
// leaves and enters, plus O(log stations). It allocates only when there are more jobs than ever
// before.
type motion struct {
	*system
	draws    *rand.Rand
	now      float64
	arrival  float64 // time of the next arrival, +Inf if there is none
	calendar *stations.Calendar
	jobs     []job
	ids      stations.IDs
	err      error // error from adding the jobs present at the start

	number  int     // the number n
	counted float64 // time up to which n is counted
	byChain []count
	byVisit []count
	byNode  stations.Usage
	use     []use // by station
}

// A job is a job of the network.
type job struct {
	born  float64 // time when it arrived or its cycle started, +Inf before its first cycle
	came  float64 // arrival time at its station
	visit int32

	served float64 // time at stations other than those with Delay since born
}

// A count is a number of jobs and the time since which it holds.
type count struct {
	jobs  int
	since float64
}

// A use is the state of a station and the time since which it holds.
type use struct {
	count
	part  float64 // fraction of its servers that are busy
	empty float64 // time without jobs since Restart
}

func newMotion(ctx context.Context, s *system, r *sim.Stream) *motion {
	m := &motion{
		system: s, draws: rand.New(r), arrival: math.Inf(1),
		byChain: make([]count, len(s.chains)), byVisit: make([]count, len(s.visits)),
		byNode: make(stations.Usage, len(s.nodes)), use: make([]use, len(s.stations)),
	}
	var list []stations.Station
	for i := range s.stations {
		list = append(list, s.stations[i].make(m.draws))
	}
	m.calendar = stations.NewCalendar(list)
	m.err = m.populate(ctx)
	if s.rate > 0 {
		m.arrival = m.draws.ExpFloat64() / s.rate
	}
	return m
}

// populate adds the jobs of closed chains.
func (m *motion) populate(ctx context.Context) error {
	nothing := m.newTotals()
	for v := range m.visits {
		chain, born := m.chains[m.visits[v].chain], math.Inf(1)
		if chain.reference == v || chain.cycle > 0 {
			born = 0
		}
		for n := range m.visits[v].start {
			if n%1000 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := m.begin(v, born, nothing); err != nil {
				return err
			}
		}
	}
	return nil
}

// Advance simulates t units of time. It returns the error of a station, or an error that wraps
// [sim.ErrTooManyJobs].
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

// next returns the time of the next event.
func (m *motion) next() float64 { return min(m.arrival, m.calendar.Next()) }

// step simulates the next event.
func (m *motion) step(seen *sim.Totals) error {
	m.now = m.next()
	seen.Jumps++
	if m.arrival > m.now {
		return m.depart(seen)
	}
	m.arrival = m.now + m.draws.ExpFloat64()/m.rate
	return m.begin(int(m.arrivals.Pick(m.draws.Uint64())), m.now, seen)
}

// begin adds a new job.
func (m *motion) begin(visit int, born float64, seen *sim.Totals) error {
	if err := sim.CheckJobs(m.ids.Present()+1, sim.MaxJobs); err != nil {
		return err
	}
	id, first := m.ids.Take()
	if first {
		m.jobs = append(m.jobs, job{})
	}
	m.jobs[id].born, m.jobs[id].served = born, 0
	m.change(&m.byChain[m.visits[visit].chain], m.visits[visit].chain, 1, seen)
	return m.enter(id, visit, seen)
}

// enter starts a visit of a job.
func (m *motion) enter(id int32, visit int, seen *sim.Totals) error {
	v := &m.visits[visit]
	j := &m.jobs[id]
	j.came, j.visit = m.now, int32(visit)
	m.move(visit, 1, seen)
	if err := m.calendar.Arrive(
		v.station, m.now, stations.Job{ID: id, Class: v.class}, v.sizes.Sample(m.draws),
	); err != nil {
		return err
	}
	m.settle(v.station)
	return nil
}

// depart ends the next visit and sends the job on.
func (m *motion) depart(seen *sim.Totals) error {
	station, done, err := m.calendar.Depart()
	if err != nil {
		return err
	}
	j := &m.jobs[done.ID]
	v := &m.visits[j.visit]
	m.move(int(j.visit), -1, seen)
	m.settle(station)
	seen.Leave(len(m.chains)+int(j.visit), m.now-j.came)
	if !m.isDelay(v.station) {
		j.served += m.now - j.came
	}
	code := v.next.Pick(m.draws.Uint64())
	if code == leaves || code&newCycle != 0 {
		if !math.IsInf(j.born, 1) {
			seen.Leave(v.chain, m.now-j.born)
			if row := m.chains[v.chain].response; row > 0 {
				seen.Leave(len(m.chains)+len(m.visits)+row-1, j.served)
			}
		}
		j.born, j.served = m.now, 0
	}
	if code == leaves {
		m.change(&m.byChain[v.chain], v.chain, -1, seen)
		m.ids.Give(done.ID)
		return nil
	}
	return m.enter(done.ID, int(code&^newCycle), seen)
}

// settle updates the fraction of busy servers of a station.
func (m *motion) settle(station int) {
	u := &m.use[station]
	if full := m.stations[station].full; full > 0 {
		u.part = min(1, m.calendar.Station(station).Rate()/full)
	} else {
		u.part = float64(min(1, u.jobs))
	}
}

// move counts the time up to now, then adds or removes one job at a visit.
func (m *motion) move(visit, by int, seen *sim.Totals) {
	v := &m.visits[visit]
	m.change(&m.byVisit[visit], len(m.chains)+visit, by, seen)
	m.tally(v.station, by, m.now, seen)
	for _, k := range v.nodes {
		m.byNode.Change(k, by, m.now, seen.Busy[len(m.stations):])
	}
	m.addNumber(m.now, seen)
	m.number += by * v.away
}

// change counts the jobs of a row of totals up to now, and then changes their number.
func (m *motion) change(c *count, row, by int, seen *sim.Totals) {
	seen.Jobs[row] += float64(c.jobs) * (m.now - c.since)
	c.since = m.now
	c.jobs += by
}

// tally counts the work and the jobs of a station up to the given time, and then changes the number
// of jobs.
func (m *motion) tally(station, by int, now float64, seen *sim.Totals) {
	u := &m.use[station]
	seen.Busy[station] += u.part * (now - u.since)
	if u.jobs == 0 {
		u.empty += now - u.since
	}
	u.since = now
	u.jobs += by
}

// addNumber counts n up to the given time.
func (m *motion) addNumber(now float64, seen *sim.Totals) {
	t := now - m.counted
	seen.Add(m.number, t)
	if m.closed {
		seen.Number += float64(m.number) * t
	}
	m.counted = now
}

// flush counts up to the end of an advance at time t, which becomes time 0.
func (m *motion) flush(t float64, seen *sim.Totals) {
	m.now = t
	seen.Time += t
	for k := range m.byChain {
		m.change(&m.byChain[k], k, 0, seen)
		m.byChain[k].since = 0
	}
	for v := range m.byVisit {
		m.change(&m.byVisit[v], len(m.chains)+v, 0, seen)
		m.byVisit[v].since = 0
	}
	for i := range m.use {
		m.tally(i, 0, t, seen)
		m.use[i].since = 0
	}
	m.byNode.Flush(t, seen.Busy[len(m.stations):])
	m.addNumber(t, seen)
	m.counted = 0
	for k := range m.jobs {
		m.jobs[k].born -= t
		m.jobs[k].came -= t
	}
	m.calendar.Shift(t)
	m.arrival -= t
	m.now = 0
}

// pilot estimates the rate of jumps of closed chains in a separate short run.
func (s *system) pilot(ctx context.Context, unstable bool) (float64, error) {
	m := newMotion(ctx, s, sim.NewStream([32]byte{}))
	if m.err != nil {
		return 0, m.err
	}
	closed := 0
	for _, k := range s.chains {
		closed += k.population
	}
	seen := s.newTotals()
	return stations.Pilot(ctx, 3*closed, unstable, func() error { return m.step(seen) }, func() (now, visits float64) {
		return m.now, m.closedVisits(seen)
	})
}

// closedVisits returns the number of completed visits of closed chains.
func (m *motion) closedVisits(seen *sim.Totals) float64 {
	var sum float64
	for v := range m.visits {
		if m.chains[m.visits[v].chain].closed {
			sum += seen.Left[len(m.chains)+v]
		}
	}
	return sum
}
