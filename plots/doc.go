// Package plots says what a figure is and how one is computed: which numbers does it show, from which parameters, and what else says the same?
//
// For example:
//
//	curve := plots.Series{Label: "M/M/1"}
//	for _, load := range plots.Grid(1, 9, 10) {
//		curve.X, curve.Y = append(curve.X, load), append(curve.Y, 1/(1-load))
//	}
//	f := &plots.Figure{
//		ID: "mm1", Title: "Delay of a single server", Caption: "Near capacity delays grow without end.", Parameters: []plots.Parameter{{Name: "capacity", Value: "1"}},
//		Panels: []plots.Panel{{
//			Title: "One server", X: plots.Axis{Quantity: "load"}, Y: plots.Axis{Quantity: "mean delay", Unit: "mean sizes"},
//			Series: []plots.Series{curve},
//		}},
//	}
//	fmt.Println("ready to be drawn:", f.Validate() == nil)
//	fmt.Printf("at load %g: %.4g\n", curve.X[8], curve.Y[8])
//	// Output:
//	// ready to be drawn: true
//	// at load 0.9: 10
//
// A [Figure] holds panels, a panel holds series, a series holds the points (x, y) and, for
// simulated points, the ends of their confidence intervals. The caption and the parameters state
// everything needed to compute the figure again; checks set its numbers beside the same numbers reached another way,
// claims set them beside what the paper says in words. A [Spec] is a figure yet to be computed: [Compute] asks each for
// the simulations it wants, runs them all as one sweep, and lets each fill in its figure. The words stand in [Texts], files
// beside the code. Package plots/draw turns them into PNG, SVG, PDF, CSV or HTML.
//
// The figures of each paper are in a package of their own: plots/bc17, plots/hb02, plots/br14 and plots/l14; those of our own are in plots/net,
// plots/scale and plots/front.
package plots
