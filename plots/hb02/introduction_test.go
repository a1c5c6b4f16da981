package hb02_test

import (
	"productform/plots"
	"productform/tags"
)

// introductionClaims returns the claims of the abstract and sections 1 and 2.
func introductionClaims() []claim {
	return []claim{
		{
			place: "abstract",
			sentence: "TAGS outperforms all policies by several orders of magnitude, in mean slowdown and in mean " +
				"response time",
			numbers: "LWR, the best policy that does not know sizes, over TAGS, 2 hosts, load 0.5, α = 1: # orders " +
				"in slowdown, # in response time with the best cutoffs for waiting",
			values: func(lwr tags.Policy) []float64 {
				m := farm(1, 0.5, 2)
				return []float64{
					gain(lwr, 1, 0.5, 2), orders(evaluate(m, lwr).MeanDelay.Float, forWaiting(m).MeanDelay.Float),
				}
			},
			asked:   allWithin(plots.AtLeast(2)),
			verdict: plots.Holds,
			want:    []float64{3.92768, 2.62699},
			printed: []float64{4.22871, 2.92801},
		},
		{
			place:    "abstract, 1",
			sentence: "given any initial system load, TAGS needs far fewer additional hosts than other policies",
			numbers: "hosts that TAGS and LWR need beyond 2: at α = 1, # and # from load 0.5, # and # from 0.7, # " +
				"and # from 0.9; " +
				"at α = 1.9, # and # from 0.5, # and # from 0.7; at α = 2, 3 hosts at load 0.7 have λk = #, " +
				"which overloads host 1 of TAGS for any number of added hosts",
			values: func(lwr tags.Policy) []float64 {
				var x []float64
				for _, c := range []struct{ alpha, load float64 }{
					{1, 0.5}, {1, 0.7}, {1, 0.9}, {1.9, 0.5}, {1.9, 0.7},
				} {
					x = append(x, added(tags.PolicyTAGS, c.alpha, c.load), added(lwr, c.alpha, c.load))
				}
				d := paperSizes(2)
				return append(x, 3*0.7/moment(d, 1)*lowEnd(d))
			},
			asked:   demands{ratios(plots.Under(1), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), numbers(plots.Under(1), 10)},
			verdict: plots.Refuted,
			want:    []float64{1, 6, 1, 7, 2, 8, 1, 1, 2, 1, 1.05},
			printed: []float64{1, 6, 1, 8, 2, 9, 1, 1, 2, 1, 1.05},
		},
		{
			place:    "1",
			sentence: "the more heavy-tailed the sizes, the greater the improvement of TAGS, unless the load is high",
			numbers: "smallest increase, in orders, of LWR over TAGS as α falls by 0.1, between 2 and 0.2: # at " +
				"load 0.3, # at 0.5; " +
				"# at 0.7, where the improvement is largest near α = 1",
			values: valuesAt(func(lwr tags.Policy, load float64) float64 {
				return leastRise(func(alpha float64) float64 { return gain(lwr, alpha, load, 2) })
			}, 0.3, 0.5, 0.7),
			asked:   demands{numbers(plots.Over(0), 0, 1)},
			verdict: plots.Holds,
			want:    []float64{0.272807, 0.258682, -1.34746},
			printed: []float64{0.272807, 0.258682, -1.34746},
		},
		{
			place: "1",
			sentence: "where the system load is high, all policies perform so poorly that they become impractical, " +
				"TAGS above all",
			numbers: "mean slowdown at load 0.9, α = 1: TAGS #, LWR #, Random #; from load 0.5 to 0.9 it grows by " +
				"a factor of #, #, #",
			values: func(lwr tags.Policy) []float64 {
				x := rivals(lwr, farm(1, 0.9, 2))
				for i, low := range rivals(lwr, farm(1, 0.5, 2)) {
					x = append(x, x[i]/low)
				}
				return x
			},
			asked:   demands{numbers(plots.AtLeast(1000), 0, 1, 2), ratios(plots.Over(1), 3, 4, 3, 5)},
			verdict: plots.Holds,
			want:    []float64{1587.92, 3.55263e+6, 7.5e+6, 48.3957, 12.7895, 9},
			printed: []float64{1587.92, 7.10526e+6, 7.5e+6, 48.3957, 12.7895, 9},
		},
		{
			place: "1, footnote",
			sentence: "2 hosts at load 0.5 get as many jobs as 4 at 0.25; 4 hosts get twice as many as 2 at the " +
				"same load",
			numbers: "ratios of arrival rates # and #",
			values: func(tags.Policy) []float64 {
				rate := func(hosts int, load float64) float64 {
					return forSlowdown(farm(1, load, hosts)).ArrivalRate.Float
				}
				return []float64{rate(4, 0.25) / rate(2, 0.5), rate(4, 0.5) / rate(2, 0.5)}
			},
			asked:   demands{numbers(about(1, 1e-14), 0), numbers(about(2, 1e-14), 1)},
			verdict: plots.Holds,
			want:    []float64{1, 2},
		},
		{
			place:    "1, 4",
			sentence: "TAGS-opt-slowdown and TAGS-opt-waitingtime are not fair",
			numbers: "slowdown of big jobs over that of short ones, 2 hosts, load 0.5: # at α = 1 under " +
				"opt-slowdown; " +
				"under opt-waitingtime # at α = 0.5, # at 1, # at 1.5",
			values: func(tags.Policy) []float64 {
				x := []float64{unfairness(forSlowdown(farm(1, 0.5, 2)))}
				for _, alpha := range []float64{0.5, 1, 1.5} {
					x = append(x, unfairness(forWaiting(farm(alpha, 0.5, 2))))
				}
				return x
			},
			// bias to short or to big jobs
			asked: demands{{
				plots.Over(2),
				func(x []float64) []float64 { return []float64{x[0], max(x[1], 1/x[1]), max(x[3], 1/x[3])} },
			}},
			verdict: plots.Holds,
			want:    []float64{236.823, 1.40886e-5, 1.00345, 3.42664},
		},
		{
			place:    "1, 5, 8",
			sentence: "the mean slowdown of TAGS-opt-fairness is close to that of TAGS-opt-slowdown",
			numbers:  "its ratio, 2 hosts, load 0.5: # at α = 0.2, # at 0.4, # at 1, # at 1.5, # at 1.9",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				m := farm(alpha, 0.5, 2)
				return slowdown(forFairness(m)) / slowdown(forSlowdown(m))

			}, 0.2, 0.4, 1, 1.5, 1.9),
			asked:   allWithin(fromZeroTo(2)),
			verdict: plots.Refuted,
			want:    []float64{50.3203, 40.1234, 9.85117, 2.97114, 1.4103},
		},
		{
			place:    "1",
			sentence: "the mean waiting time of TAGS-opt-fairness is close to that of TAGS-opt-waitingtime",
			numbers:  "its ratio, 2 hosts, load 0.5: # at α = 0.2, # at 0.4, # at 0.6, # at 1, # at 1.5",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				m := farm(alpha, 0.5, 2)
				return waiting(forFairness(m)) / waiting(forWaiting(m))

			}, 0.2, 0.4, 0.6, 1, 1.5),
			asked:   allWithin(fromZeroTo(2)),
			verdict: plots.Refuted,
			want:    []float64{758777, 156.718, 7.27178, 1, 1.26767},
		},
		{
			place: "2",
			sentence: "SITA-E, which knows sizes, outperforms Random and LWR by several orders of magnitude if sizes " +
				"are heavy-tailed",
			numbers: "2 hosts, load 0.5, α = 1: # orders over LWR, # over Random",
			values: func(lwr tags.Policy) []float64 {
				m := farm(1, 0.5, 2)
				s := slowdown(evaluate(m, tags.PolicySITAE))
				return []float64{
					orders(slowdown(evaluate(m, lwr)), s), orders(slowdown(evaluate(m, tags.PolicyRandom)), s),
				}
			},
			asked:   allWithin(plots.AtLeast(2)),
			verdict: plots.Holds,
			want:    []float64{3.10977, 3.58689},
			printed: []float64{3.4108, 3.58689},
		},
		{
			place: "2",
			sentence: "at loads below 0.5 TAGS improves upon SITA-E by several orders of magnitude if sizes are " +
				"heavy-tailed",
			numbers: "orders in mean slowdown, 2 hosts, load 0.3: # at α = 0.4, # at 0.8, # at 0.9, # at 1, # at " +
				"1.1, # at 1.5",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				m := farm(alpha, 0.3, 2)
				return orders(slowdown(evaluate(m, tags.PolicySITAE)), slowdown(forSlowdown(m)))

			}, 0.4, 0.8, 0.9, 1, 1.1, 1.5),
			asked:   allWithin(plots.AtLeast(2)),
			verdict: plots.Refuted,
			want:    []float64{10.3612, 4.10999, 2.59401, 0.8228, -0.188043, 1.07163},
		},
	}
}
