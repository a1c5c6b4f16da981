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

// A ranked is a value of a job.
type ranked struct {
	value float64
	job   int32
}

// rank returns values of the jobs whose waiting time is known, in increasing order.
func rank(jobs []Job, value func(*Job) float64) []ranked {
	list := make([]ranked, 0, len(jobs))
	for i := range jobs {
		if j := &jobs[i]; j.Wait != swf.Unknown {
			list = append(list, ranked{value(j), int32(i)})
		}
	}
	slices.SortFunc(list, func(a, b ranked) int { return cmp.Compare(a.value, b.value) })
	return list
}

// setGroups sets the waiting times and the slowdowns of all jobs, and of the jobs of each group.
// Groups are in order of their numbers of jobs, largest first, except those of sizes.
func (r *Result) setGroups(log *Log) {
	waits := rank(log.Jobs, func(j *Job) float64 { return j.Wait })
	slowdowns := rank(log.Jobs, (*Job).slowdown)
	of := make([]int32, len(log.Jobs)) // index of the group of each job
	r.Waiting, r.Slowdown = spreads(waits, of, 1)[0], spreads(slowdowns, of, 1)[0]
	for f, kind := range Kinds() {
		number := func(j *Job) int64 { _, high := bandOf(j.Processors); return high }
		if kind != Size {
			number = func(j *Job) int64 { return j.Numbers[f] }
		}
		groups, numbers := r.groupsOf(log, kind, number, of)
		if len(groups) == 1 && numbers[0] == swf.Unknown {
			continue
		}
		ofWaits, ofSlowdowns := spreads(waits, of, len(groups)), spreads(slowdowns, of, len(groups))
		order := make([]int, len(groups))
		for k := range groups {
			g := &groups[k]
			order[k] = k
			if g.Waiting, g.Slowdown = ofWaits[k], ofSlowdowns[k]; g.Waiting != nil {
				g.UnknownWaits -= g.Waiting.Count
			}
		}
		slices.SortFunc(order, func(a, b int) int {
			if kind == Size {
				return cmp.Compare(numbers[a], numbers[b])
			}
			return cmp.Or(cmp.Compare(groups[b].Jobs, groups[a].Jobs), cmp.Compare(numbers[a], numbers[b]))
		})
		for _, k := range order {
			r.Groups = append(r.Groups, groups[k])
		}
	}
}

// groupsOf returns the groups of a kind and their numbers, with UnknownWaits set to all jobs. It
// sets the index of the group of each job.
func (r *Result) groupsOf(log *Log, kind string, number func(*Job) int64, of []int32,
) (groups []Group, numbers []int64) {
	known := map[int64]int32{}
	var work []float64
	for i := range log.Jobs {
		j := &log.Jobs[i]
		n := number(j)
		k, ok := known[n]
		if !ok {
			k = int32(len(groups))
			g := Group{Kind: kind}
			if name := log.NameOf(kind, j); name != "" {
				g.Name = &name
			}
			known[n], groups, numbers, work = k, append(groups, g), append(numbers, n), append(work, 0)
		}
		of[i] = k
		groups[k].Jobs++
		groups[k].UnknownWaits++
		work[k] += j.work()
	}
	if r.Work > 0 {
		for k := range groups {
			share := work[k] / r.Work
			groups[k].Share = &share
		}
	}
	return groups, numbers
}

// spreads returns the spread of values in each of n groups, nil for a group without values. The
// values are in increasing order, which makes sorting them fast.
func spreads(list []ranked, of []int32, n int) []*dispatch.Spread {
	values := make([][]float64, n)
	for _, v := range list {
		k := of[v.job]
		values[k] = append(values[k], v.value)
	}
	all := make([]*dispatch.Spread, n)
	for k, list := range values {
		if len(list) > 0 {
			s := dispatch.SpreadOf(list)
			all[k] = &s
		}
	}
	return all
}
