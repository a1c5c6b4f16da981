package hb02_test

import (
	"fmt"

	"productform/plots/hb02"
)

func Example() {
	figures := hb02.Figures()
	fmt.Println(hb02.Source().Title)
	for _, f := range figures[:2] {
		fmt.Println(f.ID, f.Title)
	}
	// Output:
	// Task assignment with unknown duration
	// tags-3 Job sizes of a supercomputer and the bounded Pareto distributions that fit them
	// tags-4 The bounded Pareto distribution and its second moment
}
