package draw

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/plots"
)

// The CSV contains exactly the points of the figure, digit for digit.
func TestCSVHoldsTheData(t *testing.T) {
	for _, f := range FixtureFigures() {
		records, err := csv.NewReader(bytes.NewReader(render(t, f, CSV))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		header, rows := records[0], records[1:]
		axes := map[string]int{} // column of each horizontal axis
		for _, p := range f.Panels {
			if _, known := axes[meaning(p.X)]; !known {
				axes[meaning(p.X)] = len(axes)
			}
		}
		for name, k := range axes {
			if header[k] != name {
				t.Errorf("%s: column %d is %q, want %q", f.ID, k, header[k], name)
			}
		}
		for _, r := range rows {
			values := 0
			for _, field := range r[:len(axes)] {
				if field != "" {
					values++
				}
			}
			if values != 1 {
				t.Errorf("%s: a row of %d horizontal axes: %q", f.ID, values, r)
			}
		}
		column, at := len(axes), 0
		check := func(name string, x, y []float64) {
			t.Helper()
			if column >= len(header) || header[column] != name {
				t.Fatalf("%s: column %d is not %q: %q", f.ID, column, name, header)
			}
			var gotX, gotY []float64
			for _, r := range rows {
				if r[column] == "" {
					continue
				}
				a, err := strconv.ParseFloat(r[at], 64)
				if err != nil {
					t.Fatal(err)
				}
				b, err := strconv.ParseFloat(r[column], 64)
				if err != nil {
					t.Fatal(err)
				}
				gotX, gotY = append(gotX, a), append(gotY, b)
			}
			if !slices.Equal(gotX, x) || !slices.Equal(gotY, y) {
				t.Errorf("%s: column %q does not contain the series", f.ID, name)
			}
			column++
		}
		for _, p := range f.Panels {
			at = axes[meaning(p.X)]
			for _, s := range p.Series {
				name := p.Title + ", " + s.Name() + ": " + p.Y.Title()
				if s.Kind == plots.Band {
					check(name+", lower bound", s.X, s.Low)
					check(name+", upper bound", s.X, s.High)
					continue
				}
				check(name, s.X, s.Y)
				if s.Low != nil {
					check(name+", low end of 95 % interval", s.X, s.Low)
					check(name+", high end of 95 % interval", s.X, s.High)
				}
				if s.Left != nil {
					of := p.Title + ", " + s.Name() + ": " + p.X.Title()
					check(of+", low end of 95 % interval", s.X, s.Left)
					check(of+", high end of 95 % interval", s.X, s.Right)
				}
			}
		}
		if column != len(header) {
			t.Errorf("%s: %d columns, want %d", f.ID, len(header), column)
		}
	}
}

// The pages show every figure, link only to files in their directory, and need no network.
func TestPages(t *testing.T) {
	all := FixtureFigures()
	v := 1.5
	all[0].Title = "<b> & more"
	all[0].Checks = []plots.Check{
		{Figure: "test-a", Quantity: "mean delay", Exact: 1.25, Simulated: &v, HalfWidth: &v, Z: &v},
	}
	for k := range 50 { // distributed like a normal variable
		z, name := math.Sqrt2*math.Erfinv(2*(float64(k)+0.5)/50-1), fmt.Sprint(k)
		all[0].Checks = append(all[0].Checks, plots.Check{
			Figure:     "test-b",
			Quantity:   "load",
			Exact:      1,
			Simulated:  &v,
			HalfWidth:  &v,
			Z:          &z,
			Simulation: &name,
		})
	}
	all[0].Claims = []plots.Claim{
		{Place: "test", Sentence: "All is well.", Criterion: "Little.", Numbers: "1.5.", Verdict: plots.Open},
	}
	all[1].Setting, all[2].ID = "Set up so.", "g-1"
	source := plots.Source{
		Prefix:  "g",
		Name:    "N. N. (1999)",
		Title:   "On figures",
		Address: "https://example.org/g",
		Claim:   "It is so.",
		Verdict: "It is.",
		Figures: 1,
	}
	pages, err := Pages(all, Formats(), Edition{
		Sources:   []plots.Source{source, {Prefix: "none", Name: "Nobody"}},
		Made:      "1 May 2026",
		Version:   "figures (devel)",
		Precision: plots.Draft,
		Seed:      7,
	})
	if err != nil {
		t.Fatal(err)
	}
	page := ""
	for _, p := range slices.Backward(pages) { // index.html first
		page += string(p.Text)
	}
	for _, want := range []string{
		"&lt;b&gt; &amp; more", "<td>mean delay</td><td class=\"n\">1.25</td>", "1.5 ± 1.5", `name="viewport"`,
		`<td class="text">All is well.</td>`, "<td>open</td>", `id="summary"`, "cells of equal probability",
		"<p>Set up so.</p>", "<b>It claims:</b> It is so.", "<b>We find:</b> It is.</p>",
		"Made on 1 May 2026 by figures (devel), precision draft, seed 7.", "This is a draft", "and |z| at most 5.",
		"if no |z| exceeds 5 and p is at least 10⁻⁶: they do",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	var links []string
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"#]+)"`).FindAllStringSubmatch(page, -1) {
		links = append(links, m[1])
	}
	want := []string{"claims.html", "checks.html", "https://example.org/g"}
	for _, f := range []*plots.Figure{all[2], all[0], all[1]} { // figures without a source come last
		want = append(want, f.ID+".svg", f.ID+".png", f.ID+".svg", f.ID+".pdf", f.ID+".csv")
		if !strings.Contains(page, `id="`+f.ID+`"`) {
			t.Errorf("the page lacks %s", f.ID)
		}
	}
	want = append(want, "index.html", "checks.json", "index.html")
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if strings.Contains(strings.ReplaceAll(page, `<a href="https://example.org/g">On figures</a>`, ""), "http") ||
		strings.Contains(page, "<script") {
		t.Error("the page needs other files")
	}
	for _, alt := range regexp.MustCompile(`<img [^>]*>`).FindAllString(page, -1) {
		if !strings.Contains(alt, `alt="Panel a, `) {
			t.Errorf("no alternative text: %s", alt)
		}
	}
	only, err := Pages(all, []Format{HTML, PNG}, Edition{})
	if err != nil || !bytes.Contains(only[2].Text, []byte(`src="g-1.png"`)) ||
		bytes.Contains(only[2].Text, []byte(".svg")) {
		t.Errorf("a page of PNG alone: %v", err)
	}
	if _, err := Pages([]*plots.Figure{{ID: "x"}}, nil, Edition{}); err == nil ||
		err.Error() != "x: title is missing: want one line" {
		t.Errorf("a page of a bad figure: %v", err)
	}
}

// A heading does not repeat a name with which the title begins.
func TestHeading(t *testing.T) {
	for want, s := range map[string]plots.Source{
		"Scale: How far":       {Name: "Scale", Title: "How far"},
		"One server per job":   {Name: "One server per job", Title: "One server per job"},
		"Networks of stations": {Name: "Networks", Title: "Networks of stations"},
	} {
		if got := (pageGroup{Source: s}).Heading(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A simulated number has as many digits as its half-width justifies, and both share one power of
// ten.
func TestMeasured(t *testing.T) {
	for _, c := range []struct {
		v, h float64
		want string
	}{
		{1.23456, 0.0123, "1.235 ± 0.012"}, {-1.5, 1.5, "−1.5 ± 1.5"}, {45678, 1234, "45700 ± 1200"},
		{45678, 12.34, "45678 ± 12"},
		{1.23456e9, 1.26e7, "(1.235 ± 0.013)·10⁹"}, {0.00001234, 1.2e-7, "(1.234 ± 0.012)·10⁻⁵"},
		{0, 0.25, "0.00 ± 0.25"},
		{3, 1e7, "(0.0 ± 1.0)·10⁷"}, {9.99999, 0.0996, "10.00 ± 0.10"}, {1.5, 0, "1.5 ± 0"},
		{0.5, 0.00999, "0.500 ± 0.010"},
	} {
		if got := measured(c.v, c.h); got != c.want {
			t.Errorf("%v ± %v: %q, want %q", c.v, c.h, got, c.want)
		}
	}
}

func TestChecksJSON(t *testing.T) {
	b, err := ChecksJSON([]*plots.Figure{{}})
	if err != nil || string(b) != "[]\n" {
		t.Errorf("no checks: %s, %v", b, err)
	}
	v := 2.5
	b, err = ChecksJSON([]*plots.Figure{
		{Checks: []plots.Check{{Figure: "bf-1a", Quantity: "q", Exact: 2, Simulated: &v, HalfWidth: &v, Z: &v}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{{
		"figure": "bf-1a", "quantity": "q", "exact": 2.0, "simulated": 2.5, "half_width": 2.5, "z": 2.5,
		"solver": nil, "tolerance": nil, "simulation": nil,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// WriteFile writes a file atomically, replaces the old one, and leaves nothing behind, even on
// failure.
func TestWriteFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.csv")
	for _, text := range []string{"old, longer", "new"} {
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("read %q, %v", b, err)
		}
	}
	taken := filepath.Join(folder, "folder")
	if err := os.MkdirAll(filepath.Join(taken, "inside"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(taken, nil); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if err := WriteFile(filepath.Join(folder, "missing", "a"), nil); err == nil {
		t.Error("written into a missing directory")
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
