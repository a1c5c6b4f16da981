package rigid

import "slices"

// A profile predicts the number of free workers over time, from now on: free[i] from at[i] until
// at[i+1]; the last number holds forever. With s steps, [profile.earliest] and [profile.take] take
// O(s) time; s is at most one more than twice the number of running jobs and reservations.
//
// A time that exceeds a step by no more than rounding ([later]) counts as that step; otherwise
// rounding would create steps too short for any job.
type profile struct {
	at   []float64
	free []int
}

// advance discards everything before now.
func (p *profile) advance(now float64) {
	i := 0
	for i+1 < len(p.at) && !isLater(p.at[i+1], now) {
		i++
	}
	p.at, p.free = p.at[i:], p.free[i:]
	p.at[0] = now
}

// earliest returns the earliest time from which n workers are free for a number of seconds. n is at
// most the number of workers.
func (p *profile) earliest(n int, seconds float64) float64 {
	for i := 0; ; i++ {
		if p.free[i] < n { // never the last step, in which all workers are free
			continue
		}
		end := p.at[i] + seconds
		k := i + 1
		for k < len(p.at) && isLater(end, p.at[k]) && p.free[k] >= n {
			k++
		}
		if k == len(p.at) || !isLater(end, p.at[k]) {
			return p.at[i]
		}
		i = k // the next step with too few free workers
	}
}

// earliestBefore returns the earliest time, before both start and freed, from which n workers are
// free for a number of seconds, or start if there is none. The n workers reserved for the same
// number of seconds from start count as free. It also returns the number of steps visited.
func (p *profile) earliestBefore(n int, seconds, start, freed float64) (at float64, steps int) {
	i := 0
	for ; i < len(p.at) && isLater(start, p.at[i]) && isLater(freed, p.at[i]); i++ {
		if p.free[i] < n {
			continue
		}
		at, end := p.at[i], p.at[i]+seconds // workers that it has reserved count as free
		for i++; i < len(p.at) && isLater(end, p.at[i]) && isLater(start, p.at[i]) && p.free[i] >= n; i++ {
		}
		if i == len(p.at) || !isLater(end, p.at[i]) || !isLater(start, p.at[i]) {
			return at, i
		}
	}
	return start, i
}

// take reserves n workers from one time, which is not in the past, until another. A negative n
// returns them.
func (p *profile) take(n int, from, to float64) {
	if !isLater(to, from) {
		return
	}
	first := p.split(from)
	end := p.split(to)
	for i := first; i < end; i++ {
		p.free[i] -= n
	}
	p.join(end)
	p.join(first)
}

// split returns the step that starts at a time, and creates it if necessary.
func (p *profile) split(time float64) int {
	i, _ := slices.BinarySearchFunc(p.at, time, func(at, time float64) int {
		if isLater(time, at) {
			return -1
		}
		return 1
	}) // the first step that does not start before the time
	if i == len(p.at) || isLater(p.at[i], time) {
		p.at = slices.Insert(p.at, i, time)
		p.free = slices.Insert(p.free, i, p.free[i-1])
	}
	return i
}

// join merges step i with the previous one if they have the same number of free workers.
func (p *profile) join(i int) {
	if i > 0 && p.free[i-1] == p.free[i] {
		p.at = slices.Delete(p.at, i, i+1)
		p.free = slices.Delete(p.free, i, i+1)
	}
}

// timeTol is the relative tolerance within which clock times are equal: rounding distinguishes 3 ×
// 0.1 seconds from 0.3.
const timeTol = 1e-12

// isLater reports whether a is later than b by more than rounding.
func isLater(a, b float64) bool { return a-b > timeTol*a }
