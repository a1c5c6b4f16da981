package gang_test

import (
	"fmt"

	"productform/plots/gang"
)

func Example() {
	fmt.Println(gang.Source().Title)
	for _, f := range gang.Figures() {
		fmt.Println(f.ID, f.Title)
	}
	// Output:
	// Jobs that need several servers
	// gang-1 Cost of blocking
}
