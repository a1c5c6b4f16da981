package render

import (
	"math/big"
	"reflect"

	"productform/num"
)

// A Style determines how the numbers of a result are written. Results of one engine share a style;
// values from another engine are converted with another style and set by [Record.Set].
type Style struct {
	Engine num.Engine // exact: a fraction next to each number; enclose: bounds; others: nothing
	Digits int        // decimal digits of bounds
	Range  bool       // only bounds are written, as float64: the numbers themselves are unknown
}

// Record returns the fields of a struct under the names in their tags (see the package comment).
func (s Style) Record(result any) Record {
	if r, ok := result.(Record); ok {
		return r
	}
	return s.fieldsOf(reflect.ValueOf(result), map[reflect.Type][]namedField{})
}

// Rows returns the fields of each struct in a list, or of one struct; none for nil.
func (s Style) Rows(list any) []Record {
	if rows, ok := list.([]Record); ok {
		return rows
	}
	x := reflect.ValueOf(list)
	for x.IsValid() && x.Kind() == reflect.Pointer {
		x = x.Elem()
	}
	switch {
	case !x.IsValid():
		return nil
	case x.Kind() != reflect.Slice || x.Type() == reflect.TypeFor[Record]():
		return []Record{s.Record(x.Interface())}
	}
	return s.rowsOf(x, map[reflect.Type][]namedField{})
}

func (s Style) rowsOf(list reflect.Value, named map[reflect.Type][]namedField) []Record {
	rows := make([]Record, list.Len())
	for i := range rows {
		if r, ok := list.Index(i).Interface().(Record); ok {
			rows[i] = r
		} else {
			rows[i] = s.fieldsOf(list.Index(i), named)
		}
	}
	return rows
}

// Given returns a number from the input: its fraction is written next to it only with the engine
// exact.
func (s Style) Given(v *big.Rat) Number {
	if s.Engine == num.Exact {
		return Rat(v, Fraction)
	}
	return Rat(v, Unproved)
}

// Beside returns a number from the input as [RatBeside] does.
func (s Style) Beside(v, boundary *big.Rat) Number { return RatBeside(v, boundary, s.Given(nil).Proof) }

// Computed returns a number that an engine computed, nil for one that does not exist.
func (s Style) Computed(v *num.Value) Number {
	if s.Range && v != nil {
		low, high := v.Bounds()
		return Number{Proof: Bounds, Low: low, High: high}
	}
	return Value(v, map[num.Engine]Proof{num.Exact: Fraction, num.Enclose: Bounds}[s.Engine], s.Digits)
}

// number returns a value of a result as a [Number], or false if it is not a number.
func (s Style) number(v reflect.Value, f namedField) (Number, bool) {
	var n Number
	switch x := v.Interface().(type) {
	case Number:
		return x, true
	case num.Value:
		n = s.Computed(&x)
	case *num.Value:
		n = s.Computed(x)
	case *big.Rat:
		switch {
		case f.exact:
			n = Rat(x, Fraction)
		case f.beside != nil:
			n = s.Beside(x, f.beside)
		default:
			n = s.Given(x)
		}
	default:
		return n, false
	}
	n.BelowOne = n.BelowOne || f.belowOne
	return n, true
}
