package dist_test

import (
	"fmt"
	"math"
	"strings"

	"productform/dist"
)

// The share of the work that the largest 1 % of the jobs bring.
func ExampleNewBoundedParetoOfMean() {
	d, err := dist.NewBoundedParetoOfMean(1.1, 1e10, 3000)
	if err != nil {
		fmt.Println(err)
		return
	}
	large, _ := d.Quantile(0.99)
	work, _ := d.PartialMoment(1, large, math.Inf(1))
	fmt.Printf("jobs above %.0f bring %.0f %% of the work\n", large, 100*work/3000)
	// Output: jobs above 21848 bring 58 % of the work
}

func ExampleParse() {
	d, err := dist.Parse("erlang:4", 10)
	fmt.Println(d, err)
	_, err = dist.Parse("erlang:0", 10)
	fmt.Println(err)
	// Output:
	// Erlang of 4 phases of mean 2.5 <nil>
	// sizes = erlang:0: want erlang:K with K an integer in 1..1000000
}

func ExamplePhased() {
	p := dist.BonaldComteBimodal().Phases()
	fmt.Printf("phases of mean %.1f, %.0f on average\n", p.Mean, p.MeanCount)
	// Output: phases of mean 0.2, 5 on average
}

func ExampleReadSizes() {
	sizes, _, err := dist.ReadSizes(strings.NewReader("3\n1\n2\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	d, _ := dist.NewEmpirical(sizes)
	mean, _ := dist.Mean(d)
	fmt.Println(mean)
	// Output: 2
}
