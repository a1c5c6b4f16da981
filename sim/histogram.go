package sim

import (
	"math"
	"slices"
	"sort"
)

// binBits is the binary logarithm of the number of bins per octave.
const binBits = 10

// BinWidth is the largest relative width of the bins in which delays are counted: the upper end of
// a bin is at most 1+BinWidth times its lower end. Ends of bins are 2^a (1 + b/1024) with integers
// a and 0 <= b < 1024. A delay equal to an end belongs to the bin above it.
const BinWidth = 1. / (1 << binBits)

// binOf returns the number of the bin of a value >= 0: its exponent and the leading bits of its
// mantissa, which increase with the value.
func binOf(v float64) int { return int(math.Float64bits(v) >> (52 - binBits)) }

// binEnd returns the lower end of a bin, which is the upper end of the previous bin.
func binEnd(bin int) float64 { return math.Float64frombits(uint64(bin) << (52 - binBits)) }

// A Counter counts values >= 0 in bins. The zero value is empty.
type Counter struct {
	octaves [1 << 11]*[1 << binBits]int64 // the bins of each exponent, nil if all are empty
}

// add counts a value.
func (c *Counter) add(v float64) { c.addMany(binOf(v), 1) }

// addMany counts a number of values in a bin.
func (c *Counter) addMany(bin int, values int64) {
	octave := &c.octaves[bin>>binBits]
	if *octave == nil {
		*octave = new([1 << binBits]int64)
	}
	(*octave)[bin&(1<<binBits-1)] += values
}

// merge adds the counts of a histogram.
func (c *Counter) merge(h *Histogram) {
	bin := 0
	for k, gap := range h.Gaps {
		bin += int(gap)
		c.addMany(bin, h.Counts[k])
	}
}

// bins iterates over the nonempty bins and their counts, in order.
func (c *Counter) bins(yield func(bin int, values int64) bool) {
	for k, octave := range c.octaves {
		if octave == nil {
			continue
		}
		for b, n := range octave {
			if n > 0 && !yield(k<<binBits+b, n) {
				return
			}
		}
	}
}

// histogram returns the counts.
func (c *Counter) histogram() Histogram {
	h := Histogram{Gaps: []int32{}, Counts: []int64{}}
	last := 0
	for bin, n := range c.bins {
		h.Gaps, h.Counts = append(h.Gaps, int32(bin-last)), append(h.Counts, n)
		last = bin
	}
	return h
}

// A Histogram holds the number of values in each bin. Histograms are merged by adding the counts of
// each bin, so neither the order of the values nor their partition into histograms matters.
type Histogram struct {
	// the nonempty bins in increasing order, as differences between successive bins; the first
	// counts from bin 0
	Gaps   []int32 `json:"gaps"`
	Counts []int64 `json:"counts"` // number of values in each bin, > 0
}

// Total returns the number of values.
func (h *Histogram) Total() int64 {
	var total int64
	for _, n := range h.Counts {
		total += n
	}
	return total
}

// A tally holds the number of values in and below each bin.
type tally struct {
	bins  []int32 // the nonempty bins, in increasing order
	below []int64 // number of values in the bins before each, and finally the total
}

// add appends a bin with a number of values.
func (t *tally) add(bin int32, values int64) {
	t.bins, t.below = append(t.bins, bin), append(t.below, t.below[len(t.bins)]+values)
}

// tally returns the counts and resets them.
func (c *Counter) tally() tally {
	t := tally{below: []int64{0}}
	for bin, n := range c.bins {
		t.add(int32(bin), n)
	}
	for _, octave := range c.octaves {
		if octave != nil {
			clear(octave[:])
		}
	}
	return t
}

// tally returns the counts of the histogram.
func (h *Histogram) tally() tally {
	t := tally{bins: make([]int32, 0, len(h.Gaps)), below: make([]int64, 1, 1+len(h.Gaps))}
	bin := int32(0)
	for k, gap := range h.Gaps {
		bin += gap
		t.add(bin, h.Counts[k])
	}
	return t
}

// total returns the number of values.
func (t *tally) total() int64 { return t.below[len(t.bins)] }

// counts returns the number of values in the bins before a given one, and in that bin.
func (t *tally) counts(bin int) (before, within int64) {
	k, held := slices.BinarySearch(t.bins, int32(bin))
	if held {
		within = t.below[k+1] - t.below[k]
	}
	return t.below[k], within
}

// reached returns the position below which a number of values lie. The number is between 0 and the
// total, which must be positive.
func (t *tally) reached(values float64) place {
	k := sort.Search(len(t.bins)-1, func(k int) bool { return values <= float64(t.below[k+1]) })
	return place{int(t.bins[k]), min((values-float64(t.below[k]))/float64(t.below[k+1]-t.below[k]), 1)}
}

// A place is a position within a bin: the given fraction of the bin lies below it.
type place struct {
	bin  int
	part float64 // in [0, 1]
}

func (p place) value() float64 {
	low := binEnd(p.bin)
	return low + p.part*(p.end()-low)
}

// end returns the upper end of the bin, 0 for bin 0: its values are those of jobs that do not wait.
func (p place) end() float64 {
	if p.bin == 0 {
		return 0
	}
	return binEnd(p.bin + 1)
}
