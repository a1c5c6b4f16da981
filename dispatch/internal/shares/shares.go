// Package shares hands out workers of a list, to each job those that come next, so that a plan is as long as there are jobs
// with workers, not workers.
package shares

// A Share is what a job gets: the workers at places From to To-1 of the list.
type Share struct{ Job, From, To int }

// A Plan says which job each worker of a list gets, or that it gets none.
type Plan struct {
	Shares []Share // in the order of the list

	// Place is that of each worker in the list, for workers that are in it, after Prepare.
	Place []int

	workers  []int // the list
	sums     sums  // of their speeds, after Prepare
	handed   []int // the list, or a copy of it; the first have been handed out
	next     int   // place in handed of the first worker left
	copied   []int
	byWorker []int
	isListed bool // whether byWorker is up to date
}

// NewPlan returns an empty plan with room for some shares, for workers with numbers below n.
func NewPlan(n, shares int) Plan {
	return Plan{Shares: make([]Share, 0, shares), byWorker: make([]int, n)}
}

// SetWorkers tells which workers there are, in order. The list belongs to the plan until the next call.
func (p *Plan) SetWorkers(workers []int) { p.workers = workers }

// Prepare prepares for many plans for these workers. Speeds are by number, the fastest first in the list; none if nobody asks
// for Fewest.
func (p *Plan) Prepare(speeds []float64) {
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

// Clear takes all workers back. If jobs take workers in an order of their own, what Rest returns may be put in order until
// the call of Settle.
func (p *Plan) Clear(inOwnOrder bool) {
	p.Shares, p.next, p.isListed, p.handed = p.Shares[:0], 0, false, p.workers
	if inOwnOrder {
		p.copied = append(p.copied[:0], p.workers...)
		p.handed = p.copied
	}
}

// Left returns the number of workers left, and Rest lists them.
func (p *Plan) Left() int { return len(p.handed) - p.next }

func (p *Plan) Rest() []int { return p.handed[p.next:] }

// Fewest returns the least k in 1..most for which the speeds of the first k workers left, added one by one in float64, are at
// least enough; most if there is none. The workers left are in the order of the list, for which Prepare was called.
func (p *Plan) Fewest(most int, enough float64) int { return p.sums.fewest(p.next, most, enough) }

// Take gives a job the first k of the workers left.
func (p *Plan) Take(job, k int) {
	p.Shares = append(p.Shares, Share{job, p.next, p.next + k})
	p.next += k
}

// ByWorker returns the job of each worker, by number, or -1. Who changes it calls Settle.
func (p *Plan) ByWorker() []int {
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

// Settle makes the shares those of ByWorker, in the order of the list.
func (p *Plan) Settle() {
	job := p.ByWorker()
	p.Shares, p.handed, p.next = p.Shares[:0], p.workers, len(p.workers)
	for k, w := range p.workers {
		n := len(p.Shares)
		switch {
		case job[w] < 0:
		case n > 0 && p.Shares[n-1].Job == job[w] && p.Shares[n-1].To == k:
			p.Shares[n-1].To++
		default:
			p.Shares = append(p.Shares, Share{job[w], k, k + 1})
		}
	}
}
