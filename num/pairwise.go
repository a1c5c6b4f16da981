package num

// PairwiseBlock is the maximum length that [PairwiseSum] adds in four rows.
const PairwiseBlock = 64

// PairwiseSum returns Σ x. It adds long sums by halves, so each term is rounded at most
// PairwiseBlock/4 + 2 + log2(len(x)) times.
func PairwiseSum(x []float64) float64 {
	if len(x) > PairwiseBlock {
		half := len(x) / 2
		return PairwiseSum(x[:half]) + PairwiseSum(x[half:])
	}
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += x[0]
		b += x[1]
		c += x[2]
		d += x[3]
	}
	for _, v := range x {
		a += v
	}
	return (a + b) + (c + d)
}
