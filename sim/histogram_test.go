package sim

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// times draws delays of many magnitudes, some of them equal, zero, or at the ends of bins.
func times() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Float64Range(0, 10), rapid.SampledFrom([]float64{0, 1, 1, 1, 2, 1.5, 1 + BinWidth}),
		rapid.Custom(func(t *rapid.T) float64 { return math.Exp(rapid.Float64Range(-30, 30).Draw(t, "log")) }))
}

// A value is in its bin, bins are adjacent, and none is wider than BinWidth, except below 1e-307.
func TestBins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(times(), rapid.Float64Range(0, math.MaxFloat64/2)).Draw(t, "value")
		bin := binOf(v)
		low, high := binEnd(bin), binEnd(bin+1)
		if !(low <= v && v < high) {
			t.Errorf("%v is not in [%v, %v)", v, low, high)
		}
		if v > 1e-307 && high > low*(1+BinWidth) {
			t.Errorf("[%v, %v] is too wide", low, high)
		}
		if binOf(low) != bin || binOf(math.Nextafter(high, 0)) != bin || binOf(high) != bin+1 {
			t.Errorf("the ends of [%v, %v] are not at bin limits", low, high)
		}
	})
}

// The counts do not depend on how values are divided among histograms or on the order of merging,
// and survive a round trip through JSON.
func TestHistogramsMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(times(), 0, 60).Draw(t, "values")
		parts := make([]Counter, rapid.IntRange(1, 5).Draw(t, "parts"))
		var whole Counter
		for _, v := range values {
			whole.add(v)
			parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")].add(v)
		}
		var merged Counter
		for _, k := range rapid.Permutation(rapid.SliceOfNDistinct(
			rapid.IntRange(0, len(parts)-1), len(parts), len(parts), rapid.ID[int],
		).Draw(t, "all")).Draw(t, "order") {
			h := parts[k].histogram()
			text, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			var kept Histogram
			if err := json.Unmarshal(text, &kept); err != nil {
				t.Fatal(err)
			}
			merged.merge(&kept)
		}
		want := whole.histogram()
		tally := whole.tally()
		if diff := cmp.Diff(want.tally(), tally, cmp.AllowUnexported(tally), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the tally of a histogram differs: %s", diff)
		}
		if again := whole.tally(); again.total() != 0 {
			t.Errorf("%d values are left", again.total())
		}
		if diff := cmp.Diff(want, merged.histogram()); diff != "" {
			t.Error(diff)
		}
		if n := int64(len(values)); want.Total() != n || tally.total() != n {
			t.Errorf("%d and %d of %d values", want.Total(), tally.total(), n)
		}
		bin := binOf(times().Draw(t, "around"))
		var before, within int64
		for _, v := range values {
			switch {
			case v < binEnd(bin):
				before++
			case v < binEnd(bin+1):
				within++
			}
		}
		if b, w := tally.counts(bin); b != before || w != within {
			t.Errorf("%d before %v and %d in its bin, want %d and %d", b, binEnd(bin), w, before, within)
		}
	})
}

// A counter does not allocate memory for each value.
func TestCounterAllocates(t *testing.T) {
	var c Counter
	next := 1e-3
	add := func() {
		for range 1000 {
			c.add(next)
			next = math.Mod(next*1.1, 1000) + 1e-6
		}
	}
	add()
	add()
	if n := testing.AllocsPerRun(100, add); n > 0 {
		t.Errorf("%v allocations for 1000 values, want none", n)
	}
}
