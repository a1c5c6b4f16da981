package hb02_test

import (
	"context"
	"math"
	"math/big"

	"productform/internal/oracle"
	"productform/network/loss"
	"productform/plots"
	"productform/sizes"
	"productform/tags"
)

// rivalsClaims returns the claims of sections 5 and 5.1, on the policies.
func rivalsClaims() []claim {
	return []claim{
		{
			place:    "5, Figure 6",
			sentence: "for very high α all policies are comparable and very good",
			numbers:  "mean slowdown at α = 2, 2 hosts, load 0.5: TAGS #, LWR #, Random #",
			values:   func(lwr tags.Policy) []float64 { return rivals(lwr, farm(2, 0.5, 2)) },
			asked:    allWithin(fromZeroTo(10)),
			verdict:  plots.Holds,
			want:     []float64{2.74626, 1.74585, 5.23754},
			printed:  []float64{2.74626, 3.4917, 5.23754},
		},
		{
			place:    "5, Figure 6",
			sentence: "as α decreases, all policies degrade",
			numbers: "smallest growth of log10 E[S] as α falls by 0.1, between 2 and 0.2, 2 hosts, load 0.5: TAGS #, " +
				"LWR #, Random #",
			values: valuesAt(func(lwr tags.Policy, rival float64) float64 {
				return leastRise(func(alpha float64) float64 {
					return math.Log10(rivals(lwr, farm(alpha, 0.5, 2))[int(rival)])
				})
			}, 0, 1, 2),
			asked:   allWithin(plots.AtLeast(1e-9)),
			verdict: plots.Holds,
			want:    []float64{0.0759555, 0.334638, 0.334638},
		},
		{
			place:    "5, Figure 6",
			sentence: "LWR consistently outperforms Random by about an order of magnitude",
			numbers:  "Random over LWR, 2 hosts, for every α: # at load 0.3, # at 0.5, # at 0.7",
			values: valuesAt(func(lwr tags.Policy, load float64) float64 {
				s := rivals(lwr, farm(1, load, 2))
				return s[2] / s[1]
			}, 0.3, 0.5, 0.7),
			asked:   allWithin(plots.Limit{Least: math.Sqrt(10), Most: 10 * math.Sqrt(10)}),
			verdict: plots.Refuted,
			want:    []float64{4.33333, 3, 2.42857},
			printed: []float64{2.16667, 1.5, 1.21429},
		},
		{
			place:    "5, Figure 6",
			sentence: "at α = 1.5 TAGS-opt-slowdown outperforms LWR by 2 orders of magnitude",
			numbers:  "# orders",
			values:   gains(0.5, 2, 1.5),
			asked:    allWithin(plots.Limit{Least: 1.5, Most: 2.5}),
			verdict:  plots.Holds,
			want:     []float64{1.58038},
			printed:  []float64{1.88141},
		},
		{
			place:     "5, Figure 6",
			sentence:  "at α ≈ 1 by over 4 orders of magnitude",
			numbers:   "# orders",
			values:    gains(0.5, 2, 1),
			asked:     allWithin(plots.Over(4)),
			verdict:   plots.Refuted,
			asPrinted: plots.Holds,
			want:      []float64{3.92768},
			printed:   []float64{4.22871},
		},
		{
			place:     "5, Figure 6",
			sentence:  "at α = 0.4 by over 9 orders of magnitude",
			numbers:   "# orders",
			values:    gains(0.5, 2, 0.4),
			asked:     allWithin(plots.Over(9)),
			verdict:   plots.Refuted,
			asPrinted: plots.Holds,
			want:      []float64{8.70947},
			printed:   []float64{9.0105},
		},
		{
			place: "5, Figure 7(a)",
			sentence: "in mean waiting time TAGS improves by several orders of magnitude, too (read as " +
				"TAGS-opt-waitingtime)",
			numbers: "orders over LWR, 2 hosts, load 0.5: # at α = 0.2, # at 0.6, # at 1, # at 1.5",
			values: valuesAt(func(lwr tags.Policy, alpha float64) float64 {
				m := farm(alpha, 0.5, 2)
				return orders(waiting(evaluate(m, lwr)), waiting(forWaiting(m)))

			}, 0.2, 0.6, 1, 1.5),
			asked:   demands{numbers(plots.AtLeast(2), 0, 1, 2)},
			verdict: plots.Holds,
			want:    []float64{2.83606, 2.90469, 2.63328, 1.15312},
			printed: []float64{3.13709, 3.20572, 2.93431, 1.45415},
		},
		{
			place:    "5, Figure 7(a)",
			sentence: "the same (read as TAGS-opt-slowdown, as in the caption)",
			numbers:  "orders over LWR in mean waiting time: # at α = 0.2, # at 0.4, # at 0.6, # at 1, # at 1.5",
			values: valuesAt(func(lwr tags.Policy, alpha float64) float64 {
				m := farm(alpha, 0.5, 2)
				return orders(waiting(evaluate(m, lwr)), waiting(forSlowdown(m)))

			}, 0.2, 0.4, 0.6, 1, 1.5),
			asked:   demands{numbers(plots.AtLeast(2), 0, 1, 2, 3)},
			verdict: plots.Refuted,
			want:    []float64{-4.14944, -0.466505, 0.856559, 1.72831, 0.940135},
			printed: []float64{-3.84841, -0.165475, 1.15759, 2.02934, 1.24117},
		},
		{
			place:    "5, Figure 7(b)",
			sentence: "the same, TAGS-opt-fairness",
			numbers:  "orders over LWR in mean waiting time: # at α = 0.2, # at 0.4, # at 0.6, # at 1, # at 1.5",
			values: valuesAt(func(lwr tags.Policy, alpha float64) float64 {
				m := farm(alpha, 0.5, 2)
				return orders(waiting(evaluate(m, lwr)), waiting(forFairness(m)))

			}, 0.2, 0.4, 0.6, 1, 1.5),
			asked:   demands{numbers(plots.AtLeast(2), 0, 1, 2, 3)},
			verdict: plots.Refuted,
			want:    []float64{-3.04406, 0.698337, 2.04305, 2.63328, 1.05011},
			printed: []float64{-2.74303, 0.999367, 2.34408, 2.93431, 1.35114},
		},
		{
			place:    "5.1",
			sentence: "E[Q] of M/G/h is about E[Q] of M/M/h times E[X²]/E[X]²",
			numbers:  "over the exact value: # for 1 host (Theorem 1), # for 4 hosts with exponential sizes",
			values: func(lwr tags.Policy) []float64 {
				one, four := farm(1.5, 0.7, 1), tags.Model{
					Sizes: oracle.Must(sizes.NewExponential(1)),
					Hosts: 4,
					Load:  0.7,
				}
				wait := oracle.Must(loss.ErlangC(context.Background(), 4, big.NewRat(28, 10), loss.FormulaSettings{}))
				exact := wait.Float / (4 * (1 - 0.7)) // E[W] of M/M/4
				return []float64{
					waiting(evaluate(one, lwr)) / waiting(evaluate(one, tags.PolicyTAGS)),
					waiting(evaluate(four, lwr)) / exact,
				}
			},
			asked:     allWithin(about(1, 1e-12)),
			verdict:   plots.Holds,
			asPrinted: plots.Refuted,
			want:      []float64{1, 1},
			printed:   []float64{2, 2},
		},
		{
			place:    "5.1",
			sentence: "the squared coefficient of variation is C² = E[X²]/E[X]²",
			numbers:  "E[X²]/E[X]² = # and C² = # for exponential sizes",
			values: func(tags.Policy) []float64 {
				d := oracle.Must(sizes.NewExponential(3))
				return []float64{moment(d, 2) / (moment(d, 1) * moment(d, 1)), oracle.Must(sizes.SCV(d))}
			},
			asked:   demands{ratios(about(1, 1e-12), 0, 1)},
			verdict: plots.Refuted,
			want:    []float64{2, 1},
		},
		{
			place:    "5.1",
			sentence: "under Random all metrics are proportional to E[X²]",
			numbers:  "E[W]/E[X²] relative to α = 2, load 0.5: # at α = 0.2, # at 1",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				ratio := func(alpha float64) float64 {
					return waiting(evaluate(farm(alpha, 0.5, 2), tags.PolicyRandom)) / moment(paperSizes(alpha), 2)
				}
				return ratio(alpha) / ratio(2)
			}, 0.2, 1),
			asked:   allWithin(about(1, 1e-9)), // the accuracy of the mean of 3000
			verdict: plots.Holds,
			want:    []float64{1, 1},
		},
		{
			place:    "5, 5.1",
			sentence: "Round-Robin performs almost as Random does",
			numbers: "Round-Robin over Random in mean waiting time, 2 hosts, load 0.5: at least # at α = 1, # at " +
				"1.5, # at 2",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				m := farm(alpha, 0.5, 2)
				low, _ := evaluate(m, tags.PolicyRoundRobin).MeanWaiting.Bounds()
				return low / waiting(evaluate(m, tags.PolicyRandom))

			}, 1, 1.5, 2),
			asked:   allWithin(plots.Limit{Least: 0.8, Most: 1}),
			verdict: plots.Holds,
			want:    []float64{0.999995, 0.999051, 0.872714},
		},
		{
			place:    "5.1",
			sentence: "the second moment at each host but the last is below that of the original sizes (2 hosts)",
			numbers: "largest ratio at host 1, loads 0.3, 0.5, 0.7, α from 0.2 to 2, best cutoffs for slowdown and " +
				"for waiting: #",
			values: func(tags.Policy) []float64 {
				most := 0.0
				for _, load := range []float64{0.3, 0.5, 0.7} {
					for _, alpha := range grid() {
						m := farm(alpha, load, 2)
						for _, o := range []tags.Result{forSlowdown(m), forWaiting(m)} {
							most = max(most, o.Hosts[0].VisitSquare.Float/moment(m.Sizes, 2))
						}
					}
				}
				return []float64{most}
			},
			asked:   allWithin(plots.Under(1)),
			verdict: plots.Holds,
			want:    []float64{0.204265},
		},
		{
			place:    "5.1",
			sentence: "the same (3 hosts)",
			numbers:  "ratio at host 2, α = 0.2, load 0.3, best cutoffs for waiting: #; for slowdown: #",
			values: func(tags.Policy) []float64 {
				m := farm(0.2, 0.3, 3)
				square := moment(m.Sizes, 2)
				return []float64{
					forWaiting(m).Hosts[1].VisitSquare.Float / square,
					forSlowdown(m).Hosts[1].VisitSquare.Float / square,
				}
			},
			asked:   allWithin(fromZeroTo(1)),
			verdict: plots.Refuted,
			want:    []float64{13768.2, 2.27611e-8},
		},
	}
}
