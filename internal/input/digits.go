package input

import "strconv"

// MaxInteger is the largest integer of a log: all integers up to it are exact in float64.
const MaxInteger = 1 << 53

// Digits returns the integer from 0 to [MaxInteger] written as one or more decimal digits.
func Digits(text []byte) (n int64, ok bool) {
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n = 10*n + int64(c-'0'); n > MaxInteger {
			return 0, false
		}
	}
	return n, len(text) > 0
}

// Decimal returns the number >= 0 written in decimals, without a sign: the nearest float64, which
// must be finite. It rejects words such as NaN, hexadecimal digits and digit separators. It does
// not allocate, unless the text is invalid or has more than 32 bytes.
func Decimal(text []byte) (v float64, ok bool) {
	if n, ok := Digits(text); ok {
		return float64(n), true
	}
	for i, c := range text {
		isDigit := c >= '0' && c <= '9'
		if !isDigit && c != '.' && (i == 0 || c != 'e' && c != 'E' && c != '-' && c != '+') {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, err == nil
}
