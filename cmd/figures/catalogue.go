package main

import (
	"slices"

	"productform/plots"
	"productform/plots/bc17"
	"productform/plots/br14"
	"productform/plots/gang"
	"productform/plots/hb02"
	"productform/plots/l14"
	"productform/plots/net"
	"productform/plots/oneserver"
	"productform/plots/scale"
)

// sources returns the sources of the figures, in the order of the page.
func sources() []plots.Source {
	return []plots.Source{
		scale.FrontSource(), bc17.Source(), hb02.Source(), br14.Source(), l14.Source(), net.Source(),
		oneserver.Source(), gang.Source(), scale.Source(),
	}
}

// catalogue returns all figures, in the order of the papers.
func catalogue() []plots.Spec {
	return slices.Concat(
		bc17.Figures(), hb02.Figures(), br14.Figures(), l14.Figures(), net.Figures(), oneserver.Figures(),
		gang.Figures(), scale.Figures(), scale.FrontFigures(),
	)
}
