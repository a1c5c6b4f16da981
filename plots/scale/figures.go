package scale

import (
	"bytes"
	"context"
	"embed"
	"encoding/csv"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/bf/gibbs"
	"productform/cluster"
	"productform/plots"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/stability"
)

// Source returns the source of the entries.
func Source() plots.Source {
	return plots.Source{
		Prefix: "scale", Name: "Scale", Title: "How far exact answers and estimates reach",
		Claim: "Sparse clusters of thousands of servers have exact answers, and any other has estimates with " +
			"honest intervals.",
		Verdict: "Lines, rings, trees and ladders of hundreds to thousands of servers take seconds; estimates do, up " +
			"to the edge of stability.",
		Figures: len(Figures()),
	}
}

// Figures returns the entries.
func Figures() []plots.Spec {
	return []plots.Spec{
		plots.Exact("scale-1", "Time and memory against the size of a model", resources),
		{ID: "scale-2", Title: "A hundred classes on fifty servers", Prepare: prepareLarge},
	}
}

// texts are the captions and parameters.
var texts = plots.NewTexts(textFiles, "texts")

//go:embed texts
var textFiles embed.FS

// measured is the output of `tool measure-scale`.
//
//go:embed measured.csv
var measured []byte

// A measurement holds the minimum time and memory of the processes that solved a case.
type measurement struct {
	family             string
	size               int
	seconds, mebibytes float64
}

// measurements returns the record and its line that names the machine.
func measurements() (rows []measurement, machine string, err error) {
	first, _, _ := strings.Cut(string(measured), "\n")
	r := csv.NewReader(bytes.NewReader(measured))
	r.Comment = '#'
	all, err := r.ReadAll()
	if err != nil {
		return nil, "", err
	}
	for _, row := range all[1:] {
		m := measurement{family: row[0]}
		if m.size, err = strconv.Atoi(row[1]); err == nil {
			m.seconds, err = strconv.ParseFloat(row[2], 64)
		}
		if err == nil {
			m.mebibytes, err = strconv.ParseFloat(row[3], 64)
		}
		if err != nil {
			return nil, "", err
		}
		rows = append(rows, m)
	}
	return rows, strings.TrimPrefix(first, "# "), nil
}

// resources draws the recorded time and memory of cases.
func resources(ctx context.Context, _ plots.Effort, f *plots.Figure) error {
	rows, machine, err := measurements()
	if err != nil {
		return err
	}
	size := plots.Axis{Quantity: "number of servers", Scale: plots.Log}
	time := plots.Panel{Title: "Time", X: size, Y: plots.Axis{Quantity: "processor time", Unit: "s", Scale: plots.Log}}
	memory := plots.Panel{Title: "Memory", X: size, Y: plots.Axis{Quantity: "memory", Unit: "MiB", Scale: plots.Log}}
	var families []string
	for _, row := range rows {
		k := slices.Index(families, row.family)
		if k < 0 {
			k = len(families)
			families = append(families, row.family)
			for _, p := range []*plots.Panel{&time, &memory} {
				p.Series = append(p.Series, plots.Series{Label: row.family, Look: k, Marked: true})
			}
		}
		a, b := &time.Series[k], &memory.Series[k]
		a.X, a.Y = append(a.X, float64(row.size)), append(a.Y, row.seconds)
		b.X, b.Y = append(b.X, float64(row.size)), append(b.Y, row.mebibytes)
	}
	f.Panels, f.OneLegend = []plots.Panel{time, memory}, true
	f.Checks = append(f.Checks, plots.SolverCheck(
		f.ID+"a", "cases measured, and cases there are", float64(len(rows)), float64(len(Cases())), 0,
	))
	return texts.Describe(f, map[string]any{"Machine": machine}, nil)
}

// largeLoads returns the loads of scale-2, as fractions of capacity.
func largeLoads() []*big.Rat {
	var all []*big.Rat
	for _, percent := range []int64{10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 93, 95, 97, 98, 99} {
		all = append(all, big.NewRat(percent, 100))
	}
	return all
}

// prepareLarge plans the simulations of scale-2, at every third load.
func prepareLarge(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
	m := random(100, 50, 3, 500)
	critical, err := stability.Cluster(ctx, m)
	if err != nil {
		return nil, err
	}
	runs := make(map[int]*plots.Simulation)
	for k, load := range largeLoads() {
		if k%3 != 1 {
			continue
		}
		system := simcluster.Cluster{
			Model:  m.Scale(new(big.Rat).Mul(load, critical.CriticalScale)),
			Policy: simcluster.FCFS,
		}
		if runs[k], err = p.Simulate(ctx, fmt.Sprintf("100 classes on 50 servers, %s of capacity",
			load.FloatString(2)), system, e, sim.Settings{}); err != nil {
			return nil, err
		}
	}
	precision := 0.005 // relative half-width of estimates
	if e.Precision == plots.Draft {
		precision = 0.01
	}
	return func(ctx context.Context, f *plots.Figure) error {
		jobs := plots.Panel{
			Title: "Mean number of jobs",
			X:     plots.Axis{Quantity: "load, as a fraction of the critical load"},
			Y:     plots.Axis{Quantity: "mean number of jobs", Scale: plots.Log},
		}
		widths := plots.Panel{
			Title: "Intervals",
			X:     jobs.X,
			Y:     plots.Axis{Quantity: "half-width of the 95 % interval", Unit: "%", Scale: plots.Log},
		}
		estimated, bound := plots.Series{Label: "estimated"}, plots.Series{Label: "proved lower bound", Look: 2}
		simulated := plots.Series{Label: "simulated", Kind: plots.Points, Look: 1}
		widthE, widthS := plots.Series{Label: "estimated", Marked: true}, plots.Series{
			Label:  "simulated",
			Look:   1,
			Marked: true,
		}
		for k, load := range largeLoads() {
			x, _ := load.Float64()
			scaled := m.Scale(new(big.Rat).Mul(load, critical.CriticalScale))
			settings := gibbs.Settings{Seed: e.Seed, Precision: precision, Workers: e.Workers}
			r, err := gibbs.Run(ctx, scaled, settings, nil)
			if err != nil {
				return err
			}
			estimated.X, estimated.Y = append(estimated.X, x), append(estimated.Y, r.MeanJobs.Mean)
			estimated.Low, estimated.High = append(estimated.Low, r.MeanJobs.Mean-r.MeanJobs.HalfWidth),
				append(estimated.High, r.MeanJobs.Mean+r.MeanJobs.HalfWidth)
			widthE.X, widthE.Y = append(widthE.X, x), append(widthE.Y, 100*r.MeanJobs.HalfWidth/r.MeanJobs.Mean)
			bound.X, bound.Y = append(bound.X, x), append(bound.Y, jobsBound(scaled, critical.Bottleneck, x))
			if runs[k] == nil {
				continue
			}
			s := runs[k].Result.All(sim.MeanJobs)
			simulated.X, simulated.Y = append(simulated.X, x), append(simulated.Y, s.Mean)
			f.Checks = append(f.Checks, twoEstimates(
				f.ID+"a", "mean number of jobs, "+load.FloatString(2)+" of capacity, estimated and simulated",
				r.MeanJobs, s, runs[k].Name,
			))
			simulated.Low, simulated.High = append(simulated.Low, s.Mean-s.HalfWidth),
				append(simulated.High, s.Mean+s.HalfWidth)
			widthS.X, widthS.Y = append(widthS.X, x), append(widthS.Y, 100*s.HalfWidth/s.Mean)
		}
		jobs.Series, widths.Series = []plots.Series{estimated, bound, simulated}, []plots.Series{widthE, widthS}
		f.Panels = []plots.Panel{jobs, widths}
		var loads []string
		for _, load := range largeLoads() {
			loads = append(loads, load.FloatString(2))
		}
		return texts.Describe(
			f, map[string]any{
				"Runs": p.RunWords(e, "arrivals and ends of jobs"), "Loads": loads, "Percent": 100 * precision,
			}, nil,
		)
	}, nil
}

// jobsBound returns a lower bound on the mean number of jobs of classes on three servers of
// capacity 1 each, at a fraction x of the critical load. A job is served at rate at most 3, so
// E[X_i] ≥ λ_i/3; and the classes A of the bottleneck depart at rate at most μ(A), so E[Σ_A X] ≥
// λ(A)/(μ(A) - λ(A)) = x/(1-x).
func jobsBound(m *cluster.Model, bottleneck []int, x float64) float64 {
	alone, rest := 0.0, 0.0
	for i, c := range m.Classes {
		rate, _ := c.ArrivalRate.Float64()
		alone += rate / 3
		if !slices.Contains(bottleneck, i) {
			rest += rate / 3
		}
	}
	return max(alone, x/(1-x)+rest)
}

// twoEstimates compares a simulated number with an estimated one. It combines their standard
// errors; the degrees of freedom follow from the formula of Welch and Satterthwaite, rounded down.
func twoEstimates(figure, quantity string, e gibbs.Estimate, s *sim.Estimate, name string) plots.Check {
	a, b := e.StdError*e.StdError, s.StdError*s.StdError
	freedom := (a + b) * (a + b) / (a*a/float64(e.Freedom) + b*b/float64(s.Runs-1))
	both := *s
	both.StdError, both.Runs = math.Sqrt(a+b), int(freedom)+1
	both.HalfWidth = s.HalfWidth * both.StdError / s.StdError
	return plots.SimulatedCheck(figure, quantity, e.Mean, &both, name)
}
