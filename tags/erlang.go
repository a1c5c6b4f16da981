// This file computes Erlang's probabilities of blocking and waiting recursively in float64, without
// bounds. Package network/loss has them with bounds, and in fractions.

package tags

// nextErlangB returns B_n from B_{n-1}, the probability that a job is lost because all n servers
// are busy. Jobs bring the work of a > 0 servers:
//
//	B_0 = 1,  B_n = a B_{n-1}/(n + a B_{n-1}).
func nextErlangB(a, b float64, n int) float64 { return a * b / (float64(n) + a*b) }

// erlangC returns the probability that a job waits in the M/M/n queue of n >= 1 servers, at load ρ
// in (0, 1) per server. With a = n ρ it is
//
//	C = B_n/(1 - ρ + ρ B_n),
//
// in O(n) time, with a relative error of about n 1e-16. It returns 0 for a probability below the
// range of float64.
func erlangC(servers int, load float64) float64 {
	if servers == 1 {
		return load
	}
	a, b := float64(servers)*load, 1.0
	for n := 1; n <= servers; n++ {
		if b = nextErlangB(a, b, n); b < 0x1p-1022 { // B_n falls with n, but rounding would stop its fall
			return 0
		}
	}
	return b / (1 - load + load*b)
}
