package num_test

import (
	"fmt"
	"log"
	"math/big"

	"productform/num"
)

func Example() {
	x, err := num.ParseRat("0.1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("one tenth:", x)
	e, err := num.ExpInterval(big.NewFloat(-1000), 100)
	if err != nil {
		log.Fatal(err)
	}
	low, high := e.Text(20)
	fmt.Println("exp(-1000) is at least", low)
	fmt.Println("           and at most", high)
	// Output:
	// one tenth: 1/10
	// exp(-1000) is at least 5.0759588975494567652e-435
	//            and at most 5.0759588975494567653e-435
}

func ExampleParseRat() {
	for _, s := range []string{"4/5", "0.1", "1e-3", "0.1/3", "1e999999999", "0x10"} {
		x, err := num.ParseRat(s)
		fmt.Println(x, err)
	}
	// Output:
	// 4/5 <nil>
	// 1/10 <nil>
	// 1/1000 <nil>
	// 1/30 <nil>
	// <nil> decimal exponent out of range; want one from -4096 to 4096
	// <nil> character 'x' at position 2; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5"
}

// The logarithm of 1 + 10^-30 keeps all its digits.
func ExampleLogInterval() {
	x, _, _ := big.ParseFloat("1.000000000000000000000000000001", 10, 300, big.ToNearestEven)
	e, err := num.LogInterval(x, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	low, high := e.Text(20)
	fmt.Println(low)
	fmt.Println(high)
	// Output:
	// 9.9999999999999999999e-31
	// 1.0000000000000000000e-30
}

func ExampleExpInterval() {
	e, err := num.ExpInterval(big.NewFloat(-1000), 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	low, high := e.Text(20)
	fmt.Println(low)
	fmt.Println(high)
	_, ok := e.Float64()
	fmt.Println("a double is near:", ok)
	// Output:
	// 5.0759588975494567652e-435
	// 5.0759588975494567653e-435
	// a double is near: false
}

func ExampleSum() {
	var plain float64
	var sum num.Sum
	for _, x := range []float64{1e16, 1, 1, 1, 1, -1e16} {
		plain += x
		sum.Add(x)
	}
	fmt.Println(plain, sum.Value())
	// Output: 0 4
}
