package plots_test

import (
	"fmt"

	"productform/plots"
)

func Example() {
	curve := plots.Series{Label: "M/M/1"}
	for _, load := range plots.Grid(1, 9, 10) {
		curve.X, curve.Y = append(curve.X, load), append(curve.Y, 1/(1-load))
	}
	f := &plots.Figure{
		ID: "mm1", Title: "Delay of a single server", Caption: "Near capacity delays grow without end.",
		Parameters: []plots.Parameter{{Name: "capacity", Value: "1"}},
		Panels: []plots.Panel{{
			Title: "One server", X: plots.Axis{Quantity: "load"},
			Y:      plots.Axis{Quantity: "mean delay", Unit: "mean sizes"},
			Series: []plots.Series{curve},
		}},
	}
	fmt.Println("ready to be drawn:", f.Validate() == nil)
	fmt.Printf("at load %g: %.4g\n", curve.X[8], curve.Y[8])
	// Output:
	// ready to be drawn: true
	// at load 0.9: 10
}

// A claim about numbers with intervals holds for all of them, is refuted, or is open.
func ExampleLimit_Verdict() {
	limit := plots.AtMost(2)
	fmt.Println(limit.Verdict(plots.Number{Mean: 1.5, Low: 1.4, High: 1.6}))
	fmt.Println(limit.Verdict(plots.Number{Mean: 1.9, Low: 1.7, High: 2.1}))
	fmt.Println(limit.Verdict(plots.Number{Mean: 2.5, Low: 2.3, High: 2.7}))
	// Output:
	// holds
	// open
	// refuted
}
