package draw_test

import (
	"testing"

	"productform/internal/plotstest"
	"productform/plots/draw"
)

// Files of the test figures are of the printed size, with ink and none on the edge, and hold their numbers.
func TestPictures(t *testing.T) {
	for _, f := range draw.FixtureFigures() {
		plotstest.CheckPicture(t, f, draw.LegendRows(f))
	}
}
