package draw_test

import (
	"testing"

	"productform/plots/draw"
	"productform/plots/internal/plotstest"
)

// Files of the test figures have the printed size, have ink but not at the edges, and contain the
// numbers.
func TestPictures(t *testing.T) {
	for _, f := range draw.FixtureFigures() {
		plotstest.CheckPicture(t, f, draw.LegendRows(f))
	}
}
