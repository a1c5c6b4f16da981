package exact_test

import (
	"context"
	"fmt"
	"log"

	"productform/num"
	"productform/sizes/exact"
)

func Example() {
	d, err := exact.Parse("weibull:1/2", num.Rat("3"))
	if err != nil {
		log.Fatal(err)
	}
	e, err := d.Enclose(context.Background(), 200)
	if err != nil {
		log.Fatal(err)
	}
	p, err := e.At(num.Rat("10"))
	if err != nil {
		log.Fatal(err)
	}
	low, high := p.Above[1].Text(20) // P(X > 10)
	fmt.Println("P(X > 10) >=", low)
	fmt.Println("P(X > 10) <=", high)
	// Output:
	// P(X > 10) >= 0.075623447068633373237
	// P(X > 10) <= 0.075623447068633373238
}

// The mean of 1/X, which enters slowdowns, to thirty digits, from decimals.
func ExampleBoundedPareto_Moment() {
	d := exact.BoundedPareto{Alpha: num.Rat("1.1"), High: num.Rat("1e10"), Mean: num.Rat("3000")}
	e, err := d.Moment(context.Background(), num.Rat("-1"), 120)
	if err != nil {
		log.Fatal(err)
	}
	low, high := e.Text(30)
	fmt.Println(low)
	fmt.Println(high)
	// Output:
	// 0.00157741899627818325842069873798
	// 0.00157741899627818325842069873799
}
