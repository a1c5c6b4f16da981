package net

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/network"
	"productform/num"
	"productform/plots"
)

// Numbers of net-2.
const (
	bookThink    = 10
	bookSize     = 4
	mostJobs     = 180
	shownServers = 8     // number of servers in panel (a)
	bookDigits   = 1e-17 // smaller relative errors are drawn at this value
)

// manyServers returns the numbers of servers.
func manyServers() []int { return []int{4, 8, 16} }

// bookModel returns one station with many servers and users who think.
func bookModel(jobs, servers int) *network.Model {
	one := big.NewRat(1, 1)
	return &network.Model{
		Stations: []network.Station{
			{Name: "think", Discipline: network.Delay}, {Name: "servers", Discipline: network.FCFS, Servers: servers},
		},
		Classes: []network.Class{{Name: "user", Population: jobs, Visits: []network.Visit{
			{Station: 0, MeanSize: big.NewRat(bookThink, 1), Count: one},
			{Station: 1, MeanSize: big.NewRat(bookSize, 1), Count: one}}}},
	}
}

// meanValueAnalysis returns the throughputs of 1, 2, ... jobs as textbooks compute them in float64:
// with j jobs at the station with probability p(j|n) of n,
//
//	R(n) = S Σ_j j/min(j, c) p(j-1|n-1),  X(n) = n/(Z + R(n)),
//	p(j|n) = X(n) S/min(j, c) p(j-1|n-1),  p(0|n) = 1 - Σ_j p(j|n)
//
// (Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing networks", Journal of
// the ACM 27(2), 1980). The last subtraction cancels.
func meanValueAnalysis(jobs, servers int) (throughput []float64) {
	p := make([]float64, jobs+1)
	p[0] = 1
	for n := 1; n <= jobs; n++ {
		cycle := float64(bookThink)
		for j := 1; j <= n; j++ {
			cycle += bookSize * float64(j) / float64(min(j, servers)) * p[j-1]
		}
		x := float64(n) / cycle
		var sum float64
		for j := n; j >= 1; j-- {
			p[j] = x * bookSize / float64(min(j, servers)) * p[j-1]
			sum += p[j]
		}
		p[0] = 1 - sum
		throughput = append(throughput, x)
	}
	return throughput
}

// textbooks draws net-2.
func textbooks(ctx context.Context, _ plots.Effort, f *plots.Figure) error {
	jobs := plots.Axis{Quantity: "number of jobs", Symbol: "N", Min: 0, Max: mostJobs}
	rate := plots.Panel{
		Title: fmt.Sprintf("Throughput with %d servers", shownServers),
		X:     jobs,
		Y:     plots.Axis{Quantity: "throughput", Unit: "jobs per unit of time", Min: -4, Max: 4},
	}
	errors := plots.Panel{Title: "Relative error of mean value analysis", X: jobs,
		Y:          plots.Axis{Quantity: "relative error", Scale: plots.Log, Min: bookDigits / 2, Max: 100},
		References: []plots.Reference{{Label: "all digits are wrong", Y: 1}}}
	var words []map[string]any
	bound := 0.0
	for k, servers := range manyServers() {
		var populations []*big.Rat
		for n := int64(1); n <= mostJobs; n++ {
			populations = append(populations, big.NewRat(n, 1))
		}
		exact, err := network.Sweep(
			ctx, bookModel(1, servers), network.Change{Parameter: network.Population, Values: populations},
			network.Question{}, network.Settings{},
		)
		if err != nil {
			return err
		}
		ours := plots.Series{Label: "convolution", Look: firstLook}
		theirs := plots.Series{Label: "mean value analysis", Thin: true, Look: secondLook}
		gap := plots.Series{Label: fmt.Sprintf("%d servers", servers), Look: thirdLook + k}
		wrong := 0 // smallest number of jobs at which all digits are wrong
		least := math.Inf(1)
		for i, x := range meanValueAnalysis(mostJobs, servers) {
			n, v := float64(i+1), exact[i].Chains[0].Throughput.Float
			bound = max(bound, exact[i].RelativeErrorBound)
			ours.X, ours.Y = append(ours.X, n), append(ours.Y, v)
			theirs.X, theirs.Y = append(theirs.X, n), append(theirs.Y, min(max(x, rate.Y.Min), rate.Y.Max))
			off := math.Abs(x-v) / v
			gap.X, gap.Y = append(gap.X, n), append(gap.Y, max(off, bookDigits))
			if off >= 1 && wrong == 0 {
				wrong = i + 1
			}
			least = min(least, x)
		}
		if servers == shownServers {
			rate.Series = []plots.Series{ours, theirs}
		}
		errors.Series = append(errors.Series, gap)
		words = append(words, map[string]any{"Servers": servers, "From": wrong, "Least": least})
		if err := checkBook(ctx, f, servers, exact[mostJobs-1]); err != nil {
			return err
		}
	}
	f.Panels = []plots.Panel{rate, errors}
	return texts.Describe(f, map[string]any{
		"Think": bookThink,
		"Size":  bookSize,
		"Most":  mostJobs,
		"Shown": shownServers,
		"Rows":  words,
		"Bound": bound,
	}, nil)
}

// checkBook compares the largest population with exact fractions.
func checkBook(ctx context.Context, f *plots.Figure, servers int, largest *network.Result) error {
	again, err := network.Solve(ctx, bookModel(mostJobs, servers), network.Settings{Engine: num.Exact})
	if err != nil {
		return err
	}
	f.Checks = append(f.Checks, plots.SolverCheck(
		f.ID+"a", fmt.Sprintf("throughput, %d servers, %d jobs, in fractions", servers, mostJobs),
		largest.Chains[0].Throughput.Float, again.Chains[0].Throughput.Float,
		solverTolerance(largest.RelativeErrorBound),
	))
	return nil
}
