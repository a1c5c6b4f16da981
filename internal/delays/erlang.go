package delays

import (
	"math/big"

	"productform/internal/arithmetic"
)

// A Queue is a pool of equal servers with one queue, whose waiting jobs may give up: the M/M/n+M
// queue of Palm. Its numbers must be in the ranges of their comments. With nμ = n/σ, N jobs in the
// system and k >= 0 of them waiting,
//
//	P(N = n+k) = P(N = n) t_k,  t_k = λ^k / Π_{i=1..k} (nμ+iθ),  P(N < n) = P(N = n) (1/B(n) - 1),
//
// where B is Erlang's formula. A job that finds k waiting is served with probability
// nμ/(nμ+(k+1)θ), and
//
//	P(W > 0)      = P(N = n) Σ_k t_k
//	E[W; served]  = P(N = n) Σ_k t_k nμ/(nμ+(k+1)θ) Σ_{i=1..k+1} 1/(nμ+iθ)
//	E[W; gave up] = P(N = n) Σ_k t_k  1/(nμ+(k+1)θ) Σ_{i=1..k+1} iθ/(nμ+iθ).
//
// The formulas are those of Palm (1957), Baccelli and Hebuterne (1981), and Mandelbaum and Zeltyn
// ("The impact of customers' patience on delay and abandonment", OR Spectrum 26, 2004).
type Queue struct {
	Servers      int      // n >= 1
	ArrivalRate  *big.Rat // λ > 0, jobs per unit of time
	MeanDuration *big.Rat // σ = 1/μ > 0, mean time that a job runs

	// MeanPatience is 1/θ >= 0. If it is 0, jobs that find all servers busy are lost (Erlang B). If
	// it is nil, no jobs give up (Erlang C), and λσ < n.
	MeanPatience *big.Rat
}

// Measures are the stationary measures of a [Queue]. The waiting W of a job ends when it starts or
// gives up.
type Measures struct {
	Wait             arithmetic.Number  // P(W > 0)
	Abandon          arithmetic.Number  // P(gave up)
	Served           arithmetic.Number  // P(served)
	Waiting          arithmetic.Number  // E[W]
	WaitingServed    arithmetic.Number  // E[W | served]
	WaitingAbandoned *arithmetic.Number // E[W | gave up]; nil if no jobs give up
	Queue            arithmetic.Number  // mean number of waiting jobs
	Busy             arithmetic.Number  // mean number of busy servers
	Utilization      arithmetic.Number
}

// Measures returns the means.
func (l *Line) Measures() *Measures {
	m := &Measures{
		Wait: probability(l.wait.Quo(l.total)), Abandon: probability(l.lost.Quo(l.total)), Served: l.probServed(),
		Waiting: l.servedWait.Add(l.lostWait).Quo(l.total), WaitingServed: l.servedWait.Quo(l.servedTotal),
	}
	if !l.lost.IsZero() {
		x := l.lostWait.Quo(l.lost)
		m.WaitingAbandoned = &x
	}
	m.Queue = m.Waiting.Mul(l.lambda)
	m.Busy = m.Served.Mul(l.one.Rational(l.load()))
	m.Utilization = probability(m.Busy.Quo(l.one.Integer(l.q.Servers)))
	return m
}

// probability returns x, or 1 with the bound of x if rounding made a probability larger than 1.
func probability(x arithmetic.Number) arithmetic.Number {
	if x.Interval.Low == nil && x.Double() > 1 {
		return arithmetic.FromFloat(1, x.Bound)
	}
	return x
}

func integer(n int) *big.Rat { return big.NewRat(int64(n), 1) }
