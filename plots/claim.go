package plots

import (
	"fmt"
	"slices"
)

// A Claim is a sentence of a paper about a figure, made a comparison of numbers.
type Claim struct {
	Figure    string
	Sentence  string // what the paper says
	Criterion string // what is asked of the numbers
	Numbers   string // ours, with their 95 % intervals
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

// A Ratio is a mean delay relative to that of balanced fairness, with its interval.
type Ratio struct {
	Mean, Low, High float64
	At              string
}

func (r Ratio) String() string {
	return fmt.Sprintf("%.3g (%.3g to %.3g, load %s)", r.Mean, r.Low, r.High, r.At)
}

// Below returns the verdict on numbers that should not exceed their limits.
func Below(numbers, limits []Ratio) Verdict {
	v := Holds
	for i, r := range numbers {
		switch {
		case r.Low > limits[i].High:
			return Refuted
		case r.High > limits[i].Low:
			v = Open
		}
	}
	return v
}

// AtMost returns the same limit for each number.
func AtMost(limit float64, numbers []Ratio) []Ratio {
	return slices.Repeat([]Ratio{{Mean: limit, Low: limit, High: limit}}, len(numbers))
}

// Finding returns a claim that exact numbers decide, a finding.
func Finding(figure, sentence, criterion, numbers string, holds bool) Claim {
	c := Claim{Figure: figure, Sentence: sentence, Criterion: criterion, Numbers: numbers, Verdict: Refuted, Finding: true}
	if holds {
		c.Verdict = Holds
	}
	return c
}
