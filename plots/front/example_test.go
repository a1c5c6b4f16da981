package front_test

import (
	"fmt"

	"productform/plots/front"
)

func Example() {
	figures := front.Figures()
	fmt.Println(front.Source().Title)
	for _, f := range figures[:1] {
		fmt.Println(f.ID, f.Title)
	}
	// Output:
	// What it answers
	// front-1 Four questions
}
