package cluster

import "productform/sim"

// waitingJobs counts waiting jobs by class and, last, those of all classes. Visit i of the totals
// is the waiting of class i, and the last visit that of all jobs. Times count from the start of the
// current advance.
type waitingJobs []waitCount

// A waitCount is a number of waiting jobs and the time since which it holds.
type waitCount struct {
	jobs  int
	since float64
}

func newWaitingJobs(classes int) waitingJobs { return make(waitingJobs, classes+1) }

// change counts the waiting jobs up to now, and then changes the number of those of a class.
func (c waitingJobs) change(class uint32, by int, now float64, seen *sim.Totals) {
	classes := len(c) - 1
	for _, row := range [2]int{int(class), classes} {
		w := &c[row]
		seen.Jobs[classes+row] += float64(w.jobs) * (now - w.since)
		w.since = now
		w.jobs += by
	}
}

// flush counts up to time t, which becomes time 0.
func (c waitingJobs) flush(t float64, seen *sim.Totals) {
	classes := len(c) - 1
	for row := range c {
		w := &c[row]
		seen.Jobs[classes+row] += float64(w.jobs) * (t - w.since)
		w.since = 0
	}
}

// waitingRows returns the visits whose totals are those of waiting jobs.
func (f *flat) waitingRows() (rows []sim.Class) {
	for _, class := range f.classes {
		rows = append(rows, sim.Class{Name: "class " + class.Name, ArrivalRate: class.ArrivalRate})
	}
	return append(rows, sim.Class{Name: "all jobs", ArrivalRate: f.totalRates})
}

// waitMeasures returns the measures of waiting jobs, of all jobs and of each class, with
// [AbandonProbability] if some give up.
func (f *flat) waitMeasures(s *sim.Samples, horizon, giveUp bool) (list []sim.Measure) {
	n := len(f.classes)
	for row := range n + 1 {
		kind, index, of, rate := sim.OfAll, 0, "", f.totalRates
		if row < n {
			kind, index, of, rate = sim.OfClass, row, f.classes[row].Name, f.classes[row].ArrivalRate
		}
		add := func(name, unit string, e *sim.Estimate) {
			list = append(list, sim.Measure{Name: name, Kind: kind, Index: index, Of: of, Unit: unit, Estimate: e})
		}
		queue := s.Estimate(func(one *sim.Sample) float64 { return one.Jobs[n+row] })
		var waiting *sim.Estimate
		if rate > 0 && !horizon {
			waiting = queue.Scaled(1 / rate)
		}
		add(MeanWaiting, "time", waiting)
		add(MeasuredWaiting, "time", s.EstimateIf(
			func(one *sim.Sample) bool { return one.Left[n+row] > 0 },
			func(one *sim.Sample) float64 { return one.Sojourn[n+row] },
		))
		add(WaitProbability, "", s.Own(WaitProbability, row))
		if giveUp {
			add(AbandonProbability, "", s.Own(AbandonProbability, row))
		}
		add(MeanQueue, "jobs", queue)
	}
	return list
}

// fractions divides numbers of jobs by the numbers of departed jobs, by class and finally in total.
func fractions(some []float64, seen *sim.Totals) (list []*float64) {
	for i, jobs := range some {
		list = append(list, ratio(jobs, seen.Left[i]))
	}
	return append(list, ratio(sim.Sum(some), sim.Sum(seen.Left[:len(some)])))
}
