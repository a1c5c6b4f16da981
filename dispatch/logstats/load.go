package logstats

import (
	"cmp"
	"math"
	"slices"

	"productform/dispatch/swf"
)

// setLoads sets the processors and the loads.
func (r *Result) setLoads(log *Log, processors int64) {
	all := runs(log.Jobs)
	most := peak(all)
	if len(all) > 0 {
		r.Peak = &most
	}
	m, source := log.capacity(processors, func() int64 { return most })
	if m == 0 {
		return
	}
	r.Processors, r.Source = &m, source
	if r.Span == 0 {
		return
	}
	capacity := float64(m) * r.Span
	r.Offered = finite(r.Work / capacity)
	if r.Peak != nil {
		r.Carried = finite(workIn(all, r.First, r.Last) / capacity)
	}
}

// capacity returns the processors of the cluster, and where they come from: the given number, that
// of the log, or the peak in use, which is 0 if it is unknown.
func (l *Log) capacity(given int64, peak func() int64) (processors int64, source Source) {
	if given != 0 {
		return given, Given
	}
	if l.MaxProcs > 0 {
		return l.MaxProcs, OfHeader
	}
	if most := peak(); most > 0 {
		return most, PeakInUse
	}
	return 0, ""
}

// finite returns a number, or nil if it is beyond the range of float64.
func finite(x float64) *float64 {
	if !(math.Abs(x) <= math.MaxFloat64) {
		return nil
	}
	return &x
}

// A run is the time from start to end of a job.
type run struct {
	from, to   float64
	processors int64
}

// runs returns the runs of positive length of the jobs whose waiting time is known.
func runs(jobs []Job) []run {
	all := make([]run, 0, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		if start := j.Submit + j.Wait; j.Wait != swf.Unknown && start+j.RunTime > start {
			all = append(all, run{start, start + j.RunTime, j.Processors})
		}
	}
	return all
}

// peak returns the largest number of processors in use at a time: max over t of Σ processors of
// the runs with from <= t < to. It sorts the runs by their starts.
func peak(all []run) int64 {
	slices.SortFunc(all, func(a, b run) int { return cmp.Compare(a.from, b.from) })
	ends := slices.Clone(all)
	slices.SortFunc(ends, func(a, b run) int { return cmp.Compare(a.to, b.to) })
	var used, most int64
	next := 0
	for _, r := range all {
		for ; next < len(ends) && ends[next].to <= r.from; next++ {
			used -= ends[next].processors
		}
		used += r.processors
		most = max(most, used)
	}
	return most
}

// workIn returns the processor-seconds of the runs between two times.
func workIn(all []run, from, to float64) float64 {
	var work float64
	for _, r := range all {
		work += float64(r.processors) * max(0, min(r.to, to)-max(r.from, from))
	}
	return work
}

// Usage returns the mean number of processors in use in each of the given number of equal parts of
// the time between from and to, from < to, by jobs whose waiting time is known.
func Usage(jobs []Job, from, to float64, parts int) []float64 {
	busy := make([]float64, parts)    // processors × parts, of runs that cover a part in part
	changes := make([]int64, parts+1) // changes of the number of processors, by runs that cover whole parts
	width := (to - from) / float64(parts)
	for _, r := range runs(jobs) {
		start, end := max(0, (r.from-from)/width), min(float64(parts), (r.to-from)/width)
		if start >= end {
			continue
		}
		first, last := int(start), min(int(end), parts-1)
		n := float64(r.processors)
		if first == last {
			busy[first] += n * (end - start)
			continue
		}
		busy[first] += n * (float64(first+1) - start)
		busy[last] += n * (end - float64(last))
		changes[first+1] += r.processors
		changes[last] -= r.processors
	}
	var whole int64
	for k := range busy {
		whole += changes[k]
		busy[k] = math.Max(0, busy[k]+float64(whole))
	}
	return busy
}
