package dist

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkPartialMoment(b *testing.B) {
	for name, d := range benchmarked() {
		b.Run("order=1/law="+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := d.PartialMoment(1, 0.5, 3); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSample(b *testing.B) {
	for name, d := range benchmarked() {
		b.Run("jobs=1/law="+name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				d.Sample(r)
			}
		})
	}
}

func benchmarked() map[string]Distribution {
	return map[string]Distribution{
		"bounded-pareto": ok(NewBoundedPareto(0.1, 1e6, 1.1)),
		"exponential":    ok(NewExponential(1)),
		"zipf":           BonaldComteZipf(),
		"coxian":         coxian(),
		"lognormal":      ok(NewLognormal(1, 3)),
	}
}
