package tags_test

import (
	"fmt"
	"math/big"

	"productform/num"
	"productform/tags"
)

// The sizes of [HB02] for α = 1: a mean of 3000 and a greatest size of 1e10 make the least one 167.6.
func ExampleEnclose() {
	m := tags.ExactModel{
		Hosts: 2,
		Load:  num.MustRat("0.5"),
		Alpha: num.MustRat("1"),
		High:  num.MustRat("1e10"),
		Mean:  num.MustRat("3000"),
	}
	r, err := tags.Enclose(m, []*big.Rat{num.MustRat("78602.3")}, 1e-30)
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

// With α = 0.2 and load 0.7 the best cutoff leaves the second host a slack of 1e-18.
func ExampleOptimizeExact() {
	m := tags.ExactModel{
		Hosts: 2,
		Load:  num.MustRat("0.7"),
		Alpha: num.MustRat("0.2"),
		High:  num.MustRat("1e10"),
		Mean:  num.MustRat("3000"),
	}
	r, err := tags.OptimizeExact(m, tags.Objective{Slowdown: 1}, []float64{2.09e9})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("cutoff %.45g\n", r.Points[0])
	fmt.Printf("slack of host 2: %.6g\n", r.Hosts[1].Slack.Low)
	fmt.Println("known to 49 digits:", r.Radius < 1e-49)
	// Output:
	// cutoff 2088886987.74007060938146967271687622046172854
	// slack of host 2: 1.02462e-18
	// known to 49 digits: true
}
