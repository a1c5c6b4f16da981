package draw

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"productform/plots"
)

//go:embed page.gohtml
var pageSource string

// FileName returns the name of the figure's file in this format, "index.html" for HTML.
func FileName(f *plots.Figure, format Format) string {
	if format == HTML {
		return "index.html"
	}
	return f.ID + "." + string(format)
}

// An Edition describes a page of figures: their sources and how they were made.
type Edition struct {
	Sources   []plots.Source // in the order of their groups; figures without a source come last, without a heading
	Made      string         // date, such as "23 November 2026"
	Version   string         // version of the program
	Precision plots.Precision
	Seed      uint64 // seed of the simulations
}

// A pageLink links to a file of a figure, a pageItem is a figure on the page, and a pageGroup holds
// the figures of one source.
type (
	pageLink struct{ Name, File string }
	pageItem struct {
		*plots.Figure
		Image, Alt    string
		Width, Height int // size in pixels, for the aspect ratio
		Columns       int // columns of panels
		Links         []pageLink
	}
	pageGroup struct {
		plots.Source
		Finding, Tally string
		Items          []pageItem
	}
)

// Heading returns the name and the title, or only the title if it begins with the name.
func (g pageGroup) Heading() string {
	if strings.HasPrefix(g.Title, g.Name) {
		return g.Title
	}
	return g.Name + ": " + g.Title
}

// newItem returns the entry of a figure on the page.
func newItem(f *plots.Figure, formats []Format) pageItem {
	w, h := size(f)
	_, _, wide := grid(f)
	it := pageItem{Figure: f, Alt: alt(f), Width: int(w + 0.5), Height: int(h + 0.5), Columns: wide}
	for _, k := range formats {
		if k == HTML {
			continue
		}
		it.Links = append(it.Links, pageLink{strings.ToUpper(string(k)), FileName(f, k)})
		if k == SVG || k == PNG && it.Image == "" {
			it.Image = FileName(f, k)
		}
	}
	return it
}

// bySource groups the figures by source, those without a source last.
func bySource(figures []*plots.Figure, e Edition, formats []Format) []pageGroup {
	var all []pageGroup
	left := figures
	for _, source := range append(slices.Clone(e.Sources), plots.Source{}) {
		var own, others []*plots.Figure
		for _, f := range left {
			if source.Prefix == "" || source.Has(f) {
				own = append(own, f)
			} else {
				others = append(others, f)
			}
		}
		left = others
		if len(own) == 0 {
			continue
		}
		g := pageGroup{Source: source, Finding: source.Finding(own, e.Precision), Tally: plots.Tally(own)}
		for _, f := range own {
			g.Items = append(g.Items, newItem(f, formats))
		}
		all = append(all, g)
	}
	return all
}

// A Page is a file in HTML.
type Page struct {
	Name string // name of the file
	Text []byte // HTML, whole
}

// Pages returns claims.html, with what the papers say and our numbers, checks.html, with the
// numbers that were computed in a second way, and last index.html, with every figure, its caption,
// setting and parameters, grouped by source. It shows the SVG picture, or PNG without one, and
// links to the files of the given formats, which must be in the same directory under their
// [FileName]; the pages need nothing else.
func Pages(figures []*plots.Figure, formats []Format, e Edition) ([]Page, error) {
	var checks []plots.Check
	var claims []plots.Claim
	for _, f := range figures {
		if err := f.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", f.ID, err)
		}
		checks = append(checks, f.Checks...)
		claims = append(claims, f.Claims...)
	}
	t, err := template.New("page").Funcs(template.FuncMap{
		"digits":   digits,
		"short":    short,
		"measured": measured,
		"deref":    func(v *float64) float64 { return *v },
		"part":     func(n, of int) string { return fmt.Sprintf("%.2g", 100*float64(n)/float64(of)) },
	}).Parse(pageSource)
	if err != nil {
		return nil, err
	}
	data := struct {
		Edition
		Groups          []pageGroup
		Claims          []plots.Claim
		Checks          []plots.Check
		Summary         plots.Summary
		MaxZ, LeastProb float64
	}{e, bySource(figures, e, formats), claims, checks, plots.Summarize(checks), plots.MaxZ, plots.LeastProb}
	var pages []Page
	for _, name := range PageNames() {
		var b bytes.Buffer
		if err := t.ExecuteTemplate(&b, name, data); err != nil {
			return nil, err
		}
		pages = append(pages, Page{name, b.Bytes()})
	}
	return pages, nil
}

// PageNames returns the names of the pages, the one that links to the others last.
func PageNames() []string { return []string{"claims.html", "checks.html", FileName(nil, HTML)} }

// digits writes twelve digits of v, short writes three.
func digits(v float64) string { return superscripts(fmt.Sprintf("%.12g", v)) }
func short(v float64) string  { return superscripts(fmt.Sprintf("%.3g", v)) }

// measured writes v ± h with two digits of h and v to the same place, "1.234 ± 0.012",
// "45600 ± 1200" or "(1.234 ± 0.012)·10⁹"; if h is not a positive number, v has twelve digits.
func measured(v, h float64) string {
	if !(h > 0) || math.IsInf(h, 0) {
		return digits(v) + " ± " + short(h)
	}
	last := exponent(h, 1) - 1 // exponent of the last digit
	most := max(exponent(v, 11), last+1)
	if most >= -4 && most < 6 {
		round := func(x float64) string {
			if last > 0 {
				x = scaled(math.Round(scaled(x, -last)), last)
			}
			return strconv.FormatFloat(x, 'f', max(0, -last), 64)
		}
		return minus(round(v)) + " ± " + round(h)
	}
	mantissa := func(x float64) string { return minus(strconv.FormatFloat(scaled(x, -most), 'f', most-last, 64)) }
	return "(" + mantissa(v) + " ± " + mantissa(h) + ")·" + superscripts("1e"+strconv.Itoa(most))
}

// exponent returns the power of ten of the first digit of v after rounding to more further digits;
// for 0 it is smaller than that of any other number.
func exponent(v float64, more int) int {
	if v == 0 {
		return math.MinInt32
	}
	_, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', more, 64), "e")
	n, _ := strconv.Atoi(e) // written by FormatFloat
	return n
}

// alt describes the picture in words.
func alt(f *plots.Figure) string {
	var b strings.Builder
	for i, p := range f.Panels {
		if i > 0 {
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "Panel %c, %s: %s against %s.", 'a'+i, p.Title, p.Y.Title(), meaning(p.X))
		for _, s := range p.Series {
			last := len(s.X) - 1
			if s.Kind == plots.Band {
				fmt.Fprintf(&b, " %s: %s to %s at %s, %s to %s at %s.",
					s.Name(), short(s.Low[0]), short(s.High[0]), short(s.X[0]), short(s.Low[last]),
					short(s.High[last]), short(s.X[last]))
				continue
			}
			fmt.Fprintf(&b, " %s: %s at %s, %s at %s.",
				s.Name(), short(s.Y[0]), short(s.X[0]), short(s.Y[last]), short(s.X[last]))
		}
	}
	return b.String()
}

// ChecksJSON returns the checks of all figures as a JSON list, empty if there are none.
func ChecksJSON(figures []*plots.Figure) ([]byte, error) {
	checks := []plots.Check{}
	for _, f := range figures {
		checks = append(checks, f.Checks...)
	}
	b, err := json.MarshalIndent(checks, "", "  ")
	return append(b, '\n'), err
}
