package fluid

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/num"
)

// benchPool returns profiles whose largest entry is 1 and whose other entries are uniform in
// thousandths up to 1.
func benchPool(jobs, resources int) *Pool {
	rng := rand.New(rand.NewPCG(uint64(jobs), uint64(resources)))
	p := &Pool{}
	for j := range resources {
		p.Resources = append(p.Resources, Resource{Name: fmt.Sprint("r", j), Capacity: big.NewRat(1, 1)})
	}
	for i := range jobs {
		job := Job{Name: fmt.Sprint("j", i), Count: 1 + rng.IntN(20), Demand: make([]*big.Rat, resources)}
		top := rng.IntN(resources)
		for j := range resources {
			if job.Demand[j] = big.NewRat(1+rng.Int64N(1000), 1000); j == top {
				job.Demand[j] = big.NewRat(1, 1)
			}
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p
}

func benchCounts(p *Pool) []float64 {
	count := make([]float64, len(p.Jobs))
	for i, job := range p.Jobs {
		count[i] = float64(job.Size())
	}
	return count
}

var benchSizes = []struct{ jobs, resources int }{
	{2, 2}, {10, 2}, {10, 4}, {100, 4}, {100, 8}, {1000, 2}, {1000, 4}, {1000, 8},
}

func BenchmarkProportional(b *testing.B) {
	for _, s := range benchSizes {
		p := benchPool(s.jobs, s.resources)
		a, err := NewAllocator(p, PF)
		if err != nil {
			b.Fatal(err)
		}
		count, tasks := benchCounts(p), make([]float64, s.jobs)
		b.Run(fmt.Sprintf("classes=%d/resources=%d/policy=pf/start=cold", s.jobs, s.resources), func(b *testing.B) {
			for b.Loop() {
				a.Forget()
				if err := a.Tasks(context.Background(), count, tasks); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("classes=%d/resources=%d/policy=pf/start=warm", s.jobs, s.resources), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				count[i%s.jobs] += float64(1 - 2*(i/s.jobs%2))
				if err := a.Tasks(context.Background(), count, tasks); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkProportionalEnclose(b *testing.B) {
	for _, s := range benchSizes {
		p := benchPool(s.jobs, s.resources)
		b.Run(fmt.Sprintf("classes=%d/resources=%d/policy=pf/engine=enclose", s.jobs, s.resources), func(b *testing.B) {
			for b.Loop() {
				if _, err := Allocate(context.Background(), p, PF, Settings{Engine: num.Enclose}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
