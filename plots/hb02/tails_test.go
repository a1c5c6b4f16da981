package hb02_test

import (
	"math"

	"productform/internal/oracle"
	"productform/plots"
	"productform/sizes"
	"productform/tags"
)

// tailsClaims returns the claims of section 3, on the sizes.
func tailsClaims() []claim {
	return []claim{
		{
			place:    "3",
			sentence: "heavy-tailed sizes (α < 2) have infinite variance and, if α ≤ 1, infinite mean",
			numbers: "largest α, of 0.1, 0.2, ..., 3, for which the Pareto distribution has infinite E[X²]: #; " +
				"infinite E[X]: #",
			values: func(tags.Policy) []float64 {
				x := make([]float64, 2)
				for _, alpha := range tenths(1, 30) {
					d := oracle.Must(sizes.NewPareto(1, alpha))
					for i, order := range []float64{2, 1} {
						if _, err := d.Moment(order); err != nil {
							x[i] = alpha
						}
					}
				}
				return x
			},
			asked:   demands{numbers(equalTo(2), 0), numbers(equalTo(1), 1)},
			verdict: plots.Holds,
			want:    []float64{2, 1},
		},
		{
			place: "3",
			sentence: "if sizes are heavy-tailed, fewer than 1 % of the jobs, the longest, make up over half of " +
				"the load",
			numbers: "the fraction of the jobs that carries half, p = 10^10: # at α = 1, # at 1.1, # at 1.2, # at " +
				"1.5, # at 1.9; 0.01 at α = #",
			values: func(tags.Policy) []float64 {
				half := func(alpha float64) float64 { return longest(paperSizes(alpha), 0.5) }
				return append(mapped([]float64{1, 1.1, 1.2, 1.5, 1.9}, half), root(
					1, 1.5, func(alpha float64) float64 { return half(alpha) - 0.01 },
				))
			},
			asked:   demands{numbers(fromZeroTo(0.01), 0, 1, 2, 3, 4)},
			verdict: plots.Refuted,
			want:    []float64{0.000129426, 0.00297922, 0.0191965, 0.125119, 0.231469, 1.15727},
		},
		{
			place:    "3",
			sentence: "the lower α, the smaller the fraction of the jobs that makes up half of the load",
			numbers:  "smallest decrease of its log10 as α falls by 0.1, between 2 and 0.2: #",
			values: singleValue(func(tags.Policy) float64 {
				return leastRise(func(alpha float64) float64 { return -math.Log10(longest(paperSizes(alpha), 0.5)) })
			}),
			asked:   allWithin(plots.Over(0)),
			verdict: plots.Holds,
			want:    []float64{0.0279301},
		},
		{
			place:    "3",
			sentence: "for the mean 3000, k is adjusted slightly, 0 < k ≤ 1500",
			numbers:  "k = # at α = 0.2, # at 1, # at 2 (1500.000225)",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				return lowEnd(paperSizes(alpha))
			}, 0.2, 1, 2),
			asked:   demands{numbers(plots.Over(0), 0), numbers(plots.AtMost(1500), 2), ratios(plots.Under(10), 2, 0)},
			verdict: plots.Refuted,
			want:    []float64{2.48831e-20, 167.555, 1500},
		},
		{
			place:    "3, Figure 4",
			sentence: "the second moment explodes exponentially as α declines",
			numbers: "log10 E[X²] = # at α = 2, # at 1.5, # at 1, # at 0.5, # at 0.2: " +
				"over a hundredfold for each half of α down to 1, then it levels off",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				return math.Log10(moment(paperSizes(alpha), 2))

			}, 2, 1.5, 1, 0.5, 0.2),
			asked:   demands{rises(plots.Over(1), 0, 1, 1, 2, 2, 3)},
			verdict: plots.Refuted,
			want:    []float64{7.84946, 9.97719, 12.2242, 13, 13.1249},
		},
		{
			place:    "3",
			sentence: "the Bounded Pareto distribution has, to some extent, a decreasing failure rate",
			numbers: "the rate falls up to x = p/(1+α)^(1/α), beyond which are # of the jobs at α = 0.2, # at 1, " +
				"# at 2; " +
				"at x/1.1 and 1.1 x it is higher by a factor of # and # at α = 1",
			values: func(tags.Policy) []float64 {
				turn := func(alpha float64) float64 { return 1e10 * math.Pow(1+alpha, -1/alpha) }
				x := mapped([]float64{0.2, 1, 2}, func(alpha float64) float64 {
					return paperSizes(alpha).Survival(turn(alpha))
				})
				d := paperSizes(1)
				rate := func(x float64) float64 { // over an interval of 1e-6 of x
					return oracle.Must(d.PartialMoment(0, x, x*(1+1e-6))) / (x * 1e-6 * d.Survival(x))
				}
				return append(x, rate(turn(1)/1.1)/rate(turn(1)), rate(turn(1)*1.1)/rate(turn(1)))
			},
			asked:   demands{numbers(fromZeroTo(1e-6), 0, 1, 2), numbers(plots.Over(1), 3, 4)},
			verdict: plots.Holds,
			want:    []float64{2.4e-7, 1.67555e-8, 4.5e-14, 1.00833, 1.0101},
		},
	}
}
