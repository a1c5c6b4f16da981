package exact

import (
	"math/big"
	"strings"

	"productform/internal/input"
	"productform/num"
)

// Parse returns the distribution of the given mean > 0 that the text names, in the notation of
// [sizes.Parse]: exponential, deterministic, bimodal, hyperexponential, zipf, erlang:K for K up to
// 1000, hyperexponential:SCV, pareto:ALPHA for ALPHA > 2, or weibull:SHAPE. The error comes from
// [Distribution.Check], or names "sizes" for any other text, such as lognormal:SCV and
// bounded-pareto:ALPHA:RATIO, whose partial moments are not enclosed.
func Parse(text string, mean *big.Rat) (Distribution, error) {
	name, parameter, given := strings.Cut(text, ":")
	var p *big.Rat
	if given {
		var err error
		if p, err = num.ParseRat(parameter); err != nil {
			return nil, refused(text)
		}
	}
	scaled := func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(x, mean) }
	one := ratio(1, 1)
	var d Distribution
	switch {
	case name == "exponential" && !given:
		d = Gammas{{Weight: one, Phases: 1, Mean: mean}}
	case name == "deterministic" && !given:
		d = List{mean}
	case name == "bimodal" && !given:
		d = Gammas{
			{Weight: ratio(5, 6), Phases: 1, Mean: scaled(ratio(1, 5))},
			{Weight: ratio(1, 6), Phases: 25, Mean: scaled(ratio(1, 5))},
		}
	case name == "hyperexponential" && !given:
		d = Gammas{
			{Weight: ratio(1, 6), Phases: 1, Mean: scaled(ratio(5, 1))},
			{Weight: ratio(5, 6), Phases: 1, Mean: scaled(ratio(1, 5))},
		}
	case name == "zipf" && !given:
		d = zipf(200, mean)
	case name == "erlang" && given:
		k, ok := integer(p, mostPhases)
		if !ok || k < 1 {
			return nil, refused(text)
		}
		d = Gammas{{Weight: one, Phases: int(k), Mean: scaled(ratio(1, k))}}
	case name == "hyperexponential":
		d = Hyperexponential{Mean: mean, SCV: p}
	case name == "pareto" && given && p.Cmp(one) > 0:
		d = Pareto{Alpha: p, Low: scaled(new(big.Rat).Quo(new(big.Rat).Sub(p, one), p))}
	case name == "weibull" && given:
		d = Weibull{Shape: p, Mean: mean}
	default:
		return nil, refused(text)
	}
	return d, d.Check()
}

func refused(text string) error {
	return input.Errorf(
		"sizes", text, "sizes whose partial moments can be enclosed: exponential, deterministic, bimodal, "+
			"hyperexponential, zipf, erlang:K, hyperexponential:SCV, pareto:ALPHA or weibull:SHAPE",
	)
}

// zipf returns the sums of k = 1 to n phases with probabilities proportional to 1/k²; see
// [sizes.BonaldComteZipf].
func zipf(n int64, mean *big.Rat) Gammas {
	var d Gammas
	phases, weights := new(big.Rat), new(big.Rat)
	for k := int64(1); k <= n; k++ {
		w := ratio(1, k*k)
		weights.Add(weights, w)
		phases.Add(phases, ratio(1, k))
		d = append(d, Branch{Weight: w, Phases: int(k)})
	}
	phase := new(big.Rat).Mul(mean, weights.Quo(weights, phases))
	for i := range d {
		d[i].Mean = phase
	}
	return d
}
