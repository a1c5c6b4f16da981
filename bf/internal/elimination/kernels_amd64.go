package elimination

import "golang.org/x/sys/cpu"

//go:generate go run -C ../../../internal/avo . matrices -out ../../bf/internal/elimination/kernels_amd64.s

func fastest() MultiplyAdd {
	if cpu.X86.HasAVX2 {
		return inAVX2
	}
	return multiplyAdd
}

// inAVX2 is multiplyAdd, many columns at a time.
func inAVX2(c, a, b []float64, rows, inner, columns int) {
	if rows == 0 || columns == 0 {
		return
	}
	c, a, b = c[:rows*columns], a[:rows*inner], b[:inner*columns]
	if inner > 0 {
		multiplyAddAVX2(&c[0], &a[0], &b[0], rows, inner, columns, &masks)
	}
}

//go:noescape
func multiplyAddAVX2(c, a, b *float64, rows, inner, columns int, masks *[4][4]uint64)

// masks are never changed.
var masks = [4][4]uint64{1: {1<<64 - 1}, 2: {1<<64 - 1, 1<<64 - 1}, 3: {1<<64 - 1, 1<<64 - 1, 1<<64 - 1}}
