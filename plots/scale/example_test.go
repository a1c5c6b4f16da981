package scale_test

import (
	"fmt"

	"productform/plots/scale"
)

func Example() {
	figures := scale.Figures()
	fmt.Println(scale.Source().Title)
	for _, f := range figures[:2] {
		fmt.Println(f.ID, f.Title)
	}
	// Output:
	// How far exact answers and estimates reach
	// scale-1 Time and memory against the size of a model
	// scale-2 A hundred classes on fifty servers
}
