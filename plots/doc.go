// Package plots says what a figure is and how one is computed.
//
// A [Figure] holds panels, a panel holds series, a series holds the points (x, y) and, for
// simulated points, the ends of their confidence intervals. The caption and the parameters state
// everything needed to compute the figure again; checks set its numbers beside the same numbers reached another way,
// claims set them beside what the paper says in words. A [Spec] is a figure yet to be computed: [Compute] asks each for
// the simulations it wants, runs them all as one sweep, and lets each fill in its figure. The words stand in [Texts], files
// beside the code. Package plots/draw turns them into PNG, SVG, PDF, CSV or HTML.
//
// The figures of each paper are in a package of their own: plots/bc17, plots/hb02, plots/br14 and plots/l14.
package plots
