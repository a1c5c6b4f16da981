package queue

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"productform/cluster"
	"productform/internal/input"
	"productform/internal/ranktable"
	"productform/sim"
	"productform/sim/internal/stations"
	"productform/sizes"
	"productform/stability"
	"productform/sweep"
)

// A Network is a network of processor-sharing queues, one per class: with x_i jobs of class i,
// class i is served at the total rate φ_i(x), shared equally among its jobs. If the rates are
// balanced, [BC17] (6), it is the Whittle network of package whittle, and the stationary
// distribution depends on the sizes only through their means.
//
// The rates come either from a rank function μ, by balanced fairness, φ_i(x) = Φ(x-e_i)/Φ(x) with Φ
// of [BC17] (4), or from a function. A network with a rank function is stable if Σ_{i∈A} λ_i σ_i <
// μ(A) for all non-empty A, with σ_i the mean size; with a function, stability is up to the caller.
// A run with more than 10,000,000 jobs present at a time ends with an error that wraps
// [sim.ErrTooManyJobs].
//
// Balanced fairness needs Φ at all states below the states reached, Π_i (x_i+1) for each: this is
// feasible with 6 classes at load 0.8 or 10 at load 0.5. A run that would need more than 256 MB for
// them ends with an error that wraps [sim.ErrTooManyStates]. All replications of a run share the
// table of these states. If it is repeated with the same folder, the run reuses the
// finished replications, starts with an empty table and may get further.
type Network struct {
	ArrivalRates []*big.Rat // λ_i >= 0, jobs per unit of time; at most 20 with Rank, otherwise 10,000
	// distribution of the work of a job: one per class, or one for all; nil means exponential with
	// mean 1
	Sizes []sizes.Distribution
	// μ(A) > 0, nondecreasing in A, in work per unit of time, indexed by the bit mask of A; length
	// 2^N, Rank[0] is nil or 0
	Rank []*big.Rat

	// Rates writes φ_i(x) >= 0, work per unit of time, into phi[i] for each i with x_i > 0; other
	// entries are ignored. It must be pure, must not modify or retain x, and must not retain phi:
	// replications call it concurrently. An error ends the run; the error of the run wraps it and
	// names the state.
	Rates func(x []int, phi []float64) error

	// RatesKey is needed only if samples are stored in a folder, and is "" with Rank.
	// It identifies Rates in the names of samples, together with the values at 50 states of at most
	// 25 jobs, for which Rates is called before the run. Two functions that agree there must not
	// share a key. The random numbers also derive from both.
	RatesKey string
}

// Limits on the classes of a network.
const (
	maxRankClasses = 20
	maxRateClasses = 10_000
)

// Describe implements [sim.System].
func (n Network) Describe(ctx context.Context, o sim.Observation) (*sim.Description, error) {
	if err := n.check(ctx); err != nil {
		return nil, err
	}
	jobSizes, names, err := n.sizes()
	if err != nil {
		return nil, err
	}
	d := &sim.Description{
		Method:   "processor-sharing queues on a calendar of events",
		StepCost: float64(len(n.ArrivalRates)) / 2,
	}
	for i, s := range jobSizes[:min(len(jobSizes), max(1, len(n.Sizes)))] {
		of := ""
		if n.Sizes != nil {
			of = fmt.Sprint("class ", i)
		}
		d.Moments = append(d.Moments, sim.Moment{Sizes: s, Orders: []float64{1}, Of: of})
	}
	net := &stations.Network{Rows: len(n.ArrivalRates), PartOf: make([]int, len(n.ArrivalRates))}
	var rates []string
	var arrivalRates []float64
	for i, exact := range n.ArrivalRates {
		rate, err := sim.RateOf(fmt.Sprintf("ArrivalRates[%d]", i), exact)
		if err != nil {
			return nil, err
		}
		mean, err := sizes.Mean(jobSizes[i])
		if err != nil {
			return nil, input.Errorf(
				fmt.Sprintf("Sizes[%d]", i), jobSizes[i], "a distribution with a mean in the range of float64",
			)
		}
		d.Classes = append(d.Classes, sim.Class{Name: strconv.Itoa(i), ArrivalRate: rate, MeanSize: mean})
		net.MeanSize = append(net.MeanSize, mean)
		net.Sources = append(net.Sources, stations.Source{Row: i, Queue: i, Sizes: jobSizes[i]})
		rates, arrivalRates = append(rates, exact.RatString()), append(arrivalRates, rate)
	}
	net.Table, net.Rate = sizes.NewAliasTable(arrivalRates, nil), sim.Sum(arrivalRates)
	if net.Rate == 0 {
		return nil, input.Errorf("ArrivalRates", "all 0", "jobs to simulate")
	}
	d.JumpRate = 2 * net.Rate
	if n.Rank != nil {
		if err := n.stable(ctx, d.Classes, o.OverHorizon); err != nil {
			return nil, err
		}
		rank, text, err := readRank("Rank", n.Rank)
		if err != nil {
			return nil, err
		}
		table := stations.NewBalance(len(rates), func(set uint64) float64 { return rank[set] })
		net.Parts = []stations.Part{{From: 0, To: len(rates), Rates: table.Rates}}
		d.Identity = []any{"network", rates, names, "rank", text}
	} else {
		net.Parts = []stations.Part{{From: 0, To: len(rates), Rates: n.rates}}
		values, err := n.fingerprint()
		if err != nil {
			return nil, err
		}
		d.Identity = []any{"network", rates, names, "rates", n.RatesKey, values}
		if n.RatesKey == "" {
			d.Unnamed = "RatesKey"
		}
	}
	d.Start = func(_ context.Context, r *sim.Stream) sim.Engine { return stations.New(net, r) }
	return d, nil
}

func (n Network) check(ctx context.Context) error {
	most := maxRateClasses
	switch {
	case (n.Rank != nil) == (n.Rates != nil):
		return input.Errorf(
			"Rank, Rates", map[bool]string{true: "both", false: "neither"}[n.Rank != nil], "one of them",
		)
	case n.Rank != nil && n.RatesKey != "":
		return input.Errorf("RatesKey", n.RatesKey, "none with Rank")
	case n.Rank != nil:
		most = maxRankClasses
	}
	classes := len(n.ArrivalRates)
	if classes < 1 || classes > most {
		return input.Errorf("ArrivalRates", fmt.Sprintf("%d rates", classes), "1 to %d", most)
	}
	for i, r := range n.ArrivalRates {
		if err := checkRat(fmt.Sprintf("ArrivalRates[%d]", i), r); err != nil {
			return err
		}
	}
	if n.Rank != nil {
		return ranktable.Check(ctx, n.Rank, classes)
	}
	return nil
}

// checkRat returns an error for a missing or negative number.
func checkRat(path string, r *big.Rat) error {
	if r == nil {
		return input.Errorf(path, "", "a number >= 0")
	}
	if r.Sign() < 0 {
		return input.Errorf(path, r.RatString(), "a number >= 0")
	}
	return nil
}

// sizes returns the distribution of each class, and its name.
func (n Network) sizes() (list []sizes.Distribution, names []string, err error) {
	given := n.Sizes
	if len(given) == 0 {
		e, err := sizes.NewExponential(1)
		if err != nil {
			return nil, nil, err
		}
		given = []sizes.Distribution{e}
	}
	if len(given) != 1 && len(given) != len(n.ArrivalRates) {
		return nil, nil, input.Errorf("Sizes", fmt.Sprintf("%d distributions", len(given)),
			"one, or one for each of the %d classes",
			len(n.ArrivalRates))
	}
	for i := range n.ArrivalRates {
		k := min(i, len(given)-1)
		if given[k] == nil {
			return nil, nil, input.Errorf(fmt.Sprintf("Sizes[%d]", k), "", "a distribution of sizes")
		}
		list, names = append(list, given[k]), append(names, given[k].String())
	}
	return list, names, nil
}

// stable returns an error for an overloaded set of classes, in jobs of their mean size, except over
// a horizon.
func (n Network) stable(ctx context.Context, classes []sim.Class, overHorizon bool) error {
	if overHorizon {
		return nil
	}
	work := make([]*big.Rat, len(classes))
	for i, c := range classes {
		work[i] = new(big.Rat).SetFloat64(c.MeanSize)
		work[i].Mul(work[i], n.ArrivalRates[i])
	}
	v, err := stability.Rank(ctx, work, n.Rank)
	if err != nil {
		return err
	}
	if !v.Stable {
		jobs := new(big.Rat)
		for _, i := range v.Bottleneck {
			jobs.Add(jobs, n.ArrivalRates[i])
		}
		size := new(big.Rat).Quo(v.Arrival, jobs) // mean size of the jobs of these classes
		return &cluster.UnstableError{Classes: v.Bottleneck, ArrivalRate: jobs, Capacity: size.Quo(v.Capacity, size)}
	}
	return nil
}

// readRank returns a rank function in float64, and a key that identifies it.
func readRank(path string, exact []*big.Rat) (rank []float64, text string, err error) {
	rank = make([]float64, len(exact))
	values := make([]string, len(exact))
	for a := 1; a < len(exact); a++ {
		rank[a], _ = exact[a].Float64()
		if !(rank[a] >= 1e-300 && rank[a] <= 1e300) {
			return nil, "", input.Errorf(
				fmt.Sprintf("%s[%d]", path, a), exact[a].RatString(), "a number in [1e-300, 1e300]",
			)
		}
		values[a] = exact[a].RatString()
	}
	text, err = sweep.Key(values)
	return rank, text, err
}

// rates calls Rates and checks its results.
func (n Network) rates(x []int, phi []float64) error {
	clear(phi)
	if err := n.Rates(x, phi); err != nil {
		return fmt.Errorf("Rates(%v): %w", x, err)
	}
	for i, v := range phi {
		if x[i] > 0 && !(v >= 0 && v <= math.MaxFloat64) {
			return input.Errorf(fmt.Sprintf("Rates(%v)[%d]", x, i), v, "a finite number >= 0")
		}
	}
	return nil
}
