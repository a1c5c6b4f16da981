package rigid_test

import (
	"cmp"
	"slices"

	"productform/dispatch/rigid"
)

// A slowJob is a job of the literal program below.
type slowJob struct {
	place, workers     int
	submit, runs, asks float64
	start              float64 // at which it began, or its reservation under conservative
	backfilled         bool

	promised []float64 // times of all reservations that it was given, the first one first
}

// slow runs a scenario whose times are whole numbers by the definitions: it keeps lists, looks at all of them again at
// each moment, has no profile of free workers, and asks whether a job delays the first of the queue by trying it.
type slow struct {
	s                        rigid.Scenario
	coming, waiting, running []*slowJob
	all                      []*slowJob
	now                      float64
}

func runSlow(s rigid.Scenario) []*slowJob {
	r := &slow{s: s}
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
		r.all = append(r.all, &slowJob{place: i, workers: j.Tasks, submit: j.Submit, runs: runs, asks: max(asks, runs)})
	}
	r.coming = slices.Clone(r.all)
	for len(r.coming)+len(r.running)+len(r.waiting) > 0 {
		r.now = r.next()
		r.moment()
	}
	return r.all
}

func (r *slow) next() float64 {
	var times []float64
	for _, j := range r.coming {
		times = append(times, j.submit)
	}
	for _, j := range r.running {
		times = append(times, j.start+j.runs)
	}
	return slices.Min(times)
}

func (r *slow) moment() {
	early := false
	for _, j := range slices.Clone(r.running) {
		if j.start+j.runs == r.now {
			early = early || j.runs < j.asks
			r.running = without(r.running, j)
		}
	}
	if early && r.s.Policy.Backfill == rigid.Conservative {
		byReservation := slices.Clone(r.waiting)
		slices.SortStableFunc(byReservation, func(a, b *slowJob) int { return cmp.Compare(a.start, b.start) })
		for _, j := range byReservation {
			r.reserve(j)
		}
	}
	for _, j := range r.inOrder(slices.Clone(r.coming), func(a, b *slowJob) int { return cmp.Compare(a.submit, b.submit) }) {
		if j.submit == r.now {
			r.coming = without(r.coming, j)
			if r.s.Policy.Backfill == rigid.Conservative {
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
		panic("more workers than there are")
	}
	queue := r.queue()
	for _, j := range begun {
		for _, k := range queue {
			before := r.s.Policy.Order == rigid.SJF && k.asks < j.asks || (r.s.Policy.Order == rigid.FCFS || k.asks == j.asks) && (k.submit < j.submit || k.submit == j.submit && k.place < j.place)
			j.backfilled = j.backfilled || before
		}
	}
}

func (r *slow) begin(j *slowJob) {
	j.start = r.now
	r.waiting = without(r.waiting, j)
	r.running = append(r.running, j)
}

// choose returns jobs to begin.
func (r *slow) choose() (list []*slowJob) {
	queue := r.queue()
	if r.s.Policy.Backfill == rigid.Conservative {
		for _, j := range r.inOrder(queue, func(a, b *slowJob) int { return cmp.Compare(a.start, b.start) }) {
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
	var hand []*slowJob // with those that begin
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

// earliest returns the earliest time at which there are workers for a job for as long as it asks, beside others that begin
// when they do and take what they ask for. That is now, or when one of them ends.
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
			fits = fits && busy <= r.s.Workers
		}
		if fits {
			return at
		}
	}
	panic("no time at all")
}

// candidatesWithin returns when others begin in a span of time.
func candidatesWithin(others []*slowJob, from, to float64) (times []float64) {
	for _, k := range others {
		if k.start > from && k.start < to {
			times = append(times, k.start)
		}
	}
	return times
}

func (r *slow) idle() int {
	n := r.s.Workers
	for _, j := range r.running {
		n -= j.workers
	}
	return n
}

// queue returns the jobs that wait, in the order of the policy.
func (r *slow) queue() []*slowJob {
	return r.inOrder(slices.Clone(r.waiting), func(a, b *slowJob) int {
		if r.s.Policy.Order == rigid.SJF {
			return cmp.Compare(a.asks, b.asks)
		}
		return 0
	})
}

// inOrder sorts jobs, those that compare as equal by submission, then as they are listed.
func (r *slow) inOrder(list []*slowJob, compare func(a, b *slowJob) int) []*slowJob {
	slices.SortFunc(list, func(a, b *slowJob) int {
		return cmp.Or(compare(a, b), cmp.Compare(a.submit, b.submit), cmp.Compare(a.place, b.place))
	})
	return list
}

func without(list []*slowJob, j *slowJob) []*slowJob {
	return slices.DeleteFunc(slices.Clone(list), func(k *slowJob) bool { return k == j })
}
