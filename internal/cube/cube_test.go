package cube

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// plainCube is the literal recursion of the package comment.
func plainCube(w []float64, d func(a int) float64, every bool) (x, adjoint []float64) {
	n := len(w)
	x = make([]float64, 1<<n)
	adjoint = make([]float64, 1<<n)
	x[0] = 1
	for a := 1; a < 1<<n; a++ {
		for i, v := range w {
			if a>>i&1 == 1 {
				x[a] += v * x[a&^(1<<i)]
			}
		}
		x[a] /= d(a)
	}
	for a := 1<<n - 1; a > 0; a-- {
		if every || a == 1<<n-1 {
			adjoint[a] = 1
		}
		for i, v := range w {
			if a>>i&1 == 0 {
				adjoint[a] += v * adjoint[a|1<<i]
			}
		}
		adjoint[a] /= d(a)
	}
	return x, adjoint
}

// A randomCube has n classes of up to 3 servers each among n+5, at the given load.
func randomCube(rng *rand.Rand, n int) (capacity []int64, classes []int, rate []int64) {
	capacity = make([]int64, n+5)
	classes = make([]int, n+5)
	for s := range capacity {
		capacity[s] = 1000 + rng.Int64N(1000)
	}
	rate = make([]int64, n)
	for i := range rate {
		for range 3 {
			classes[rng.IntN(n+5)] |= 1 << i
		}
		rate[i] = 200 + rng.Int64N(600)
	}
	return capacity, classes, rate
}

func floats(x []int64) []float64 {
	f := make([]float64, len(x))
	for i, v := range x {
		f[i] = float64(v)
	}
	return f
}

func TestCubeMatchesRecursion(t *testing.T) {
	for _, n := range []int{8, 9, 11, 14} {
		for _, every := range []bool{true, false} {
			rng := rand.New(rand.NewPCG(uint64(n), 7))
			capacity, classes, rate := randomCube(rng, n)
			d := func(a int) float64 {
				var sum int64
				for s, c := range classes {
					if a&c != 0 {
						sum += capacity[s]
					}
				}
				for i, r := range rate {
					if a>>i&1 == 1 {
						sum -= r
					}
				}
				return float64(sum)
			}
			wantX, wantW := plainCube(floats(rate), d, every)
			c := New(floats(rate), nil)
			c.Denominators, c.AllSets = NewDenominators(capacity, classes, rate, c.Unit), every
			if every {
				c.Meet = classes
			} else {
				c.Products = make([]float64, 1<<n)
			}
			up, _ := c.Up(t.Context(), 1)
			x := make([]float64, 1<<n)
			for a := range x {
				x[a] = c.Value(a)
			}
			checkTable(t, fmt.Sprintf("n=%d X", n), x, wantX)
			down, _ := c.Down(t.Context(), 1)
			y := make([]float64, 1<<n)
			for a := range y {
				y[a] = wantX[a] * wantW[a] / c.Unit
			}
			if every {
				checkSums(t, fmt.Sprintf("n=%d sums of X", n), up, wantX, classes, n)
				checkSums(t, fmt.Sprintf("n=%d sums of WX", n), down, y, nil, n)
			} else {
				checkTable(t, fmt.Sprintf("n=%d WX", n), c.Products, y)
			}
		}
	}
}

// The recursions and sums here take fewer than 2^n roundings, far below 1e-12 at these sizes.
func isClose(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }

func checkTable(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for a := 1; a < len(want); a++ {
		if !isClose(got[a], want[a]) {
			t.Fatalf("%s: entry %b = %v, want %v", name, a, got[a], want[a])
		}
	}
}

func checkSums(t *testing.T, name string, got Sums, terms []float64, meet []int, n int) {
	t.Helper()
	all := terms[0]
	with := make([]float64, n)
	meeting := make([]float64, len(meet))
	for a := 1; a < len(terms); a++ {
		all += terms[a]
		for i := range n {
			if a>>i&1 == 1 {
				with[i] += terms[a]
			}
		}
		for i, m := range meet {
			if a&m != 0 {
				meeting[i] += terms[a]
			}
		}
	}
	if !isClose(got.All(), all) {
		t.Errorf("%s: sum = %v, want %v", name, got.All(), all)
	}
	for i := range n {
		if !isClose(got.With(i), with[i]) {
			t.Errorf("%s: sum with element %d = %v, want %v", name, i, got.With(i), with[i])
		}
	}
	for i := range meet {
		if !isClose(got.Meet(i), meeting[i]) {
			t.Errorf("%s: sum meeting %b = %v, want %v", name, meet[i], got.Meet(i), meeting[i])
		}
	}
}

// The digits do not depend on the number of workers.
func TestCubeIsDeterministic(t *testing.T) {
	n := 20
	capacity, classes, rate := randomCube(rand.New(rand.NewPCG(1, 2)), n)
	run := func(workers int) (Sums, Sums) {
		c := New(floats(rate), nil)
		c.Denominators, c.AllSets, c.Meet = NewDenominators(capacity, classes, rate, c.Unit), true, classes
		up, _ := c.Up(t.Context(), workers)
		down, _ := c.Down(t.Context(), workers)
		return up, down
	}
	up1, down1 := run(1)
	up2, down2 := run(2)
	if !reflect.DeepEqual(up1, up2) || !reflect.DeepEqual(down1, down2) {
		t.Error("one and two workers give different sums")
	}
}

func BenchmarkCube(b *testing.B) {
	for _, n := range []int{16, 20, 24, 26} {
		capacity, classes, rate := randomCube(rand.New(rand.NewPCG(1, 2)), n)
		c := New(floats(rate), nil)
		c.Denominators, c.AllSets, c.Meet = NewDenominators(capacity, classes, rate, c.Unit), true, classes
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("classes=%d/sweep=up/workers=%d", n, workers), func(b *testing.B) {
				for b.Loop() {
					c.Up(b.Context(), workers)
				}
			})
			b.Run(fmt.Sprintf("classes=%d/sweep=both/workers=%d", n, workers), func(b *testing.B) {
				for b.Loop() {
					c.Up(b.Context(), workers)
					c.Down(b.Context(), workers)
				}
			})
		}
	}
}

// Sweeps only allocate their accumulators, with as many bytes for 2^14 subsets as for 2^17.
func TestSweepsDoNotAllocate(t *testing.T) {
	allocations := func(n int) (up, down float64) {
		capacity, classes, rate := randomCube(rand.New(rand.NewPCG(1, 2)), n)
		c := New(floats(rate), nil)
		c.Denominators, c.AllSets, c.Meet = NewDenominators(capacity, classes, rate, c.Unit), true, classes
		return testing.AllocsPerRun(3, func() {
			c.Up(t.Context(), 1)
		}), testing.AllocsPerRun(3, func() { c.Down(t.Context(), 1) })
	}
	up14, down14 := allocations(14)
	up17, down17 := allocations(17)
	if up17 > up14+10 || down17 > down14+10 {
		t.Errorf("allocations of a sweep: up %v and %v, down %v and %v", up14, up17, down14, down17)
	}
}

// A walk gives the same denominators in any order of the blocks of its part.
func TestDenominatorsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(LowBits, LowBits+5).Draw(t, "classes")
		servers := rapid.IntRange(1, 2*n).Draw(t, "servers")
		capacity, classes, rate := make([]int64, servers), make([]int, servers), make([]int64, n)
		for s := range servers {
			capacity[s] = rapid.Int64Range(1, 100).Draw(t, "capacity")
			classes[s] = rapid.IntRange(1, 1<<n-1).Draw(t, "classes of a server")
			if rapid.Bool().Draw(t, "few") {
				classes[s] = 1<<rapid.IntRange(0, n-1).Draw(t, "one") | 1<<rapid.IntRange(0, n-1).Draw(t, "another")
			}
		}
		for i := range rate {
			rate[i] = rapid.Int64Range(1, 100).Draw(t, "rate")
		}
		var w denominatorWalk
		k := fastest()
		w.begin(NewDenominators(capacity, classes, rate, 1), &k, 0)
		blocks := 1 << (n - LowBits)
		order := rapid.SliceOfN(rapid.IntRange(0, blocks-1), blocks, 2*blocks).Draw(t, "order")
		if rapid.Bool().Draw(t, "down") {
			order = nil
			for b := blocks - 1; b >= 0; b-- {
				order = append(order, b)
			}
		}
		for _, b := range order {
			from, less, plus := w.next(b)
			for l := range from {
				got := from[l] + plus - less[l]
				a := b<<LowBits | l
				var want int64
				for s, c := range classes {
					if a&c != 0 {
						want += capacity[s]
					}
				}
				for i, r := range rate {
					if a>>i&1 == 1 {
						want -= r
					}
				}
				if a != 0 && got != float64(want) {
					t.Fatalf("block %d: d(%b) = %v, want %d", b, a, got, want)
				}
			}
		}
	})
}
