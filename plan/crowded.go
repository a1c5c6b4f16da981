package plan

import (
	"math"
	"math/big"

	"productform/network/loss"
	"productform/num"
)

// crowdedTol is the relative error of the numbers of [solveCrowded].
const crowdedTol = 1e-12

// solveCrowded solves an overloaded pool of patient jobs, whose servers are hardly ever idle. It
// returns nil unless this is proved by the following bounds, for n servers of rate μ, ρ = λ/nμ > 1
// and patience of mean 1/θ, in the notation of [loss.ErlangA].
//
// Since λ > nμ, 1/B(n) - 1 <= n, and t_m >= (2λ/(λ+nμ))^m for m = (λ-nμ)/2θ. So
//
//	P(N < n) = P(N = n) (1/B(n) - 1) <= ε = n (2λ/(λ+nμ))^-m.
//
// The servers are busy for a fraction u of the time, 1-ε <= u <= 1. Jobs give up with probability
// 1 - u/ρ, which is θ E[W]. Let V be the time after which an arriving job would begin. Its density
// at x > 0 is proportional to exp(λ (1-e^{-θx})/θ - nμx), whose exponent is concave and increases
// up to 2h = log(ρ)/θ. Its slope at h is nμ(√ρ-1), so
//
//	P(V <= t) <= δ = ε + (t/h) exp(-(h-t) nμ (√ρ-1)),  t < h,
//	P(W <= t) = 1 - P(V > t) e^{-θt},  P(served and W <= t) <= P(V <= t).
func solveCrowded(pool *loss.Queue, times timesAsked) *poolSolution {
	if pool.MeanPatience == nil || pool.MeanPatience.Sign() == 0 {
		return nil
	}
	servers := big.NewRat(int64(pool.Servers), 1)
	served := new(big.Rat).Quo(servers, new(big.Rat).Mul(pool.ArrivalRate, pool.MeanDuration)) // 1/ρ
	if served.Cmp(one) >= 0 {
		return nil
	}
	lost := new(big.Rat).Sub(one, served)
	rate, patience, n := num.Nearest(pool.ArrivalRate), num.Nearest(pool.MeanPatience), float64(pool.Servers)
	rho, excess := 1/num.Nearest(served), num.Nearest(lost)*rate // λ/nμ, λ-nμ
	// the factors 0.99 cover roundings, and m is rounded down
	idle := math.Exp(math.Log(n) - (0.99*excess*patience/2-1)*math.Log1p(excess/(2*rate-excess)))
	if small := crowdedTol / 10 * min(1, excess/rate); !(idle <= small) {
		return nil
	}
	near := func(x *big.Rat) *num.Value { return withBounds(&num.Value{Float: num.Nearest(x)}, crowdedTol) }
	waiting := new(big.Rat).Mul(lost, pool.MeanPatience)
	delay := new(big.Rat).Add(waiting, new(big.Rat).Mul(served, pool.MeanDuration))
	s := &poolSolution{engine: num.Float, bound: crowdedTol, utilization: boundedValue(1-crowdedTol, 1, 1)}
	s.class = ClassSolution{MeanDelay: near(delay), MeanWaiting: near(waiting), Abandon: near(lost)}
	h := patience * math.Log(rho) / 2
	for _, time := range times {
		t := num.Nearest(time)
		soon := idle + t/h*math.Exp(-0.99*(h-t)*rate/rho*(math.Sqrt(rho)-1))
		if !(t < h/2 && soon*rho <= crowdedTol/10) {
			return nil
		}
		ended := -math.Expm1(-t / patience)
		s.class.within = append(s.class.within, levels{
			waiting: boundedValue(ended*(1-crowdedTol), min(1, ended+crowdedTol), ended),
			served:  boundedValue(0, crowdedTol, 0), servedShare: boundedValue(0, crowdedTol, 0),
		})
	}
	return s
}

// boundedValue returns a value with bounds.
func boundedValue(low, high, x float64) *num.Value {
	return &num.Value{Float: x, Low: big.NewFloat(low), High: big.NewFloat(high)}
}
