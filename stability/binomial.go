package stability

import (
	"math/big"
	"math/bits"
)

// binomial returns C(n,k), 0 <= k <= n.
//
// The exponent of a prime p in it is the number of carries when k and n-k are added in base p
// (Kummer, "Über die Ergänzungssätze zu den allgemeinen Reciprocitätsgesetzen", Journal für die
// reine und angewandte Mathematik 44, 1852). If k is large, the product of these powers takes O(n)
// small steps and some products of large numbers, while the library divides k times.
func binomial(n, k int) *big.Int {
	if k = min(k, n-k); k/8*k < n {
		return new(big.Int).Binomial(int64(n), int64(k))
	}
	var factors []*big.Int
	word := uint64(1) // product of factors not yet applied
	for p := range primes(n) {
		for i, j, carry := k, n-k, 0; i > 0 || j > 0; i, j = i/p, j/p {
			if carry = (i%p + j%p + carry) / p; carry == 0 {
				continue
			}
			if high, low := bits.Mul64(word, uint64(p)); high == 0 {
				word = low
			} else {
				factors, word = append(factors, new(big.Int).SetUint64(word)), uint64(p)
			}
		}
	}
	for factors = append(factors, new(big.Int).SetUint64(word)); len(factors) > 1; {
		half := (len(factors) + 1) / 2
		for i, x := range factors[half:] {
			factors[i].Mul(factors[i], x)
		}
		factors = factors[:half]
	}
	return factors[0]
}

// primes yields the primes up to n in increasing order, by the sieve of Eratosthenes.
func primes(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		composite := make([]uint64, n/64+1)
		for p := 2; p <= n; p++ {
			if composite[p/64]>>(p%64)&1 == 1 {
				continue
			}
			for q := p * p; q <= n; q += p {
				composite[q/64] |= 1 << (q % 64)
			}
			if !yield(p) {
				return
			}
		}
	}
}
