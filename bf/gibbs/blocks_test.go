package gibbs_test

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/bf/gibbs"
	"productform/cluster"
)

// linked sets the number of models of each kind with several blocks.
var linked = flag.Int("linked", 30, "number of models of each kind with several blocks")

// drawBlocks draws two or three blocks of servers, each nearly short of capacity, with weak links.
// In a block each pair of servers has a class; all these classes have the same rate. Blocks may be
// mirror images.
func drawBlocks(t *rapid.T) *cluster.Model {
	m := &cluster.Model{}
	class := func(rate *big.Rat, servers ...int) {
		name := fmt.Sprint("c", len(m.Classes))
		m.Classes = append(m.Classes, cluster.Class{Name: name, ArrivalRate: rate, Servers: cluster.On(servers...)})
	}
	rat := func(x float64) *big.Rat { return big.NewRat(int64(math.Round(x*1e12)), 1e12) }
	mirror := rapid.Bool().Draw(t, "mirror")
	blocks := rapid.IntRange(2, 3).Draw(t, "blocks")
	first := []int{0} // server of each block
	var slack []float64
	var size int
	var missing float64 // 1 - load
	for b := range blocks {
		if b == 0 || !mirror {
			size = rapid.IntRange(2, 6).Draw(t, "size")
			missing = math.Pow(10, -rapid.Float64Range(2, 6).Draw(t, "missing"))
		}
		for s := range size {
			name := fmt.Sprint("s", len(m.Servers))
			m.Servers = append(m.Servers, cluster.Server{Name: name, Capacity: big.NewRat(1, 1)})
			for o := range s {
				class(rat(2*(1-missing)/float64(size-1)), first[b]+o, first[b]+s)
			}
		}
		first = append(first, len(m.Servers))
		slack = append(slack, float64(size)*missing)
	}
	links := rapid.IntRange(1, blocks).Draw(t, "links")
	for range links {
		from := rapid.IntRange(0, blocks-2).Draw(t, "from")
		to := rapid.IntRange(from+1, blocks-1).Draw(t, "to")
		rate := math.Pow(10, -rapid.Float64Range(2, 7).Draw(t, "link"))
		stable := (slack[from] + slack[to]) / float64(2*links)
		one := rapid.IntRange(first[from], first[from+1]-1).Draw(t, "one")
		other := rapid.IntRange(first[to], first[to+1]-1).Draw(t, "other")
		class(rat(min(rate, stable)), one, other)
	}
	return m
}

// drawHanging draws a group of servers very near capacity and two groups attached to it: each of
// their servers shares a class with a server of the first group, which has no capacity to spare for
// it. In a group each pair of servers has a class; all these classes have the same rate.
func drawHanging(t *rapid.T) *cluster.Model {
	m := &cluster.Model{}
	class := func(rate float64, servers ...int) {
		name := fmt.Sprint("c", len(m.Classes))
		exact := big.NewRat(int64(math.Round(rate*1e12)), 1e12)
		m.Classes = append(m.Classes, cluster.Class{Name: name, ArrivalRate: exact, Servers: cluster.On(servers...)})
	}
	group := func(least, most, shared float64) (first, size int) {
		first, size = len(m.Servers), rapid.IntRange(2, 4).Draw(t, "size")
		missing := math.Pow(10, -rapid.Float64Range(least, most).Draw(t, "missing"))
		for s := range size {
			name := fmt.Sprint("s", len(m.Servers))
			m.Servers = append(m.Servers, cluster.Server{Name: name, Capacity: big.NewRat(1, 1)})
			for o := range s {
				class(2*(1-missing-shared)/float64(size-1), first+o, first+s)
			}
		}
		return first, size
	}
	_, size := group(4, 6, 0)
	for range 2 {
		shared := rapid.Float64Range(0.2, 0.6).Draw(t, "shared")
		first, servers := group(2.5, 4.5, shared)
		for s := range servers {
			class(shared, first+s, rapid.IntRange(0, size-1).Draw(t, "on"))
		}
	}
	return m
}

// An estimate more than four half-widths from the exact value of package bf comes with a warning,
// even for models that mislead chains: two or three groups of servers, nearly short of capacity and
// weakly linked.
func TestLinkedBlocksWarnOrAgree(t *testing.T) { checkWarnOrAgree(t, drawBlocks) }

// The same holds for two groups, nearly short of capacity, that share classes with a third one.
func TestHangingBlocksWarnOrAgree(t *testing.T) { checkWarnOrAgree(t, drawHanging) }

// checkWarnOrAgree compares estimates with exact values.
func checkWarnOrAgree(t *testing.T, model func(*rapid.T) *cluster.Model) {
	draw := rapid.Custom(model)
	warned, worst, sweeps := 0, 0.0, 0
	for k := range *linked {
		m := draw.Example(k)
		want, err := bf.Solve(t.Context(), m, bf.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := gibbs.Run(t.Context(), m, gibbs.Settings{Precision: 0.02, Seed: uint64(k)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		sweeps += got.Sweeps + got.BurnIn
		if len(got.Warnings) > 0 {
			warned++
			continue
		}
		off := math.Abs(got.MeanJobs.Mean-want.MeanJobs.Float) / got.MeanJobs.HalfWidth
		for i, c := range got.Classes {
			off = max(off, math.Abs(c.MeanJobs.Mean-want.Classes[i].MeanJobs.Float)/c.MeanJobs.HalfWidth)
		}
		if worst = max(worst, off); off > 4 {
			t.Errorf("model %d: an estimate is %.1f half-widths off, without a warning", k, off)
		}
	}
	t.Logf("%d models, %d with warnings; the others are at most %.2f half-widths off; %d sweeps per chain on average",
		*linked, warned, worst, sweeps / *linked)
}
