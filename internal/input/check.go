package input

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The valid ranges that models share, as worded in all messages.
const (
	Nonnegative = "a number >= 0"
	Positive    = "a number > 0"
	Name        = "a name, not empty"
	QuotedName  = "a name in quotes, not empty" // for a value in a file that is not text
)

// MaxBits is the maximum number of bits of a numerator or denominator. Written as a fraction, a
// number then has fewer than 10,000 characters.
const MaxBits = 16_384

// CheckName rejects the name of row i of a list if it is empty, not text, or already among names,
// and adds it to names. Control characters include line separators, and those that change the
// direction of the text around a name.
func CheckName(names map[string]int, list string, i int, name string) error {
	first, taken := names[name]
	path := func() string { return Index(list, i) + ".name" } // built only for rejected names
	switch {
	case name == "":
		return Errorf(path(), `""`, Name)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, isControl):
		return Errorf(path(), strconv.Quote(name), "a name in UTF-8 without control characters")
	case taken:
		return Errorf(path(), strconv.Quote(name), "a unique name; %s has this one", Index(list, first))
	}
	names[name] = i
	return nil
}

func isControl(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// CheckNumber rejects a number that is missing, too long to be written, or out of the range,
// [Nonnegative] or [Positive].
func CheckNumber(path string, x *big.Rat, want string) error {
	switch {
	case x == nil:
		return Errorf(path, "", "%s", want)
	case x.Sign() < 0, x.Sign() == 0 && want == Positive:
		return Errorf(path, x.RatString(), "%s", want)
	case x.Num().BitLen() > MaxBits || x.Denom().BitLen() > MaxBits:
		return Errorf(path, fmt.Sprintf("a fraction of %d over %d bits", x.Num().BitLen(), x.Denom().BitLen()),
			"at most %d bits in numerator and denominator", MaxBits)
	}
	return nil
}
