package sizes_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"strings"

	"productform/sizes"
)

func Example() {
	d, err := sizes.Parse("bounded-pareto:1.1:10000", 3)
	if err != nil {
		log.Fatal(err)
	}
	large, err := d.Quantile(0.99)
	if err != nil {
		log.Fatal(err)
	}
	work, err := d.PartialMoment(1, large, math.Inf(1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the largest hundredth of the jobs, above %.1f, bring %.0f %% of the work\n", large, 100*work/3)
	fmt.Printf("beyond size 10 lie %.3f of 3 units of work a job\n", d.MeanExcess(10))
	// Output:
	// the largest hundredth of the jobs, above 29.7, bring 43 % of the work
	// beyond size 10 lie 1.341 of 3 units of work a job
}

// The 1 % largest jobs bring this fraction of the work.
func ExampleNewBoundedParetoOfMean() {
	d, err := sizes.NewBoundedParetoOfMean(1.1, 1e10, 3000)
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
	d, err := sizes.Parse("erlang:4", 10)
	fmt.Println(d, err)
	_, err = sizes.Parse("erlang:0", 10)
	fmt.Println(err)
	// Output:
	// Erlang of 4 phases of mean 2.5 <nil>
	// sizes = erlang:0: want erlang:K with K an integer in 1..1000000
}

func ExamplePhased() {
	p := sizes.BonaldComteBimodal().Phases()
	fmt.Printf("phases of mean %.1f, %.0f on average\n", p.Mean, p.MeanCount)
	// Output: phases of mean 0.2, 5 on average
}

func ExampleReadList() {
	list, err := sizes.ReadList(strings.NewReader("3\n1\n2\n"), "durations.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, _ := sizes.NewEmpirical(list.Sizes)
	mean, _ := sizes.Mean(d)
	fmt.Println(mean)
	// Output: 2
}

// The distribution of Harchol-Balter's jobs, fitted to a sample of them.
func ExampleFitBoundedPareto() {
	truth, _ := sizes.NewBoundedParetoOfMean(1.1, 1e10, 3000)
	r := rand.New(rand.NewPCG(1, 2))
	jobSizes := make([]float64, 10000)
	for i := range jobSizes {
		jobSizes[i] = truth.Sample(r)
	}
	_, alpha, err := sizes.FitBoundedPareto(jobSizes)
	fmt.Printf("alpha = %.2f, error: %v\n", alpha, err)
	_, _, err = sizes.FitBoundedPareto([]float64{1, 8, 9})
	fmt.Println(err)
	// Output:
	// alpha = 1.10, error: <nil>
	// sizes = (geometric mean 4.16): want a geometric mean below √(min·max) = 3; otherwise the likelihood grows as alpha falls to 0 and below
}

// A job is killed at size 10: this much work remains for another host.
func ExampleDistribution_MeanExcess() {
	d, _ := sizes.NewBoundedPareto(1, 1000, 1)
	mean, _ := sizes.Mean(d)
	rest := d.MeanExcess(10)
	fmt.Printf("of %.3f on average, %.3f lie beyond 10\n", mean, rest)
	// Output: of 6.915 on average, 3.619 lie beyond 10
}

func ExampleReadWork() {
	list, err := sizes.ReadWork(strings.NewReader(
		"1 0 5 120 4 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n2 9 5 60 -1 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n"), "log.swf")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(list.Sizes, list.Skipped)
	// Output: [480] 1
}
