package plots_test

import (
	"context"
	"fmt"

	"productform/plots"
)

// Every figure of the catalogue is data first: print the mean delay at the load nearest 0.9.
func ExampleCatalogue() {
	for _, e := range plots.Catalogue() {
		f, err := e.Build(context.Background(), plots.Draft)
		if err != nil {
			fmt.Println(err)
			return
		}
		delay := f.Panels[1]
		fmt.Println(f.ID, f.Title)
		for _, s := range delay.Series {
			k := 0
			for s.X[k] < 0.9 {
				k++
			}
			fmt.Printf("  %s, load %.2f: %s %.4f\n", s.Label, s.X[k], delay.Y.Quantity, s.Y[k])
		}
	}
	// Output:
	// bf-1 Two classes sharing three equal servers
	//   both classes, load 0.90: mean delay 3.9950
	// bf-2 Two classes, one with a server of its own
	//   class 1, load 0.90: mean delay 5.0000
	//   class 2, load 0.90: mean delay 14.0909
	// bf-3 Random assignment of 2 servers among 100
	//   d = 2, load 0.90: mean delay 1.7651
	// bf-4 Random assignment of 3 servers among 100
	//   d = 3, load 0.90: mean delay 1.0550
}
