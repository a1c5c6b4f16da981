package draw

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"productform/internal/input"
	"productform/plots"
)

// nameLines is the maximum number of lines for the name of a category.
const nameLines = 3

// categoryTicks returns a tick at each category.
func categoryTicks(names []string) []tick {
	var t []tick
	for k, name := range names {
		t = append(t, tick{float64(k + 1), name})
	}
	return t
}

// categoryNames holds the lines of each category name of an axis, none without categories, and
// their font size.
type categoryNames struct {
	lines [][]string
	size  vg.Length
}

// nameCategories returns the names of the categories of an axis, for a panel with the given width and
// left margin: as large as numbers if they fit in one line.
func nameCategories(t typesetter, a *plots.Axis, left, width vg.Length) (categoryNames, error) {
	if len(a.Categories) == 0 {
		return categoryNames{}, nil
	}
	if lines, err := categoryLines(t, a, left, width, tickSize, 1); err == nil {
		return categoryNames{lines, tickSize}, nil
	}
	lines, err := categoryLines(t, a, left, width, nameSize, nameLines)
	return categoryNames{lines, nameSize}, err
}

// categoryLines returns the lines of the category names in a font size. Each name has as few lines as
// its share of the axis allows, at most mostLines.
func categoryLines(
	t typesetter, a *plots.Axis, left, width, size vg.Length, mostLines int,
) (all [][]string, err error) {
	length := width - left - rightRoom
	lo, hi, ticks := axis(a, nil, ticksAcross, false)
	share := length/vg.Length(hi-lo) - textGap
	end := margin - left // right end of the previous name
	for k := range a.Categories {
		words := strings.Fields(a.Categories[k])
		lines, widest := t.broken(words, size, 1)
		for most := 2; most <= mostLines && widest > share; most++ {
			lines, widest = t.broken(words, size, most)
		}
		middle := length * vg.Length(fraction(a.Scale, ticks[k].value, lo, hi))
		if middle-widest/2 < end || middle+widest/2 > length+rightRoom-margin {
			return nil, input.Errorf("categories", a.Categories[k], "shorter names, or fewer: in %d lines they collide",
				mostLines)
		}
		end = middle + widest/2 + textGap
		all = append(all, lines)
	}
	return all, nil
}

// broken breaks words into at most most lines with the smallest possible maximum width, and returns
// that width.
func (t typesetter) broken(words []string, size vg.Length, most int) (best []string, least vg.Length) {
	line := strings.Join(words, " ")
	best, least = []string{line}, t.width(line, size, false)
	if most == 1 {
		return best, least
	}
	for k := 1; k < len(words); k++ {
		first := strings.Join(words[:k], " ")
		rest, width := t.broken(words[k:], size, most-1)
		if w := max(t.width(first, size, false), width); w < least {
			best, least = append([]string{first}, rest...), w
		}
	}
	return best, least
}

// belowNames returns the height of category names below a plot in excess of one line of numbers.
func belowNames(names categoryNames) (below vg.Length) {
	for _, lines := range names.lines {
		below = max(below, capHeight*(names.size-tickSize)+descent*names.size+nameStep*vg.Length(len(lines)-1))
	}
	return below
}

// meaning returns the title of an axis, with its categories by number.
func meaning(a plots.Axis) string {
	var names []string
	for k, name := range a.Categories {
		names = append(names, fmt.Sprintf("%d %s", k+1, name))
	}
	if names == nil {
		return a.Title()
	}
	return a.Title() + " (" + strings.Join(names, "; ") + ")"
}

// onAxis reports whether a category of the horizontal axis names the series.
func onAxis(p *plots.Panel, s plots.Series) bool { return slices.Contains(p.X.Categories, s.Label) }

// inLane reports whether a category of the vertical axis names the series.
func inLane(p *plots.Panel, s plots.Series) bool { return slices.Contains(p.Y.Categories, s.Label) }
