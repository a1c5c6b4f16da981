package oiqueue

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"productform/num"

	"pgregory.net/rapid"
)

func TestCheckAccepts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "classes")
		if err := CheckOrder(t.Context(), drawQueue(t, n), 5); err != nil {
			t.Error(err)
		}
	})
}

// A rate changed in one state of a good queue is found, and that state is one of the two named.
func TestCheckFindsOneBadState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 3).Draw(t, "classes")
		q := drawHierarchy(t, n).q
		total := q.TotalRate
		bad := drawState(t, n, 4)
		if len(bad) == 0 || slices.Max(bad) == slices.Min(bad) {
			bad = []int{1, 0}
		}
		off := rat(int64(rapid.SampledFrom([]int{-1, 1}).Draw(t, "sign")), 7)
		p := &Queue{ArrivalRates: q.ArrivalRates, OrderedRate: func(c []int) *big.Rat {
			mu := total(counts(n, c))
			if slices.Equal(c, bad) {
				return mu.Add(mu, off)
			}
			return mu
		}}
		err := CheckOrder(t.Context(), p, 5)
		var e *RateError
		if !errors.As(err, &e) {
			t.Fatalf("bad state %v: error %v", bad, err)
		}
		if !slices.Equal(e.State, bad) && !slices.Equal(e.Other, bad) {
			t.Errorf("bad state %v, error %v", bad, err)
		}
		if err := CheckOrder(t.Context(), p, len(bad)-1); err != nil {
			t.Errorf("too short to see %v: %v", bad, err)
		}
	})
}

func TestCheckMessages(t *testing.T) {
	one := rats(t, "1", "1")
	constant := func(r *big.Rat) func([]int) *big.Rat { return func([]int) *big.Rat { return r } }
	for want, q := range map[string]*Queue{
		"oiqueue: the rate depends on the order of the jobs: μ(1 0) = 2 but μ(0 1) = 1": {
			ArrivalRates: one,
			OrderedRate:  func(c []int) *big.Rat { return rat(int64(c[0]+1), 1) },
		},
		"oiqueue: the rate falls when a job arrives: μ(0 1) = 1/2 but μ(0) = 1": {
			ArrivalRates: one,
			OrderedRate:  func(c []int) *big.Rat { return rat(1, int64(len(c))) },
			Saturation:   []int{9, 9},
		},
		"oiqueue: the rate falls when a job arrives: μ(0 0) = 1/2 but μ(0) = 1": {
			ArrivalRates: one,
			TotalRate:    func(x []int) *big.Rat { return rat(1, int64(x[0]+x[1])) },
			Saturation:   []int{9, 9},
		},
		"oiqueue: the rate of a non-empty queue is not positive: μ(0) = 0": {
			ArrivalRates: one,
			TotalRate:    constant(rat(0, 1)),
		},
		"oiqueue: the rate of a non-empty queue is not positive: μ(0) = nil": {
			ArrivalRates: one,
			OrderedRate:  constant(nil),
		},
		"oiqueue: the rate still changes beyond the numbers of jobs in Saturation: μ(0 0 0) = 3 but μ(0 0) = 2": {
			ArrivalRates: one,
			TotalRate:    func(x []int) *big.Rat { return rat(int64(x[0]+x[1]), 1) },
			Saturation:   []int{2, 2},
		},
		"Rank[3] = 1: want at least Rank[2] = 2: the rate with classes [1] present cannot fall when class 0 joins": {
			ArrivalRates: one,
			Rank:         rats(t, "0", "1", "2", "1"),
		},
		"Rank[3] = -1: want a number > 0, the rate with classes [0 1] present": {
			ArrivalRates: one,
			Rank:         rats(t, "0", "1", "2", "-1"),
		},
		"Rank[2] is missing: want a number > 0, the rate with classes [1] present": {
			ArrivalRates: one,
			Rank:         []*big.Rat{nil, rat(1, 1), nil, rat(3, 1)},
		},
	} {
		q := q
		check := func(err error) {
			t.Helper()
			if err == nil || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
		}
		if want == "oiqueue: the rate falls when a job arrives: μ(0 1) = 1/2 but μ(0) = 1" {
			q.OrderedRate = func(c []int) *big.Rat { // falls for the mixed pair only
				if len(c) == 2 && c[0] != c[1] {
					return rat(1, 2)
				}
				return rat(1, 1)
			}
		}
		check(CheckOrder(t.Context(), q, 4))
		if q.Rank != nil {
			_, err := FromTable(t.Context(), q.ArrivalRates, q.Rank)
			check(err)
			_, err = Stationary(t.Context(), q, exactly)
			check(err)
			if e := new(num.InputError); !errors.As(err, &e) {
				t.Errorf("%v is no InputError", err)
			}
		}
	}
}

// The solvers check the rates they tabulate.
func TestSolversCheckRates(t *testing.T) {
	one := rats(t, "1/9", "1/9")
	for reason, q := range map[error]*Queue{
		ErrNotMonotone: {
			ArrivalRates: one,
			TotalRate:    func(x []int) *big.Rat { return rat(1, int64(x[0]+x[1])) },
			Saturation:   []int{2, 2},
		},
		ErrNotPositive: {
			ArrivalRates: one,
			TotalRate:    func(x []int) *big.Rat { return rat(int64(2-x[0]-x[1]), 1) },
			Saturation:   []int{2, 2},
		},
		ErrNotSaturated: {
			ArrivalRates: one,
			TotalRate:    func(x []int) *big.Rat { return rat(int64(x[0]+x[1]), 1) },
			Saturation:   []int{2, 2},
		},
	} {
		for _, err := range []error{
			func() error { _, err := Stationary(t.Context(), q, exactly); return err }(),
			func() error { _, err := Stationary(t.Context(), q, Settings{}); return err }(),
		} {
			if !errors.Is(err, reason) {
				t.Errorf("error %v, want %v", err, reason)
			}
		}
		if _, err := Truncated(t.Context(), q, 3); reason != ErrNotSaturated && !errors.Is(err, reason) {
			t.Errorf("Truncated: error %v, want %v", err, reason)
		}
	}
}
