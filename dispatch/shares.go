// This file hands out the workers of a list to jobs in order: which job gets which workers? The
// size of a plan grows with the number of jobs that get workers, not with the number of workers.

package dispatch

// A workerShare assigns the workers at indices From to To-1 of the list to a job.
type workerShare struct{ Job, From, To int }

// A sharePlan assigns each worker of a list to a job or to no job.
type sharePlan struct {
	Shares []workerShare // in the order of the list

	// Place is the index of each worker in the list, for workers that are in it. Prepare sets it.
	Place []int

	workers  []int // workers in the list
	sums     sums  // prefix sums of their speeds, set by Prepare
	handed   []int // the list, or a copy of it; a prefix has been handed out
	next     int   // index in handed of the first remaining worker
	copied   []int
	byWorker []int
	isListed bool // whether byWorker is up to date
}

// newSharePlan returns an empty plan for workers with numbers below n, with capacity for a number
// of shares.
func newSharePlan(n, shares int) sharePlan {
	return sharePlan{Shares: make([]workerShare, 0, shares), byWorker: make([]int, n)}
}

// SetWorkers sets the list of workers. The plan owns it until the next call.
func (p *sharePlan) SetWorkers(workers []int) { p.workers = workers }

// Prepare precomputes the data common to many plans for these workers. Speeds are indexed by worker
// number, and the list is sorted by speed, fastest first. Speeds may be nil if Fewest is not
// called.
func (p *sharePlan) Prepare(speeds []float64) {
	if p.Place == nil {
		p.Place = make([]int, len(p.byWorker))
	}
	for k, w := range p.workers {
		p.Place[w] = k
	}
	if speeds != nil {
		p.sums.set(p.workers, speeds)
	}
}

// Clear takes all workers back. If inOwnOrder is set, callers may reorder the slice that Rest
// returns until they call Settle.
func (p *sharePlan) Clear(inOwnOrder bool) {
	p.Shares, p.next, p.isListed, p.handed = p.Shares[:0], 0, false, p.workers
	if inOwnOrder {
		p.copied = append(p.copied[:0], p.workers...)
		p.handed = p.copied
	}
}

// Left returns the number of remaining workers.
func (p *sharePlan) Left() int { return len(p.handed) - p.next }

// Rest returns the remaining workers.
func (p *sharePlan) Rest() []int { return p.handed[p.next:] }

// Fewest returns the smallest k in 1..most for which the speeds of the first k remaining workers,
// added one by one in float64, are at least enough, or most if there is none. The remaining workers
// must be in the order passed to Prepare.
func (p *sharePlan) Fewest(most int, enough float64) int { return p.sums.fewest(p.next, most, enough) }

// Take gives a job the first k remaining workers.
func (p *sharePlan) Take(job, k int) {
	p.Shares = append(p.Shares, workerShare{job, p.next, p.next + k})
	p.next += k
}

// ByWorker returns the job of each worker by number, or -1. A caller that modifies the slice must
// call Settle.
func (p *sharePlan) ByWorker() []int {
	if !p.isListed {
		for w := range p.byWorker {
			p.byWorker[w] = -1
		}
		for _, x := range p.Shares {
			for _, w := range p.handed[x.From:x.To] {
				p.byWorker[w] = x.Job
			}
		}
		p.isListed = true
	}
	return p.byWorker
}

// Settle rebuilds the shares from ByWorker, in the order of the list.
func (p *sharePlan) Settle() {
	job := p.ByWorker()
	p.Shares, p.handed, p.next = p.Shares[:0], p.workers, len(p.workers)
	for k, w := range p.workers {
		n := len(p.Shares)
		switch {
		case job[w] < 0:
		case n > 0 && p.Shares[n-1].Job == job[w] && p.Shares[n-1].To == k:
			p.Shares[n-1].To++
		default:
			p.Shares = append(p.Shares, workerShare{job[w], k, k + 1})
		}
	}
}
