package bf

import (
	"context"
	"math"
	"math/big"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/num"
)

// quantilesOfAll returns quantiles of the delay T of a job of any class, in the order of the
// levels, given the quantiles of the classes. They are the times t with
//
//	P(T > t) = Σ_i λ_i P(T_i > t) / Σ_i λ_i = 1 - level.
//
// Each lies between Low and High, whose relative distance is at most Settings.RelTol unless the
// tails of the classes are not known well enough. quantilesOfAll returns nil if no jobs arrive.
func (p *Prepared) quantilesOfAll(ctx context.Context, s request, classes []ClassDelays) ([]num.Value, error) {
	brackets := make([]bracket, len(s.Levels))
	for k, level := range s.Levels {
		b := bracket{rest: num.FromRat(new(big.Rat).Sub(big.NewRat(1, 1), level), excessPrec), low: math.Inf(1)}
		for _, c := range classes {
			if c.Quantiles != nil { // between the smallest and the largest of the classes
				low, high := c.Quantiles[k].Bounds()
				b.low, b.high = min(b.low, low), max(b.high, high)
			}
		}
		if !(b.low <= b.high) {
			return nil, nil
		}
		if b.high > math.MaxFloat64 {
			return nil, arithmetic.BeyondFloat()
		}
		brackets[k] = b
	}
	for range maxRounds {
		if err := p.narrow(ctx, brackets, s); err != nil {
			return nil, err
		}
	}
	values := make([]num.Value, len(brackets))
	for k, b := range brackets {
		values[k] = num.BetweenFloats(b.low, b.high)
	}
	return values, nil
}

const (
	excessPrec = 64 // bits
	maxRounds  = 8  // each leaves 1/16 of a bracket, later ones far less
)

// A bracket holds a quantile: P(T > low) >= rest >= P(T > high).
type bracket struct {
	rest      num.Interval // 1 - level
	low, high float64
	at        float64 // a time near the quantile, if excesses are known
	known     bool
}

// times returns times in the bracket, with both ends: evenly spaced, or around at.
func (b *bracket) times() []float64 {
	list := []float64{b.low, b.high}
	for k, width := 1.0, b.high-b.low; k < 16; k++ {
		if !b.known {
			list = append(list, b.low+k/16*width)
			continue
		}
		list = append(list, b.at-math.Pow(8, -k)*width, b.at+math.Pow(8, -k)*width)
	}
	inside := list[:0]
	for _, t := range list {
		if t >= b.low && t <= b.high {
			inside = append(inside, t)
		}
	}
	return inside
}

// narrow narrows the brackets that are wider than the tolerance.
func (p *Prepared) narrow(ctx context.Context, brackets []bracket, s request) error {
	ask := request{Settings: s.Settings}
	var times [][]float64
	for k := range brackets {
		b := &brackets[k]
		times = append(times, nil)
		if b.high-b.low > s.RelTol*b.low {
			times[k] = b.times()
		}
		for _, t := range times[k] {
			ask.Times = append(ask.Times, new(big.Rat).SetFloat64(t))
		}
	}
	if ask.Times == nil {
		return nil
	}
	r, err := p.delaysByEngines(ctx, ask)
	if err != nil {
		return err
	}
	index := 0
	for k := range brackets {
		b := &brackets[k]
		below, above := math.Inf(1), math.Inf(-1) // excesses at the ends
		for _, t := range times[k] {
			e := excess(p.model, r.classes, index, b.rest)
			index++
			switch v := e.Approx(); {
			case e.Low.Sign() >= 0 && t >= b.low:
				b.low, below = t, v
			case e.High.Sign() <= 0 && t <= b.high:
				b.high, above = t, v
			}
		}
		if b.known = below >= 0 && above <= 0 && below > above && below-above <= math.MaxFloat64; b.known {
			b.at = b.low + (b.high-b.low)*(below/(below-above))
		}
	}
	return nil
}

// excess encloses Σ_i λ_i (P(T_i > t) - rest) at one of the times of a question. It falls with t
// and is 0 at the quantile.
func excess(m *cluster.Model, classes []ClassDelays, index int, rest num.Interval) num.Interval {
	sum := num.FromInt(0, excessPrec)
	for i, c := range classes {
		if c.Tails == nil {
			continue
		}
		v := c.Tails[index]
		tail := num.Interval{Low: num.Down(excessPrec).Set(v.Low), High: num.Up(excessPrec).Set(v.High)}
		sum = sum.Add(num.FromRat(m.Classes[i].ArrivalRate, excessPrec).Mul(tail.Sub(rest)))
	}
	return sum
}
