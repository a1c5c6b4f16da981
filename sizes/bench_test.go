package sizes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func BenchmarkPartialMoment(b *testing.B) {
	for name, d := range benchmarked() {
		b.Run("order=1/distribution="+name, func(b *testing.B) {
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
		b.Run("jobs=1/distribution="+name, func(b *testing.B) {
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
		"lognormal":      ok(NewLognormal(1, 3)),
		"pareto":         ok(NewPareto(0.1, 1.1)),
		"erlang":         ok(NewErlang(4, 1)),
		"weibull":        ok(NewWeibull(0.5, 1)),
		"hyper":          BonaldComteHyperexponential(),
		"empirical":      ok(NewEmpirical([]float64{0.2, 0.7, 1, 1.5, 2, 4, 7, 9})),
	}
}

func BenchmarkDensity(b *testing.B) {
	for name, d := range benchmarked() {
		u, has := d.(Unimodal)
		if !has {
			continue
		}
		b.Run("points=1/distribution="+name, func(b *testing.B) {
			for b.Loop() {
				u.Density(3)
			}
		})
	}
}

func BenchmarkMeanExcess(b *testing.B) {
	for name, d := range benchmarked() {
		for _, x := range []float64{0.5, 3} {
			b.Run(fmt.Sprintf("points=1/distribution=%s/x=%v", name, x), func(b *testing.B) {
				for b.Loop() {
					d.MeanExcess(x)
				}
			})
		}
	}
}

func BenchmarkFitBoundedPareto(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	d := ok(NewBoundedPareto(0.1, 1e6, 1.1))
	sizes := make([]float64, 10000)
	for i := range sizes {
		sizes[i] = d.Sample(r)
	}
	b.Run("sizes=10000", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := FitBoundedPareto(sizes); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkReadLog(b *testing.B) {
	text := strings.Repeat("  1 0 5 120 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n", 10000)
	for name, text := range map[string]string{"plain": text, "packed": packed(text)} {
		b.Run("jobs=10000/file="+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := ReadRunTimes(strings.NewReader(text), "log"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
