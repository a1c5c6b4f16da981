package plots

import (
	"fmt"
	"strings"
)

// MostWords is the maximum number of words of a caption.
const MostWords = 80

// A Source describes the origin of a group of figures.
type Source struct {
	Prefix  string // common prefix of the IDs of its figures, such as "bf"
	Name    string // authors and year
	Title   string // title of the paper, or topic of the group
	Address string // address of the paper; may be empty
	Claim   string // claim of the paper, in one sentence
	Verdict string // what all its figures show about the claim, in one sentence
	Figures int    // number of figures
}

// Has reports whether a figure belongs to the source.
func (p Source) Has(f *Figure) bool { return strings.HasPrefix(f.ID, p.Prefix+"-") }

// Finding returns the verdict if all figures of the source are drawn, their checks agree, none of
// their claims is open, and refuted claims are findings about the paper. Otherwise it returns that
// the claim is undecided, or nothing if that is only because a draft leaves claims open.
func (p Source) Finding(drawn []*Figure, precision Precision) string {
	open, decided := false, true
	var checks []Check
	for _, f := range drawn {
		for _, c := range f.Claims {
			open = open || c.Verdict == Open
			decided = decided && (c.Verdict == Holds || c.Verdict == Open || c.Verdict == Refuted && c.Finding)
		}
		for _, c := range f.Checks {
			decided = decided && c.OK()
		}
		checks = append(checks, f.Checks...)
	}
	what := "on this page"
	if precision == Draft {
		what = "in this draft"
	}
	switch {
	case len(drawn) < p.Figures:
		return fmt.Sprintf("Not decided %s, which has %d of the %d figures.", what, len(drawn), p.Figures)
	case !decided || !Summarize(checks).OK() || open && precision != Draft:
		return fmt.Sprintf("Not decided %s.", what)
	case open:
		return ""
	}
	return p.Verdict
}

// Tally returns a sentence with the numbers of claims by verdict; it is empty if there are no
// claims.
func Tally(figures []*Figure) string {
	count := map[Verdict]int{}
	all := 0
	for _, f := range figures {
		for _, c := range f.Claims {
			count[c.Verdict]++
			all++
		}
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%d statements were checked against the numbers: %d hold, %d are open and %d are refuted.",
		all, count[Holds], count[Open], count[Refuted])
}
