package cube

import "golang.org/x/sys/cpu"

//go:generate go run -C ../avo . cube -out ../cube/kernels_amd64.s

// fastest returns the kernels for this processor.
func fastest() kernels {
	if cpu.X86.HasAVX2 {
		return inAVX2()
	}
	return inGo()
}

// inAVX2 returns the kernels of kernels_amd64.s, for four subsets at a time. They give the same
// digits as those in Go.
func inAVX2() kernels {
	return kernels{pull: pullAVX2, up: upAVX2, down: downAVX2, shift: shiftAVX2, shiftWords: shiftWordsAVX2,
		roundWords: roundWordsAVX2, fold: foldAVX2,
		tally: func(hi, lo []float64, queries []query, f *folded, b int, factor float64) {
			tallyAVX2(hi, lo, queries, f, &picks, b, factor)
		}}
}

//go:noescape
func pullAVX2(sum *block, factor float64, start *block, table []float64, others []int)

//go:noescape
func upAVX2(x, sum, product, from, less *block, plus float64, low *block) (least float64)

//go:noescape
func downAVX2(x, sum, product, from, less *block, plus float64) (least float64)

//go:noescape
func shiftAVX2(out, from, less *block, plus float64)

//go:noescape
func shiftWordsAVX2(out, from, less *words, plus int64)

//go:noescape
func roundWordsAVX2(out *block, from, less *words, plus int64, unit float64)

//go:noescape
func foldAVX2(f *folded, y *block)

//go:noescape
func tallyAVX2(hi, lo []float64, queries []query, f *folded, picks *[allSets + 1][32]uint64, b int, factor float64)

// picks has a row for each mask of a query. In each row, all bits are set at the masks of elements
// 0..4 that meet the mask of the row. There the sum over elements 5..7 comes from row allBits of
// folded, otherwise from the row of the query. The last row is for all subsets. It is never
// changed.
var picks = func() (t [allSets + 1][32]uint64) {
	for m := range t {
		for j := range t[m] {
			if j&m != 0 || m == allSets {
				t[m][j] = ^uint64(0)
			}
		}
	}
	return t
}()
