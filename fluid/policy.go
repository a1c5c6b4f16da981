package fluid

import (
	"context"
	"math/big"
	"strconv"

	"productform/fluid/internal/prices"
	"productform/internal/input"
)

// A Policy selects one of the feasible allocations.
type Policy string

// The policies, as the package comment defines them.
const (
	PF     Policy = "pf"     // proportional fairness
	DRF    Policy = "drf"    // dominant resource fairness
	MaxMin Policy = "maxmin" // max-min fairness of the numbers of tasks
	BMF    Policy = "bmf"    // bottleneck max fairness
	BF     Policy = "bf"     // balanced fairness
)

// Policies returns all policies.
func Policies() []Policy { return []Policy{PF, DRF, MaxMin, BMF, BF} }

// Words returns the policy in words: "dominant resource fairness".
func (p Policy) Words() string {
	return map[Policy]string{PF: "proportional fairness", DRF: "dominant resource fairness", MaxMin: "max-min fairness",
		BMF: "bottleneck max fairness", BF: "balanced fairness"}[p]
}

// Check returns an *[num.InputError] at path for an unknown policy.
func (p Policy) Check(path string) error {
	for _, q := range Policies() {
		if p == q {
			return nil
		}
	}
	return input.Errorf(path, strconv.Quote(string(p)), "one of pf, drf, maxmin, bmf, bf")
}

// A method is the algorithm of a policy.
type method struct {
	policy  Policy
	kernel  func(*problem) kernel                                // in float64
	exact   func(*Profiles, context.Context) ([]*big.Rat, error) // in fractions; nil if there is none
	seconds func(*Profiles) float64                              // estimated time of exact
	// l_i of [problem.residual] at resource j; nil if there is none
	level  func(p *problem, share []float64, i, j int) float64
	limits bool // whether kernel and exact support limits on tasks
	always bool // whether exact needs no kernel and cannot fail
	// alternative if float64 has no answer, as worded in errors
	other string
}

// method returns the method of a valid policy.
func (p Policy) method() method {
	switch p {
	case PF:
		return method{policy: p, kernel: func(p *problem) kernel { return prices.NewSolver(p.need, p.weight) }}
	case DRF:
		return method{policy: p, limits: true, always: true, other: orExact,
			kernel:  func(p *problem) kernel { return newFilling(p, p.weight) },
			exact:   func(e *Profiles, ctx context.Context) ([]*big.Rat, error) { return e.fill(ctx, e.Weight) },
			seconds: func(e *Profiles) float64 { return e.fillSeconds(e.Weight) },
			level:   func(p *problem, share []float64, i, _ int) float64 { return share[i] / p.weight[i] }}
	case MaxMin:
		return method{policy: p, limits: true, always: true, other: orExact,
			kernel:  func(p *problem) kernel { return newFilling(p, p.speed) },
			exact:   func(e *Profiles, ctx context.Context) ([]*big.Rat, error) { return e.fill(ctx, e.Speeds()) },
			seconds: func(e *Profiles) float64 { return e.fillSeconds(e.Speeds()) },
			level:   func(p *problem, share []float64, i, _ int) float64 { return share[i] / p.speed[i] }}
	case BMF:
		return method{
			policy:  p,
			kernel:  newBottleneck,
			exact:   (*Profiles).bottleneck,
			seconds: (*Profiles).bottleneckSeconds,
			level: func(p *problem, share []float64, i, j int) float64 {
				return share[i] * p.need[j][i] / p.weight[i]
			},
		}
	}
	return method{
		policy:  p,
		limits:  true,
		other:   orExact,
		kernel:  newBalanced,
		exact:   (*Profiles).balanced,
		seconds: (*Profiles).balancedSeconds,
	}
}

const orExact = ", or the engine exact"
