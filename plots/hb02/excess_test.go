package hb02_test

import (
	"slices"

	"productform/plots"
	"productform/tags"
)

// excessClaims returns the claims of section 5.3, on the system load.
func excessClaims() []claim {
	return []claim{
		{
			place:     "5.3, Figure 9(a)",
			sentence:  "at load 0.3 TAGS-opt-slowdown improves upon LWR for all α",
			numbers:   "smallest improvement, in orders: # (at α = 2)",
			values:    singleValue(func(lwr tags.Policy) float64 { return leastGain(lwr, 0.3) }),
			asked:     allWithin(plots.Over(0)),
			verdict:   plots.Refuted,
			asPrinted: plots.Holds,
			want:      []float64{-0.173814},
			printed:   []float64{0.127216},
		},
		{
			place:     "5.3, Figure 9(b)",
			sentence:  "at load 0.5",
			numbers:   "smallest improvement, in orders: # (at α = 2)",
			values:    singleValue(func(lwr tags.Policy) float64 { return leastGain(lwr, 0.5) }),
			asked:     allWithin(plots.Over(0)),
			verdict:   plots.Refuted,
			asPrinted: plots.Holds,
			want:      []float64{-0.196736},
			printed:   []float64{0.104294},
		},
		{
			place:    "5.3, Figure 9(c)",
			sentence: "at load 0.7",
			numbers:  "smallest improvement, in orders: # (at α = 2); # at 0.2, # at 0.3, # at 1.7, # at 1.8, # at 1.9",
			values: func(lwr tags.Policy) []float64 {
				return append([]float64{leastGain(lwr, 0.7)}, gains(0.7, 2, 0.2, 0.3, 1.7, 1.8, 1.9)(lwr)...)
			},
			asked:   demands{numbers(plots.Over(0), 0)},
			verdict: plots.Refuted,
			want:    []float64{-0.712351, -0.243498, -0.0409218, 0.174895, -0.143925, -0.439175},
			printed: []float64{-0.411321, 0.0575322, 0.260108, 0.475925, 0.157105, -0.138145},
		},
		{
			place:    "5.3, Figure 9",
			sentence: "at all three loads TAGS-opt-slowdown improves upon Random for all α",
			numbers:  "smallest improvement, in orders, all at α = 2: # at load 0.3, # at 0.5, # at 0.7",
			values: valuesAt(func(_ tags.Policy, load float64) float64 {
				return leastGain(tags.PolicyRandom, load)
			}, 0.3, 0.5, 0.7),
			asked:   allWithin(plots.AtLeast(0)),
			verdict: plots.Refuted,
			want:    []float64{0.463008, 0.280386, -0.327},
		},
		{
			place:    "5.3, Figure 9",
			sentence: "the improvement is much better when the system is more lightly loaded",
			numbers: "orders over LWR at loads 0.3, 0.5, 0.7: #, #, # at α = 0.6; #, #, # at 0.9; #, #, # at 1; #, " +
				"#, # at 1.1; #, #, # at 1.5",
			values: func(lwr tags.Policy) []float64 {
				var x []float64
				for _, alpha := range []float64{0.6, 0.9, 1, 1.1, 1.5} {
					x = append(x, gain(lwr, alpha, 0.3, 2), gain(lwr, alpha, 0.5, 2), gain(lwr, alpha, 0.7, 2))
				}
				return x
			},
			asked:   demands{ratios(plots.Over(1), 0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11, 12, 13, 13, 14)},
			verdict: plots.Refuted,
			want: []float64{
				6.78921, 6.27299, 0.839751, 4.29841, 4.415, 3.6408, 3.77287, 3.92768, 3.96358, 3.31136,
				3.44787, 3.48261, 1.63415, 1.58038, 0.942342,
			},
			printed: []float64{
				7.09024, 6.57402, 1.14078, 4.59944, 4.71603, 3.94183, 4.0739, 4.22871, 4.26461, 3.61239,
				3.7489, 3.78364, 1.93518, 1.88141, 1.24337,
			},
		},
		{
			place:    "5.3, Figure 9",
			sentence: "all policies improve as the load is dropped, TAGS most",
			numbers: "from load 0.7 to 0.3 E[S] falls by these orders of magnitude: LWR #, Random #, TAGS # at α = " +
				"0.2, # at 0.6, # at 1, # at 1.1, # at 1.5",
			values: func(lwr tags.Policy) []float64 {
				fall := func(alpha float64) []float64 { // orders by which it falls: TAGS, LWR, Random
					high, low := rivals(lwr, farm(alpha, 0.7, 2)), rivals(lwr, farm(alpha, 0.3, 2))
					return []float64{orders(high[0], low[0]), orders(high[1], low[1]), orders(high[2], low[2])}
				}
				return append(fall(1)[1:], mapped([]float64{0.2, 0.6, 1, 1.1, 1.5}, func(alpha float64) float64 {
					return fall(alpha)[0]
				})...)
			},
			asked: demands{
				numbers(plots.Over(0), 0, 1),
				ratios(plots.AtLeast(1), 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 2, 1, 3, 1, 4, 1, 5, 1, 6, 1),
			},
			verdict: plots.Refuted,
			want:    []float64{0.987425, 0.735954, 20.8325, 6.93689, 0.796716, 0.816174, 1.67923},
		},
		{
			place:     "5.3",
			sentence:  "at load 0.3 and α = 1 TAGS-opt-slowdown improves upon LWR by over 4 orders of magnitude",
			numbers:   "# orders",
			values:    gains(0.3, 2, 1),
			asked:     allWithin(plots.Over(4)),
			verdict:   plots.Refuted,
			asPrinted: plots.Holds,
			want:      []float64{3.77287},
			printed:   []float64{4.0739},
		},
		{
			place:     "5.3",
			sentence:  "by 7 when α = 0.6",
			numbers:   "# orders (after \"by over 4\", read as at least 7; rounded it would hold)",
			values:    gains(0.3, 2, 0.6),
			asked:     allWithin(plots.AtLeast(7)),
			verdict:   plots.Refuted,
			asPrinted: plots.Holds,
			want:      []float64{6.78921},
			printed:   []float64{7.09024},
		},
		{
			place:    "5.3",
			sentence: "by almost 20 when α = 0.2",
			numbers:  "# orders",
			values:   gains(0.3, 2, 0.2),
			asked:    allWithin(plots.Limit{Least: 19, Most: 20}),
			verdict:  plots.Holds,
			want:     []float64{19.6015},
			printed:  []float64{19.9026},
		},
		{
			place:    "5.3",
			sentence: "at load 0.7 it improves upon LWR, by an order of magnitude or more, only for 0.6 < α < 1.5",
			numbers:  "# orders at α = 0.5, # at 0.6, # at 0.7, # at 1.4, # at 1.5, # at 1.6",
			values:   gains(0.7, 2, 0.5, 0.6, 0.7, 1.4, 1.5, 1.6),
			asked:    demands{numbers(plots.Under(1), 0, 5), numbers(plots.Over(1), 2, 3)},
			verdict:  plots.Holds,
			want:     []float64{0.468701, 0.839751, 1.3892, 1.45644, 0.942342, 0.528505},
			printed:  []float64{0.769731, 1.14078, 1.69023, 1.75747, 1.24337, 0.829535},
		},
		{
			place:    "5.3",
			sentence: "at load 0.7 and α ≈ 1 the improvement is still about 4 orders of magnitude",
			numbers:  "# orders",
			values:   gains(0.7, 2, 1),
			asked:    allWithin(plots.Limit{Least: 3.5, Most: 4.5}),
			verdict:  plots.Holds,
			want:     []float64{3.96358},
			printed:  []float64{4.26461},
		},
		{
			place:    "5.3, Figure 10",
			sentence: "for low α, host 1 has a much higher load at system load 0.7 than at 0.5",
			numbers:  "# and # at α = 0.2, # and # at 0.6",
			values: func(tags.Policy) []float64 {
				load := func(alpha, load float64) float64 {
					return forSlowdown(farm(alpha, load, 2)).Hosts[0].Load.Float
				}
				return []float64{load(0.2, 0.7), load(0.2, 0.5), load(0.6, 0.7), load(0.6, 0.5)}
			},
			asked:   demands{ratios(plots.Over(10), 0, 1, 2, 3)},
			verdict: plots.Holds,
			want:    []float64{0.830223, 1.03766e-7, 0.625963, 0.0118884},
		},
		{
			place:    "5.3",
			sentence: "the excess is λ p_2 s_1, and the sum of the loads less h times the system load",
			numbers:  "α = 1, load 0.7: #, # and #",
			values: func(tags.Policy) []float64 {
				o := forSlowdown(farm(1, 0.7, 2))
				return []float64{
					o.Excess.Float, o.ArrivalRate.Float * o.Hosts[1].Final.Float * o.Cutoffs[0],
					o.Hosts[0].Load.Float + o.Hosts[1].Load.Float - 2*0.7,
				}
			},
			asked:   demands{ratios(about(1, 1e-12), 1, 0, 2, 0)},
			verdict: plots.Holds,
			want:    []float64{0.0781916, 0.0781916, 0.0781916},
		},
		{
			place:    "5.3, Figure 10",
			sentence: "at loads 0.3 and 0.5 there is excess only for higher α",
			numbers:  "largest excess for α ≤ 0.6: # and #; at α = 2: # and #",
			values: func(tags.Policy) []float64 {
				most := func(load float64) float64 {
					return slices.Max(mapped(tenths(2, 6), func(alpha float64) float64 { return excess(alpha, load) }))
				}
				return []float64{most(0.3), most(0.5), excess(2, 0.3), excess(2, 0.5)}
			},
			asked:   demands{numbers(fromZeroTo(0.01), 0, 1), numbers(plots.AtLeast(0.1), 2, 3)},
			verdict: plots.Holds,
			want:    []float64{0.00162419, 0.0047673, 0.104615, 0.227458},
		},
		{
			place:    "5.3, Figure 10",
			sentence: "at load 0.7 there is excess for low and high α, not for α ≈ 1",
			numbers:  "# at α = 0.2, # at 1, # at 2",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				return excess(alpha, 0.7)
			}, 0.2, 1, 2),
			asked:   demands{numbers(plots.Under(0.1), 1), numbers(plots.Over(0.4), 0, 2)},
			verdict: plots.Holds,
			want:    []float64{0.430223, 0.0781916, 0.438561},
		},
		{
			place:    "5.3",
			sentence: "overall excess increases with load",
			numbers:  "smallest increase, for α from 0.2 to 2, from load 0.3 to 0.5: a factor of #; from 0.5 to 0.7: #",
			values: valuesAt(func(_ tags.Policy, load float64) float64 {
				return minOverAlpha(func(alpha float64) float64 {
					return excess(alpha, load+0.2) / excess(alpha, load)
				})
			}, 0.3, 0.5),
			asked:   allWithin(plots.AtLeast(1)),
			verdict: plots.Holds,
			want:    []float64{1.66667, 1.4},
		},
		{
			place:    "5.3",
			sentence: "at higher loads, for low α p_2 is low but s_1 cannot be forced low; for high α p_2 is high",
			numbers:  "load 0.7: p_2 = #, s_1 = # at α = 0.2 (s_1 = # at load 0.5); p_2 = # at α = 2",
			values: func(tags.Policy) []float64 {
				low, high := forSlowdown(farm(0.2, 0.7, 2)), forSlowdown(farm(2, 0.7, 2))
				return []float64{
					low.Hosts[1].Final.Float, low.Cutoffs[0], forSlowdown(farm(0.2, 0.5, 2)).Cutoffs[0],
					high.Hosts[1].Final.Float,
				}
			},
			asked: demands{
				numbers(plots.Under(1e-3), 0), ratios(plots.Over(1000), 1, 2), numbers(plots.Over(0.1), 3),
			},
			verdict: plots.Holds,
			want:    []float64{4.41339e-7, 2.08889e+9, 2.52119, 0.392521},
		},
		{
			place:    "5.3",
			sentence: "for higher loads excess is at its lowest at α ≈ 1, and barely existent there",
			numbers:  "load 0.7: lowest at α = #, where it is #",
			values: func(tags.Policy) []float64 {
				alpha := lowest(0.7, 1.3, func(alpha float64) float64 { return excess(alpha, 0.7) })
				return []float64{alpha, excess(alpha, 0.7)}
			},
			asked:   demands{numbers(plots.Over(0.85), 0), numbers(plots.Under(1.15), 0), numbers(plots.Under(0.1), 1)},
			verdict: plots.Holds,
			want:    []float64{0.927419, 0.0703308},
		},
		{
			place:    "5.3",
			sentence: "α ≈ 1 is where balancing load is optimal, for every system load",
			numbers:  "loads are equal at α = # at load 0.3, # at 0.5, # at 0.7",
			values: valuesAt(func(_ tags.Policy, load float64) float64 {
				return balanced(0.9, 1.3, func(alpha float64) tags.Result { return forSlowdown(farm(alpha, load, 2)) })
			}, 0.3, 0.5, 0.7),
			asked:   allWithin(plots.Limit{Least: 0.9, Most: 1.1}),
			verdict: plots.Holds,
			want:    []float64{1.08134, 1.08189, 1.0831},
		},
	}
}
