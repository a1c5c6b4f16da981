// This file generates the kernel of bf/internal/elimination. matrices.go there defines what it
// computes.

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A kernel holds the registers of multiplyAdd.
type kernel struct {
	c, a, b             Register // start of the current columns
	rows, inner, left   Register // left is the number of remaining columns
	row, to, factors, i Register
	stride              Register // bytes of a row of b and c
	from, second        Register // rows of b
	mask                VecVirtual
}

// multiplyAdd processes the columns sixteen, eight and four at a time, then the rest, and each time
// all rows. The sums of a row stay in registers.
func multiplyAdd() {
	TEXT("multiplyAddAVX2", NOSPLIT, "func(c, a, b *float64, rows, inner, columns int, masks *[4][4]uint64)")
	Doc("multiplyAddAVX2 is multiplyAdd, for at least one row and one column. Row k of the masks has all bits of the " +
		"first k numbers.")
	k := &kernel{mask: YMM()}
	for _, r := range []*Register{&k.row, &k.to, &k.factors, &k.i, &k.stride, &k.from, &k.second} {
		*r = GP64()
	}
	k.c, k.a, k.b = Load(Param("c"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64())
	k.rows, k.inner, k.left = Load(Param("rows"), GP64()), Load(Param("inner"), GP64()), Load(Param("columns"), GP64())
	MOVQ(k.left, k.stride)
	SHLQ(U8(3), k.stride)
	for _, vectors := range []int{4, 2, 1} {
		k.columns(fmt.Sprintf("columns%d", 4*vectors), vectors)
	}
	masks := Load(Param("masks"), GP64())
	TESTQ(k.left, k.left)
	JZ(LabelRef("end"))
	SHLQ(U8(5), k.left)
	VMOVUPD(Mem{Base: masks, Index: k.left, Scale: 1}, k.mask)
	k.product("masked", 1, true)
	Label("end")
	VZEROUPPER()
	RET()
}

// columns processes the given number of vectors of columns at a time, as long as that many remain.
func (k *kernel) columns(label string, vectors int) {
	Label(label)
	CMPQ(k.left, U8(4*vectors))
	JLT(LabelRef(label + "done"))
	k.product(label, vectors, false)
	ADDQ(U8(bytes*vectors), k.c)
	ADDQ(U8(bytes*vectors), k.b)
	SUBQ(U8(4*vectors), k.left)
	JMP(LabelRef(label))
	Label(label + "done")
}

// product computes all rows of a few vectors of columns.
func (k *kernel) product(label string, vectors int, masked bool) {
	MOVQ(k.rows, k.row)
	MOVQ(k.c, k.to)
	MOVQ(k.a, k.factors)
	Label(label + "row")
	sums := make([]VecVirtual, vectors)
	for v := range sums {
		sums[v] = YMM()
		if masked {
			VMASKMOVPD(Mem{Base: k.to}, k.mask, sums[v])
		} else {
			VMOVUPD(Mem{Base: k.to, Disp: bytes * v}, sums[v])
		}
	}
	MOVQ(k.b, k.from)
	MOVQ(k.inner, k.i)
	JMP(LabelRef(label + "check"))
	Label(label + "four")
	LEAQ(Mem{Base: k.from, Index: k.stride, Scale: 2}, k.second)
	factors := make([]VecVirtual, 4)
	for j := range factors {
		factors[j] = YMM()
		VBROADCASTSD(Mem{Base: k.factors, Disp: 8 * j}, factors[j])
	}
	for v := range sums {
		var terms [4]VecVirtual
		for j := range terms {
			at := Mem{Base: k.from, Disp: bytes * v}
			if j >= 2 {
				at.Base = k.second
			}
			if j%2 == 1 {
				at.Index, at.Scale = k.stride, 1
			}
			terms[j] = k.times(factors[j], at, masked)
		}
		VADDPD(terms[1], terms[0], terms[0])
		VADDPD(terms[3], terms[2], terms[2])
		VADDPD(terms[2], terms[0], terms[0])
		VADDPD(terms[0], sums[v], sums[v])
	}
	ADDQ(U8(4*8), k.factors)
	LEAQ(Mem{Base: k.second, Index: k.stride, Scale: 2}, k.from)
	SUBQ(U8(4), k.i)
	Label(label + "check")
	CMPQ(k.i, U8(4))
	JGE(LabelRef(label + "four"))
	JMP(LabelRef(label + "last"))
	Label(label + "one")
	factor := YMM()
	VBROADCASTSD(Mem{Base: k.factors}, factor)
	for v := range sums {
		VADDPD(k.times(factor, Mem{Base: k.from, Disp: bytes * v}, masked), sums[v], sums[v])
	}
	ADDQ(U8(8), k.factors)
	ADDQ(k.stride, k.from)
	DECQ(k.i)
	Label(label + "last")
	TESTQ(k.i, k.i)
	JNZ(LabelRef(label + "one"))
	for v, sum := range sums {
		if masked {
			VMASKMOVPD(sum, k.mask, Mem{Base: k.to})
		} else {
			VMOVUPD(sum, Mem{Base: k.to, Disp: bytes * v})
		}
	}
	ADDQ(k.stride, k.to)
	DECQ(k.row)
	JNZ(LabelRef(label + "row"))
}

// times returns the products of a factor with four numbers.
func (k *kernel) times(factor VecVirtual, at Mem, masked bool) VecVirtual {
	x := YMM()
	if !masked {
		VMULPD(at, factor, x)
		return x
	}
	VMASKMOVPD(at, k.mask, x)
	VMULPD(x, factor, x)
	return x
}
