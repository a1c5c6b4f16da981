package hb02_test

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"productform/internal/docs"
	"productform/plots"
	"productform/tags"
)

var update = flag.Bool("update", false, "write the table of docs/tags-claims.md again")

// A claim is a sentence of [HB02] that numbers decide. Least-Work-Remaining (LWR) is computed with
// the factor 1/2 of Lee and Longton and without it, as printed in the paper; verdicts and numbers
// may differ.
type claim struct {
	place    string // section and figure
	sentence string // sentence of the paper, shortened
	numbers  string // our numbers, with a # for each, and remarks
	values   values
	asked    []demand // interpretation of the sentence; nil if no number decides it

	verdict   plots.Verdict
	asPrinted plots.Verdict // verdict for LWR as printed; "" if the same
	want      []float64     // the values with the factor 1/2, see wantTol
	printed   []float64     // the values without it; nil if equal
}

// values returns the numbers of a claim for LWR, corrected or as printed.
type values func(lwr tags.Policy) []float64

// A demand is a condition of a claim on its numbers or on values computed from them; if of is nil,
// the condition applies to all numbers.
type demand struct {
	plots.Limit
	of func(x []float64) []float64
}

type demands = []demand

func (d demand) verdict(x []float64) plots.Verdict {
	if d.of != nil {
		x = d.of(x)
	}
	return d.Verdict(plots.Exactly(x...)...)
}

// allWithin requires every number to be within the limit.
func allWithin(l plots.Limit) demands { return demands{{l, nil}} }

// numbers requires the limit of some numbers, counted from 0.
func numbers(l plots.Limit, which ...int) demand {
	return demand{l, func(x []float64) (y []float64) {
		for _, i := range which {
			y = append(y, x[i])
		}
		return y
	}}
}

// ratios requires the limit of ratios of two numbers, in pairs.
func ratios(l plots.Limit, pairs ...int) demand {
	return demand{l, func(x []float64) (y []float64) {
		for pair := range slices.Chunk(pairs, 2) {
			y = append(y, x[pair[0]]/x[pair[1]])
		}
		return y
	}}
}

// rises requires the limit of differences of two numbers, in pairs.
func rises(l plots.Limit, pairs ...int) demand {
	return demand{l, func(x []float64) (y []float64) {
		for pair := range slices.Chunk(pairs, 2) {
			y = append(y, x[pair[1]]-x[pair[0]])
		}
		return y
	}}
}

func equalTo(v float64) plots.Limit    { return plots.Limit{Least: v, Most: v} }
func about(v, tol float64) plots.Limit { return plots.Limit{Least: v * (1 - tol), Most: v * (1 + tol)} }
func fromZeroTo(v float64) plots.Limit { return plots.Limit{Least: 0, Most: v} }

// textClaims returns the claims in the order of the paper. Orders of magnitude are log10 of a
// ratio: "n orders" and "about n" are within 1/2 of n, "over n" is above n, and "almost n" is
// between n-1 and n. "Several" is at least 2, "a couple" at least 1.5. A number called 10^n is at
// least 10^n and below 10^(n+1). "alpha ≈ 1" is 1, "all alpha" is [grid].
func textClaims() []claim {
	return slices.Concat(
		introductionClaims(), tailsClaims(), rivalsClaims(), balanceClaims(), excessClaims(),
		expansionClaims(), rangeClaims(),
	)
}

// check returns the claim with its numbers x and verdict.
func (c claim) check(x []float64) plots.Claim {
	text := c.numbers
	for _, v := range x {
		text = strings.Replace(text, "#", digits(v), 1)
	}
	verdict := plots.Holds
	for _, d := range c.asked {
		if d.verdict(x) == plots.Refuted {
			verdict = plots.Refuted
		}
	}
	return plots.Claim{Place: c.place, Sentence: c.sentence, Numbers: text, Verdict: verdict, Finding: true}
}

const claimsFile = "../../docs/tags-claims.md"

// tableHead starts the table in claimsFile.
const tableHead = "| section | claim | what we find | as printed | verdict |\n|---|---|---|---|---|\n"

// row returns the row of the table: the claim with LWR corrected, then any differences with LWR as
// printed.
func row(c, asPrinted plots.Claim, printed []float64) string {
	other, verdict := "", string(c.Verdict)
	if asPrinted.Numbers != c.Numbers {
		var words []string
		for _, v := range printed {
			words = append(words, digits(v))
		}
		other = strings.Join(words, ", ")
	}
	if asPrinted.Verdict != c.Verdict {
		verdict += fmt.Sprintf(", %s as printed", asPrinted.Verdict)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", c.Place, c.Sentence, c.Numbers, other, verdict)
}

// For every claim of the text that numbers can decide, and for both variants of LWR, numbers are as
// expected, verdicts follow from them, and docs/tags-claims.md agrees. "go test ./plots/hb02 -run
// TestTextClaims -update" writes the table there.
func TestTextClaims(t *testing.T) {
	table := tableHead
	for _, c := range textClaims() {
		x, printed := c.values(tags.PolicyCentral), c.values(tags.PolicyCentralPrinted)
		wantPrinted := c.printed
		if wantPrinted == nil {
			wantPrinted = c.want
		}
		c.compare(t, "", x, c.want)
		c.compare(t, " as printed", printed, wantPrinted)
		got, asPrinted := c.check(x), c.check(printed)
		if want := cmp.Or(c.asPrinted, c.verdict); got.Verdict != c.verdict || asPrinted.Verdict != want {
			t.Errorf("%s, %q: %s, as printed %s, want %s, %s; numbers %v, as printed %v",
				c.place, c.sentence, got.Verdict, asPrinted.Verdict, c.verdict, want, x, printed)
		}
		if n := strings.Count(c.numbers, "#"); n != len(x) {
			t.Errorf("%s, %q: %d numbers for %d places", c.place, c.sentence, len(x), n)
		}
		text := row(got, asPrinted, printed)
		if strings.Count(text, "|") != 6 {
			t.Errorf("%s has more than 5 cells", text)
		}
		table += text
	}
	if err := docs.CheckTable(claimsFile, tableHead, table, *update); err != nil {
		t.Error(err)
	}
}

// compare compares numbers with the expected ones.
func (c claim) compare(t *testing.T, kind string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s, %q: %d numbers%s, want %d", c.place, c.sentence, len(got), kind, len(want))
		return
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= wantTol*math.Abs(want[i])) {
			t.Errorf("%s, %q: number [%d]%s is %v, want %v", c.place, c.sentence, i, kind, got[i], want[i])
		}
	}
}

// wantTol is the relative tolerance of want and printed. They have six digits from an independent
// program that evaluates the formulas of the appendix of [HB02] literally, in 60 digits. Its
// cutoffs come from golden-section search (2 hosts), or from Newton's method on numerical
// derivatives starting at the cutoffs of this library (more hosts). Roots are those of this
// library, verified by a sign change within 1e-6. Both agree to 1e-8, except for the location of
// the smallest excess, 3e-7.
const wantTol = 1e-5

// digits returns three digits of x. It panics if rounding could give other digits on another
// machine, since cutoffs are only accurate to about 1e-10.
func digits(x float64) string {
	text := threeDigits(x)
	for _, y := range []float64{x * (1 - 1e-8), x * (1 + 1e-8)} {
		if threeDigits(y) != text {
			panic(fmt.Sprintf("%v is too close to where rounding turns", x))
		}
	}
	return text
}

func threeDigits(x float64) string {
	text := strconv.FormatFloat(x, 'g', 3, 64)
	rounded, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	if size := math.Abs(rounded); size >= 1000 && size < 1e6 {
		return strconv.FormatFloat(rounded, 'f', 0, 64)
	}
	return strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-").Replace(text)
}
