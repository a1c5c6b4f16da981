package fluid

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"productform/internal/file"
	"productform/internal/input"
	"productform/num"
)

// Profiles describes the jobs of a pool as the policies see them. Jobs are measured by their
// dominant share, so the largest entry of every profile is 1, independent of units: each unit of
// the dominant share φ_i d_i uses a_ij/d_i of resource j.
type Profiles struct {
	Need     [][]*big.Rat // a_ij/d_i in [0, 1], at [i][j]
	Dominant []*big.Rat   // d_i = max_j a_ij
	Weight   []*big.Rat   // w_i
	Count    []*big.Rat   // number of jobs in the row
	Top      []int        // dominant resource; the first of equal ones
	// L_i d_i, the largest dominant share of the row; entries without a limit are nil, and Limit is
	// nil if there are no limits
	Limit []*big.Rat
}

// NewProfiles returns the profiles of a checked pool.
func NewProfiles(p *Pool) *Profiles {
	n := len(p.Jobs)
	e := &Profiles{
		Need: make([][]*big.Rat, n), Dominant: make([]*big.Rat, n), Weight: make([]*big.Rat, n),
		Count: make([]*big.Rat, n), Top: make([]int, n),
	}
	if slices.ContainsFunc(p.Jobs, func(j Job) bool { return j.MaxTasks != nil }) {
		e.Limit = make([]*big.Rat, n)
	}
	_ = file.InParts(n, func(from, to int) error {
		for i := from; i < to; i++ {
			e.fillRow(i, &p.Jobs[i], p.Resources)
		}
		return nil
	})
	return e
}

// fillRow fills in the fields of row i.
func (e *Profiles) fillRow(i int, job *Job, resources []Resource) {
	e.Need[i] = make([]*big.Rat, len(resources))
	e.Dominant[i] = new(big.Rat)
	for j, r := range resources {
		e.Need[i][j] = num.QuoRat(job.Demand.Of(j), r.Capacity)
		if e.Need[i][j].Cmp(e.Dominant[i]) > 0 {
			e.Dominant[i], e.Top[i] = e.Need[i][j], j
		}
	}
	for j, a := range e.Need[i] {
		e.Need[i][j] = num.QuoRat(a, e.Dominant[i])
	}
	if job.MaxTasks != nil {
		e.Limit[i] = new(big.Rat).Mul(job.MaxTasks, e.Dominant[i])
	}
	e.Weight[i] = job.WeightOf()
	e.Count[i] = new(big.Rat).SetInt64(int64(job.Size()))
}

// A problem holds [Profiles] in float64, with each number rounded once. Its columns are the
// resources.
type problem struct {
	rows, resources int
	need            [][]float64 // a_ij/d_i, at [j][i]
	dominant        []float64   // d_i
	weight          []float64   // w_i
	speed           []float64   // w_i d_i: the rate of the dominant share while φ_i grows at rate w_i
	limit           []float64   // L_i d_i, +Inf without a limit; nil if there are no limits
}

// newProblem rounds a problem. The error is an *[num.InputError] for a number beyond the range of
// the kernels; other names an alternative.
func newProblem(e *Profiles, other string) (*problem, error) {
	n := len(e.Need)
	p := &problem{
		rows: n, resources: len(e.Need[0]),
		dominant: make([]float64, n), weight: make([]float64, n), speed: make([]float64, n),
	}
	flat := make([]float64, n*p.resources)
	for j := range p.resources {
		p.need = append(p.need, flat[j*n:(j+1)*n:(j+1)*n])
	}
	for i := range n {
		if l := e.limitOf(i); l != nil {
			if p.limit == nil {
				p.limit = slices.Repeat([]float64{math.Inf(1)}, n)
			}
			if p.limit[i], _ = l.Float64(); !InRange(p.limit[i]) {
				return nil, input.Errorf(indexed("jobs", i)+".max_tasks", p.limit[i], "a dominant share in [%g, %g]%s",
					LeastFloat, MostFloat, other)
			}
		}
		for j, a := range e.Need[i] {
			p.need[j][i] = num.Nearest(a)
			if p.need[j][i] < leastNeed && a.Sign() > 0 {
				return nil, input.Errorf(indexed("jobs", i)+".demand", p.need[j][i],
					"fractions of the capacities that are 0 or at least %g times the largest%s", leastNeed, other)
			}
		}
		p.dominant[i], p.weight[i] = num.Nearest(e.Dominant[i]), num.Nearest(e.Weight[i])
		p.speed[i] = p.dominant[i]
		if w := e.Weight[i]; !w.IsInt() || w.Num().BitLen() != 1 { // most weights are 1
			p.speed[i] = num.Nearest(new(big.Rat).Mul(e.Weight[i], e.Dominant[i]))
		}
		if !InRange(p.dominant[i]) {
			return nil, input.Errorf(indexed("jobs", i)+".demand", p.dominant[i],
				"fractions of the capacities in [%g, %g]%s", LeastFloat, MostFloat, other)
		}
		if !InRange(p.weight[i]) {
			return nil, input.Errorf(indexed("jobs", i)+".weight", e.Weight[i].RatString(), "a number in [%g, %g]%s",
				LeastFloat, MostFloat, other)
		}
	}
	return p, nil
}

// limitOf returns the limit of row i, or nil if there is none.
func (e *Profiles) limitOf(i int) *big.Rat {
	if e.Limit == nil {
		return nil
	}
	return e.Limit[i]
}

// profile returns the a_ij/d_i of row i.
func (p *problem) profile(i int) []float64 {
	profile := make([]float64, p.resources)
	for j, need := range p.need {
		profile[j] = need[i]
	}
	return profile
}

// The range of numbers that float64 kernels accept, chosen so that no product of two of them leaves
// the range of float64.
const (
	LeastFloat = 1e-120
	MostFloat  = 1e120
	leastNeed  = 1e-300
)

// InRange reports whether float64 kernels accept a number.
func InRange(x float64) bool { return x >= LeastFloat && x <= MostFloat }

// Speeds returns w_i d_i, the rates at which dominant shares grow while φ_i grows at rate w_i.
func (e *Profiles) Speeds() []*big.Rat {
	speed := make([]*big.Rat, len(e.Weight))
	for i, w := range e.Weight {
		speed[i] = new(big.Rat).Mul(w, e.Dominant[i])
	}
	return speed
}

// counts returns the number of jobs of each row in float64, which represents them exactly.
func (e *Profiles) counts() []float64 {
	count := make([]float64, len(e.Count))
	for i, c := range e.Count {
		count[i], _ = c.Float64()
	}
	return count
}

// classes numbers the different profiles and limits, in the order of their first rows: the class of
// each row, and the first row of each class.
func (e *Profiles) classes() (class, first []int) {
	seen := make(map[string]int)
	for i, profile := range e.Need {
		var key strings.Builder
		for _, a := range profile {
			key.WriteString(a.RatString())
			key.WriteByte(' ')
		}
		if l := e.limitOf(i); l != nil {
			key.WriteString(l.RatString())
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

// used returns Σ_i n_i φ_i a_ij of each resource, for these dominant shares of one job of each row.
// It adds them over a common denominator.
func (e *Profiles) used(shares []*big.Rat) []*big.Rat {
	number, unit := num.OverCommon(shares)
	for i, n := range number {
		n.Mul(n, e.Count[i])
	}
	used := make([]*big.Rat, len(e.Need[0]))
	parts := make([]*big.Rat, len(shares))
	for j := range used {
		for i, n := range number {
			parts[i] = new(big.Rat).Mul(n, e.Need[i][j])
		}
		used[j] = num.SumRats(parts)
		used[j].Mul(used[j], unit)
	}
	return used
}
