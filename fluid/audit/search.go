package audit

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// A lieTry is a point of the unit cube that represents a profile: coordinate j goes from the true
// demand for resource j, at 0, to the largest one that can gain, at 1. Under max-min fairness there
// is one more coordinate, log m / log MaxFactor.
type lieTry struct {
	at   []float64
	runs float64
}

// profile returns the fractions of the capacities at a point, and m, the factor by which they are
// too large. If the job ran as many tasks as before, it would hold the fraction φ_i a'_j of
// resource j. This fraction goes from φ_i a_ij to 1, slowly at first, since the fraction of one job
// among many is small.
func (l *liar) profile(at []float64) (parts []float64, m float64) {
	const bend = 7
	parts = make([]float64, len(l.truth))
	unit := math.Inf(1)
	for j, a := range l.truth {
		room := max(0, 1/l.tasks-a)
		parts[j] = a + room*math.Expm1(bend*at[j])/math.Expm1(bend)
		if a > 0 {
			unit = min(unit, parts[j]/a)
		}
	}
	m = 1
	if len(at) > len(parts) {
		m = math.Pow(l.maxFactor, at[len(parts)])
	}
	for j := range parts {
		parts[j] *= m / unit
	}
	return parts, m
}

// search returns the best point found, or the truth if none is better. A quarter of the evaluations
// is on lines through the truth, and a quarter at random points. Another quarter climbs from the
// best of these that are not near an earlier one, and the last quarter continues from the best
// result.
//
// Only profiles A' >= A_i need to be tried. Let m = min_j A'_j/A_ij. All policies except max-min
// fairness hand out the same bundles if a profile is declared in other units, A'/m; this profile is
// at least A_i for every resource that the job needs, and runs as many tasks. With m = 0 it runs
// nothing. For a resource that it does not need it may declare any demand, which can drive other
// jobs away from the resources that it needs. A lie of m = 1 gains only if a'_j < 1/φ_i for every
// j, since φ' a'_j <= 1: so the search is limited to the box [a_ij, 1/φ_i] of each j. Under max-min
// fairness of tasks a larger unit is worth as much as a larger weight, and the search is also over
// m, up to MaxFactor: with unlimited m the job takes all of its dominant resource.
//
// Under dominant resource fairness no lie gains (Ghodsi et al., NSDI 2011; with weights and jobs
// that do not need every resource, D. Parkes, A. Procaccia and N. Shah, "Beyond dominant resource
// fairness", EC 2012). Nor does any under balanced fairness: one job i of a set S has φ_i =
// Φ(S-i)/Φ(S), its profile does not enter Φ(S-i), and with a larger profile Φ(S) = max_j Σ_k a_kj
// Φ(S-k) is no smaller, by induction on S. So neither is searched.
func (l *liar) search(ctx context.Context) lieTry {
	dims := len(l.truth)
	if l.maxFactor > 1 {
		dims++
	}
	random := rand.New(rand.NewPCG(1, 2))
	tries := []lieTry{{make([]float64, dims), l.tasks}}
	try := func(at []float64) {
		parts, _ := l.profile(at)
		tries = append(tries, lieTry{at, l.runs(ctx, parts)})
	}
	onLine := max(1, min(64, l.limit/4/dims))
	for d := range dims {
		for k := 1; k <= onLine && l.evaluations < l.limit && ctx.Err() == nil; k++ {
			at := make([]float64, dims)
			at[d] = float64(k) / float64(onLine)
			try(at)
		}
	}
	for dims > 1 && l.evaluations < l.limit/2 && ctx.Err() == nil {
		at := make([]float64, dims)
		for d := range at {
			if random.IntN(3) > 0 {
				at[d] = random.Float64()
			}
		}
		try(at)
	}
	slices.SortStableFunc(tries, func(a, b lieTry) int { return cmp.Compare(b.runs, a.runs) })
	best := tries[0]
	var starts []lieTry
	for _, from := range tries {
		if slices.ContainsFunc(starts, func(s lieTry) bool { return isNear(s.at, from.at) }) {
			continue
		}
		if l.evaluations >= l.limit/4*3 {
			break
		}
		starts = append(starts, from)
		if found := l.climb(ctx, from, 1./16, 1e-4, l.limit/4*3, random); found.runs > best.runs {
			best = found
		}
	}
	return l.climb(ctx, best, 1e-2, 1e-11, l.limit, random)
}

// isNear reports whether two points differ by less than 1/16 in every coordinate.
func isNear(x, y []float64) bool {
	for d := range x {
		if math.Abs(x[d]-y[d]) >= 1./16 {
			return false
		}
	}
	return true
}

// climb starts at a point and takes steps along the axes and in random directions. Step sizes are
// doubled after a success and halved after a round of failures, until they are below least or the
// evaluations reach their limit. The best lie is often on an edge at which a resource becomes or
// ceases to be saturated; random directions are needed along such edges.
func (l *liar) climb(ctx context.Context, from lieTry, step, least float64, until int, random *rand.Rand) lieTry {
	best := from
	dims := len(from.at)
	direction := make([]float64, dims)
	for step > least {
		moved := false
		for k := 0; k < 4*dims && !moved; k++ {
			if l.evaluations >= until || ctx.Err() != nil {
				return best
			}
			clear(direction)
			if k < 2*dims {
				direction[k/2] = float64(1 - k%2*2)
			} else {
				for d := range direction {
					direction[d] = random.NormFloat64()
				}
			}
			at := slices.Clone(best.at)
			for d, x := range direction {
				at[d] = min(max(at[d]+step*x, 0), 1)
			}
			if slices.Equal(at, best.at) {
				continue
			}
			parts, _ := l.profile(at)
			if runs := l.runs(ctx, parts); runs > best.runs*(1+1e-14) { // smaller gains are rounding
				best, moved = lieTry{at, runs}, true
			}
		}
		if moved {
			step = min(2*step, 1./4)
		} else {
			step /= 2
		}
	}
	return best
}
