package exact

import (
	"math/big"
	"testing"

	"productform/num"
)

// The bounds of what is beyond N hold Γ(z, N), computed elsewhere to 40 digits, for N so small that the bounds are close.
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
		got, err := beyond(c.z, num.FromRat(c.far, 100), 100)
		if err != nil || !got.Contains(want) {
			t.Errorf("Γ(%v, %v) = %s is not in %v, %v", c.z, c.far, c.want, got, err)
		}
	}
}
