package logstats

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"productform/dispatch"
	"productform/dispatch/swf"
)

// band returns the name of the group of jobs of similar size: 1, 2, 3-4, 5-8 and so on.
func band(processors int64) string {
	low, high := bandOf(processors)
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

// bandOf returns the ends of the band of a number of processors n >= 1: 2^(k-1) < n <= 2^k.
func bandOf(processors int64) (low, high int64) {
	high = 1 << bits.Len64(uint64(processors-1))
	return high/2 + 1, high
}

// setGroups sets the waiting times and the slowdowns of all jobs, and of the jobs of each group.
// Groups are in order of their numbers of jobs, largest first, except those of sizes.
func (r *Result) setGroups(log *Log) {
	waits := make([]int, 0, len(log.Jobs)) // jobs whose waiting time is known, in order of waiting times
	for i := range log.Jobs {
		if log.Jobs[i].Wait != swf.Unknown {
			waits = append(waits, i)
		}
	}
	slowdowns := slices.Clone(waits)
	values := make([]float64, len(log.Jobs))
	sorted := func(list []int, of func(*Job) float64) []int {
		for _, i := range list {
			values[i] = of(&log.Jobs[i])
		}
		slices.SortFunc(list, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
		return list
	}
	wait := func(j *Job) float64 { return j.Wait }
	sorted(waits, wait)
	sorted(slowdowns, (*Job).slowdown)
	all := func(*Job) int64 { return 0 }
	r.Waiting = spreads(log.Jobs, waits, all, wait)[0]
	r.Slowdown = spreads(log.Jobs, slowdowns, all, (*Job).slowdown)[0]
	for f, kind := range Kinds() {
		number := func(j *Job) int64 { _, high := bandOf(j.Processors); return high }
		if kind != Size {
			number = func(j *Job) int64 { return j.Numbers[f] }
		}
		groups := r.groupsOf(log, kind, number)
		if len(groups) == 1 && groups[swf.Unknown] != nil {
			continue
		}
		for number, s := range spreads(log.Jobs, waits, number, wait) {
			groups[number].Waiting = s
			groups[number].UnknownWaits -= s.Count
		}
		for number, s := range spreads(log.Jobs, slowdowns, number, (*Job).slowdown) {
			groups[number].Slowdown = s
		}
		numbers := make([]int64, 0, len(groups))
		for number := range groups {
			numbers = append(numbers, number)
		}
		slices.SortFunc(numbers, func(a, b int64) int {
			if kind == Size {
				return cmp.Compare(a, b)
			}
			return cmp.Or(cmp.Compare(groups[b].Jobs, groups[a].Jobs), cmp.Compare(a, b))
		})
		for _, number := range numbers {
			r.Groups = append(r.Groups, *groups[number])
		}
	}
}

// groupsOf returns the groups of a kind by their numbers, with UnknownWaits set to all jobs.
func (r *Result) groupsOf(log *Log, kind string, number func(*Job) int64) map[int64]*Group {
	groups := map[int64]*Group{}
	work := map[int64]float64{}
	for i := range log.Jobs {
		j := &log.Jobs[i]
		n := number(j)
		g := groups[n]
		if g == nil {
			g = &Group{Kind: kind}
			if name := log.NameOf(kind, j); name != "" {
				g.Name = &name
			}
			groups[n] = g
		}
		g.Jobs++
		g.UnknownWaits++
		work[n] += j.work()
	}
	if r.Work > 0 {
		for n, g := range groups {
			share := work[n] / r.Work
			g.Share = &share
		}
	}
	return groups
}

// spreads returns the spread of values of each group, by its number. Jobs are listed in order of
// these values, which makes sorting them fast.
func spreads(jobs []Job, list []int, number func(*Job) int64, value func(*Job) float64) map[int64]*dispatch.Spread {
	values := map[int64][]float64{}
	for _, i := range list {
		n := number(&jobs[i])
		values[n] = append(values[n], value(&jobs[i]))
	}
	all := map[int64]*dispatch.Spread{}
	for n, list := range values {
		s := dispatch.SpreadOf(list)
		all[n] = &s
	}
	return all
}
