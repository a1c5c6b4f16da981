package plots

import (
	"fmt"
	"math"
)

// A Claim is a sentence of a paper, made a comparison of numbers.
type Claim struct {
	Place     string // the figure and panel, such as "tags-9a", or the section of a text
	Sentence  string // what the paper says
	Criterion string // what is asked of the numbers
	Numbers   string // ours, with their 95 % intervals if simulated
	Verdict   Verdict
	Finding   bool // whether it holds says something of the paper only: if refuted, nothing here is wrong
}

// A Verdict says what numbers with intervals make of a claim.
type Verdict string

// The verdicts.
const (
	Holds   Verdict = "holds"   // for all of the intervals
	Open    Verdict = "open"    // the intervals hold the limit: more jumps are needed
	Refuted Verdict = "refuted" // an interval lies beyond the limit
)

// A Number is a number of ours with the interval that holds it, and where it was found.
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

// A Limit is what a claim asks of a number: to be in [Least, Most].
type Limit struct{ Least, Most float64 }

// AtLeast asks for numbers from v on.
func AtLeast(v float64) Limit { return Limit{v, math.Inf(1)} }

// AtMost asks for numbers up to v.
func AtMost(v float64) Limit { return Limit{math.Inf(-1), v} }

// Over asks for numbers that exceed v.
func Over(v float64) Limit { return AtLeast(math.Nextafter(v, math.Inf(1))) }

// Under asks for numbers that v exceeds.
func Under(v float64) Limit { return AtMost(math.Nextafter(v, math.Inf(-1))) }

// Rounded asks for numbers that are n when rounded to whole ones, half up.
func Rounded(n float64) Limit { return Limit{n - 0.5, Under(n + 0.5).Most} }

// PowerOfTen asks for numbers that a paper would call 10^n: at least that and below 10^(n+1).
func PowerOfTen(n int) Limit { return Limit{math.Pow10(n), Under(math.Pow10(n + 1)).Most} }

// Has reports whether all values are within the limit.
func (l Limit) Has(values ...float64) bool { return l.Verdict(Exactly(values...)...) == Holds }

// Verdict returns the verdict on a claim that asks the same of each number. NaN refutes it.
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

// Below returns the verdict on numbers that should not exceed their limits, which have intervals, too.
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

// Finding returns a claim that exact numbers decide, a finding.
func Finding(place, sentence, criterion, numbers string, holds bool) Claim {
	c := Claim{Place: place, Sentence: sentence, Criterion: criterion, Numbers: numbers, Verdict: Refuted,
		Finding: true}
	if holds {
		c.Verdict = Holds
	}
	return c
}
