package fluid

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/num"
)

// smallDecimals returns n rows that demand 0.01 to 10 of each resource, or nothing with the given
// probability.
func smallDecimals(seed uint64, n, resources int, without float64) *Pool {
	rng := rand.New(rand.NewPCG(seed, uint64(n*resources)))
	p := &Pool{}
	for j := range resources {
		p.Resources = append(p.Resources, Resource{
			Name:     fmt.Sprint("r", j),
			Capacity: big.NewRat(int64(100*n)+rng.Int64N(int64(100*n)), 1),
		})
	}
	for i := range n {
		job := Job{Name: fmt.Sprint("j", i), Count: 1 + rng.IntN(5), Demand: make([]*big.Rat, resources)}
		for j := range job.Demand {
			if rng.Float64() >= without {
				job.Demand[j] = big.NewRat(1+rng.Int64N(1000), 100)
			}
		}
		job.Demand[rng.IntN(resources)] = big.NewRat(1+rng.Int64N(1000), 100)
		p.Jobs = append(p.Jobs, job)
	}
	return p
}

func BenchmarkFilling(b *testing.B) {
	for _, size := range [][2]int{{2, 2}, {10, 2}, {10, 4}, {100, 4}, {10, 8}, {1000, 2}, {1000, 4}, {1000, 8}} {
		for _, without := range []float64{0, 0.5} {
			p := smallDecimals(1, size[0], size[1], without)
			for _, policy := range []Policy{DRF, MaxMin} {
				b.Run(fmt.Sprintf("classes=%d/resources=%d/policy=%s/without=%g",
					size[0], size[1], policy, without), func(b *testing.B) {
					a, err := NewAllocator(p, policy)
					if err != nil {
						b.Fatal(err)
					}
					count, tasks := make([]float64, size[0]), make([]float64, size[0])
					for i, job := range p.Jobs {
						count[i] = float64(job.Size())
					}
					b.ReportAllocs()
					for b.Loop() {
						if err := a.Tasks(context.Background(), count, tasks); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkFillingExact(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		p := smallDecimals(1, n, 4, 0.5)
		for _, policy := range []Policy{DRF, MaxMin} {
			b.Run(fmt.Sprintf("classes=%d/resources=4/policy=%s/engine=exact", n, policy), func(b *testing.B) {
				for b.Loop() {
					e := NewProfiles(p)
					if policy == DRF {
						e.fill(context.Background(), e.Weight)
					} else {
						e.fill(context.Background(), e.Speeds())
					}
				}
			})
		}
	}
}

func BenchmarkAllocateFilling(b *testing.B) {
	for _, n := range []int{100, 1000} {
		p := smallDecimals(1, n, 4, 0.5)
		for _, policy := range []Policy{DRF, MaxMin} {
			b.Run(fmt.Sprintf("classes=%d/resources=4/policy=%s/engine=exact", n, policy), func(b *testing.B) {
				for b.Loop() {
					if _, err := Allocate(context.Background(), p, policy, Settings{Engine: num.Exact}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
