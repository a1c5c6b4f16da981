package convolution_test

import (
	"context"
	"math/big"
	"testing"

	"productform/internal/arithmetic"
	"productform/network/internal/convolution"
	"productform/num"
)

// BenchmarkTabulate tabulates a station at which the rate of each set of n kinds is its size.
// Either n closed chains of 8 jobs have one kind each, or one chain of 8 jobs has all kinds.
func BenchmarkTabulate(b *testing.B) {
	for _, c := range []struct {
		name   string
		chains int
	}{{"kinds=5/chains=5", 5}, {"kinds=5/chains=1", 1}} {
		sh := &convolution.Shared{CountCap: 1, Rate: func(y []int) *big.Rat {
			n := int64(0)
			for _, x := range y {
				n += int64(x)
			}
			return big.NewRat(n, 1)
		}}
		var axes, most []int
		for k := range c.chains {
			axes, most = append(axes, k), append(most, 8)
		}
		for i := range 5 {
			sh.Kinds = append(sh.Kinds, convolution.Kind{K: i % c.chains, Work: big.NewRat(int64(i)+1, 7)})
			sh.Most = append(sh.Most, 1)
		}
		if err := sh.Settle(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.Run(c.name+"/engine=float", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t, err := sh.Tabulate(context.Background(), axes, most, arithmetic.One(num.Float, 0))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := t.Jobs(context.Background(), 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
