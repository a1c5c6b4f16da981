package plots

import (
	"fmt"
	"math"
)

// A Claim is a sentence of a paper, turned into a comparison of numbers.
type Claim struct {
	Place     string // the figure and panel, such as "tags-9a", or the section of a text
	Sentence  string // the statement of the paper
	Criterion string // the condition on the numbers
	Numbers   string // our numbers, with 95 % intervals if simulated
	Verdict   Verdict
	Finding   bool // the verdict only concerns the paper: a refuted claim does not indicate an error here
}

// A Verdict is the outcome of comparing numbers with intervals to a claim.
type Verdict string

// The verdicts.
const (
	Holds   Verdict = "holds"   // all intervals satisfy the condition
	Open    Verdict = "open"    // an interval contains the limit: more jumps are needed
	Refuted Verdict = "refuted" // an interval is beyond the limit
)

// A Number is a computed number with its interval and the point to which it belongs.
type Number struct {
	Mean, Low, High float64 // the interval is [Low, High]
	At              string  // such as a load
}

func (n Number) String() string {
	return fmt.Sprintf("%.3g (%.3g to %.3g, load %s)", n.Mean, n.Low, n.High, n.At)
}

// Exactly returns numbers without intervals.
func Exactly(values ...float64) []Number {
	numbers := make([]Number, len(values))
	for i, v := range values {
		numbers[i] = Number{Mean: v, Low: v, High: v}
	}
	return numbers
}

// A Limit is a condition of a claim on a number: it must be in [Least, Most].
type Limit struct{ Least, Most float64 }

// AtLeast requires numbers >= v.
func AtLeast(v float64) Limit { return Limit{v, math.Inf(1)} }

// AtMost requires numbers <= v.
func AtMost(v float64) Limit { return Limit{math.Inf(-1), v} }

// Over requires numbers > v.
func Over(v float64) Limit { return AtLeast(math.Nextafter(v, math.Inf(1))) }

// Under requires numbers < v.
func Under(v float64) Limit { return AtMost(math.Nextafter(v, math.Inf(-1))) }

// Rounded requires numbers that round to the integer n, with halves rounded up.
func Rounded(n float64) Limit { return Limit{n - 0.5, Under(n + 0.5).Most} }

// PowerOfTen requires numbers that a paper would call 10^n: at least 10^n and below 10^(n+1).
func PowerOfTen(n int) Limit { return Limit{math.Pow10(n), Under(math.Pow10(n + 1)).Most} }

// Has reports whether all values are within the limit.
func (l Limit) Has(values ...float64) bool { return l.Verdict(Exactly(values...)...) == Holds }

// Verdict returns the verdict on a claim with the same condition on each number. NaN refutes it.
func (l Limit) Verdict(numbers ...Number) Verdict {
	v := Holds
	for _, n := range numbers {
		switch {
		case !(n.High >= l.Least && n.Low <= l.Most):
			return Refuted
		case !(n.Low >= l.Least && n.High <= l.Most):
			v = Open
		}
	}
	return v
}

// Below returns the verdict on numbers that should not exceed their limits, which also have
// intervals.
func Below(numbers, limits []Number) Verdict {
	v := Holds
	for i, r := range numbers {
		switch {
		case !(r.Low <= limits[i].High): // so that NaN refutes
			return Refuted
		case !(r.High <= limits[i].Low):
			v = Open
		}
	}
	return v
}

// Finding returns a claim decided by exact numbers, as a finding.
func Finding(place, sentence, criterion, numbers string, holds bool) Claim {
	c := Claim{Place: place, Sentence: sentence, Criterion: criterion, Numbers: numbers, Verdict: Refuted,
		Finding: true}
	if holds {
		c.Verdict = Holds
	}
	return c
}
