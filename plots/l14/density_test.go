package l14

import (
	"math"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"productform/plots"
)

// inBands reports whether a point is in one of the bands, on logarithmic axes.
func inBands(bands []plots.Series, x, y float64) bool {
	for _, b := range bands {
		k := sort.SearchFloat64s(b.X, x)
		if k == 0 || k == len(b.X) {
			continue
		}
		share := math.Log(x/b.X[k-1]) / math.Log(b.X[k]/b.X[k-1])
		between := func(v []float64) float64 { return v[k-1] * math.Pow(v[k]/v[k-1], share) }
		if between(b.Low) <= y && y <= between(b.High) {
			return true
		}
	}
	return false
}

// literalDensity returns the density of a cloud at a point by its definition: the mean of products
// of normal densities with Scott's widths.
func literalDensity(c cloud) func(x, y float64) float64 {
	width := func(v []float64) float64 {
		n := len(v)
		var l []float64
		sum, squares := 0.0, 0.0
		for _, x := range v {
			l = append(l, math.Log(x))
			sum += math.Log(x) / float64(n)
		}
		for _, x := range l {
			squares += (x - sum) * (x - sum) / float64(n-1)
		}
		slices.Sort(l)
		quantile := func(p float64) float64 { return l[int(math.Ceil(p*float64(n)))-1] }
		spread := math.Sqrt(squares)
		if middle := (quantile(0.75) - quantile(0.25)) / 1.349; middle > 0 {
			spread = math.Min(spread, middle)
		}
		return spread / math.Pow(float64(n), 1.0/6)
	}
	wx, wy := width(c.x), width(c.y)
	return func(x, y float64) (sum float64) {
		for i := range c.x {
			sum += distuv.Normal{Mu: math.Log(c.x[i]), Sigma: wx}.Prob(math.Log(x)) * distuv.Normal{
				Mu:    math.Log(c.y[i]),
				Sigma: wy,
			}.Prob(math.Log(y))
		}
		return sum / float64(len(c.x))
	}
}

// interpolationTol bounds the error of a linear interpolation of the log density between the
// numbers of a lattice, at points that have at least the density of one kernel. There the log
// density changes by at most √(2 ln n) per width.
func interpolationTol(v []float64, width float64) float64 {
	at := lattice(v, width)
	change := math.Sqrt(2*math.Log(float64(len(v)))) * (at[1] - at[0]) / width
	return change * change / 8 * math.Exp(change)
}

// The region contains a point if, and only if, its density is at least that of the densest part of
// the samples, except near the edge of the region, where densities are interpolated.
func TestDensest(t *testing.T) {
	inside, islands := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(6, 30).Draw(t, "samples")
		part := rapid.SampledFrom([]float64{0.3, 0.5, 0.8, 1}).Draw(t, "part")
		apart := rapid.Float64Range(0, 6).Draw(t, "distance of two clusters")
		var c cloud
		for i := range n {
			u, v := rapid.Float64Range(-1, 1).Draw(t, "u"), rapid.Float64Range(-1, 1).Draw(t, "v")
			c.x, c.y = append(c.x, math.Exp(9+u)), append(c.y, math.Exp(-5+v+apart*float64(i%2)))
		}
		bands := c.densest(part)
		density := literalDensity(c)
		var own []float64
		for i := range c.x {
			own = append(own, density(c.x[i], c.y[i]))
		}
		slices.Sort(own)
		level := own[n-int(math.Ceil(part*float64(n)))]
		if math.IsNaN(level) || len(bands) == 0 { // identical values have no width
			if len(bands) > 0 {
				t.Errorf("%d bands of %+v, want none", len(bands), c)
			}
			return
		}
		islands = max(islands, len(bands))
		k := c.density()
		tol := 0.1 + interpolationTol(k.u, k.hu) + interpolationTol(k.v, k.hv)
		f := plots.Figure{ID: "x", Title: "t", Caption: "c", Panels: []plots.Panel{{
			X: plots.Axis{Quantity: "x", Scale: plots.Log},
			Y: plots.Axis{Quantity: "y", Scale: plots.Log},
		}}}
		for _, b := range bands {
			b.Label = "region"
			f.Panels[0].Series = append(f.Panels[0].Series, b)
		}
		if err := f.Validate(); err != nil {
			t.Fatal(err)
		}
		for range 30 {
			x, y := math.Exp(rapid.Float64Range(7, 11).Draw(t, "log x")), math.Exp(rapid.Float64Range(-7, 4).Draw(
				t, "log y",
			))
			if off := math.Log(density(x, y) / level); math.Abs(off) > tol && inBands(bands, x, y) != (off > 0) {
				t.Errorf("at %v, %v the density is %v of the level, in the region: %v",
					x, y, math.Exp(off), inBands(bands, x, y))
			} else if off > 0 {
				inside++
			}
		}
	})
	if inside == 0 || islands < 2 {
		t.Errorf("%d points inside, at most %d bands", inside, islands)
	}
}

// Too few or identical samples have no region.
func TestDensestNone(t *testing.T) {
	for _, c := range []cloud{
		{}, {[]float64{1, 2}, []float64{1, 2}}, {[]float64{1, 1, 1, 1}, []float64{1, 2, 3, 4}},
		{[]float64{1, 2, 3, 4}, []float64{5, 5, 5, 5}},
	} {
		if bands := c.densest(0.5); bands != nil {
			t.Errorf("%+v: %+v", c, bands)
		}
	}
}

// Samples that differ only by rounding have no region: its points would be indistinguishable.
func TestNearlyEqualSamplesHaveNoRegion(t *testing.T) {
	var c cloud
	for i := range 6 {
		c.x, c.y = append(c.x, 8103*(1+float64(i)*0x1p-44)), append(c.y, 1+float64(i))
	}
	if bands := c.densest(0.5); len(bands) > 0 {
		t.Errorf("%d bands, want none", len(bands))
	}
}
