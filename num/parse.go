package num

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

const (
	maxLength   = 10_000 // maximum number of characters that ParseRat reads
	maxExponent = 4096   // largest |decimal exponent| of either part and of their quotient
)

const wantNumber = `want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5"`

var errMalformed = errors.New("malformed number; " + wantNumber)

var errExponent = fmt.Errorf("decimal exponent out of range; want one from %d to %d", -maxExponent, maxExponent)

// ParseRat reads a rational number exactly. With
//
//	decimal = digits [ "." [ digits ] ] [ exponent ]  |  "." digits [ exponent ]
//	exponent = ( "e" | "E" ) [ "+" | "-" ] digits
//
// it accepts [ "+" | "-" ] decimal [ "/" decimal ]: "2", "-0.5", "2.5E+4", "4/5", "0.1/3". Digits
// are 0 to 9 in base ten, even after leading zeros ("010" is ten). Only the numerator may have a
// sign, and spaces are not allowed.
//
// Everything else is an error with a reason: an empty string, NaN, Inf, base prefixes (0x, 0o, 0b),
// underscores, binary exponents (p), a zero denominator, more than 10,000 characters, and a decimal
// exponent beyond ±4096 in either part or in their quotient (1e4000/1e-4000). Exponents are checked
// before any power is computed, so the cost is at most about that of a gcd of two integers of
// 14,100 digits.
func ParseRat(s string) (*big.Rat, error) {
	if s == "" {
		return nil, errors.New("empty; " + wantNumber)
	}
	if len(s) > maxLength {
		return nil, fmt.Errorf("%d characters long; want at most %d", len(s), maxLength)
	}
	if x := parseShort(s); x != nil {
		return x, nil
	}
	for i, c := range s {
		if !strings.ContainsRune("0123456789.eE+-/", c) {
			return nil, fmt.Errorf("character %q at position %d; %s", c, i+1, wantNumber)
		}
	}
	negative := s[0] == '-'
	if negative || s[0] == '+' {
		s = s[1:]
	}
	numText, denText, fraction := strings.Cut(s, "/")
	a, err := parseDecimal(numText)
	if err != nil {
		return nil, err
	}
	b := decimal{digits: big.NewInt(1)}
	if fraction {
		if b, err = parseDecimal(denText); err != nil {
			return nil, err
		}
		if b.digits.Sign() == 0 {
			return nil, errors.New("zero denominator; want a nonzero one")
		}
	}
	exponent := a.exponent - b.exponent
	if exponent > maxExponent || exponent < -maxExponent {
		return nil, errExponent
	}
	if negative {
		a.digits.Neg(a.digits)
	}
	if power := exponent - a.places + b.places; power >= 0 {
		a.digits.Mul(a.digits, powerOfTen(power))
	} else {
		b.digits.Mul(b.digits, powerOfTen(-power))
	}
	return new(big.Rat).SetFrac(a.digits, b.digits), nil
}

// parseShort reads numbers of at most 18 digits, with or without a point, as most numbers in files
// are. It returns nil for others.
func parseShort(s string) *big.Rat {
	const mostDigits = 18 // in an int64
	if len(s) > mostDigits+1 {
		return nil
	}
	var number, power int64 = 0, 0 // the power of ten to divide by; 0 before the point
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			number = 10*number + int64(c-'0')
			power *= 10
			digits++
		case c == '.' && power == 0:
			power = 1
		default:
			return nil
		}
	}
	if digits == 0 || digits > mostDigits {
		return nil
	}
	return ratOf(number, max(power, 1))
}

// Rat returns the fraction that a literal stands for, such as "1.5" or "2/3". It is ParseRat for
// constants in programs and tests: like regexp.MustCompile, it panics on an error.
func Rat(s string) *big.Rat {
	x, err := ParseRat(s)
	if err != nil {
		panic(fmt.Sprintf("num.Rat(%q): %v", s, err))
	}
	return x
}

// Decimal returns the shortest decimal fraction whose nearest float64 is x: 0.1 is one tenth, as in
// a file. For an infinite x or NaN, the error comes from [ParseRat].
func Decimal(x float64) (*big.Rat, error) { return ParseRat(strconv.FormatFloat(x, 'g', -1, 64)) }

// A decimal is digits · 10^(exponent - places), digits >= 0.
type decimal struct {
	digits           *big.Int
	places, exponent int
}

// parseDecimal reads an unsigned decimal.
func parseDecimal(s string) (decimal, error) {
	exponent := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		if exponent, err = parseExponent(s[i+1:]); err != nil {
			return decimal{}, err
		}
		s = s[:i]
	}
	whole, part, _ := strings.Cut(s, ".")
	if !allDigits(whole + part) {
		return decimal{}, errMalformed
	}
	digits, _ := new(big.Int).SetString(whole+part, 10) // cannot fail on digits
	return decimal{digits, len(part), exponent}, nil
}

// parseExponent reads a signed decimal exponent within ±maxExponent.
func parseExponent(s string) (int, error) {
	digits := s
	if s != "" && (s[0] == '+' || s[0] == '-') {
		digits = s[1:]
	}
	if !allDigits(digits) {
		return 0, errMalformed
	}
	e := 0 // at most 10 maxExponent + 9 before the check
	for i := range len(digits) {
		if e = 10*e + int(digits[i]-'0'); e > maxExponent {
			return 0, errExponent
		}
	}
	if s[0] == '-' {
		e = -e
	}
	return e, nil
}

// allDigits reports whether s is one or more of the digits 0 to 9.
func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
