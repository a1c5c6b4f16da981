package cluster

import (
	"productform/dispatch/rigid"
	"productform/sim"
)

// planned plans the jobs of a gangCalendar under a policy with reservations.
type planned struct {
	planner  *rigid.Planner
	work     int       // since the last check of the context
	ended    []int     // jobs that end at the current moment
	arriving []request // jobs that arrive at it
}

// A request is the requested time of a job.
type request struct {
	job  uint32
	time float64
}

// plannedWork is the work of a planner between two checks of the context, a few milliseconds.
const plannedWork = 1e6

func newPlanned(p rigid.Policy, servers int) *planned {
	planner, err := rigid.NewPlanner(p, servers)
	if err != nil {
		panic(err) // cannot fail: the policy is known, and there is a server
	}
	return &planned{planner: planner}
}

// stepPlanned simulates the next moment, if it is not later than the given time, as [rigid.Run]
// does: all events that differ by no more than rounding happen at the time of the last of them.
func (q *gangCalendar) stepPlanned(until float64, seen *sim.Totals) (again bool, err error) {
	p := q.planned
	first := q.next
	if len(q.service) > 0 {
		first = min(first, q.service[0].Time)
	}
	if first > until {
		return false, nil
	}
	p.ended, p.arriving = p.ended[:0], p.arriving[:0]
	now, last := first, rigid.LastOf(first)
	for len(q.service) > 0 && q.service[0].Time <= last {
		now = max(now, q.service[0].Time)
		p.ended = append(p.ended, int(q.service[0].Item))
		q.service.Remove(0, q.places)
	}
	for q.next <= last {
		now = max(now, q.next)
		if _, err := q.draw(); err != nil {
			return false, err
		}
	}
	q.now = now
	p.planner.Reach(now, p.ended)
	for _, j := range p.ended {
		q.hold(q.jobs[j].class, -1, seen)
		q.leave(uint32(j), seen)
	}
	for _, r := range p.arriving {
		q.arrive(r.job, seen)
		p.planner.Submit(int(r.job), q.needs[q.jobs[r.job].class][0].Choose, r.time)
	}
	for _, j := range p.planner.Decide() {
		q.start(uint32(j), seen)
	}
	for _, r := range p.arriving {
		if job := &q.jobs[r.job]; !job.runs {
			q.wait(r.job, seen)
			job.queued = job.born
		}
	}
	if p.work += p.planner.TakeWork(); p.work >= plannedWork {
		p.work = 0
		return true, q.ctx.Err()
	}
	return true, nil
}
