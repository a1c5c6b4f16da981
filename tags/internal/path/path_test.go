package path_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"productform/tags/internal/path"
)

// squares cost w_i (b - a)² between cutoffs a and b: the best cutoffs in [0, 1] leave host i a
// width in proportion to 1/w_i.
type squares []float64

func (w squares) Cost(i int, a, b *path.Point) float64 {
	if a.X > b.X {
		return math.Inf(1)
	}
	return w[i] * (b.X - a.X) * (b.X - a.X)
}

func (w squares) Slope(i int, a, b *path.Cell) (path.Slope, bool) {
	if a.Low.X > b.High.X {
		return path.Slope{}, false
	}
	d := max(0, b.Low.X-a.High.X)
	return path.Slope{Cost: w[i] * d * d, After: 2 * w[i] * d, Before: 2 * w[i] * d}, true
}

func TestSquares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := squares(rapid.SliceOfN(rapid.Float64Range(0.1, 10), 2, 4).Draw(t, "weights"))
		at := func(x float64) path.Point { return path.Point{X: x} }
		s := path.Search{
			HostCost: w, Stopped: func() bool { return false }, At: at, Start: at(0), End: at(1), Smooth: true,
		}
		total := 0.0
		for i, v := range w {
			if total += 1 / v; i > 0 {
				s.Low, s.High = append(s.Low, 1e-3), append(s.High, 1)
			}
		}
		best := s.Run()
		x := 0.0
		for i, got := range best.Cutoffs {
			if x += 1 / w[i] / total; math.Abs(got-x) > 1e-6 { // flat to the square root of the gap
				t.Errorf("weights %v: cutoff %d is %v, want %v", w, i+1, got, x)
			}
		}
		if want := 1 / total; math.Abs(best.Cost-want) > 1e-10*want || best.Least > want*(1+1e-12) ||
			best.Gap() > 1e-6 {
			t.Errorf("weights %v: cost %v, at least %v, want %v", w, best.Cost, best.Least, want)
		}
	})
}
