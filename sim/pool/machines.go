package pool

import (
	"fmt"
	"math"
	"math/big"

	"productform/fluid"
	"productform/internal/input"
	"productform/num"
	"productform/sim"
	"productform/sizes"
)

// A taskPool is a checked [Tasks]. Amounts of each resource are integers in its own unit, so it is
// known exactly whether a task fits.
type taskPool struct {
	resources int
	capacity  []int64   // machine m, resource j at [m resources + j]
	demand    []int64   // task of class k, resource j at [k resources + j]
	whole     []float64 // capacity of all machines together
	machines  int
	most      []int64 // number of tasks of a class that fit on empty machines

	fluid  *fluid.Pool
	policy fluid.Policy
	wait   bool
	keys   []float64 // d_k/w_k under dominant resource fairness, otherwise nil

	durations []sizes.Distribution
	standing  bool
	counts    []int            // numbers of jobs of a standing population
	numbers   []taskNumber     // numbers of tasks of arriving jobs
	table     sizes.AliasTable // draws the class of an arrival
	rate      float64          // arrivals per second
}

// A taskNumber is a distribution of the number of tasks.
type taskNumber struct {
	fixed int64   // if > 0, the number for all jobs
	scale float64 // otherwise N = 1 + floor(scale E), E exponential with mean 1
}

// Limits on the number of units per 1 of a resource (in bits) and on the total capacity in units.
// They prevent sums of amounts from overflowing.
const (
	mostUnitBits = 62
	mostUnits    = 1 << 62
)

// measure expands the machines and converts all amounts to units.
func (t Tasks) measure() (*taskPool, error) {
	g := &taskPool{resources: len(t.Resources)}
	for _, m := range t.Machines {
		g.machines += max(m.Count, 1)
	}
	g.capacity = make([]int64, g.machines*g.resources)
	g.demand = make([]int64, len(t.Jobs)*g.resources)
	for j, r := range t.resources() {
		unit := t.unit(j)
		whole := inUnits(r.Capacity, unit)
		if unit.BitLen() > mostUnitBits || whole.Cmp(big.NewInt(mostUnits)) > 0 {
			return nil, t.fineError(j)
		}
		g.whole = append(g.whole, float64(whole.Int64()))
		place := j
		for _, m := range t.Machines {
			for range max(m.Count, 1) {
				g.capacity[place] = inUnits(amount(m.Capacity, j), unit).Int64()
				place += g.resources
			}
		}
		for k, c := range t.Jobs {
			need := inUnits(amount(c.Demand, j), unit)
			if need.Cmp(whole) > 0 {
				return nil, t.fitsNowhere(k)
			}
			g.demand[k*g.resources+j] = need.Int64()
		}
	}
	for k := range t.Jobs {
		most := g.fit(k)
		if most == 0 {
			return nil, t.fitsNowhere(k)
		}
		if most > sim.MaxJobs {
			return nil, input.Errorf(fmt.Sprintf("jobs[%d].demand", k),
				fmt.Sprintf("so small that %d tasks run at a time", most), "at most %d", sim.MaxJobs)
		}
		g.most = append(g.most, most)
	}
	return g, nil
}

// unit returns the number of units per 1 of resource j: the least common denominator of all
// amounts, or a divisor of it with more than mostUnitBits bits.
func (t Tasks) unit(j int) *big.Int {
	var amounts []*big.Rat
	for _, m := range t.Machines {
		amounts = append(amounts, amount(m.Capacity, j))
	}
	for _, c := range t.Jobs {
		amounts = append(amounts, amount(c.Demand, j))
	}
	unit := big.NewInt(1)
	for _, x := range amounts {
		if num.JoinDenominator(unit, x); unit.BitLen() > mostUnitBits {
			break
		}
	}
	return unit
}

// fineError returns the error for resource j, whose amounts have too large a common denominator.
func (t Tasks) fineError(j int) error {
	return input.Errorf(input.Index("resources", j), input.Quote(t.Resources[j]),
		"amounts that are integers over a common denominator, at most 2^62 in total")
}

// inUnits returns x unit, rounded down to an integer.
func inUnits(x *big.Rat, unit *big.Int) *big.Int {
	n := new(big.Int).Mul(x.Num(), unit)
	return n.Quo(n, x.Denom())
}

func (t Tasks) fitsNowhere(k int) error {
	return input.Errorf(
		fmt.Sprintf("jobs[%d].demand", k), "that of a task of "+t.Jobs[k].Name, "what fits on an empty machine",
	)
}

// fit returns the number of tasks of a class that fit on empty machines.
func (g *taskPool) fit(class int) (tasks int64) {
	need := g.demand[class*g.resources:][:g.resources]
	for m := range g.machines {
		here := int64(math.MaxInt64)
		for j, a := range need {
			if a > 0 {
				here = min(here, g.capacity[m*g.resources+j]/a)
			}
		}
		tasks += min(here, mostUnits/maxMachines)
	}
	return tasks
}

// addKeys computes d_k/w_k for dominant resource fairness.
func (g *taskPool) addKeys() error {
	if g.policy != fluid.DRF {
		return nil
	}
	for k, job := range g.fluid.Jobs {
		largest := new(big.Rat)
		for j, r := range g.fluid.Resources {
			if part := new(big.Rat).Quo(amount(job.Demand, j), r.Capacity); part.Cmp(largest) > 0 {
				largest = part
			}
		}
		key, _ := largest.Quo(largest, job.WeightOf()).Float64()
		if !(key >= 1e-300 && key <= 1e300) {
			return input.Errorf(
				fmt.Sprintf("jobs[%d].weight", k), job.WeightOf().RatString(), "a number in [1e-120, 1e120]",
			)
		}
		g.keys = append(g.keys, key)
	}
	return nil
}
