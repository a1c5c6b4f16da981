package draw_test

import (
	"testing"

	"productform/internal/plotstest"
	"productform/plots"
	"productform/plots/draw"
)

// Files of the test figures are of the printed size, with ink and none on the edge, and hold their numbers.
func TestPictures(t *testing.T) {
	figures := make(map[string]*plots.Figure)
	for _, f := range draw.FixtureFigures() {
		figures[f.ID] = f
	}
	plotstest.CheckPictures(t, figures)
}
