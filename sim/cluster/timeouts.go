package cluster

import (
	"math"
	"math/rand/v2"

	"productform/cluster"
	"productform/internal/eventqueue"
	"productform/internal/input"
	"productform/sim"
)

// TimeoutProbability is the fraction of the departed jobs that timed out, of all jobs and of each
// class; it exists only if some jobs of the model time out. All other measures include these jobs.
const TimeoutProbability = "timeout_probability"

// checkTimeouts rejects timeouts where jobs cannot be simulated one by one, or may also give up.
func (c Cluster) checkTimeouts() error {
	switch {
	case c.Model.RequireNoTimeouts() == nil:
	case c.Policy == ProcessorSharing:
		return input.Errorf("Policy", string(c.Policy), "fcfs or interrupt with mean_timeout")
	case c.Patience != nil:
		return input.Errorf("Patience", len(c.Patience), "none with mean_timeout")
	}
	return nil
}

// addTimeouts sets the mean timeouts.
func (f *flat) addTimeouts(m *cluster.Model) error {
	if m.RequireNoTimeouts() == nil {
		return nil
	}
	for i := range m.Classes {
		mean, text := m.TimeoutOf(i), "none"
		f.timeouts = append(f.timeouts, 0)
		if mean != nil {
			v, err := sim.RateOf(input.Index("Model.classes", i)+".mean_timeout", mean)
			if err != nil {
				return err
			}
			f.timeouts[i], text = v, mean.RatString()
		}
		f.system = append(f.system, "mean timeout "+text)
	}
	return nil
}

// A timer holds the times at which present jobs time out. The zero value is one without timeouts.
type timer struct {
	means    []float64 // by class; 0 for none
	limits   eventqueue.Schedule
	places   []int32   // index in limits, by job
	timedOut []float64 // jobs that timed out, by class
}

func newTimer(means []float64) timer {
	return timer{means: means, timedOut: make([]float64, len(means))}
}

// add starts the timer of a job of a class that arrives now.
func (t *timer) add(j, class uint32, now float64, draws *rand.Rand) {
	if t.means == nil || t.means[class] == 0 {
		return
	}
	for int(j) >= len(t.places) {
		t.places = append(t.places, 0)
	}
	until := min(now+t.means[class]*draws.ExpFloat64(), math.MaxFloat64)
	t.limits.Push(eventqueue.Entry{Time: until, Tie: now, Item: j}, t.places)
}

// remove stops the timer of a departing job of a class.
func (t *timer) remove(j, class uint32) {
	if t.means != nil && t.means[class] > 0 {
		t.limits.Remove(int(t.places[j]), t.places)
	}
}

// next returns the time at which the next job times out, +Inf if there is none.
func (t *timer) next() float64 {
	if len(t.limits) == 0 {
		return math.Inf(1)
	}
	return t.limits[0].Time
}

// flush makes time t time 0.
func (t *timer) flush(now float64) {
	for k := range t.limits { // rounding is monotone, so the order is preserved
		t.limits[k].Time -= now
		t.limits[k].Tie -= now
	}
}

// timeoutMeasures returns the measures of a run of jobs on all their servers.
func (f *flat) timeoutMeasures(s *sim.Samples) []sim.Measure {
	return append(append(s.Jobs(), s.Utilizations(sim.OfServer)...), f.timeoutProbabilities(s)...)
}

// timeoutProbabilities returns the estimates of [TimeoutProbability].
func (f *flat) timeoutProbabilities(s *sim.Samples) (list []sim.Measure) {
	n := len(f.classes)
	for i, class := range f.classes {
		list = append(list, sim.Measure{Name: TimeoutProbability, Kind: sim.OfClass, Index: i, Of: class.Name,
			Estimate: s.Own(TimeoutProbability, i)})
	}
	return append(list, sim.Measure{Name: TimeoutProbability, Kind: sim.OfAll, Estimate: s.Own(TimeoutProbability, n)})
}

// A timedCalendar is a calendar of jobs that time out, which it counts.
type timedCalendar struct{ *calendar }

// Restart discards everything accumulated so far.
func (q timedCalendar) Restart() { clear(q.timer.timedOut) }

// Observed returns the fractions of the departed jobs that timed out.
func (q timedCalendar) Observed(seen *sim.Totals) (map[string][]*float64, error) {
	return map[string][]*float64{TimeoutProbability: fractions(q.timer.timedOut, seen)}, nil
}
