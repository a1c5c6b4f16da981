package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"productform/sizes"
)

// judge assesses how far the result can be trusted.
func (p *Plan) judge(r *Result, samples []*Sample) {
	square := 0.0
	series := make([]float64, parts)
	for _, s := range samples {
		square += s.Square / float64(len(samples))
		for k, v := range s.Series {
			series[k] += v / float64(len(samples))
		}
	}
	numbers := make([]float64, len(samples))
	for k, s := range samples {
		numbers[k] = p.number(s)
	}
	number := estimate(numbers, p.settings.Confidence)
	variance := max(0, square-number.Mean*number.Mean)
	if e := number.StdError; e > 0 {
		r.EffectiveSamples = variance / (e * e)
	}
	if p.Unstable != "" {
		r.warn("the %s is unstable: its number of jobs grows with the horizon, and the estimates are those of this "+
			"horizon only", p.Unstable)
	}
	p.judgeSizes(r, samples)
	p.judgeIntervals(r)
	r.PrecisionMet = true
	if tol := p.settings.Precision; tol > 0 {
		for _, m := range r.Measures {
			if m.Kind != OfClass || m.Name != cmp.Or(p.Counted.List, MeanJobs) {
				continue
			}
			arrives := p.Counted.List != "" || p.Classes[m.Index].ArrivalRate > 0
			if arrives && !(m.Estimate.Mean > 0 && m.Estimate.HalfWidth <= tol*m.Estimate.Mean) {
				r.PrecisionMet = false
			}
		}
		if !r.PrecisionMet {
			r.warn("the relative precision %g is not reached after %d runs", tol, r.Runs)
		}
	}
	if p.settings.Horizon > 0 {
		return // neither stationarity nor independence within a replication is claimed
	}
	counted := cmp.Or(p.Counted.Words, "jobs")
	if p.Counted.List != "" && variance <= constantTol*square {
		return // the number is constant except for rounding
	}
	cut := mser5(series)
	if cut > 0 {
		r.Truncation = p.partEnd(cut - 1)
	}
	if early := p.earlyBias(samples, cut); early != nil && math.Abs(early.Z(0)) > maxEarlyZ {
		r.warn("the warm-up looks too short: the number of %s is stationary from time %.3g on (MSER-5), observed "+
			"from %.3g on", counted, r.Truncation, p.warmUp)
	}
	if perRun := r.EffectiveSamples / float64(r.Runs); perRun < minSamples {
		r.warn("the runs are too short: each is worth %.2g independent observations of the number of %s, and "+
			"intervals need %d", perRun, counted, minSamples)
	}
}

// judgeIntervals looks for classes whose intervals extend beyond half of the mean, and names the
// worst.
func (p *Plan) judgeIntervals(r *Result) {
	worst, name, wide := wideInterval, "", 0
	for _, m := range r.Measures {
		if m.Kind != OfClass || m.Name != MeanJobs || m.Estimate == nil || !(m.Estimate.Mean > 0) {
			continue
		}
		part := m.Estimate.HalfWidth / m.Estimate.Mean
		if part > wideInterval {
			wide++
		}
		if part > worst {
			worst, name = part, m.Of
		}
	}
	others := ""
	if wide > 1 {
		others = fmt.Sprintf(", the worst of %d such classes", wide)
	}
	if wide > 0 {
		r.warn("class %s: its mean number of jobs and its delay are known to ± %.0f %% only%s: more or longer runs "+
			"are needed", name, 100*worst, others)
	}
}

// judgeSizes looks for what the run cannot have seen enough of: classes with few jobs, and sizes
// that are rare but matter.
func (p *Plan) judgeSizes(r *Result, samples []*Sample) {
	var arrived float64
	var few worsts
	for i, c := range p.Classes {
		left := 0.0
		for _, s := range samples {
			left += s.Left[i]
		}
		if c.ArrivalRate > 0 && left < minJobs {
			few.add("", left, "", fmt.Sprintf("class %s: only %g jobs were done in all runs, and intervals need %d",
				c.Name, left, minJobs))
		}
		arrived += c.ArrivalRate * p.time * float64(r.Runs)
	}
	few.warn(r)
	if p.SizeRate > 0 {
		arrived = p.SizeRate * p.time * float64(r.Runs)
	}
	if p.settings.Horizon > 0 {
		return // the length is given
	}
	finite := true
	var rare worsts
	for _, m := range p.Moments {
		drawn := arrived
		if m.Rate > 0 {
			drawn = m.Rate * p.time * float64(r.Runs)
		}
		finite = rare.addMoments(m, drawn) && finite
	}
	rare.warn(r)
	if p.Warnings != nil && finite {
		r.Warnings = append(r.Warnings, p.Warnings(r)...)
	}
}

// addMoments adds a doubt for each moment to which sizes rarer than one in drawn contribute much,
// and reports whether all moments are finite. It stops at the first infinite one.
func (w *worsts) addMoments(m Moment, drawn float64) (finite bool) {
	const rareWarning = "more or longer runs are needed: %s %s %.3g, of which all runs together see about one, " +
		"make up %.3g %% of %s, on which %s depend"
	words := cmp.Or(m.Words, "sizes")
	names := map[float64]string{1: "the mean size", 2: "the mean square of the sizes", -1: "the mean of 1/size"}
	if m.Words != "" {
		names = map[float64]string{
			1: "the mean of the " + words, 2: "the mean square of the " + words, -1: "the mean inverse of the " + words,
		}
	}
	name, class := m.Of, ""
	if m.Class != "" {
		name, class = "", "class "+m.Class+": "
	}
	for _, order := range m.Orders {
		moment, kind := names[order], names[order]
		if m.Class != "" {
			kind = fmt.Sprintf("moment %g of own sizes", order)
		}
		whole, err := m.Sizes.Moment(order)
		if order > 0 && errors.Is(err, sizes.ErrInfinite) {
			w.add(kind+" infinite", 0, name,
				class+moment+" is infinite, and delays depend on it: do not trust means and intervals")
			return false
		}
		end, side, measure, missed := 0.0, "above", "delays", 0.0
		var quantileErr, momentErr error
		if order > 0 {
			end, quantileErr = m.Sizes.Quantile(1 - 1/max(drawn, 2))
			missed, momentErr = m.Sizes.PartialMoment(order, end, math.Inf(1))
		} else {
			side, measure = "below", "slowdowns"
			end, quantileErr = m.Sizes.Quantile(1 / max(drawn, 2))
			missed, momentErr = m.Sizes.PartialMoment(order, 0, math.Nextafter(end, 0))
		}
		if err == nil && quantileErr == nil && momentErr == nil && missed > maxRarePart*whole {
			doubt := fmt.Sprintf(rareWarning, words, side, end, 100*missed/whole, moment, measure)
			w.add(kind, -missed/whole, name, class+doubt)
		}
	}
	return true
}

const (
	minJobs     = 100  // minimum number of jobs of a class for meaningful means
	maxRarePart = 0.02 // fraction of a moment that a run may miss

	wideInterval = 0.5 // half-width of an interval, relative to the mean, above which it says little

	constantTol = 1e-9 // variance over mean square up to which a number is constant except for rounding
)

// earlyBias estimates the difference between the mean number of jobs from the warm-up to the cut
// and that after the cut. It returns nil if there is no time between the warm-up and the cut.
func (p *Plan) earlyBias(samples []*Sample, cut int) *Estimate {
	warm := 0
	for p.warmUp > p.partEnd(warm)*(1+partTol) {
		warm++
	}
	if p.warmUp > 0 {
		warm++ // the part in which the warm-up ends
	}
	if cut <= warm {
		return nil
	}
	d := make([]float64, len(samples))
	for k, s := range samples {
		d[k] = Sum(s.Series[warm:cut])/float64(cut-warm) - Sum(s.Series[cut:])/float64(parts-cut)
	}
	e := estimate(d, p.settings.Confidence)
	return &e
}

// partTol is the relative difference of two times that rounding may cause.
const partTol = 1e-12

// maxEarlyZ is the |z| above which the start differs from the rest; chance exceeds it in 1 of 2000
// runs. MSER-5 alone cuts the start of many series that do not need it.
const maxEarlyZ = 3.5

// minSamples is the number of independent observations in a replication below which its mean is far
// from normal.
const minSamples = 10

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// worsts holds the worst problem of each kind, in the order in which the kinds were added, so
// problems of the same kind in many classes produce one warning.
type worsts []worst

type worst struct {
	kind   string
	enough float64 // smaller is worse; ties go to the first
	words  string
	names  []string // classes concerned, worst first; "" if the words name the class
}

// add adds a doubt about a name.
func (w *worsts) add(kind string, enough float64, name, words string) {
	for k := range *w {
		d := &(*w)[k]
		if d.kind != kind {
			continue
		}
		if enough < d.enough {
			d.enough, d.words = enough, words
			d.names = slices.Insert(d.names, 0, name)
		} else {
			d.names = append(d.names, name)
		}
		return
	}
	*w = append(*w, worst{kind, enough, words, []string{name}})
}

// mostNames is the largest number of names listed in a warning.
const mostNames = 5

// warn adds one warning per kind.
func (w worsts) warn(r *Result) {
	for _, d := range w {
		words, n := d.words, len(d.names)
		switch {
		case d.names[0] == "" && n > 1:
			words += fmt.Sprintf(", the worst of %d such", n)
		case d.names[0] == "":
		case n > mostNames:
			words = fmt.Sprintf("%s and %d others: %s", strings.Join(d.names[:mostNames], ", "), n-mostNames, words)
		default:
			words = strings.Join(d.names, ", ") + ": " + words
		}
		r.warn("%s", words)
	}
}

// mser5 returns the number of leading values, among 0..len/2, to omit to minimize the standard
// error of the mean of the others, treated as independent (K. P. White, "An effective truncation
// heuristic for bias reduction in simulation output", Simulation 69, 1997, 323–334). The values are
// the means of groups of five of MSER-5.
func mser5(values []float64) int {
	best, least := 0, math.Inf(1)
	for cut := 0; cut <= len(values)/2; cut++ {
		if _, se := meanStdError(values[cut:]); se < least {
			best, least = cut, se
		}
	}
	return best
}
