package draw

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
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

// Page returns an HTML page with every figure, its caption, its parameters, what the papers claim of it and the checks of its numbers. It shows the
// SVG or else the PNG picture and links to the files of the formats given, which lie in the same folder under their
// [FileName]; it needs nothing else.
func Page(figures []*plots.Figure, formats []Format) ([]byte, error) {
	type link struct{ Name, File string }
	type item struct {
		*plots.Figure
		Image, Alt    string
		Width, Height int // for the ratio
		Links         []link
	}
	var items []item
	var checks []plots.Check
	var claims []plots.Claim
	for _, f := range figures {
		if err := f.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", f.ID, err)
		}
		w, h := size(f)
		it := item{Figure: f, Alt: alt(f), Width: int(w + 0.5), Height: int(h + 0.5)}
		for _, k := range formats {
			if k == HTML {
				continue
			}
			it.Links = append(it.Links, link{strings.ToUpper(string(k)), FileName(f, k)})
			if k == SVG || k == PNG && it.Image == "" {
				it.Image = FileName(f, k)
			}
		}
		items = append(items, it)
		checks = append(checks, f.Checks...)
		claims = append(claims, f.Claims...)
	}
	t, err := template.New("page").Funcs(template.FuncMap{
		"digits": func(v float64) string { return fmt.Sprintf("%.12g", v) },
		"short":  func(v float64) string { return fmt.Sprintf("%.3g", v) },
		"deref":  func(v *float64) float64 { return *v },
		"part":   func(n, of int) string { return fmt.Sprintf("%.2g", 100*float64(n)/float64(of)) },
	}).Parse(pageSource)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Figures []item
		Claims  []plots.Claim
		Checks  []plots.Check
		Summary plots.Summary
	}{items, claims, checks, plots.Summarize(checks)})
	return b.Bytes(), err
}

// alt describes the picture in words.
func alt(f *plots.Figure) string {
	var b strings.Builder
	for i, p := range f.Panels {
		if i > 0 {
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "Panel %c, %s: %s against %s.", 'a'+i, p.Title, p.Y.Title(), p.X.Title())
		for _, s := range p.Series {
			last := len(s.X) - 1
			fmt.Fprintf(&b, " %s: %.3g at %.3g, %.3g at %.3g.", s.Name(), s.Y[0], s.X[0], s.Y[last], s.X[last])
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
