package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
)

// A record is a JSON object whose fields keep their order.
type record []field

type field struct {
	key   string
	value any // nil, bool, string, number, []string, []float64 or []record
}

func (r record) get(key string) any {
	if i := slices.IndexFunc(r, func(f field) bool { return f.key == key }); i >= 0 {
		return r[i].value
	}
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (r record) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range r {
		if i > 0 {
			b = append(b, ',')
		}
		for _, v := range []any{f.key, f.value} {
			text, err := marshal(v)
			if err != nil {
				return nil, err
			}
			b = append(append(b, text...), ':')
		}
		b = b[:len(b)-1]
	}
	return append(b, '}'), nil
}

// marshal is [json.Marshal] that leaves <, > and & in names alone.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// writeJSON writes a record, or a list of them.
func writeJSON[T record | []record](r T) ([]byte, error) {
	text, err := marshal(r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// writeCSV writes one line a record under the columns named, each followed by the columns of its
// exact value or bounds if any record has them. What a record lacks is empty.
func writeCSV(columns []string, rows []record) ([]byte, error) {
	var header []string
	for _, c := range columns {
		header = append(header, c)
		for _, suffix := range []string{"_exact", "_low", "_high"} {
			has := func(r record) bool {
				return slices.ContainsFunc(r, func(f field) bool { return f.key == c+suffix })
			}
			if slices.ContainsFunc(rows, has) {
				header = append(header, c+suffix)
			}
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := [][]string{header}
	for _, r := range rows {
		line := make([]string, len(header))
		for i, c := range header {
			cell, err := csvCell(r.get(c))
			if err != nil {
				return nil, err
			}
			line[i] = cell
		}
		lines = append(lines, line)
	}
	err := w.WriteAll(lines)
	return b.Bytes(), err
}

func csvCell(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []string:
		return strings.Join(v, ";"), nil
	case []float64:
		words := make([]string, len(v))
		for i, x := range v {
			word, err := marshal(x)
			if err != nil {
				return "", err
			}
			words[i] = string(word)
		}
		return strings.Join(words, ";"), nil
	}
	text, err := marshal(v)
	return string(text), err
}

// ratNumber returns the JSON number nearest to v, nil if v is nil. Beyond the range of a float64 it
// has 17 digits.
func ratNumber(v *big.Rat) any {
	if v == nil {
		return nil
	}
	f, _ := v.Float64()
	if math.IsInf(f, 0) || f == 0 && v.Sign() != 0 {
		return json.Number(new(big.Float).SetPrec(64).SetRat(v).Text('g', 17))
	}
	return f
}

// ratNumberBeside returns the JSON number nearest to v on v's side of a boundary that is a float64, 0 or 1.
func ratNumberBeside(v, boundary *big.Rat) any {
	if v == nil {
		return nil
	}
	f, _ := v.Float64()
	if at, _ := boundary.Float64(); f == at {
		return math.Nextafter(f, f+float64(v.Cmp(boundary)))
	}
	return ratNumber(v)
}

func ratText(v *big.Rat) any {
	if v == nil {
		return nil
	}
	return v.RatString()
}

// six returns a number of a record to six digits, as people read it; "-" for one that does not exist.
func six(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case float64:
		return fmt.Sprintf("%.6g", v)
	}
	return fmt.Sprint(v)
}

// sixBeside returns v to six digits; if that reads like the boundary, as the distance from it: "1 + 3e-23".
func sixBeside(v, boundary *big.Rat) string {
	short := sixRat(v)
	if boundary == nil || v.Cmp(boundary) == 0 || short != sixRat(boundary) {
		return short
	}
	distance := new(big.Rat).Sub(v, boundary)
	sign := map[int]string{1: " + ", -1: " - "}[distance.Sign()]
	return short + sign + sixRat(distance.Abs(distance))
}

func sixRat(v *big.Rat) string {
	return new(big.Float).SetPrec(128).SetRat(v).Text('g', 6)
}
