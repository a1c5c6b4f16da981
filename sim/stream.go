package sim

import (
	"math/bits"
	"math/rand/v2"

	"productform/sizes"
)

// A Stream is a source of random bits: the generator xoshiro256++ of Blackman and Vigna, "Scrambled
// linear pseudorandom number generators", ACM Transactions on Mathematical Software 47 (2021), of
// period 2^256 - 1. It is a rand.Source, and small enough for kernels to keep its state in
// registers.
type Stream struct{ s0, s1, s2, s3 uint64 }

// NewStream returns the stream of a key. ChaCha8 generates its state, so streams of different keys
// start at independent positions in the same long period.
func NewStream(key [32]byte) *Stream {
	c := rand.NewChaCha8(key)
	return &Stream{c.Uint64(), c.Uint64(), c.Uint64(), c.Uint64()}
}

// Uint64 returns the next 64 bits.
func (s *Stream) Uint64() uint64 {
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

// Fill fills codes with independent draws from the table. It does not branch on the draws.
func (s *Stream) Fill(table sizes.AliasTable, codes []uint32) {
	s0, s1, s2, s3 := s.s0, s.s1, s.s2, s.s3
	for i := range codes {
		r := bits.RotateLeft64(s0+s3, 23) + s0 // same step as Uint64
		t := s1 << 17
		s2 ^= s0
		s3 ^= s1
		s1 ^= s2
		s0 ^= s3
		s2 ^= t
		s3 = bits.RotateLeft64(s3, 45)

		codes[i] = table.Pick(r)
	}
	s.s0, s.s1, s.s2, s.s3 = s0, s1, s2, s3
}
