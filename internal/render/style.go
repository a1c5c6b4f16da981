package render

import (
	"math/big"
	"reflect"

	"productform/num"
)

// A Style says how the numbers of a result are written. Results of one engine share a style; what
// another engine computed is made with a style of its own and [Record.Set] in the record.
type Style struct {
	Engine num.Engine // exact: a fraction beside each number; enclose: bounds; others: nothing
	Digits int        // decimal digits of bounds
	Range  bool       // only bounds are written, as doubles: none of the numbers is known
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

// Given returns a number that was given, not computed: only with the engine exact its fraction is
// written beside it.
func (s Style) Given(v *big.Rat) Number {
	if s.Engine == num.Exact {
		return Rat(v, Fraction)
	}
	return Rat(v, Unproved)
}

// Beside returns a number that was given as [RatBeside] does.
func (s Style) Beside(v, boundary *big.Rat) Number { return RatBeside(v, boundary, s.Given(nil).Proof) }

// Computed returns a number that an engine computed, nil for one that does not exist.
func (s Style) Computed(v *num.Value) Number {
	if s.Range && v != nil {
		low, high := v.Bounds()
		return Number{Proof: Bounds, Low: low, High: high}
	}
	return Value(v, map[num.Engine]Proof{num.Exact: Fraction, num.Enclose: Bounds}[s.Engine], s.Digits)
}

// number returns a value of a result as a [Number], and false if it is none.
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
