package bf

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
)

// A ClosedForm holds exact measures of a cluster whose balanced fairness has a closed form. Jobs
// have mean size 1, so capacities are in jobs per unit of time.
type ClosedForm struct {
	Normalization *big.Rat   // Z = Σ_x Φ(x) Π_i λ_i^x_i, 1/P(empty)
	MeanJobs      *big.Rat   // E[Σ_i X_i]
	MeanDelay     *big.Rat   // E[Σ_i X_i] / Σ_i λ_i; nil if no jobs arrive
	ClassJobs     []*big.Rat // E[X_i]; nil if the formula gives the total only
	Utilization   []*big.Rat // one entry per server, or a single entry if all are equal
}

// ThreeServers returns the mean service rates γ_1, γ_2 of two classes on three servers. Servers
// with capacities mu1 and mu2 are dedicated to classes 1 and 2; both classes share a server with
// capacity mu3. With μ = μ1+μ2+μ3, ρ_i = λ_i/(μ_i+μ3) and ρ = (λ1+λ2)/μ,
//
//	1/γ_1 = 1/(μ(1-ρ)) + μ2/(μ1+μ3) (1-ρ_2)/(1-ρ_1) / (μ - (μ1+μ3)ρ_1 - (μ2+μ3)ρ_2 + μ3 ρ_1 ρ_2).
//
// Exchanging the indices 1 and 2 gives γ_2 ([BC17], equations (10) and (11): Bonald and Comte,
// "Balanced fair resource sharing in computer clusters", 2017). The mean delay of class i is 1/γ_i
// and E[X_i] = λ_i/γ_i. A rate of 0 gives the limit, the service rate of a single job of that
// class.
//
// Rates and capacities must be >= 0, and μ1+μ3 and μ2+μ3 positive. The error is a
// [*cluster.UnstableError] unless ρ_1 < 1, ρ_2 < 1 and ρ < 1.
func ThreeServers(lambda1, lambda2, mu1, mu2, mu3 *big.Rat) (gamma1, gamma2 *big.Rat, err error) {
	for _, v := range []struct {
		path  string
		value *big.Rat
	}{{"lambda1", lambda1}, {"lambda2", lambda2}, {"mu1", mu1}, {"mu2", mu2}, {"mu3", mu3}} {
		if err := checkNonnegative(v.path, v.value); err != nil {
			return nil, nil, err
		}
	}
	mu13, mu23 := add(mu1, mu3), add(mu2, mu3)
	mu := add(mu13, mu2)
	if err := checkPositive("mu1 + mu3", mu13); err != nil {
		return nil, nil, err
	}
	if err := checkPositive("mu2 + mu3", mu23); err != nil {
		return nil, nil, err
	}
	for _, s := range []*cluster.UnstableError{
		{Classes: []int{0}, ArrivalRate: lambda1, Capacity: mu13},
		{Classes: []int{1}, ArrivalRate: lambda2, Capacity: mu23},
		{Classes: []int{0, 1}, ArrivalRate: add(lambda1, lambda2), Capacity: mu},
	} {
		if s.ArrivalRate.Cmp(s.Capacity) >= 0 {
			return nil, nil, s
		}
	}
	rho1, rho2 := quo(lambda1, mu13), quo(lambda2, mu23)
	common := inv(sub(mu, add(lambda1, lambda2)))
	den := sub(add(mu, mul(mu3, rho1, rho2)), add(mul(mu13, rho1), mul(mu23, rho2)))
	idle1, idle2 := sub(ratOne, rho1), sub(ratOne, rho2)
	gamma1 = inv(add(common, quo(mul(quo(mu2, mu13), quo(idle2, idle1)), den)))
	gamma2 = inv(add(common, quo(mul(quo(mu1, mu23), quo(idle1, idle2)), den)))
	return gamma1, gamma2, nil
}

// A RandomClass describes jobs that are each assigned Choose servers drawn uniformly at random.
type RandomClass struct {
	ArrivalRate *big.Rat // λ_t >= 0
	Choose      int      // d_t, 1..S
}

// RandomAssignment returns the measures of S equal servers of capacity mu, where each job of class
// t is assigned d_t servers drawn uniformly at random. Let p_t(k) = C(k,d_t)/C(S,d_t) be the
// probability that they are all among k given servers, and λ(k) = Σ_t λ_t p_t(k). Then
//
//	Z = Π_{k=1}^S k μ/(k μ - λ(k)),  E[X_t] = λ_t d log Z/dλ_t = Σ_{k=1}^S λ_t p_t(k)/(k μ - λ(k)),
//
// and every server is busy with probability λ/(S μ). For a single class, E[X] = Σ_{s=d}^S
// ρ_s/(1-ρ_s) with ρ_s = λ C(s,d)/C(S,d)/(s μ) (Gardner et al., "Redundancy-d: the power of d
// choices for redundancy", Operations Research 65, 2017; [BC17] section 5).
//
// RandomAssignment takes O(S) rational operations per class, on numbers that grow with S. For large
// S use [RandomAssignmentFloat]. The error wraps [num.ErrUnstable] if λ >= S μ. If ctx is
// cancelled, RandomAssignment returns ctx.Err() promptly.
func RandomAssignment(ctx context.Context, servers int, mu *big.Rat, classes []RandomClass) (*ClosedForm, error) {
	if servers < 1 {
		return nil, input.Errorf("servers", servers, "an integer >= 1")
	}
	if err := checkPositive("mu", mu); err != nil {
		return nil, err
	}
	total, every := new(big.Rat), []int(nil)
	for t, class := range classes {
		if err := checkNonnegative(fmt.Sprintf("classes[%d].arrival_rate", t), class.ArrivalRate); err != nil {
			return nil, err
		}
		if class.Choose < 1 || class.Choose > servers {
			return nil, input.Errorf(fmt.Sprintf("classes[%d].choose", t), class.Choose,
				"an integer in 1..%d, the number of servers", servers)
		}
		total.Add(total, class.ArrivalRate)
		every = append(every, t)
	}
	all := mul(big.NewRat(int64(servers), 1), mu)
	if total.Cmp(all) >= 0 { // p_t(k)/k grows with k, so k = S binds
		return nil, &cluster.UnstableError{Classes: every, ArrivalRate: total, Capacity: all}
	}
	c := &ClosedForm{ClassJobs: make([]*big.Rat, len(classes))}
	factors, terms := make([]*big.Rat, servers), make([][]*big.Rat, len(classes))
	inside := make([]*big.Rat, len(classes)) // λ_t p_t(k)
	for t, class := range classes {
		terms[t] = make([]*big.Rat, servers)
		inside[t] = new(big.Rat).Set(class.ArrivalRate) // at k = S
	}
	jobs, rate := new(big.Rat), new(big.Rat).Set(total)
	for k := servers; k >= 1; k-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		capacity := mul(big.NewRat(int64(k), 1), mu)
		slack := sub(capacity, rate)
		factors[k-1] = quo(capacity, slack)
		rate = new(big.Rat)
		for t, class := range classes {
			terms[t][k-1] = quo(inside[t], slack)
			// C(k-1,d) = C(k,d) (k-d)/k is 0 at k = d and remains 0 below
			inside[t] = mul(inside[t], big.NewRat(int64(max(k-class.Choose, 0)), int64(k)))
			rate.Add(rate, inside[t])
		}
	}
	c.Normalization = byHalves((*big.Rat).Mul, factors)
	for t := range classes {
		c.ClassJobs[t] = byHalves((*big.Rat).Add, terms[t])
		jobs.Add(jobs, c.ClassJobs[t])
	}
	c.Utilization = []*big.Rat{quo(total, all)}
	c.setTotals(jobs, total)
	return c, nil
}

// byHalves returns the sum or product of at least one number, which it may overwrite. Combined by
// halves, most operands are short.
func byHalves(op func(z, x, y *big.Rat) *big.Rat, v []*big.Rat) *big.Rat {
	if len(v) == 1 {
		return v[0]
	}
	half := len(v) / 2
	return op(v[0], byHalves(op, v[:half]), byHalves(op, v[half:]))
}

// RandomAssignmentFloat returns the mean number of jobs on S equal servers, where each job runs on
// d servers drawn uniformly at random, at load ρ = λ/(S μ) in [0, 1). It takes O(S) time and also
// returns a proved bound on the relative error:
//
//	E[X] = Σ_{s=d}^S ρ_s/(1-ρ_s),  ρ_S = ρ,  ρ_{s-1} = ρ_s (s-d)/(s-1).
//
// ρ_s carries 2(S-s) roundings (none if d = 1). The division by 1-ρ_s magnifies them 1/(1-ρ_s)
// times; the term adds two more, and the sum one per term. For d > 1, 1-ρ_s >= 1/S if s < S, so
// second orders stay below 1/1000 of this while S <= 2^20. The mean delay is E[X]/(ρ S μ). For a
// load of at least 1 the error wraps [num.ErrUnstable].
func RandomAssignmentFloat(servers, choose int, load float64) (meanJobs, relativeErrorBound float64, err error) {
	const u = 0x1p-53
	if servers < 1 || servers > 1<<20 {
		return 0, 0, input.Errorf("servers", servers, "an integer in 1..2^20")
	}
	if choose < 1 || choose > servers {
		return 0, 0, input.Errorf("choose", choose, "an integer in 1..%d, the number of servers", servers)
	}
	if load >= 1 && load <= math.MaxFloat64 {
		return 0, 0, fmt.Errorf("load %v, want < 1: %w", load, num.ErrUnstable)
	}
	if !(load == 0 || load >= 0x1p-900 && load < 1) {
		return 0, 0, input.Errorf("load", load, "0 or a number in [2^-900, 1)") // so ρ_s may underflow unnoticed
	}
	if load == 0 {
		return 0, 0, nil
	}
	var sum, lost, roundings float64
	rho := load
	for s := servers; s >= choose; s-- {
		term := rho / (1 - rho)
		sum += term
		lost += term * (2 + roundings/(1-rho))
		if choose > 1 {
			rho *= float64(s-choose) / float64(s-1)
			roundings += 2
		}
	}
	return sum, 1.01 * u * (lost/sum + float64(servers-choose+1)), nil
}

// setTotals sets the mean number of jobs and, by Little's law, the mean delay.
func (c *ClosedForm) setTotals(jobs, rate *big.Rat) {
	c.MeanJobs = jobs
	if rate.Sign() > 0 {
		c.MeanDelay = quo(jobs, rate)
	}
}

func checkNonnegative(path string, v *big.Rat) error {
	if v == nil || v.Sign() < 0 {
		return badRat(path, v, "a number >= 0")
	}
	return nil
}

func checkPositive(path string, v *big.Rat) error {
	if v == nil || v.Sign() <= 0 {
		return badRat(path, v, "a number > 0")
	}
	return nil
}

func badRat(path string, v *big.Rat, want string) error {
	if v == nil {
		return input.Errorf(path, "", "%s", want)
	}
	return input.Errorf(path, v.RatString(), "%s", want)
}

var ratOne = big.NewRat(1, 1) // never modified

func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
func quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }
func inv(a *big.Rat) *big.Rat    { return new(big.Rat).Inv(a) }

func mul(a *big.Rat, more ...*big.Rat) *big.Rat {
	p := new(big.Rat).Set(a)
	for _, b := range more {
		p.Mul(p, b)
	}
	return p
}
