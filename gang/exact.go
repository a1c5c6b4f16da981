package gang

import (
	"context"
	"math/big"

	"productform/num"
)

// limitExact returns λ* as a fraction: it solves λ* - Qv = r for λ* and all v but one, in integers
// without fractions (Bareiss, "Sylvester's identity and multistep integer-preserving Gaussian
// elimination", Mathematics of Computation 22, 1968), in O(S³) operations on numbers of up to S
// rows.
func (s *states) limitExact(ctx context.Context) (*big.Rat, error) {
	n := len(s.x)
	rows, err := s.exactRows(ctx)
	if err != nil {
		return nil, err
	}
	last := big.NewInt(1)
	for c := range n - 1 {
		pivot := c
		for pivot < n && rows[pivot][c].Sign() == 0 {
			pivot++
		}
		if pivot == n {
			panic("gang: singular chain") // all states reach each other
		}
		rows[c], rows[pivot] = rows[pivot], rows[c]
		x := new(big.Int)
		for r := c + 1; r < n; r++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f := rows[r][c]
			for k := c + 1; k <= n; k++ {
				y := rows[r][k]
				y.Mul(y, rows[c][c])
				if f.Sign() != 0 {
					y.Sub(y, x.Mul(f, rows[c][k]))
				}
				y.Quo(y, last)
			}
		}
		last = rows[c][c]
	}
	return new(big.Rat).SetFrac(rows[n-1][n], rows[n-1][n-1]), nil
}

// exactRows returns the equations λ* - (Qv)(x) = r(x), each multiplied by an integer that makes it
// integer. The columns are the v(x) except the first, λ* and r.
func (s *states) exactRows(ctx context.Context) ([][]*big.Int, error) {
	n := len(s.x)
	after := make([]map[int32]*big.Rat, n) // distribution after a refill
	blocked := make([]*big.Rat, n)
	for y := n - 1; y >= 0; y-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		blocked[y] = s.blockedExact(y)
		after[y] = map[int32]*big.Rat{int32(y): blocked[y]}
		s.starts(y, func(k int, to int32) { addMultiple(after[y], s.classes[k].share, after[to]) })
	}
	rows := make([][]*big.Int, n)
	for x := range n {
		row, rate := map[int32]*big.Rat{}, new(big.Rat)
		s.departures(x, func(d *departure) {
			each := big.NewRat(int64(s.x[x][d.class]), 1)
			each.Quo(each, s.classes[d.class].mean)
			rate.Add(rate, each)
			each = new(big.Rat).Quo(each, blocked[x])
			for h, k := range d.heads {
				addMultiple(row, new(big.Rat).Mul(each, s.classes[k].share), after[d.after[h]])
			}
			if d.stay >= 0 {
				addMultiple(row, each, map[int32]*big.Rat{d.stay: blocked[d.stay]})
			}
		})
		addMultiple(row, big.NewRat(-1, 1), map[int32]*big.Rat{int32(x): rate})
		unit := new(big.Int).Set(rate.Denom())
		for _, q := range row {
			num.JoinDenominator(unit, q)
		}
		whole := func(q *big.Rat) *big.Int {
			v := new(big.Int).Mul(q.Num(), unit)
			return v.Quo(v, q.Denom())
		}
		rows[x] = make([]*big.Int, n+1)
		for to := 1; to < n; to++ {
			rows[x][to-1] = new(big.Int)
			if q := row[int32(to)]; q != nil {
				rows[x][to-1] = whole(new(big.Rat).Neg(q))
			}
		}
		rows[x][n-1], rows[x][n] = new(big.Int).Set(unit), whole(rate)
	}
	return rows, nil
}

// blockedExact returns T(x).
func (s *states) blockedExact(i int) *big.Rat {
	free, t := s.free(s.x[i]), new(big.Rat)
	for k, c := range s.classes {
		if !s.fits(k, free) {
			t.Add(t, c.share)
		}
	}
	return t
}

// addMultiple adds f times b to a.
func addMultiple(a map[int32]*big.Rat, f *big.Rat, b map[int32]*big.Rat) {
	for to, p := range b {
		x := new(big.Rat).Mul(f, p)
		if a[to] != nil {
			x.Add(x, a[to])
		}
		a[to] = x
	}
}
