package l14_test

import (
	"fmt"

	"productform/plots/l14"
)

func Example() {
	figures := l14.Figures()
	fmt.Println(l14.Source().Title)
	for _, f := range figures[:2] {
		fmt.Println(f.ID, f.Title)
	}
	// Output:
	// Job dispatching and scheduling under heterogeneous clusters
	// dispatch-1 Workers of a job over time, with and without failures
	// dispatch-2 Priority violations, equal workers
}
