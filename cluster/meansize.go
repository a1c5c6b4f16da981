package cluster

import (
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/num"
)

// MeanSizeOf returns σ_i, the mean work that a job of class i brings. The caller must not change
// it.
func (m *Model) MeanSizeOf(i int) *big.Rat {
	if own := m.Classes[i].MeanSize; own != nil {
		return own
	}
	return num.OrOne(m.MeanSize)
}

// HasOwnMeanSizes reports whether any class has its own mean size.
func (m *Model) HasOwnMeanSizes() bool {
	return slices.ContainsFunc(m.Classes, func(c Class) bool { return c.MeanSize != nil })
}

// Work returns λ_i σ_i, the work that the jobs of class i bring per unit of time. The caller must
// not change it.
func (m *Model) Work(i int) *big.Rat {
	if m.MeanSize == nil && m.Classes[i].MeanSize == nil {
		return m.Classes[i].ArrivalRate
	}
	return new(big.Rat).Mul(m.Classes[i].ArrivalRate, m.MeanSizeOf(i))
}

// OneMeanSize returns the mean size of all arriving jobs, or that of the model if none arrive. The
// error is a *[num.InputError] if there are several mean sizes. Balanced fairness then still has
// formulas ([Model.EqualSizes]), but first come, first served has none: it needs exponential sizes
// with one mean. m must have passed [Model.Check].
func (m *Model) OneMeanSize() (*big.Rat, error) {
	first := slices.IndexFunc(m.Classes, func(c Class) bool { return c.ArrivalRate.Sign() > 0 })
	if first < 0 {
		return num.OrOne(m.MeanSize), nil
	}
	size := m.MeanSizeOf(first)
	for i, c := range m.Classes {
		if own := m.MeanSizeOf(i); c.ArrivalRate.Sign() > 0 && own.Cmp(size) != 0 {
			return nil, input.Errorf(input.Index("classes", i)+".mean_size", own.RatString(),
				"%s, that of %s: first come, first served has formulas only for exponential sizes with one mean",
				size.RatString(), input.Quote(m.Classes[first].Name))
		}
	}
	return size, nil
}

// EqualSizes returns the model with the same work in jobs of one mean size σ: the common one of all
// arriving jobs or, if they have several, that of the model. Class i has the arrival rate λ_i
// σ_i/σ, and no class has its own mean size. Under balanced fairness the numbers of jobs X have the
// same distribution in both models, since it depends on the work λ_i σ_i only (Bonald and
// Proutière, "Insensitive bandwidth sharing in data networks", Queueing Systems 44, 2003, 69–100).
// The mean delays of m are E[X_i]/λ_i with its own rates. One model is stable if and only if the
// other is.
//
// EqualSizes returns m itself if no class has its own mean size; otherwise the result shares
// everything except rates and sizes with m. m must have passed [Model.Check].
func (m *Model) EqualSizes() *Model {
	if !slices.ContainsFunc(m.Classes, func(c Class) bool { return c.MeanSize != nil }) {
		return m
	}
	size, err := m.OneMeanSize()
	if err != nil {
		size = num.OrOne(m.MeanSize)
	}
	e := *m
	e.MeanSize = size
	e.Classes = slices.Clone(m.Classes)
	for i := range e.Classes {
		if own := m.MeanSizeOf(i); own.Cmp(size) != 0 {
			rate := new(big.Rat).Mul(m.Classes[i].ArrivalRate, own)
			e.Classes[i].ArrivalRate = rate.Quo(rate, size)
		}
		e.Classes[i].MeanSize = nil
	}
	return &e
}
