package optimum_test

import (
	"context"
	"fmt"
	"log"

	"productform/num"
	"productform/sizes/exact"
	"productform/tags"
	"productform/tags/optimum"
)

func Example() {
	m := tags.ExactModel{
		Hosts: 2,
		Load:  num.Rat("0.5"),
		Sizes: exact.BoundedPareto{Alpha: num.Rat("1"), High: num.Rat("1e10"), Mean: num.Rat("3000")},
	}
	r, err := optimum.Enclose(context.Background(), m, tags.Objective{Slowdown: 1}, []float64{78602})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("cutoff %.40g\n", r.Points[0])
	fmt.Println("known to 49 digits:", r.Radius < 1e-49)
	// Output:
	// cutoff 78602.32151940451634993501143298315581978
	// known to 49 digits: true
}

// With α = 0.2 and load 0.7 the best cutoff leaves the second host a slack of 1e-18.
func ExampleEnclose() {
	m := tags.ExactModel{
		Hosts: 2,
		Load:  num.Rat("0.7"),
		Sizes: exact.BoundedPareto{Alpha: num.Rat("0.2"), High: num.Rat("1e10"), Mean: num.Rat("3000")},
	}
	r, err := optimum.Enclose(context.Background(), m, tags.Objective{Slowdown: 1}, []float64{2.09e9})
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
