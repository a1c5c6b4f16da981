package audit

import (
	"context"
	"math"
	"math/big"

	"productform/fluid"
	"productform/internal/input"
	"productform/num"
)

// An IndexSet measures how efficient and how fair an allocation is. u_j is the utilization of
// resource j, n_i the number of jobs in row i, n their sum, and s_i = φ_i d_i/w_i the dominant
// share by weight.
type IndexSet struct {
	MeanUtilization    num.Value `json:"mean_utilization"`     // Σ_j u_j / J, over all J resources
	LeastUtilization   num.Value `json:"least_utilization"`    // min_j u_j
	LargestUtilization num.Value `json:"largest_utilization"`  // max_j u_j
	TotalDominantShare num.Value `json:"total_dominant_share"` // Σ_i n_i φ_i d_i
	// largest total dominant share of all feasible allocations
	MaxDominantShare   num.Value `json:"max_dominant_share"`
	DominantEfficiency num.Value `json:"dominant_efficiency"` // TotalDominantShare divided by MaxDominantShare

	// JainIndex is (Σ_i n_i s_i)² / (n Σ_i n_i s_i²) in [1/n, 1], 1 if all are equal, and
	// ShareRatio is min_i s_i / max_i s_i in [0, 1], 1 if all are equal; both are nil if no job
	// gets anything.
	JainIndex  *num.Value `json:"jain_index"`
	ShareRatio *num.Value `json:"share_ratio"`

	// NashMean is Π_i (φ_i d_i)^(n_i w_i/W) with W = Σ_i n_i w_i, the mean that proportional
	// fairness maximizes, in float64 to about 1e-13. It is 0 if some job gets nothing.
	NashMean float64 `json:"nash_mean"`
}

// Indices returns indices of the allocation of tasks[i] >= 0 tasks to each job of row i. All except
// NashMean are fractions. If fractions would take more than about a second, they are enclosed
// within a factor 1 ± 2^-99, computed from numbers rounded to 128 bits. The error is that of
// [fluid.Pool.Check], or an *[num.InputError] for the tasks or an index beyond the range of
// float64.
func Indices(ctx context.Context, p *fluid.Pool, tasks []*big.Rat) (*IndexSet, error) {
	if err := checkTasks(p, tasks); err != nil {
		return nil, err
	}
	e := fluid.NewProfiles(p)
	if auditSeconds(e, tasks)+maxSeconds(e) > secondsAllowed {
		return newHoldings(rounded(e), roundDown(tasks)).indices(ctx, true)
	}
	return newHoldings(e, tasks).indices(ctx, false)
}

// indices returns the indices in fractions, or bounds if the numbers were rounded.
func (h *holdings) indices(ctx context.Context, rounded bool) (*IndexSet, error) {
	used := h.utilization()
	mean := num.SumRats(used)
	mean.Quo(mean, big.NewRat(int64(len(used)), 1))
	least, largest := ratExtremes(used)

	n := len(h.tasks)
	held, scaled, first, second := make([]*big.Rat, n), make([]*big.Rat, n), make([]*big.Rat, n), make([]*big.Rat, n)
	for i, s := range h.share { // in units of the tasks
		held[i] = new(big.Rat).Mul(h.Count[i], s)
		scaled[i] = new(big.Rat).Quo(s, h.Weight[i])
		first[i] = new(big.Rat).Mul(h.Count[i], scaled[i])
		second[i] = new(big.Rat).Mul(first[i], scaled[i])
	}
	most, err := h.maxDominantShare(ctx)
	if err != nil {
		return nil, err
	}
	total := num.SumRats(held)
	total.Mul(total, h.unit)

	x := new(IndexSet)
	fields := []indexField{
		{"mean_utilization", &x.MeanUtilization, mean},
		{"least_utilization", &x.LeastUtilization, least},
		{"largest_utilization", &x.LargestUtilization, largest},
		{"total_dominant_share", &x.TotalDominantShare, total},
		{"max_dominant_share", &x.MaxDominantShare, most},
		{"dominant_efficiency", &x.DominantEfficiency, new(big.Rat).Quo(total, most)},
	}
	if total.Sign() > 0 {
		x.JainIndex, x.ShareRatio = new(num.Value), new(num.Value)
		jain, squares := num.SumRats(first), num.SumRats(second) // in units that cancel
		jain.Mul(jain, jain)
		low, high := ratExtremes(scaled)
		fields = append(fields,
			indexField{"jain_index", x.JainIndex, jain.Quo(jain, squares.Mul(squares, num.SumRats(h.Count)))},
			indexField{"share_ratio", x.ShareRatio, new(big.Rat).Quo(low, high)})
	}
	for _, f := range fields {
		v, err := fluid.ExactValue(f.path, f.fraction)
		if err != nil {
			return nil, err
		}
		if rounded {
			v.Low, v.High = aroundRounded(f.fraction)
			v.Exact = nil
		}
		*f.value = v
	}
	x.NashMean, err = h.nashMean()
	return x, err
}

// An indexField is an index with its name.
type indexField struct {
	path     string
	value    *num.Value
	fraction *big.Rat
}

// aroundRounded returns bounds on an index whose value computed from rounded numbers is x.
func aroundRounded(x *big.Rat) (low, high *big.Float) {
	off := num.FromFloat64(roundedError, roundedBits)
	one := num.FromInt(1, roundedBits)
	e := num.FromRat(x, roundedBits).Mul(num.Interval{Low: one.Sub(off).Low, High: one.Add(off).High})
	return e.Low, e.High
}

// nashMean returns Π_i (φ_i d_i)^(n_i w_i/W).
func (h *holdings) nashMean() (float64, error) {
	var mean float64 // mean of the logarithms
	for i, x := range h.tasks {
		if x.Sign() == 0 {
			return 0, nil
		}
		part := new(big.Rat).Mul(h.Count[i], h.Weight[i])
		f, _ := part.Quo(part, h.total).Float64()
		mean += f * (ratLog2(x) + ratLog2(h.Dominant[i]))
	}
	nash := math.Exp2(mean)
	if nash == 0 || math.IsInf(nash, 0) {
		return 0, input.Errorf("nash_mean", "a number beyond the range of float64", "tasks within it")
	}
	return nash, nil
}

// ratExtremes returns the smallest and the largest of some numbers.
func ratExtremes(x []*big.Rat) (least, largest *big.Rat) {
	least, largest = x[0], x[0]
	for _, v := range x {
		if v.Cmp(least) < 0 {
			least = v
		}
		if v.Cmp(largest) > 0 {
			largest = v
		}
	}
	return least, largest
}
