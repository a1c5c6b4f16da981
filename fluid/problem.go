package fluid

import (
	"math/big"
	"strings"

	"productform/internal/input"
)

// An exactProblem is a pool as the policies see it. Jobs are measured by their dominant share, so that every profile
// has 1 as its largest entry, whatever the units: a_ij/d_i of resource j goes with each unit of the dominant share
// φ_i d_i.
type exactProblem struct {
	need     [][]*big.Rat // a_ij/d_i in [0, 1], at [i][j]
	dominant []*big.Rat   // d_i = max_j a_ij
	weight   []*big.Rat   // w_i
	count    []*big.Rat   // jobs in the row
	top      []int        // the dominant resource, the first of equal ones
}

// newExactProblem returns the problem of a pool that was checked.
func newExactProblem(p *Pool) *exactProblem {
	n := len(p.Jobs)
	e := &exactProblem{
		need: make([][]*big.Rat, n), dominant: make([]*big.Rat, n), weight: make([]*big.Rat, n),
		count: make([]*big.Rat, n), top: make([]int, n),
	}
	for i, job := range p.Jobs {
		e.need[i] = make([]*big.Rat, len(p.Resources))
		e.dominant[i] = new(big.Rat)
		for j, r := range p.Resources {
			e.need[i][j] = new(big.Rat).Quo(demandOf(job.Demand, j), r.Capacity)
			if e.need[i][j].Cmp(e.dominant[i]) > 0 {
				e.dominant[i], e.top[i] = new(big.Rat).Set(e.need[i][j]), j
			}
		}
		for _, a := range e.need[i] {
			a.Quo(a, e.dominant[i])
		}
		e.weight[i] = job.WeightOf()
		e.count[i] = big.NewRat(int64(job.Size()), 1)
	}
	return e
}

// A problem is an exactProblem in float64, each number rounded once. Its columns are the resources.
type problem struct {
	rows, resources int
	need            [][]float64 // a_ij/d_i, at [j][i]
	dominant        []float64   // d_i
	weight          []float64   // w_i
	speed           []float64   // w_i d_i: the rate of the dominant share while φ_i grows at rate w_i
}

// newProblem rounds a problem. The error is an *[input.Error] for a number beyond the range of the kernels.
func newProblem(e *exactProblem) (*problem, error) {
	n := len(e.need)
	p := &problem{
		rows: n, resources: len(e.need[0]),
		dominant: make([]float64, n), weight: make([]float64, n), speed: make([]float64, n),
	}
	flat := make([]float64, n*p.resources)
	for j := range p.resources {
		p.need = append(p.need, flat[j*n:(j+1)*n:(j+1)*n])
	}
	for i := range n {
		for j, a := range e.need[i] {
			p.need[j][i], _ = a.Float64()
			if p.need[j][i] < leastNeed && a.Sign() > 0 {
				return nil, input.Errorf(indexed("jobs", i)+".demand", p.need[j][i],
					"parts of the capacities that are 0 or at least %g of the largest", leastNeed)
			}
		}
		p.dominant[i], _ = e.dominant[i].Float64()
		p.weight[i], _ = e.weight[i].Float64()
		p.speed[i], _ = new(big.Rat).Mul(e.weight[i], e.dominant[i]).Float64()
		if !inRange(p.dominant[i]) {
			return nil, input.Errorf(indexed("jobs", i)+".demand", p.dominant[i],
				"parts of the capacities in [%g, %g]", leastFloat, mostFloat)
		}
		if !inRange(p.weight[i]) {
			return nil, input.Errorf(indexed("jobs", i)+".weight", e.weight[i].RatString(), "a number in [%g, %g]", leastFloat, mostFloat)
		}
	}
	return p, nil
}

// profile returns the a_ij/d_i of row i.
func (p *problem) profile(i int) []float64 {
	profile := make([]float64, p.resources)
	for j, need := range p.need {
		profile[j] = need[i]
	}
	return profile
}

// The range of the numbers that float64 kernels take, so that no product of two leaves that of float64.
const (
	leastFloat = 1e-120
	mostFloat  = 1e120
	leastNeed  = 1e-300
)

func inRange(x float64) bool { return x >= leastFloat && x <= mostFloat }

// speeds returns w_i d_i, the rates at which dominant shares grow while φ_i grows at rate w_i.
func (e *exactProblem) speeds() []*big.Rat {
	speed := make([]*big.Rat, len(e.weight))
	for i, w := range e.weight {
		speed[i] = new(big.Rat).Mul(w, e.dominant[i])
	}
	return speed
}

// counts returns the jobs of each row in float64, which holds them exactly.
func (e *exactProblem) counts() []float64 {
	count := make([]float64, len(e.count))
	for i, c := range e.count {
		count[i], _ = c.Float64()
	}
	return count
}

// classes numbers the different profiles, in the order of their first rows: the class of each row, and the first row of
// each class.
func (e *exactProblem) classes() (class, first []int) {
	seen := make(map[string]int)
	for i, profile := range e.need {
		var key strings.Builder
		for _, a := range profile {
			key.WriteString(a.RatString())
			key.WriteByte(' ')
		}
		k, ok := seen[key.String()]
		if !ok {
			k = len(first)
			seen[key.String()] = k
			first = append(first, i)
		}
		class = append(class, k)
	}
	return class, first
}

// used returns Σ_i n_i φ_i a_ij of each resource, for these dominant shares of one job of each row. It adds over their
// common denominator.
func (e *exactProblem) used(shares []*big.Rat) []*big.Rat {
	number, unit := overCommon(shares)
	for i, n := range number {
		n.Mul(n, e.count[i])
	}
	used := make([]*big.Rat, len(e.need[0]))
	parts := make([]*big.Rat, len(shares))
	for j := range used {
		for i, n := range number {
			parts[i] = new(big.Rat).Mul(n, e.need[i][j])
		}
		used[j] = treeSum(parts)
		used[j].Mul(used[j], unit)
	}
	return used
}
