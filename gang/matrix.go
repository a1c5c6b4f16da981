package gang

// A matrix has its rows one after another.
type matrix struct {
	rows, columns int
	a             []float64
}

func newMatrix(rows, columns int) *matrix {
	return &matrix{rows, columns, make([]float64, rows*columns)}
}

func (m *matrix) row(i int) []float64 { return m.a[i*m.columns : (i+1)*m.columns] }

// addProduct adds ab to m, four rows of b at a time.
func (m *matrix) addProduct(a, b *matrix) {
	for i := range a.rows {
		out, row := m.row(i), a.row(i)
		k := 0
		for ; k+4 <= len(row); k += 4 {
			f0, f1, f2, f3 := row[k], row[k+1], row[k+2], row[k+3]
			if f0 == 0 && f1 == 0 && f2 == 0 && f3 == 0 {
				continue
			}
			b0, b1, b2, b3 := b.row(k), b.row(k+1), b.row(k+2), b.row(k+3)
			b0, b1, b2, b3 = b0[:len(out)], b1[:len(out)], b2[:len(out)], b3[:len(out)]
			for j := range out {
				out[j] += f0*b0[j] + f1*b1[j] + (f2*b2[j] + f3*b3[j])
			}
		}
		for ; k < len(row); k++ {
			addTimes(out, row[k], b.row(k))
		}
	}
}

// product returns ab.
func product(a, b *matrix) *matrix {
	m := newMatrix(a.rows, b.columns)
	m.addProduct(a, b)
	return m
}

// rowSums returns m 1.
func (m *matrix) rowSums() []float64 {
	sums := make([]float64, m.rows)
	for i := range sums {
		for _, x := range m.row(i) {
			sums[i] += x
		}
	}
	return sums
}

// times returns m v.
func (m *matrix) times(v []float64) []float64 {
	out := make([]float64, m.rows)
	for i := range out {
		for j, x := range m.row(i) {
			out[i] += x * v[j]
		}
	}
	return out
}

// timesLeft returns v m.
func (m *matrix) timesLeft(v []float64) []float64 {
	out := make([]float64, m.columns)
	for i, f := range v {
		if f != 0 {
			addTimes(out, f, m.row(i))
		}
	}
	return out
}

// A factored matrix is an M-matrix B = (I - F) (d - N) with F strictly lower, N strictly upper
// triangular, and both without negative entries. F and N are the two triangles of parts.
type factored struct {
	parts *matrix
	d     []float64
}

// factor factors B = d - n, where n has no negative entries and is overwritten; its diagonal is
// ignored. If excess is not nil it holds the row sums of B, which are at least 0. Then nothing is
// subtracted, so the factors have small relative errors (Grassmann, Taksar and Heyman; Alfa, Xue
// and Ye, Mathematics of Computation 71, 2002); d and excess are overwritten.
func factor(n *matrix, d, excess []float64) *factored {
	for k := range n.rows {
		top := n.row(k)
		if excess != nil {
			d[k] = excess[k]
			for _, x := range top[k+1:] {
				d[k] += x
			}
		}
		for i := k + 1; i < n.rows; i++ {
			row := n.row(i)
			if row[k] == 0 {
				continue
			}
			f := row[k] / d[k]
			row[k] = f
			if excess != nil {
				excess[i] += f * excess[k]
			} else {
				d[i] -= f * top[i]
			}
			addTimes(row[k+1:], f, top[k+1:])
		}
	}
	return &factored{n, d}
}

// solve overwrites x with the solution of B x = x.
func (f *factored) solve(x []float64) {
	for i := range x {
		sum := x[i]
		for k, v := range f.parts.row(i)[:i] {
			sum += v * x[k]
		}
		x[i] = sum
	}
	for k := len(x) - 1; k >= 0; k-- {
		sum := x[k]
		for j, v := range f.parts.row(k)[k+1:] {
			sum += v * x[k+1+j]
		}
		x[k] = sum / f.d[k]
	}
}

// solveLeft overwrites y with the solution of y B = y.
func (f *factored) solveLeft(y []float64) {
	for k := range y {
		y[k] /= f.d[k]
		if y[k] != 0 {
			addTimes(y[k+1:], y[k], f.parts.row(k)[k+1:])
		}
	}
	for i := len(y) - 1; i > 0; i-- {
		if y[i] != 0 {
			addTimes(y[:i], y[i], f.parts.row(i)[:i])
		}
	}
}

// solveMatrix overwrites m with B⁻¹ m.
func (f *factored) solveMatrix(m *matrix) {
	for i := range m.rows {
		addRows(m, i, f.parts.row(i)[:i], 0)
	}
	for k := m.rows - 1; k >= 0; k-- {
		addRows(m, k, f.parts.row(k)[k+1:], k+1)
		scale(m.row(k), 1/f.d[k])
	}
}

// addRows adds multiples of consecutive rows, starting with first, to row i, four at a time.
func addRows(m *matrix, i int, factors []float64, first int) {
	out := m.row(i)
	k := 0
	for ; k+4 <= len(factors); k += 4 {
		f0, f1, f2, f3 := factors[k], factors[k+1], factors[k+2], factors[k+3]
		if f0 == 0 && f1 == 0 && f2 == 0 && f3 == 0 {
			continue
		}
		b0, b1, b2, b3 := m.row(first+k), m.row(first+k+1), m.row(first+k+2), m.row(first+k+3)
		b0, b1, b2, b3 = b0[:len(out)], b1[:len(out)], b2[:len(out)], b3[:len(out)]
		for j := range out {
			out[j] += f0*b0[j] + f1*b1[j] + (f2*b2[j] + f3*b3[j])
		}
	}
	for ; k < len(factors); k++ {
		addTimes(out, factors[k], m.row(first+k))
	}
}
