package lattice

// A Box is the set of points x with 0 <= x_k <= Limits[k], in the order of the mixed-radix numbers
// Σ_k x_k Stride[k].
type Box struct {
	Limits, Stride []int
	States         int // Π_k (Limits[k] + 1)

	first, step int // the fastest coordinate, and the step to the next
}

// FirstFastest returns the box of these limits in which the first coordinate runs fastest.
func FirstFastest(limits []int) Box { return newBox(limits, 0, 1) }

// LastFastest returns the box of these limits in which the last coordinate runs fastest.
func LastFastest(limits []int) Box { return newBox(limits, len(limits)-1, -1) }

func newBox(limits []int, first, step int) Box {
	b := Box{Limits: limits, Stride: make([]int, len(limits)), States: 1, first: first, step: step}
	for k := first; k >= 0 && k < len(limits); k += step {
		b.Stride[k] = b.States
		b.States *= limits[k] + 1
	}
	return b
}

// Size returns the number of points up to some limits, which may exceed an int.
func Size(limits []int) float64 {
	points := 1.0
	for _, n := range limits {
		points *= float64(n) + 1
	}
	return points
}

// Next moves x to the next point and returns the increased coordinate; faster ones are then 0.
// After the last point it moves to 0 and returns -1.
func (b *Box) Next(x []int) int {
	for k := b.first; uint(k) < uint(len(x)); k += b.step {
		if x[k] < b.Limits[k] {
			x[k]++
			return k
		}
		x[k] = 0
	}
	return -1
}

// Back moves x to the previous point and returns the decreased coordinate. From 0 it moves to the
// last point and returns -1.
func (b *Box) Back(x []int) int {
	for k := b.first; uint(k) < uint(len(x)); k += b.step {
		if x[k] > 0 {
			x[k]--
			return k
		}
		x[k] = b.Limits[k]
	}
	return -1
}

// Digit returns x_k of the point with the given number.
func (b *Box) Digit(number, k int) int { return number / b.Stride[k] % (b.Limits[k] + 1) }

// Point returns the point with the given number.
func (b *Box) Point(number int) []int {
	x := make([]int, len(b.Limits))
	for k := range x {
		x[k] = b.Digit(number, k)
	}
	return x
}

// Number returns the number of a point.
func (b *Box) Number(x []int) int {
	number := 0
	for k, n := range x {
		number += n * b.Stride[k]
	}
	return number
}
