package logstats

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// setArrivals sets the measures of submissions.
func (r *Result) setArrivals(log *Log, zone *time.Location) {
	times := make([]float64, len(log.Jobs))
	for i := range log.Jobs {
		times[i] = log.Jobs[i].Submit
	}
	slices.Sort(times)
	for _, window := range []float64{60, 3600, 86400} {
		if r.Span >= 2*window {
			r.Dispersion = append(r.Dispersion, dispersion(times, window))
		}
	}
	if zone == nil {
		zone = log.Zone
	}
	if zone == nil {
		zone = time.UTC
	}
	if log.Start != nil && *log.Start+r.Last <= mostDate {
		name := zone.String()
		r.Zone = &name
		r.countHours(times, *log.Start, zone)
	}
	for i := len(times) - 1; i > 0; i-- {
		times[i] -= times[i-1]
	}
	r.GapSCV = scv(times[1:])
}

// mostDate is the largest Unix time whose hour and weekday are counted: the year 5138.
const mostDate = 1e11

// dispersion returns the index of dispersion of increasing times in windows of the given length, at
// least two.
func dispersion(times []float64, window float64) Dispersion {
	first, last := times[0], times[len(times)-1]
	windows := math.Floor((last - first) / window)
	var jobs, squares float64
	for i := 0; i < len(times); {
		at, start := math.Floor((times[i]-first)/window), i
		for i < len(times) && math.Floor((times[i]-first)/window) == at {
			i++
		}
		if n := float64(i - start); at < windows {
			jobs += n
			squares += n * n
		}
	}
	mean := jobs / windows
	variance := max(0, squares-jobs*mean) / (windows - 1)
	return Dispersion{Window: window, Windows: windows, Index: variance / mean}
}

// countHours counts submissions by hour and weekday.
func (r *Result) countHours(times []float64, start float64, zone *time.Location) {
	var hours [24]int
	var days [7]int
	for _, t := range times {
		at := time.Unix(int64(math.Floor(start+t)), 0).In(zone)
		hours[at.Hour()]++
		days[at.Weekday()]++
	}
	for hour, jobs := range hours {
		r.Hours = append(r.Hours, Arrivals{fmt.Sprintf("%02d", hour), jobs})
	}
	for k := range days {
		day := time.Weekday((k + 1) % 7) // starting with Monday
		r.Weekdays = append(r.Weekdays, Arrivals{day.String(), days[day]})
	}
}
