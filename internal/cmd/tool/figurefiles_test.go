package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"productform/plots"
	"productform/plots/draw"
)

// ids returns the identifiers of the figures drawn here.
func ids() []string { return []string{"bf-1", "bf-2", "bf-3", "bf-4"} }

// figure returns a figure with a curve and with checks whose z values follow a normal distribution.
func figure(id string, number int) *plots.Figure {
	s := plots.Series{Label: "square"}
	for k := range 20 {
		x := float64(k)
		s.X, s.Y = append(s.X, x), append(s.Y, x*x)
	}
	f := &plots.Figure{ID: id, Title: "A parabola", Caption: "The square of a number against the number.",
		Panels: []plots.Panel{{
			Title:  "Squares",
			X:      plots.Axis{Quantity: "number"},
			Y:      plots.Axis{Quantity: "square"},
			Series: []plots.Series{s},
		}},
		Checks: []plots.Check{plots.SolverCheck(id+"a", "square of 3, as a sum", 9, 3+3+3, 0)}}
	for k := range 50 {
		name := fmt.Sprint(id, k)
		z := math.Sqrt2 * math.Erfinv(2*math.Mod(math.Phi*float64(50*number+k+1), 1)-1)
		half := 0.1
		simulated := 9 + z*half
		f.Checks = append(f.Checks, plots.Check{
			Figure:     id + "a",
			Quantity:   "square of 3",
			Exact:      9,
			Simulated:  &simulated,
			HalfWidth:  &half,
			Z:          &z,
			Simulation: &name,
		})
	}
	return f
}

// write draws the figures into a folder.
func write(t *testing.T, folder string) {
	t.Helper()
	save := func(name string, data []byte, err error) {
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var figures []*plots.Figure
	for k, id := range ids() {
		f := figure(id, k)
		figures = append(figures, f)
		for _, format := range draw.Formats() {
			if format != draw.HTML {
				data, err := draw.Render(f, format)
				save(draw.FileName(f, format), data, err)
			}
		}
	}
	pages, err := draw.Pages(
		figures, draw.Formats(), draw.Edition{Sources: []plots.Source{{Prefix: "x", Address: "https://example.org"}}},
	)
	for _, page := range pages {
		save(page.Name, page.Text, err)
	}
	data, err := draw.ChecksJSON(figures)
	save("checks.json", data, err)
}

// The files that figures writes have no faults; each corrupted or removed file is one fault.
func TestEveryFaultIsSeen(t *testing.T) {
	folder := t.TempDir()
	write(t, folder)
	if files, faults := check(folder, ids()); files != 4*len(ids())+4 || len(faults) > 0 {
		t.Fatalf("%d files, %v", files, faults)
	}
	small := image.NewGray(image.Rect(0, 0, 2, 1)) // replaces large images: each case below reads all files
	small.Pix[1] = 255
	var picture bytes.Buffer
	if err := png.Encode(&picture, small); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids() {
		for ending, data := range map[string][]byte{".png": picture.Bytes(), ".svg": []byte("<svg><path/></svg>")} {
			if err := os.WriteFile(filepath.Join(folder, id+ending), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct{ file, old, new, want string }{
		{"bf-1.png", "IDAT", "IDAX", "bf-1.png: png"},
		{"bf-2.svg", "</svg>", "", "bf-2.svg: XML syntax error"},
		{"bf-3.pdf", "%%EOF", "", "bf-3.pdf: not a whole PDF"},
		{"bf-4.csv", "", "\"", "bf-4.csv: parse error"},
		{"checks.json", `"solver": `, `"solver": 1`, "checks.json: "},
		{"checks.json", `"figure": "bf-4`, `"figure": "bf-3`, "checks.json: nothing of bf-4"},
		{"checks.json", `"z": 0.`, `"z": 6.`, "checks.json: bf-1"},
		{"checks.json", `"z": -`, `"z": `, "checks.json: the simulated numbers together"},
		{"checks.json", `"exact"`, `"exakt"`, "checks.json: json: unknown field"},
		{"index.html", `href="bf-1.csv"`, `href="bf-9.csv"`, `index.html: no file for the link "bf-9.csv"`},
		{"index.html", `href="#bf-1"`, `href="#bf-9"`, `index.html: no id for the link "#bf-9"`},
		{"claims.html", `href="index.html"`, `href="figures.html"`, `claims.html: no file for the link "figures.html"`},
		{"checks.html", `href="checks.json"`, `href="bf-9.csv"`, `checks.html: no file for the link "bf-9.csv"`},
		{"index.html", `<section id="bf-2"`, `<section id="bf-7"`, "index.html: no section for bf-2"},
	} {
		path := filepath.Join(folder, c.file)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bad := strings.ReplaceAll(string(good), c.old, c.new)
		if c.old == "" {
			bad = string(good) + c.new
		}
		if bad == string(good) {
			t.Errorf("%s: nothing to spoil: %q", c.file, c.old)
		}
		for content, want := range map[string]string{bad: c.want, "": c.file + ": empty"} {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, faults := check(folder, ids())
			// an empty page is also a missing file for the links of others
			if !slices.ContainsFunc(faults, func(f error) bool { return strings.HasPrefix(f.Error(), want) }) {
				t.Errorf("%s, %q for %q: %v, want %q", c.file, c.new, c.old, faults, want)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, faults := check(folder, ids()); len(faults) == 0 {
			t.Errorf("%s removed: no fault", c.file)
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
