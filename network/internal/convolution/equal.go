package convolution

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
)

// AreEqual reports whether all stations that closed chains visit are equal, with one server.
func (p *Plan) AreEqual() bool {
	return len(p.Delays) == 0 && len(p.Groups) == 1 && len(p.Groups[0].over) == 1
}

// EqualStations returns the measures of M equal stations with f = 1/(1 - u) and no other stations.
// As [u^j (1-u)^-a](N) is C(|N|-j+a-1, a-1) for all j <= |N| times one factor for all a and j,
//
//	H(N)/G(N) = (M-1)/(|N|+M-1),  X_k D_k = N_k/(|N|+M-1),  [Y_1 H](N - e_k)/G(N) D_k = N_k/M,
//	[Y_1 H](N)/G(N) = (|N|+M)/M,
//
// and the ratio of the j-th power to the previous one is (|N|-j+1)/(|N|-j+M-1).
func (p *Plan) EqualStations(one arithmetic.Number, jobs int) *Result {
	g := p.Groups[0]
	stations, total := int64(len(g.Stations)), int64(p.Jobs)
	if total == 0 {
		zero := one.Zero()
		return &Result{Throughput: slices.Repeat([]arithmetic.Number{zero}, len(p.Most)), Groups: []Measure{
			{
				Empty:  one,
				Some:   &zero,
				Open:   one,
				Closed: slices.Repeat([]arithmetic.Number{zero}, len(p.Most)),
				Powers: []arithmetic.Number{one},
			}}}
	}
	ratio := func(a, b int64) *big.Rat { return big.NewRat(a, b) }
	some := one.Rational(ratio(total, total+stations-1))
	m := Measure{
		Empty: one.Rational(ratio(stations-1, total+stations-1)),
		Some:  &some,
		Open:  one.Rational(ratio(total+stations, stations)),
	}
	r := &Result{}
	for k, n := range p.Most {
		d := g.over[0][k]
		if d.Sign() == 0 { // a chain that visits none of them would visit other stations
			panic("convolution: a closed chain visits no station")
		}
		r.Throughput = append(r.Throughput, one.Rational(new(big.Rat).Quo(ratio(int64(n), total+stations-1), d)))
		m.Closed = append(m.Closed, one.Rational(new(big.Rat).Quo(ratio(int64(n), stations), d)))
	}
	if jobs > 0 {
		x := m.Empty
		if stations == 1 {
			x = one.Zero()
		}
		for j := int64(0); j <= min(int64(jobs), total); j++ {
			switch {
			case j > 0 && total-j+stations-1 > 0:
				x = x.Mul(one.Rational(ratio(total-j+1, total-j+stations-1)))
			case stations == 1 && j == total:
				x = one.One()
			}
			m.Powers = append(m.Powers, x)
		}
	}
	r.Groups = []Measure{m}
	return r
}

// EqualSum returns G(N) = C(|N|+M-1, M-1) |N|!/Π_k N_k! Π_k D_k^N_k of M equal stations. The error
// is that of the context.
func (p *Plan) EqualSum(ctx context.Context, one arithmetic.Number) (arithmetic.Number, error) {
	g, sum, j := p.Groups[0], one, 0
	stop := recursion.Cancellation{Ctx: ctx}
	for k, n := range p.Most {
		d := one.Rational(g.over[0][k])
		for m := range n {
			if err := stop.After(2 * recursion.BigSteps); err != nil {
				return sum, err
			}
			sum = sum.Mul(d).Mul(one.Integer(j + len(g.Stations))).Quo(one.Integer(m + 1))
			j++
		}
	}
	return sum, nil
}
