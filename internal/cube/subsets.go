package cube

import "context"

// Sums over all subsets, or all supersets, of each of the 2^n subsets of n elements, in n 2^(n-1)
// additions: one element after another, those of the first-level cache first, then two at a time.
// They stop unfinished when the context is cancelled.

const transformBits = 12 // 2^12 words stay in the first-level cache

// bySplit runs a transform on the two halves of a long table in parallel, and joins them: the half
// without the highest element is added to the other (subsets) or vice versa (supersets).
func bySplit[T int64 | float64](
	ctx context.Context, t []T, workers int, transform func(context.Context, []T), join func(without, with []T),
) {
	if workers < 2 || len(t) < 1<<LeafBits {
		transform(ctx, t)
		return
	}
	half := len(t) / 2
	inParallel(func() { transform(ctx, t[:half]) }, func() { transform(ctx, t[half:]) })
	without, with := t[:half], t[half:]
	side := func(without, with []T) {
		InSlices(ctx, half/2, func(i, j int) { join(without[i:j], with[i:j]) })
	}
	inParallel(func() { side(without[:half/2], with[:half/2]) }, func() { side(without[half/2:], with[half/2:]) })
}

func inParallel(f, g func()) {
	done := make(chan struct{})
	go func() {
		f()
		close(done)
	}()
	g()
	<-done
}

// InSlices does the work on 0..n-1 in slices of 2^leafBits, until the context is cancelled.
func InSlices(ctx context.Context, n int, work func(first, last int)) {
	for i := 0; i < n && ctx.Err() == nil; i += 1 << LeafBits {
		work(i, min(n, i+1<<LeafBits))
	}
}

// AddSubsets replaces t(A) by Σ_{B⊆A} t(B). The length of t is a power of two, at least 8.
func AddSubsets(ctx context.Context, t []int64, workers int) {
	bySplit(ctx, t, workers, subsetSums, func(without, with []int64) { addTo(with, without) })
}

// AddSupersets replaces t(A) by Σ_{B⊇A} t(B), each through n additions. The length of t is a
// power of two, at least 8.
func AddSupersets(ctx context.Context, t []float64, workers int) {
	bySplit(ctx, t, workers, supersetSums, func(without, with []float64) { addTo(without, with) })
}

// subsetSums is addSubsets on one core.
func subsetSums(ctx context.Context, t []int64) {
	inner := min(len(t), 1<<transformBits)
	for start := 0; start < len(t) && ctx.Err() == nil; start += inner {
		shortSums(t[start : start+inner])
	}
	half := inner
	for ; 4*half <= len(t); half *= 4 {
		for q := t; len(q) > 0; q = q[4*half:] {
			a, b, c, d := q[:half], q[half:2*half], q[2*half:3*half], q[3*half:4*half]
			InSlices(ctx, half, func(i, j int) { addQuarters(a[i:j], b[i:j], c[i:j], d[i:j]) })
		}
	}
	if half < len(t) {
		InSlices(ctx, half, func(i, j int) { addTo(t[half+i:half+j], t[i:j]) })
	}
}

// shortSums is addSubsets for a table that stays in the first-level cache.
func shortSums[T int64 | float64](t []T) {
	for i := 0; i < len(t); i += 8 {
		p := (*[8]T)(t[i:])
		a0, a1, a2, a3, a4, a5, a6, a7 := p[0], p[0]+p[1], p[2], p[2]+p[3], p[4], p[4]+p[5], p[6], p[6]+p[7]
		a2, a3, a6, a7 = a2+a0, a3+a1, a6+a4, a7+a5
		p[0], p[1], p[2], p[3] = a0, a1, a2, a3
		p[4], p[5], p[6], p[7] = a4+a0, a5+a1, a6+a2, a7+a3
	}
	for half := 8; half < len(t); half *= 2 {
		for q := t; len(q) > 0; q = q[2*half:] {
			addTo(q[half:2*half], q[:half])
		}
	}
}

// supersetSums is addSupersets on one core.
func supersetSums(ctx context.Context, t []float64) {
	inner := min(len(t), 1<<transformBits)
	for start := 0; start < len(t) && ctx.Err() == nil; start += inner {
		part := t[start : start+inner]
		for i := 0; i < len(part); i += 8 {
			p := (*[8]float64)(part[i:])
			a0, a1, a2, a3, a4, a5, a6, a7 := p[0]+p[1], p[1], p[2]+p[3], p[3], p[4]+p[5], p[5], p[6]+p[7], p[7]
			a0, a1, a4, a5 = a0+a2, a1+a3, a4+a6, a5+a7
			p[0], p[1], p[2], p[3] = a0+a4, a1+a5, a2+a6, a3+a7
			p[4], p[5], p[6], p[7] = a4, a5, a6, a7
		}
		for half := 8; half < len(part); half *= 2 {
			for q := part; len(q) > 0; q = q[2*half:] {
				addTo(q[:half], q[half:2*half])
			}
		}
	}
	half := inner
	for ; 4*half <= len(t); half *= 4 {
		for q := t; len(q) > 0; q = q[4*half:] {
			a, b, c, d := q[3*half:4*half], q[2*half:3*half], q[half:2*half], q[:half]
			InSlices(ctx, half, func(i, j int) { addQuarters(a[i:j], b[i:j], c[i:j], d[i:j]) })
		}
	}
	if half < len(t) {
		InSlices(ctx, half, func(i, j int) { addTo(t[i:j], t[half+i:half+j]) })
	}
}

// addTo adds b to a, entry by entry.
func addTo[T int64 | float64](a, b []T) {
	a = a[:len(b)]
	for i, x := range b {
		a[i] += x
	}
}

// addQuarters processes two elements at once: it adds a to b and c, and all three to d. The
// additions are those of one element after another, so the digits do not depend on which elements
// are combined.
func addQuarters[T int64 | float64](a, b, c, d []T) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	for i, x := range a {
		y, z := b[i]+x, c[i]+x
		d[i] = (d[i] + c[i]) + y
		b[i], c[i] = y, z
	}
}
