package audit

import (
	"context"
	"math"
	"math/big"
	"slices"

	"productform/fluid"
)

// maxDominantShare returns the largest Σ_i n_i φ_i d_i over all feasible allocations. With y_i =
// n_i φ_i d_i it is the largest Σ_i y_i with y >= 0, Σ_i y_i a_ij/d_i <= 1 for every resource j,
// and y_i at most n_i times the limit. Such a limit becomes an additional resource once a solution
// exceeds it.
func (h *holdings) maxDominantShare(ctx context.Context) (*big.Rat, error) {
	need := slices.Clone(h.Need)
	taken := make([]bool, len(need))
	for {
		s, err := largestSum(ctx, need)
		if err != nil {
			return nil, err
		}
		resources, more := len(s.basis), false
		for r, v := range s.basis {
			if v >= len(need) || taken[v] || h.limitOf(v) == nil {
				continue
			}
			most := new(big.Rat).Mul(h.Count[v], h.limitOf(v))
			if s.value[r].Cmp(most) <= 0 {
				continue
			}
			taken[v], more = true, true
			for i := range need {
				need[i] = append(need[i][:resources:resources], new(big.Rat))
			}
			need[v][resources] = most.Inv(most)
			resources++
		}
		if !more {
			return s.sum(), nil
		}
	}
}

// largestSum maximizes Σ_i y_i with y >= 0 and Σ_i y_i need_ij <= 1 for every j, by the revised
// simplex method in fractions. The row that gains most in float64 enters if it really gains. After
// a step of length 0, or if no row seems to gain, the first variable that gains enters (Bland's
// rule), so the method terminates. At the end the prices π >= 0 with Σ_j π_j need_ij >= 1 for every
// i prove that no sum is larger.
func largestSum(ctx context.Context, need [][]*big.Rat) (*simplex, error) {
	n, resources := len(need), len(need[0])
	rounded := make([][]float64, n)
	for i, need := range need {
		rounded[i] = make([]float64, resources)
		for j, a := range need {
			rounded[i][j], _ = a.Float64()
		}
	}
	one := big.NewRat(1, 1)
	s, slack := newSimplex(n, resources), unitMatrix(resources)
	stuck := false
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		price := s.prices()
		entering, column := -1, []*big.Rat(nil)
		if !stuck {
			entering, column = seemsToGain(need, rounded, price)
		}
		for v := 0; v < n+resources && column == nil; v++ {
			if v < n && ratDot(price, need[v]).Cmp(one) < 0 {
				entering, column = v, need[v]
			} else if v >= n && price[v-n].Sign() < 0 {
				entering, column = v, slack[v-n]
			}
		}
		if column == nil {
			return s, nil
		}
		stuck = s.enter(entering, column).Sign() == 0
	}
}

// A simplex is a basis of the linear programme of [largestSum].
type simplex struct {
	rows    int          // y_i is variable i, the slack of resource j is variable rows + j
	basis   []int        // J variables
	value   []*big.Rat   // their values
	inverse [][]*big.Rat // inverse of the J columns of the basis
}

// newSimplex returns the basis of the slacks.
func newSimplex(rows, resources int) *simplex {
	s := &simplex{rows: rows, inverse: unitMatrix(resources)}
	for r := range resources {
		s.basis, s.value = append(s.basis, rows+r), append(s.value, big.NewRat(1, 1))
	}
	return s
}

// unitMatrix returns the unit matrix of n rows.
func unitMatrix(n int) [][]*big.Rat {
	unit := make([][]*big.Rat, n)
	for j := range unit {
		unit[j] = make([]*big.Rat, n)
		for k := range unit[j] {
			unit[j][k] = new(big.Rat)
		}
		unit[j][j].SetInt64(1)
	}
	return unit
}

// prices returns the π at which no variable of the basis gains.
func (s *simplex) prices() []*big.Rat {
	price := make([]*big.Rat, len(s.basis))
	for j := range price {
		price[j] = new(big.Rat)
		for r, v := range s.basis {
			if v < s.rows {
				price[j].Add(price[j], s.inverse[r][j])
			}
		}
	}
	return price
}

// enter adds a variable with this column to the basis. It replaces the first variable that it
// drives to 0, or the one with the smallest number if there are several. enter returns the value of
// the new variable.
func (s *simplex) enter(entering int, column []*big.Rat) *big.Rat {
	step := make([]*big.Rat, len(s.basis))
	leave := -1
	var least *big.Rat
	for r := range s.basis {
		if step[r] = ratDot(s.inverse[r], column); step[r].Sign() > 0 {
			ratio := new(big.Rat).Quo(s.value[r], step[r])
			if leave < 0 || ratio.Cmp(least) < 0 || ratio.Cmp(least) == 0 && s.basis[r] < s.basis[leave] {
				leave, least = r, ratio
			}
		}
	}
	if leave < 0 {
		panic("fluid: allocations without limit")
	}
	s.basis[leave], s.value[leave] = entering, least
	for j, x := range s.inverse[leave] {
		s.inverse[leave][j] = new(big.Rat).Quo(x, step[leave])
	}
	for r := range s.basis {
		if r == leave || step[r].Sign() == 0 {
			continue
		}
		s.value[r].Sub(s.value[r], new(big.Rat).Mul(step[r], least))
		for j, x := range s.inverse[leave] {
			s.inverse[r][j].Sub(s.inverse[r][j], new(big.Rat).Mul(step[r], x))
		}
	}
	return least
}

// sum returns Σ_i y_i.
func (s *simplex) sum() *big.Rat {
	sum := new(big.Rat)
	for r, v := range s.basis {
		if v < s.rows {
			sum.Add(sum, s.value[r])
		}
	}
	return sum
}

// seemsToGain returns the row i with the least Σ_j π_j a_ij/d_i in float64 and its profile, nil if
// the exact sum is not below 1.
func seemsToGain(need [][]*big.Rat, rounded [][]float64, price []*big.Rat) (int, []*big.Rat) {
	pi := make([]float64, len(price))
	for j, p := range price {
		pi[j], _ = p.Float64()
	}
	least, at := math.Inf(1), 0
	for i, parts := range rounded {
		cost := 0.
		for j, a := range parts {
			cost += pi[j] * a
		}
		if cost < least {
			least, at = cost, i
		}
	}
	if ratDot(price, need[at]).Cmp(big.NewRat(1, 1)) < 0 {
		return at, need[at]
	}
	return at, nil
}

// maxSeconds estimates the time of maxDominantShare for about a hundred steps: entries of the
// inverse are ratios of determinants, with up to J times as many bits as the entries of a profile.
func maxSeconds(e *fluid.Profiles) float64 {
	longest := 0
	for _, need := range e.Need {
		for _, a := range need {
			longest = max(longest, a.Num().BitLen()+a.Denom().BitLen())
		}
	}
	r := float64(len(e.Need[0]))
	bits := r * float64(longest)
	return 100 * r * r * 3e-11 * bits * bits
}

func ratDot(x, y []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for j, v := range x {
		if v.Sign() != 0 && y[j].Sign() != 0 {
			sum.Add(sum, new(big.Rat).Mul(v, y[j]))
		}
	}
	return sum
}
