package num

import "math/big"

// A Value is one number of a result, with what its engine knows of it.
type Value struct {
	Float     float64    // always set, finite: the value rounded to nearest (exact, enclose) or computed (float)
	Exact     *big.Rat   // set by exact engines
	Low, High *big.Float // set by enclosing engines: Low <= the exact value <= High
}
