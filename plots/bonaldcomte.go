package plots

import (
	"context"
	"fmt"
	"math/big"
	"strconv"

	"productform/bf"
	"productform/cluster"
)

// bonaldComte returns the entries of [BC17], Figures 1 to 4.
func bonaldComte() []Entry {
	var entries []Entry
	for _, c := range []configuration{
		threeServers(1, "Two classes sharing three equal servers", 1, 1, 1,
			curve{Label: "both classes", Class: 0, Max: 2}),
		threeServers(2, "Two classes, one with a server of its own", 1, 0, 1,
			curve{Label: "class 1", Class: 0, Max: 2}, curve{Label: "class 2", Class: 1, Max: 1}),
		randomAssignment(3, 100, 2),
		randomAssignment(4, 100, 3),
	} {
		entries = append(entries, Entry{ID: c.ID, Title: c.Title, build: c.figure})
	}
	return entries
}

// A configuration is a cluster whose load varies, and what is shown of it.
type configuration struct {
	ID, Title   string
	Description string // of the cluster and its jobs, with every number
	Parameters  []Parameter
	Curves      []curve
	Capacity    int64                                           // Σ_s C_s
	Delay       [2]float64                                      // ends of the axis of the mean delay
	Model       func(rate *big.Rat) *cluster.Model              // the cluster to which jobs arrive at this rate in all
	ClosedForm  func(rate *big.Rat) (gamma []*big.Rat, e error) // γ_i of each class of Model
}

// A curve shows one class, or several whose curves are the same.
type curve struct {
	Label string
	Class int   // row of the model
	Max   int64 // max service rate Σ_{s∈S_i} C_s, that of a job alone in the cluster
}

// threeServers is the toy example of [BC17], section 5: server 1 for class 1, server 2 for class 2,
// server 3 for both, λ_1 = λ_2.
func threeServers(number int, title string, mu1, mu2, mu3 int64, curves ...curve) configuration {
	capacity := mu1 + mu2 + mu3
	servers := []cluster.Server{
		{Name: "s1", Capacity: big.NewRat(mu1, 1)}, {Name: "s2", Capacity: big.NewRat(mu2, 1)}, {Name: "s3", Capacity: big.NewRat(mu3, 1)},
	}
	half := func(rate *big.Rat) *big.Rat { return new(big.Rat).Mul(rate, big.NewRat(1, 2)) }
	return configuration{
		ID:    fmt.Sprintf("bf-%d", number),
		Title: title,
		Description: fmt.Sprintf("S = 3 servers of capacities C₁ = %d, C₂ = %d, C₃ = %d share the jobs of N = 2 classes: class 1 runs on servers 1 and 3, class 2 on servers 2 and 3. "+
			"Jobs arrive as Poisson processes of equal rates λ₁ = λ₂ = %dρ/2, mean job size σ = 1. A job alone is served at rate %d if of class 1, %d if of class 2 (dotted in (a)).", mu1, mu2, mu3, capacity, mu1+mu3, mu2+mu3),
		Parameters: []Parameter{
			{"servers", "S = 3"}, {"capacities (work per unit of time)", fmt.Sprintf("C₁ = %d, C₂ = %d, C₃ = %d", mu1, mu2, mu3)},
			{"classes", "N = 2: class 1 on servers 1 and 3, class 2 on servers 2 and 3"},
			{"arrival rates (jobs per unit of time)", fmt.Sprintf("λ₁ = λ₂ = %dρ/2", capacity)},
		},
		Curves:   curves,
		Capacity: capacity,
		Delay:    [2]float64{0.2, 100},
		Model: func(rate *big.Rat) *cluster.Model {
			return &cluster.Model{Servers: servers, Classes: []cluster.Class{
				{Name: "1", ArrivalRate: half(rate), Servers: cluster.On(0, 2)},
				{Name: "2", ArrivalRate: half(rate), Servers: cluster.On(1, 2)},
			}}
		},
		ClosedForm: func(rate *big.Rat) ([]*big.Rat, error) {
			gamma1, gamma2, err := bf.ThreeServers(half(rate), half(rate), servers[0].Capacity, servers[1].Capacity, servers[2].Capacity)
			return []*big.Rat{gamma1, gamma2}, err
		},
	}
}

// randomAssignment is the large system of [BC17], section 5: each job runs on d of S servers of
// capacity 1, drawn uniformly at random.
func randomAssignment(number, servers, d int) configuration {
	one := big.NewRat(1, 1)
	return configuration{
		ID:    fmt.Sprintf("bf-%d", number),
		Title: fmt.Sprintf("Random assignment of %d servers among %d", d, servers),
		Description: fmt.Sprintf("Each job runs on d = %d of S = %d servers of capacity C = 1, drawn uniformly at random: N = C(%d, %d) = %v classes. "+
			"Jobs arrive as a Poisson process of rate λ = %dρ in all, mean job size σ = 1. A job alone is served at rate %d (dotted in (a)).",
			d, servers, servers, d, new(big.Int).Binomial(int64(servers), int64(d)), servers, d),
		Parameters: []Parameter{
			{"servers", fmt.Sprintf("S = %d", servers)}, {"capacity of each (work per unit of time)", "C = 1"},
			{"servers of each job, drawn uniformly at random", fmt.Sprintf("d = %d", d)},
			{"arrival rate (jobs per unit of time)", fmt.Sprintf("λ = %dρ in all", servers)},
		},
		Curves:   []curve{{Label: fmt.Sprintf("d = %d", d), Max: int64(d)}},
		Capacity: int64(servers),
		Delay:    [2]float64{0.2, 10},
		Model: func(rate *big.Rat) *cluster.Model {
			return &cluster.Model{
				Servers: []cluster.Server{{Name: "server", Count: servers, Capacity: one}},
				Classes: []cluster.Class{{Name: "job", ArrivalRate: rate, Servers: []cluster.Choice{{Server: 0, Choose: d}}}},
			}
		},
		ClosedForm: func(rate *big.Rat) ([]*big.Rat, error) {
			c, err := bf.RandomAssignment(servers, one, []bf.RandomClass{{ArrivalRate: rate, Choose: d}})
			if err != nil {
				return nil, err
			}
			return []*big.Rat{new(big.Rat).Inv(c.MeanDelay)}, nil // γ = σ/δ, [BC17] (9)
		},
	}
}

// figure computes mean service rate and mean delay at every load.
func (c configuration) figure(ctx context.Context, p Precision) (*Figure, error) {
	rhos := loads(p)
	rates := make([]Series, len(c.Curves))
	delays := make([]Series, len(c.Curves))
	for i, k := range c.Curves {
		rates[i] = Series{Label: k.Label, Look: i}
		delays[i] = rates[i]
	}
	for _, rho := range rhos {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		gamma, err := c.ClosedForm(c.arrivals(rho))
		if err != nil {
			return nil, fmt.Errorf("%s at load %s: %w", c.ID, decimal(rho), err)
		}
		x, _ := rho.Float64()
		for i, k := range c.Curves {
			rate, _ := gamma[k.Class].Float64()
			delay, _ := new(big.Rat).Inv(gamma[k.Class]).Float64()
			rates[i].X, rates[i].Y = append(rates[i].X, x), append(rates[i].Y, rate)
			delays[i].X, delays[i].Y = append(delays[i].X, x), append(delays[i].Y, delay)
		}
	}
	checks, err := c.checks(ctx)
	if err != nil {
		return nil, err
	}
	first, last := decimal(rhos[0]), decimal(rhos[len(rhos)-1])
	load := Axis{Quantity: "load", Symbol: "ρ", Unit: "work arriving per unit of capacity", Max: 1}
	rate := Axis{Quantity: "mean service rate", Symbol: "γ", Unit: "work per unit of time"}
	delay := Axis{Quantity: "mean delay", Symbol: "δ", Unit: "units of time", Scale: Log, Min: c.Delay[0], Max: c.Delay[1]}
	panel := Panel{Title: "Mean service rate", X: load, Series: rates}
	for _, k := range c.Curves {
		label := "maximum"
		if len(c.Curves) > 1 {
			label += ", " + k.Label
		}
		panel.References = append(panel.References, Reference{Label: label, Y: float64(k.Max)})
		rate.Max = max(rate.Max, 1.1*float64(k.Max))
	}
	panel.Y = rate
	return &Figure{
		ID:    c.ID,
		Title: c.Title,
		Caption: c.Description + " (a) Mean service rate γ = λσ/E[X]; (b) mean delay δ = σ/γ, on a logarithmic axis" +
			fmt.Sprintf(" that ends at δ = %g, against the load ρ = λσ/ΣC", c.Delay[1]) +
			fmt.Sprintf(" at %d loads from %s to %s, under balanced fairness: exact, whatever the distribution of job sizes.", len(rhos), first, last) +
			fmt.Sprintf(" Configuration of Bonald and Comte (2017), Figure %s.", c.ID[len("bf-"):]),
		Parameters: append(c.Parameters, Parameter{"mean job size (work)", "σ = 1"},
			Parameter{"loads", fmt.Sprintf("%d values of ρ from %s to %s", len(rhos), first, last)}),
		Panels: []Panel{panel, {Title: "Mean delay", X: load, Y: delay, Series: delays}},
		Checks: checks,
	}, nil
}

// arrivals returns the total arrival rate λ = ρ Σ_s C_s at load ρ (σ = 1).
func (c configuration) arrivals(rho *big.Rat) *big.Rat {
	return new(big.Rat).Mul(rho, big.NewRat(c.Capacity, 1))
}

// checks compares the closed form with the general solver on the same cluster at a few loads.
func (c configuration) checks(ctx context.Context) ([]Check, error) {
	var checks []Check
	for _, rho := range []*big.Rat{big.NewRat(1, 2), big.NewRat(9, 10), big.NewRat(99, 100)} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rate := c.arrivals(rho)
		gamma, err := c.ClosedForm(rate)
		if err != nil {
			return nil, fmt.Errorf("%s at load %s: %w", c.ID, decimal(rho), err)
		}
		solved, err := bf.Solve(c.Model(rate), bf.Settings{})
		if err != nil {
			return nil, fmt.Errorf("%s at load %s: %w", c.ID, decimal(rho), err)
		}
		// The solver's bound, and 2^-52 for rounding the closed form and comparing.
		tolerance := solved.RelativeErrorBound + 0x1p-52
		for _, k := range c.Curves {
			rate, _ := gamma[k.Class].Float64()
			delay, _ := new(big.Rat).Inv(gamma[k.Class]).Float64()
			class := solved.Classes[k.Class]
			at := fmt.Sprintf(", %s, load %s", k.Label, decimal(rho))
			checks = append(checks,
				Check{Figure: c.ID + "a", Quantity: "mean service rate" + at, Exact: rate, Solver: &class.ServiceRate.Float, Tolerance: &tolerance},
				Check{Figure: c.ID + "b", Quantity: "mean delay" + at, Exact: delay, Solver: &class.MeanDelay.Float, Tolerance: &tolerance})
		}
	}
	return checks, nil
}

// decimal writes a load, which has few decimals.
func decimal(rho *big.Rat) string {
	x, _ := rho.Float64()
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// loads returns multiples of 1/n up to 9/10, and n' values in each decade of 1-ρ from 1/10 to 1/1000, since the
// mean delay grows like 1/(1-ρ): n = 50, 100 or 400 and n' = 9, 18 or 36.
func loads(p Precision) []*big.Rat {
	n := map[Precision]int64{Draft: 50, Normal: 100, Paper: 400}[p]
	parts := map[Precision]int64{Draft: 10, Normal: 20, Paper: 40}[p]
	var rhos []*big.Rat
	for k := int64(1); 10*k <= 9*n; k++ {
		rhos = append(rhos, big.NewRat(k, n))
	}
	for _, decade := range []int64{10, 100} {
		for j := parts - 1; 10*j >= parts; j-- {
			rhos = append(rhos, big.NewRat(decade*parts-j, decade*parts)) // 1 - j/(decade parts)
		}
	}
	return rhos
}
