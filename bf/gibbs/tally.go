package gibbs

// Limits on the number of batches of a chain: always fewer than mostBatches, and at least fewest
// after that many sweeps.
const (
	fewest      = 8
	mostBatches = 2 * fewest
)

// A tally sums the measurements of a chain, in batches of equal numbers of sweeps. When there are
// mostBatches, it merges them in pairs.
type tally struct {
	watched     int // columns with squares
	length      int // sweeps of a batch
	done        int // sweeps in the last batch, which is not full
	batches     []batch
	freeBatches []batch
}

// A batch holds sums over its sweeps: of the columns, and of the squares of the first ones.
type batch struct{ sums, squares []float64 }

func newTally(columns, watched, length int) *tally {
	t := &tally{watched: watched, length: length}
	for range mostBatches {
		t.freeBatches = append(t.freeBatches, batch{make([]float64, columns), make([]float64, watched)})
	}
	t.open()
	return t
}

// open starts a batch.
func (t *tally) open() {
	last := len(t.freeBatches) - 1
	b := t.freeBatches[last]
	clear(b.sums)
	clear(b.squares)
	t.freeBatches, t.batches, t.done = t.freeBatches[:last], append(t.batches, b), 0
}

// reset discards all batches and starts again with batches of the given length.
func (t *tally) reset(length int) {
	t.freeBatches, t.batches, t.length = append(t.freeBatches, t.batches...), t.batches[:0], length
	t.open()
}

// add adds values to the columns starting at from, without counting a sweep.
func (t *tally) add(values []float64, from int) {
	b := &t.batches[len(t.batches)-1]
	sums := b.sums[from:][:len(values)]
	for j, v := range values {
		sums[j] += v
	}
	if from == 0 {
		for j, v := range values[:t.watched] {
			b.squares[j] += v * v
		}
	}
}

// next counts a sweep whose values have all been added.
func (t *tally) next() {
	if t.done++; t.done < t.length {
		return
	}
	if len(t.batches) < mostBatches {
		t.open()
		return
	}
	for k := 0; k < mostBatches; k += 2 {
		a, b := t.batches[k], t.batches[k+1]
		for j, v := range b.sums {
			a.sums[j] += v
		}
		for j, v := range b.squares {
			a.squares[j] += v
		}
		t.batches[k/2] = a
		t.freeBatches = append(t.freeBatches, b)
	}
	t.batches = t.batches[:fewest]
	t.length *= 2
	t.open()
}

// full returns the full batches.
func (t *tally) full() []batch {
	return t.batches[:len(t.batches)-1]
}
