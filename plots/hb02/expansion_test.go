package hb02_test

import (
	"context"
	"math"
	"slices"

	"productform/internal/oracle"
	"productform/plots"
	"productform/tags"
)

// expansionClaims returns the claims of section 6, on more hosts.
func expansionClaims() []claim {
	return []claim{
		{
			place:    "6",
			sentence: "h > 2 hosts can be configured to perform at least as well as 2 at the same system load",
			numbers: "by groups of 2, always; all 4 hosts in one TAGS: E[S] at load 0.5 # for 2 and # for 4 hosts at " +
				"α = 0.2, " +
				"# and # at α = 1: one TAGS can be worse",
			values: func(tags.Policy) []float64 {
				var x []float64
				for _, alpha := range []float64{0.2, 1} {
					x = append(
						x, slowdown(forSlowdown(farm(alpha, 0.5, 2))), slowdown(forSlowdown(farm(alpha, 0.5, 4))),
					)
				}
				return x
			},
			asked:   nil, // an argument, not a number
			verdict: plots.Holds,
			want:    []float64{1.47706e+12, 4.91375e+27, 32.8111, 1.0229},
		},
		{
			place:    "6, Figure 12",
			sentence: "with 4 hosts, load 0.3, Random stays as with 2",
			numbers:  "ratio of E[S]: #",
			values: singleValue(func(tags.Policy) float64 {
				return slowdown(evaluate(farm(1, 0.3, 2), tags.PolicyRandom)) / slowdown(evaluate(farm(1, 0.3, 4),
					tags.PolicyRandom))
			}),
			asked:   allWithin(about(1, 1e-13)),
			verdict: plots.Holds,
			want:    []float64{1},
		},
		{
			place:    "6, Figure 12",
			sentence: "LWR improves by a couple of orders of magnitude for higher α, by less for lower",
			numbers:  "E[S] falls by a factor of # at α = 0.2, # at 2",
			values: valuesAt(func(lwr tags.Policy, alpha float64) float64 {
				return slowdown(evaluate(farm(alpha, 0.3, 2), lwr)) / slowdown(evaluate(farm(alpha, 0.3, 4), lwr))
			}, 0.2, 2),
			asked:   demands{numbers(plots.Over(30), 1), ratios(plots.Under(1-1e-9), 0, 1)},
			verdict: plots.Refuted,
			want:    []float64{7.47436, 7.47436},
		},
		{
			place:    "6, Figure 12",
			sentence: "the mean slowdown of TAGS-opt-slowdown is never over 6",
			numbers:  "largest: # (at α = 0.2)",
			values:   singleValue(func(tags.Policy) float64 { return slices.Max(fourHosts()) }),
			asked:    allWithin(plots.AtMost(6)),
			verdict:  plots.Refuted,
			want:     []float64{6.14968},
		},
		{
			place:    "6, Figure 12",
			sentence: "almost never over 6, and often under 1 (caption and text)",
			numbers: "of # values of α, 0.2, 0.3, ..., 2, # give more than 6 and # less than 1; largest except at α " +
				"= 0.2: #",
			values: func(tags.Policy) []float64 {
				s := fourHosts()
				x := []float64{float64(len(s)), 0, 0, slices.Max(s[1:])}
				for _, v := range s {
					if v > 6 {
						x[1]++
					}
					if v < 1 {
						x[2]++
					}
				}
				return x
			},
			asked:   demands{numbers(plots.AtMost(1), 1), ratios(plots.AtLeast(0.5), 2, 0)},
			verdict: plots.Holds,
			want:    []float64{19, 1, 11, 1.79308},
		},
		{
			place:    "6, Figure 12",
			sentence: "at α ≈ 1 it improves upon LWR by 4-5 orders of magnitude",
			numbers:  "# orders",
			values:   gains(0.3, 4, 1),
			asked:    allWithin(plots.Limit{Least: 4, Most: 5}),
			verdict:  plots.Holds,
			want:     []float64{4.41624},
			printed:  []float64{4.71727},
		},
		{
			place:    "6, Figure 12",
			sentence: "at α = 0.6 by 8 or 9 orders of magnitude",
			numbers:  "# orders",
			values:   gains(0.3, 4, 0.6),
			asked:    allWithin(plots.Limit{Least: 7.5, Most: 9.5}),
			verdict:  plots.Holds,
			want:     []float64{8.86832},
			printed:  []float64{9.16935},
		},
		{
			place:    "6, Figure 12",
			sentence: "at α = 0.2 by over 25 orders of magnitude",
			numbers:  "# orders",
			values:   gains(0.3, 4, 0.2),
			asked:    allWithin(plots.Over(25)),
			verdict:  plots.Holds,
			want:     []float64{25.5055},
			printed:  []float64{25.8065},
		},
		{
			place:    "6, Figure 12",
			sentence: "(the figure, not the text) TAGS is below LWR for all α",
			numbers:  "orders: # at α = 1.6, # at 1.7, # at 1.8, # at 2",
			values:   gains(0.3, 4, 1.6, 1.7, 1.8, 2),
			asked:    allWithin(plots.AtLeast(0)),
			verdict:  plots.Refuted,
			want:     []float64{0.464449, -0.0847305, -0.59279, -1.41284},
			printed:  []float64{0.765479, 0.216299, -0.29176, -1.11181},
		},
		{
			place:    "6",
			sentence: "4 hosts at load 0.7 have the problems of 2 hosts at load 0.7",
			numbers: "worse: there are cutoffs that keep all 4 hosts below load 1 only for α from # to # (for 2 " +
				"hosts: all from 0.2 to 2)",
			values: func(tags.Policy) []float64 {
				spare := func(alpha float64) float64 {
					return oracle.Must(tags.MaxLoad(context.Background(), farm(alpha, 0.7, 4))) - 0.7
				}
				return []float64{root(0.5, 1, spare), root(1, 1.6, spare)}
			},
			asked:   demands{numbers(plots.Over(0.2), 0), numbers(plots.Under(2), 1)},
			verdict: plots.Holds,
			want:    []float64{0.71529, 1.30215},
		},
		{
			place: "6.1",
			sentence: "2 hosts, load 0.7, α = 0.6: the mean slowdown under TAGS-opt-slowdown is 10^9, and no other " +
				"policy does better",
			numbers: "TAGS #, LWR #, Random #",
			values:  func(lwr tags.Policy) []float64 { return rivals(lwr, farm(0.6, 0.7, 2)) },
			asked:   demands{numbers(plots.PowerOfTen(9), 0), ratios(plots.Over(1), 1, 0, 2, 0)},
			verdict: plots.Holds,
			want:    []float64{1.0883e+9, 7.52488e+9, 1.82747e+10},
			printed: []float64{1.0883e+9, 1.50498e+10, 1.82747e+10},
		},
		{
			place:    "6.1",
			sentence: "with 4 hosts it is around 1",
			numbers:  "# (the paper's cutoffs were tuned by hand)",
			values:   singleValue(func(tags.Policy) float64 { return slowdown(forSlowdown(farm(0.6, 0.35, 4))) }),
			asked:    allWithin(plots.AtMost(1)),
			verdict:  plots.Holds,
			want:     []float64{0.315453},
		},
		{
			place:    "6.1",
			sentence: "whereas that of LWR is 10^8",
			numbers:  "#",
			values:   singleValue(func(lwr tags.Policy) float64 { return slowdown(evaluate(farm(0.6, 0.35, 4), lwr)) }),
			asked:    allWithin(plots.PowerOfTen(8)),
			verdict:  plots.Holds,
			want:     []float64{1.81654e+8},
			printed:  []float64{3.63309e+8},
		},
		{
			place:    "6.1",
			sentence: "LWR would need 13 hosts for a mean slowdown under 3",
			numbers:  "# hosts; with 13 it is #",
			values: func(lwr tags.Policy) []float64 {
				return []float64{2 + added(lwr, 0.6, 0.7), slowdown(evaluate(farm(0.6, 1.4/13, 13), lwr))}
			},
			asked:     demands{numbers(equalTo(13), 0), numbers(plots.Under(3), 1)},
			verdict:   plots.Holds,
			asPrinted: plots.Refuted,
			want:      []float64{13, 2.37833},
			printed:   []float64{14, 4.75667},
		},
		{
			place:    "6.1",
			sentence: "Random would need an additional 10^9 hosts",
			numbers:  "#",
			values:   singleValue(func(tags.Policy) float64 { return added(tags.PolicyRandom, 0.6, 0.7) }),
			asked:    allWithin(plots.PowerOfTen(9)),
			verdict:  plots.Holds,
			want:     []float64{3.65494e+9},
		},
		{
			place:    "6.1, Figure 13",
			sentence: "from 2 hosts at load 0.7, TAGS-opt-slowdown needs only 3 more hosts at α = 0.2",
			numbers:  "#",
			values:   singleValue(func(tags.Policy) float64 { return added(tags.PolicyTAGS, 0.2, 0.7) }),
			asked:    allWithin(equalTo(3)),
			verdict:  plots.Holds,
			want:     []float64{3},
		},
		{
			place:    "6.1, Figure 13",
			sentence: "and no more than 2 for all other α",
			numbers: "largest for α = 0.3, ..., 1.9: #; at α = 2: #; if slowdown counted killed runs, 2 more hosts " +
				"with these cutoffs " +
				"would give # at α = 1.8, # at 1.9",
			values: func(tags.Policy) []float64 {
				needs := func(alpha float64) float64 { return added(tags.PolicyTAGS, alpha, 0.7) }
				x := []float64{slices.Max(mapped(tenths(3, 19), needs)), needs(2)}
				for _, alpha := range []float64{1.8, 1.9} {
					o := forSlowdown(farm(alpha, 0.35, 4))
					s := slowdown(o)
					for _, cutoff := range o.Cutoffs {
						s += cutoff * oracle.Must(paperSizes(alpha).PartialMoment(-1, cutoff, math.Inf(1)))
					}
					x = append(x, s)
				}
				return x
			},
			asked:   demands{numbers(fromZeroTo(2), 0, 1)},
			verdict: plots.Refuted,
			want:    []float64{2, 3, 3.05643, 3.46862},
		},
		{
			place:    "6.1, Figure 13",
			sentence: "LWR needs from 1 to 27, as α decreases",
			numbers:  "# at α = 2, # at 0.2",
			values: valuesAt(func(lwr tags.Policy, alpha float64) float64 {
				return added(lwr, alpha, 0.7)
			}, 2, 0.2),
			asked:   demands{numbers(equalTo(1), 0), numbers(equalTo(27), 1)},
			verdict: plots.Holds,
			want:    []float64{1, 27},
		},
		{
			place:    "6.1, Figure 13",
			sentence: "Random needs as many as 10^5 when α ≈ 1",
			numbers:  "#",
			values:   singleValue(func(tags.Policy) float64 { return added(tags.PolicyRandom, 1, 0.7) }),
			asked:    allWithin(plots.PowerOfTen(5)),
			verdict:  plots.Holds,
			want:     []float64{388889},
		},
	}
}
