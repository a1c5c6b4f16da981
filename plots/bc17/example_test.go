package bc17_test

import (
	"context"
	"fmt"

	"productform/plots"
	"productform/plots/bc17"
	"productform/sweep"
)

func Example() {
	figures := bc17.Figures()
	fmt.Println(bc17.Source().Title)
	for _, f := range figures[:2] {
		fmt.Println(f.ID, f.Title)
	}
	// Output:
	// Balanced fair resource sharing in computer clusters
	// bf-1 Two classes sharing three equal servers
	// bf-2 Two classes, one with an exclusive server
}

// A figure is data: print the mean delay under balanced fairness at load 0.9, from a run with very
// little simulation.
func ExampleFigures() {
	figures, err := plots.Compute(context.Background(), bc17.Figures()[2:4], plots.Settings{
		Precision: plots.Draft,
		Runs:      2,
		Jumps:     1000,
	}, sweep.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range figures {
		delay := f.Panels[1]
		fmt.Println(f.ID, f.Title)
		for _, s := range delay.Series {
			for k, x := range s.X {
				if s.Label == "balanced fairness" && x == 0.9 {
					fmt.Printf("  %s, %s, load %.2f: %s %.4f\n", delay.Title, s.Label, x, delay.Y.Quantity, s.Y[k])
				}
			}
		}
	}
	// Output:
	// bf-3 Random assignment of 2 servers among 100
	//   Bimodal sizes, balanced fairness, load 0.90: mean delay 1.7651
	// bf-4 Random assignment of 3 servers among 100
	//   Bimodal sizes, balanced fairness, load 0.90: mean delay 1.0550
}
