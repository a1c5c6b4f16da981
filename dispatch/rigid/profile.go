package rigid

import "slices"

// A profile is the number of workers that are free over time, from now on, as predicted: free[i] of them from at[i] until
// at[i+1], the last number for ever. With s steps, [profile.earliest]
// and [profile.take] take O(s); s is at most one more than twice the number of jobs in hand and of reservations.
//
// A time that is no later than a step by more than rounding ([later]) is that of the step, so that rounding makes no
// sliver of a step into which no job fits.
type profile struct {
	at   []float64
	free []int
}

// advance forgets what is before now.
func (p *profile) advance(now float64) {
	i := 0
	for i+1 < len(p.at) && !later(p.at[i+1], now) {
		i++
	}
	p.at, p.free = p.at[i:], p.free[i:]
	p.at[0] = now
}

// earliest returns the earliest time from which n workers are free for so many seconds. n is at most the number of workers.
func (p *profile) earliest(n int, seconds float64) float64 {
	for i := 0; ; i++ {
		if p.free[i] < n { // not the last step, at which all are free
			continue
		}
		end := p.at[i] + seconds
		k := i + 1
		for k < len(p.at) && later(end, p.at[k]) && p.free[k] >= n {
			k++
		}
		if k == len(p.at) || !later(end, p.at[k]) {
			return p.at[i]
		}
		i = k // at which there are too few
	}
}

// sooner returns the earliest time before both limits, start and freed, from which n workers are free for so many seconds,
// where those that are taken from start on for as long are n of the job's own; start if there is none. It looks at so many
// steps.
func (p *profile) sooner(n int, seconds, start, freed float64) (at float64, steps int) {
	i := 0
	for ; i < len(p.at) && later(start, p.at[i]) && later(freed, p.at[i]); i++ {
		if p.free[i] < n {
			continue
		}
		at, end := p.at[i], p.at[i]+seconds // before its own end
		for i++; i < len(p.at) && later(end, p.at[i]) && later(start, p.at[i]) && p.free[i] >= n; i++ {
		}
		if i == len(p.at) || !later(end, p.at[i]) || !later(start, p.at[i]) {
			return at, i
		}
	}
	return start, i
}

// take takes n workers from the time from, which is not in the past, until the time to; a negative n gives them back.
func (p *profile) take(n int, from, to float64) {
	if !later(to, from) {
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

// split returns the step that begins at a time, which it makes if there is none.
func (p *profile) split(time float64) int {
	i, _ := slices.BinarySearchFunc(p.at, time, func(at, time float64) int {
		if later(time, at) {
			return -1
		}
		return 1
	}) // the first step that does not begin before the time
	if i == len(p.at) || later(p.at[i], time) {
		p.at = slices.Insert(p.at, i, time)
		p.free = slices.Insert(p.free, i, p.free[i-1])
	}
	return i
}

// join makes one step of i and the one before it if they have as many workers.
func (p *profile) join(i int) {
	if i > 0 && p.free[i-1] == p.free[i] {
		p.at = slices.Delete(p.at, i, i+1)
		p.free = slices.Delete(p.free, i, i+1)
	}
}

// timeTol is the part of the time on the clock within which times are the same: rounding tells 3 × 0.1 seconds from 0.3.
const timeTol = 1e-12

// later reports whether a is later than b by more than rounding.
func later(a, b float64) bool { return a-b > timeTol*a }
