// Package draw answers: how does a figure look in print, and how is it written to a file? It
// renders PNG, SVG and PDF pictures, the data as CSV, and one HTML page for several figures.
//
// For example:
//
//	f := &plots.Figure{
//		ID: "mm1", Title: "Delay of a single server", Caption: "Near capacity delays grow without end.",
//		Parameters: []plots.Parameter{{Name: "capacity", Value: "1"}},
//		Panels: []plots.Panel{{
//			Title: "One server", X: plots.Axis{Quantity: "load"}, Y: plots.Axis{Quantity: "mean delay"},
//			Series: []plots.Series{{Label: "M/M/1", X: []float64{0, 0.5, 0.75}, Y: []float64{1, 2, 4}}},
//		}},
//	}
//	data, err := draw.Render(f, draw.CSV) // or draw.SVG, to be written with draw.WriteFile
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("%s", data)
//	// Output:
//	// load,"One server, M/M/1: mean delay"
//	// 0,1
//	// 0.5,2
//	// 0.75,4
//
// A picture shows the panels side by side at their printed size, 85 mm per panel, so two span the
// width of a journal page; everything about its look is in style.go. Axes have round ticks (1, 2 or
// 5 times a power of ten), or the names of categories, on up to three lines. The name of a curve is
// next to it, at a place where it touches nothing; if the names of a panel do not all have such a
// place, they are in a legend above it. Rows of panels with the same series share one legend above
// them all.
//
// Pictures are drawn on the canvases of gonum.org/v1/plot/vg. The same figure gives the same bytes:
// files contain no date.
package draw
