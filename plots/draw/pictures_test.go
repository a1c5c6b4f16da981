package draw_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"productform/plots/draw"
	"productform/plots/internal/plotstest"
)

// Pictures of the test figures have the printed size, have ink but not at the edges, and contain
// the numbers.
func TestPictures(t *testing.T) {
	for _, f := range draw.FixtureFigures() {
		plotstest.CheckPicture(t, f, draw.LegendRows(f))
	}
}

// A PNG file has the pixels of the image, and states its resolution.
func TestPNG(t *testing.T) {
	f := draw.FixtureFigures()[0]
	picture, err := draw.Image(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := draw.Render(f, draw.PNG)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	want, got := picture.(*image.RGBA), decoded.(*image.RGBA)
	if got.Rect != want.Rect || !bytes.Equal(got.Pix, want.Pix) {
		t.Error("the file has other pixels than the image")
	}
	// 300/0.0254 = 11811 = 0x2e23 per metre
	if !bytes.Contains(data, []byte("pHYs\x00\x00\x2e\x23\x00\x00\x2e\x23\x01")) {
		t.Error("the file does not state its resolution")
	}
}
