package br14_test

import (
	"fmt"

	"productform/plots/br14"
)

func Example() {
	figures := br14.Figures()
	fmt.Println(br14.Source().Title)
	for _, f := range figures[:2] {
		fmt.Println(f.ID, f.Title)
	}
	// Output:
	// Enhanced cluster computing performance through proportional fairness
	// fluid-1 Two jobs that share processors and memory
	// fluid-2 Mean service rate in random traffic
}
