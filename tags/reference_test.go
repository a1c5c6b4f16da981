package tags

import (
	"encoding/csv"
	"math/big"
	"os"
	"strings"
	"testing"

	"productform/num"
)

// A refRow is a row of testdata/tags_reference.csv, as written.
type refRow struct {
	Kind                                           string
	H                                              int
	Load, Alpha, P, K, Metric, Cutoffs, Value, Row string
}

// referenceRows reads testdata/tags_reference.csv.
func referenceRows(t testing.TB) []refRow {
	t.Helper()
	file, err := os.Open("testdata/tags_reference.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []refRow
	for _, l := range lines[1:] {
		r := refRow{Kind: l[0], Load: l[2], Alpha: l[3], P: l[4], K: l[5], Metric: l[6], Cutoffs: l[7], Value: l[8],
			Row: strings.Join(l, ",")}
		if l[1] != "" {
			h, _ := refRat(t, l[1]).Float64()
			r.H = int(h)
		}
		rows = append(rows, r)
	}
	return rows
}

// refRat reads an exact decimal.
func refRat(t testing.TB, s string) *big.Rat {
	t.Helper()
	x, err := num.ParseRat(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return x
}

// cutoffs returns the exact cutoffs of the row.
func (r refRow) cutoffs(t testing.TB) []*big.Rat {
	var list []*big.Rat
	if r.Cutoffs != "" {
		for s := range strings.SplitSeq(r.Cutoffs, ";") {
			list = append(list, refRat(t, s))
		}
	}
	return list
}

// model returns the exact model of the row; its mean takes the place of k in rows that solve for k. Rows without hosts
// or load get 1 and 1/2.
func (r refRow) model(t testing.TB) ExactModel {
	m := ExactModel{Hosts: max(r.H, 1), Load: big.NewRat(1, 2), Alpha: refRat(t, r.Alpha), High: refRat(t, r.P)}
	if r.Load != "" {
		m.Load = refRat(t, r.Load)
	}
	if mean, ok := strings.CutPrefix(r.Metric, "k|mean="); ok {
		m.Mean = refRat(t, mean)
	} else {
		m.Low = refRat(t, r.K)
	}
	return m
}

// agrees reports whether e, which is much narrower than half a unit of the last digit of the decimal, lies
// within the given number of such units of it.
func agrees(t testing.TB, e num.Interval, decimal string, units float64) bool {
	mantissa, exponent, _ := strings.Cut(decimal, "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	unit := big.NewRat(1, 1)
	if exponent != "" {
		unit.Mul(unit, refRat(t, "1e"+exponent))
	}
	for range fraction {
		unit.Quo(unit, big.NewRat(10, 1))
	}
	unit.Mul(unit, new(big.Rat).SetFloat64(units))
	want := refRat(t, decimal)
	low, _ := e.Low.Rat(nil)
	high, _ := e.High.Rat(nil)
	return low.Sub(want, low).Cmp(unit) <= 0 && high.Sub(high, want).Cmp(unit) <= 0
}
