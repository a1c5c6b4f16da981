package file

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/internal/input"
	"productform/num"
)

// errorf returns an error about the node, with its line.
func (n *Node) errorf(path string, value any, format string, args ...any) error {
	e := input.Errorf(path, value, format, args...)
	e.Line = int(n.Line)
	return e
}

// Fields returns the values of an object by name, if all its keys are known and none repeats.
func (n *Node) Fields(path, want string, known ...string) (map[string]*Node, error) {
	if n.Kind != ObjectKind {
		return nil, n.errorf(path, n, "%s", want)
	}
	f := make(map[string]*Node, len(known))
	for i, key := range n.Keys {
		switch {
		case !slices.Contains(known, key):
			hint := DidYouMean(key, slices.Values(known), func(s string) string { return s })
			if hint == "" {
				hint = synonym(key, known)
			}
			// YAML {rate: 3,5}
			if n.Kids[i].Kind == NullKind && i > 0 && n.Kids[i-1].Kind == NumberKind && isDigits(key) {
				hint = wantPoint
			}
			return nil, n.Kids[i].errorf(input.Field(path, key), &n.Kids[i], "one of the fields %s%s",
				strings.Join(known, ", "), hint)
		case f[key] != nil:
			return nil, repeated(path, key, &n.Kids[i])
		}
		f[key] = &n.Kids[i]
	}
	return f, nil
}

// Get returns the value of a field of an object, nil if it has none.
func (n *Node) Get(key string) *Node {
	if i := slices.Index(n.Keys, key); i >= 0 {
		return &n.Kids[i]
	}
	return nil
}

// synonyms maps other words for fields, in lower case without underscores, to those fields in the
// order of preference.
var synonyms = map[string][]string{
	"lambda": {"arrival_rate"}, "λ": {"arrival_rate"}, "arrivals": {"arrival_rate"},
	"rate": {"arrival_rate", "capacity"}, "mu": {"capacity", "rate"}, "μ": {"capacity", "rate"},
	"servicerate": {"capacity", "rate"}, "servicetime": {"mean_size"}, "meanservicetime": {"mean_size"},
	"meanservice": {"mean_size"}, "duration": {"mean_size"}, "meanduration": {"mean_size"},
	"work": {"mean_size"}, "size": {"mean_size"},
	"price": {"cost"}, "prices": {"cost"}, "max": {"most"}, "maximum": {"most"}, "goals": {"targets"},
	"number": {"count", "servers"}, "agents": {"count", "servers"}, "quantity": {"count"}, "replicas": {"count"},
}

// synonym suggests the known field for which a key is a synonym, or returns "".
func synonym(key string, known []string) string {
	for _, field := range synonyms[strings.ReplaceAll(strings.ToLower(key), "_", "")] {
		if slices.Contains(known, field) {
			return fmt.Sprintf("; did you mean %s?", field)
		}
	}
	return ""
}

// wantPoint is the hint for a number written with a comma.
const wantPoint = "; decimals are written with a point, such as 3.5"

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// hasComma reports whether a text is two numbers with a comma between them.
func hasComma(s string) bool {
	before, after, ok := strings.Cut(s, ",")
	return ok && isDigits(strings.TrimPrefix(before, "-")) && isDigits(after)
}

// Entries returns the keys of an object, none of which repeats, and the values in step with them; n
// is nil if it is missing.
func (n *Node) Entries(path, want string) (keys []string, values []Node, err error) {
	if n == nil {
		return nil, nil, input.Errorf(path, "", "%s", want)
	}
	if n.Kind != ObjectKind {
		return nil, nil, n.errorf(path, n, "%s", want)
	}
	const few = 8 // number of keys up to which a linear search is faster than a map
	var seen map[string]bool
	if len(n.Keys) > few {
		seen = make(map[string]bool, len(n.Keys))
	}
	for i, key := range n.Keys {
		if seen[key] || seen == nil && slices.Contains(n.Keys[:i], key) {
			return nil, nil, repeated(path, key, &n.Kids[i])
		}
		if seen != nil {
			seen[key] = true
		}
	}
	return n.Keys, n.Kids, nil
}

func repeated(path, key string, value *Node) error {
	return value.errorf(input.Field(path, key), value, "the field once; it is already there")
}

// Elements returns the elements of an array; n is nil if the field is missing.
func (n *Node) Elements(path, want string) ([]Node, error) {
	if n == nil {
		return nil, input.Errorf(path, "", "%s", want)
	}
	if n.Kind == TextKind && strings.Contains(want, "names") {
		return nil, n.errorf(path, n, "%s; write [%s]", want, input.Quote(n.Text))
	}
	if n.Kind != ArrayKind {
		return nil, n.errorf(path, n, "%s", want)
	}
	return n.Kids, nil
}

// Name returns a string; n is nil if the field is missing.
func (n *Node) Name(path string) (string, error) {
	if n == nil {
		return "", input.Errorf(path, "", input.Name)
	}
	if n.Kind != TextKind {
		return "", n.errorf(path, n, input.QuotedName)
	}
	return strings.Clone(n.Text), nil // so that the model does not retain the whole text
}

// hasLeadingZero reports whether a number, after an optional sign, starts with a zero before
// another digit.
func hasLeadingZero(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9'
}

// Rat returns a number exactly as written; n is nil if the field is missing.
func (n *Node) Rat(path, want string) (*big.Rat, error) {
	if n == nil {
		return nil, input.Errorf(path, "", "%s", want)
	}
	if n.Kind != NumberKind && n.Kind != TextKind {
		return nil, n.errorf(path, n, "%s", want)
	}
	if hasLeadingZero(n.Text) {
		return nil, n.errorf(path, n.written(), "%s, without leading zeros (some read them as base eight)", want)
	}
	x, err := num.ParseRat(n.Text)
	if err != nil && hasComma(n.Text) {
		return nil, n.errorf(path, n.written(), "%s%s", want, wantPoint)
	}
	if err != nil {
		return nil, n.errorf(path, n.written(), "%s (%v)%s", want, err, withoutUnit(n.Text))
	}
	return x, nil
}

// withoutUnit returns how to write a quantity with a unit, such as 64Gi, 20s or 500m (a half, as in
// Kubernetes), "" for other texts.
func withoutUnit(text string) string {
	number, unit := SplitUnit(text)
	switch unit {
	case "":
		return ""
	case "m":
		x, _ := num.ParseRat(number)
		x.Quo(x, big.NewRat(1000, 1))
		return "; write " + strconv.Quote(x.RatString())
	default:
		return fmt.Sprintf("; write %s, in units of %s throughout the file", number, unit)
	}
}

// timeUnits are units of time after a number.
var timeUnits = []string{"s", "sec", "seconds", "ms", "us", "min", "minutes", "h", "hours", "d", "days"}

// SplitUnit splits a number with a unit of time or of Kubernetes, such as 20s or 64Gi, into both.
// The unit of other texts is "".
func SplitUnit(text string) (number, unit string) {
	number = strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzKMGTPE")
	unit = text[len(number):]
	isPrefix := len(unit) <= 2 && strings.Trim(unit, "KMGTPEikm") == ""
	if _, err := num.ParseRat(number); err != nil || !isPrefix && !slices.Contains(timeUnits, unit) {
		return text, ""
	}
	return number, unit
}

// Integer returns an integer from 1 to high; n is nil if the field is missing.
func (n *Node) Integer(path string, high int, want string) (int, error) {
	return n.IntegerFrom(path, 1, high, want)
}

// IntegerFrom returns an integer from low to high; n is nil if the field is missing.
func (n *Node) IntegerFrom(path string, low, high int, want string) (int, error) {
	x, err := n.Rat(path, want)
	if err != nil {
		return 0, err
	}
	if !x.IsInt() || x.Cmp(big.NewRat(int64(low), 1)) < 0 || x.Cmp(big.NewRat(int64(high), 1)) > 0 {
		return 0, n.errorf(path, n.written(), "%s", want)
	}
	return int(x.Num().Int64()), nil
}

// DecodeList decodes each element of an array; n is nil if the field is missing.
func DecodeList[T any](n *Node, path, want string, decode func(n *Node, path string) (T, error)) ([]T, error) {
	elements, err := n.Elements(path, want)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(elements))
	for i := range elements {
		if all[i], err = decode(&elements[i], input.Index(path, i)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Row returns the row with the given name, for example of a server. n is nil if the field is
// missing.
func (n *Node) Row(path, what string, rows map[string]int) (int, error) {
	name, err := n.Name(path)
	if err != nil {
		return 0, err
	}
	i, ok := rows[name]
	if !ok {
		names := slices.Sorted(maps.Keys(rows))
		return 0, input.Errorf(path, strconv.Quote(name), "%s", WantName("the name of a "+what, name, names))
	}
	return i, nil
}

// RowsByName returns the first row of each of n names.
func RowsByName[Name comparable](n int, name func(int) Name) map[Name]int {
	rows := make(map[Name]int, n)
	for i := n - 1; i >= 0; i-- {
		rows[name(i)] = i
	}
	return rows
}
