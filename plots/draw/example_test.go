package draw_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"

	"productform/plots"
	"productform/plots/bc17"
	"productform/plots/draw"
)

// The data of a figure as CSV; draw.PNG, draw.SVG or draw.PDF give its picture, to be written with WriteFile.
func ExampleRender() {
	figures, err := plots.Compute(context.Background(), bc17.Figures()[5:6], plots.Settings{Precision: plots.Draft, Runs: 2, Jumps: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := draw.Render(figures[0], draw.CSV)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range rows[:3] {
		fmt.Printf("%s | %.70s\n", row[0], row[1])
	}
	// Output:
	// number of jobs n | Three equal servers, load 0.8, balanced fairness: probability of n job
	// 0 | 0.1
	// 1 | 0.12
}
