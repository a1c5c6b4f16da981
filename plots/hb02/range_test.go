package hb02_test

import (
	"math"

	"productform/internal/oracle"
	"productform/plots"
	"productform/sizes"
	"productform/tags"
)

// rangeClaims returns the claims of sections 7 and 8, on a smaller range of sizes and in the
// conclusion.
func rangeClaims() []claim {
	return []claim{
		{
			place: "7",
			sentence: "at α ≈ 1, k = 167 for p = 10^10, and sizes span 8 orders of magnitude; k = 287 for p = 10^7, " +
				"just 5 orders",
			numbers: "k = # (167.56, cut to 167 in the paper), # orders; k = #, # orders",
			values: func(tags.Policy) []float64 {
				long, short := lowEnd(paperSizes(1)), lowEnd(shortFarm(1).Sizes)
				return []float64{long, orders(1e10, long), short, orders(1e7, short)}
			},
			asked: demands{
				numbers(plots.Limit{Least: 167, Most: plots.Under(168).Most}, 0), numbers(plots.Rounded(8), 1),
				numbers(plots.Rounded(287), 2), numbers(plots.Rounded(5), 3),
			},
			verdict: plots.Holds,
			want:    []float64{167.555, 7.77584, 286.819, 4.54239},
		},
		{
			place:    "7, Figure 14",
			sentence: "for p = 10^7 the coefficient of variation ranges from 2 (α = 2) to 33 (α = 0.2)",
			numbers:  "from # to #; it is # at α = 0.5",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				return math.Sqrt(oracle.Must(sizes.SCV(shortFarm(alpha).Sizes)))
			}, 2, 0.2, 0.5),
			asked:   demands{numbers(plots.Rounded(2), 0), numbers(plots.Rounded(33), 1)},
			verdict: plots.Refuted,
			want:    []float64{1.84491, 38.477, 33.3233},
		},
		{
			place:    "7, Figure 14",
			sentence: "the job size variability is far lower than for p = 10^10",
			numbers:  "E[X²] is lower by a factor of # at α = 0.2, # at 1, # at 1.5, # at 2",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				return moment(paperSizes(alpha), 2) / moment(shortFarm(alpha).Sizes, 2)

			}, 0.2, 1, 1.5, 2),
			asked:   demands{numbers(plots.AtLeast(10), 0, 1, 2)},
			verdict: plots.Holds,
			want:    []float64{1000, 584.184, 31.4685, 1.78403},
		},
		{
			place:    "7, Figure 15",
			sentence: "for p = 10^7 the improvement of TAGS is not as dramatic as for p = 10^10",
			numbers:  "smallest difference, in orders, for α from 0.2 to 2: #",
			values: singleValue(func(lwr tags.Policy) float64 {
				return minOverAlpha(func(alpha float64) float64 {
					return gain(lwr, alpha, 0.5, 2) - gainOf(lwr, shortFarm(alpha))
				})
			}),
			asked:   allWithin(plots.Over(0)),
			verdict: plots.Holds,
			want:    []float64{0.168219},
			printed: []float64{0.168219},
		},
		{
			place:    "7, Figure 15",
			sentence: "for α ≈ 1 TAGS improves upon the other policies by over 2 orders of magnitude",
			numbers:  "# orders over LWR, # over Random",
			values: func(lwr tags.Policy) []float64 {
				return []float64{gainOf(lwr, shortFarm(1)), gainOf(tags.PolicyRandom, shortFarm(1))}
			},
			asked:     allWithin(plots.AtLeast(2)),
			verdict:   plots.Refuted,
			asPrinted: plots.Holds,
			want:      []float64{1.75564, 2.23277},
			printed:   []float64{2.05667, 2.23277},
		},
		{
			place:    "7, Figure 15",
			sentence: "as α drops, the improvement increases",
			numbers:  "smallest increase, in orders, as α falls by 0.1, between 2 and 0.2: #",
			values: singleValue(func(lwr tags.Policy) float64 {
				return leastRise(func(alpha float64) float64 { return gainOf(lwr, shortFarm(alpha)) })
			}),
			asked:   allWithin(plots.Over(0)),
			verdict: plots.Holds,
			want:    []float64{0.135956},
			printed: []float64{0.135956},
		},
		{
			place: "8",
			sentence: "TAGS restarts jobs at a host that is typically at extremely high load, much higher than that " +
				"of the first",
			numbers: "loads of hosts 1 and 2, smallest slowdown, system load 0.5: # and # at α = 0.6, # and # at " +
				"0.9, # and # at 1, # and # at 1.3",
			values:  bestLoads(0.5, 0.6, 0.9, 1, 1.3),
			asked:   demands{numbers(plots.Over(0.8), 1, 3, 5, 7), ratios(plots.Over(2), 1, 0, 3, 2, 5, 4, 7, 6)},
			verdict: plots.Refuted,
			want:    []float64{0.0118884, 0.992879, 0.23275, 0.808218, 0.399387, 0.656465, 0.749754, 0.327473},
		},
	}
}
