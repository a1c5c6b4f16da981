package windows_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/bf/windows"
	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// draw draws a stable model of up to nine servers, or of four groups of up to four, some within a
// hundredth of capacity.
func draw(t *rapid.T) *cluster.Model {
	o := oracle.Options{Servers: 9, Classes: 7, ZeroRates: true, ZeroCapacities: true, OwnSizes: true, Stable: true}
	if rapid.Bool().Draw(t, "groups") {
		o.Servers, o.Count = 4, 4
	}
	m := oracle.DrawModel(t, o)
	// classes of at most two rows, so windows omit classes
	if len(m.Classes) > 1 && rapid.Bool().Draw(t, "sparse") {
		for i := range m.Classes {
			c := &m.Classes[i]
			for len(c.Servers) > 2 && m.Servers[c.Servers[0].Server].Capacity.Sign() > 0 {
				c.Servers = c.Servers[:len(c.Servers)-1]
			}
		}
		if _, critical := oracle.Extremes(m); critical != nil {
			m = oracle.ScaleTo(m, big.NewRat(rapid.Int64Range(1, 19).Draw(t, "load"), 20))
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "near") == 0 {
		m = oracle.ScaleTo(m, big.NewRat(99, 100))
	}
	return m
}

func bounds(t interface {
	Context() context.Context
	Fatal(...any)
}, m *cluster.Model, servers int) []*windows.Bounds {
	b, err := windows.Delays(t.Context(), m, servers, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rounding is the largest error of bounds due to rounding: twice the tolerance that Delays passes
// to bf.Solve.
const rounding = 4e-6

// Windows of any size enclose the exact mean delays of all classes; larger windows have closer
// bounds, and windows of all servers give the delays themselves.
func TestBracket(t *testing.T) {
	var classes, upper, wide, strict int
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t)
		r, err := bf.Solve(t.Context(), m, bf.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		servers := 0
		for _, row := range m.Servers {
			servers += row.Size()
		}
		var before []*windows.Bounds
		for _, size := range []int{1, 2, 3, 4, 5, windows.MostServers} {
			all := bounds(t, m, size)
			for i, b := range all {
				exact := r.Classes[i].MeanDelay
				if (b == nil) != (exact == nil) {
					t.Fatalf("class %d: bounds %v, delay %v", i, b, exact)
				}
				if b == nil {
					continue
				}
				classes++
				if new(big.Rat).SetFloat64(b.Low).Cmp(exact.Exact) > 0 ||
					b.High != nil && new(big.Rat).SetFloat64(*b.High).Cmp(exact.Exact) < 0 {
					t.Fatalf("windows of %d, class %d: %v is not within %v", size, i, exact.Float, show(b))
				}
				if b.High != nil {
					upper++
					if *b.High-b.Low > 1e-3*exact.Float {
						strict++
					}
				} else {
					wide++
				}
				if before != nil && (b.Low < before[i].Low*(1-rounding) ||
					before[i].High != nil && (b.High == nil || *b.High > *before[i].High*(1+rounding))) {
					t.Fatalf("windows of %d, class %d: %v, of fewer servers %v", size, i, show(b), show(before[i]))
				}
				if size >= servers && (b.High == nil || *b.High-b.Low > rounding*exact.Float) {
					t.Fatalf("windows of all servers, class %d: %v, want %v", i, show(b), exact.Float)
				}
			}
			before = all
		}
	})
	t.Logf("%d brackets, %d with upper bounds, %d of them apart, %d without", classes, upper, strict, wide)
}

func show(b *windows.Bounds) string {
	if b.High == nil {
		return fmt.Sprint("[", b.Low, ", -]")
	}
	return fmt.Sprint("[", b.Low, ", ", *b.High, "]")
}

// On a line of three servers, windows of one server give bounds from single queues: for a class of
// one server, the upper bound includes the classes that share the server, and the lower bound
// excludes those with other servers. The lower bound for a class with two servers is its delay
// alone on both.
func TestLine(t *testing.T) {
	m, err := cluster.Read(strings.NewReader(
		`{"servers": [{"name": "1", "capacity": 3}, {"name": "2", "capacity": 5}, {"name": "3", "capacity": 4}],
"classes": [{"name": "left", "arrival_rate": 1, "servers": ["1", "2"]},
	{"name": "middle", "arrival_rate": "1/2", "servers": ["2"]},
	{"name": "right", "arrival_rate": 2, "servers": ["2", "3"]},
	{"name": "end", "arrival_rate": "3/2", "servers": ["3"]}]}`,
	))
	if err != nil {
		t.Fatal(err)
	}
	want := [][2]float64{
		{1. / (3 + 5 - 1), 1. / (3 - 1)},       // on server 1
		{1. / (5 - .5), 1. / (5 - 1 - .5 - 2)}, // on server 2
		{1. / (5 + 4 - 2), 1. / (5 - 1 - .5 - 2)},
		{1. / (4 - 1.5), 1. / (4 - 2 - 1.5)}, // on server 3
	}
	for i, b := range bounds(t, m, 1) {
		if math.Abs(b.Low-want[i][0]) > rounding || b.High == nil || math.Abs(*b.High-want[i][1]) > rounding {
			t.Errorf("class %d: %v, want %v", i, show(b), want[i])
		}
	}
	// At 1.3 times the rates, server 2 cannot serve all its classes alone, but servers 1 and 2
	// together can.
	m = m.Scale(big.NewRat(13, 10))
	if b := bounds(t, m, 1)[1]; b.High == nil || *b.High < 1/(5-4.55)*(1-rounding) {
		t.Errorf("%v", show(b))
	}
	m = m.Scale(big.NewRat(12, 10))
	if b := bounds(t, m, 1)[1]; b.High != nil {
		t.Errorf("%v", show(b))
	}
	if b := bounds(t, m, 2)[1]; b.High == nil {
		t.Errorf("%v", show(b))
	}
}

// Jobs choose two of many servers at random: a window of two servers gives two closed forms,
// however many ways there are to choose.
func TestDraws(t *testing.T) {
	const n = 1000
	m := &cluster.Model{Servers: []cluster.Server{{Name: "rack", Count: n, Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{
			Name:        "pairs",
			ArrivalRate: big.NewRat(n/4, 1),
			Servers:     []cluster.Choice{{Server: 0, Choose: 2}},
		}}}
	b := bounds(t, m, 2)[0]
	const ways = n * (n - 1) / 2
	pair, single := .25*n/ways, .25*n*2*(n-2)/ways // rates of a pair, and of both servers with others
	low := 1 / (2 - pair)
	high := 1 / (2 - pair - single) // two servers with jobs of either one alone, and jobs that have both
	if math.Abs(b.Low-low) > rounding || b.High == nil || math.Abs(*b.High-high) > rounding {
		t.Errorf("%v, want [%v, %v]", show(b), low, high)
	}
	huge := &cluster.Model{Servers: []cluster.Server{{Name: "rack", Count: 100000, Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{
			Name:        "half",
			ArrivalRate: big.NewRat(1, 1),
			Servers:     []cluster.Choice{{Server: 0, Choose: 50000}},
		}}}
	if b := bounds(t, huge, 12)[0]; math.Abs(b.Low-1./50000) > 1e-15 || b.High == nil || *b.High < b.Low {
		t.Errorf("%v", show(b))
	}
}

// Numbers so long that bf.Solve would reject their sums are rounded to the correct side of the
// bound.
func TestLongNumbers(t *testing.T) {
	short := &cluster.Model{MeanSize: big.NewRat(3, 7)}
	long := &cluster.Model{MeanSize: short.MeanSize}
	r := rand.New(rand.NewPCG(1, 2))
	near := func(x *big.Rat) *big.Rat { // differs from x by 2^-6000
		d := new(big.Int).Lsh(big.NewInt(r.Int64N(1<<40)*2+1), 6000)
		return new(big.Rat).Add(x, new(big.Rat).Quo(big.NewRat(1, 1), new(big.Rat).SetInt(d)))
	}
	for s := range 4 {
		for _, m := range []*cluster.Model{short, long} {
			c, l := big.NewRat(int64(s+2), 1), big.NewRat(int64(s+1), 3)
			if m == long {
				c, l = near(c), near(l)
			}
			m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint(s), Capacity: c})
			m.Classes = append(m.Classes, cluster.Class{
				Name:        fmt.Sprint(s),
				ArrivalRate: l,
				Servers:     cluster.On(s, (s+1)%4),
			})
		}
	}
	for size := 1; size <= 4; size++ {
		want, got := bounds(t, short, size), bounds(t, long, size)
		for i := range want {
			if math.Abs(got[i].Low-want[i].Low) > rounding || (got[i].High == nil) != (want[i].High == nil) ||
				got[i].High != nil && math.Abs(*got[i].High-*want[i].High) > rounding {
				t.Errorf("windows of %d, class %d: %v, want %v", size, i, show(got[i]), show(want[i]))
			}
		}
	}
}

func TestDelaysRejects(t *testing.T) {
	m := grid(2, 2, big.NewRat(1, 2))
	for _, size := range []int{-1, 0, windows.MostServers + 1} {
		var bad *num.InputError
		if _, err := windows.Delays(t.Context(), m, size, nil); !errors.As(err, &bad) || bad.Path != "servers" {
			t.Errorf("%d servers: %v", size, err)
		}
	}
	var u *cluster.UnstableError
	if _, err := windows.Delays(t.Context(), m.Scale(big.NewRat(100, 1)), 3, nil); !errors.As(err, &u) ||
		len(u.Classes) == 0 {
		t.Errorf("unstable: %v", err)
	}
	m.Classes[1].ArrivalRate = big.NewRat(-1, 1)
	var bad *num.InputError
	if _, err := windows.Delays(t.Context(), m, 3, nil); !errors.As(err, &bad) ||
		bad.Path != "classes[1].arrival_rate" {
		t.Errorf("%v", err)
	}
}

func TestEnds(t *testing.T) {
	m := grid(3, 4, big.NewRat(1, 2))
	err := oracle.CheckEnds(func(ctx context.Context) error {
		_, err := windows.Delays(ctx, m, 5, nil)
		return err
	}, 1<<12, 4)
	if err != nil {
		t.Error(err)
	}
}

// grid returns rows and columns of servers of capacity 1, with a class of the given rate for each
// pair of neighbours.
func grid(rows, columns int, load *big.Rat) *cluster.Model {
	m := &cluster.Model{}
	pair := func(a, b int) {
		m.Classes = append(m.Classes, cluster.Class{
			Name:        fmt.Sprint(a, "-", b),
			ArrivalRate: load,
			Servers:     cluster.On(a, b),
		})
	}
	for s := range rows * columns {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint(s), Capacity: big.NewRat(1, 1)})
		if (s+1)%columns != 0 {
			pair(s, s+1)
		}
		if s+columns < rows*columns {
			pair(s, s+columns)
		}
	}
	return m
}

// A grid of five rows, too large for any lattice, has bounds at rates of 0.15 to 0.35 per pair.
func BenchmarkGrid(b *testing.B) {
	for _, rate := range []int64{15, 25, 35} {
		for _, size := range []int{8, 12, 16} {
			m := grid(5, 10, big.NewRat(rate, 100))
			b.Run(fmt.Sprintf("rate=0.%d/servers=%d", rate, size), func(b *testing.B) {
				for b.Loop() {
					all, err := windows.Delays(b.Context(), m, size, nil)
					if err != nil {
						b.Fatal(err)
					}
					gap := 0.
					for _, x := range all {
						if x.High == nil {
							gap = math.Inf(1)
						} else {
							gap = max(gap, *x.High/x.Low-1)
						}
					}
					b.ReportMetric(gap, "widest")
				}
			})
		}
	}
}
