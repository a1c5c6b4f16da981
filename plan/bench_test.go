package plan_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/cluster"
	"productform/num"
	"productform/plan"
)

// drawShop returns a problem of upgrades for each of some servers. It limits the mean delay of each
// class to that with half of all upgrades.
func drawShop(b *testing.B, classes, servers, most int, seed uint64) *plan.Problem {
	r := rand.New(rand.NewPCG(1, seed))
	m := &cluster.Model{}
	p := &plan.Problem{Model: m}
	for s := range servers {
		name := fmt.Sprint("s", s)
		m.Servers = append(m.Servers, cluster.Server{Name: name, Capacity: big.NewRat(int64(4+r.IntN(6)), 4)})
		p.Upgrades = append(p.Upgrades, plan.Upgrade{
			Server: name,
			Step:   big.NewRat(int64(1+r.IntN(4)), 4),
			Cost:   big.NewRat(int64(1+r.IntN(20)), 1),
			Most:   most,
		})
	}
	for i := range classes {
		var on []int
		for s := range servers {
			if r.IntN(3) == 0 || s%classes == i {
				on = append(on, s)
			}
		}
		m.Classes = append(m.Classes, cluster.Class{
			Name:        fmt.Sprint("c", i),
			ArrivalRate: big.NewRat(int64(2+r.IntN(4)), 4),
			Servers:     cluster.On(on...),
		})
	}
	half := plan.Choice{Steps: make([]int, servers)}
	for k := range half.Steps {
		half.Steps[k] = most / 2
	}
	o, err := plan.Evaluate(context.Background(), p, half, plan.Settings{})
	if err != nil || o.Solution == nil {
		b.Fatal("unstable: draw another seed", err)
	}
	for i, c := range o.Solution.Classes {
		p.Targets = append(p.Targets, plan.Target{
			Measure: plan.MeanDelay,
			Class:   m.Classes[i].Name,
			Limit:   threeDigits(c.MeanDelay.Float),
		})
	}
	return p
}

func threeDigits(x float64) *big.Rat { return num.Rat(fmt.Sprintf("%.3g", x)) }

// drawRacks returns a problem of 12 upgrades and 8 new servers, each in up to the given number of
// steps or half as many. It limits the 99th percentile of the delay of each of 10 classes.
func drawRacks(b *testing.B, most int, seed uint64) *plan.Problem {
	p := drawShop(b, 10, 12, most, seed)
	for i := range 8 {
		p.NewServers = append(p.NewServers, plan.NewServer{Name: fmt.Sprint("n", i), Capacity: big.NewRat(1, 1),
			Classes: []string{p.Model.Classes[i].Name, p.Model.Classes[(i+3)%10].Name},
			Cost:    big.NewRat(int64(8+i), 1), Most: most / 2})
	}
	for i, t := range p.Targets {
		limit, _ := t.Limit.Float64()
		p.Targets[i] = plan.Target{
			Measure: plan.Percentile,
			Level:   big.NewRat(99, 1),
			Class:   t.Class,
			Limit:   threeDigits(4.7 * limit),
		}
	}
	return p
}

// BenchmarkLeastCost searches for the minimum cost. It reports the numbers of plans and solves and,
// if stopped early, the largest possible distance of the plan from the minimum.
func BenchmarkLeastCost(b *testing.B) {
	for _, c := range []struct {
		name    string
		problem *plan.Problem
		limit   int
	}{
		{"plans=390625/classes=6", drawShop(b, 6, 8, 4, 1), 0},
		{"plans=60466176/classes=8", drawShop(b, 8, 10, 5, 1), 0},
		{"plans=136048896/classes=10/targets=p99", drawRacks(b, 2, 3), 0},
		{"plans=1601806640625/classes=10/targets=p99/limit=6000", drawRacks(b, 4, 0), 6000},
		{"plans=1601806640625/classes=10/targets=p99", drawRacks(b, 4, 0), 0}, // a minute
	} {
		b.Run(c.name, func(b *testing.B) {
			if testing.Short() && c.limit == 0 && len(c.problem.Model.Classes) == 10 {
				b.Skip("up to a minute")
			}
			var a *plan.Answer
			for b.Loop() {
				var err error
				if a, err = plan.LeastCost(context.Background(), c.problem, plan.SearchSettings{
					Limit: c.limit,
				}); err != nil ||
					a.Plan == nil {
					b.Fatal(err)
				}
			}
			cost, _ := a.Plan.Cost.Float64()
			least, _ := a.Proof.Below.Float64()
			b.ReportMetric(float64(a.Solves), "solves")
			b.ReportMetric(math.Round(1000*(cost/least-1))/10, "%gap")
		})
	}
}

// Verifying takes enclosures for each corner.
func BenchmarkVerify(b *testing.B) {
	p := drawShop(b, 6, 8, 4, 1)
	a, err := plan.LeastCost(context.Background(), p, plan.SearchSettings{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("plans=390625/classes=6", func(b *testing.B) {
		for b.Loop() {
			if err := plan.Verify(context.Background(), p, a, plan.Settings{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(a.Proof.Corners)), "corners")
	})
}
