// Package exact encloses partial moments of job sizes whose parameters are fractions.
//
// A [Distribution] to a number of bits is an [Enclosure], and a size there a [Point] with the moments
//
//	E[X^j; X > x],  j = -1, 0, 1, 2,
//
// in intervals: what is proved from them is proved for the decimals that were written, not for the doubles next to them.
// Moments between two sizes are differences, and what cancels is paid with bits: who asks doubles them until the answer is
// narrow enough.
package exact
