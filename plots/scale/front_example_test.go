package scale_test

import (
	"fmt"

	"productform/plots/scale"
)

func Example_front() {
	figures := scale.FrontFigures()
	fmt.Println(scale.FrontSource().Title)
	for _, f := range figures[:1] {
		fmt.Println(f.ID, f.Title)
	}
	// Output:
	// Four questions
	// front-1 Four questions
}
