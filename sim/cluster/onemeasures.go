package cluster

import "productform/sim"

// Additional measures of a cluster in which a job runs on one server, of all jobs and of each
// class. Quantiles of waiting times are those of the visits of a result: visit i is the waiting of
// class i, and the last one that of all jobs. Under PreemptivePriority a job also waits while it
// has lost its server.
const (
	MeanWaiting     = "mean_waiting"     // mean time that a job waits by Little's law: MeanQueue over the arrival rate
	MeasuredWaiting = "measured_waiting" // mean time that the departed jobs waited
	WaitProbability = "wait_probability" // fraction of the departed jobs that had to wait
	MeanQueue       = "mean_queue"       // mean number of waiting jobs
	// fraction of the departed jobs that gave up; only if some do. All other measures include them
	AbandonProbability = "abandon_probability"
	// fraction of the departed jobs of a class that left from a server of a row, of kind
	// [OfServing], for the rows that the class uses
	ServedBy = "served_by"
)

// OfServing is the kind of measures of a class and a row of servers, at class * rows + row.
const OfServing sim.Kind = "serving"

// Restart discards everything accumulated so far.
func (q *oneCalendar) Restart() {
	clear(q.met)
	clear(q.gaveUp)
	clear(q.served)
	clear(q.timer.timedOut)
}

// Observed returns the fractions of the departed jobs that had to wait and that gave up, by class
// and finally of all jobs, and those that each row of servers served, by class and row.
func (q *oneCalendar) Observed(seen *sim.Totals) (map[string][]*float64, error) {
	own := map[string][]*float64{
		WaitProbability: fractions(q.met, seen), AbandonProbability: fractions(q.gaveUp, seen),
	}
	for k, jobs := range q.served {
		own[ServedBy] = append(own[ServedBy], ratio(jobs, seen.Left[k/len(q.rows)]))
	}
	if q.timeouts != nil {
		own[TimeoutProbability] = fractions(q.timer.timedOut, seen)
	}
	return own, nil
}

// ratio returns a fraction, or nil if there are no jobs.
func ratio(some, all float64) *float64 {
	if !(all > 0) {
		return nil
	}
	v := some / all
	return &v
}

// measures returns the measures of a run.
func (y *oneSystem) measures(s *sim.Samples) []sim.Measure {
	list := append(s.Jobs(), s.Utilizations(sim.OfServer)...)
	if y.timeouts != nil {
		list = append(list, y.timeoutProbabilities(s)...)
	}
	list = append(list, y.waitMeasures(s, y.horizon, y.patience != nil)...)
	for i, chosen := range y.chosen {
		for _, choice := range chosen {
			at := i*len(y.rows) + int(y.row[choice.order[0]])
			list = append(list, sim.Measure{
				Name: ServedBy, Kind: OfServing, Index: at, Of: y.classes[i].Name, Estimate: s.Own(ServedBy, at),
			})
		}
	}
	return list
}
