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
			t.Fatal("one key, two streams")
		}
		if x == b.Uint64() {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d draws in common", same)
	}
}

// Draw draws the same values as Uint64, in the right proportions, and finds the high codes.
func TestDrawBatch(t *testing.T) {
	weights := []float64{3, 0, 1e-3, 5, 1, 0.5}
	codes := []uint32{10, 11, 12, 1 << 24, 14, 1<<24 + 1}
	table := sizes.NewAliasTable(weights, codes)
	if len(table) != 5 {
		t.Fatalf("%d columns for 5 weights above 0", len(table))
	}
	total := Sum(weights)
	mass := map[uint32]float64{}
	for _, o := range table {
		cut := float64(o.Cut) / (1 << 64)
		mass[o.Own] += cut / 5
		mass[o.Other] += (1 - cut) / 5
	}
	for i, w := range weights {
		if got, want := mass[codes[i]], w/total; math.Abs(got-want) > 1e-15 {
			t.Errorf("code %d has probability %g in the table, want %g", codes[i], got, want)
		}
	}
	s, twin := NewStream([32]byte{2}), NewStream([32]byte{2})
	counts := map[uint32]float64{}
	var drawn, high [1000]uint32
	for range 1000 {
		found := s.Draw(table, 1<<24-1, drawn[:], high[:])
		next := 0
		for i, code := range drawn {
			twin.Uint64()
			counts[code]++
			if code >= 1<<24 {
				if next >= found || high[next] != uint32(i) {
					t.Fatalf("place %d of a high code is not in %v", i, high[:found])
				}
				next++
			}
		}
		if next != found {
			t.Fatalf("%d high codes found, there are %d", found, next)
		}
	}
	if *s != *twin {
		t.Error("Draw leaves the stream elsewhere than as many draws do")
	}
	for i, w := range weights {
		p := w / total
		if e := math.Abs(counts[codes[i]]-1e6*p) / math.Sqrt(1e6*p*(1-p)+1e-300); e > 6 {
			t.Errorf("code %d came %g times of 1e6, probability %g", codes[i], counts[codes[i]], p)
		}
	}
}
