// This file generates the kernels of internal/cube. kernels.go there defines what they compute.

package main

import (
	"math/bits"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	vectors = 64 // vectors of a block, 4 subsets each: elements 0 and 1 are lanes, 2..7 count vectors
	rows    = 8  // vectors of a row of folded, or of picks
	step    = 8  // vectors summed at a time
)

// cubeKernels generates all kernels of internal/cube.
func cubeKernels() {
	pull()
	solve(
		"upAVX2", "func(x, sum, product, from, less *[256]float64, plus float64, low *[256]float64) (least float64)",
		false,
	)
	solve("downAVX2", "func(x, sum, product, from, less *[256]float64, plus float64) (least float64)", true)
	shift()
	shiftWords()
	roundWords()
	fold()
	tally()
}

func at(base Register, vector int) Mem { return Mem{Base: base, Disp: bytes * vector} }

func pointer(name string) Register { return Load(Param(name), GP64()) }

// broadcast returns a parameter in all lanes. Load would mix instructions of SSE with those of AVX,
// which is slow.
func broadcast(name string) VecVirtual {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	v := YMM()
	VBROADCASTSD(p.Addr, v)
	return v
}

// constant returns 64 bits in all lanes.
func constant(value uint64) VecVirtual {
	bits, x, v := GP64(), XMM(), YMM()
	MOVQ(U64(value), bits)
	VMOVQ(bits, x)
	VBROADCASTSD(x, v)
	return v
}

func end() {
	VZEROUPPER()
	RET()
}

// pull processes the blocks for a few vectors at a time, which stay in registers.
func pull() {
	TEXT(
		"pullAVX2", NOSPLIT,
		"func(sum *[256]float64, factor float64, start *[256]float64, table []float64, others []int)",
	)
	Doc("pullAVX2 is pull.")
	sum, start, table := pointer("sum"), pointer("start"), Load(Param("table").Base(), GP64())
	factor := broadcast("factor")
	others, count := Load(Param("others").Base(), GP64()), Load(Param("others").Len(), GP64())
	i, offset, block := GP64(), GP64(), GP64()
	x := make([]VecVirtual, step)
	XORQ(offset, offset)
	Label("slice")
	for k := range x {
		x[k] = YMM()
		VMULPD(Mem{Base: start, Index: offset, Scale: 1, Disp: bytes * k}, factor, x[k])
	}
	XORQ(i, i)
	JMP(LabelRef("check"))
	Label("another")
	MOVQ(Mem{Base: others, Index: i, Scale: 8}, block)
	SHLQ(U8(11), block) // bytes of a block
	ADDQ(table, block)
	for k := range x {
		VADDPD(Mem{Base: block, Index: offset, Scale: 1, Disp: bytes * k}, x[k], x[k])
	}
	INCQ(i)
	Label("check")
	CMPQ(i, count)
	JLT(LabelRef("another"))
	for k := range x {
		VMOVUPD(x[k], Mem{Base: sum, Index: offset, Scale: 1, Disp: bytes * k})
	}
	ADDQ(U32(bytes*step), offset)
	CMPQ(offset, U32(bytes*vectors))
	JLT(LabelRef("slice"))
	end()
}

// bySize lists the vectors by increasing number of elements; those with the same number do not
// depend on each other.
func bySize() []int {
	list := make([]int, vectors)
	for v := range list {
		list[v] = v
	}
	slices.SortStableFunc(list, func(a, b int) int { return bits.OnesCount(uint(a)) - bits.OnesCount(uint(b)) })
	return list
}

// solve writes the kernel up or down.
func solve(name, signature string, down bool) {
	TEXT(name, NOSPLIT, signature)
	Doc(name + " is the kernel of that name in Go.")
	x, sum, product := pointer("x"), pointer("sum"), pointer("product")
	from, less, plus := pointer("from"), pointer("less"), broadcast("plus")
	other, flip, first, last := x, vectors-1, 3, 0 // product is with other
	if !down {
		other, flip, first, last = pointer("low"), 0, 0, 3
	}
	one, least, zero := constant(0x3ff0000000000000), YMM(), YMM()
	VXORPD(zero, zero, zero)
	VMOVUPD(at(from, flip), least)
	VADDPD(plus, least, least)
	VSUBPD(at(less, flip), least, least)
	for _, set := range bySize() {
		v := set ^ flip
		d, s := YMM(), YMM()
		VADDPD(at(from, v), plus, d)
		VSUBPD(at(less, v), d, d)
		VMINPD(d, least, least)
		VDIVPD(d, one, d)
		VMOVUPD(at(sum, v), s)
		for _, bit := range []int{2, 4, 8, 16, 32, 1} { // elements 3..7, then 2
			if set&bit != 0 {
				VADDPD(at(x, v^bit), s, s)
			}
		}
		y := lanes(s, d, zero, first, last)
		p := YMM()
		VMULPD(at(other, v), y, p)
		VMOVUPD(p, at(product, v))
		VMOVUPD(y, at(x, v))
	}
	storeLeast(least)
	end()
}

// lanes solves for elements 0 and 1: lane first is done and is added to lanes 1 and 2, which are
// then added to lane last.
func lanes(s, d, zero VecVirtual, first, last int) VecVirtual {
	y, t := YMM(), YMM()
	VMULPD(d, s, y)
	VPERMPD(U8(0b01010101*first), y, t)
	VBLENDPD(U8(0b0110), t, zero, t)
	VADDPD(t, s, s)
	VMULPD(d, s, y)
	for _, middle := range []int{1 + first/2, 2 - first/2} { // first the one that differs in element 1
		t := YMM()
		VPERMPD(U8(middle<<(2*last)), y, t)
		VBLENDPD(U8(1<<last), t, zero, t)
		VADDPD(t, s, s)
	}
	VMULPD(d, s, y)
	return y
}

// storeLeast stores the smallest lane as the result.
func storeLeast(least VecVirtual) {
	high := YMM()
	VPERMPD(U8(0b00001110), least, high)
	VMINPD(high, least, least)
	VPERMPD(U8(0b00000001), least, high)
	VMINPD(high, least, least)
	result, err := ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	VMOVSD(least.AsX(), result.Addr)
}

func shift() {
	TEXT("shiftAVX2", NOSPLIT, "func(out, from, less *[256]float64, plus float64)")
	Doc("shiftAVX2 is shift.")
	out, from, less, plus := pointer("out"), pointer("from"), pointer("less"), broadcast("plus")
	for v := range vectors {
		d := YMM()
		VADDPD(at(from, v), plus, d)
		VSUBPD(at(less, v), d, d)
		VMOVUPD(d, at(out, v))
	}
	end()
}

func shiftWords() {
	TEXT("shiftWordsAVX2", NOSPLIT, "func(out, from, less *[256]int64, plus int64)")
	Doc("shiftWordsAVX2 is shiftWords.")
	out, from, less, plus := pointer("out"), pointer("from"), pointer("less"), broadcast("plus")
	for v := range vectors {
		x := YMM()
		VPADDQ(at(from, v), plus, x)
		VPSUBQ(at(less, v), x, x)
		VMOVDQU(x, at(out, v))
	}
	end()
}

// roundWords makes two doubles of the words of x, 2^52 + (x mod 2^32) and 2^84 + 2^63 + (x - x mod
// 2^32). The difference of the second and 2^84 + 2^63 + 2^52 is exact, and its sum with the first
// is x, rounded once.
func roundWords() {
	TEXT("roundWordsAVX2", NOSPLIT, "func(out *[256]float64, from, less *[256]int64, plus int64, unit float64)")
	Doc("roundWordsAVX2 is roundWords.")
	out, from, less := pointer("out"), pointer("from"), pointer("less")
	plus, unit := broadcast("plus"), broadcast("unit")
	lowBits, highBits := constant(0x4330000000000000), constant(0x4530000080000000) // 2^52, 2^84 + 2^63
	offset := constant(0x4530000080100000)                                          // 2^84 + 2^63 + 2^52
	for v := range vectors {
		x, low, high := YMM(), YMM(), YMM()
		VPADDQ(at(from, v), plus, x)
		VPSUBQ(at(less, v), x, x)
		VPBLENDD(U8(0b01010101), x, lowBits, low)
		VPSRLQ(U8(32), x, high)
		VPXOR(highBits, high, high)
		VSUBPD(offset, high, high)
		VADDPD(low, high, high)
		VMULPD(unit, high, high)
		VMOVUPD(high, at(out, v))
	}
	end()
}

// add returns a + b.
func add(a, b Op) VecVirtual {
	s := YMM()
	VADDPD(a, b, s)
	return s
}

// fold processes the vectors of a row.
func fold() {
	TEXT("foldAVX2", NOSPLIT, "func(f *[9][32]float64, y *[256]float64)")
	Doc("foldAVX2 is fold.")
	f, from := pointer("f"), pointer("y")
	for j := range rows {
		y := func(k int) VecVirtual {
			v := YMM()
			VMOVUPD(at(from, rows*k+j), v)
			return v
		}
		set := func(r int, v VecVirtual) VecVirtual {
			VMOVUPD(v, at(f, rows*r+j))
			return v
		}
		y1, y3 := y(1), y(3)
		y15, y67 := add(at(from, rows*5+j), y1), add(at(from, rows*7+j), y(6))
		y23 := add(at(from, rows*2+j), y3)
		y4567 := add(y67, add(at(from, rows*5+j), y(4)))
		y123 := add(y23, y1)
		set(1, add(add(at(from, rows*7+j), y3), y15))
		y2367 := set(2, add(y67, y23))
		set(3, add(y2367, y15))
		set(4, y4567)
		set(5, add(y4567, add(y3, y1)))
		set(6, add(y4567, y23))
		set(7, add(y4567, y123))
		set(8, add(y4567, add(at(from, j), y123)))
	}
	end()
}

// halves sums eight vectors by repeated halving.
func halves(x []VecVirtual) VecVirtual {
	if len(x) == 1 {
		return x[0]
	}
	return add(halves(x[len(x)/2:]), halves(x[:len(x)/2]))
}

// tally answers four queries at a time.
func tally() {
	TEXT("tallyAVX2", NOSPLIT, "func(hi, lo []float64, queries []struct{meet, pick, high int}, f *[9][32]float64, "+
		"picks *[33][32]uint64, b int, factor float64)")
	Doc("tallyAVX2 is tally.")
	const size = 24 // bytes of a query
	hi, lo := Load(Param("hi").Base(), GP64()), Load(Param("lo").Base(), GP64())
	queries, count := Load(Param("queries").Base(), GP64()), Load(Param("queries").Len(), GP64())
	f, picks, b := pointer("f"), pointer("picks"), pointer("b")
	all := YMM()
	row8 := make([]VecVirtual, rows)
	for i := range row8 {
		row8[i] = YMM()
		VMOVUPD(at(f, rows*8+i), row8[i])
	}
	VMOVAPD(halves(row8), all)
	Label("four")
	sums := make([]VecVirtual, 4)
	for k := range sums {
		sums[k] = YMM()
		answer(sums[k], all, queries, size*k, f, picks, b, string(rune('a'+k)))
	}
	VHADDPD(sums[1], sums[0], sums[0])
	VHADDPD(sums[3], sums[2], sums[2])
	x, y := YMM(), YMM()
	VPERM2F128(U8(0x20), sums[2], sums[0], x)
	VPERM2F128(U8(0x31), sums[2], sums[0], y)
	VADDPD(y, x, x)
	VMULPD(broadcast("factor"), x, x)
	compensated(x, hi, lo)
	ADDQ(U8(bytes), hi)
	ADDQ(U8(bytes), lo)
	ADDQ(U8(4*size), queries)
	SUBQ(U8(4), count)
	JG(LabelRef("four"))
	end()
}

// answer sets x to the answer of a query in four lanes.
func answer(x, all VecVirtual, queries Register, offset int, f, picks, b Register, label string) {
	meet, pick, either := GP64(), GP64(), GP64()
	VMOVAPD(all, x)
	TESTQ(b, Mem{Base: queries, Disp: offset + 16})
	JNZ(LabelRef("met_" + label))
	VXORPD(x, x, x)
	MOVQ(Mem{Base: queries, Disp: offset}, meet)
	MOVQ(Mem{Base: queries, Disp: offset + 8}, pick)
	MOVQ(meet, either)
	ORQ(pick, either)
	JZ(LabelRef("met_" + label)) // no low elements
	SHLQ(U8(8), meet)            // bytes of a row
	SHLQ(U8(8), pick)
	ADDQ(f, meet)
	ADDQ(picks, pick)
	taken := func(i int) VecVirtual {
		mask, v := YMM(), YMM()
		VMOVUPD(at(pick, i), mask)
		VANDNPD(at(meet, i), mask, v)
		VANDPD(at(f, rows*8+i), mask, mask)
		VORPD(mask, v, v)
		return v
	}
	pair := func(i int) VecVirtual { return add(taken(i+1), taken(i)) }
	quarter := func(i int) VecVirtual { return add(pair(i+2), pair(i)) }
	VADDPD(quarter(4), quarter(0), x)
	Label("met_" + label)
}

// compensated adds x to the sums hi + lo.
func compensated(x VecVirtual, hi, lo Register) {
	h, s, z, t := YMM(), YMM(), YMM(), YMM()
	VMOVUPD(Mem{Base: hi}, h)
	VADDPD(x, h, s)
	VSUBPD(h, s, z)
	VSUBPD(z, s, t)
	VSUBPD(t, h, t)
	VSUBPD(z, x, z)
	VADDPD(z, t, t)
	VADDPD(Mem{Base: lo}, t, t)
	VMOVUPD(t, Mem{Base: lo})
	VMOVUPD(s, Mem{Base: hi})
}
