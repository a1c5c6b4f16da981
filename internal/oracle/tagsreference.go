// This file reads, from tags/testdata, the values that an independent program computed for [HB02]
// in 60 digits.

package oracle

import (
	"encoding/csv"
	"math/big"
	"os"
	"strings"
	"testing"

	"productform/num"
)

// A Row is a row of the file, as written.
type Row struct {
	Kind                                           string
	H                                              int
	Load, Alpha, P, K, Metric, Cutoffs, Value, Row string
}

// Rows reads the file, tags/testdata/tags_reference.csv, by its path relative to the test.
func Rows(t testing.TB, file string) []Row {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	for _, l := range lines[1:] {
		r := Row{Kind: l[0], Load: l[2], Alpha: l[3], P: l[4], K: l[5], Metric: l[6], Cutoffs: l[7], Value: l[8],
			Row: strings.Join(l, ",")}
		if l[1] != "" {
			h, _ := Rat(t, l[1]).Float64()
			r.H = int(h)
		}
		rows = append(rows, r)
	}
	return rows
}

// Rat parses an exact decimal.
func Rat(t testing.TB, s string) *big.Rat {
	t.Helper()
	x, err := num.ParseRat(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return x
}

// ExactCutoffs returns the cutoffs of the row.
func (r Row) ExactCutoffs(t testing.TB) []*big.Rat {
	var list []*big.Rat
	if r.Cutoffs != "" {
		for s := range strings.SplitSeq(r.Cutoffs, ";") {
			list = append(list, Rat(t, s))
		}
	}
	return list
}

// A Farm holds the numbers of a row, for jobs whose sizes have a bounded Pareto distribution given
// by either Low or Mean.
type Farm struct {
	Hosts                        int
	Load, Alpha, High, Low, Mean *big.Rat
	Speeds                       []*big.Rat
}

// Farm returns the farm of the row, given by its mean in rows that solve for k. Rows without hosts
// or load get 1 and 1/2.
func (r Row) Farm(t testing.TB) Farm {
	m := Farm{Hosts: max(r.H, 1), Load: big.NewRat(1, 2), Alpha: Rat(t, r.Alpha), High: Rat(t, r.P)}
	if r.Load != "" {
		m.Load = Rat(t, r.Load)
	}
	if mean, ok := strings.CutPrefix(r.Metric, "k|mean="); ok {
		m.Mean = Rat(t, mean)
	} else {
		m.Low = Rat(t, r.K)
	}
	return m
}

// Agrees reports whether e is within the given number of units of the last digit of the decimal. e
// must be much narrower than half such a unit.
func Agrees(t testing.TB, e num.Interval, decimal string, units float64) bool {
	mantissa, exponent, _ := strings.Cut(decimal, "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	unit := big.NewRat(1, 1)
	if exponent != "" {
		unit.Mul(unit, Rat(t, "1e"+exponent))
	}
	for range fraction {
		unit.Quo(unit, big.NewRat(10, 1))
	}
	unit.Mul(unit, new(big.Rat).SetFloat64(units))
	want := Rat(t, decimal)
	low, _ := e.Low.Rat(nil)
	high, _ := e.High.Rat(nil)
	return low.Sub(want, low).Cmp(unit) <= 0 && high.Sub(high, want).Cmp(unit) <= 0
}
