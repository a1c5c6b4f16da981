package bf

// The inner loops of the subset sweeps. Slices of fixed length keep bounds checks out; each
// loop body is written out four or eight wide because the compiler does not unroll.

// pull1 sets x to seed + u·a, or adds u·a to it.
func pull1(x, a *block, u, seed float64, fresh bool) {
	if fresh {
		for i := 0; i < blockSize; i += 4 {
			p, q := (*[4]float64)(x[i:]), (*[4]float64)(a[i:])
			p[0] = seed + u*q[0]
			p[1] = seed + u*q[1]
			p[2] = seed + u*q[2]
			p[3] = seed + u*q[3]
		}
		return
	}
	for i := 0; i < blockSize; i += 4 {
		p, q := (*[4]float64)(x[i:]), (*[4]float64)(a[i:])
		p[0] += u * q[0]
		p[1] += u * q[1]
		p[2] += u * q[2]
		p[3] += u * q[3]
	}
}

// pull2 sets x to seed + u·a + v·b, or adds u·a + v·b to it.
func pull2(x, a, b *block, u, v, seed float64, fresh bool) {
	if fresh {
		for i := 0; i < blockSize; i += 4 {
			p, q, r := (*[4]float64)(x[i:]), (*[4]float64)(a[i:]), (*[4]float64)(b[i:])
			p[0] = seed + (u*q[0] + v*r[0])
			p[1] = seed + (u*q[1] + v*r[1])
			p[2] = seed + (u*q[2] + v*r[2])
			p[3] = seed + (u*q[3] + v*r[3])
		}
		return
	}
	for i := 0; i < blockSize; i += 4 {
		p, q, r := (*[4]float64)(x[i:]), (*[4]float64)(a[i:]), (*[4]float64)(b[i:])
		p[0] += u*q[0] + v*r[0]
		p[1] += u*q[1] + v*r[1]
		p[2] += u*q[2] + v*r[2]
		p[3] += u*q[3] + v*r[3]
	}
}

// pull3 sets x to seed + u·a + v·b + w·c, or adds u·a + v·b + w·c to it.
func pull3(x, a, b, c *block, u, v, w, seed float64, fresh bool) {
	if fresh {
		for i := 0; i < blockSize; i += 4 {
			p, q, r, s := (*[4]float64)(x[i:]), (*[4]float64)(a[i:]), (*[4]float64)(b[i:]), (*[4]float64)(c[i:])
			p[0] = (seed + u*q[0]) + (v*r[0] + w*s[0])
			p[1] = (seed + u*q[1]) + (v*r[1] + w*s[1])
			p[2] = (seed + u*q[2]) + (v*r[2] + w*s[2])
			p[3] = (seed + u*q[3]) + (v*r[3] + w*s[3])
		}
		return
	}
	for i := 0; i < blockSize; i += 4 {
		p, q, r, s := (*[4]float64)(x[i:]), (*[4]float64)(a[i:]), (*[4]float64)(b[i:]), (*[4]float64)(c[i:])
		p[0] = (p[0] + u*q[0]) + (v*r[0] + w*s[0])
		p[1] = (p[1] + u*q[1]) + (v*r[1] + w*s[1])
		p[2] = (p[2] + u*q[2]) + (v*r[2] + w*s[2])
		p[3] = (p[3] + u*q[3]) + (v*r[3] + w*s[3])
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

// blockUp finishes a block: x holds what the high elements contribute, and gets X. It
// returns the sum of the block, and the sums over the subsets with each low element in lows.
// The empty set (first block) counts as X = 1 and is not part of the sums.
func blockUp(x, d *block, w *[lowBits]float64, first bool, lows *[lowBits]float64) float64 {
	var sum [32]float64
	w0, w1, w2 := w[0], w[1], w[2]
	var l0, l1, l2 float64
	for _, g := range bySize {
		j := int(g & 31)
		p := (*[8]float64)(x[8*j:])
		x0, x1, x2, x3, x4, x5, x6, x7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
		for i := range 5 {
			if j>>i&1 == 0 {
				continue
			}
			v := w[3+i]
			q := (*[8]float64)(x[8*(j&^(1<<i)):])
			x0 += v * q[0]
			x1 += v * q[1]
			x2 += v * q[2]
			x3 += v * q[3]
			x4 += v * q[4]
			x5 += v * q[5]
			x6 += v * q[6]
			x7 += v * q[7]
		}
		e := (*[8]float64)(d[8*j:])
		if first && j == 0 {
			x0 = 1
		} else {
			x0 /= e[0]
		}
		x1 = (x1 + w0*x0) / e[1]
		x2 = (x2 + w1*x0) / e[2]
		x4 = (x4 + w2*x0) / e[4]
		x3 = (x3 + (w0*x2 + w1*x1)) / e[3]
		x5 = (x5 + (w0*x4 + w2*x1)) / e[5]
		x6 = (x6 + (w1*x4 + w2*x2)) / e[6]
		x7 = (x7 + (w0*x6 + (w1*x5 + w2*x3))) / e[7]
		p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = x0, x1, x2, x3, x4, x5, x6, x7
		if first && j == 0 {
			x0 = 0
		}
		s23, s67 := x2+x3, x6+x7
		s4567 := (x4 + x5) + s67
		l0 += (x1 + x3) + (x5 + x7)
		l1 += s23 + s67
		l2 += s4567
		sum[j] = ((x0 + x1) + s23) + s4567
	}
	lows[0], lows[1], lows[2] = l0, l1, l2
	return foldGroups(&sum, lows)
}

// foldGroups adds up the sums of 32 groups, and those with each of the elements 3..7.
func foldGroups(sum *[32]float64, lows *[lowBits]float64) float64 {
	for i := 4; i >= 0; i-- {
		half := 1 << i
		var with float64
		for k := range half {
			with += sum[half+k]
			sum[k] += sum[half+k]
		}
		lows[3+i] = with
	}
	return sum[0]
}

// blockDown finishes a block on the way down: w holds the seed and what the high
// elements contribute, and gets W. The entry of the empty set (first block) is set to 0.
func blockDown(w, d *block, weight *[lowBits]float64, first bool) {
	w0, w1, w2 := weight[0], weight[1], weight[2]
	for _, g := range bySize {
		j := int(31 &^ g)
		p := (*[8]float64)(w[8*j:])
		x0, x1, x2, x3, x4, x5, x6, x7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
		for i := range 5 {
			if j>>i&1 == 1 {
				continue
			}
			v := weight[3+i]
			q := (*[8]float64)(w[8*((j|1<<i)&31):])
			x0 += v * q[0]
			x1 += v * q[1]
			x2 += v * q[2]
			x3 += v * q[3]
			x4 += v * q[4]
			x5 += v * q[5]
			x6 += v * q[6]
			x7 += v * q[7]
		}
		e := (*[8]float64)(d[8*j:])
		x7 /= e[7]
		x6 = (x6 + w0*x7) / e[6]
		x5 = (x5 + w1*x7) / e[5]
		x3 = (x3 + w2*x7) / e[3]
		x4 = (x4 + (w0*x5 + w1*x6)) / e[4]
		x2 = (x2 + (w0*x3 + w2*x6)) / e[2]
		x1 = (x1 + (w1*x3 + w2*x5)) / e[1]
		if first && j == 0 {
			x0 = 0
		} else {
			x0 = (x0 + (w0*x1 + (w1*x2 + w2*x4))) / e[0]
		}
		p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = x0, x1, x2, x3, x4, x5, x6, x7
	}
}

// blockProduct returns Σ w·x over a block, and over the subsets with each low element in lows.
func blockProduct(w, x *block, lows *[lowBits]float64) float64 {
	var sum [32]float64
	var l0, l1, l2 float64
	for j := range 32 {
		p, q := (*[8]float64)(w[8*j:]), (*[8]float64)(x[8*j:])
		y1, y3, y5, y7 := p[1]*q[1], p[3]*q[3], p[5]*q[5], p[7]*q[7]
		s23, s67 := p[2]*q[2]+y3, p[6]*q[6]+y7
		s4567 := (p[4]*q[4] + y5) + s67
		l0 += (y1 + y3) + (y5 + y7)
		l1 += s23 + s67
		l2 += s4567
		sum[j] = ((p[0]*q[0] + y1) + s23) + s4567
	}
	lows[0], lows[1], lows[2] = l0, l1, l2
	return foldGroups(&sum, lows)
}
