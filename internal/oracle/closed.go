package oracle

import "math/big"

// A ClosedForm holds exact measures of a stable cluster for which balanced fairness has a closed
// formula. Jobs have mean size 1.
type ClosedForm struct {
	Normalization *big.Rat   // Z = Σ_x Φ(x) Π_i λ_i^x_i, 1/P(empty)
	MeanJobs      *big.Rat   // E[Σ_i X_i]
	ClassJobs     []*big.Rat // E[X_i]; nil if the formula gives only the total
	// one entry per server, or a single entry if all are equal; nil if not given by the formula
	Utilization []*big.Rat
}

// LineLocality returns the measures of S servers of capacity mu in a line where each job is served
// by r consecutive ones, the S-r+1 windows being equally likely, and jobs arrive at total rate λ.
// With λ(s) = λ (s-r+1)^+/(S-r+1), the rate of the windows inside s consecutive servers,
//
//	Z(0) = 1,  Z(s) = Σ_{t=1}^s μ Z(t-1) Z(s-t) / (s μ - λ(s)),
//
// since removing server t splits the line; Z = Z(S), server t is idle with probability Z(t-1)
// Z(S-t)/Z(S), and E[X] = λ Z'/Z, the derivative with respect to λ following the same recursion.
func LineLocality(servers, window int, lambda, mu *big.Rat) *ClosedForm {
	z, dz := lineWeights(servers, window, quo(lambda, big.NewRat(int64(servers-window+1), 1)), mu)
	c := &ClosedForm{Normalization: z[servers], MeanJobs: quo(dz[servers], z[servers])}
	for t := 1; t <= servers; t++ {
		c.Utilization = append(c.Utilization, sub(big.NewRat(1, 1), quo(mul(z[t-1], z[servers-t]), z[servers])))
	}
	return c
}

// RingLocality is [LineLocality] on a ring, whose S windows are equally likely. Removing one server
// leaves a line of S-1 servers with λ(s) = λ (s-r+1)^+/S, so
//
//	Z = S μ Z(S-1) / (S μ - λ),  E[X] = λ/(S μ - λ) + λ Z'(S-1)/Z(S-1),
//
// and every server is busy with probability λ/(S μ).
func RingLocality(servers, window int, lambda, mu *big.Rat) *ClosedForm {
	n := big.NewRat(int64(servers), 1)
	z, dz := lineWeights(servers-1, window, quo(lambda, n), mu)
	all, line := mul(n, mu), servers-1
	slack := sub(all, lambda)
	return &ClosedForm{
		Normalization: quo(mul(all, z[line]), slack),
		MeanJobs:      add(quo(lambda, slack), quo(dz[line], z[line])),
		Utilization:   []*big.Rat{quo(lambda, all)},
	}
}

// lineWeights returns Z(s) and λ dZ(s)/dλ for s = 0..n consecutive servers, whose windows of r
// servers have rate lambda each.
func lineWeights(n, r int, lambda, mu *big.Rat) (z, dz []*big.Rat) {
	z, dz = []*big.Rat{big.NewRat(1, 1)}, []*big.Rat{new(big.Rat)}
	for s := 1; s <= n; s++ {
		rate := mul(lambda, big.NewRat(int64(max(s-r+1, 0)), 1))
		slack := sub(mul(mu, big.NewRat(int64(s), 1)), rate)
		num, dnum := new(big.Rat), new(big.Rat)
		for t := 1; t <= s; t++ {
			num.Add(num, mul(z[t-1], z[s-t]))
			dnum.Add(dnum, add(mul(dz[t-1], z[s-t]), mul(z[t-1], dz[s-t])))
		}
		z = append(z, quo(mul(mu, num), slack))
		dz = append(dz, quo(add(mul(mu, dnum), mul(rate, z[s])), slack))
	}
	return z, dz
}

func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }
