package traffic

import (
	"fmt"
	"math/big"
	"slices"

	"productform/fluid"
	"productform/internal/input"
	"productform/num"
)

// A Model is a set of resources and classes of jobs that arrive and depart. In files and errors,
// classes are called jobs.
type Model struct {
	Resources []fluid.Resource
	Classes   []Class
}

// A Class is a kind of job with its arrival rate and mean size.
type Class struct {
	Name        string       // not empty, and unique among the classes
	Demand      fluid.Demand // A_kj of resource j for each task, in the order of Model.Resources
	Weight      *big.Rat     // w_k > 0; nil means 1
	ArrivalRate *big.Rat     // λ_k >= 0, jobs per unit of time
	MeanSize    *big.Rat     // σ_k > 0, tasks times units of time; nil means 1

	// Declared is the profile that the policy assumes, if the jobs of the class lie; nil if they
	// are truthful. It is at least Demand for every resource. A task holds everything declared and
	// does the work of one task: if everything is declared twice as large, a share of the resources
	// does half the work. Loads are computed from the declared profiles.
	Declared fluid.Demand

	MaxTasks *big.Rat // L_k > 0, the maximum number of tasks that a job runs; nil means no limit
}

// An UnstableError names an overloaded resource. It wraps [num.ErrUnstable].
type UnstableError struct {
	Resource int      // row of the resource in Model.Resources with the largest load
	Load     *big.Rat // Σ_k λ_k σ_k a_kj >= 1
}

func (e *UnstableError) Unwrap() error { return num.ErrUnstable }

func (e *UnstableError) Error() string {
	return fmt.Sprintf("unstable: jobs bring at least as much work as a resource can do: the load of resource %d is %s",
		e.Resource, e.Load.RatString())
}

// Check reports whether the traffic is valid, as [fluid.Pool.Check] does: arrival rates are
// nonnegative, mean sizes are positive, and declared profiles are at least the true ones.
func (t *Model) Check() error { return trafficFile.CheckAll(t) }

// checkDeclared rejects a declared profile that is below the true one.
func (t *Model) checkDeclared() error {
	for k, c := range t.Classes {
		if c.Declared == nil {
			continue
		}
		for j, r := range t.Resources {
			need, declared := c.Demand.Of(j), c.Declared.Of(j)
			if declared.Cmp(need) >= 0 {
				continue
			}
			path := input.Field(input.Index("jobs", k)+".declared", r.Name)
			if j >= len(c.Declared) || c.Declared[j] == nil {
				return input.Errorf(path, "", "at least the demand, %s; a resource not named is 0", need.RatString())
			}
			return input.Errorf(path, declared.RatString(), "at least the demand, %s", need.RatString())
		}
	}
	return nil
}

// Profile returns the profile that the policy assumes: Declared, or Demand.
func (c Class) Profile() fluid.Demand {
	if c.Declared != nil {
		return c.Declared
	}
	return c.Demand
}

// lies reports whether the profile that the policy assumes differs from the true one.
func (c Class) lies(resources int) bool {
	for j := range resources {
		if c.Profile().Of(j).Cmp(c.Demand.Of(j)) != 0 {
			return true
		}
	}
	return false
}

// Pool returns the pool with one job of each class, as the policy sees it.
func (t *Model) Pool() *fluid.Pool {
	p := &fluid.Pool{Resources: t.Resources, Jobs: make([]fluid.Job, len(t.Classes))}
	for k, c := range t.Classes {
		p.Jobs[k] = fluid.Job{Name: c.Name, Demand: c.Profile(), Weight: c.Weight, MaxTasks: c.MaxTasks}
	}
	return p
}

// Volume returns ρ_k = λ_k σ_k of each class, the mean number of tasks that would run if no job had
// to wait.
func (t *Model) Volume() []*big.Rat {
	rho := make([]*big.Rat, len(t.Classes))
	for k, c := range t.Classes {
		rho[k] = new(big.Rat).Mul(c.ArrivalRate, num.OrOne(c.MeanSize))
	}
	return rho
}

// Loads returns Σ_k λ_k σ_k a_kj of each resource j, with the profiles that the policy assumes.
func (t *Model) Loads() []*big.Rat {
	rho := t.Volume()
	loads := make([]*big.Rat, len(t.Resources))
	for j, r := range t.Resources {
		loads[j] = new(big.Rat)
		for k, c := range t.Classes {
			loads[j].Add(loads[j], new(big.Rat).Mul(rho[k], c.Profile().Of(j)))
		}
		loads[j].Quo(loads[j], r.Capacity)
	}
	return loads
}

// Scale returns the traffic with all arrival rates multiplied by the factor, which is at least 0.
func (t *Model) Scale(factor *big.Rat) *Model {
	out := *t
	out.Classes = slices.Clone(t.Classes)
	for k := range out.Classes {
		out.Classes[k].ArrivalRate = new(big.Rat).Mul(factor, t.Classes[k].ArrivalRate)
	}
	return &out
}

// CriticalScale returns the factor of all arrival rates at which the largest load is 1 and the
// numbers of jobs start to grow without limit; nil if no jobs arrive.
func (t *Model) CriticalScale() *big.Rat {
	j := t.Bottleneck()
	if j < 0 {
		return nil
	}
	return new(big.Rat).Inv(t.Loads()[j])
}

// Bottleneck returns the row of Resources with the largest load, the first of equal ones; -1 if no
// jobs arrive.
func (t *Model) Bottleneck() int {
	at, most := -1, new(big.Rat)
	for j, load := range t.Loads() {
		if load.Cmp(most) > 0 {
			at, most = j, load
		}
	}
	return at
}

// Stable returns nil if all loads are below 1, and otherwise an *[UnstableError] for the largest
// one: the numbers of jobs then grow without limit under every policy. With loads below 1 they stay
// finite for exponential sizes, all weights and all profiles; this is not proved for bottleneck max
// fairness.
func (t *Model) Stable() error {
	if worst := overload(t.Loads()); worst != nil {
		return worst
	}
	return nil
}

// overload returns the largest load that is 1 or more, nil if there is none.
//
// If all loads are at most L < 1, the numbers of jobs stay finite.
//
// Proof. Let y_k = x_k φ_k, and let f be a function of the state whose mean change per second is at
// maxProbability -1 outside a finite set (Foster's criterion); only its highest powers matter.
//
//   - Proportional fairness: y maximizes the concave G(y) = Σ_k w_k x_k log y_k, and ρ/L is
//     feasible, so 0 <= G(y) - G(ρ/L) <= Σ_k w_k x_k (y_k L/ρ_k - 1). So f = Σ_k w_k σ_k
//     x_k²/(2ρ_k) changes by Σ_k w_k x_k (1 - y_k/ρ_k) <= (1 - 1/L) Σ_k w_k x_k. This is the
//     function of T. Bonald and L. Massoulié, "Impact of fairness on Internet performance",
//     SIGMETRICS 2001.
//   - Max-min fairness: let v_k = w_k x_k/ρ_k, V the largest. Class k has a saturated resource j on
//     which no φ_l/w_l is larger, so 1 = Σ_l x_l φ_l a_lj <= φ_k/w_k Σ_l w_l x_l a_lj <= φ_k/w_k V
//     L, and y_k/ρ_k >= v_k/(V L). So f = Σ_k σ_k v_k^(p+1) / w_k changes in proportion to Σ_k
//     v_k^p (1 - y_k/ρ_k) <= V^p Σ_k u_k^p (1 - u_k/L) with u_k = v_k/V <= 1. The largest gives 1 -
//     1/L, each other at most L^p/(p+1), which vanishes for large p. The stability of weighted
//     max-min fairness for profiles of 0 and 1 is due to G. de Veciana, T. Lee and T.
//     Konstantopoulos, "Stability and performance analysis of networks supporting elastic
//     services", IEEE/ACM Transactions on Networking 9, 2001. Dominant resource fairness is the
//     same with tasks measured by their dominant share.
//   - With limits L_k these two are equal up to bounded terms. Under proportional fairness y' with
//     y'_k = min(ρ_k/L, x_k L_k) replaces ρ/L: it is feasible, and differs from it only where
//     x_k <= ρ_k/(L L_k), so the terms of such k are bounded. Under max-min fairness a class at its
//     limit has y_k/ρ_k = v_k L_k/w_k, which for large V is more than v_k/(V L).
//   - Balanced fairness: Σ_x Φ(x) Π_k ρ_k^x_k <= Π_j 1/(1 - load_j), times Π_k exp(ρ_k/L_k) over
//     the classes with limits, by the comparison under which [Solve] bounds tails.
func overload(loads []*big.Rat) *UnstableError {
	var worst *UnstableError
	one := big.NewRat(1, 1)
	for j, load := range loads {
		if load.Cmp(one) >= 0 && (worst == nil || load.Cmp(worst.Load) > 0) {
			worst = &UnstableError{Resource: j, Load: load}
		}
	}
	return worst
}
