// Package cube answers: what are the sums over all subsets of n elements that obey a recursion over
// one element at a time, in float64? With weights w_i > 0 and denominators d(A) > 0 the recursions
// are, up the lattice and then down,
//
//	X(∅) = 1,  X(A) = Σ_{i∈A} w_i X(A∖{i}) / d(A),
//	W(A) = (c(A) + Σ_{j∉A} w_j W(A∪{j})) / d(A).
//
// With w_i = λ_i and d(A) = μ(A) - λ(A), X(A) is G(A) of package bf: the recursion of balanced
// fairness over sets of classes, the sum of Φ(x) Π_i λ_i^x_i over the states x whose set of active
// classes is A.
//
// W is the derivative of Σ_A c(A) X(A) with respect to the numerator of X(A) (the adjoint), so one
// sweep down gives the derivatives with respect to all denominators. With Π(A) the product of the
// w_i of A, H = X/Π and V = W Π need additions and divisions only,
//
//	H(A) = Σ_{i∈A} H(A∖{i}) / d(A),  V(A) = (c(A) Π(A) + Σ_{j∉A} V(A∪{j})) / d(A),
//
// and W X = V H. The unit of w and d is a power of two near the geometric mean of the w_i, which
// keeps H and V in range. V overwrites H: 8 bytes per subset in total, n/2 additions per subset and
// sweep.
//
// A table is a sequence of blocks of 256 subsets that differ in elements 0..7 only. A block first
// sums the blocks that differ from it in one high element, whole rows at a time, then processes its
// own subsets by increasing size.
//
// The inner loops are in kernels.go, and for processors with AVX2 in kernels_amd64.s, which the
// program in directory avo generates. Both do the same operations on each number in the same order:
// a sum of one value after the other, then its product with the reciprocal of d, which costs one
// more rounding than a division. So all processors give the same digits. The unit, a power of two,
// only shifts the exponents of H and V. Capacities and rates whose sums stay below 2^53 are exact
// in float64, and so are their differences; others are integers, and each difference is rounded
// once.
//
// [Cube.Up] and [Cube.Down] run on several cores and return promptly after cancellation; their
// digits do not depend on the number of cores. [NewErrorBounds] bounds their rounding.
package cube
