package gibbs_test

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"productform/bf"
	"productform/bf/gibbs"
	"productform/cluster"
	"productform/internal/oracle"
)

// trial multiplies the number of models in tests that count how often intervals contain the true
// value.
var trial = flag.Int("trial", 1, "multiply the number of models")

// models draws small models of all kinds at loads up to 0.95, and at 0.99 of capacity if near.
func models(n int, near bool) func(func(int, *cluster.Model) bool) {
	draw := rapid.Custom(func(t *rapid.T) *cluster.Model {
		m := oracle.DrawModel(t, oracle.Options{
			Servers:        5,
			Classes:        6,
			Count:          4,
			ZeroRates:      true,
			ZeroCapacities: true,
			OwnSizes:       true,
			Stable:         true,
		})
		if near {
			m = oracle.ScaleTo(m, big.NewRat(99, 100))
		}
		return m
	})
	return func(yield func(int, *cluster.Model) bool) {
		for k := range n {
			if !yield(k, draw.Example(k)) {
				return
			}
		}
	}
}

// A comparison collects the distances of estimates from exact values.
type comparison struct {
	t            *testing.T
	all, outside int
	jobs         []float64 // probabilities, by the z values of the mean numbers of jobs
	delays       float64   // sum of squares of z of the delays of classes
	delaysOf     int
}

// add compares an estimate. Measures that hardly vary are excluded from z, because orders that did
// not occur dominate their error; the count of intervals includes them.
func (c *comparison) add(what string, e *gibbs.Estimate, exact float64) {
	c.t.Helper()
	if e == nil {
		return
	}
	off := math.Abs(e.Mean - exact)
	if !(off <= 2.5*e.HalfWidth+1e-13) {
		c.t.Errorf("%s: %v ± %v, want %v", what, e.Mean, e.HalfWidth, exact)
	}
	if c.all++; off > e.HalfWidth+1e-14 {
		c.outside++
	}
	if e.StdError <= 1e-4*math.Abs(e.Mean) {
		return
	}
	switch z := e.Z(exact); what {
	case "jobs":
		c.jobs = append(c.jobs, distuv.UnitNormal.CDF(z))
	case "delay":
		c.delays += z * z
		c.delaysOf++
	}
}

// compare compares all measures of a model with the results of package bf.
func (c *comparison) compare(k int, m *cluster.Model, s gibbs.Settings) {
	t := c.t
	q := bf.Question{MaxJobs: s.MaxJobs, ByClass: s.ByClass, Gradient: s.Gradient}
	want, err := bf.Answer(t.Context(), m, q, bf.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := gibbs.Run(t.Context(), m, s, nil)
	if err != nil {
		t.Fatalf("model %d: %v", k, err)
	}
	c.add("jobs", &got.MeanJobs, want.MeanJobs.Float)
	if (got.MeanDelay == nil) != (want.MeanDelay == nil) {
		t.Errorf("model %d: mean delay %v, want %v", k, got.MeanDelay, want.MeanDelay)
	}
	if want.EmptyProbability != nil {
		c.add("empty", got.EmptyProbability, want.EmptyProbability.Float)
	}
	for n, p := range want.JobsDistribution {
		c.add("distribution", &got.JobsDistribution[n], p.Float)
	}
	for i, x := range want.Classes {
		e := got.Classes[i]
		c.add("class", &e.MeanJobs, x.MeanJobs.Float)
		if (e.MeanDelay == nil) != (x.MeanDelay == nil) || (e.ServiceRate == nil) != (x.ServiceRate == nil) {
			t.Errorf("model %d, class %d: %v, want %v", k, i, e, x)
			continue
		}
		if x.MeanDelay != nil {
			c.add("delay", e.MeanDelay, x.MeanDelay.Float)
			c.add("service rate", e.ServiceRate, x.ServiceRate.Float)
		}
		if s.Gradient && x.MeanDelay != nil {
			c.add("gradient by rate", got.Gradient.ArrivalRates[i], want.Gradient.ArrivalRates[i].Float)
		}
		for n, p := range x.JobsDistribution {
			c.add("distribution of a class", &e.JobsDistribution[n], p.Float)
		}
	}
	for k, x := range want.Servers {
		c.add("utilization", &got.Servers[k].Utilization, x.Utilization.Float)
	}
	if want.Gradient == nil {
		return
	}
	for s, x := range want.Gradient.Capacities {
		c.add("gradient by capacity", got.Gradient.Capacities[s], x.Float)
	}
}

// judge compares the z values of E[X] with the normal distribution, those of delays with its
// variance, and the coverage of intervals with their confidence.
func (c *comparison) judge() {
	far := 0.0
	n := float64(len(c.jobs))
	slices.Sort(c.jobs)
	for k, u := range c.jobs {
		far = max(far, u-float64(k)/n, float64(k+1)/n-u)
	}
	outside, variance := float64(c.outside)/float64(c.all), c.delays/float64(c.delaysOf)
	c.t.Logf("%d models, Kolmogorov's distance %.2f/√n; %d delays, variance of z %.3f; %d of %d intervals miss",
		len(c.jobs), far*math.Sqrt(n), c.delaysOf, variance, c.outside, c.all)
	if far*math.Sqrt(n) > 1.95 { // once in a thousand times
		c.t.Errorf("z values of mean jobs are not normal: distance %v", far)
	}
	if math.Abs(variance-1) > 0.1 {
		c.t.Errorf("z values have variance %v", variance)
	}
	if outside > 0.05 {
		c.t.Errorf("%d of %d intervals miss", c.outside, c.all)
	}
}

// All measures of random models of all kinds agree with package bf as often as their intervals
// promise. The models include groups, servers of capacity 0 and classes with different mean sizes.
func TestAgree(t *testing.T) {
	c := &comparison{t: t}
	for k, m := range models(300**trial, false) {
		c.compare(k, m, gibbs.Settings{Sweeps: 200, Seed: uint64(k), MaxJobs: 6, ByClass: true, Gradient: true})
	}
	c.judge()
}

// Measures also agree at 0.99 of capacity.
func TestAgreeNearCapacity(t *testing.T) {
	c := &comparison{t: t}
	for k, m := range models(200**trial, true) {
		c.compare(k, m, gibbs.Settings{Sweeps: 200, Seed: uint64(k), MaxJobs: 6, ByClass: true, Gradient: true})
	}
	c.judge()
}

// Estimates agree even if capacities of servers differ by eighty orders of magnitude.
func TestAgreeFarApart(t *testing.T) {
	c := &comparison{t: t}
	random := rand.New(rand.NewPCG(4, 4))
	for k, m := range models(150**trial, false) {
		for s := range m.Servers {
			e := random.Int64N(81) - 40
			power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(e, -e)), nil))
			if e < 0 {
				power.Inv(power)
			}
			m.Servers[s].Capacity = new(big.Rat).Mul(m.Servers[s].Capacity, power)
		}
		c.compare(k, oracle.ScaleTo(m, big.NewRat(9, 10)), gibbs.Settings{Sweeps: 100, Seed: uint64(k)})
	}
	if c.outside > c.all/20 {
		t.Errorf("%d of %d intervals miss", c.outside, c.all)
	}
}

// On trees of thirty servers, measures agree with elimination at loads from 0.5 to 0.98.
func TestAgreeOnTrees(t *testing.T) {
	c := &comparison{t: t}
	for seed := range uint64(40 * *trial) {
		random := rand.New(rand.NewPCG(seed, 5))
		m := &cluster.Model{}
		for s := range 30 {
			m.Servers = append(m.Servers, cluster.Server{
				Name:     fmt.Sprint("s", s),
				Capacity: big.NewRat(1+random.Int64N(3), 1),
			})
			on := cluster.On(s)
			if s > 0 {
				on = cluster.On(s, random.IntN(s))
			}
			m.Classes = append(m.Classes, cluster.Class{
				Name:        fmt.Sprint("c", s),
				ArrivalRate: big.NewRat(1+random.Int64N(4), 4),
				Servers:     on,
			})
		}
		c.compare(int(seed), scaleToLoad(t, m, big.NewRat(50+random.Int64N(49), 100)), gibbs.Settings{
			Sweeps: 200,
			Seed:   seed,
		})
	}
	c.judge()
}
