package consecutive

import (
	"context"
	"errors"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/recursion"
	"productform/num"
)

// Values of intervals must be in [least, most], and capacities in their unit and powers of two of
// servers in [smallest, 1/smallest]. Then products of two values with these neither underflow nor
// overflow.
const least, most, smallest = 0x1p-450, 0x1p450, 0x1p-60

// Solve returns the measures of a chain. Values grow exponentially with the number of servers, so
// each server has its own power of two, close to its growth factor, by which its capacity is
// divided. That changes no digit. With A(K) the derivative of Z with respect to the numerator of
// Z(K),
//
//	E[X_c] = λ_c Σ_{K ∋ servers of c} A(K) Z(K) / Z,   P(s idle) = Z(before s) Z(after s) / Z.
//
// Errors are relative. Let a number of an interval of l servers be within r(l) roundings, a sum of
// products take part in a additions, and u = 2^-53. C_t and M - λ are rounded once, the products of
// C_t Z Z twice, the quotient once: r(l) <= r(m) + r(l-1-m) + a + 5, so r(l) <= (a+6) l. For A(K)
// of l of n servers one term has A(L) of some longer L and Z of the other L-l-1 servers: by
// induction from the root its error is within (a+7) (n-l+1). The product with Z(K) is therefore
// within (a+7) (n+1) + 1, and sums of products add 2n.
//
// The error is [num.ErrFloatRange], a [*recursion.Overload], or that of the context.
func (c *Chain) Solve(ctx context.Context) (recursion.Measures, error) {
	w := &sweep{Chain: c, stop: recursion.Cancellation{Ctx: ctx}}
	if err := w.prepare(); err != nil {
		return recursion.Measures{}, err
	}
	if err := w.upInRange(); err != nil {
		return recursion.Measures{}, err
	}
	additions := dotAdditions(c.servers)
	value := func(v float64, servers int) arithmetic.Number {
		return arithmetic.FromFloat(v, arithmetic.Roundings((additions+6)*float64(servers)))
	}
	z := value(w.root, c.servers)
	m := recursion.Measures{Busy: make([]arithmetic.Number, c.servers)}
	exponent := 0
	for _, e := range w.exponent {
		exponent += e
	}
	m.Normalization = arithmetic.FromWide(
		arithmetic.WideOf(new(big.Float).SetMantExp(big.NewFloat(w.root), exponent)), z.Bound,
	)
	var mostlyIdle []int
	for s := range m.Busy {
		idle := value(w.valueWithout(s), c.servers) // one fewer server, one more product
		m.Busy[s] = idle.Mul(arithmetic.FromFloat(w.scale[s], 0)).Quo(z).OneMinus()
		if !(m.Busy[s].Double() > recursion.LowUtilization) {
			mostlyIdle = append(mostlyIdle, s)
		}
	}
	roundings := (additions + 7) * float64(c.servers+1)
	sums, err := w.down()
	if err != nil {
		return recursion.Measures{}, err
	}
	for k, sum := range sums {
		rate := arithmetic.WideOf(new(big.Float).SetMantExp(new(big.Float).SetInt(c.problem.Classes[k].Rate), -w.shift))
		jobs := arithmetic.FromFloat(sum, arithmetic.Roundings(roundings+1+2*float64(c.servers+1)))
		m.Jobs = append(m.Jobs, arithmetic.FromWide(rate, arithmetic.Roundoff).Mul(jobs).Quo(z))
	}
	for _, s := range mostlyIdle {
		sum, more, err := w.busy(s)
		if err != nil {
			return recursion.Measures{}, err
		}
		m.Busy[s] = arithmetic.FromFloat(sum, arithmetic.Roundings(roundings+more)).Quo(z)
	}
	return m, nil
}

// A sweep holds the tables of a chain. Rows are indexed by the length of the intervals that start
// at a server, or end before it.
type sweep struct {
	*Chain
	stop     recursion.Cancellation
	shift    int       // shift of capacities and rates
	capacity []float64 // C_s/2^shift
	exponent []int     // exponent of the power of two of each server
	scale    []float64 // reciprocal of that power
	loads    [][]load
	whole    load    // load of all servers
	root     float64 // Z of all servers

	from, until [][]float64 // Z of the intervals that start at a server, that end before it
	taken       [][]float64 // Z of the intervals that end before a server, times the capacity of the server before them
	// A of the intervals that start at a server, that end before it; end reuses the memory of taken
	begin, end  [][]float64
	rootAdjoint float64 // A of a ring
}

// prepare sets the units.
func (w *sweep) prepare() (err error) {
	n := w.servers
	for _, g := range w.problem.Groups {
		w.shift = max(w.shift, g.Capacity.BitLen())
	}
	w.capacity, w.exponent, w.scale = make([]float64, n), make([]int, n), make([]float64, n)
	for s, g := range w.problem.Groups {
		w.capacity[s], w.scale[s] = scaled(g.Capacity, w.shift), 1
		if w.capacity[s] < smallest {
			return num.ErrFloatRange
		}
	}
	w.loads, w.whole, err = w.Chain.loads(&w.stop, w.shift)
	return err
}

// Powers of two of servers come from intervals of firstWindow servers and, if these do not keep
// values in range, from windows larger by a factor of largerWindow each time.
const firstWindow, largerWindow = 48, 4

// upInRange computes Z of all intervals, with powers of two that keep them in range.
func (w *sweep) upInRange() (err error) {
	w.from, w.until, w.taken = rows[float64](w.Chain, false), rows[float64](w.Chain, true), rows[float64](w.Chain, true)
	for window := firstWindow; window < w.servers; window *= largerWindow {
		if err = w.balance(window); err == nil {
			err = w.up(w.servers)
		}
		if !errors.Is(err, num.ErrFloatRange) {
			return err
		}
	}
	if err == nil {
		err = w.up(w.servers)
	}
	return err
}

// balance finds the powers of two from the growth of Z when each server joins the window before it.
func (w *sweep) balance(window int) error {
	if err := w.up(window); err != nil {
		return err
	}
	sum, whole := 0.0, 0
	for s := range w.servers {
		servers := window
		if !w.Ring {
			servers = min(window, s+1)
		}
		sum += math.Log2(w.row(w.until, s+1)[servers]/w.row(w.until, s)[servers-1]) + float64(w.exponent[s])
		w.exponent[s] = int(math.Round(sum)) - whole
		whole += w.exponent[s]
		if w.scale[s] = math.Ldexp(1, -w.exponent[s]); !(w.scale[s] >= smallest && w.scale[s] <= 1/smallest) {
			return num.ErrFloatRange
		}
	}
	return nil
}

// up computes Z of all intervals of at most longest servers, and then Z of the ring.
func (w *sweep) up(longest int) error {
	n := w.servers
	for i := range w.from {
		w.from[i][0], w.until[i][0] = 1, 1
		if i > 0 || w.Ring { // otherwise there is no server before
			w.taken[i][0] = w.capacityBefore(i)
		}
	}
	err := w.ascend(longest, func(i, j, l int) error {
		if err := w.stop.After(l + 8); err != nil {
			return err
		}
		taken := w.row(w.taken, j)
		v := dotReversed(w.from[i][:l], taken[:l]) / w.loads[i][l].slack
		if !(v >= least && v <= most) {
			return num.ErrFloatRange
		}
		w.from[i][l], w.row(w.until, j)[l] = v, v
		if i > 0 || w.Ring {
			taken[l] = v * w.capacityBefore(i)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if longest < n {
		return nil
	}
	w.root = w.from[0][len(w.from[0])-1]
	if w.Ring {
		terms, next := make([]float64, n), make([]float64, n)
		for s := range n {
			terms[s], next[s] = w.capacity[s]*w.scale[s], w.row(w.from, s+1)[n-1]
		}
		w.root = dot(terms, next) / w.whole.slack
	}
	if !(w.root >= least && w.root <= most) {
		return num.ErrFloatRange
	}
	return nil
}

func (w *sweep) row(table [][]float64, i int) []float64 { return row(w.Chain, table, i) }

// capacityBefore returns the capacity of the server before i, divided by its power of two.
func (w *sweep) capacityBefore(i int) float64 {
	s := (i + w.servers - 1) % w.servers
	return w.capacity[s] * w.scale[s]
}

// valueWithout returns Z of all servers except s, divided by its power of two.
func (w *sweep) valueWithout(s int) float64 {
	if w.Ring {
		return w.row(w.from, s+1)[w.servers-1]
	}
	return w.until[s][s] * w.from[s+1][w.servers-1-s]
}

// down computes A of all intervals, each after the longer ones, and returns Σ A(K) Z(K) over the
// intervals K that contain all servers of a class, for each class. With R(i..j) the sum over the
// intervals that start at i and end at j or later, the sum over those that contain i..j is T(i..j)
// = R(i..j) + T(i-1..j).
func (w *sweep) down() ([]float64, error) {
	n := w.servers
	w.begin, w.end = rows[float64](w.Chain, false), w.taken
	d := &descent{
		r:    make([]float64, n),
		t:    make([]float64, 2*n),
		sums: make([]float64, len(w.arcs)),
		next: make([][]int, n),
	}
	for l := n; l >= 1; l-- {
		for _, k := range w.byArc[l] {
			d.next[w.arcs[k].first] = append(d.next[w.arcs[k].first], k)
		}
	}
	if w.Ring {
		w.rootAdjoint = 1 / w.whole.slack
		for j := range d.t { // the ring contains all intervals
			d.t[j] = w.rootAdjoint * w.root
		}
		for _, k := range w.byArc[n] {
			d.sums[k], d.next[w.arcs[k].first] = d.t[0], d.next[w.arcs[k].first][1:]
		}
		if err := w.downOver(true, d); err != nil {
			return nil, err
		}
		copy(d.t[:n-1], d.t[n:]) // an interval that ends before j and starts before 0 ends before n+j
	}
	return d.sums, w.downOver(false, d)
}

// A descent holds the partial sums of down.
type descent struct {
	r    []float64 // partial sums of R, by first server
	t    []float64 // partial sums of T, by end
	sums []float64
	next [][]int // the remaining classes that start at a server, the longest first
}

// downOver descends over the intervals across the seam of a ring, or afterwards over all others.
func (w *sweep) downOver(seam bool, d *descent) error {
	n := w.servers
	for low := 0; low < n; low += rowsPerBlock {
		high := min(n, low+rowsPerBlock)
		lastEnd, before := n, low
		if seam {
			lastEnd, before = high-1+n-1, n
		}
		for j := lastEnd; j > before; j-- {
			first := low
			if w.Ring {
				first = max(low, j-(n-1))
			}
			end := w.row(w.end, j)
			for i := first; i < min(high, j); i++ {
				l := j - i
				if err := w.stop.After(2*(n-l) + 8); err != nil {
					return err
				}
				a := w.adjoint(i, l) / w.loads[i][l].slack
				if !(a >= least && a <= most) {
					return num.ErrFloatRange
				}
				w.begin[i][l], end[l] = a, a
				d.r[i] += a * w.from[i][l]
				d.t[j] += d.r[i]
				for len(d.next[i]) > 0 && w.arcs[d.next[i][0]].servers == l {
					d.sums[d.next[i][0]] = d.t[j]
					d.next[i] = d.next[i][1:]
				}
			}
		}
	}
	return nil
}

// adjoint returns the derivative of Z with respect to Z of the l servers from i. They are what
// remains of a longer interval with the same end or start when the server before or after them is
// removed.
func (w *sweep) adjoint(i, l int) (sum float64) {
	n, j := w.servers, i+l
	more := n - 1 - l // most additional servers on a ring
	if w.Ring && more == 0 {
		return w.rootAdjoint * w.capacityBefore(i)
	}
	if !w.Ring && l == n {
		return 1
	}
	if w.Ring || i > 0 {
		if !w.Ring {
			more = i
		}
		sum = dot(w.row(w.end, j)[l+1:l+1+more], w.row(w.until, i-1)) * w.capacityBefore(i)
	}
	if w.Ring || j < n {
		if !w.Ring {
			more = n - j
		}
		sum += dot(w.begin[i][l+1:l+1+more], w.row(w.from, j+1)) * w.capacityBefore(j+1)
	}
	return sum
}

// busy returns Z - Z(without server s) without subtraction: the sum of A(K) (λ(K) - λ(K∖s)) Z(K∖s)
// over the intervals K with s (see [recursion]). The rate of the classes that use s is also a sum.
// more is the number of roundings beyond those of A and Z.
func (w *sweep) busy(s int) (sum, more float64, err error) {
	n := w.servers
	beginning := make([][]int, n) // classes that use s, by how far before s they start
	classes := 0
	for k, a := range w.arcs {
		if before := (s - a.first + n) % n; before < a.servers {
			beginning[before] = append(beginning[before], k)
			classes++
		}
	}
	gain := make([]float64, n) // gain for the intervals with the same start, by the number of servers after s
	total := 0.0
	after := w.row(w.from, s+1)
	for before := range w.longest(s+1, true) {
		if err := w.stop.After(3 * n); err != nil {
			return 0, 0, err
		}
		for _, k := range beginning[before] {
			rate := scaled(w.problem.Classes[k].Rate, w.shift)
			if rate < smallest {
				return 0, 0, num.ErrFloatRange
			}
			total += rate
			for b := w.arcs[k].servers - 1 - before; b < n; b++ {
				gain[b] += rate
			}
		}
		i := s - before
		if i < 0 {
			i += n
		}
		of := w.begin[i][before+1:]
		part := 0.0
		for b, a := range of {
			part += float64(float64(a*gain[b]) * after[b])
		}
		if part > 0 && part < least {
			return 0, 0, num.ErrFloatRange
		}
		sum += part * w.row(w.until, s)[before]
	}
	if w.Ring {
		for _, k := range beginning[n-1] {
			total += scaled(w.problem.Classes[k].Rate, w.shift)
		}
		sum += w.rootAdjoint * total * after[n-1]
	}
	return sum * w.scale[s], float64(classes + 2*n + 8), nil
}
