package oiqueue

import (
	"fmt"
	"math/big"

	"productform/internal/input"
)

// MMc returns the first-come first-served M/M/c queue with several classes: c = servers equal
// servers that each serve serviceRate > 0 jobs per unit of time, μ(x) = serviceRate min(c, Σ x_i).
func MMc(arrivalRates []*big.Rat, servers int, serviceRate *big.Rat) (*Queue, error) {
	if err := checkStation(arrivalRates, servers, serviceRate); err != nil {
		return nil, err
	}
	saturation := make([]int, len(arrivalRates))
	for i := range saturation {
		saturation[i] = servers
	}
	rate := func(x []int) *big.Rat {
		busy := 0
		for _, xi := range x {
			busy += min(xi, servers-busy)
		}
		return times(busy, serviceRate)
	}
	return &Queue{ArrivalRates: arrivalRates, TotalRate: rate, Saturation: saturation}, nil
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
		return nil, input.Errorf("limits", fmt.Sprintf("%d entries", len(limits)), "one for each of the %d classes, or nil", len(arrivalRates))
	}
	saturation := make([]int, len(arrivalRates))
	for i := range saturation {
		saturation[i] = 1
		if limits != nil {
			if limits[i] < 1 {
				return nil, input.Errorf(fmt.Sprintf("limits[%d]", i), limits[i], "a whole number >= 1")
			}
			saturation[i] = min(limits[i], servers)
		}
	}
	rate := func(x []int) *big.Rat {
		busy := 0
		for i, xi := range x {
			busy += min(xi, saturation[i], servers-busy)
		}
		return times(busy, serviceRate)
	}
	return &Queue{ArrivalRates: arrivalRates, TotalRate: rate, Saturation: saturation}, nil
}

// A Constraint is a node of a tree of concurrency constraints: at most Limit jobs of the
// classes at and below it are in service at any time.
type Constraint struct {
	Limit    int          // >= 1; at the root, the number of servers
	Classes  []int        // classes bound by this node and those above it only
	Children []Constraint // nodes with limits of their own
}

// MSHCC returns the multiserver station with hierarchical concurrency constraints: equal
// servers of rate serviceRate take each job in the order of arrival unless a node above its
// class has its limit in service already. With used(v) = min(Limit_v, Σ_{i∈Classes_v} x_i +
// Σ_{w child of v} used(w)), the rate is μ(x) = serviceRate used(root). Each class must appear
// in exactly one node. MSCCC is a root whose children have one class each.
//
// Source: A. E. Krzesinski and R. Schassberger, "Product form solutions for multiserver centers with hierarchical
// concurrency constraints", Probability in the Engineering and Informational Sciences 6 (1992), 147–156.
func MSHCC(arrivalRates []*big.Rat, root Constraint, serviceRate *big.Rat) (*Queue, error) {
	if err := checkStation(arrivalRates, 1, serviceRate); err != nil {
		return nil, err
	}
	saturation := make([]int, len(arrivalRates))
	root, err := copyTree(root, "root", root.Limit, saturation)
	if err != nil {
		return nil, err
	}
	for i, m := range saturation {
		if m == 0 {
			return nil, input.Errorf("root", fmt.Sprintf("a tree without class %d", i), "each class from 0 to %d in exactly one node", len(saturation)-1)
		}
	}
	rate := func(x []int) *big.Rat { return times(root.used(x), serviceRate) }
	return &Queue{ArrivalRates: arrivalRates, TotalRate: rate, Saturation: saturation}, nil
}

// used returns how many jobs at and below v are in service, of x_i waiting or in service.
func (v Constraint) used(x []int) int {
	busy := 0
	for _, i := range v.Classes {
		busy += min(x[i], v.Limit-busy)
	}
	for _, w := range v.Children {
		busy += min(w.used(x), v.Limit-busy)
	}
	return busy
}

// copyTree checks the tree at v, which stands at path below nodes of smallest limit least, and
// notes in saturation the smallest limit above each class. The copy protects the queue from
// later changes of the caller's tree.
func copyTree(v Constraint, path string, least int, saturation []int) (Constraint, error) {
	if v.Limit < 1 {
		return v, input.Errorf(path+".Limit", v.Limit, "a whole number >= 1")
	}
	least = min(least, v.Limit)
	v.Classes = append([]int(nil), v.Classes...)
	for k, i := range v.Classes {
		if i < 0 || i >= len(saturation) || saturation[i] != 0 {
			return v, input.Errorf(fmt.Sprintf("%s.Classes[%d]", path, k), i, "a class from 0 to %d that no other node has", len(saturation)-1)
		}
		saturation[i] = least
	}
	children := make([]Constraint, len(v.Children))
	for k, w := range v.Children {
		var err error
		if children[k], err = copyTree(w, fmt.Sprintf("%s.Children[%d]", path, k), least, saturation); err != nil {
			return v, err
		}
	}
	v.Children = children
	return v, nil
}

func times(k int, r *big.Rat) *big.Rat {
	p := new(big.Rat).SetInt64(int64(k))
	return p.Mul(p, r)
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
