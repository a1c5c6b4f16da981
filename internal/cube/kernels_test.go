package cube

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sameBits reports whether two tables agree to the last bit.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// randomNumbers fills x with positive numbers of many sizes.
func randomNumbers(rng *rand.Rand, x []float64) {
	for i := range x {
		x[i] = math.Ldexp(1+rng.Float64(), rng.IntN(40)-20)
	}
}

// Each kernel for this processor gives the same digits as the one in Go, on random blocks.
func TestKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		table := make([]float64, 32*BlockSize)
		var in struct{ x, sum, from, less, low block }
		for _, x := range [][]float64{table, in.x[:], in.sum[:], in.from[:], in.less[:], in.low[:]} {
			randomNumbers(rng, x)
		}
		for l, v := range in.less {
			in.from[l] = 2*v + 1 // d is positive
		}
		others := rng.Perm(32)[:rapid.IntRange(0, 24).Draw(t, "others")]
		plus, factor := rng.Float64(), rng.Float64()
		queries := make([]query, 4*rapid.IntRange(1, 12).Draw(t, "queries"))
		for i := range queries {
			queries[i] = queryOf(rng.IntN(1 << rapid.SampledFrom([]int{8, 12}).Draw(t, "elements")))
		}
		queries[0].pick = allSets
		sums := make([]float64, 2*len(queries))
		randomNumbers(rng, sums)
		b := rng.IntN(16)
		run := func(k kernels) (out []float64) {
			var got struct {
				sum, product, shifted block
				folded                folded
			}
			x, sums := in.x, slices.Clone(sums)
			k.pull(&got.sum, factor, &in.low, table, others)
			out = append(out, got.sum[:]...)
			out = append(out, k.up(&x, &in.sum, &got.product, &in.from, &in.less, plus, &in.low))
			out = append(append(out, x[:]...), got.product[:]...)
			out = append(out, k.down(&x, &in.sum, &got.product, &in.from, &in.less, plus))
			out = append(append(out, x[:]...), got.product[:]...)
			k.shift(&got.shifted, &in.from, &in.less, plus)
			k.fold(&got.folded, &in.low)
			out = append(out, got.shifted[:]...)
			for _, row := range got.folded {
				out = append(out, row[:]...)
			}
			k.tally(sums[:len(queries)], sums[len(queries):], queries, &got.folded, b, factor)
			return append(out, sums...)
		}
		want, got := run(inGo()), run(fastest())
		if !sameBits(got, want) {
			at := 0
			for math.Float64bits(got[at]) == math.Float64bits(want[at]) {
				at++
			}
			t.Fatalf("number %d is %v, in Go %v", at, got[at], want[at])
		}
	})
}

// The kernels for integers agree with those in Go on integers of all lengths, even in place.
func TestWordKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var from, less, want, got words
		var wantFloats, gotFloats block
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for i := range from {
			from[i], less[i] = int64(rng.Uint64())>>rng.IntN(64), int64(rng.Uint64())>>rng.IntN(64)
		}
		copy(from[:], rapid.SliceOfN(rapid.Int64(), 0, BlockSize).Draw(t, "from"))
		plus, unit := rapid.Int64().Draw(t, "plus"), math.Ldexp(1, rapid.IntRange(-80, 80).Draw(t, "unit"))
		k := fastest()
		roundWords(&wantFloats, &from, &less, plus, unit)
		k.roundWords(&gotFloats, &from, &less, plus, unit)
		if !sameBits(gotFloats[:], wantFloats[:]) {
			t.Fatalf("rounded %v, in Go %v", gotFloats, wantFloats)
		}
		shiftWords(&want, &from, &less, plus)
		k.shiftWords(&got, &from, &less, plus)
		k.shiftWords(&from, &from, &less, plus)
		if got != want || from != want {
			t.Fatalf("shifted %v, in place %v, in Go %v", got, from, want)
		}
	})
}

// tally returns the sums over the subsets that meet each mask, and shift the smallest d.
func TestTallySumsMeetingSubsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		var y block
		for l := range y {
			y[l] = float64(rng.IntN(1 << 20)) // all sums are exact
		}
		masks := rapid.SliceOfN(rapid.IntRange(0, 1<<12-1), 3, 3).Draw(t, "masks")
		b := rng.IntN(16)
		queries := make([]query, 4)
		queries[3].pick = allSets
		var want [4]float64
		for l, v := range y {
			want[3] += v / 2
			for i, m := range masks {
				queries[i] = queryOf(m)
				if m&(b<<LowBits|l) != 0 {
					want[i] += v / 2
				}
			}
		}
		for _, k := range []kernels{inGo(), fastest()} {
			var f folded
			var hi, lo [4]float64
			k.fold(&f, &y)
			k.tally(hi[:], lo[:], queries, &f, b, 0.5)
			if hi != want || lo != [4]float64{} {
				t.Fatalf("block %b, masks %b: %v + %v, want %v", b, masks, hi, lo, want)
			}
		}
	})
}

// oneByOne is the recursion with the additions in the order of the kernels: over high elements in
// increasing order, then over elements 3..7, 2, 1 and 0. The reciprocal and the product with it are
// each rounded.
func oneByOne(c *Cube, d func(a int) float64) (h, v []float64) {
	n := len(c.Weight)
	order := []int{}
	for i := LowBits; i < n; i++ {
		order = append(order, i)
	}
	order = append(order, 3, 4, 5, 6, 7, 2, 1, 0)
	h, v = make([]float64, 1<<n), make([]float64, 1<<n)
	h[0] = 1
	for a := 1; a < 1<<n; a++ {
		r := 1 / (d(a) * c.Unit)
		sum := 0.0
		for _, i := range order {
			if a>>i&1 == 1 {
				sum += h[a&^(1<<i)]
			}
		}
		h[a] = sum * r
	}
	for a := 1<<n - 1; a > 0; a-- {
		r := 1 / (d(a) * c.Unit)
		sum := 0.0
		if c.AllSets || a == c.Root {
			sum = c.low[a&(BlockSize-1)] * c.product(a>>LowBits)
		}
		for _, i := range order {
			if a>>i&1 == 0 {
				sum += v[a|1<<i]
			}
		}
		v[a] = sum * r
	}
	return h, v
}

// denominator returns d(A) for the cubes of these tests.
func denominator(capacity []int64, classes []int, rate []int64) func(a int) float64 {
	return func(a int) float64 {
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
}

// Whole sweeps have the same digits as the recursion one set at a time, with the kernels in Go and
// those for this processor, in reused memory.
func TestSweepsKeepTheOrder(t *testing.T) {
	var memory Memory
	for trial := range 40 {
		rng := rand.New(rand.NewPCG(uint64(trial), 11))
		n := LowBits + rng.IntN(5)
		capacity, classes, rate := randomCube(rng, n)
		d := denominator(capacity, classes, rate)
		for _, all := range []bool{true, false} {
			var sums [2][2]Sums
			for i, k := range []kernels{inGo(), fastest()} {
				c := New(floats(rate), &memory)
				c.kernels, c.AllSets = k, all
				if all {
					c.Denominators, c.Meet = NewDenominators(capacity, classes, rate, c.Unit), classes
				} else {
					c.Products = make([]float64, 1<<n)
					c.Denominators = &Denominators{Table: c.Products} // Products is overwritten
					for a := range c.Products {
						c.Products[a] = max(1, d(a)) * c.Unit
					}
				}
				h, v := oneByOne(c, d)
				up, _ := c.Up(t.Context(), 1)
				if !sameBits(c.x, h) {
					t.Fatalf("%d elements, all sets %v, kernels %d: H differs", n, all, i)
				}
				down, _ := c.Down(t.Context(), 1)
				if !sameBits(c.x, v) {
					t.Fatalf("%d elements, all sets %v, kernels %d: V differs", n, all, i)
				}
				for a := range c.Products {
					if c.Products[a] != v[a]*h[a] {
						t.Fatalf("%d elements, kernels %d: product %b differs", n, i, a)
					}
				}
				sums[i] = [2]Sums{up, down}
				c.Release()
			}
			for i := range 2 {
				a, b := sums[0][i], sums[1][i]
				if !sameBits(a.hi, b.hi) || !sameBits(a.lo, b.lo) ||
					i == 0 && (a.Min != b.Min || a.MinBlock != b.MinBlock) {
					t.Fatalf("%d elements, all sets %v: sums differ", n, all)
				}
			}
		}
	}
}

// Large sweeps also have the same digits with all kernels.
func TestLargeSweepsAgree(t *testing.T) {
	for _, n := range []int{17, LeafBits + 1} {
		capacity, classes, rate := randomCube(rand.New(rand.NewPCG(uint64(n), 3)), n)
		var x [2][]float64
		var sums [2]Sums
		for i, k := range []kernels{inGo(), fastest()} {
			c := New(floats(rate), nil)
			c.kernels, c.AllSets, c.Meet = k, true, classes
			c.Denominators = NewDenominators(capacity, classes, rate, c.Unit)
			c.Up(t.Context(), 2)
			sums[i], _ = c.Down(t.Context(), 2)
			x[i] = c.x
		}
		if !sameBits(x[0], x[1]) || !sameBits(sums[0].hi, sums[1].hi) || !sameBits(sums[0].lo, sums[1].lo) {
			t.Fatalf("%d elements: kernels give different digits", n)
		}
	}
}

// Integers whose sums exceed float64 use another path. Scaling by a power of two forces it, and
// gives the same digits.
func TestLongIntegersGiveTheSameDigits(t *testing.T) {
	for trial := range 20 {
		rng := rand.New(rand.NewPCG(uint64(trial), 13))
		n := LowBits + rng.IntN(4)
		capacity, classes, rate := randomCube(rng, n)
		var x [2][]float64
		var least [2]float64
		for i := range 2 {
			if i == 1 {
				for s := range capacity {
					capacity[s] <<= 40
				}
				for k := range rate {
					rate[k] <<= 40
				}
			}
			c := New(floats(rate), nil)
			c.AllSets, c.Meet, c.Denominators = true, classes, NewDenominators(capacity, classes, rate, c.Unit)
			if isLong := c.Denominators.words != nil; isLong != (i == 1) {
				t.Fatalf("long integers: %v", isLong)
			}
			up, _ := c.Up(t.Context(), 1)
			c.Down(t.Context(), 1)
			x[i], least[i] = c.x, math.Ldexp(up.Min, -40*i)
			if a := c.Denominators.Smallest(up.MinBlock); denominator(capacity, classes, rate)(a) != up.Min {
				t.Fatalf("the smallest denominator is not that of %b", a)
			}
		}
		if !sameBits(x[0], x[1]) || least[0] != least[1] {
			t.Fatalf("%d elements: long integers give other digits, or another smallest denominator", n)
		}
	}
}

// The digits are the same on all processors: the hash is that of amd64, with and without AVX2.
func TestDigitsOfAllProcessors(t *testing.T) {
	const want = 0x7f92e55b69084164
	capacity, classes, rate := randomCube(rand.New(rand.NewPCG(1, 17)), 13)
	for _, k := range []kernels{inGo(), fastest()} {
		c := New(floats(rate), nil)
		c.kernels, c.AllSets, c.Meet, c.Denominators = k, true, classes,
			NewDenominators(capacity, classes, rate, c.Unit)
		up, _ := c.Up(t.Context(), 1)
		down, _ := c.Down(t.Context(), 1)
		hash := fnv.New64a()
		for _, x := range [][]float64{up.hi, up.lo, down.hi, down.lo, c.x} {
			for _, v := range x {
				fmt.Fprintf(hash, "%x ", math.Float64bits(v))
			}
		}
		if hash.Sum64() != want {
			t.Errorf("hash of all digits %#x, want %#x", hash.Sum64(), uint64(want))
		}
	}
}

// The sum of a mostly idle server matches its definition.
func TestMostlyIdle(t *testing.T) {
	for trial := range 20 {
		rng := rand.New(rand.NewPCG(uint64(trial), 19))
		n := LowBits + 1 + rng.IntN(3)
		capacity, _, _ := randomCube(rng, n)
		capacity = capacity[:n] // capacities of the servers, which are the elements
		den := make([]int64, 1<<n)
		for k := range den {
			for s, c := range capacity {
				if k>>s&1 == 1 {
					den[k] += c - 10
				}
			}
		}
		table := make([]float64, 1<<n)
		c := New(floats(capacity), nil)
		for k := range table {
			table[k] = float64(max(1, den[k])) * c.Unit
		}
		c.Denominators, c.Products = &Denominators{Table: table}, table
		c.MostlyIdle, c.Integers, c.Capacity = []int{2, LowBits}, den, capacity
		h, v := oneByOne(c, func(a int) float64 { return float64(den[a]) })
		c.Up(t.Context(), 1)
		sums, _ := c.Down(t.Context(), 1)
		for i, s := range c.MostlyIdle {
			want := 0.0
			for k := range v {
				if k>>s&1 == 1 {
					rest := k &^ (1 << s)
					want += v[k] * float64(capacity[s]-den[k]+den[rest]) * h[rest] * c.Unit / c.Weight[s]
				}
			}
			if got := sums.MostlyIdle[i].Value(); !isClose(got, want) {
				t.Fatalf("%d servers: sum of server %d is %v, want %v", n, s, got, want)
			}
		}
	}
}

func BenchmarkKernels(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var x, sum, product, from, less, low block
	table := make([]float64, 16*BlockSize)
	for i := range x {
		sum[i], from[i], less[i], low[i] = rng.Float64(), 3+rng.Float64(), rng.Float64(), rng.Float64()
	}
	var fromWords, lessWords words
	for i := range fromWords {
		fromWords[i], lessWords[i] = rng.Int64()>>2, rng.Int64()>>3
	}
	var f folded
	hi, lo, queries := make([]float64, 48), make([]float64, 48), make([]query, 48)
	for i := range queries {
		queries[i] = queryOf(rng.IntN(1<<12) & rng.IntN(1<<12))
	}
	others := []int{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		name string
		k    kernels
	}{{"Go", inGo()}, {"fastest", fastest()}} {
		for _, kernel := range []struct {
			name string
			run  func()
		}{
			{"pull", func() { c.k.pull(&sum, 1, &low, table, others) }},
			{"up", func() { c.k.up(&x, &sum, &product, &from, &less, 1, &low) }},
			{"down", func() { c.k.down(&x, &sum, &product, &from, &less, 1) }},
			{"shift", func() { c.k.shift(&x, &from, &less, 1) }},
			{"shift-words", func() { c.k.shiftWords(&fromWords, &fromWords, &lessWords, 1) }},
			{"round-words", func() { c.k.roundWords(&x, &fromWords, &lessWords, 1, 0.25) }},
			{"fold", func() { c.k.fold(&f, &product) }},
			{"tally", func() { c.k.tally(hi, lo, queries, &f, 5, 0.5) }},
		} {
			b.Run("kernel="+kernel.name+"/in="+c.name, func(b *testing.B) {
				for b.Loop() {
					kernel.run()
				}
			})
		}
	}
}
