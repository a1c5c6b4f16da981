package bf

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/stability"
)

// A family is a kind of model for which methods are compared. Models have about the given number of
// servers, or, for sparse, of classes.
type family struct {
	model func(size int) *cluster.Model
	most  int // largest size for which all methods are planned within a few milliseconds
}

var families = map[string]family{
	"tree":    {func(n int) *cluster.Model { return treeModel(n, 2, big.NewRat(4, 5)) }, 20},
	"star":    {starModel, 14},
	"line":    {func(n int) *cluster.Model { return lineModel(n, 3) }, 60},
	"ring":    {ringModel, 40},
	"ladder":  {func(n int) *cluster.Model { return scaleToHighLoad(gridModel(2, n/2)) }, 16},
	"graph":   {graphModel, 14},
	"sparse":  {func(n int) *cluster.Model { return scaleToHighLoad(sparseModel(n)) }, 14},
	"dense":   {denseModel, 26},
	"triples": {triplesModel, 12},
	"drawn":   {drawnModel, 40},
	"racks":   {func(n int) *cluster.Model { return scaleToHighLoad(rackModel(4, n/4)) }, 20},
}

// scaleToHighLoad scales a model to a load of 4/5.
func scaleToHighLoad(m *cluster.Model) *cluster.Model {
	r, err := stability.Cluster(context.Background(), m)
	if err != nil {
		panic(err)
	}
	return m.Scale(r.CriticalScale.Mul(r.CriticalScale, big.NewRat(4, 5)))
}

// A drawnCluster is a model with random capacities and rates, from 1 to 2 and from 0.3 to 1.
type drawnCluster struct {
	*cluster.Model
	*rand.Rand
}

func newDrawnCluster(servers int, seed uint64) drawnCluster {
	d := drawnCluster{&cluster.Model{}, rand.New(rand.NewPCG(uint64(servers), seed))}
	for s := range servers {
		d.Servers = append(d.Servers, cluster.Server{Name: fmt.Sprint("s", s),
			Capacity: big.NewRat(10+d.Int64N(10), 10)})
	}
	return d
}

// add adds a class on some servers.
func (d drawnCluster) add(servers ...int) {
	d.Classes = append(d.Classes, cluster.Class{Name: fmt.Sprint("c", len(d.Classes)),
		ArrivalRate: big.NewRat(3+d.Int64N(8), 10), Servers: cluster.On(servers...)})
}

// starModel has a class for each server, and one for each server with the first.
func starModel(n int) *cluster.Model {
	d := newDrawnCluster(n, 1)
	for s := range n {
		d.add(s)
		if s > 0 {
			d.add(0, s)
		}
	}
	return scaleToHighLoad(d.Model)
}

// ringModel has a class for each server of a ring, and one for each pair of neighbours.
func ringModel(n int) *cluster.Model {
	d := newDrawnCluster(n, 2)
	for s := range n {
		d.add(s)
		d.add(s, (s+1)%n)
	}
	return scaleToHighLoad(d.Model)
}

// graphModel has two classes per server, each on a random pair of servers.
func graphModel(n int) *cluster.Model {
	d := newDrawnCluster(n, 3)
	for range 2 * n {
		d.add(d.Perm(n)[:2]...)
	}
	return scaleToHighLoad(d.Model)
}

// denseModel has one class per server, on a random half of the servers.
func denseModel(n int) *cluster.Model {
	d := newDrawnCluster(n, 4)
	for range n {
		d.add(d.Perm(n)[:(n+1)/2]...)
	}
	return scaleToHighLoad(d.Model)
}

// drawnModel has three groups of n/3 servers. Jobs draw two servers of a group, or one each of two.
func drawnModel(n int) *cluster.Model {
	m := &cluster.Model{}
	for g := range 3 {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("group", g), Count: max(2, n/3),
			Capacity: big.NewRat(int64(4+g), 4)})
		m.Classes = append(m.Classes,
			cluster.Class{Name: fmt.Sprint("local", g), ArrivalRate: big.NewRat(1, 1),
				Servers: []cluster.Choice{{Server: g, Choose: 2}}},
			cluster.Class{Name: fmt.Sprint("pair", g), ArrivalRate: big.NewRat(1, 1),
				Servers: []cluster.Choice{{Server: g, Choose: 1}, {Server: (g + 1) % 3, Choose: 1}}})
	}
	return scaleToHighLoad(m)
}

var choiceLattices = []Lattice{ClassLattice, ServerLattice, ConnectedLattice, SymmetricLattice, EliminationLattice}

// countedWork returns the work of a plan for the means and the requested distributions. A term of a
// sweep over a table counts as 2/tableGain terms of a graph.
func countedWork(l *plan) float64 {
	work := l.method.work(l, l.s.MaxJobs)
	if usesMethod[table](l) && l.s.MaxJobs == 0 {
		work *= 2 * opsPerTerm / float64(tableGain)
	}
	switch {
	case !l.s.ByClass:
	case l.elimination() != nil:
		work += l.elimination().classEliminationOps(l.s.MaxJobs)
	default:
		work += l.rowOps(l.states, l.graphTerms())
	}
	return work
}

// On models of all families, the selected method takes at most three times the counted work of any
// other that answers, or less than about 10 ms. A method answers if it has all requested
// distributions that the selected one has.
func TestChoiceTakesLeastWork(t *testing.T) {
	names := []string{"tree", "star", "line", "ring", "ladder", "graph", "sparse", "dense", "triples", "drawn", "racks"}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "family")
		n := rapid.IntRange(6, families[name].most).Draw(t, "size")
		p, err := prepare(t.Context(), families[name].model(n))
		if err != nil {
			t.Fatal(err)
		}
		s := checkedRequest(Settings{MaxBytes: 1 << 30})
		s.MaxJobs = rapid.SampledFrom([]int{0, 5, 50}).Draw(t, "jobs")
		s.ByClass = s.MaxJobs > 0 && rapid.Bool().Draw(t, "by class")
		for k := range p.components {
			chosen, err := p.plan(t.Context(), k, rung{s: s, engine: num.Float})
			if err != nil {
				t.Fatal(err)
			}
			for _, lattice := range choiceLattices {
				s.Lattice = lattice
				other, err := p.plan(t.Context(), k, rung{s: s, engine: num.Float})
				if isInput(err) || err == nil && s.MaxJobs > 0 && usesMethod[*eliminator](other) &&
					!usesMethod[*eliminator](chosen) {
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				if got, least := countedWork(chosen), countedWork(other); got > 3*max(minCompared, least) {
					t.Errorf("%s of %d: %s (%s) takes %.3g, %s %.3g", name, n, chosen.lattice, chosen.why, got, lattice,
						least)
				}
			}
			s.Lattice = ""
		}
	})
}

// choiceQuestions are the kinds of questions for which methods are compared.
var choiceQuestions = map[string]Question{
	"means":        {},
	"percentiles":  {Levels: oracle.Rats("0.5 0.99")},
	"distribution": {MaxJobs: 50},
	"by-class":     {MaxJobs: 20, ByClass: true},
	"gradient":     {Gradient: true},
	"gradients":    {Gradients: true},
}

// answerTo answers a question without the means, unless these are all it requests. It returns the
// largest relative width of a number, which is infinite if a distribution is missing.
func answerTo(ctx context.Context, p *Prepared, s request) (width float64, err error) {
	if err := s.check(p.model, s.Settings); err != nil {
		return 0, err
	}
	var list []num.Value
	switch {
	case s.asksDelays():
		r, err := p.delaysByEngines(ctx, s)
		if err != nil {
			return 0, err
		}
		return r.RelativeErrorBound, nil
	case s.Gradient:
		g, err := p.gradient(ctx, s)
		if err != nil {
			return 0, err
		}
		list = derivativesOf(g)
	case s.Gradients:
		g, err := p.gradients(ctx, s)
		if err != nil {
			return 0, err
		}
		for _, c := range g.Classes {
			list = append(append(list, c.MeanJobs.ArrivalRates...), c.MeanJobs.Capacities...)
		}
	default:
		r, err := p.solve(ctx, s)
		if err != nil {
			return 0, err
		}
		if s.MaxJobs > 0 && r.JobsDistribution == nil {
			return math.Inf(1), nil
		}
		return r.RelativeErrorBound, nil
	}
	for _, x := range list {
		if x.Low != nil && x.Float != 0 {
			off, _ := new(big.Float).Sub(x.High, x.Low).Float64()
			width = max(width, off/2/math.Abs(x.Float))
		}
	}
	return width, nil
}

// BenchmarkChoice compares the time of Auto with that of each lattice that answers within the
// tolerance, or as closely as Auto: auto/fastest is the time of Auto over that of the fastest.
// Lattices that take four times as long as Auto are omitted.
func BenchmarkChoice(b *testing.B) {
	for _, c := range []struct {
		question string
		sizes    map[string]int
	}{
		{"means", map[string]int{
			"tree": 200, "star": 60, "line": 300, "ring": 200, "ladder": 22, "graph": 22, "sparse": 22,
			"dense": 40, "drawn": 100, "racks": 40,
		}},
		{"percentiles", map[string]int{
			"tree": 40, "star": 40, "line": 16, "ring": 14, "ladder": 14, "graph": 14, "sparse": 14,
			"dense": 14, "triples": 14, "drawn": 60, "racks": 12,
		}},
		{"distribution", map[string]int{
			"tree": 20, "star": 16, "line": 100, "ring": 40, "ladder": 16, "graph": 14, "sparse": 16,
			"dense": 30, "triples": 14, "drawn": 100, "racks": 20,
		}},
		{"by-class", map[string]int{
			"tree": 16, "star": 12, "line": 24, "ring": 16, "ladder": 12, "graph": 11, "sparse": 12,
			"dense": 20, "triples": 8, "drawn": 40, "racks": 8,
		}},
		{"gradient", map[string]int{
			"tree": 30, "star": 18, "line": 60, "ring": 40, "ladder": 16, "graph": 14, "sparse": 16,
			"dense": 30, "triples": 12, "drawn": 60, "racks": 12,
		}},
		{"gradients", map[string]int{
			"tree": 12, "star": 10, "line": 20, "ring": 14, "ladder": 12, "graph": 10, "sparse": 12,
			"dense": 20, "triples": 8, "drawn": 40,
		}},
	} {
		for _, name := range slices.Sorted(maps.Keys(c.sizes)) {
			b.Run(fmt.Sprintf("size=%d/family=%s/question=%s", c.sizes[name], name, c.question), func(b *testing.B) {
				p, err := prepare(b.Context(), families[name].model(c.sizes[name]))
				if err != nil {
					b.Fatal(err)
				}
				compareLattices(b, p, choiceQuestions[c.question])
			})
		}
	}
}

// compareLattices reports the time of Auto as ns/op and its ratio to the fastest lattice.
func compareLattices(b *testing.B, p *Prepared, q Question) {
	answer := func(lattice Lattice, limit time.Duration) (took time.Duration, width float64, err error) {
		ctx, cancel := context.WithTimeout(b.Context(), limit)
		defer cancel()
		s := checkedRequest(Settings{Lattice: lattice, MaxBytes: 4 << 30})
		s.Question = q
		start := time.Now()
		width, err = answerTo(ctx, p, s)
		return time.Since(start), width, err
	}
	auto, width, err := answer("", time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	var others []Lattice
	best := make(map[Lattice]time.Duration)
	best[""] = auto
	for _, lattice := range choiceLattices {
		took, other, err := answer(lattice, 10*time.Millisecond+4*auto)
		if err == nil && other <= max(1e-9, width) {
			others, best[lattice] = append(others, lattice), took
		}
	}
	for b.Loop() {
		for _, lattice := range append(others, "") {
			took, _, err := answer(lattice, time.Minute)
			if err != nil {
				b.Fatal(err)
			}
			best[lattice] = min(best[lattice], took)
		}
	}
	fastest := slices.MinFunc(append(others, ""), func(x, y Lattice) int { return cmp.Compare(best[x], best[y]) })
	b.ReportMetric(float64(best[""]), "ns/op")
	b.ReportMetric(float64(best[""])/float64(best[fastest]), "auto/fastest")
}
