package sim_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"productform/internal/input"
	"productform/num"
	"productform/sim"
	"productform/sizes"
)

// A singleServer is the M/G/1 FCFS queue with a server of speed 1.
type singleServer struct {
	ArrivalRate float64
	Sizes       sizes.Distribution
}

// meanWaiting is an additional measure of the queue: the mean time that jobs wait for their
// service.
const meanWaiting = "mean_waiting"

// Describe implements [sim.System].
func (m singleServer) Describe(_ context.Context, o sim.Observation) (*sim.Description, error) {
	if !(m.ArrivalRate >= 1e-300 && m.ArrivalRate <= 1e300) {
		return nil, input.Errorf("ArrivalRate", m.ArrivalRate, "a number in [1e-300, 1e300]")
	}
	if m.Sizes == nil {
		return nil, input.Errorf("Sizes", "", "a distribution of sizes")
	}
	mean, err := sizes.Mean(m.Sizes)
	if err != nil {
		return nil, fmt.Errorf("Sizes: %w", err)
	}
	d := &sim.Description{
		Method:   "calendar of a single server",
		Identity: []any{"single server", m.ArrivalRate, m.Sizes.String()},
		Classes:  []sim.Class{{Name: "job", ArrivalRate: m.ArrivalRate, MeanSize: mean}},
		Servers:  []sim.Server{{Name: "server", Size: 1}},
		JumpRate: 2 * m.ArrivalRate, // arrivals and departures
		Moments:  []sim.Moment{{Sizes: m.Sizes, Orders: []float64{2}}},
		Start:    func(_ context.Context, s *sim.Stream) sim.Engine { return newSingleServerQueue(m, s) },
		Measures: func(s *sim.Samples) []sim.Measure {
			waiting := sim.Measure{Name: meanWaiting, Kind: sim.OfAll, Unit: "time", Estimate: s.Own("waiting", 0)}
			return append(append(s.Jobs(), s.Utilizations(sim.OfServer)...), waiting)
		},
	}
	if load := m.ArrivalRate * mean; !(load < 1) {
		if !o.OverHorizon {
			return nil, fmt.Errorf("%w: the load is %v", num.ErrUnstable, load)
		}
		d.Unstable = "queue"
	}
	return d, nil
}

// A singleServerQueue is the engine of the queue. Its next event is the end of the job in service
// or an arrival.
type singleServerQueue struct {
	singleServer
	draws   *rand.Rand
	now     float64
	arrival float64      // time of the next arrival
	done    float64      // time at which the job in service ends, +Inf if there is none
	began   float64      // time since which its service is counted
	jobs    []waitingJob // oldest first; the first is in service
	sim.Population

	started, waited float64 // number of services since Restart, and total waiting time of their jobs
}

type waitingJob struct{ born, size float64 }

func newSingleServerQueue(m singleServer, s *sim.Stream) *singleServerQueue {
	q := &singleServerQueue{singleServer: m, draws: rand.New(s), done: math.Inf(1), Population: sim.NewPopulation(1)}
	q.arrival = q.draws.ExpFloat64() / q.ArrivalRate
	return q
}

// Advance implements [sim.Engine]. The error wraps [sim.ErrTooManyJobs].
func (q *singleServerQueue) Advance(t float64, seen *sim.Totals) error {
	for min(q.arrival, q.done) <= t {
		seen.Jumps++
		if q.done <= q.arrival {
			q.now = q.done
			q.depart(seen)
			continue
		}
		q.now = q.arrival
		if err := sim.CheckJobs(q.Total+1, sim.MaxJobs); err != nil {
			return err
		}
		q.Change(0, 1, q.now, seen)
		q.jobs = append(q.jobs, waitingJob{born: q.now, size: q.Sizes.Sample(q.draws)})
		if q.Total == 1 {
			q.serve()
		}
		q.arrival = q.now + q.draws.ExpFloat64()/q.ArrivalRate
	}
	q.flush(t, seen)
	return nil
}

// serve starts the service of the first job.
func (q *singleServerQueue) serve() {
	q.began, q.done = q.now, q.now+q.jobs[0].size
	q.started++
	q.waited += q.now - q.jobs[0].born
}

// depart ends the service of the first job.
func (q *singleServerQueue) depart(seen *sim.Totals) {
	q.Change(0, -1, q.now, seen)
	seen.Busy[0] += q.now - q.began
	seen.Leave(0, q.now-q.jobs[0].born)
	q.jobs, q.done = q.jobs[1:], math.Inf(1)
	if q.Total > 0 {
		q.serve()
	}
}

// flush counts up to time t, which becomes time 0.
func (q *singleServerQueue) flush(t float64, seen *sim.Totals) {
	q.Flush(t, seen)
	if q.Total > 0 {
		seen.Busy[0] += t - q.began
		q.began = 0
	}
	for k := range q.jobs {
		q.jobs[k].born -= t
	}
	q.now, q.arrival, q.done = 0, q.arrival-t, q.done-t
}

// Restart implements [sim.Observer].
func (q *singleServerQueue) Restart() { q.started, q.waited = 0, 0 }

// Observed implements [sim.Observer]: the mean waiting time, nil if no service started.
func (q *singleServerQueue) Observed(*sim.Totals) (map[string][]*float64, error) {
	own := map[string][]*float64{"waiting": {nil}}
	if q.started > 0 {
		mean := q.waited / q.started
		own["waiting"][0] = &mean
	}
	return own, nil
}

// To simulate a new system, write its parameters with Describe, its engine, and a measure. At load
// ρ jobs wait for ρ E[X²]/(2 E[X] (1-ρ)) on average (Pollaczek and Khinchine): here ρ = 1/2 and
// E[X²] = 3/2 E[X]², since sizes have an Erlang distribution with two phases.
func ExampleSystem() {
	jobSizes, err := sizes.NewErlang(2, 1)
	if err != nil {
		log.Fatal(err)
	}
	r, err := sim.Run(
		context.Background(), singleServer{ArrivalRate: 0.5, Sizes: jobSizes},
		sim.Settings{Runs: 20, Jumps: 5e4, Seed: 1},
	)
	if err != nil {
		log.Fatal(err)
	}
	exact := 0.5 * 1.5 / 2 / (1 - 0.5)
	print := func(what string, e *sim.Estimate, exact float64) {
		fmt.Printf("%s %.3f ± %.3f, exact %.3f\n", what, e.Mean, e.HalfWidth, exact)
	}
	print("mean waiting", r.All(meanWaiting), exact)
	print("mean delay", r.All(sim.MeanDelay), exact+1)
	print("utilization", r.Server(0, sim.Utilization), 0.5)
	// Output:
	// mean waiting 0.747 ± 0.009, exact 0.750
	// mean delay 1.741 ± 0.011, exact 1.750
	// utilization 0.499 ± 0.001, exact 0.500
}
