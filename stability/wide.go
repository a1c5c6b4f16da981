package stability

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// A wide is a whole number in 0..2^128-1. Flows stay below 2^wideBits, so that sums of two do not wrap.
type wide struct{ hi, lo uint64 }

const wideBits = 126

func (a wide) isZero() bool { return a.hi|a.lo == 0 }

func (a wide) less(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a wide) plus(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return wide{a.hi + b.hi + carry, lo}
}

func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return wide{a.hi - b.hi - borrow, lo}
}

func least(a, b wide) wide {
	if b.less(a) {
		return b
	}
	return a
}

// shift returns a·2^k for k >= 64 and a below 2^(128-k).
func (a wide) shift(k uint) wide { return wide{a.lo << (k - 64), 0} }

// wideOf returns x, which is in 0..2^128-1.
func wideOf(x *big.Int) wide {
	var b [16]byte
	x.FillBytes(b[:])
	return wide{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

func (a wide) int() *big.Int {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], a.hi)
	binary.BigEndian.PutUint64(b[8:], a.lo)
	return new(big.Int).SetBytes(b[:])
}
