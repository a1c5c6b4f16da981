package oneserver

import (
	"context"

	"productform/internal/arithmetic"
)

// addNumbers adds the distributions of the numbers of jobs of a part. Those of the parts are
// independent.
func (b *builder) addNumbers(w *sweep) error {
	most := b.question.MaxJobs
	queue, jobs := make([]arithmetic.Number, most+1), make([]arithmetic.Number, most+1)
	for n := range queue {
		queue[n], jobs[n] = b.one.Zero(), b.one.Zero()
	}
	err := w.waiting(b.ctx, most, func(j, busy int, p arithmetic.Number) {
		queue[j] = queue[j].Add(p)
		if n := j + busy; n <= most {
			jobs[n] = jobs[n].Add(p)
		}
	})
	for n := range queue {
		queue[n], jobs[n] = queue[n].Quo(w.z), jobs[n].Quo(w.z)
	}
	b.queue, b.jobs = convolve(b.queue, queue), convolve(b.jobs, jobs)
	return err
}

// waiting calls visit with each number j = 0..most of waiting jobs, each number of busy servers, and
// Z times a probability whose sum over the calls is that of j. With z λ in place of λ, F(k) is
// Σ_j f_j(k) z^j,
//
//	μ(k) f_j(k) = Σ_g f_j(k-e_g) + λ(k) f_{j-1}(k),  f_0(0) = 1.
func (s *sweep) waiting(ctx context.Context, most int, visit func(j, busy int, p arithmetic.Number)) error {
	f := make([]arithmetic.Number, s.States)
	for j := range most + 1 {
		x, busy := make([]int, len(s.groups)), 0
		for at := range f {
			if err := ctx.Err(); err != nil {
				return err
			}
			sum := s.one.Zero()
			if j > 0 {
				sum = s.held[at].Mul(f[at])
			}
			busy = 0
			for g, k := range x {
				if k > 0 {
					sum = sum.Add(f[at-s.Stride[g]])
				}
				busy += k
			}
			switch {
			case at > 0:
				f[at] = sum.Quo(s.work[at])
			case j == 0:
				f[at] = s.one
			default:
				f[at] = s.one.Zero()
			}
			visit(j, busy, f[at].Mul(s.free[at]))
			s.Next(x)
		}
	}
	return nil
}

// convolve returns the distribution of the sum of two independent numbers, up to the length of the
// second; a is nil for 0.
func convolve(a, b []arithmetic.Number) []arithmetic.Number {
	if a == nil {
		return b
	}
	sum := make([]arithmetic.Number, len(b))
	for n := range sum {
		sum[n] = a[0].Mul(b[n])
		for k := 1; k <= n; k++ {
			sum[n] = sum[n].Add(a[k].Mul(b[n-k]))
		}
	}
	return sum
}

// at returns P(n) of a distribution; nil means that there are always 0 jobs.
func at(p []arithmetic.Number, n int, one arithmetic.Number) arithmetic.Number {
	switch {
	case p != nil:
		return p[n]
	case n == 0:
		return one
	}
	return one.Zero()
}
