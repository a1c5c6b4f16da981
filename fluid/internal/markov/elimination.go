package markov

import (
	"context"
	"math"

	"productform/num"
)

// A dissection performs GTH elimination of the states of a grid: it eliminates them one by one, by
// censoring (W. K. Grassmann, M. I. Taksar and D. P. Heyman, "Regenerative analysis and steady
// state distributions for Markov chains", Operations Research 33, 1985, 1107–1116). The chain
// watched only outside s has the rates
//
//	q_ij + q_is q_sj / d_s,  d_s = Σ_j q_sj,
//
// j over the remaining states, and π_s = Σ_i π_i q_is / d_s. Nothing is subtracted, so even very
// small probabilities have small relative errors. The order is nested dissection (George, SIAM
// Journal on Numerical Analysis 10, 1973): a box is cut by a line or plane of states; the two
// halves are eliminated first and the cut last. An eliminated box then has rates only to the states
// around it, and its rates are a small dense matrix, a front: two classes with n² states take about
// 10 n³ multiplications. State 0 is last, so no probability is too large for float64; those below
// its range become 0.
type dissection struct {
	ctx     context.Context // elimination stops when it is cancelled
	g       *Chain
	fronts  []front
	place   []int32 // row of a state in the front that is being assembled
	line    []int32 // line of each state
	scratch []float64
	rates   []float64 // rates of the updates that are not yet assembled, the latest last

	touched float64 // Σ_s number of rows changed by the elimination of s
	summed  float64 // Σ over fronts of the number of assembled rows
}

// A front holds the factors of the states eliminated together.
type front struct {
	own    []int32   // states eliminated here, in order
	rim    []int32   // later states with rates from them
	exit   []float64 // d_s
	factor []float64 // q_is when s was eliminated: for i in own the states s before i, then for i in rim all states s
	parent int       // front that received the rates; -1 for the last
}

// An update holds the increments of the rates between the states around an eliminated box.
type update struct {
	front int
	rim   []int32
	rate  []float64
}

// leafStates is the largest size of a box that is not cut further: a larger box has a side of three
// states to cut, in up to four coordinates. Values from 10 to 28 take the same time.
const leafStates = 16

// Eliminate returns a stationary measure π of an irreducible chain with π_0 = 1, and a bound on the
// relative rounding error of any ratio Σ f π / Σ g π for f, g >= 0, given the rates, for sums with
// a relative error of 2^-50.
//
// Proof of the bound. Let u = 2^-53. d_s has a relative error of u, q_sj/d_s therefore of 2u, its
// product with q_is and the addition to an entry add 2u: every entry of a row gets factors within 1
// ± 4u from the elimination of s. When four states are eliminated together, entries outside these
// get 2u from each state and 4u from the four products, two additions and the final addition to the
// entry: 4, 4, 4 and 6u per row, 4.5u on average. Assembly adds 2u per row. By the Markov chain
// tree theorem π_i is, up to a common factor, the sum over the trees directed to i of the products
// of their rates. A tree has one rate from each row except i (Freidlin and Wentzell; O'Cinneide,
// "Entrywise perturbation theory and error analysis for Markov chains", Numerische Mathematik 65,
// 1993). So factors within 1 ± ε in R rows change it by factors within (1 ± ε)^R: in total 4.5u Σ_s
// (rows changed) + 2u Σ (rows assembled). Back substitution adds (f+4)u for a state with f later
// states in its front, once for each state on the path to the last. Ratios double the sum.
func (g *Chain) Eliminate(ctx context.Context) (pi []float64, bound float64, err error) {
	d := &dissection{ctx: ctx, g: g, place: make([]int32, g.States), line: make([]int32, g.States)}
	for i, l := range g.lines {
		for x := l.from; x < l.to; x++ {
			d.line[l.at+x] = int32(i)
		}
	}
	d.eliminate(make([]int, len(g.Size)), g.Size)
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	pi = make([]float64, g.States)
	pi[0] = 1
	depth := make([]float64, len(d.fronts)) // roundings of back substitution up to this front
	var deepest float64
	for n := len(d.fronts) - 1; n >= 0; n-- {
		f := &d.fronts[n]
		f.substitute(pi)
		own, rim := float64(len(f.own)), float64(len(f.rim))
		depth[n] = own * (own + rim + 4)
		if f.parent >= 0 {
			depth[n] += depth[f.parent]
		}
		deepest = max(deepest, depth[n])
	}
	const u = 0x1p-53
	return pi, math.Expm1(2*1.001*u*(4.5*d.touched+2*d.summed+deepest)) + 0x1p-48, nil
}

// eliminate eliminates the states lo <= x < hi of the region. A box without states has no front:
// its number is -1.
func (d *dissection) eliminate(lo, hi []int) update {
	lo, hi, states := d.shrink(lo, hi)
	if d.ctx.Err() != nil || states == 0 {
		return update{front: -1}
	}
	cut := 0
	for k := range lo {
		if hi[k]-lo[k] > hi[cut]-lo[cut] {
			cut = k
		}
	}
	first, last := lo, hi // states eliminated after the halves: all, or the cut
	var halves []update
	assembled := len(d.rates)
	if states > leafStates {
		mid := (lo[cut] + hi[cut]) / 2
		halves = []update{d.eliminate(lo, with(hi, cut, mid)), d.eliminate(with(lo, cut, mid+1), hi)}
		first, last = with(lo, cut, mid), with(hi, cut, mid+1)
	}
	if d.ctx.Err() != nil {
		return update{front: -1}
	}
	own, rim := d.box(nil, first, last), d.adjacent(lo, hi)
	if len(own) > 0 && own[0] == 0 {
		own = own[1:]
	}
	m := len(own) + len(rim)
	if len(d.scratch) < m*m {
		d.scratch = make([]float64, m*m)
	}
	q := d.scratch[:m*m]
	clear(q)
	for i, s := range own {
		d.place[s] = int32(i)
	}
	for i, s := range rim {
		d.place[s] = int32(len(own) + i)
	}
	d.addRates(q, m, own, lo, hi, first, last)
	for _, h := range halves {
		if h.front >= 0 {
			d.fronts[h.front].parent = len(d.fronts)
			d.addUpdate(q, m, h)
		}
	}
	f := front{own: own, rim: rim, exit: make([]float64, len(own)), parent: -1}
	d.touched += float64(censor(d.ctx, q, m, f.exit))
	d.summed += float64(m)
	f.keep(q, m)
	d.fronts = append(d.fronts, f)
	d.rates = d.rates[:assembled] // those of the halves are in q
	for i := len(own); i < m; i++ {
		d.rates = append(d.rates, q[i*m+len(own):(i+1)*m]...)
	}
	return update{front: len(d.fronts) - 1, rim: rim, rate: d.rates[assembled:]}
}

// with returns x with another coordinate k.
func with(x []int, k, value int) []int {
	y := append([]int(nil), x...)
	y[k] = value
	return y
}

// shrink returns the smallest box that contains the states lo <= x < hi, and their number.
func (d *dissection) shrink(lo, hi []int) (least, most []int, states int) {
	least, most = append([]int(nil), hi...), append([]int(nil), lo...)
	last := len(lo) - 1
	d.lines(lo, hi, func(x []int, from, to, _ int) {
		states += to - from
		for k, n := range x {
			least[k], most[k] = min(least[k], n), max(most[k], n+1)
		}
		least[last], most[last] = min(least[last], from), max(most[last], to)
	})
	return least, most, states
}

// lines calls do for each line of the region that has states with lo <= x < hi, and passes its
// other coordinates, the interval of these states, and the offset of their numbers.
func (d *dissection) lines(lo, hi []int, do func(x []int, from, to, at int)) {
	for k := range lo {
		if lo[k] >= hi[k] {
			return
		}
	}
	last := len(lo) - 1
	x := append([]int(nil), lo[:last]...)
	for {
		l := d.g.lines[d.g.lineOf(x)]
		if from, to := max(l.from, lo[last]), min(l.to, hi[last]); from < to {
			do(x, from, to, l.at)
		}
		k := last - 1
		for ; k >= 0; k-- {
			if x[k]++; x[k] < hi[k] {
				break
			}
			x[k] = lo[k]
		}
		if k < 0 {
			return
		}
	}
}

// box appends the numbers of the states lo <= x < hi.
func (d *dissection) box(list []int32, lo, hi []int) []int32 {
	d.lines(lo, hi, func(_ []int, from, to, at int) {
		for n := from; n < to; n++ {
			list = append(list, int32(at+n))
		}
	})
	return list
}

// adjacent returns the states next to a box, and state 0 if the box contains it.
func (d *dissection) adjacent(lo, hi []int) []int32 {
	var rim []int32
	zero := true
	for k := range lo {
		if lo[k] > 0 {
			rim = d.box(rim, with(lo, k, lo[k]-1), with(hi, k, lo[k]))
			zero = false
		}
		if hi[k] < d.g.Size[k] {
			rim = d.box(rim, with(lo, k, hi[k]), with(hi, k, hi[k]+1))
		}
	}
	if zero {
		rim = append(rim, 0)
	}
	return rim
}

// addRates adds the rates of the chain between the states eliminated in this front, first <= x <
// last, and between them and later states. Rates to and from the other states of the box lo <= x <
// hi were added when these were eliminated.
func (d *dissection) addRates(q []float64, m int, own []int32, lo, hi, first, last []int) {
	g, end := d.g, len(lo)-1
	for i, s := range own {
		l := int(d.line[s])
		x := int(s) - g.lines[l].at
		for k := range lo {
			n := x
			if k < end {
				n = l / g.stride[k] % g.Size[k]
			}
			for _, step := range [2]int{-1, 1} {
				to, o, y := n+step, l, x
				if k == end {
					y += step
				} else if o += step * g.stride[k]; to < 0 || to >= g.Size[k] {
					continue
				}
				if y < g.lines[o].from || y >= g.lines[o].to {
					continue
				}
				t := g.lines[o].at + y
				out, in := g.up[k], g.down[k]
				if step < 0 {
					out, in = in, out
				}
				inside, here := to >= lo[k] && to < hi[k], to >= first[k] && to < last[k]
				switch {
				case t == 0 || !inside:
					j := int(d.place[t])
					q[i*m+j] += out[pad+int(s)]
					q[j*m+i] += in[pad+t]
				case here:
					q[i*m+int(d.place[t])] += out[pad+int(s)]
				}
			}
		}
	}
}

// addUpdate adds the rates from the elimination of a half.
func (d *dissection) addUpdate(q []float64, m int, h update) {
	c := len(h.rim)
	column := make([]int, c)
	for j, s := range h.rim {
		column[j] = int(d.place[s])
	}
	for i, row := range column {
		to, from := q[row*m:(row+1)*m], h.rate[i*c:(i+1)*c]
		for j, r := range from {
			to[column[j]] += r
		}
	}
}

// censor eliminates the first len(exit) of m states, four at a time, and returns the number of
// changed rows, summed over the eliminated states. Afterwards q[i][s] is q_is at the elimination of
// s, and q[s][j] is q_sj/d_s for j after s. The diagonal is undefined.
func censor(ctx context.Context, q []float64, m int, exit []float64) (touched int) {
	own := len(exit)
	for p := 0; p < own; p += 4 {
		if m > 100 && ctx.Err() != nil { // small fronts finish quickly
			return touched
		}
		end := min(p+4, own)
		for s := p; s < end; s++ {
			row := q[s*m : (s+1)*m]
			for t := p; t < s; t++ {
				addMultiple(row[t+1:], q[t*m+t+1:(t+1)*m], row[t])
			}
			touched += s - p
			var sum num.Sum
			for _, r := range row[s+1:] {
				sum.Add(r)
			}
			exit[s] = sum.Value()
			if exit[s] == 0 { // only if all rates are below the range of float64
				exit[s] = 1
			}
			for j := s + 1; j < m; j++ {
				row[j] /= exit[s]
			}
		}
		for i := end; i < m; i++ {
			row := q[i*m : (i+1)*m]
			any := 0.0
			for t := p; t < end; t++ {
				a := row[t]
				any = max(any, a)
				for j := t + 1; j < end; j++ {
					row[j] += a * q[t*m+j]
				}
			}
			if any == 0 {
				continue
			}
			touched += end - p
			if end-p == 4 {
				addFour(
					row[end:], q[p*m+end:(p+1)*m], q[(p+1)*m+end:(p+2)*m], q[(p+2)*m+end:(p+3)*m],
					q[(p+3)*m+end:(p+4)*m], [4]float64(row[p:end]),
				)
				continue
			}
			for t := p; t < end; t++ {
				addMultiple(row[end:], q[t*m+end:(t+1)*m], row[t])
			}
		}
	}
	return touched
}

// addMultiple adds a r to x.
func addMultiple(x, r []float64, a float64) {
	if a == 0 {
		return
	}
	r = r[:len(x)]
	for j := range x {
		x[j] += a * r[j]
	}
}

// addFour adds Σ_t a_t r_t to x.
func addFour(x, r0, r1, r2, r3 []float64, a [4]float64) {
	n := len(x)
	r0, r1, r2, r3 = r0[:n], r1[:n], r2[:n], r3[:n]
	a0, a1, a2, a3 := a[0], a[1], a[2], a[3] // keeps them in registers
	for j := range x {
		x[j] += (a0*r0[j] + a1*r1[j]) + (a2*r2[j] + a3*r3[j])
	}
}

// keep copies the factors from an eliminated front.
func (f *front) keep(q []float64, m int) {
	n := len(f.own)
	f.factor = make([]float64, 0, n*(n-1)/2+n*len(f.rim))
	for i := range m {
		f.factor = append(f.factor, q[i*m:i*m+min(i, n)]...)
	}
}

// substitute computes π_s = Σ_i π_i q_is / d_s for the states eliminated in the front, starting
// with the last one.
func (f *front) substitute(pi []float64) {
	n := len(f.own)
	inflow := make([]float64, n)
	rows := f.factor[n*(n-1)/2:]
	for i, t := range f.rim {
		addMultiple(inflow, rows[i*n:(i+1)*n], pi[t])
	}
	for s := n - 1; s >= 0; s-- {
		p := inflow[s] / f.exit[s]
		pi[f.own[s]] = p
		addMultiple(inflow[:s], f.factor[s*(s-1)/2:s*(s-1)/2+s], p)
	}
}
