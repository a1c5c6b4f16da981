// Package sizes holds distributions of job sizes: how large are jobs, how much of the work is in
// the large ones, and how much remains of a job that has run for a while? It provides moments and
// partial moments of any real order, distribution functions, quantiles, samples, and the
// exponential phases of some distributions.
//
// A size is work, X > 0. With F its distribution function, the partial moment of real order r over
// (a, b] is
//
//	E[X^r; a < X <= b] = ∫_(a,b] x^r dF(x).
//
// For example:
//
//	d, err := sizes.Parse("bounded-pareto:1.1:10000", 3)
//	if err != nil {
//		log.Fatal(err)
//	}
//	large, err := d.Quantile(0.99)
//	if err != nil {
//		log.Fatal(err)
//	}
//	work, err := d.PartialMoment(1, large, math.Inf(1))
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("the largest hundredth of the jobs, above %.1f, bring %.0f %% of the work\n", large, 100*work/3)
//	fmt.Printf("beyond size 10 lie %.3f of 3 units of work a job\n", d.MeanExcess(10))
//	// Output:
//	// the largest hundredth of the jobs, above 29.7, bring 43 % of the work
//	// beyond size 10 lie 1.341 of 3 units of work a job
//
// All distributions compute it directly over (a, b], never as a difference of two nearly equal
// numbers, so short intervals and far tails keep their digits. The building blocks are
//
//	∫_a^b t^(m-1) dt = b^m (1 - e^(-m l))/m,  l = ln(b/a),  with expm1, so that m may be near 0 and b near a,
//	∫_a^b t^(s-1) e^-t dt,  as a series of the former where t < 1/2, and by Gauss's rule in ln t elsewhere.
//
// Some distributions provide more: [Phased] ones their phases, [Unimodal] ones a density with one
// mode, [Atomic] ones a finite list of sizes.
//
// The distributions come from constructors, which check their arguments, and are immutable: all
// functions and methods may be used concurrently, [Distribution.Sample] and [Phases.Draw] with one
// source of random numbers per goroutine.
//
// Relative errors of moments, partial moments, densities, mean excesses and the smaller of CDF and
// Survival are about 1e-14 for numbers of usual size. They grow with the conditioning of the
// distribution: by |r ln x| units of 2^-53 for powers far from 1, and by |ln f(x)| units for a
// density f.
//
// [BC17] is Bonald and Comte, "Balanced fair resource sharing in computer clusters", Performance
// Evaluation 116, 2017, 70–83.
package sizes
