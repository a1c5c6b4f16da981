package cube

// The inner loops of the sweeps in Go. They define what those in kernels_amd64.s compute: the same
// operations on each number in the same order, so all processors give the same digits. A product in
// a sum is converted to float64, which keeps compilers from fusing the two.

type (
	block = [BlockSize]float64
	words = [BlockSize]int64
	four  = [4]float64
	eight = [8]float64
)

// kernels are the inner loops for one kind of processor.
type kernels struct {
	pull       func(sum *block, factor float64, start *block, table []float64, others []int)
	up         func(x, sum, product *block, from, less *block, plus float64, low *block) (least float64)
	down       func(x, sum, product *block, from, less *block, plus float64) (least float64)
	shift      func(out, from, less *block, plus float64)
	shiftWords func(out, from, less *words, plus int64)
	roundWords func(out *block, from, less *words, plus int64, unit float64)
	fold       func(f *folded, y *block)
	tally      func(hi, lo []float64, queries []query, f *folded, b int, factor float64)
}

func inGo() kernels {
	return kernels{pull: pull, up: up, down: down, shift: shift, shiftWords: shiftWords, roundWords: roundWords,
		fold: fold, tally: tally}
}

// pull sets sum to factor·start plus the other blocks of the table, given by number, in order.
func pull(sum *block, factor float64, start *block, table []float64, others []int) {
	other := func(k int) *block { return (*block)(table[others[k]<<LowBits:]) }
	k := len(others) % 4 // number of blocks added at once
	switch k {
	case 0:
		for i := 0; i < BlockSize; i += 4 {
			x, s := (*four)(sum[i:]), (*four)(start[i:])
			x[0], x[1], x[2], x[3] = factor*s[0], factor*s[1], factor*s[2], factor*s[3]
		}
	case 1:
		a := other(0)
		for i := 0; i < BlockSize; i += 4 {
			x, s, a := (*four)(sum[i:]), (*four)(start[i:]), (*four)(a[i:])
			x[0], x[1] = float64(factor*s[0])+a[0], float64(factor*s[1])+a[1]
			x[2], x[3] = float64(factor*s[2])+a[2], float64(factor*s[3])+a[3]
		}
	case 2:
		a, b := other(0), other(1)
		for i := 0; i < BlockSize; i += 4 {
			x, s, a, b := (*four)(sum[i:]), (*four)(start[i:]), (*four)(a[i:]), (*four)(b[i:])
			x[0], x[1] = float64(factor*s[0])+a[0]+b[0], float64(factor*s[1])+a[1]+b[1]
			x[2], x[3] = float64(factor*s[2])+a[2]+b[2], float64(factor*s[3])+a[3]+b[3]
		}
	case 3:
		a, b, c := other(0), other(1), other(2)
		for i := 0; i < BlockSize; i += 4 {
			x, s, a, b, c := (*four)(sum[i:]), (*four)(start[i:]), (*four)(a[i:]), (*four)(b[i:]), (*four)(c[i:])
			x[0], x[1] = float64(factor*s[0])+a[0]+b[0]+c[0], float64(factor*s[1])+a[1]+b[1]+c[1]
			x[2], x[3] = float64(factor*s[2])+a[2]+b[2]+c[2], float64(factor*s[3])+a[3]+b[3]+c[3]
		}
	}
	for ; k < len(others); k += 4 {
		add4(sum, other(k), other(k+1), other(k+2), other(k+3))
	}
}

// add4 adds a, b, c and d to x.
func add4(x, a, b, c, d *block) {
	for i := 0; i < BlockSize; i += 4 {
		p, q, r, s, t := (*four)(x[i:]), (*four)(a[i:]), (*four)(b[i:]), (*four)(c[i:]), (*four)(d[i:])
		p[0] = p[0] + q[0] + r[0] + s[0] + t[0]
		p[1] = p[1] + q[1] + r[1] + s[1] + t[1]
		p[2] = p[2] + q[2] + r[2] + s[2] + t[2]
		p[3] = p[3] + q[3] + r[3] + s[3] + t[3]
	}
}

// bySize lists the masks of five elements by increasing size: masks of one size do not
// depend on each other, which hides the latency of the divisions.
var bySize = [32]uint8{
	0, 1, 2, 4, 8, 16,
	3, 5, 6, 9, 10, 12, 17, 18, 20, 24,
	7, 11, 13, 14, 19, 21, 22, 25, 26, 28,
	15, 23, 27, 29, 30, 31,
}

// up finishes a block on the way up. sum is the sum over the high elements. The terms of elements
// 3..7 are added in increasing order, then 2, 1 and 0. The sum is then multiplied by the reciprocal
// of d = (from + plus) - less. x gets H, product H·low. least is the smallest d.
func up(x, sum, product *block, from, less *block, plus float64, low *block) (least float64) {
	least = from[0] + plus - less[0]
	for _, g := range bySize {
		j := 8 * int(g&31)
		d := reciprocals{}
		least = d.set((*eight)(from[j:]), (*eight)(less[j:]), plus, least)
		p := (*eight)(sum[j:])
		x0, x1, x2, x3, x4, x5, x6, x7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
		for h := int(g & 31); h != 0; h &= h - 1 {
			q := (*eight)(x[(j^8*(h&-h))&255:])
			x0 += q[0]
			x1 += q[1]
			x2 += q[2]
			x3 += q[3]
			x4 += q[4]
			x5 += q[5]
			x6 += q[6]
			x7 += q[7]
		}
		x0 = float64(x0 * d[0])
		x1 = float64((x1 + x0) * d[1])
		x2 = float64((x2 + x0) * d[2])
		x4 = float64((x4 + x0) * d[4])
		x3 = float64(((x3 + x1) + x2) * d[3])
		x5 = float64(((x5 + x1) + x4) * d[5])
		x6 = float64(((x6 + x2) + x4) * d[6])
		x7 = float64((((x7 + x3) + x5) + x6) * d[7])
		o, y, l := (*eight)(x[j:]), (*eight)(product[j:]), (*eight)(low[j:])
		o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7] = x0, x1, x2, x3, x4, x5, x6, x7
		y[0], y[1], y[2], y[3] = x0*l[0], x1*l[1], x2*l[2], x3*l[3]
		y[4], y[5], y[6], y[7] = x4*l[4], x5*l[5], x6*l[6], x7*l[7]
	}
	return least
}

// down finishes a block on the way down, as up does upwards: V takes the place of H in x, product
// gets V·H.
func down(x, sum, product *block, from, less *block, plus float64) (least float64) {
	least = from[BlockSize-1] + plus - less[BlockSize-1]
	for _, g := range bySize {
		k := 31 &^ int(g)
		j := 8 * k
		d := reciprocals{}
		least = d.set((*eight)(from[j:]), (*eight)(less[j:]), plus, least)
		p := (*eight)(sum[j:])
		x0, x1, x2, x3, x4, x5, x6, x7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
		for h := 31 &^ k; h != 0; h &= h - 1 {
			q := (*eight)(x[(j|8*(h&-h))&255:])
			x0 += q[0]
			x1 += q[1]
			x2 += q[2]
			x3 += q[3]
			x4 += q[4]
			x5 += q[5]
			x6 += q[6]
			x7 += q[7]
		}
		x7 = float64(x7 * d[7])
		x6 = float64((x6 + x7) * d[6])
		x5 = float64((x5 + x7) * d[5])
		x3 = float64((x3 + x7) * d[3])
		x4 = float64(((x4 + x6) + x5) * d[4])
		x2 = float64(((x2 + x6) + x3) * d[2])
		x1 = float64(((x1 + x5) + x3) * d[1])
		x0 = float64((((x0 + x4) + x2) + x1) * d[0])
		o, y := (*eight)(x[j:]), (*eight)(product[j:])
		y[0], y[1], y[2], y[3] = x0*o[0], x1*o[1], x2*o[2], x3*o[3]
		y[4], y[5], y[6], y[7] = x4*o[4], x5*o[5], x6*o[6], x7*o[7]
		o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7] = x0, x1, x2, x3, x4, x5, x6, x7
	}
	return least
}

type reciprocals [8]float64

// set sets r to the reciprocals of (from + plus) - less and returns the smallest of these and
// least.
func (r *reciprocals) set(from, less *eight, plus, least float64) float64 {
	for i := range r {
		d := from[i] + plus - less[i]
		r[i] = 1 / d
		if d < least {
			least = d
		}
	}
	return least
}

// shift sets out to (from + plus) - less. The result is exact.
func shift(out, from, less *block, plus float64) {
	for i := 0; i < BlockSize; i += 4 {
		o, p, q := (*four)(out[i:]), (*four)(from[i:]), (*four)(less[i:])
		o[0], o[1], o[2], o[3] = p[0]+plus-q[0], p[1]+plus-q[1], p[2]+plus-q[2], p[3]+plus-q[3]
	}
}

// shiftWords is shift for integers.
func shiftWords(out, from, less *words, plus int64) {
	for i := range out {
		out[i] = from[i] + plus - less[i]
	}
}

// roundWords sets out to (from + plus) - less, rounded to nearest, times the unit, a power of two.
func roundWords(out *block, from, less *words, plus int64, unit float64) {
	for i := range out {
		out[i] = float64(from[i]+plus-less[i]) * unit
	}
}

// folded holds sums of a block over elements 5..7, at the masks of elements 0..4. Row m < 8 sums
// over the subsets that meet mask m of these elements, so row 0 holds zeros; row allBits sums
// over all subsets.
type folded [9][32]float64

const allBits = 8

// fold sums a block over elements 5..7.
func fold(f *folded, y *block) {
	for j := range 32 {
		y0, y1, y2, y3, y4, y5, y6, y7 := y[j], y[j+32], y[j+64], y[j+96], y[j+128], y[j+160], y[j+192], y[j+224]
		y15, y23, y67 := y1+y5, y2+y3, y6+y7
		y4567 := (y4 + y5) + y67
		y123 := y1 + y23
		f[1][j] = y15 + (y3 + y7)
		f[2][j] = y23 + y67
		f[3][j] = y15 + (y23 + y67)
		f[4][j] = y4567
		f[5][j] = (y1 + y3) + y4567
		f[6][j] = y23 + y4567
		f[7][j] = y123 + y4567
		f[allBits][j] = (y0 + y123) + y4567
	}
}

// A query requests the sum over the subsets that meet a mask of elements.
type query struct {
	meet int // row of folded: elements 5..7 of the mask
	pick int // elements 0..4 of the mask, or allSets
	high int // high elements of the mask, as those of a block
}

// allSets requests the sum over all subsets.
const allSets = 32

// tally adds the answers to queries about block b, times factor, to the sums hi + lo, as [num.Sum]
// does. If the block meets the high elements of a query, the answer is the sum of the block. The
// lengths of hi, lo and queries are equal and multiples of four.
func tally(hi, lo []float64, queries []query, f *folded, b int, factor float64) {
	a0, a1, a2, a3 := sumLanes(&f[allBits], &f[allBits], 0)
	hi, lo = hi[:len(queries)], lo[:len(queries)]
	for i := range queries {
		q := &queries[i]
		s0, s1, s2, s3 := a0, a1, a2, a3
		switch {
		case q.high&b != 0 || q.pick == allSets:
		case q.meet|q.pick == 0:
			s0, s1, s2, s3 = 0, 0, 0, 0
		default:
			s0, s1, s2, s3 = sumLanes(&f[q.meet&7], &f[allBits], q.pick>>2&7)
			if q.pick&1 != 0 { // all masks of lanes 1 and 3 meet the query
				s1, s3 = a1, a3
			}
			if q.pick&2 != 0 {
				s2, s3 = a2, a3
			}
		}
		x := float64(((s0 + s1) + (s2 + s3)) * factor)
		hi[i], lo[i] = addCompensated(hi[i], lo[i], x)
	}
}

// sumLanes sums the masks of elements 0..4 in four lanes, by elements 0 and 1, by halves: from row
// all where elements 2..4 meet the given mask, otherwise from row meet.
func sumLanes(meet, all *[32]float64, mask int) (s0, s1, s2, s3 float64) {
	rows := [2]*[32]float64{meet, all}
	m := &meeting[mask&7]
	a, b, c, d := (*four)(rows[m[0]&1][0:]), (*four)(rows[m[1]&1][4:]), (*four)(rows[m[2]&1][8:]),
		(*four)(rows[m[3]&1][12:])
	e, f, g, h := (*four)(rows[m[4]&1][16:]), (*four)(rows[m[5]&1][20:]), (*four)(rows[m[6]&1][24:]),
		(*four)(rows[m[7]&1][28:])
	s0 = ((a[0] + b[0]) + (c[0] + d[0])) + ((e[0] + f[0]) + (g[0] + h[0]))
	s1 = ((a[1] + b[1]) + (c[1] + d[1])) + ((e[1] + f[1]) + (g[1] + h[1]))
	s2 = ((a[2] + b[2]) + (c[2] + d[2])) + ((e[2] + f[2]) + (g[2] + h[2]))
	s3 = ((a[3] + b[3]) + (c[3] + d[3])) + ((e[3] + f[3]) + (g[3] + h[3]))
	return s0, s1, s2, s3
}

// meeting reports, for two masks of three elements, whether they meet. It is never changed.
var meeting = [8][8]uint8{
	{},
	{0, 1, 0, 1, 0, 1, 0, 1},
	{0, 0, 1, 1, 0, 0, 1, 1},
	{0, 1, 1, 1, 0, 1, 1, 1},
	{0, 0, 0, 0, 1, 1, 1, 1},
	{0, 1, 0, 1, 1, 1, 1, 1},
	{0, 0, 1, 1, 1, 1, 1, 1},
	{0, 1, 1, 1, 1, 1, 1, 1},
}
