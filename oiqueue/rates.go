package oiqueue

import (
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/internal/ranktable"
)

// MMc returns the first-come first-served M/M/c queue with several classes: c = servers equal
// servers that each serve serviceRate > 0 jobs per unit of time, μ(x) = serviceRate min(c, Σ x_i).
func MMc(arrivalRates []*big.Rat, servers int, serviceRate *big.Rat) (*Queue, error) {
	if err := checkStation(arrivalRates, servers, serviceRate); err != nil {
		return nil, err
	}
	return limited(arrivalRates, servers, serviceRate, nil, slices.Repeat([]int{servers}, len(arrivalRates))), nil
}

// limited returns the queue of servers of one rate with limits on classes.
func limited(
	arrivalRates []*big.Rat, servers int, serviceRate *big.Rat, limits []ranktable.Limit, saturation []int,
) *Queue {
	held := ranktable.NewLimits(servers, len(arrivalRates), limits)
	rate := func(x []int) *big.Rat {
		p := new(big.Rat).SetInt64(int64(held.Busy(x)))
		return p.Mul(p, serviceRate)
	}
	return &Queue{ArrivalRates: arrivalRates, TotalRate: rate, Saturation: saturation}
}

// MSCCC returns the multiserver station with concurrent classes of customers: first-come
// first-served, servers equal servers, but at most b_i = limits[i] >= 1 jobs of class i in
// service at any time; a job held back lets later jobs of other classes pass. Nil limits
// mean 1 each. The rate is
//
//	μ(x) = serviceRate min(servers, Σ_i min(x_i, b_i)).
//
// Source: J.-Y. Le Boudec, "A BCMP extension to multiserver stations with concurrent classes of
// customers", SIGMETRICS 1986, 78–91.
func MSCCC(arrivalRates []*big.Rat, servers int, serviceRate *big.Rat, limits []int) (*Queue, error) {
	if err := checkStation(arrivalRates, servers, serviceRate); err != nil {
		return nil, err
	}
	if limits != nil && len(limits) != len(arrivalRates) {
		return nil, input.Errorf("limits", fmt.Sprintf("%d entries", len(limits)),
			"one for each of the %d classes, or nil",
			len(arrivalRates))
	}
	saturation, held := make([]int, len(arrivalRates)), make([]ranktable.Limit, len(arrivalRates))
	for i := range saturation {
		saturation[i] = 1
		if limits != nil {
			if limits[i] < 1 {
				return nil, input.Errorf(fmt.Sprintf("limits[%d]", i), limits[i], "a whole number >= 1")
			}
			saturation[i] = min(limits[i], servers)
		}
		held[i] = ranktable.Limit{Classes: []int{i}, Most: saturation[i]}
	}
	return limited(arrivalRates, servers, serviceRate, held, saturation), nil
}

// A Constraint is a node of a tree of concurrency constraints: at most Limit jobs of the
// classes at and below it are in service at any time.
type Constraint struct {
	Limit    int          // >= 1; at the root, the number of servers
	Classes  []int        // classes bound by this node and those above it only
	Children []Constraint // nodes with separate limits
}

// MSHCC returns the multiserver station with hierarchical concurrency constraints: equal
// servers of rate serviceRate take each job in the order of arrival unless a node above its
// class has its limit in service already. With used(v) = min(Limit_v, Σ_{i∈Classes_v} x_i +
// Σ_{w child of v} used(w)), the rate is μ(x) = serviceRate used(root). Each class must appear
// in exactly one node. MSCCC is a root whose children have one class each.
//
// Source: A. E. Krzesinski and R. Schassberger, "Product form solutions for multiserver centers
// with hierarchical concurrency constraints", Probability in the Engineering and Informational
// Sciences 6 (1992), 147–156.
func MSHCC(arrivalRates []*big.Rat, root Constraint, serviceRate *big.Rat) (*Queue, error) {
	if err := checkStation(arrivalRates, 1, serviceRate); err != nil {
		return nil, err
	}
	saturation := make([]int, len(arrivalRates))
	limits, _, err := limitsOf(root, "root", root.Limit, saturation)
	if err != nil {
		return nil, err
	}
	for i, m := range saturation {
		if m == 0 {
			return nil, input.Errorf("root", fmt.Sprintf("a tree without class %d", i),
				"each class from 0 to %d in exactly one node",
				len(saturation)-1)
		}
	}
	return limited(arrivalRates, root.Limit, serviceRate, limits, saturation), nil
}

// limitsOf checks the tree at v, whose path it takes for errors, and returns its limits and
// classes. It sets saturation to the smallest limit above each class, that above v being least.
func limitsOf(
	v Constraint, path string, least int, saturation []int,
) (limits []ranktable.Limit, classes []int, err error) {
	if v.Limit < 1 {
		return nil, nil, input.Errorf(path+".Limit", v.Limit, "a whole number >= 1")
	}
	least = min(least, v.Limit)
	for k, i := range v.Classes {
		if i < 0 || i >= len(saturation) || saturation[i] != 0 {
			return nil, nil, input.Errorf(fmt.Sprintf("%s.Classes[%d]", path, k), i,
				"a class from 0 to %d that no other node has", len(saturation)-1)
		}
		saturation[i] = least
	}
	classes = slices.Clone(v.Classes)
	for k, w := range v.Children {
		inside, below, err := limitsOf(w, fmt.Sprintf("%s.Children[%d]", path, k), least, saturation)
		if err != nil {
			return nil, nil, err
		}
		limits, classes = append(limits, inside...), append(classes, below...)
	}
	if len(classes) > 0 {
		limits = append(limits, ranktable.Limit{Classes: classes, Most: v.Limit})
	}
	return limits, classes, nil
}

func checkStation(arrivalRates []*big.Rat, servers int, serviceRate *big.Rat) error {
	if err := checkRates("ArrivalRates", arrivalRates); err != nil {
		return err
	}
	if servers < 1 {
		return input.Errorf("servers", servers, "a whole number >= 1")
	}
	if serviceRate == nil || serviceRate.Sign() <= 0 {
		return input.Errorf("serviceRate", show(serviceRate), "a number > 0")
	}
	return nil
}
