package l14

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"productform/plots"
)

// A cloud is a set of samples of two positive numbers each.
type cloud struct{ x, y []float64 }

// A kernelDensity is the kernel density estimate of a cloud on logarithmic axes, with normal
// kernels, up to a factor: a kernel is 1 at its centre.
type kernelDensity struct {
	u, v   []float64 // logarithms of the samples
	hu, hv float64   // widths of the kernels
}

func (c cloud) density() kernelDensity {
	u, v := logs(c.x), logs(c.y)
	return kernelDensity{u, v, kernelWidth(u), kernelWidth(v)}
}

// at returns the density at a point.
func (d kernelDensity) at(u, v float64) (sum float64) {
	for i := range d.u {
		sum += kernel((u-d.u[i])/d.hu) * kernel((v-d.v[i])/d.hv)
	}
	return sum
}

func kernel(x float64) float64 { return math.Exp(-x * x / 2) }

// level returns the density that the given fraction of the samples reach.
func (d kernelDensity) level(part float64) float64 {
	own := make([]float64, len(d.u))
	for i := range own {
		own[i] = d.at(d.u[i], d.v[i])
	}
	slices.Sort(own)
	return own[len(own)-int(math.Ceil(part*float64(len(own))))]
}

// A densityColumn holds the density at one u, and the runs of rows in which it reaches a level.
type densityColumn struct {
	u       float64
	density []float64 // one value per row
	runs    []densityRun
}

// A densityRun is a run of consecutive rows.
type densityRun struct {
	first, last, top int     // rows; the density is largest in row top
	low, high        float64 // where the density crosses the level, by linear interpolation
	band             int     // the band to which it belongs
}

func (r densityRun) meets(o densityRun) bool { return r.first <= o.last && o.first <= r.last }

// overlapping returns the runs that overlap a given run.
func overlapping(runs []densityRun, r densityRun) (all []int) {
	for k, o := range runs {
		if o.meets(r) {
			all = append(all, k)
		}
	}
	return all
}

// columns returns the density at successive u. It is below the level in the first and last columns,
// and in the first and last rows of each.
func (d kernelDensity) columns(level float64) (all []densityColumn, rows []float64) {
	rows = lattice(d.v, d.hv)
	along := make([][]float64, len(rows)) // the second factor of each kernel
	for r, v := range rows {
		for _, own := range d.v {
			along[r] = append(along[r], kernel((v-own)/d.hv))
		}
	}
	across := make([]float64, len(d.u))
	for _, u := range lattice(d.u, d.hu) {
		for i, own := range d.u {
			across[i] = kernel((u - own) / d.hu)
		}
		c := densityColumn{u: u}
		for r := range rows {
			c.density = append(c.density, floats.Dot(along[r], across))
		}
		c.runs = runsOf(c.density, rows, level)
		all = append(all, c)
	}
	return all, rows
}

// runsOf returns the runs of rows in which a density reaches a level; it must be below the level in
// the first and last rows.
func runsOf(density, rows []float64, level float64) (runs []densityRun) {
	cross := func(in, out int) float64 {
		return rows[in] + (rows[out]-rows[in])*(density[in]-level)/(density[in]-density[out])
	}
	for r := 0; r < len(rows); r++ {
		if density[r] < level {
			continue
		}
		run := densityRun{first: r, top: r, low: cross(r, r-1)}
		for ; density[r] >= level; r++ {
			if density[r] > density[run.top] {
				run.top = r
			}
		}
		run.last, run.high = r-1, cross(r-1, r)
		runs = append(runs, run)
	}
	return runs
}

// densest returns the smallest region that contains the given fraction of the samples (R. Hyndman,
// "Computing and graphing highest density regions", The American Statistician 50(2), 1996): where
// the kernel estimate of their density on logarithmic axes is at least the level that this fraction
// of the samples reach. The region consists of bands, next to or above each other. It is empty if
// there are too few samples or they are identical.
func (c cloud) densest(part float64) []plots.Series {
	const alike = 1e-9 // below this distance, float64 cannot distinguish points of a region
	d := c.density()
	if d.hu <= alike || d.hv <= alike {
		return nil
	}
	level := d.level(part)
	columns, rows := d.columns(level)
	r := densityRegion{level: level, rows: rows}
	for k := 1; k < len(columns); k++ {
		r.add(&columns[k-1], &columns[k])
	}
	return r.bands
}

// A densityRegion builds the bands of a region, column by column.
type densityRegion struct {
	level float64
	rows  []float64
	bands []plots.Series
}

func (r *densityRegion) begin() int {
	r.bands = append(r.bands, plots.Series{Kind: plots.Band})
	return len(r.bands) - 1
}

func (r *densityRegion) extend(band int, u, low, high float64) {
	b := &r.bands[band]
	b.X, b.Low, b.High = append(b.X, math.Exp(u)), append(b.Low, math.Exp(low)), append(b.High, math.Exp(high))
}

// tip starts or ends a band between the column of a run and an adjacent column without a run there.
func (r *densityRegion) tip(run densityRun, in, out *densityColumn) {
	at := in.density[run.top]
	share := max(0.01, (at-r.level)/(at-out.density[run.top]))
	r.extend(run.band, in.u+share*(out.u-in.u), r.rows[run.top], r.rows[run.top])
}

// add appends a column. Its runs continue the runs that they overlap; if a run splits or several
// merge, the bands meet in the middle of the gap.
func (r *densityRegion) add(before, now *densityColumn) {
	for _, run := range before.runs {
		if overlapping(now.runs, run) == nil {
			r.tip(run, before, now)
		}
	}
	for k := range now.runs {
		run := &now.runs[k]
		from := overlapping(before.runs, *run)
		switch {
		case from == nil:
			run.band = r.begin()
			r.tip(*run, now, before)
		case len(from) > 1: // several runs merge
			for place, i := range from {
				low, high := run.low, run.high
				if place > 0 {
					low = (before.runs[from[place-1]].high + before.runs[i].low) / 2
				}
				if place < len(from)-1 {
					high = (before.runs[i].high + before.runs[from[place+1]].low) / 2
				}
				if len(overlapping(now.runs, before.runs[i])) == 1 {
					r.extend(before.runs[i].band, now.u, low, high)
				}
			}
			run.band = r.begin()
		default:
			one := before.runs[from[0]]
			to := overlapping(now.runs, one)
			if run.band = one.band; len(to) > 1 { // one run splits
				low, high := one.low, one.high
				if k > to[0] {
					low = (now.runs[k-1].high + run.low) / 2
				}
				if k < to[len(to)-1] {
					high = (run.high + now.runs[k+1].low) / 2
				}
				run.band = r.begin()
				r.extend(run.band, before.u, low, high)
			}
		}
		r.extend(run.band, now.u, run.low, run.high)
	}
}

// kernelWidth returns Scott's width of a normal kernel in two dimensions, or the width based on the
// interquartile range if that is smaller, so outliers do not widen it. It is 0 for fewer than three
// values or for identical ones.
func kernelWidth(v []float64) float64 {
	if len(v) < 3 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(v))
	spread := stat.StdDev(v, nil)
	if middle := (stat.Quantile(0.75, stat.Empirical, sorted, nil) -
		stat.Quantile(0.25, stat.Empirical, sorted, nil)) / 1.349; middle > 0 {
		spread = min(spread, middle)
	}
	return spread * math.Pow(float64(len(v)), -1.0/6)
}

// lattice returns evenly spaced numbers, eight per width unless these would be too many. They cover
// the n values v and √(2 ln n) + 1 widths beyond. There the density is at most n exp(-(√(2 ln n) +
// 1)²/2) < 1, less than at any sample, whose own kernel contributes 1.
func lattice(v []float64, width float64) []float64 {
	const perWidth, most = 8, 1000
	reach := width * (math.Sqrt(2*math.Log(float64(len(v)))) + 1)
	from, to := slices.Min(v)-reach, slices.Max(v)+reach
	count := int(min(most, perWidth*(to-from)/width+2))
	at := make([]float64, count)
	for k := range at {
		at[k] = from + (to-from)*float64(k)/float64(count-1)
	}
	return at
}

func logs(v []float64) []float64 {
	l := make([]float64, len(v))
	for i, x := range v {
		l[i] = math.Log(x)
	}
	return l
}
