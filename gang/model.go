package gang

import (
	"fmt"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/num"
)

// A problem is a model in its smallest form: no two classes have the same needs and mean size, all
// classes arrive, and no resource is implied by another one. Classes are in decreasing order of
// their needs, so the last one needs least of the first resource.
type problem struct {
	amounts     []int     // n_r, amount of each resource
	classes     []class   // with λ_k > 0
	rate        *big.Rat  // λ, arrival rate of all classes
	rows        [][]int   // rows[k]: the rows of the model merged into class k
	limitOfWork *big.Rat  // λ_max
	load        []float64 // p_k, shares rounded to nearest
}

// A class is a merged class.
type class struct {
	needs []int    // w_kr, by resource
	share *big.Rat // p_k > 0
	mean  *big.Rat // 1/μ_k
}

// newProblem reduces a model that has passed its check. It returns nil if no jobs arrive.
func newProblem(m *cluster.Model) *problem {
	p := &problem{rate: new(big.Rat)}
	index := map[string]int{}
	for i, c := range m.Classes {
		if c.ArrivalRate.Sign() == 0 {
			continue
		}
		p.rate.Add(p.rate, c.ArrivalRate)
		needs := make([]int, len(m.Servers))
		for _, need := range c.Needs {
			needs[need.Server] = need.Choose
		}
		key := fmt.Sprint(needs, m.MeanSizeOf(i).RatString())
		k, ok := index[key]
		if !ok {
			k = len(p.classes)
			index[key] = k
			p.classes = append(p.classes, class{needs: needs, share: new(big.Rat), mean: m.MeanSizeOf(i)})
			p.rows = append(p.rows, nil)
		}
		p.classes[k].share.Add(p.classes[k].share, c.ArrivalRate)
		p.rows[k] = append(p.rows[k], i)
	}
	if len(p.classes) == 0 {
		return nil
	}
	for k := range p.classes {
		p.classes[k].share.Quo(p.classes[k].share, p.rate)
	}
	for _, s := range m.Servers {
		p.amounts = append(p.amounts, s.Size())
	}
	p.limitOfWork = m.LimitOfWork().Limit
	p.reduceResources()
	p.sortClasses()
	for _, c := range p.classes {
		p.load = append(p.load, num.Nearest(c.share))
	}
	return p
}

// reduceResources divides each resource by the greatest common divisor of the needs, and drops
// those that are implied by others: if w_kr/n_r <= w_kq/n_q for all k, jobs that fit q fit r.
func (p *problem) reduceResources() {
	var keep []int
	for r := range p.amounts {
		implied := slices.ContainsFunc(keep, func(q int) bool { return p.implies(q, r) })
		for q := r + 1; q < len(p.amounts) && !implied; q++ {
			implied = p.implies(q, r) && !p.implies(r, q)
		}
		if !implied {
			keep = append(keep, r)
		}
	}
	amounts := make([]int, len(keep))
	needs := make([][]int, len(p.classes))
	for at, r := range keep {
		divisor := 0
		for _, c := range p.classes {
			divisor = gcd(divisor, c.needs[r])
		}
		amounts[at] = p.amounts[r] / divisor
		for k, c := range p.classes {
			needs[k] = append(needs[k], c.needs[r]/divisor)
		}
	}
	p.amounts = amounts
	for k := range p.classes {
		p.classes[k].needs = needs[k]
	}
}

// implies reports whether jobs that fit resource q always fit resource r.
func (p *problem) implies(q, r int) bool {
	for _, c := range p.classes {
		if int64(c.needs[r])*int64(p.amounts[q]) > int64(c.needs[q])*int64(p.amounts[r]) {
			return false
		}
	}
	return true
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// sortClasses orders the classes by decreasing needs; equal ones keep their order.
func (p *problem) sortClasses() {
	order := make([]int, len(p.classes))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return slices.Compare(p.classes[b].needs, p.classes[a].needs)
	})
	classes, rows := make([]class, len(order)), make([][]int, len(order))
	for at, k := range order {
		classes[at], rows[at] = p.classes[k], p.rows[k]
	}
	p.classes, p.rows = classes, rows
}

// merged returns the merged class of each row of the model's classes, -1 for one without arrivals.
func (p *problem) merged(rows int) []int {
	merged := slices.Repeat([]int{-1}, rows)
	for k, list := range p.rows {
		for _, i := range list {
			merged[i] = k
		}
	}
	return merged
}

// hasOneMean reports whether all classes have the same mean.
func (p *problem) hasOneMean() bool {
	return !slices.ContainsFunc(p.classes, func(c class) bool { return c.mean.Cmp(p.classes[0].mean) != 0 })
}

// fits reports whether a job of class k fits into free amounts.
func (p *problem) fits(k int, free []int) bool {
	for r, w := range p.classes[k].needs {
		if w > free[r] {
			return false
		}
	}
	return true
}

// mostJobs returns the largest number of jobs of class k that fit into free amounts.
func (p *problem) mostJobs(k int, free []int) int {
	most := -1
	for r, w := range p.classes[k].needs {
		if w > 0 && (most < 0 || free[r]/w < most) {
			most = free[r] / w
		}
	}
	return most
}

// integerShares returns integers c_k and their sum c with p_k = c_k/c.
func (p *problem) integerShares() (shares []*big.Int, sum *big.Int) {
	var fractions []*big.Rat
	for _, c := range p.classes {
		fractions = append(fractions, c.share)
	}
	whole, unit := num.OverCommon(fractions)
	for _, x := range whole {
		shares = append(shares, x.Num())
	}
	return shares, unit.Denom()
}
