package convolution

import "math"

// Every nonzero number of a segment is in [2^-leastBits, 2^mostBits). In a segment of length 1 it
// is within 2^±aloneBits.
const leastBits, mostBits, aloneBits = 400, 200, 60

// apartBits is the largest difference of exponents of terms whose products cannot underflow.
const apartBits = 200

// bitsOf returns the bits of 2^e.
func bitsOf(e int) uint64 { return uint64(1023+e) << 52 }

// power returns 2^e for e <= 0, or 0 for very small e.
func power(e int) float64 {
	if e < -1000 {
		return 0
	}
	return math.Float64frombits(bitsOf(e))
}

// A step computes one segment as a sum of others times factors.
type step struct {
	alone       bool // whether the segment has length 1
	terms       bool // whether there are any terms
	least, most int  // smallest and largest exponent of the terms; the result has the largest exponent
	vanishing   bool // whether numbers of the segment may underflow to 0 within it
	lost        bool
}

// take registers a term with the given exponent.
func (s *step) take(e int) {
	switch {
	case e == absent:
	case !s.terms:
		s.least, s.most, s.terms = e, e, true
	default:
		s.least, s.most = min(s.least, e), max(s.most, e)
	}
}

// scale returns the factor for a term with the given exponent.
func (s *step) scale(e int) float64 {
	if e == absent {
		return 0
	}
	return power(e - s.most)
}

// settle returns the exponent of a newly computed segment, and rescales it if it grew or shrank.
//
// Terms are at most 2^(mostBits+1), and scales at most 1. Unless terms are apart, every product is
// at least 2^(-leastBits-apartBits-2): none underflows. Otherwise terms that underflow, or are
// omitted for a scale below 2^-1000, are below 2^(mostBits+1-1000); every number must then be at
// least 2^-leastBits, so they are less than 2^-390 of it. The number of a segment of length 1 is at
// least the term with the largest exponent.
func (s *step) settle(x []float64) int {
	if !s.terms {
		return absent
	}
	least, most := bitsOf(-leastBits), bitsOf(mostBits)
	if s.alone {
		least, most = bitsOf(-aloneBits), bitsOf(aloneBits)
	}
	var out uint64 // its sign bit is set if a number is out of range
	for _, v := range x {
		b := math.Float64bits(v)
		out |= (b - least) | (most - b)
	}
	if int64(out) >= 0 {
		return s.most
	}
	return s.rescale(x)
}

// rescale does the same as settle for numbers that include 0 or a number out of range.
func (s *step) rescale(x []float64) int {
	least, most := math.Inf(1), 0.0
	zero := false
	for _, v := range x {
		if v == 0 {
			zero = true
			continue
		}
		least, most = min(least, v), max(most, v)
	}
	apart := s.vanishing || s.most-s.least > apartBits
	if !(most <= math.MaxFloat64) || apart && (zero || least < 0x1p-400) {
		s.lost = true
		return s.most
	}
	if most == 0 {
		return absent
	}
	_, e := math.Frexp(most)
	s.lost = s.lost || least < math.Ldexp(0x1p-400, e)
	for e > 0 {
		part := min(e, 1000)
		scale(x, power(-part))
		s.most, e = s.most+part, e-part
	}
	for e < 0 {
		part := min(-e, 1000)
		scale(x, 1/power(-part))
		s.most, e = s.most-part, e+part
	}
	return s.most
}

func scale(x []float64, by float64) {
	for j := range x {
		x[j] *= by
	}
}

// A neighbour is the row at n - e_k, with the factor d_k.
type neighbour struct {
	factor
	row int
}

// A rowStep computes rows of t: w from + Σ_k d_k t(n - e_k).
type rowStep struct {
	t, from *Float
	w       float64
	own     factor // factor of the last chain
	below   []neighbour
	terms   []term
}

// A term is a segment with its factor.
type term struct {
	c float64
	x []float64
}

// begin returns the step of segment i of a row, with the exponents of all terms registered except
// its own.
func (r *rowStep) begin(row, i int) step {
	t := r.t
	s := step{alone: t.segment == 1, lost: t.lost}
	if r.w != 0 {
		s.take(r.from.exponent[row*t.perRow+i])
	}
	for k := range r.below {
		if e := t.exponent[r.below[k].row*t.perRow+i]; e != absent {
			s.take(e + r.below[k].e)
		}
	}
	return s
}

// previous returns the number before segment i of a row, and the sum of its exponent and that of
// the factor; or absent if there is no such number.
func (r *rowStep) previous(row, i int) (x float64, e int) {
	if i == 0 || r.own.m == 0 {
		return 0, absent
	}
	e = r.t.exponent[row*r.t.perRow+i-1]
	x = r.t.mantissa[row*r.t.lattice.width+i*r.t.segment-1]
	if e == absent || x == 0 {
		return 0, absent
	}
	x, shift := math.Frexp(x) // the last number of a segment may be far smaller than the first
	return x, e + shift + r.own.e
}

// add sets x to of y, and adds the terms of the neighbours to segment i of the row, two at a time.
// x may be y.
func (r *rowStep) add(x []float64, of float64, y []float64, i int, s *step) {
	terms := r.terms[:0]
	for k := range r.below {
		b := &r.below[k]
		if e := r.t.exponent[b.row*r.t.perRow+i]; e != absent {
			first := b.row*r.t.lattice.width + i*r.t.segment
			terms = append(terms, term{b.m * s.scale(e+b.e), r.t.mantissa[first : first+len(x)]})
		}
	}
	switch len(terms) {
	case 0:
		for j, v := range y {
			x[j] = of * v
		}
		return
	case 1:
		c, u := terms[0].c, terms[0].x[:len(x)]
		for j, v := range y {
			x[j] = math.FMA(c, u[j], of*v)
		}
		return
	}
	c, d, u, w := terms[0].c, terms[1].c, terms[0].x[:len(x)], terms[1].x[:len(x)]
	for j, v := range y {
		x[j] = math.FMA(d, w[j], math.FMA(c, u[j], of*v))
	}
	for terms = terms[2:]; len(terms) > 1; terms = terms[2:] {
		c, d, u, w := terms[0].c, terms[1].c, terms[0].x[:len(x)], terms[1].x[:len(x)]
		for j, v := range x {
			x[j] = math.FMA(d, w[j], math.FMA(c, u[j], v))
		}
	}
	if len(terms) > 0 {
		c, u := terms[0].c, terms[0].x[:len(x)]
		for j, v := range x {
			x[j] = math.FMA(c, u[j], v)
		}
	}
}

// computeUpward computes segment i of a row from new numbers.
func (r *rowStep) computeUpward(row, i int) {
	t := r.t
	first := row*t.lattice.width + i*t.segment
	x := t.mantissa[first:min(first+t.segment, (row+1)*t.lattice.width)]
	y := r.from.mantissa[first : first+len(x)]
	s := r.begin(row, i)
	last, e := r.previous(row, i)
	s.take(e)
	if !s.terms {
		clear(x)
		t.exponent[row*t.perRow+i] = absent
		return
	}
	of := r.w * s.scale(r.from.exponent[row*t.perRow+i])
	first0 := r.own.m * s.scale(e) // factor of the number before
	c := 0.0
	if r.own.m != 0 && len(x) > 1 {
		switch {
		case r.own.e > 64:
			s.lost = true
		case r.own.e < -200:
			s.vanishing = true
		}
		c = math.Ldexp(r.own.m, r.own.e)
	}
	if len(r.below) == 0 {
		last = math.FMA(first0, last, of*y[0])
		x[0] = last
		for j := 1; j < len(x); j++ {
			last = math.FMA(c, last, of*y[j])
			x[j] = last
		}
	} else {
		r.add(x, of, y, i, &s)
		last = math.FMA(first0, last, x[0])
		x[0] = last
		for j := 1; j < len(x); j++ {
			last = math.FMA(c, last, x[j])
			x[j] = last
		}
	}
	t.exponent[row*t.perRow+i] = s.settle(x)
	t.lost = s.lost
}

// computeDownward computes segment i of a row from old numbers; the numbers after it are new.
func (r *rowStep) computeDownward(row, i int) {
	t := r.t
	first := row*t.lattice.width + i*t.segment
	x := t.mantissa[first:min(first+t.segment, (row+1)*t.lattice.width)]
	y := r.from.mantissa[first : first+len(x)]
	s := r.begin(row, i)
	last, e := r.previous(row, i)
	s.take(e)
	old := t.exponent[row*t.perRow+i]
	c := 0.0
	if old != absent && r.own.m != 0 && len(x) > 1 {
		s.take(old + r.own.e)
		c = r.own.m * s.scale(old+r.own.e)
	}
	if !s.terms {
		clear(x)
		t.exponent[row*t.perRow+i] = absent
		return
	}
	of := 0.0
	if r.w != 0 {
		of = r.w * s.scale(r.from.exponent[row*t.perRow+i])
	}
	for j := len(x) - 1; j > 0; j-- {
		x[j] = math.FMA(c, x[j-1], of*y[j])
	}
	x[0] = math.FMA(r.own.m*s.scale(e), last, of*y[0])
	if len(r.below) > 0 {
		r.add(x, 1, x, i, &s)
	}
	t.exponent[row*t.perRow+i] = s.settle(x)
	t.lost = s.lost
}
