package loss

import (
	"context"
	"math"
	"math/rand/v2"

	"productform/internal/eventqueue"
	"productform/sim"
	"productform/sim/internal/stations"
)

// A motion is the engine of a loss system. An event takes the time that its station needs, plus one
// step for each bound on the class or for each of its servers. It allocates only when there are
// more jobs than ever before.
type motion struct {
	*system
	draws    *rand.Rand
	now      float64
	arrival  float64                 // time of the next Poisson arrival, +Inf if there is none
	ready    eventqueue.Queue[int32] // times at which sources make their next jobs, by class
	calendar *stations.Calendar
	jobs     []job
	ids      stations.IDs
	used     []int  // units in use, by bound
	released []line // free tokens, by server
	releases int    // number of tokens released so far
	err      error  // error at the start
	sim.Population

	byServer stations.Usage
	byClass  []tally
	byToken  []float64 // jobs assigned to each server since Restart
}

// A job is a job of the system.
type job struct {
	came, work float64
	class      int32
	met        bool // whether it found all servers busy
}

// A tally holds the observations of a class since Restart.
type tally struct {
	offered, lost float64 // arrivals
	met           float64 // admitted jobs that found all servers busy
	waited        float64 // total time that departed jobs waited for a server
}

// A line holds the free tokens of a server, numbered by release, oldest first.
type line struct {
	tokens []int // a ring
	first  int
	length int
}

func (l *line) put(token int) {
	l.tokens[(l.first+l.length)%len(l.tokens)] = token
	l.length++
}

func (l *line) take() {
	l.first = (l.first + 1) % len(l.tokens)
	l.length--
}

func newMotion(ctx context.Context, s *system, r *sim.Stream) *motion {
	m := &motion{
		system: s, draws: rand.New(r), arrival: math.Inf(1), calendar: stations.NewCalendar(s.make()),
		used:       make([]int, len(s.most)),
		Population: sim.NewPopulation(len(s.classes)), byServer: make(stations.Usage, len(s.model.Servers)),
		byClass: make([]tally, len(s.classes)), byToken: make([]float64, len(s.tokens)),
	}
	for _, n := range s.tokens {
		m.released = append(m.released, line{tokens: make([]int, n)})
	}
	m.releaseAll()
	if s.rate > 0 {
		m.arrival = m.draws.ExpFloat64() / s.rate
	}
	for k := range s.classes {
		for n := range s.classes[k].sources {
			if n%1000 == 0 && ctx.Err() != nil {
				m.err = ctx.Err()
				return m
			}
			m.rest(k)
		}
	}
	return m
}

// releaseAll releases the tokens of all servers, round-robin.
func (m *motion) releaseAll() {
	for more := true; more; {
		more = false
		for s := range m.released {
			if l := &m.released[s]; l.length < len(l.tokens) {
				m.releases++
				l.put(m.releases)
				more = true
			}
		}
	}
}

// rest draws the time until a source of a class makes its next job.
func (m *motion) rest(class int) {
	if rate := m.classes[class].rate; rate > 0 {
		m.ready.Push(m.now+m.draws.ExpFloat64()/rate, int32(class))
	}
}

// next returns the time of the next event.
func (m *motion) next() float64 { return min(m.arrival, m.calendar.Next(), m.nextReady()) }

func (m *motion) nextReady() float64 {
	if len(m.ready) == 0 {
		return math.Inf(1)
	}
	return m.ready[0].Time
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

// step simulates the next event.
func (m *motion) step(seen *sim.Totals) error {
	m.now = m.next()
	seen.Jumps++
	switch m.now {
	case m.calendar.Next():
		return m.depart(seen)
	case m.arrival:
		m.arrival = m.now + m.draws.ExpFloat64()/m.rate
		return m.arrive(int(m.arrivals.Pick(m.draws.Uint64())), seen)
	}
	return m.arrive(int(m.ready.Pop().Item), seen)
}

// arrive admits an arriving job or loses it.
func (m *motion) arrive(class int, seen *sim.Totals) error {
	c := &m.classes[class]
	t := &m.byClass[class]
	t.offered++
	station, fits := m.fits(c)
	if !fits {
		t.lost++
		if c.sources > 0 {
			m.rest(class)
		}
		return nil
	}
	if err := sim.CheckJobs(m.Total+1, sim.MaxJobs); err != nil {
		return err
	}
	for _, b := range c.bounds {
		m.used[b] += c.units
	}
	met := m.servers > 0 && m.Total >= m.servers
	if met {
		t.met++
	}
	if m.tokens != nil {
		m.released[station].take()
		m.byToken[station]++
		m.byServer.Change(station, 1, m.now, seen.Busy)
	} else {
		for _, s := range c.servers {
			m.byServer.Change(s, 1, m.now, seen.Busy)
		}
	}
	m.Change(class, 1, m.now, seen)
	id, first := m.ids.Take()
	if first {
		m.jobs = append(m.jobs, job{})
	}
	work := c.sizes.Sample(m.draws)
	m.jobs[id] = job{m.now, work, int32(class), met}
	return m.calendar.Arrive(station, m.now, stations.Job{ID: id, Class: int32(class)}, work)
}

// fits reports whether a job of a class is admitted, and at which station.
func (m *motion) fits(c *class) (station int, fits bool) {
	for _, b := range c.bounds {
		if m.used[b]+c.units > m.most[b] {
			return 0, false
		}
	}
	if m.tokens == nil {
		return 0, true
	}
	switch m.assign {
	case RandomServer:
		station = c.servers[m.draws.IntN(len(c.servers))]
		return station, m.released[station].length > 0
	case ShortestQueue:
		return m.shortest(c)
	}
	oldest := math.MaxInt
	for _, s := range c.servers {
		if l := &m.released[s]; l.length > 0 && l.tokens[l.first] < oldest {
			station, oldest = s, l.tokens[l.first]
		}
	}
	return station, oldest < math.MaxInt
}

// shortest returns a server with the fewest jobs among those with a free token, and reports whether
// there is one.
func (m *motion) shortest(c *class) (station int, found bool) {
	fewest, same := math.MaxInt, 0
	for _, s := range c.servers {
		if m.released[s].length == 0 {
			continue
		}
		switch jobs := m.byServer.Jobs(s); {
		case jobs < fewest:
			station, fewest, same = s, jobs, 1
		case jobs == fewest:
			if same++; m.draws.IntN(same) == 0 {
				station = s
			}
		}
	}
	return station, same > 0
}

// depart removes the job that departs next.
func (m *motion) depart(seen *sim.Totals) error {
	station, done, err := m.calendar.Depart()
	if err != nil {
		return err
	}
	j := m.jobs[done.ID]
	m.ids.Give(done.ID)
	class := int(j.class)
	c := &m.classes[class]
	for _, b := range c.bounds {
		m.used[b] -= c.units
	}
	if m.tokens != nil {
		m.releases++
		m.released[station].put(m.releases)
		m.byServer.Change(station, -1, m.now, seen.Busy)
	} else {
		for _, s := range c.servers {
			m.byServer.Change(s, -1, m.now, seen.Busy)
		}
	}
	m.Change(class, -1, m.now, seen)
	seen.Leave(class, m.now-j.came)
	if j.met {
		m.byClass[class].waited += m.now - j.came - j.work // served at rate 1
	}
	if c.sources > 0 {
		m.rest(class)
	}
	return nil
}

// flush counts up to the end of an advance at time t, which becomes time 0.
func (m *motion) flush(t float64, seen *sim.Totals) {
	m.Flush(t, seen)
	m.byServer.Flush(t, seen.Busy)
	for k := range m.jobs {
		m.jobs[k].came -= t
	}
	for k := range m.ready {
		m.ready[k].Time -= t
	}
	m.calendar.Shift(t)
	m.arrival -= t
	m.now = 0
}

// pilot estimates the rate of jumps other than Poisson arrivals in a separate short run.
func (s *system) pilot(ctx context.Context, unstable bool) (float64, error) {
	m := newMotion(ctx, s, sim.NewStream([32]byte{}))
	if m.err != nil {
		return 0, m.err
	}
	seen := sim.NewTotals(len(s.classes), len(s.model.Servers))
	return stations.Pilot(
		ctx, 4*s.sources, unstable, func() error { return m.step(seen) },
		func() (now, jumps float64) { return m.now, m.otherJumps(seen) },
	)
}

// otherJumps returns the number of jumps that were not Poisson arrivals.
func (m *motion) otherJumps(seen *sim.Totals) float64 {
	n := seen.Jumps
	for k := range m.classes {
		if m.classes[k].sources == 0 {
			n -= m.byClass[k].offered
		}
	}
	return n
}
