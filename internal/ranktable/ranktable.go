// Package ranktable answers: is a table a rank function, and what are its values for servers?
// rank[A] is the total rate μ(A) when A is the bit mask of the classes present, with bit i for
// class i.
package ranktable

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"

	"productform/internal/input"
)

// Check reports whether rank is a rank function of the given number of classes: 2^classes values,
// the first nil or 0, the others positive and nondecreasing in A. The error is a *[num.InputError]
// that names the first mask at fault, or ctx.Err() promptly after ctx is cancelled. It takes O(N
// 2^N) comparisons.
func Check(ctx context.Context, rank []*big.Rat, classes int) error {
	if err := CheckShape(rank, classes); err != nil {
		return err
	}
	for a := 1; a < len(rank); a++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := CheckSet(rank, a); err != nil {
			return err
		}
	}
	return nil
}

// CheckShape is the part of [Check] for the length and the empty set.
func CheckShape(rank []*big.Rat, classes int) error {
	if len(rank) != 1<<classes {
		return input.Errorf("Rank", fmt.Sprintf("%d values", len(rank)),
			"2^%d = %d values, one for each set of classes",
			classes, 1<<classes)
	}
	if rank[0] != nil && rank[0].Sign() != 0 {
		return input.Errorf("Rank[0]", rank[0].RatString(), "0 or nil, the rate with no class present")
	}
	return nil
}

// CheckSet is the part of [Check] for one non-empty set: its value must be positive, and not below
// that of A without one of its classes.
func CheckSet(rank []*big.Rat, a int) error {
	if rank[a] == nil {
		return input.Errorf(input.Index("Rank", a), "", "a number > 0, the rate with classes %v present", Members(a))
	}
	if rank[a].Sign() <= 0 {
		return input.Errorf(input.Index("Rank", a), rank[a].RatString(),
			"a number > 0, the rate with classes %v present",
			Members(a))
	}
	for rest := a; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros(uint(rest))
		if b := a &^ (1 << i); b != 0 && rank[b].Cmp(rank[a]) > 0 {
			return input.Errorf(input.Index("Rank", a), rank[a].RatString(),
				"at least Rank[%d] = %s: the rate with classes %v present cannot fall when class %d joins",
				b, rank[b].RatString(), Members(b), i)
		}
	}
	return nil
}

// OfServers returns the rank function of classes that use servers: μ(A) is the capacity of all
// servers used by some class of A, where servers[i] lists the servers of class i. Let w(B) be the
// capacity of the servers used by exactly the classes of B. The capacity used only inside a set is
// a subset sum of w, and A uses all capacity that is not used only outside A. This takes O(N 2^N)
// additions. The error is ctx.Err(), promptly after ctx is cancelled.
func OfServers(ctx context.Context, servers [][]int, capacities []*big.Rat) ([]*big.Rat, error) {
	inside := make([]*big.Rat, 1<<len(servers))
	for b := range inside {
		inside[b] = new(big.Rat)
	}
	users := make([]int, len(capacities)) // mask of the classes that use the server
	for i, list := range servers {
		for _, s := range list {
			users[s] |= 1 << i
		}
	}
	for s, b := range users {
		inside[b].Add(inside[b], capacities[s])
	}
	for i := range servers {
		for b := range inside {
			if b>>i&1 == 1 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				inside[b].Add(inside[b], inside[b^1<<i])
			}
		}
	}
	all := len(inside) - 1
	rank := make([]*big.Rat, len(inside))
	for a := range rank {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rank[a] = new(big.Rat).Sub(inside[all], inside[all^a])
	}
	return rank, nil
}

// Sums returns the sum of the values of the classes of each set, at its bit mask: 2^N additions. If
// ctx is cancelled, Sums returns ctx.Err() promptly.
func Sums(ctx context.Context, values []*big.Rat) ([]*big.Rat, error) {
	sums := make([]*big.Rat, 1<<len(values))
	sums[0] = new(big.Rat)
	for a := 1; a < len(sums); a++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sums[a] = new(big.Rat).Add(sums[a&(a-1)], values[bits.TrailingZeros(uint(a))])
	}
	return sums, nil
}

// Members lists the classes of a mask in increasing order.
func Members(a int) []int {
	list := make([]int, 0, bits.OnesCount(uint(a)))
	for ; a != 0; a &= a - 1 {
		list = append(list, bits.TrailingZeros(uint(a)))
	}
	return list
}

// Mask returns the set of some classes.
func Mask(classes []int) (a int) {
	for _, i := range classes {
		a |= 1 << i
	}
	return a
}

// Present returns the set of the classes that have jobs.
func Present(x []int) (a int) {
	for i, n := range x {
		if n > 0 {
			a |= 1 << i
		}
	}
	return a
}
