package consecutive

import (
	"context"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// seriesTogether is the number of products of series in one partial sum.
const seriesTogether = 8

// Total returns Z[0..jobs], the coefficients of Z(zλ), which obey
//
//	M(K) z_K[n] = Σ_{t∈K} C_t Σ_m z_before[m] z_after[n-m] + λ(K) z_K[n-1].
//
// Each number of the upward pass of [Chain.Solve] becomes a series, and each product of numbers
// becomes (jobs+1)(jobs+2)/2 products. z[n] is multiplied by the n-th power of M/λ of all servers,
// to keep the coefficients of similar size.
//
// Errors are relative. With products in a additions, z[n] of l servers is within (a+9) l + 9 n
// roundings. This holds because a product of z[m] of k servers and z[n-m] of l-1-k servers, with
// the capacity, adds three, the sum one, the quotient one and M three; λ z[n-1] adds one for its
// power. The power is removed by n divisions. Coefficients below least count as 0 in the lower
// bounds; if there are any, upper bounds are computed with least in their place.
//
// The error is [num.ErrFloatRange] or that of the context.
func (c *Chain) Total(ctx context.Context, jobs int) ([]arithmetic.Number, error) {
	w := &sweep{Chain: c, stop: recursion.Cancellation{Ctx: ctx}}
	if err := w.prepare(); err != nil {
		return nil, err
	}
	x := &totals{sweep: w, terms: jobs + 1, tilt: (w.whole.slack + w.whole.rate) / w.whole.rate}
	if !(x.tilt <= most) {
		return nil, num.ErrFloatRange
	}
	low, err := x.up(0)
	if err != nil {
		return nil, err
	}
	high := low
	if x.small {
		if high, err = x.up(least); err != nil {
			return nil, err
		}
	}
	additions := recursion.ProductAdditions(seriesTogether, jobs+1) + float64(c.servers/seriesTogether) + 2
	z := make([]arithmetic.Number, jobs+1)
	power := arithmetic.NewWide(1, 0)
	for k, v := range low {
		if !(v >= least) {
			return nil, num.ErrFloatRange
		}
		e := arithmetic.Roundings((additions+9)*float64(c.servers) + 10*float64(k+1))
		gap := (high[k] - v) / v * (1 + 2*e) / (1 - 2*e)
		z[k] = arithmetic.FromWide(arithmetic.NewWide(v, 0).Over(power), arithmetic.Compound(e, max(0, gap), 4*e))
		power = power.Times(arithmetic.NewWide(x.tilt, 0))
	}
	return z, nil
}

// totals holds the series of all intervals.
type totals struct {
	*sweep
	terms       int     // number of terms of a series
	tilt        float64 // coefficient n is multiplied by the n-th power of tilt
	small       bool    // some coefficient was below least
	from, taken [][]float64

	part, sum []float64 // sums of products
	parts     int       // number of products in part
}

// of returns the series of an interval.
func (x *totals) of(row []float64, l int) []float64 { return row[l*x.terms:][:x.terms] }

// rows returns a table of series, laid out like a table of numbers.
func (x *totals) rows(before bool) [][]float64 {
	table := make([][]float64, x.servers+1)
	for i := range table {
		table[i] = make([]float64, (x.longest(i, before)+1)*x.terms)
	}
	return table
}

// up computes the series of all intervals, and returns the series of all servers. Coefficients
// below least are replaced by floor.
func (x *totals) up(floor float64) ([]float64, error) {
	n := x.servers
	if x.from == nil {
		x.from, x.taken = x.rows(false), x.rows(true)
		x.part, x.sum = make([]float64, x.terms), make([]float64, x.terms)
	}
	for i := range x.from {
		x.from[i][0] = 1
		if i > 0 || x.Ring {
			x.taken[i][0] = x.capacityBefore(i)
		}
	}
	err := x.ascend(n, func(i, j, l int) error {
		taken := x.row(x.taken, j)
		for k := range l {
			if err := x.stop.After(x.terms * (x.terms + 8) / 4); err != nil {
				return err
			}
			x.add(x.of(x.from[i], k), x.of(taken, l-1-k))
		}
		z := x.of(x.from[i], l)
		if err := x.finish(z, x.loads[i][l], floor); err != nil {
			return err
		}
		if i > 0 || x.Ring {
			c := x.capacityBefore(i)
			for m, v := range z {
				x.of(taken, l)[m] = v * c
			}
		}
		return nil
	})
	if err != nil || !x.Ring {
		return x.of(x.from[0], x.longest(0, false)), err
	}
	z := make([]float64, x.terms)
	for s := range n { // the server before s is removed from the ring
		x.add(x.of(x.from[s], 0), x.of(x.row(x.taken, s+n-1), n-1))
	}
	return z, x.finish(z, x.whole, floor)
}

// add adds a product.
func (x *totals) add(a, b []float64) {
	recursion.AddProduct(x.part, a, b)
	if x.parts++; x.parts == seriesTogether {
		x.flush()
	}
}

func (x *totals) flush() {
	for m, v := range x.part {
		x.sum[m] += v
	}
	clear(x.part)
	x.parts = 0
}

// finish sets z to the series of servers with this load from the accumulated products, and resets
// them.
func (x *totals) finish(z []float64, of load, floor float64) error {
	x.flush()
	rate, capacity := of.rate*x.tilt, of.slack+of.rate
	previous := 0.0
	for m, v := range x.sum {
		v = (v + float64(rate*previous)) / capacity
		switch {
		case v > 0 && v < least:
			x.small = true
			v = floor
		case !(v <= most):
			return num.ErrFloatRange
		}
		z[m], previous = v, v
	}
	clear(x.sum)
	return nil
}
