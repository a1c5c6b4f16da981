// Package draw turns a figure into files: PNG, SVG and PDF pictures, its data as CSV, and one HTML
// page for several figures.
//
// A picture shows the panels side by side at the size it is printed, 85 mm a panel, so that two span
// the width of a journal's page; everything about its look is in style.go. Axes have round
// ticks (1, 2 or 5 times a power of ten), or the names of categories, on up to three lines. The name of a curve stands beside it where it touches nothing; if
// there is no such place for all the names of a panel, they go in a row above it. Rows of panels that show the same series share
// one legend, above them all.
//
// Pictures are drawn on the canvases of gonum.org/v1/plot/vg. The same figure gives the same
// bytes: there is no date in any file.
package draw
