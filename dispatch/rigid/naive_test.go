package rigid_test

import (
	"cmp"
	"slices"

	"productform/dispatch"
	"productform/dispatch/rigid"
)

// A slowJob is a job of the reference implementation below.
type slowJob struct {
	place, workers     int
	submit, runs, asks float64
	start              float64 // start time, or its reservation under conservative
	backfilled         bool

	hands  []int // its workers
	lost   int   // number of times that it was lost
	isLeft bool  // whether it never ends

	promised []float64 // times of all its reservations, in the order in which they were made
}

// slow runs a scenario with whole times by the definitions. It keeps lists and rescans them at each
// moment, has no profile of free workers, and tries each job to find out whether it delays the
// first of the queue.
type slow struct {
	s                        rigid.Scenario
	coming, waiting, running []*slowJob
	all                      []*slowJob
	now                      float64
	up                       []bool // by worker
}

func runSlow(s rigid.Scenario) []*slowJob {
	r := &slow{s: s, up: slices.Repeat([]bool{true}, s.Workers)}
	for i, j := range s.Jobs {
		asks := j.Estimate
		if asks == 0 {
			asks = j.Work
		}
		if asks == 0 {
			asks = 1
		}
		runs := j.Work
		if runs > asks && s.Kill {
			runs = asks
		}
		r.all = append(r.all, &slowJob{
			place:   i,
			workers: j.Tasks,
			submit:  j.Submit,
			runs:    runs,
			asks:    max(asks, runs),
			start:   never,
		})
	}
	r.coming = slices.Clone(r.all)
	for len(r.coming)+len(r.running)+len(r.waiting) > 0 {
		next, ok := r.next()
		if !ok {
			for _, j := range r.waiting {
				j.isLeft = true
			}
			break
		}
		r.now = next
		r.moment()
	}
	return r.all
}

// next returns the time of the next event, and false if there is none.
func (r *slow) next() (float64, bool) {
	var times []float64
	for _, j := range r.coming {
		times = append(times, j.submit)
	}
	for _, j := range r.running {
		times = append(times, j.start+j.runs)
	}
	for _, o := range r.s.Outages {
		for _, at := range []float64{o.From, o.To} {
			if at > r.now && at < 1e9 {
				times = append(times, at)
			}
		}
	}
	if r.now == 0 &&
		slices.ContainsFunc(r.s.Outages, func(o dispatch.Outage) bool { return o.From == 0 && r.up[o.Worker] }) {
		times = append(times, 0)
	}
	if len(times) == 0 {
		return 0, false
	}
	return slices.Min(times), true
}

func (r *slow) moment() {
	early := false
	for _, j := range slices.Clone(r.running) {
		if j.start+j.runs == r.now {
			early = early || j.runs < j.asks
			r.running = removeJob(r.running, j)
		}
	}
	more, fewer := r.outages()
	if r.s.Policy.Backfill == rigid.Conservative && (early || more || fewer) {
		r.renewReservations(fewer)
	}
	for _, j := range r.sortedBy(
		slices.Clone(r.coming), func(a, b *slowJob) int { return cmp.Compare(a.submit, b.submit) },
	) {
		if j.submit == r.now {
			r.coming = removeJob(r.coming, j)
			if r.s.Policy.Backfill == rigid.Conservative && j.workers <= r.count() {
				r.reserve(j)
			}
			r.waiting = append(r.waiting, j)
		}
	}
	var begun []*slowJob
	for _, j := range r.choose() {
		r.begin(j)
		begun = append(begun, j)
	}
	if r.idle() < 0 {
		panic("more workers in use than exist")
	}
	queue := r.queue()
	for _, j := range begun {
		j.backfilled = false
		for _, k := range queue {
			before := r.s.Policy.Order == rigid.SJF && k.asks < j.asks || (r.s.Policy.Order == rigid.FCFS ||
				k.asks == j.asks) && (k.submit < j.submit || k.submit == j.submit && k.place < j.place)
			j.backfilled = j.backfilled || before
		}
	}
}

// outages lets workers return and fail, and releases the remaining workers of jobs that lose one.
func (r *slow) outages() (more, fewer bool) {
	for _, o := range r.s.Outages {
		if o.To == r.now {
			r.up[o.Worker], more = true, true
		}
	}
	for _, o := range r.s.Outages {
		if o.From != r.now {
			continue
		}
		r.up[o.Worker], fewer = false, true
		for _, j := range slices.Clone(r.running) {
			if slices.Contains(j.hands, o.Worker) {
				j.lost++
				r.running = removeJob(r.running, j)
				r.waiting = append(r.waiting, j)
			}
		}
	}
	return more, fewer
}

// renewReservations renews all reservations in their order: each as if all others stayed or, if
// fewer is set, as if later ones did not exist. Jobs without a reservation, because too few workers
// were up, come last.
func (r *slow) renewReservations(fewer bool) {
	var had, had0 []*slowJob
	for _, j := range r.sortedBy(slices.Clone(r.waiting), func(a, b *slowJob) int { return 0 }) {
		switch {
		case j.workers > r.count():
			j.start = never
		case j.start == never:
			had0 = append(had0, j)
		default:
			had = append(had, j)
		}
	}
	slices.SortStableFunc(had, func(a, b *slowJob) int { return cmp.Compare(a.start, b.start) })
	if fewer {
		for _, j := range had {
			j.start = never
		}
	}
	for _, j := range append(had, had0...) {
		r.reserve(j)
	}
}

// never is the reservation of a job without one.
const never = 1e300

// count returns the number of workers that are up.
func (r *slow) count() (n int) {
	for _, up := range r.up {
		if up {
			n++
		}
	}
	return n
}

func (r *slow) begin(j *slowJob) {
	j.start, j.hands = r.now, nil
	taken := map[int]bool{}
	for _, k := range r.running {
		for _, w := range k.hands {
			taken[w] = true
		}
	}
	for w := range r.up {
		if r.up[w] && !taken[w] && len(j.hands) < j.workers {
			j.hands = append(j.hands, w)
		}
	}
	r.waiting = removeJob(r.waiting, j)
	r.running = append(r.running, j)
}

// choose returns the jobs to start.
func (r *slow) choose() (list []*slowJob) {
	queue := r.queue()
	if r.s.Policy.Backfill == rigid.Conservative {
		for _, j := range r.sortedBy(queue, func(a, b *slowJob) int { return cmp.Compare(a.start, b.start) }) {
			if j.start == r.now {
				list = append(list, j)
			}
		}
		return list
	}
	idle := r.idle()
	for len(queue) > 0 && queue[0].workers <= idle {
		list = append(list, queue[0])
		idle -= queue[0].workers
		queue = queue[1:]
	}
	if r.s.Policy.Backfill == rigid.None || len(queue) == 0 {
		return list
	}
	first := queue[0]
	var hand []*slowJob // running jobs, including those that start
	for _, j := range list {
		hand = append(hand, &slowJob{workers: j.workers, start: r.now, asks: j.asks})
	}
	hand = append(hand, r.running...)
	promised := r.earliest(first, hand)
	first.promised = append(first.promised, promised)
	for _, j := range queue[1:] {
		if j.workers > idle {
			continue
		}
		with := append([]*slowJob{{workers: j.workers, start: r.now, asks: j.asks}}, hand...)
		if r.earliest(first, with) == promised {
			list = append(list, j)
			idle -= j.workers
			hand = with
		}
	}
	return list
}

func (r *slow) reserve(j *slowJob) {
	others := slices.Clone(r.running)
	for _, k := range r.waiting {
		if k != j {
			others = append(others, k)
		}
	}
	j.start = r.earliest(j, others)
	j.promised = append(j.promised, j.start)
}

// earliest returns the earliest time at which there are workers for a job for its whole request,
// given others that run from their start for as long as they request. That is now or the end of one
// of them.
func (r *slow) earliest(j *slowJob, others []*slowJob) float64 {
	candidates := []float64{r.now}
	for _, k := range others {
		candidates = append(candidates, max(r.now, k.start+k.asks))
	}
	slices.Sort(candidates)
	for _, at := range candidates {
		fits := true
		for _, when := range append([]float64{at}, candidatesWithin(others, at, at+j.asks)...) {
			busy := j.workers
			for _, k := range others {
				if k.start <= when && when < k.start+k.asks {
					busy += k.workers
				}
			}
			fits = fits && busy <= r.count()
		}
		if fits {
			return at
		}
	}
	panic("no time at all")
}

// candidatesWithin returns the starts of others within a period.
func candidatesWithin(others []*slowJob, from, to float64) (times []float64) {
	for _, k := range others {
		if k.start > from && k.start < to {
			times = append(times, k.start)
		}
	}
	return times
}

func (r *slow) idle() int {
	n := r.count()
	for _, j := range r.running {
		n -= j.workers
	}
	return n
}

// queue returns the waiting jobs for which enough workers are up, in the order of the policy.
func (r *slow) queue() []*slowJob {
	fit := slices.DeleteFunc(slices.Clone(r.waiting), func(j *slowJob) bool { return j.workers > r.count() })
	return r.sortedBy(fit, func(a, b *slowJob) int {
		if r.s.Policy.Order == rigid.SJF {
			return cmp.Compare(a.asks, b.asks)
		}
		return 0
	})
}

// sortedBy sorts jobs; ties are broken by submission, then by position in the list.
func (r *slow) sortedBy(list []*slowJob, compare func(a, b *slowJob) int) []*slowJob {
	slices.SortFunc(list, func(a, b *slowJob) int {
		return cmp.Or(compare(a, b), cmp.Compare(a.submit, b.submit), cmp.Compare(a.place, b.place))
	})
	return list
}

func removeJob(list []*slowJob, j *slowJob) []*slowJob {
	return slices.DeleteFunc(slices.Clone(list), func(k *slowJob) bool { return k == j })
}
