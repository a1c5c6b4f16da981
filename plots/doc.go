// Package plots answers: which numbers does a figure show, from which parameters, and which
// independent results confirm them?
//
// For example:
//
//	curve := plots.Series{Label: "M/M/1"}
//	for _, load := range plots.Grid(1, 9, 10) {
//		curve.X, curve.Y = append(curve.X, load), append(curve.Y, 1/(1-load))
//	}
//	f := &plots.Figure{
//		ID: "mm1", Title: "Delay of a single server", Caption: "Near capacity delays grow without end.",
//		Parameters: []plots.Parameter{{Name: "capacity", Value: "1"}},
//		Panels: []plots.Panel{{
//			Title: "One server", X: plots.Axis{Quantity: "load"},
//			Y:      plots.Axis{Quantity: "mean delay", Unit: "mean sizes"},
//			Series: []plots.Series{curve},
//		}},
//	}
//	fmt.Println("ready to be drawn:", f.Validate() == nil)
//	fmt.Printf("at load %g: %.4g\n", curve.X[8], curve.Y[8])
//	// Output:
//	// ready to be drawn: true
//	// at load 0.9: 10
//
// A [Figure] holds panels, a panel holds series, and a series holds the points (x, y) and, for
// simulated points, the ends of their confidence intervals. The caption and the parameters state
// everything needed to recompute the figure; checks compare its numbers with independent results,
// and claims compare them with statements of the paper. A [Spec] is a figure yet to be computed:
// [Compute] collects the simulations of all specs, runs them as one sweep, and lets each spec fill
// in its figure. The wording is in [Texts], files next to the code. Package plots/draw turns
// figures into PNG, SVG, PDF, CSV or HTML.
//
// Each paper has its own package: plots/bc17, plots/hb02, plots/br14 and plots/l14. Figures of this
// project are in plots/net, plots/oneserver, plots/gang and plots/scale.
package plots
