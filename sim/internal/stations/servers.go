package stations

import (
	"math"
	"math/rand/v2"

	"productform/internal/eventqueue"
)

// Servers is a station of equal servers that each serve one job at a time. Jobs that find no free
// server wait, and are served in order of arrival or at random. With enough servers for all jobs,
// no job waits.
type Servers struct {
	servers int
	rate    float64               // rate of each server
	ends    eventqueue.Queue[Job] // jobs in service, ordered by end time
	waiting []waitingJob          // waiting[head:], oldest first
	head    int
	draws   *rand.Rand // draws the next job to serve; nil serves the oldest
}

type waitingJob struct {
	Job
	work float64
}

// NewServers returns a station with the given number and rate of servers.
func NewServers(servers int, rate float64) *Servers { return &Servers{servers: servers, rate: rate} }

// NewRandom returns a station whose servers pick waiting jobs at random.
func NewRandom(servers int, rate float64, draws *rand.Rand) *Servers {
	return &Servers{servers: servers, rate: rate, draws: draws}
}

// Everyone is a number of servers so large that no job waits.
const Everyone = math.MaxInt

// Arrive implements [Station].
func (s *Servers) Arrive(now float64, job Job, work float64) error {
	if len(s.ends) < s.servers {
		s.ends.Push(now+work/s.rate, job)
	} else {
		s.waiting = append(s.waiting, waitingJob{job, work})
	}
	return nil
}

// Next implements [Station].
func (s *Servers) Next() float64 {
	if len(s.ends) == 0 {
		return math.Inf(1)
	}
	return s.ends[0].Time
}

// Depart implements [Station].
func (s *Servers) Depart() (Job, error) {
	end := s.ends.Pop()
	if s.head < len(s.waiting) {
		if s.draws != nil {
			k := s.head + s.draws.IntN(len(s.waiting)-s.head)
			s.waiting[s.head], s.waiting[k] = s.waiting[k], s.waiting[s.head]
		}
		next := s.waiting[s.head]
		s.head++
		if s.head > 1000 && s.head > len(s.waiting)/2 {
			s.waiting = s.waiting[:copy(s.waiting, s.waiting[s.head:])]
			s.head = 0
		}
		s.ends.Push(end.Time+next.work/s.rate, next.Job)
	}
	return end.Item, nil
}

// Rate implements [Station].
func (s *Servers) Rate() float64 { return float64(len(s.ends)) * s.rate }

// Shift implements [Station].
func (s *Servers) Shift(t float64) {
	for k := range s.ends {
		s.ends[k].Time -= t
	}
}
