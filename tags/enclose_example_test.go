package tags_test

import (
	"context"
	"fmt"
	"math/big"

	"productform/num"
	"productform/sizes/exact"
	"productform/tags"
)

// The sizes of [HB02] for α = 1: a mean of 3000 and a maximum size of 1e10 make the minimum 167.6.
func ExampleEnclose() {
	m := tags.ExactModel{
		Hosts: 2,
		Load:  num.Rat("0.5"),
		Sizes: exact.BoundedPareto{Alpha: num.Rat("1"), High: num.Rat("1e10"), Mean: num.Rat("3000")},
	}
	r, err := tags.Enclose(context.Background(), m, tags.PolicyTAGS, []*big.Rat{num.Rat("78602.3")}, 1e-30)
	if err != nil {
		fmt.Println(err)
		return
	}
	slowdown, _ := r.MeanSlowdown.Interval()
	low, high := slowdown.Text(20)
	fmt.Println("E[S] >=", low)
	fmt.Println("E[S] <=", high)
	// Output:
	// E[S] >= 32.811086889903978795
	// E[S] <= 32.811086889903978796
}
