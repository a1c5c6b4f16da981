package plots

import (
	"fmt"
	"strings"
)

// MostWords is how many words a caption has at most.
const MostWords = 80

// A Source is where a group of figures comes from.
type Source struct {
	Prefix  string // with which the IDs of its figures begin, such as "bf"
	Name    string // authors and year
	Title   string // of the paper, or what the group is about
	Address string // of the paper; may be empty
	Claim   string // what it claims, in a sentence
	Verdict string // what all its figures say of that, in a sentence
	Figures int    // how many there are
}

// Has reports whether a figure is one of its own.
func (p Source) Has(f *Figure) bool { return strings.HasPrefix(f.ID, p.Prefix+"-") }

// Finding says what those of its figures that are drawn decide: the verdict if they are all there, their numbers agree with their second way, none
// of their claims is open and what is refuted says something of the paper only; else that it is not decided.
func (p Source) Finding(drawn []*Figure, precision Precision) string {
	decided := true
	var checks []Check
	for _, f := range drawn {
		for _, c := range f.Claims {
			decided = decided && (c.Verdict == Holds || c.Verdict == Refuted && c.Finding)
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
	case !decided || !Summarize(checks).OK():
		return fmt.Sprintf("Not decided %s.", what)
	}
	return p.Verdict
}

// Tally says of how many claims of some figures the numbers decide what, in a sentence; it is empty if there are none.
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
	return fmt.Sprintf("Of %d statements put to the numbers %d hold, %d are open and %d are refuted.", all, count[Holds], count[Open], count[Refuted])
}
