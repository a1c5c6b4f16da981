package plot

import (
	"testing"

	"productform/plots"
)

// Titles of pictures begin with a capital, except names such as p95.
func TestCapitalizeTitles(t *testing.T) {
	panels := []plots.Panel{{Title: "mean delay"}, {Title: "p95 of the delay"}, {Title: "élan"}, {}}
	f := plots.Figure{Title: "measures against load", Panels: panels}
	capitalize(&f)
	got := []string{f.Title}
	for _, p := range f.Panels {
		got = append(got, p.Title)
	}
	for i, want := range []string{"Measures against load", "Mean delay", "p95 of the delay", "Élan", ""} {
		if got[i] != want {
			t.Errorf("%q, want %q", got[i], want)
		}
	}
}
