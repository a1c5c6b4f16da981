package main

import (
	"math/big"
	"strings"

	"productform/internal/render"
	"productform/num"
)

// A decimal is a number as written and in float64.
type decimal struct {
	text  string
	exact *big.Rat
	float float64
}

// short returns the number as written, or with six digits if it is a fraction.
func (d decimal) short() string {
	if strings.Contains(d.text, "/") {
		return render.Six(d.float)
	}
	return d.text
}

func parseDecimal(good func(float64) bool) func(string) (decimal, bool) {
	return func(text string) (decimal, bool) {
		exact, err := num.ParseRat(text)
		if err != nil {
			return decimal{}, false
		}
		v, ok := num.Float64(exact)
		return decimal{text, exact, v}, ok && good(v)
	}
}

// parseOne reads a list of one number.
func parseOne(good func(float64) bool) func(string) ([]decimal, bool) {
	parse := parseDecimal(good)
	return func(word string) ([]decimal, bool) {
		v, ok := parse(word)
		return []decimal{v}, ok
	}
}

// floats returns the numbers in float64, or nil for nil.
func floats(list []decimal) (values []float64) {
	for _, d := range list {
		values = append(values, d.float)
	}
	return values
}

// exacts returns the numbers as written; nil for nil.
func exacts(list []decimal) (values []*big.Rat) {
	for _, d := range list {
		values = append(values, d.exact)
	}
	return values
}
