package sim

import (
	"math/bits"
	"math/rand/v2"
)

// A stream is a source of random bits: the generator xoshiro256++ of Blackman and Vigna, "Scrambled linear
// pseudorandom number generators", ACM Transactions on Mathematical Software 47 (2021), of period 2^256 - 1. It is a
// rand.Source, and short enough for kernels to keep its state in registers.
type stream struct{ s0, s1, s2, s3 uint64 }

// newStream returns the stream of a key. Its state comes from ChaCha8, so that the streams of different keys
// start at independent places of the one long period.
func newStream(key [32]byte) *stream {
	c := rand.NewChaCha8(key)
	return &stream{c.Uint64(), c.Uint64(), c.Uint64(), c.Uint64()}
}

// Uint64 returns the next 64 bits.
func (s *stream) Uint64() uint64 {
	r := bits.RotateLeft64(s.s0+s.s3, 23) + s.s0
	t := s.s1 << 17
	s.s2 ^= s.s0
	s.s3 ^= s.s1
	s.s1 ^= s.s2
	s.s0 ^= s.s3
	s.s2 ^= t
	s.s3 = bits.RotateLeft64(s.s3, 45)
	return r
}
