package draw_test

import (
	"testing"

	"productform/plots/draw"
	"productform/plots/internal/plotstest"
)

// Files of the test figures have the printed size, ink but none at the edge, and contain their
// numbers.
func TestPictures(t *testing.T) {
	for _, f := range draw.FixtureFigures() {
		plotstest.CheckPicture(t, f, draw.LegendRows(f))
	}
}
