package stability

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// A uint128 is an integer in 0..2^128-1. Flows stay below 2^wideBits, so sums of two do not wrap.
type uint128 struct{ hi, lo uint64 }

const wideBits = 126

func (a uint128) isZero() bool { return a.hi|a.lo == 0 }

func (a uint128) isLess(b uint128) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a uint128) plus(b uint128) uint128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return uint128{a.hi + b.hi + carry, lo}
}

func (a uint128) minus(b uint128) uint128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return uint128{a.hi - b.hi - borrow, lo}
}

func minUint128(a, b uint128) uint128 {
	if b.isLess(a) {
		return b
	}
	return a
}

// shift returns a·2^k for k >= 64 and a below 2^(128-k).
func (a uint128) shift(k uint) uint128 { return uint128{a.lo << (k - 64), 0} }

// wideOf returns x, which is in 0..2^128-1.
func wideOf(x *big.Int) uint128 {
	var b [16]byte
	x.FillBytes(b[:])
	return uint128{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

func (a uint128) int() *big.Int {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], a.hi)
	binary.BigEndian.PutUint64(b[8:], a.lo)
	return new(big.Int).SetBytes(b[:])
}
