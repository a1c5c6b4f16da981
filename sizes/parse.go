package sizes

import (
	"math"
	"strconv"
	"strings"

	"productform/internal/input"
)

// A shape is a family of distributions that differ only by a factor, with the names of its
// parameters.
type shape struct {
	name string // with parameters, such as "erlang:K"
	want string // valid parameters
	make func(parameters []float64, mean float64) (Distribution, error)
	// distribution with the mean that follows from the parameters; nil if they imply no mean
	unscaled func(parameters []float64) (Distribution, error)
}

// form returns the name with its valid parameters.
func (s shape) form() string {
	if s.want == "" {
		return s.name
	}
	return s.name + " with " + s.want
}

// shapes returns all shapes that have names.
func shapes() []shape {
	scaled := func(unscaled func() Phased) func([]float64, float64) (Distribution, error) {
		return func(_ []float64, mean float64) (Distribution, error) { return WithMean(unscaled(), mean) }
	}
	return []shape{
		{
			name: "exponential",
			make: func(_ []float64, mean float64) (Distribution, error) { return NewExponential(mean) },
		},
		{
			name: "deterministic",
			make: func(_ []float64, mean float64) (Distribution, error) { return NewDeterministic(mean) },
		},
		{name: "bimodal", make: scaled(BonaldComteBimodal)},
		{name: "hyperexponential", make: scaled(BonaldComteHyperexponential)},
		{name: "zipf", make: scaled(BonaldComteZipf)},
		{name: "erlang:K", want: "K an integer in 1..1000000", make: makeErlang},
		{
			name: "hyperexponential:SCV",
			want: "SCV in (1, 1e8]",
			make: func(p []float64, mean float64) (Distribution, error) {
				return NewBalancedHyperexponential(mean, p[0])
			},
		},
		{name: "pareto:ALPHA", want: "ALPHA in (1, 1e9]", make: makePareto},
		{
			name: "bounded-pareto:ALPHA:RATIO",
			want: "ALPHA in [1e-100, 1e9] and RATIO = max/min in (1, 1e100]",
			make: makeBoundedPareto,
		},
		{name: "bounded-pareto:ALPHA:MIN:MAX", want: "ALPHA in [1e-100, 1e9] and 1e-300 <= MIN < MAX <= 1e300",
			make: func(p []float64, mean float64) (Distribution, error) {
				d, err := boundedParetoOf(p)
				if err != nil {
					return nil, err
				}
				return WithMean(d, mean)
			}, unscaled: boundedParetoOf},
		{
			name: "lognormal:SCV",
			want: "SCV in [1e-12, 1e6]",
			make: func(p []float64, mean float64) (Distribution, error) {
				return NewLognormal(mean, p[0])
			},
		},
		{
			name: "weibull:SHAPE",
			want: "SHAPE in [0.05, 1000]",
			make: func(p []float64, mean float64) (Distribution, error) {
				return NewWeibull(p[0], mean)
			},
		},
	}
}

func makeErlang(p []float64, mean float64) (Distribution, error) {
	if !(p[0] == math.Trunc(p[0]) && p[0] >= 1 && p[0] <= maxErlangPhases) {
		return nil, input.Errorf("phases", p[0], "an integer in 1..%d", maxErlangPhases)
	}
	return NewErlang(int(p[0]), mean)
}

func makePareto(p []float64, mean float64) (Distribution, error) {
	if !(p[0] > 1 && p[0] <= 1e9) {
		return nil, input.Errorf("alpha", p[0], "a number in (1, 1e9], for the mean to exist")
	}
	return NewPareto(mean*(p[0]-1)/p[0], p[0])
}

func makeBoundedPareto(p []float64, mean float64) (Distribution, error) {
	if !(p[1] > 1 && p[1] <= 1e100) {
		return nil, input.Errorf("ratio", p[1], "a number in (1, 1e100]")
	}
	d, err := NewBoundedPareto(1, p[1], p[0])
	if err != nil {
		return nil, err
	}
	return WithMean(d, mean)
}

// boundedParetoOf returns the distribution of alpha, min and max.
func boundedParetoOf(p []float64) (Distribution, error) { return NewBoundedPareto(p[1], p[2], p[0]) }

// Names returns the names that [Parse] reads, with their parameters in capitals.
func Names() []string {
	var names []string
	for _, s := range shapes() {
		names = append(names, s.name)
	}
	return names
}

// Parse returns the distribution of the given mean in [1e-90, 1e90] whose shape the text names, one
// of [Names]:
//
//	exponential, deterministic       of this mean
//	bimodal, hyperexponential, zipf  the distributions of [BC17], section 5, scaled
//	erlang:K                         K phases
//	hyperexponential:SCV             two branches of balanced means, squared coefficient of variation SCV > 1
//	pareto:ALPHA                     ALPHA > 1, for the mean to exist
//	bounded-pareto:ALPHA:RATIO       RATIO = max/min > 1
//	bounded-pareto:ALPHA:MIN:MAX     on [MIN, MAX], scaled to the mean; [ParseUnscaled] does not scale it
//	lognormal:SCV                    squared coefficient of variation SCV
//	weibull:SHAPE                    SHAPE 1 is exponential
//
// The error names "sizes" for the text, and lists the forms of its family or otherwise all names,
// or "mean".
func Parse(text string, mean float64) (Distribution, error) {
	if !(mean >= 1e-90 && mean <= 1e90) {
		return nil, input.Errorf("mean", mean, "a number in [1e-90, 1e90]")
	}
	s, parameters, err := parseShape(text)
	if err != nil {
		return nil, err
	}
	d, err := s.make(parameters, mean)
	if err != nil && s.want != "" {
		return nil, input.Errorf("sizes", text, "%s", s.form())
	}
	return d, err
}

// ParseUnscaled returns the distribution that the text names in the form
// bounded-pareto:ALPHA:MIN:MAX, with the mean that follows from these numbers. It returns nil for
// the other forms of [Parse], which imply no mean. The error is as for [Parse].
func ParseUnscaled(text string) (Distribution, error) {
	s, parameters, err := parseShape(text)
	if err != nil || s.unscaled == nil {
		return nil, err
	}
	d, err := s.unscaled(parameters)
	if err != nil {
		return nil, input.Errorf("sizes", text, "%s", s.form())
	}
	return d, nil
}

// parseShape returns the shape that the text names, and its parameters.
func parseShape(text string) (shape, []float64, error) {
	parts := strings.Split(text, ":")
	var family []string // forms with the same family as the text
	for _, s := range shapes() {
		words := strings.Split(s.name, ":")
		if words[0] != parts[0] {
			continue
		}
		if len(words) != len(parts) {
			family = append(family, s.form())
			continue
		}
		parameters := make([]float64, len(parts)-1)
		for i, p := range parts[1:] {
			v, err := strconv.ParseFloat(p, 64)
			if err != nil || !(math.Abs(v) <= math.MaxFloat64) {
				return shape{}, nil, input.Errorf("sizes", text, "%s", s.form())
			}
			parameters[i] = v
		}
		return s, parameters, nil
	}
	if len(family) > 0 {
		return shape{}, nil, input.Errorf("sizes", text, "%s", strings.Join(family, ", or "))
	}
	return shape{}, nil, input.Errorf("sizes", text, "one of %s", strings.Join(Names(), ", "))
}
