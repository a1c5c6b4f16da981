package cluster

import "productform/sim"

// A filling is the prefix of the jobs present that ServerFilling considers: the shortest that needs
// all servers, or all jobs. Jobs with the same need are in a list, oldest first, and the first ones
// are in service. The prefix without its last job needs fewer than all servers, also after jobs
// have left it, so it has at most as many jobs as there are servers.
type filling struct {
	servers int
	needed  int // servers that the prefix needs
	lists   []fillingList
}

// A fillingList holds the jobs of the prefix with the same need, largest needs first.
type fillingList struct {
	jobList
	need   int
	jobs   int
	served int    // jobs in service
	want   int    // jobs that should be in service
	idle   uint32 // first job that is not in service, or none
}

func newFilling(lanes []gangLane, servers int) *filling {
	f := &filling{servers: servers}
	for _, lane := range lanes {
		f.lists = append(f.lists, fillingList{jobList: jobList{none, none}, need: lane.need, idle: none})
	}
	return f
}

// fill adds an arriving job to the prefix or, behind it, to the queue.
func (q *gangCalendar) fill(j uint32, seen *sim.Totals) {
	if q.filling.needed >= q.filling.servers {
		q.push(&q.queues[0], j)
		return
	}
	q.extend(j)
	q.serve(seen)
}

// refill removes a job that has departed from the prefix, and extends the prefix.
func (q *gangCalendar) refill(j uint32, seen *sim.Totals) {
	f := q.filling
	list := &f.lists[q.lane[q.jobs[j].class]]
	q.unlink(&list.jobList, j)
	list.jobs--
	list.served--
	f.needed -= list.need
	for f.needed < f.servers && q.queues[0].head != none {
		q.extend(q.pop(&q.queues[0]))
	}
	q.serve(seen)
}

// extend adds the next job to the prefix.
func (q *gangCalendar) extend(j uint32) {
	list := &q.filling.lists[q.lane[q.jobs[j].class]]
	q.push(&list.jobList, j)
	if list.idle == none {
		list.idle = j
	}
	list.jobs++
	q.filling.needed += list.need
}

// unlink removes a job from a list.
func (q *gangCalendar) unlink(list *jobList, j uint32) {
	next, prev := q.jobs[j].next, q.jobs[j].prev
	if prev == none {
		list.head = next
	} else {
		q.jobs[prev].next = next
	}
	if next == none {
		list.tail = prev
	} else {
		q.jobs[next].prev = prev
	}
}

// serve gives the servers to the jobs of the prefix, largest needs first.
func (q *gangCalendar) serve(seen *sim.Totals) {
	f := q.filling
	free := f.servers
	for k := range f.lists {
		list := &f.lists[k]
		list.want = min(list.jobs, free/list.need)
		free -= list.want * list.need
		for ; list.served > list.want; list.served-- {
			last := list.tail
			if list.idle != none {
				last = q.jobs[list.idle].prev
			}
			q.interrupt(last, seen)
			list.idle = last
		}
	}
	for k := range f.lists {
		list := &f.lists[k]
		for ; list.served < list.want; list.served++ {
			j := list.idle
			list.idle = q.jobs[j].next
			q.start(j, seen)
		}
	}
}
