package cube

import "productform/num"

// The inner loops of the subset sweeps. Array pointers keep bounds checks out; loop bodies are
// written out four or eight wide because the compiler does not unroll.

type four = [4]float64

// set2 sets x to a + b.
func set2(x, a, b *block) {
	for i := 0; i < BlockSize; i += 4 {
		p, q, r := (*four)(x[i:]), (*four)(a[i:]), (*four)(b[i:])
		p[0], p[1], p[2], p[3] = q[0]+r[0], q[1]+r[1], q[2]+r[2], q[3]+r[3]
	}
}

// add1 adds a to x.
func add1(x, a *block) {
	for i := 0; i < BlockSize; i += 4 {
		p, q := (*four)(x[i:]), (*four)(a[i:])
		p[0] += q[0]
		p[1] += q[1]
		p[2] += q[2]
		p[3] += q[3]
	}
}

// add2 adds a + b to x.
func add2(x, a, b *block) {
	for i := 0; i < BlockSize; i += 4 {
		p, q, r := (*four)(x[i:]), (*four)(a[i:]), (*four)(b[i:])
		p[0] += q[0] + r[0]
		p[1] += q[1] + r[1]
		p[2] += q[2] + r[2]
		p[3] += q[3] + r[3]
	}
}

// add4 adds a + b + c + d to x.
func add4(x, a, b, c, d *block) {
	for i := 0; i < BlockSize; i += 4 {
		p, q, r, s, t := (*four)(x[i:]), (*four)(a[i:]), (*four)(b[i:]), (*four)(c[i:]), (*four)(d[i:])
		p[0] += (q[0] + r[0]) + (s[0] + t[0])
		p[1] += (q[1] + r[1]) + (s[1] + t[1])
		p[2] += (q[2] + r[2]) + (s[2] + t[2])
		p[3] += (q[3] + r[3]) + (s[3] + t[3])
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

// blockUp finishes a block: x holds the sum over the high elements, and gets H. The empty
// set, in the first block, has H = 1.
func blockUp(x, d *block, first bool) {
	for _, g := range bySize {
		j := int(g & 31)
		p := (*[8]float64)(x[8*j:])
		x0, x1, x2, x3, x4, x5, x6, x7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
		for h := j; h != 0; h &= h - 1 {
			q := (*[8]float64)(x[8*(j^h&-h)&255:])
			x0 += q[0]
			x1 += q[1]
			x2 += q[2]
			x3 += q[3]
			x4 += q[4]
			x5 += q[5]
			x6 += q[6]
			x7 += q[7]
		}
		e := (*[8]float64)(d[8*j:])
		if first && j == 0 {
			x0 = 1
		} else {
			x0 /= e[0]
		}
		x1 = (x1 + x0) / e[1]
		x2 = (x2 + x0) / e[2]
		x4 = (x4 + x0) / e[4]
		x3 = (x3 + (x2 + x1)) / e[3]
		x5 = (x5 + (x4 + x1)) / e[5]
		x6 = (x6 + (x4 + x2)) / e[6]
		x7 = (x7 + (x6 + (x5 + x3))) / e[7]
		p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = x0, x1, x2, x3, x4, x5, x6, x7
	}
}

// blockDown finishes a block on the way down: v holds the seed and the sum over the high
// elements, and gets V. The empty set has V = 0.
func blockDown(v, d *block, first bool) {
	for _, g := range bySize {
		j := int(31 &^ g)
		p := (*[8]float64)(v[8*j:])
		x0, x1, x2, x3, x4, x5, x6, x7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
		for h := 31 &^ j; h != 0; h &= h - 1 {
			q := (*[8]float64)(v[8*(j|h&-h)&255:])
			x0 += q[0]
			x1 += q[1]
			x2 += q[2]
			x3 += q[3]
			x4 += q[4]
			x5 += q[5]
			x6 += q[6]
			x7 += q[7]
		}
		e := (*[8]float64)(d[8*j:])
		x7 /= e[7]
		x6 = (x6 + x7) / e[6]
		x5 = (x5 + x7) / e[5]
		x3 = (x3 + x7) / e[3]
		x4 = (x4 + (x5 + x6)) / e[4]
		x2 = (x2 + (x3 + x6)) / e[2]
		x1 = (x1 + (x3 + x5)) / e[1]
		x0 = (x0 + (x1 + (x2 + x4))) / e[0]
		if first && j == 0 {
			x0 = 0
		}
		p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = x0, x1, x2, x3, x4, x5, x6, x7
	}
}

// groupSums are the sums of a block of products a·b by its groups of 8.
type groupSums struct {
	all  [32]float64
	meet [8][32]float64   // over the subsets of each group that meet a mask of elements 0..2
	with [LowBits]float64 // over the subsets of the block that hold each low element
}

// sum fills in the sums over the groups. The empty set (first block) does not count.
func (s *groupSums) sum(a, b *block, first bool) {
	for j := range 32 {
		p, q := (*[8]float64)(a[8*j:]), (*[8]float64)(b[8*j:])
		y0, y1, y2, y3 := p[0]*q[0], p[1]*q[1], p[2]*q[2], p[3]*q[3]
		y4, y5, y6, y7 := p[4]*q[4], p[5]*q[5], p[6]*q[6], p[7]*q[7]
		if first && j == 0 {
			y0 = 0
		}
		y15, y23, y67 := y1+y5, y2+y3, y6+y7
		y4567 := (y4 + y5) + y67
		y123 := y1 + y23
		s.meet[1][j] = y15 + (y3 + y7)
		s.meet[2][j] = y23 + y67
		s.meet[3][j] = y15 + (y23 + y67)
		s.meet[4][j] = y4567
		s.meet[5][j] = (y1 + y3) + y4567
		s.meet[6][j] = y23 + y4567
		s.meet[7][j] = y123 + y4567
		s.all[j] = (y0 + y123) + y4567
	}
}

// fold returns the sum of the block and fills in with.
func (s *groupSums) fold() float64 {
	for i := range 3 {
		s.with[i] = sum32(&s.meet[1<<i])
	}
	sum := s.all
	for i := 4; i >= 0; i-- {
		half := 1 << i
		var with float64
		for k := range half {
			with += sum[half+k]
			sum[k] += sum[half+k]
		}
		s.with[3+i] = with
	}
	return sum[0]
}

func sum32(x *[32]float64) float64 {
	var s0, s1, s2, s3 float64
	for i := 0; i < 32; i += 4 {
		p := (*four)(x[i:])
		s0 += p[0]
		s1 += p[1]
		s2 += p[2]
		s3 += p[3]
	}
	return (s0 + s1) + (s2 + s3)
}

// meeting lists, for each mask of elements 3..7, the groups that meet it and those that do not. It is never changed.
var meeting = func() (t struct{ meet, avoid [32][]uint8 }) {
	for m := range 32 {
		for j := range 32 {
			if j&m != 0 {
				t.meet[m] = append(t.meet[m], uint8(j))
			} else {
				t.avoid[m] = append(t.avoid[m], uint8(j))
			}
		}
	}
	return t
}()

// addMeeting adds, to the sum of each mask, that over the subsets of block b which meet it, times factor; all is that over
// the whole block. In a block whose high elements do, all subsets count; in another all those of the groups that meet
// elements 3..7 of the mask, and of the other groups those that meet elements 0..2. Every sum is of positive terms.
func addMeeting(masks []int, g *groupSums, b int, factor, all float64, sums []num.Sum) {
	for i, m := range masks {
		if m>>LowBits&b != 0 {
			sums[i].Add(all)
			continue
		}
		s := 0.0
		if mid := m >> 3 & 31; mid != 0 {
			s = sumOf(&g.all, meeting.meet[mid])
		}
		if low := m & 7; low != 0 {
			s += sumOf(&g.meet[low], meeting.avoid[m>>3&31])
		}
		sums[i].Add(s * factor)
	}
}

// sumOf adds up some of the groups, in two runs.
func sumOf(x *[32]float64, groups []uint8) float64 {
	var s0, s1 float64
	for ; len(groups) >= 2; groups = groups[2:] {
		s0 += x[groups[0]&31]
		s1 += x[groups[1]&31]
	}
	if len(groups) == 1 {
		s0 += x[groups[0]&31]
	}
	return s0 + s1
}
