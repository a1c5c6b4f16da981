package draw_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"log"

	"productform/plots"
	"productform/plots/bc17"
	"productform/plots/draw"
	"productform/sweep"
)

func Example() {
	f := &plots.Figure{
		ID: "mm1", Title: "Delay of a single server", Caption: "Near capacity delays grow without end.",
		Parameters: []plots.Parameter{{Name: "capacity", Value: "1"}},
		Panels: []plots.Panel{{
			Title: "One server", X: plots.Axis{Quantity: "load"}, Y: plots.Axis{Quantity: "mean delay"},
			Series: []plots.Series{{Label: "M/M/1", X: []float64{0, 0.5, 0.75}, Y: []float64{1, 2, 4}}},
		}},
	}
	data, err := draw.Render(f, draw.CSV) // or draw.SVG, to be written with draw.WriteFile
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", data)
	// Output:
	// load,"One server, M/M/1: mean delay"
	// 0,1
	// 0.5,2
	// 0.75,4
}

// CSV is the data of a figure; draw.PNG, draw.SVG or draw.PDF give its picture, which WriteFile
// writes.
func ExampleRender() {
	figures, err := plots.Compute(context.Background(), bc17.Figures()[5:6], plots.Settings{
		Precision: plots.Draft,
		Runs:      2,
		Jumps:     1000,
	}, sweep.Settings{})
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
