package traffic

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"productform/fluid"
	"productform/fluid/internal/markov"
	"productform/internal/input"
	"productform/num"
)

// balanced sums the stationary distribution of balanced fairness, w(x)/Z with w(x) = Φ(x) Π_k
// ρ_k^x_k, that is
//
//	w(0) = e^-r,  w(x) = max( max_j Σ_k a_kj ρ_k w(x-e_k), max_k r_k/x_k w(x-e_k) ),
//
// over x <= limits, with one addition and multiplication for each state, class and resource. r_k =
// ρ_k/L_k with a limit L_k on tasks, otherwise 0. r = Σ_k r_k is at most 650, which keeps w(0) far
// from underflow. Without limits w(x) <= 1 by induction, since all loads are below 1, and Z is at
// maxProbability the number of states; with them Σ_x w(x) is bounded below.
//
// A product form bounds the truncation error. Let F = Π_j 1/(1 - A_j), A_j = Σ_k a_kj z_k. (1-A_j)
// F has nonnegative coefficients for each j. Hence the coefficients of F are at least Σ_k a_kj
// F(x-e_k) for all j, and by induction at least Φ(x). With limits F also has the factor Π_k
// exp(z_k/L_k): z_k ∂F/∂z_k >= z_k F/L_k in each coefficient, so the coefficients of F are at least
// F(x-e_k)/(x_k L_k). Therefore, for every z > 1 at which the denominators are positive, and the
// same with the factor x_i on the left,
//
//	Σ_{x_k>L} w(x) <= z^-(L+1) e^{(z-1) r_k} Π_j 1/s_j,  s_j = 1 - load_j - (z-1) a_kj ρ_k,
//	Σ_{x_k>L} x_i w(x) <= z^-(L+1) e^{(z-1) r_k} Π_j 1/s_j · (Σ_j a_ij ρ_i/s_j + r_i) z^{1 if i=k}.
//
// F needs only the resources that no other resource dominates, in the sense that every class uses
// at least as much of the other one.
func (w *problem) balanced(ctx context.Context, r *Part, s Settings) ([]float64, error) {
	if r := sum(w.jobs); r > mostKept {
		return nil, &UnsolvedError{Input: input.Errorf("jobs", fmt.Sprintf("%.4g jobs kept by max_tasks on average", r),
			"at most %d in balanced fairness, or one class alone", mostKept)}
	}
	b := w.newBalancedTail()
	limits := make([]int, len(w.class))
	if s.Limits != nil {
		limits = w.chosen(s)
	} else {
		for k := range limits {
			limits[k] = b.limit(k, math.Log(s.TruncationTol/2/float64(len(limits))))
		}
	}
	states, err := checkStates(limits, s)
	if err != nil {
		return nil, err
	}
	z, jobs, err := w.whittleSums(ctx, limits)
	if err != nil {
		return nil, err
	}
	r.Method, r.TruncationProved, r.Limits, r.States = WhittleMethod, true, limits, states
	r.RoundingBound = whittleRounding(limits)
	mean := make([]float64, len(jobs))
	var mass float64
	missing := make([]float64, len(jobs))
	for k, l := range limits {
		m, x := b.tailBounds(k, l)
		mass += math.Exp(m)
		for i := range x {
			missing[i] += math.Exp(x[i])
		}
	}
	r.TruncationBound = mass / z
	for i := range jobs {
		mean[i] = jobs[i] / z
		r.TruncationBound = max(r.TruncationBound, missing[i]/jobs[i])
	}
	r.TruncationBound *= 1.001 // for the rounding of the bound itself: logarithms below 1e5 are accurate to 1e-10
	if !(r.TruncationBound <= fluid.MostFloat) {
		return nil, input.Errorf("Limits", limits, "larger limits")
	}
	return mean, nil
}

// mostKept is the maximum of r in [problem.balanced].
const mostKept = 650

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// statesBetween is the number of states between two checks of the context.
const statesBetween = 1 << 16

// whittleSums returns Z = Σ w(x) and Σ x_i w(x) for each class, over x <= limits. The class with
// the largest limit varies slowest, and only two slabs of the others are stored.
func (w *problem) whittleSums(ctx context.Context, limits []int) (z float64, jobs []float64, err error) {
	order := make([]int, len(limits))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(limits[b], limits[a]) })
	size := make([]int, len(order))
	part := make([][]float64, len(w.part))
	for d, k := range order {
		size[d] = limits[k] + 1
		for j := range part {
			part[j] = append(part[j], w.part[j][k])
		}
	}
	slab := markov.NewBox(size[1:])
	old, now := make([]float64, slab.States), make([]float64, slab.States)
	below := make([]float64, len(order)) // w(x-e_k)
	kept, limited := make([]float64, len(order)), false
	for d, k := range order {
		kept[d], limited = w.jobs[k], limited || w.jobs[k] > 0
	}
	empty := math.Exp(-sum(kept))
	var mass num.Sum
	moment := make([]num.Sum, len(order))
	for n := range size[0] {
		x := make([]int, len(size)-1)
		for s := range now {
			if s%statesBetween == 0 && ctx.Err() != nil {
				return 0, nil, ctx.Err()
			}
			below[0] = old[s]
			for k, m := range x {
				below[k+1] = 0
				if m > 0 {
					below[k+1] = now[s-slab.Stride[k]]
				}
			}
			now[s] = 0
			for _, p := range part {
				var v float64
				for k, f := range below {
					v += p[k] * f
				}
				now[s] = max(now[s], v)
			}
			if limited {
				if n > 0 {
					now[s] = max(now[s], kept[0]/float64(n)*below[0])
				}
				for k, m := range x {
					if m > 0 {
						now[s] = max(now[s], kept[k+1]/float64(m)*below[k+1])
					}
				}
			}
			if n == 0 && s == 0 {
				now[s] = empty
			}
			mass.Add(now[s])
			moment[0].Add(float64(n) * now[s])
			for k, m := range x {
				moment[k+1].Add(float64(m) * now[s])
			}
			slab.Next(x)
		}
		old, now = now, old
	}
	jobs = make([]float64, len(order))
	for d, k := range order {
		jobs[k] = moment[d].Value()
	}
	return mass.Value(), jobs, nil
}

// whittleRounding bounds the relative error of the means: each step to a state rounds a_kj ρ_k, its
// product with w and at most one addition for each class, all nonnegative, and the maximum over
// resources is exact. A limit adds the roundings of r_k, a quotient and a product. The rounding of
// w(0) cancels. Numbers that leave the range of float64 are below 1e-290 of Z, or 1e-25 with
// limits.
func whittleRounding(limits []int) float64 {
	steps := 0.0
	for _, l := range limits {
		steps += float64(l)
	}
	return math.Expm1(2*1.001*0x1p-53*steps*float64(len(limits)+2)) + 0x1p-50
}

// A balancedTail is the product form that bounds balanced fairness.
type balancedTail struct {
	w    *problem
	part [][]float64 // a_kj ρ_k for the needed resources
	s    []float64   // 1 - load_j
}

func (w *problem) newBalancedTail() *balancedTail {
	b := &balancedTail{w: w}
	for j, p := range w.part {
		needed := slices.Max(p) > 0
		for i, q := range w.part {
			if i != j && needed && isBelow(p, q) && (i < j || !isBelow(q, p)) {
				needed = false
			}
		}
		if needed {
			b.part, b.s = append(b.part, p), append(b.s, w.slack[j])
		}
	}
	return b
}

// isBelow reports whether p_k <= q_k for all k.
func isBelow(p, q []float64) bool {
	for k := range p {
		if p[k] > q[k] {
			return false
		}
	}
	return true
}

// bounds returns the logarithms of the bounds of Σ_{x_k>l} w(x) and Σ_{x_k>l} x_i w(x) with this
// z - 1.
func (b *balancedTail) bounds(k, l int, z1 float64) (mass float64, jobs []float64) {
	mass = -float64(l+1)*math.Log1p(z1) + z1*b.w.jobs[k]
	rate := make([]float64, len(b.w.class))
	for j, p := range b.part {
		s := b.s[j] - z1*p[k]
		mass -= math.Log(s)
		for i := range rate {
			rate[i] += p[i] / s
		}
	}
	for i, r := range b.w.jobs {
		rate[i] += r
	}
	rate[k] *= 1 + z1
	for i, x := range rate {
		rate[i] = mass + math.Log(x)
	}
	return mass, rate
}

// tailBounds returns the logarithms of bounds of Σ_{x_k>l} w(x) and Σ_{x_k>l} x_i w(x), with a z
// found by bisection: the logarithm of the first bound is convex in log z. Any z gives a valid
// bound.
func (b *balancedTail) tailBounds(k, l int) (mass float64, jobs []float64) {
	most := math.Inf(1)
	for j, p := range b.part {
		most = min(most, b.s[j]/p[k])
	}
	low, high := 0.0, most
	for range 60 {
		z := (low + high) / 2
		slope := -float64(l+1)/(1+z) + b.w.jobs[k]
		for j, p := range b.part {
			slope += p[k] / (b.s[j] - z*p[k])
		}
		if slope < 0 {
			low = z
		} else {
			high = z
		}
	}
	return b.bounds(k, l, min(low, most*(1-1e-9)))
}

// limit returns the smallest limit of class k beyond which the omitted parts of Z and of all Σ x_i
// w(x) have at most this logarithm relative to lower bounds on the whole. These are Z >=
// 1/(1-load_j) and Σ x_i w(x) >= a_ij ρ_i/(1-load_j)² for each j, the sums for resource j alone,
// both multiplied by e^-r. The limits alone give Z >= 1 and Σ x_i w(x) >= max(r_i, a_ij ρ_i), since
// Φ(x) is at least Π_k L_k^-x_k/x_k! over the classes with limits, times a_ij for one more job of
// class i.
func (b *balancedTail) limit(k int, share float64) int {
	fits := func(l int) bool {
		mass, jobs := b.tailBounds(k, l)
		z, empty := 1.0, math.Exp(-sum(b.w.jobs))
		least := slices.Clone(b.w.jobs)
		for j, p := range b.part {
			z = max(z, empty/b.s[j])
			for i := range least {
				least[i] = max(least[i], p[i], empty*p[i]/b.s[j]/b.s[j])
			}
		}
		worst := mass - math.Log(z)
		for i, x := range jobs {
			worst = max(worst, x-math.Log(least[i]))
		}
		return worst <= share
	}
	low, high := 0, 1 // low is too small, high may suffice
	for high < mostStates && !fits(high) {
		low, high = high, 2*high
	}
	for high-low > 1 {
		if mid := (low + high) / 2; fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
