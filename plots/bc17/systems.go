package bc17

import (
	"context"
	"embed"
	"fmt"
	"math/big"

	"productform/bf"
	"productform/cluster"
	"productform/plots"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sizes"
)

// A configuration is a cluster with varying load, and its curves.
type configuration struct {
	ID, Title string
	Short     string // name of the cluster in titles of panels
	Words     systemWords
	Curves    []curve
	Capacity  int64 // Σ_s C_s
	Sharing   bool  // whether processor sharing is also simulated
	// the cluster for a total arrival rate and a mean size
	Model func(rate, size *big.Rat) *cluster.Model
	// γ_i of each class of Model for mean size 1
	ClosedForm func(ctx context.Context, rate *big.Rat) (gamma []*big.Rat, err error)
}

// systemWords holds the data for texts about a cluster: three servers, or random assignment.
type systemWords struct {
	Three  *threeWords
	Random *randomWords
}

type threeWords struct {
	C1, C2, C3, All int64 // capacities and their sum
	Alone1, Alone2  int64 // rates of a single job in the cluster
}

type randomWords struct {
	Servers, Choose int
	Classes         *big.Int
}

// texts are the captions and parameters.
var texts = plots.NewTexts(textFiles, "texts")

//go:embed texts
var textFiles embed.FS

// runWords describes the simulations of a figure.
func runWords(p *plots.Plan, e plots.Effort) plots.RunWords {
	return p.RunWords(e, "arrivals, ends of phases, interruptions")
}

// allClasses, in place of a class, means jobs of all classes together.
const allClasses = -1

// A curve shows one class, or all classes together if their curves are equal.
type curve struct {
	Label string
	Class int   // row of the model, or allClasses
	Max   int64 // max service rate Σ_{s∈S_i} C_s, the rate of a single job in the cluster
}

// threeServers is the toy example of [BC17], section 5: server 1 for class 1, server 2 for class 2,
// server 3 for both, λ_1 = λ_2.
func threeServers(number int, title string, mu1, mu2, mu3 int64, curves ...curve) configuration {
	capacity := mu1 + mu2 + mu3
	servers := []cluster.Server{
		{Name: "s1", Capacity: big.NewRat(mu1, 1)}, {Name: "s2", Capacity: big.NewRat(mu2, 1)},
		{Name: "s3", Capacity: big.NewRat(mu3, 1)},
	}
	half := func(rate *big.Rat) *big.Rat { return new(big.Rat).Mul(rate, big.NewRat(1, 2)) }
	short := "Three equal servers"
	if mu2 == 0 {
		short = "Two servers, one shared"
	}
	return configuration{
		ID:    fmt.Sprintf("bf-%d", number),
		Title: title,
		Short: short,
		Words: systemWords{Three: &threeWords{C1: mu1, C2: mu2, C3: mu3, All: capacity, Alone1: mu1 + mu3,
			Alone2: mu2 + mu3}},
		Curves:   curves,
		Capacity: capacity,
		Sharing:  true,
		Model: func(rate, size *big.Rat) *cluster.Model {
			return &cluster.Model{MeanSize: size, Servers: servers, Classes: []cluster.Class{
				{Name: "1", ArrivalRate: half(rate), Servers: cluster.On(0, 2)},
				{Name: "2", ArrivalRate: half(rate), Servers: cluster.On(1, 2)},
			}}
		},
		ClosedForm: func(_ context.Context, rate *big.Rat) ([]*big.Rat, error) {
			gamma1, gamma2, err := bf.ThreeServers(half(rate), half(rate), servers[0].Capacity, servers[1].Capacity,
				servers[2].Capacity)
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
		Short: fmt.Sprintf("%d servers, d = %d", servers, d),
		Words: systemWords{Random: &randomWords{Servers: servers, Choose: d,
			Classes: new(big.Int).Binomial(int64(servers), int64(d))}},
		Curves:   []curve{{Label: fmt.Sprintf("d = %d", d), Class: allClasses, Max: int64(d)}},
		Capacity: int64(servers),
		Model: func(rate, size *big.Rat) *cluster.Model {
			return &cluster.Model{
				MeanSize: size,
				Servers:  []cluster.Server{{Name: "server", Count: servers, Capacity: one}},
				Classes: []cluster.Class{{Name: "job", ArrivalRate: rate,
					Servers: []cluster.Choice{{Server: 0, Choose: d}}}},
			}
		},
		ClosedForm: func(ctx context.Context, rate *big.Rat) ([]*big.Rat, error) {
			c, err := bf.RandomAssignment(ctx, servers, one, []bf.RandomClass{{ArrivalRate: rate, Choose: d}})
			if err != nil {
				return nil, err
			}
			return []*big.Rat{new(big.Rat).Inv(c.MeanDelay)}, nil // γ = σ/δ, [BC17] (9)
		},
	}
}

// work returns ρ Σ_s C_s, the work that arrives per unit of time at load ρ.
func (c configuration) work(rho *big.Rat) *big.Rat {
	return new(big.Rat).Mul(rho, big.NewRat(c.Capacity, 1))
}

// at returns the cluster at load ρ with the given mean size: λ = ρ Σ_s C_s / σ.
func (c configuration) at(rho, size *big.Rat) *cluster.Model {
	return c.Model(new(big.Rat).Quo(c.work(rho), size), size)
}

// exact returns the mean service rate of each class at load ρ under balanced fairness, which is the
// same for all size distributions.
func (c configuration) exact(ctx context.Context, rho *big.Rat) ([]*big.Rat, error) {
	gamma, err := c.ClosedForm(ctx, c.work(rho))
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", plots.Decimal(rho), err)
	}
	return gamma, nil
}

// memoized returns the configuration with a ClosedForm that caches results by rate. It is not safe
// for concurrent use.
func (c configuration) memoized() configuration {
	known := make(map[string][]*big.Rat)
	compute := c.ClosedForm
	c.ClosedForm = func(ctx context.Context, rate *big.Rat) ([]*big.Rat, error) {
		key := rate.RatString()
		if gamma, ok := known[key]; ok {
			return gamma, nil
		}
		gamma, err := compute(ctx, rate)
		if err == nil {
			known[key] = gamma
		}
		return gamma, err
	}
	return c
}

// exactDelay returns the mean delay δ_i = σ/γ_i of a class, or of all jobs if the class is
// allClasses. The classes have equal arrival rates.
func exactDelay(gamma []*big.Rat, class int, size *big.Rat) *big.Rat {
	if class != allClasses {
		return new(big.Rat).Quo(size, gamma[class])
	}
	sum := new(big.Rat)
	for i := range gamma {
		sum.Add(sum, exactDelay(gamma, i, size))
	}
	return sum.Quo(sum, big.NewRat(int64(len(gamma)), 1))
}

// simulatedDelay returns the mean delay of a class, or of all jobs if the class is allClasses.
func simulatedDelay(r *sim.Result, class int) *sim.Estimate {
	if class == allClasses {
		return r.All(sim.MeanDelay)
	}
	return r.Class(class, sim.MeanDelay)
}

// A sizeDistribution is a distribution of job sizes.
type sizeDistribution struct {
	Name  string
	Words string // its parameters in words
	Sizes sizes.Distribution
	Mean  *big.Rat // σ
}

// exponentialSizes returns the distribution for which all policies have the same means.
func exponentialSizes() sizeDistribution {
	return sizeDistribution{Name: "exponential", Words: "exponential of mean 1", Mean: big.NewRat(1, 1)}
}

// sizeDistributions returns the three distributions of [BC17], section 5.
func sizeDistributions() []sizeDistribution {
	harmonic, squares := new(big.Rat), new(big.Rat) // Σ 1/k and Σ 1/k²
	for k := int64(1); k <= 200; k++ {
		harmonic.Add(harmonic, big.NewRat(1, k))
		squares.Add(squares, big.NewRat(1, k*k))
	}
	return []sizeDistribution{
		{"bimodal", "25 exponential phases with probability 1/6, else 1, of mean 1/5 (σ = 1, standard deviation 1.84)",
			sizes.BonaldComteBimodal(), big.NewRat(1, 1)},
		{"hyperexponential", "mean 5 with probability 1/6, else 1/5 (σ = 1, standard deviation 2.72), simulated as " +
			"geometric numbers of phases of mean 1/5, 5 on average",
			sizes.BonaldComteHyperexponential(), big.NewRat(1, 1)},
		{"Zipf", "k exponential phases of mean 1 with probability proportional to 1/k², k = 1..200 (σ = 3.58, " +
			"standard deviation 10.62)",
			sizes.BonaldComteZipf(), harmonic.Quo(harmonic, squares)},
	}
}

// title returns the title of a panel for a distribution.
func (l sizeDistribution) title() string {
	return map[string]string{"bimodal": "Bimodal sizes", "hyperexponential": "Hyperexponential sizes",
		"Zipf": "Zipf sizes"}[l.Name]
}

// simulateAt adds the simulation of the cluster at load ρ with sizes of a distribution and m
// interruptions per job.
func (c configuration) simulateAt(
	ctx context.Context, p *plots.Plan, e plots.Effort, rho *big.Rat, l sizeDistribution, m float64, s sim.Settings,
) (*plots.Simulation, error) {
	system := exponential(c.at(rho, l.Mean), m)
	system.Sizes = l.Sizes
	return p.Simulate(ctx, c.name(rho, l, policyName(m)), system, e, s)
}

// shareAt adds the simulation under processor sharing.
func (c configuration) shareAt(ctx context.Context, p *plots.Plan, e plots.Effort, rho *big.Rat, l sizeDistribution,
	s sim.Settings) (*plots.Simulation, error) {
	system := simcluster.Cluster{Model: c.at(rho, l.Mean), Sizes: l.Sizes, Policy: simcluster.ProcessorSharing}
	return p.Simulate(ctx, c.name(rho, l, "processor sharing"), system, e, s)
}

func (c configuration) name(rho *big.Rat, l sizeDistribution, policy string) string {
	return fmt.Sprintf("%s, %s, %s, load %s", c.ID, l.Name, policy, plots.Decimal(rho))
}

// policyName returns the name of the policy with m interruptions per job.
func policyName(m float64) string {
	if m == 0 {
		return "FCFS"
	}
	return fmt.Sprintf("m = %g", m)
}

// policy returns the policy for m interruptions per job.
func policy(m float64) simcluster.Policy {
	if m == 0 {
		return simcluster.FCFS
	}
	return simcluster.Interrupt
}

// exponential returns a cluster with exponential sizes of the model's mean.
func exponential(m *cluster.Model, interruptions float64) simcluster.Cluster {
	return simcluster.Cluster{Model: m, Policy: policy(interruptions), Interruptions: interruptions}
}
