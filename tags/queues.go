package tags

import (
	"context"
	"fmt"
	"math"

	"productform/internal/input"
	"productform/num"
	"productform/sizes"
)

// MaxQueueHosts is the largest number of hosts for the policies that do not know sizes.
const MaxQueueHosts = 1000000

// queue implements [Evaluate] for the policies that do not know sizes.
func (m Model) queue(ctx context.Context, p Policy) (Result, error) {
	l, err := m.unknown(ctx)
	if err != nil {
		return Result{}, err
	}
	if p != PolicyRandom {
		if err := m.checkEqual(); err != nil {
			return Result{}, err
		}
	}
	q := m.perHost(l)
	r := Result{Policy: p, Kind: Exact, ArrivalRate: value(m.rate(l)), NoSlowdown: l.noInverse}
	var low, high float64
	switch p {
	case PolicyRandom:
		low = q.random()
		high = low
	case PolicyRoundRobin:
		low, high = q.roundRobin(float64(m.Hosts))
		if m.Hosts > 1 {
			r.Kind = Bounds
		}
	default:
		factor := 1.0
		if p == PolicyCentralPrinted {
			factor = 2
		}
		low = factor * q.central(m.Hosts, erlangC(m.Hosts, m.Load))
		high = low
		r.Kind = m.centralKind(p)
	}
	number := func(low, high float64) num.Value {
		if r.Kind != Bounds {
			return value(high)
		}
		return num.BetweenFloats(low, high)
	}
	r.MeanWaiting, r.MeanDelay = number(low, high), number(low+q.service, high+q.service)
	if !l.noInverse {
		pace := q.service / l.mean
		r.MeanSlowdown = number(low*l.inverse, high*l.inverse)
		r.MeanStretch = number(low*l.inverse+pace, high*l.inverse+pace)
	}
	return r, checkFinite(r.ArrivalRate.Float, high, high*l.inverse, high+q.service)
}

// centralKind returns the accuracy of the waiting time of [PolicyCentral]: exact for one host, and
// for exponential sizes, M/M/h.
func (m Model) centralKind(p Policy) Kind {
	d, phased := m.Sizes.(sizes.Phased)
	if p == PolicyCentral && (m.Hosts == 1 || phased && d.Phases().Fixed == 1) {
		return Exact
	}
	return Approximation
}

// A queue holds the service times of a farm, E[s] = E[X] h/v and E[s²]/E[s] in seconds, and its
// work, a = h ρ, in hosts. For hosts of unequal speeds E[s] is that of random assignment.
type queue struct{ service, ratio, work, load float64 }

func (m Model) perHost(l *moments) queue {
	pace := float64(m.Hosts) / m.capacity()
	return queue{
		service: l.mean * pace, ratio: l.square / l.mean * pace, work: float64(m.Hosts) * m.Load, load: m.Load,
	}
}

func (q queue) random() float64 { return q.load * q.ratio / (2 * (1 - q.load)) }

// roundRobin returns bounds on E[W].
//
// Proof. In any GI/G/1 queue, with E[A] = h/λ and the idle period I (K. T. Marshall, "Some
// inequalities in queuing", Operations Research 16(3), 1968),
//
//	E[W] = E[(A-s)²]/(2 E[A-s]) - E[I²]/(2 E[I]).
//
// I is the remainder of an interarrival time A, a sum of h exponential phases of mean 1/λ, so it
// has j phases with some probability p_j, 1 <= j <= h, and E[I²]/(2 E[I]) = Σ_j p_j j(j+1) / (2λ
// Σ_j p_j j). It is at most (h+1)/(2λ), as j <= h: this gives the lower bound, which is Marshall's
// for interarrival times of decreasing mean residual life. Let c(x) be the convex function that is
// j(j+1) at the integers and linear between. By Jensen's inequality E[I²]/(2 E[I]) >= c(x)/(2λx), x
// = Σ_j p_j j, which grows in x, and x = λ E[I] >= λ E[A-s] = h-a since a busy period serves at
// least one job; x = h-a gives the upper bound. ∎ It is below the bound of D. J. Daley,
// "Inequalities for moments of tails of random variables, with a queueing application", Z.
// Wahrscheinlichkeitstheorie 41, 1977, 139–143, which holds for all A.
func (q queue) roundRobin(hosts float64) (low, high float64) {
	idle := hosts * (1 - q.load)
	low = max(0, q.work*q.ratio-q.service*(hosts-1)) / (2 * idle)
	return low, max(low, (q.work*q.ratio-q.regular())/(2*idle))
}

// regular returns E[s] n(2a-n-1)/a, n = ⌊a⌋: the waiting time that regular arrivals save, see
// [Evaluate].
func (q queue) regular() float64 {
	n := math.Floor(q.work)
	return q.service * (n * (2*q.work - n - 1) / q.work)
}

// central returns the waiting time in an M/G/h queue. With exponential sizes, its jobs wait with
// probability c.
func (q queue) central(hosts int, c float64) float64 {
	return c * q.ratio / (2 * float64(hosts) * (1 - q.load))
}

// checkFinite returns an error if a mean exceeds the range of float64.
func checkFinite(means ...float64) error {
	for _, v := range means {
		if !(math.Abs(v) <= math.MaxFloat64) {
			return fmt.Errorf("tags: a mean: %w", sizes.ErrOverflow)
		}
	}
	return nil
}

// unknown checks m for a policy that does not know sizes, and returns their distribution.
func (m Model) unknown(ctx context.Context) (*moments, error) {
	if !(m.Hosts >= 1 && m.Hosts <= MaxQueueHosts) {
		return nil, input.Errorf("Hosts", m.Hosts, "a number of hosts from 1 to %d", MaxQueueHosts)
	}
	if err := m.checkSpeeds(); err != nil {
		return nil, err
	}
	one := m
	one.Hosts, one.Speeds, one.Fractions = 1, nil, nil
	if err := one.Validate(); err != nil {
		return nil, err
	}
	return newMoments(ctx, m)
}

// checkEqual rejects hosts of different speeds.
func (m Model) checkEqual() error {
	for i, v := range m.Speeds {
		if v != m.Speeds[0] {
			return input.Errorf(fmt.Sprintf("Speeds[%d]", i), v, "one speed for all hosts, %v, under this policy",
				m.Speeds[0])
		}
	}
	return nil
}
