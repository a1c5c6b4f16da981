package exact

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"productform/num"
)

// The bounds on the integral beyond N contain Γ(z, N), computed independently to 40 digits, for N
// so small that the bounds are close.
func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		z, far *big.Rat
		want   string
	}{
		{ratio(1, 10), ratio(1, 1), "0.229535670288846038279077214765176820174"},
		{ratio(1, 2), ratio(1, 1), "0.2788055852806619764992326110774391720885"},
		{ratio(1, 2), ratio(4, 1), "0.008291069380672667363205411513037108349446"},
		{ratio(9, 10), ratio(2, 1), "0.12183956486597918555527450573046361231"},
		{ratio(1, 1), ratio(3, 1), "0.0497870683678639429793424156500617766317"},
		{ratio(5, 2), ratio(2, 1), "0.7303608140431147358169853111987297136149"},
	} {
		want, _, err := big.ParseFloat(c.want, 10, 200, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		got, err := enclosePastEnd(c.z, num.FromRat(c.far, 100), 100)
		if err != nil || !got.Contains(want) {
			t.Errorf("Γ(%v, %v) = %s is not in %v, %v", c.z, c.far, c.want, got, err)
		}
	}
}

// Γ(z) has nearly all of its bits: what lies beyond the end of the series is negligible.
func TestCompleteGamma(t *testing.T) {
	for _, prec := range []uint{64, 128, 256} {
		for _, z := range []*big.Rat{ratio(1, 1000), ratio(1, 2), ratio(21, 2), ratio(81, 2), ratio(301, 2)} {
			v, err := newIncompleteGamma(context.Background(), prec).upper(z, num.FromInt(0, prec))
			if most := math.Ldexp(1, 16-int(prec)); err != nil || !(v.RelWidth() < most) {
				t.Errorf("Γ(%v) with %d bits: width %g, want at most %g, %v", z, prec, v.RelWidth(), most, err)
			}
		}
	}
}

// Γ(z, t) with few bits, by the asymptotic series, contains that with many, by the series for γ(z,
// t), and is about as narrow as its bits allow.
func TestDistantGamma(t *testing.T) {
	few, more := newIncompleteGamma(context.Background(), 96), newIncompleteGamma(context.Background(), 1600)
	for _, z := range []*big.Rat{
		ratio(-19, 1), ratio(-13, 3), ratio(-1, 2), ratio(0, 1), ratio(1, 10), ratio(1, 2), ratio(3, 2),
		ratio(37, 10), ratio(81, 2),
	} {
		for _, far := range []int64{220, 300, 401} {
			coarse, err := few.upper(z, num.FromInt(far, 96))
			fine, errFine := more.upper(z, num.FromInt(far, 1600))
			if err != nil || errFine != nil {
				t.Fatal(err, errFine)
			}
			if !coarse.Contains(fine.Low) || !coarse.Contains(fine.High) || coarse.RelWidth() > 0x1p-80 ||
				fine.RelWidth() > 0x1p-800 {
				t.Errorf("Γ(%v, %d): %v does not hold %v", z, far, coarse, fine)
			}
		}
	}
	// computed elsewhere
	for _, c := range []struct {
		z    *big.Rat
		far  int64
		want string
	}{
		{ratio(1, 2), 1000, "1.604357763864243811377237561860174873446e-436"},
		{ratio(-1, 2), 1000, "1.602757402224865733798904750726677929952e-439"},
		{ratio(37, 10), 500, "1.387793607883527964915658329677241997292e-210"},
		{ratio(0, 1), 700, "1.406518766234032922774410685110643005117e-307"},
		{ratio(-19, 1), 400, "1.659079257856576217313841898830663474161e-226"},
		{ratio(81, 2), 400, "1.284104724468821460829458875557061025242e-71"},
	} {
		want, _, err := big.ParseFloat(c.want, 10, 200, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		got, err := newIncompleteGamma(context.Background(), 100).upper(c.z, num.FromInt(c.far, 100))
		if err != nil || !got.Contains(want) {
			t.Errorf("Γ(%v, %d) = %s is not in %v, %v", c.z, c.far, c.want, got, err)
		}
	}
}

// A series with too many terms is rejected before its first one, and a running one stops with its
// context.
func TestSeriesStops(t *testing.T) {
	wide := num.Interval{Low: num.FromInt(1, 100).Low, High: num.FromInt(1e8, 100).High}
	ctx, cancel := context.WithCancel(context.Background())
	e, err := Weibull{Shape: ratio(3, 2), Mean: ratio(1, 1)}.Enclose(ctx, 2000)
	if err != nil {
		t.Fatal(err)
	}
	for _, z := range []*big.Rat{ratio(0, 1), ratio(1, 3), ratio(-1, 3)} {
		if _, err := newIncompleteGamma(ctx, 100).upper(z, wide); !errors.Is(err, ErrMoreBits) {
			t.Errorf("Γ(%v, [1, 1e8]): %v", z, err)
		}
	}
	cancel()
	if _, err := e.At(ratio(1, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a point, cancelled: %v", err)
	}
	for _, z := range []*big.Rat{ratio(0, 1), ratio(1, 3), ratio(-1, 3)} {
		if _, err := newIncompleteGamma(ctx, 2000).upper(z, num.FromInt(1, 2000)); !errors.Is(err, context.Canceled) {
			t.Errorf("Γ(%v, 1), cancelled: %v", z, err)
		}
	}
}
