package hb02_test

import (
	"context"
	"math"

	"productform/internal/oracle"
	"productform/plots"
	"productform/tags"
)

// balanceClaims returns the claims of section 5.2, on the loads of the hosts.
func balanceClaims() []claim {
	return []claim{
		{
			place:    "5.2, Figure 8",
			sentence: "all 3 flavors severely underload host 1 when α is low",
			numbers: "largest load of host 1 for α ≤ 0.6, load 0.5: # for slowdown, # for waiting, # for fairness; " +
				"at α = 0.2: #, #, #",
			values: func(tags.Policy) []float64 {
				x := make([]float64, 3)
				for _, alpha := range tenths(2, 6) {
					for i, o := range flavors(alpha, 0.5) {
						x[i] = max(x[i], o.Hosts[0].Load.Float)
					}
				}
				for _, o := range flavors(0.2, 0.5) {
					x = append(x, o.Hosts[0].Load.Float)
				}
				return x
			},
			asked:   allWithin(fromZeroTo(0.1)),
			verdict: plots.Holds,
			want:    []float64{0.0118884, 0.0960481, 0.0354325, 1.03766e-7, 0.033905, 7.84791e-7},
		},
		{
			place:    "5.2, Figure 8",
			sentence: "all 3 flavors overload host 1 somewhat when α is high",
			numbers: "loads of hosts 1 and 2 at α = 1.6, load 0.5: # and # for slowdown, # and # for waiting, # and " +
				"# for fairness",
			values:  func(tags.Policy) []float64 { return loads(flavors(1.6, 0.5)...) },
			asked:   demands{ratios(plots.Over(1), 0, 1, 2, 3, 4, 5)},
			verdict: plots.Holds,
			want:    []float64{0.816088, 0.294299, 0.866802, 0.213157, 0.902046, 0.156768},
		},
		{
			place:    "5.2, Figure 8",
			sentence: "at α ≈ 1 the load is balanced",
			numbers:  "loads are equal, load 0.5, at α = # for slowdown, # for waiting, # for fairness",
			values: valuesAt(func(_ tags.Policy, flavor float64) float64 {
				return balanced(0.8, 1.2, func(alpha float64) tags.Result { return flavors(alpha, 0.5)[int(flavor)] })
			}, 0, 1, 2),
			asked:   allWithin(plots.Limit{Least: 0.9, Most: 1.1}),
			verdict: plots.Holds,
			want:    []float64{1.08189, 0.995256, 0.995702},
		},
		{
			place:    "5.2",
			sentence: "at α = 0.2 the longest 10^-6 of the jobs make up half of the load",
			numbers:  "they make up #; half is made up by # (so it holds as \"at least half\")",
			values: func(tags.Policy) []float64 {
				return []float64{carried(paperSizes(0.2), 1e-6), longest(paperSizes(0.2), 0.5)}
			},
			asked:   demands{numbers(plots.AtLeast(0.5), 0)},
			verdict: plots.Holds,
			want:    []float64{0.911481, 2.27049e-7},
		},
		{
			place:    "5.2",
			sentence: "and the longest 10^-4 make up 0.99999 of it",
			numbers:  "they make up all but #; 0.99999 is made up by #",
			values: func(tags.Policy) []float64 {
				d := paperSizes(0.2)
				short := oracle.Must(d.PartialMoment(1, 0, oracle.Must(d.Quantile(1-1e-4)))) / moment(d, 1)
				return []float64{short, longest(d, 0.99999)}
			},
			asked:   demands{numbers(plots.AtMost(1e-5), 0)},
			verdict: plots.Holds,
			want:    []float64{1.97698e-8, 2.01394e-5},
		},
		{
			place: "5.2",
			sentence: "with s_1 so that 10^-4 of the jobs go to host 2, its load is 0.99999, and that of host " +
				"1 0.00001",
			numbers: "system load 0.5: slack of host 2 #, load of host 1 #",
			values: func(tags.Policy) []float64 {
				h := loadGame().Hosts
				return []float64{h[1].Slack.Float, h[0].Load.Float}
			},
			asked:   allWithin(fromZeroTo(1e-5)),
			verdict: plots.Holds,
			want:    []float64{1.97698e-8, 9.79115e-8},
		},
		{
			place:    "5.2",
			sentence: "since most jobs run at such reduced load, the overall mean slowdown is very low",
			numbers:  "there # (the minimum is #, with s_1 almost the same), LWR #: low only in comparison with LWR",
			values: func(lwr tags.Policy) []float64 {
				return append([]float64{slowdown(loadGame())}, rivals(lwr, farm(0.2, 0.5, 2))[:2]...)
			},
			asked:   demands{numbers(plots.Under(10), 0)},
			verdict: plots.Refuted,
			want:    []float64{1.49121e+12, 1.47706e+12, 4.96149e+27},
			printed: []float64{1.49121e+12, 1.47706e+12, 9.92297e+27},
		},
		{
			place: "5.2",
			sentence: "the less heavy the tail, the larger the fraction of the jobs that must go to host 2 to load " +
				"it highly",
			numbers: "fraction that gives it load 0.9, system load 0.5: # at α = 0.2, # at 0.6, # at 1, # at 1.5",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				m := farm(alpha, 0.5, 2)
				return m.Sizes.Survival(math.Exp(root(math.Log(lowEnd(m.Sizes))+1e-9, math.Log(1e10)-1e-9, func(
					u float64,
				) float64 {
					// overloaded hosts also have a load
					r, _ := tags.Evaluate(context.Background(), m, tags.PolicyTAGS, []float64{math.Exp(u)})
					return r.Hosts[1].Load.Float - 0.9
				})))
			}, 0.2, 0.6, 1, 1.5),
			asked:   demands{ratios(plots.AtLeast(1), 1, 0, 2, 1, 3, 2), numbers(plots.Under(1e-4), 0)},
			verdict: plots.Holds,
			want:    []float64{9.33935e-7, 6.12185e-6, 0.166884, 0.729077},
		},
		{
			place:    "5.2",
			sentence: "jobs that end at host 2 experience larger slowdowns (α ≈ 1)",
			numbers:  "slowdowns of the jobs that end at hosts 1 and 2, α = 1, load 0.5: # and #",
			values: func(tags.Policy) []float64 {
				h := forSlowdown(farm(1, 0.5, 2)).Hosts
				return []float64{h[0].Slowdown.Float, h[1].Slowdown.Float}
			},
			asked:   demands{ratios(plots.Over(1), 1, 0)},
			verdict: plots.Holds,
			want:    []float64{21.8348, 5170.99},
		},
		{
			place:    "5.2",
			sentence: "for α > 1 it pays to overload host 1 a little and underload host 2 slightly",
			numbers: "loads for the smallest slowdown, system load 0.5: # and # at α = 1.1, # and # at 1.3, # and # " +
				"at 1.5, # and # at 2 (more than a little)",
			values:  bestLoads(0.5, 1.1, 1.3, 1.5, 2),
			asked:   demands{ratios(plots.Over(1), 0, 1, 2, 3, 4, 5, 6, 7)},
			verdict: plots.Holds,
			want:    []float64{0.558489, 0.50742, 0.749754, 0.327473, 0.810681, 0.284136, 0.772542, 0.454916},
		},
		{
			place:    "5.2",
			sentence: "the job size variability is so much greater on host 2 than on host 1 (α > 1)",
			numbers:  "squared coefficients of variation of the sizes at hosts 1 and 2, α = 1.5, load 0.5: # and #",
			values: func(tags.Policy) []float64 {
				var x []float64
				for _, h := range forSlowdown(farm(1.5, 0.5, 2)).Hosts {
					x = append(x, h.VisitSquare.Float/(h.VisitMean.Float*h.VisitMean.Float)-1)
				}
				return x
			},
			asked:   demands{ratios(plots.Over(10), 1, 0)},
			verdict: plots.Holds,
			want:    []float64{0.872165, 299.031},
		},
		{
			place:    "5.2, Figure 8(c)",
			sentence: "under TAGS-opt-fairness short and long jobs have the same mean slowdown",
			numbers:  "slowdown of long jobs over that of short ones, load 0.5: # at α = 0.4, # at 1, # at 1.6",
			values: valuesAt(func(_ tags.Policy, alpha float64) float64 {
				return unfairness(forFairness(farm(alpha, 0.5, 2)))
			}, 0.4, 1, 1.6),
			asked:   allWithin(about(1, 1e-7)),
			verdict: plots.Holds,
			want:    []float64{1, 1, 1},
		},
		{
			place:    "5.2",
			sentence: "although for low α the short jobs run at a host of very low load and of very low E[X²]",
			numbers:  "host 1, fairness, α = 0.4, load 0.5: load #, E[X²] over that of all jobs #",
			values: func(tags.Policy) []float64 {
				m := farm(0.4, 0.5, 2)
				h := forFairness(m).Hosts[0]
				return []float64{h.Load.Float, h.VisitSquare.Float / moment(m.Sizes, 2)}
			},
			asked:   allWithin(fromZeroTo(0.01)),
			verdict: plots.Holds,
			want:    []float64{0.00195295, 2.60578e-8},
		},
	}
}
