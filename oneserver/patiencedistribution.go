package oneserver

import (
	"math"
	"slices"

	"productform/sizes"
)

// A patience is the distribution of the time after which a job of a class gives up if it still
// waits. The zero value is endless patience.
type patience struct {
	sizes.Distribution
	exponential bool

	density sizes.Unimodal // nil if the distribution has no density in closed form
	atoms   []float64      // increasing; the whole distribution if not empty
	chances []float64      // probabilities of the atoms
	median  float64
	first   float64 // where the tail has no power series at 0, a time before which almost no jobs give up; 0 otherwise
}

// noPatience is the patience of jobs that do not wait at all. The other methods of a distribution
// are not used.
type noPatience struct{ sizes.Distribution }

func (noPatience) CDF(float64) float64        { return 1 }
func (noPatience) Survival(float64) float64   { return 0 }
func (noPatience) MeanExcess(float64) float64 { return 0 }

// newPatience prepares a distribution, given its mean > 0.
func newPatience(d sizes.Distribution, mean float64) (p patience, err error) {
	p = patience{Distribution: d}
	e, err := sizes.NewExponential(mean)
	if err != nil {
		return p, err
	}
	p.exponential = e.String() == d.String()
	if p.median, err = d.Quantile(0.5); err != nil {
		return p, err
	}
	if a, ok := d.(sizes.Atomic); ok {
		p.atoms = a.Atoms()
		total := 0
		for _, n := range a.Counts() {
			total += n
		}
		for _, n := range a.Counts() {
			p.chances = append(p.chances, float64(n)/float64(total))
		}
		return p, nil
	}
	p.density, _ = d.(sizes.Unimodal)
	_, phased := d.(sizes.Phased)
	if low, _, _ := d.Support(); !phased && low == 0 {
		p.first, err = d.Quantile(1e-16)
	}
	return p, err
}

// none reports whether jobs do not wait at all.
func (p *patience) none() bool { return p.Distribution == noPatience{} }

// endless reports whether no jobs give up.
func (p *patience) endless() bool { return p.Distribution == nil }

// tail returns g(x), the probability that the patience is longer than x.
func (p *patience) tail(x float64) float64 {
	if p.endless() {
		return 1
	}
	return p.Survival(x)
}

// tailBefore returns the probability that the patience is at least x.
func (p *patience) tailBefore(x float64) float64 {
	if k, atom := slices.BinarySearch(p.atoms, x); atom {
		return p.tail(x) + p.chances[k]
	}
	return p.tail(x)
}

// rest returns ∫_x^∞ g, 0 for endless patience.
func (p *patience) rest(x float64) float64 {
	if p.endless() {
		return 0
	}
	return p.MeanExcess(x)
}

// corners returns the times at which the tail is not smooth.
func (p *patience) corners() []float64 {
	if p.endless() {
		return nil
	}
	if len(p.atoms) > 0 {
		return p.atoms
	}
	low, high, bounded := p.Support()
	if !bounded {
		high = 0
	}
	return slices.DeleteFunc([]float64{low, high}, func(x float64) bool { return x == 0 })
}

// scale returns a time over which the tail changes little around x.
func (p *patience) scale(x float64) float64 {
	if p.endless() || len(p.atoms) > 0 {
		return math.Inf(1)
	}
	s := math.Inf(1)
	if p.density != nil {
		if f := p.density.Density(x); f > 0 {
			s = max(p.tail(x)/f, x/50) // a tail that falls faster is negligible, or ends at a corner
		}
	}
	if p.first > 0 {
		s = min(s, max(x, p.first)/2)
	}
	return min(s, max(x, p.median))
}
