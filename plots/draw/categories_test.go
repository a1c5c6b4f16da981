package draw

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"productform/plots"
)

// Names are on one line if they fit, otherwise on as few lines as separate them.
func TestCategoryLines(t *testing.T) {
	text := newTypesetter()
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"one", "number two"}, "one; number two"},
		{
			[]string{"this one", "is a name that fills more than one third", "c"},
			"this one; is a name that fills|more than one third; c",
		},
		{
			slices.Repeat([]string{"deadline, spare by priority"}, 6),
			strings.Repeat("deadline,|spare by|priority; ", 5) + "deadline,|spare by|priority",
		},
	} {
		lines, err := categoryLines(text, &plots.Axis{Categories: c.names}, 60, panelWidth, nameSize, nameLines)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range lines {
			got = append(got, strings.Join(l, "|"))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("got %q, want %q", s, c.want)
		}
	}
	_, err := categoryLines(
		text, &plots.Axis{Categories: slices.Repeat([]string{"deadline, spare by priority"}, 9)}, 60, panelWidth,
		nameSize, nameLines,
	)
	if want := "categories = deadline, spare by priority: want shorter names, or fewer: in 3 lines " +
		"they collide"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Names are as large as numbers if all fit in one line, otherwise smaller.
func TestNameCategories(t *testing.T) {
	for size, names := range map[vg.Length][]string{
		tickSize: {"FCFS", "EASY", "deadline"}, nameSize: {"FCFS", "EASY", "deadline, spare by priority"},
	} {
		got, err := nameCategories(newTypesetter(), &plots.Axis{Categories: names}, 60, panelWidth)
		if err != nil {
			t.Fatal(err)
		}
		if got.size != size || len(got.lines) != len(names) {
			t.Errorf("%q: size %v, want %v", names, got.size, size)
		}
	}
}

// broken finds the narrowest way to break a name into two or three lines, and keeps every word.
func TestBroken(t *testing.T) {
	text := newTypesetter()
	width := func(words []string) vg.Length { return text.width(strings.Join(words, " "), nameSize, false) }
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching("[a-z,]{1,9}"), 1, 7).Draw(t, "words")
		most := rapid.IntRange(1, 3).Draw(t, "most")
		lines, got := text.broken(words, nameSize, most)
		least := width(words)
		for i := 1; i < len(words) && most > 1; i++ {
			least = min(least, max(width(words[:i]), width(words[i:])))
			for j := i + 1; j < len(words) && most > 2; j++ {
				least = min(least, max(width(words[:i]), width(words[i:j]), width(words[j:])))
			}
		}
		if got != least || len(lines) > most || strings.Join(lines, " ") != strings.Join(words, " ") {
			t.Errorf("%q: %q of width %v, want %v", words, lines, got, least)
		}
	})
}

// Categories are ticks at 1, 2, ..., their series are in the legend by group, and all plots leave
// room for the names.
func TestCategories(t *testing.T) {
	text := newTypesetter()
	f := categorical()
	if lo, hi, got := axis(&f.Panels[0].X, nil, 5, false); lo != 0.5 || hi != 3.5 ||
		!slices.Equal(got, []tick{{1, "first"}, {2, "in the middle"}, {3, "last"}}) {
		t.Errorf("[%v, %v], %v", lo, hi, got)
	}
	var names []string
	legend, _ := sharedLegend(text, f)
	for _, e := range legend {
		names = append(names, e.label)
		if (e.kind == plots.Points) != (e.label != "theory") || e.bar != (e.label == "mean") {
			t.Errorf("%+v", e)
		}
	}
	if want := []string{"theory", "mean", "sample"}; !slices.Equal(names, want) {
		t.Errorf("legend %q, want %q", names, want)
	}
	f.Panels[0].X.Categories[1] = "a name that certainly takes three lines as the middle one of all three here, by " +
		"its length"
	beside, err := sideMargin(text, f)
	if err != nil {
		t.Fatal(err)
	}
	var low []vg.Length
	for i := range f.Panels {
		l, err := plan(text, &f.Panels[i], "(a)", rectangle(0, 0, panelWidth, panelHeight), beside, true)
		if err != nil {
			t.Fatal(err)
		}
		low = append(low, l.plot.Min.Y)
		if l.groups != nil {
			t.Errorf("panel %d names the groups %q", i, l.groups)
		}
	}
	if want := 2*nameStep + descent*nameSize + capHeight*(nameSize-tickSize); low[0] != low[1] || beside.below != want {
		t.Errorf("plots begin at %v, names take %v more than numbers, want %v", low, beside.below, want)
	}
}
