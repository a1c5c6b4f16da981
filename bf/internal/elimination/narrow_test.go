package elimination

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"productform/num"
)

// drawNarrow draws a connected problem of width 2: a ring, a ladder, or triangles, each on an edge
// of earlier ones. Some triangles have one class of three servers instead of classes on edges, and
// some servers have single-server classes. A third of the triangulated problems have parts attached
// at one server.
func drawNarrow(r *rand.Rand, servers int) *Problem {
	p := &Problem{}
	pair := func(s, t int) { p.Classes = append(p.Classes, Class{Servers: []int{s, t}}) }
	switch r.IntN(3) {
	case 0:
		n := 3 + r.IntN(servers-2)
		for s := range n {
			pair(s, (s+1)%n)
		}
	case 1:
		n := 2 * (2 + r.IntN(servers/2-1))
		for s := range n {
			if s%2 == 1 {
				pair(s-1, s)
			}
			if s > 1 {
				pair(s-2, s)
			}
		}
	default:
		edges := [][2]int{{0, 1}}
		pair(0, 1)
		for s := 2; s < 3+r.IntN(servers-2); s++ {
			e := edges[r.IntN(len(edges))]
			edges = append(edges, [2]int{e[0], s}, [2]int{e[1], s})
			switch {
			case s > 2 && r.IntN(6) == 0:
				pair(e[0], s)
			case r.IntN(4) == 0:
				p.Classes = append(p.Classes, Class{Servers: []int{s, e[0], e[1]}})
			default:
				pair(e[0], s)
				pair(s, e[1])
			}
		}
	}
	most := 0
	for _, k := range p.Classes {
		for _, s := range k.Servers {
			most = max(most, s)
		}
	}
	unequal := r.IntN(2) == 0
	for s := range most + 1 {
		p.Capacities = append(p.Capacities, 1)
		if unequal {
			p.Capacities[s] = float64(1 + r.IntN(3))
		}
		if r.IntN(3) == 0 {
			p.Classes = append(p.Classes, Class{Servers: []int{s}})
		}
	}
	for i := range p.Classes {
		p.Classes[i].Rate = float64(1 + r.IntN(4))
	}
	return scaleToLoad(p, []float64{0.1, 0.4, 0.6, 0.8, 0.9, 0.95}[r.IntN(6)])
}

// narrowModels problems are drawn with consecutive seeds from narrowSeed. In a long run of 3000
// from seed 1000, all bounds held.
const narrowModels, narrowSeed = 8, 0

// Means, utilizations and distributions of jobs for problems of width 2 differ from the exact
// fractions by at most their bounds; distributions of minimum times have the right means.
func TestNarrowMatchesFractions(t *testing.T) {
	narrow := 0
	for k := range uint64(narrowModels) {
		r := rand.New(rand.NewPCG(18, narrowSeed+k))
		p := drawNarrow(r, 6)
		o, err := NewOrder(p)
		if err != nil {
			t.Fatal(err)
		}
		if o.Width == 2 {
			narrow++
		}
		ask := Settings{
			Tolerance: []float64{1e-3, 1e-4, 1e-5}[r.IntN(3)],
			ByClass:   []int{0, 2, 8}[r.IntN(3)],
			Rarest:    1e-3,
			MaxWork:   1e9,
		}
		if k%3 == 0 {
			ask.Gradients, ask.Of = true, []int{r.IntN(len(p.Classes))}
			p.Classes = append(p.Classes, Class{Servers: p.Classes[0].Servers[:1]}) // without arrivals
		}
		got, err := Solve(context.Background(), p, o, ask)
		var large *num.TooLargeError
		if errors.As(err, &large) {
			continue
		}
		if err != nil {
			t.Fatalf("model %d: %v", k, err)
		}
		want := literal(p)
		if err := want.check(got); err != nil {
			t.Fatalf("model %d: %v", k, err)
		}
		if err := checkJobs(p, got, ask.ByClass); err != nil {
			t.Fatalf("model %d: %v", k, err)
		}
		if err := checkDerivatives(p, got, ask); err != nil {
			t.Fatalf("model %d: %v", k, err)
		}
		for i, l := range got.Laws {
			if l == nil {
				continue
			}
			if err := checkLaw(l, got.Jobs[i].Double()/p.Classes[i].Rate); err != nil {
				t.Fatalf("model %d, class %d: %v", k, i, err)
			}
		}
	}
	if narrow < narrowModels/2 {
		t.Errorf("only %d of %d problems have width 2", narrow, narrowModels)
	}
}

// checkLaw checks the mean of a distribution against lower and upper sums of its decreasing tail
// over a grid. The lower sum omits the times beyond the grid.
func checkLaw(l Law, mean float64) error {
	const steps = 400
	low, high, before := 0.0, 0.0, 1.0
	width := l.Until() / steps
	for k := range steps {
		p := l.Tail(width * float64(k+1))
		x := p.Double()
		if !(x <= before*(1+1e-9)+1e-9) || k == 0 && p.Bound > 1e-3 {
			return fmt.Errorf("P(T > %v) = %v after %v", width*float64(k+1), x, before)
		}
		low, high, before = low+width*x, high+width*before, x
	}
	if !(low <= mean*1.002 && mean <= high*1.002+0.002*width*steps) {
		return fmt.Errorf("mean %v, want between %v and %v from the tails", mean, low, high)
	}
	return nil
}
