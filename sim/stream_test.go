package sim

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext/prng"

	"productform/sizes"
)

// The generator matches that of gonum, which follows the authors' code.
func TestStreamMatchesXoshiro(t *testing.T) {
	reference := prng.NewXoshiro256plusplus(7)
	state, err := reference.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	word := func(k int) (v uint64) {
		for i := range 8 {
			v = v<<8 | uint64(state[8*k+i])
		}
		return v
	}
	s := &Stream{word(0), word(1), word(2), word(3)}
	for k := range 1000 {
		if got, want := s.Uint64(), reference.Uint64(); got != want {
			t.Fatalf("draw %d is %#x, want %#x", k, got, want)
		}
	}
}

// Keys that differ in one bit give different streams, equal keys the same stream.
func TestStreamsOfKeys(t *testing.T) {
	a, again, b := NewStream([32]byte{1}), NewStream([32]byte{1}), NewStream([32]byte{1, 0, 0, 1})
	same := 0
	for range 1000 {
		x := a.Uint64()
		if x != again.Uint64() {
			t.Fatal("one key gives two streams")
		}
		if x == b.Uint64() {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d draws in common, want none", same)
	}
}

// Fill draws from the words of Uint64, in the right proportions.
func TestFill(t *testing.T) {
	weights := []float64{3, 0, 1e-3, 5, 1, 0.5}
	codes := []uint32{10, 11, 12, 1 << 24, 14, 1<<24 + 1}
	table := sizes.NewAliasTable(weights, codes)
	if len(table) != 5 {
		t.Fatalf("%d columns for 5 weights above 0, want 5", len(table))
	}
	total := Sum(weights)
	mass := map[uint32]float64{}
	for _, o := range table {
		cut := float64(o.Cut) / (1 << 64)
		mass[o.Codes[1]] += cut / 5
		mass[o.Codes[0]] += (1 - cut) / 5
	}
	for i, w := range weights {
		if got, want := mass[codes[i]], w/total; math.Abs(got-want) > 1e-15 {
			t.Errorf("code %d has probability %g in the table, want %g", codes[i], got, want)
		}
	}
	s, twin := NewStream([32]byte{2}), NewStream([32]byte{2})
	counts := map[uint32]float64{}
	var drawn [1000]uint32
	for range 1000 {
		s.Fill(table, drawn[:])
		for i, code := range drawn {
			if want := table.Pick(twin.Uint64()); code != want {
				t.Fatalf("draw %d is %d, want %d", i, code, want)
			}
			counts[code]++
		}
	}
	for i, w := range weights {
		p := w / total
		if e := math.Abs(counts[codes[i]]-1e6*p) / math.Sqrt(1e6*p*(1-p)+1e-300); e > 6 {
			t.Errorf("code %d drawn %g times in 1e6, probability %g", codes[i], counts[codes[i]], p)
		}
	}
}
