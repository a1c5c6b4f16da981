package bf

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"productform/bf/internal/elimination"
	"productform/cluster"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/internal/recursion"
	"productform/num"
	"productform/stability"

	"pgregory.net/rapid"
)

// treeModel has servers in a tree. Each has a class that only it serves, and a class that it shares
// with its parent, server (s-1)/arity. The load is a fraction of the critical load, of which no
// class takes more than half of a server.
func treeModel(servers, arity int, load *big.Rat) *cluster.Model {
	m := &cluster.Model{}
	rate := func(share int64) *big.Rat { return new(big.Rat).Mul(load, big.NewRat(share, 8)) }
	for s := range servers {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(int64(4+s%3), 4)})
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("own", s), ArrivalRate: rate(3),
			Servers: cluster.On(s)})
		if s > 0 {
			m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("with", s), ArrivalRate: rate(5),
				Servers: cluster.On((s-1)/arity, s)})
		}
	}
	return m
}

// checkWithin compares the float64 numbers of a result with fractions.
func checkWithin(t oracle.Tester, name string, r *Result, want oracle.Answer) {
	t.Helper()
	check := func(what string, got float64, want *big.Rat) {
		if e := relativeError(got, want); !(e <= r.RelativeErrorBound) {
			t.Errorf("%s: %s is %v, want %s: relative error %g, bound %g", name, what, got, want.FloatString(20), e,
				r.RelativeErrorBound)
		}
	}
	check("Z", r.Normalization.Float, want.Normalization)
	for i, w := range want.MeanJobs {
		check(fmt.Sprint("jobs of class ", i), r.Classes[i].MeanJobs.Float, w)
	}
	for s, w := range want.Busy {
		check(fmt.Sprint("utilization of server ", s), r.Servers[s].Utilization.Float, w)
	}
}

// widthOf returns the width of a model whose servers can be eliminated, otherwise 0.
func widthOf(t *rapid.T, m *cluster.Model) int {
	p, err := prepare(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	width := 0
	for k := range p.components {
		q := oracle.Must(newQuery(p.equal, &p.components[k],
			rung{s: request{Settings: Settings{RelTol: 1e-9}}, engine: num.Float}))
		if q.problem.Whole {
			if e, err := q.findOrder(); err == nil {
				width = max(width, e.Width)
			}
		} else if l, err := q.expandGroups(); err == nil {
			width = max(width, l.elimination().Width)
		}
	}
	return width
}

// Elimination matches the reference recursion within its bound on all models with a small width;
// other models get an error with the width. Numbers too long for float64 get answers between those
// for rounded numbers.
func TestEliminationAgrees(t *testing.T) {
	solved := 0
	rapid.Check(t, func(t *rapid.T) {
		long := rapid.IntRange(0, 3).Draw(t, "long") == 0
		m := drawModel(t, rapid.Bool().Draw(t, "groups"), long)
		if widthOf(t, m) == 2 {
			return // seconds each
		}
		r, err := Solve(t.Context(), m, Settings{Engine: num.Float, Lattice: EliminationLattice})
		var large *num.TooLargeError
		var bad *input.Error
		switch {
		case errors.As(err, &large):
			if !strings.Contains(err.Error(), "width") {
				t.Fatalf("%v does not name the width", err)
			}
		case errors.As(err, &bad) && bad.Path == "Lattice": // jobs choose several servers of a group
		case long && (errors.Is(err, num.ErrDigits) || errors.Is(err, num.ErrFloatRange)):
		case err != nil:
			t.Fatal(err)
		default:
			solved++
			checkWithin(t, "elimination", r, oracle.Solve(m))
			if slices.ContainsFunc(r.Parts, func(p Part) bool {
				return p.Lattice != EliminationLattice || p.Width > elimination.MaxWidth
			}) {
				t.Fatalf("parts %+v", r.Parts)
			}
		}
	})
	if solved == 0 {
		t.Error("no model was solved")
	}
}

// Trees too large for any table are automatically solved by elimination, within 1e-9. They conserve
// work: Σ_s C_s P(s busy) = Σ_i λ_i.
func TestTreesByElimination(t *testing.T) {
	for _, servers := range []int{15, 63, 255} {
		m := treeModel(servers, 2, big.NewRat(4, 5))
		r, err := Solve(t.Context(), m, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if by := r.Parts[0].Lattice; by != EliminationLattice && servers > 30 || len(r.Parts) != 1 ||
			r.RelativeErrorBound > 1e-9 {
			t.Errorf("%d servers: %+v, bound %g", servers, r.Parts, r.RelativeErrorBound)
		}
		checkConservation(t, m, r)
		if servers > 30 {
			continue
		}
		want, err := Solve(t.Context(), m, Settings{Engine: num.Enclose})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Solve(t.Context(), m, Settings{Lattice: EliminationLattice})
		if err != nil {
			t.Fatal(err)
		}
		compareResults(t, e, want)
	}
}

// Elimination of a ladder matches sets of servers; a longer ladder conserves work.
func TestLaddersByElimination(t *testing.T) {
	t.Parallel()
	ladder := func(columns int) *cluster.Model {
		m := &cluster.Model{}
		for s := range 2 * columns {
			m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(1, 1)})
			for _, next := range []int{s - 2, s - s%2} {
				if next >= 0 && next != s {
					m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("with", next, "-", s),
						ArrivalRate: big.NewRat(int64(4+s%3), 10), Servers: cluster.On(next, s)})
				}
			}
		}
		return m
	}
	m := ladder(4)
	e, err := Solve(t.Context(), m, Settings{Lattice: EliminationLattice, RelTol: 1e-6})
	if err != nil || e.Parts[0].Width != 2 {
		t.Fatal(e, err)
	}
	checkWithin(t, "ladder", e, oracle.Solve(m))
	m = ladder(12)
	if e, err = Solve(t.Context(), m, Settings{RelTol: 1e-4}); err != nil || e.Parts[0].Lattice != EliminationLattice {
		t.Fatal(e, err)
	}
	work, arrives := 0.0, 0.0
	for _, s := range e.Servers {
		work += s.Utilization.Float
	}
	for _, k := range m.Classes {
		rate, _ := k.ArrivalRate.Float64()
		arrives += rate
	}
	if math.Abs(work/arrives-1) > e.RelativeErrorBound {
		t.Errorf("work %v is completed, %v arrives, bound %g", work, arrives, e.RelativeErrorBound)
	}
}

// Elimination of a line of 60 servers matches its connected sets; a line of 1000 conserves work.
func TestLinesByElimination(t *testing.T) {
	m := lineModel(60, 2)
	for i := range m.Servers {
		m.Servers[i].Capacity = big.NewRat(int64(20+i%5), 20)
	}
	got, err := Solve(t.Context(), m, Settings{Lattice: EliminationLattice})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Solve(t.Context(), m, Settings{Lattice: ConnectedLattice})
	if err != nil {
		t.Fatal(err)
	}
	within := got.RelativeErrorBound + want.RelativeErrorBound
	if !oracle.Near(got.Normalization.Float, want.Normalization.Float, within) {
		t.Errorf("Z = %v, %v", got.Normalization.Float, want.Normalization.Float)
	}
	for i := range m.Classes {
		if x, y := got.Classes[i].MeanJobs.Float, want.Classes[i].MeanJobs.Float; !oracle.Near(x, y, within) {
			t.Errorf("class %d: %v, %v within %g", i, x, y, within)
		}
	}
	long := lineModel(1000, 2)
	r, err := Solve(t.Context(), long, Settings{Lattice: EliminationLattice, RelTol: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	checkConservation(t, long, r)
}

// A group whose jobs take all its servers acts as one server of the total capacity. Trees and rings
// of such groups are eliminated, automatically if nothing else is possible.
func TestGroupsByElimination(t *testing.T) {
	grouped := func(m *cluster.Model) *cluster.Model {
		g := &cluster.Model{}
		for _, s := range m.Servers {
			g.Servers = append(g.Servers, cluster.Server{Name: s.Name, Count: 3,
				Capacity: new(big.Rat).Quo(s.Capacity, big.NewRat(3, 1))})
		}
		for _, k := range m.Classes {
			all := cluster.Class{Name: k.Name, ArrivalRate: k.ArrivalRate}
			for _, c := range k.Servers {
				all.Servers = append(all.Servers, cluster.Choice{Server: c.Server, Choose: 3})
			}
			g.Classes = append(g.Classes, all)
		}
		return g
	}
	tree := treeModel(40, 2, big.NewRat(4, 5))
	for _, c := range []struct {
		model *cluster.Model
		s     Settings
	}{{tree, Settings{}}, {ring(4), Settings{Lattice: EliminationLattice, RelTol: 1e-4}}} {
		want, err := Solve(t.Context(), c.model, c.s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Solve(t.Context(), grouped(c.model), c.s)
		if err != nil {
			t.Fatal(err)
		}
		if got.Parts[0].Lattice != EliminationLattice || len(got.Parts) != 1 {
			t.Errorf("parts %+v", got.Parts)
		}
		for i, x := range want.Classes {
			within := 2 * want.RelativeErrorBound * x.MeanJobs.Float
			if y := got.Classes[i].MeanJobs.Float; !(math.Abs(y-x.MeanJobs.Float) <= within) {
				t.Errorf("class %d: %v jobs, want %v", i, y, x.MeanJobs.Float)
			}
		}
	}
}

// rackModel has racks of servers, one uplink per rack, and a core for all. Jobs draw one server of
// a rack.
func rackModel(racks, servers int) *cluster.Model {
	m := &cluster.Model{Servers: []cluster.Server{{Name: "core", Capacity: big.NewRat(int64(racks), 2)}}}
	for k := range racks {
		rack, up := len(m.Servers), len(m.Servers)+1
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("rack", k), Count: servers,
			Capacity: big.NewRat(1, 1)},
			cluster.Server{Name: fmt.Sprint("up", k), Capacity: big.NewRat(int64(1+k%3), 1)})
		m.Classes = append(m.Classes,
			cluster.Class{Name: fmt.Sprint("local", k), ArrivalRate: big.NewRat(int64(3*servers), 5),
				Servers: []cluster.Choice{{Server: rack, Choose: 1}}},
			cluster.Class{Name: fmt.Sprint("read", k), ArrivalRate: big.NewRat(int64(servers), 5),
				Servers: []cluster.Choice{{Server: rack, Choose: 1}, {Server: up, Choose: 1}}},
			cluster.Class{Name: fmt.Sprint("far", k), ArrivalRate: big.NewRat(2, 3), Servers: cluster.On(0, up)})
	}
	return m
}

// Groups from which jobs draw one server each are expanded. Racks with uplinks form a tree, and
// their means match counts of servers and fractions. If there are too many counts, elimination
// takes over automatically, and work is conserved.
func TestDrawsByElimination(t *testing.T) {
	t.Parallel()
	for _, m := range []*cluster.Model{rackModel(2, 3), rackModel(1, 12)} {
		want, err := Solve(t.Context(), m, Settings{Engine: num.Enclose, Lattice: SymmetricLattice})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Solve(t.Context(), m, Settings{Lattice: EliminationLattice})
		if err != nil {
			t.Fatal(err)
		}
		compareResults(t, got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		m := rackModel(rapid.IntRange(1, 2).Draw(t, "racks"), rapid.IntRange(2, 3).Draw(t, "servers"))
		for i := range m.Classes {
			m.Classes[i].ArrivalRate = big.NewRat(rapid.Int64Range(0, 20).Draw(t, "rate"), 7)
		}
		for s := range m.Servers {
			m.Servers[s].Capacity = big.NewRat(rapid.Int64Range(1, 20).Draw(t, "capacity"), 3)
		}
		if !slices.ContainsFunc(m.Classes, func(k cluster.Class) bool { return k.ArrivalRate.Sign() > 0 }) {
			return
		}
		m = oracle.ScaleTo(m, big.NewRat(rapid.Int64Range(1, 98).Draw(t, "load"), 100))
		r, err := Solve(t.Context(), m, Settings{Engine: num.Float, Lattice: EliminationLattice})
		if err != nil {
			t.Fatal(err)
		}
		exact, err := Solve(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		want := oracle.Answer{Normalization: exact.Normalization.Exact}
		for _, k := range exact.Classes {
			want.MeanJobs = append(want.MeanJobs, k.MeanJobs.Exact)
		}
		for _, s := range exact.Servers {
			want.Busy = append(want.Busy, s.Utilization.Exact)
		}
		checkWithin(t, "draws", r, want)
	})
	m := rackModel(6, 20)
	factors := oracle.Rats("1/2 1")
	sweep, err := sweepLoads(t.Context(), m, factors, Question{}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range sweep {
		if r.Parts[0].Lattice != EliminationLattice || r.Parts[0].States != 127 || r.Parts[0].Width != 1 ||
			r.RelativeErrorBound > 1e-9 {
			t.Errorf("%+v, bound %g", r.Parts, r.RelativeErrorBound)
		}
		works, arrives := 0.0, new(big.Rat)
		for s, server := range m.Servers {
			c, _ := server.Capacity.Float64()
			works += c * float64(server.Size()) * r.Servers[s].Utilization.Float
		}
		for k := range m.Classes {
			arrives.Add(arrives, m.Scale(factors[i]).Work(k))
		}
		if want, _ := arrives.Float64(); !oracle.Near(works, want, r.RelativeErrorBound+1e-12) {
			t.Errorf("%v of %v capacity is busy", works, want)
		}
	}
	overloaded := rackModel(6, 20)
	overloaded.Classes[3].ArrivalRate = big.NewRat(50, 1)
	var u *cluster.UnstableError
	if _, err := Solve(t.Context(), overloaded, Settings{}); !errors.As(err, &u) || !slices.Contains(u.Classes, 3) {
		t.Errorf("%v", err)
	}
	s := Settings{Lattice: EliminationLattice}
	_, one := Answer(t.Context(), rackModel(1, 3), Question{MaxJobs: 3, ByClass: true}, s)
	_, two := gradientsOf(t.Context(), rackModel(1, 3), s)
	_, three := delaysOf(t.Context(), rackModel(1, 3), Question{Times: oracle.Rats("1")}, s)
	for _, err := range []error{one, two, three} {
		var bad *num.InputError
		if !errors.As(err, &bad) || bad.Path != "Lattice" || !strings.Contains(err.Error(), "draw") {
			t.Errorf("%v", err)
		}
	}
}

// A ladder of 2x5 servers has width 2. Its means and distributions match the tables.
func TestLadderDistributionsByElimination(t *testing.T) {
	m, q, s := gridModel(2, 5), Question{MaxJobs: 4, ByClass: true}, Settings{RelTol: 1e-4}
	s.Engine = num.Enclose
	want, err := Answer(t.Context(), m, q, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Engine, s.Lattice = num.Auto, EliminationLattice
	got, err := Answer(t.Context(), m, q, s)
	if err != nil {
		t.Fatal(err)
	}
	if got.Parts[0].Width != 2 || got.RelativeErrorBound > s.RelTol {
		t.Errorf("%+v, bound %g", got.Parts, got.RelativeErrorBound)
	}
	want.JobsDistribution = nil
	compareResults(t, got, want)
	for i, k := range got.Classes {
		for n, p := range k.JobsDistribution {
			if x := want.Classes[i].JobsDistribution[n].Float; !oracle.Near(p.Float, x, 1.01*s.RelTol) {
				t.Errorf("class %d, %d jobs: %v, want %v", i, n, p.Float, x)
			}
		}
	}
}

// A grid of three rows is rejected with its width: on request, and if the tables do not fit.
func TestWideGridsRejected(t *testing.T) {
	for lattice, want := range map[Lattice]string{
		EliminationLattice: "model = a width of 3 or more: want ",
		"":                 "one by one takes a width of 3 or more, and 2 is the limit",
	} {
		_, err := Solve(t.Context(), gridModel(3, 20), Settings{Lattice: lattice})
		var large *num.TooLargeError
		if !errors.As(err, &large) || !strings.Contains(err.Error(), want) {
			t.Errorf("lattice %q: %v, want %q", lattice, err, want)
		}
	}
}

// checkConservation checks that the busy capacity equals the arriving work, within the bounds.
func checkConservation(t *testing.T, m *cluster.Model, r *Result) {
	t.Helper()
	arrives, works, off := new(big.Rat), 0.0, 0.0
	for i := range m.Classes {
		arrives.Add(arrives, m.Work(i))
	}
	for s, server := range m.Servers {
		c, _ := server.Capacity.Float64()
		works += c * r.Servers[s].Utilization.Float
	}
	want, _ := arrives.Float64()
	off = r.RelativeErrorBound + float64(len(m.Servers))*0x1p-52
	if d := works - want; !(d <= off*want && -d <= off*want) {
		t.Errorf("%v of %v capacity is busy: off by %g, bound %g", works, want, d/want, off)
	}
}

// compareResults compares a result with enclosures.
func compareResults(t *testing.T, got, want *Result) {
	t.Helper()
	check := func(what string, x, y num.Value) {
		t.Helper()
		low, _ := y.Low.Float64()
		high, _ := y.High.Float64()
		if e := got.RelativeErrorBound + 0x1p-52; !(x.Float >= low*(1-e) && x.Float <= high*(1+e)) {
			t.Errorf("%s: %v, want %v within %g", what, x.Float, y.Float, e)
		}
	}
	check("Z", *got.Normalization, *want.Normalization)
	for i := range want.Classes {
		check(fmt.Sprint("jobs of class ", i), got.Classes[i].MeanJobs, want.Classes[i].MeanJobs)
	}
	for s := range want.Servers {
		check(fmt.Sprint("utilization of server ", s), got.Servers[s].Utilization, want.Servers[s].Utilization)
	}
	for n := range want.JobsDistribution {
		check(fmt.Sprint("P(X = ", n), got.JobsDistribution[n], want.JobsDistribution[n])
	}
}

// A large unstable model fails fast on every lattice, with a witness set of classes.
func TestLargeUnstable(t *testing.T) {
	for _, servers := range []int{60, 1023} {
		m := treeModel(servers, 2, big.NewRat(4, 5))
		m.Classes[40].ArrivalRate = big.NewRat(3, 1)
		for _, lattice := range []Lattice{"", EliminationLattice} {
			for _, engine := range []num.Engine{num.Auto, num.Float, num.Exact} {
				if lattice != "" && engine == num.Exact {
					continue
				}
				_, err := Solve(t.Context(), m, Settings{Lattice: lattice, Engine: engine})
				var u *cluster.UnstableError
				if !errors.As(err, &u) || !slices.Contains(u.Classes, 40) || u.ArrivalRate.Cmp(u.Capacity) < 0 {
					t.Errorf("%d servers, %s, %s: %v", servers, lattice, engine, err)
				}
			}
		}
	}
}

// Elimination rejects unsupported questions and names them.
func TestEliminationRejects(t *testing.T) {
	tree := treeModel(9, 2, big.NewRat(1, 2))
	pool := &cluster.Model{Servers: []cluster.Server{{Name: "pool", Count: 5, Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "c", ArrivalRate: big.NewRat(1, 1),
			Servers: []cluster.Choice{{Server: 0, Choose: 2}}}}}
	clique := &cluster.Model{}
	for s := range 9 {
		clique.Servers = append(clique.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(9, 1)})
		for r := range s {
			clique.Classes = append(clique.Classes, cluster.Class{Name: fmt.Sprint(r, s), ArrivalRate: big.NewRat(1, 1),
				Servers: cluster.On(r, s)})
		}
	}
	solve := func(m *cluster.Model, engine num.Engine) error {
		_, err := Solve(t.Context(), m, Settings{Engine: engine, Lattice: EliminationLattice})
		return err
	}
	_, moments := delaysOf(t.Context(), tree, Question{Moments: 1}, Settings{Lattice: EliminationLattice})
	_, gradient := gradientOf(t.Context(), tree, Settings{Lattice: EliminationLattice, Engine: num.Exact})
	_, gradients := gradientsOf(t.Context(), tree, Settings{Lattice: EliminationLattice, Engine: num.Enclose})
	for _, c := range []struct {
		what, path string
		err        error
	}{
		{"exact", "Engine", solve(tree, num.Exact)},
		{"enclose", "Engine", solve(tree, num.Enclose)},
		{"groups", "Lattice", solve(pool, num.Auto)},
		{"moments of delays", "Moments", moments},
		{"gradient", "Engine", gradient},
		{"gradients", "Engine", gradients},
		{"width", "model", solve(clique, num.Auto)},
	} {
		var bad *num.InputError
		if !errors.As(c.err, &bad) || bad.Path != c.path {
			t.Errorf("%s: %v, want an error at %s", c.what, c.err, c.path)
		}
	}
	var large *num.TooLargeError
	if err := solve(clique, num.Auto); !errors.As(err, &large) || !strings.Contains(err.Error(), "width of 8 or more") {
		t.Errorf("a clique of 9 servers: %v, want its width 8", err)
	}
	linked := "drawing several servers links the whole group, a width of 4 or more"
	if err := solve(pool, num.Auto); !strings.Contains(err.Error(), linked) {
		t.Errorf("a pool: %v", err)
	}
	ladder := gridModel(2, 30)
	ladder.Servers = append(ladder.Servers, cluster.Server{Name: "unused", Capacity: big.NewRat(1, 1)})
	_, err := Solve(t.Context(), ladder, Settings{Lattice: EliminationLattice, MaxBytes: 1 << 18})
	if !errors.As(err, &large) || !strings.Contains(err.Error(), "(of 88 on 61: ") ||
		!strings.Contains(err.Error(), "MiB, more than the limit of 0.25; or a tolerance of 1e-6") {
		t.Errorf("a ladder in little memory: %v", err)
	}
	wide := &plan{query: query{problem: &recursion.Problem{}}, method: &eliminator{Order: &elimination.Order{Width: 2}}}
	for tolerance, want := range map[float64]string{
		1e-9: "or a tolerance of 1e-6, ",
		1e-6: "or a tolerance of 1e-3, ",
		1e-3: "more than 1e+11 products",
	} {
		if err := wide.workError(&num.TooLargeError{},
			elimination.Settings{Tolerance: tolerance, MaxWork: 1e11}); !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "tolerance") != (tolerance < 1e-3) {
			t.Errorf("tolerance %g: %v", tolerance, err)
		}
	}
}

// If an answer exceeds the range of float64, the error says so. It does not blame the size of the
// tables, which would not help: for a ring with elimination requested, and for a tree that is
// eliminated automatically.
func TestEliminationBeyondDoubles(t *testing.T) {
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(323), nil))
	scaled := func(m *cluster.Model) *cluster.Model {
		for s := range m.Servers {
			m.Servers[s].Capacity = new(big.Rat).Mul(m.Servers[s].Capacity, tiny)
		}
		return m.Scale(tiny)
	}
	for _, c := range []struct {
		model *cluster.Model
		s     Settings
	}{{ring(3), Settings{Lattice: EliminationLattice, RelTol: 1e-3}},
		{treeModel(63, 2, big.NewRat(4, 5)), Settings{}}} {
		m := scaled(c.model)
		_, err := Solve(t.Context(), m, c.s)
		var bad *num.InputError
		var large *num.TooLargeError
		if !errors.As(err, &bad) || errors.As(err, &large) ||
			!strings.Contains(err.Error(), "count time, or work, in other units") {
			t.Errorf("%v: %v", c.s, err)
		}
		c.s.Engine = num.Float
		if _, err := Solve(t.Context(), m, c.s); !errors.Is(err, num.ErrFloatRange) {
			t.Errorf("float: %v", err)
		}
	}
}

// A sweep eliminates in one order and matches individual solutions.
func TestEliminationSweeps(t *testing.T) {
	m := treeModel(40, 3, big.NewRat(1, 1))
	factors := oracle.Rats("1/2 0 9/10")
	for _, s := range []Settings{{}, {Lattice: EliminationLattice, Engine: num.Float, RelTol: 1e-6}} {
		sweep, err := sweepLoads(t.Context(), m, factors, Question{}, s)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range factors {
			one, err := Solve(t.Context(), m.Scale(f), s)
			if err != nil {
				t.Fatal(err)
			}
			if f.Sign() > 0 && (sweep[i].MeanJobs != one.MeanJobs || sweep[i].Parts[0].Lattice != EliminationLattice ||
				sweep[i].Parts[0].Why != one.Parts[0].Why) {
				t.Errorf("factor %v: %v, %+v; individually %v, %+v", f, sweep[i].MeanJobs, sweep[i].Parts, one.MeanJobs,
					one.Parts)
			}
		}
	}
}

// The derivatives of the mean number of jobs by elimination match those by the recursions, within
// both bounds. A class without arrivals also has a derivative.
func TestEliminationGradients(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 4))
		m := oracle.ScaleTo(drawForest(rng, 2+rng.IntN(6)), big.NewRat(1+rng.Int64N(98), 100))
		s := Settings{Lattice: EliminationLattice}
		if seed < 2 { // a ring of width 2
			m, s.RelTol = ring(3+int(seed)), 1e-4
		}
		want, err := gradientOf(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		got, err := gradientOf(t.Context(), m, s)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, c := range [][2][]num.Value{{got.ArrivalRates, want.ArrivalRates}, {got.Capacities, want.Capacities}} {
			for i, x := range c[1] {
				low, _ := c[0][i].Low.Rat(nil)
				high, _ := c[0][i].High.Rat(nil)
				if low.Cmp(x.Exact) > 0 || high.Cmp(x.Exact) < 0 {
					t.Errorf("seed %d: derivative %d is %v in [%v, %v], want %v", seed, i, c[0][i].Float, low, high,
						x.Float)
				}
			}
		}
	}
	m := treeModel(48, 2, big.NewRat(4, 5))
	g, err := gradientOf(t.Context(), m, Settings{RelTol: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	const h = 1 << 10 // a symmetric difference has an error of the order of h^-2
	at := func(up int64) float64 {
		n := *m
		n.Classes = slices.Clone(m.Classes)
		n.Classes[70].ArrivalRate = new(big.Rat).Add(m.Classes[70].ArrivalRate, big.NewRat(up, h))
		r, err := Solve(t.Context(), &n, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return r.MeanJobs.Float
	}
	if d, near := g.ArrivalRates[70], (at(1)-at(-1))*h/2; math.Abs(d.Float-near) > 1e-3*near || d.Low.Cmp(d.High) >= 0 {
		t.Errorf("derivative %v, difference %v", d, near)
	}
}

// The derivatives of the means of each class by elimination match those of the recursions, in
// fractions. Their bounds are tight if terms do not cancel. Identical rows, classes without
// arrivals and classes with different sizes also have derivatives.
func TestClassGradientsByElimination(t *testing.T) {
	t.Parallel()
	check := func(m *cluster.Model, s Settings, within float64) {
		t.Helper()
		want, err := gradientsOf(t.Context(), m, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		got, err := gradientsOf(t.Context(), m, s)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want.Classes {
			g := got.Classes[i]
			if (w.MeanDelay == nil) != (g.MeanDelay == nil) {
				t.Fatalf("class %d: %v", i, g.MeanDelay)
			}
			for k, p := range []*Partials{&w.MeanJobs, w.MeanDelay} {
				if p == nil {
					continue
				}
				q := []*Partials{&g.MeanJobs, g.MeanDelay}[k]
				for _, c := range [][2][]num.Value{{q.ArrivalRates, p.ArrivalRates}, {q.Capacities, p.Capacities}} {
					largest := 0.0
					for _, x := range c[1] {
						largest = max(largest, math.Abs(x.Float))
					}
					for j, x := range c[1] {
						if y := c[0][j]; !encloses(y, x.Exact) || boundsWidth(y) > within*largest {
							t.Errorf("class %d, measure %d, number %d: %v in [%v, %v], want %v", i, k, j, y.Float,
								y.Low, y.High, x.Float)
						}
					}
				}
			}
		}
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		m := drawForest(rng, 2+rng.IntN(4))
		twin := m.Classes[len(m.Classes)-1]
		twin.Name = "twin"
		m.Classes = append(m.Classes, twin)
		for i := range m.Classes {
			if rng.IntN(3) == 0 {
				m.Classes[i].MeanSize = big.NewRat(1+rng.Int64N(4), 2)
			}
		}
		if u, err := stability.Overload(t.Context(), m); u != nil || err != nil || seed%2 == 0 {
			m = oracle.ScaleTo(m, big.NewRat(1+rng.Int64N(98), 100))
		}
		check(m, Settings{Lattice: EliminationLattice}, 1e-7)
	}
	check(ring(3), Settings{Lattice: EliminationLattice, RelTol: 1e-3}, 1e-1)
	never := treeModel(3, 2, big.NewRat(1, 2))
	for i := range never.Classes {
		never.Classes[i].ArrivalRate = new(big.Rat)
	}
	check(never, Settings{Lattice: EliminationLattice}, 1e-7)
}

// On a tree whose graph would take too long, the derivatives of the means of each class use
// elimination automatically. They add up to those of the mean number of all jobs, have the right
// signs, and are near difference quotients.
func TestLargeClassGradients(t *testing.T) {
	t.Parallel()
	m := treeModel(18, 2, big.NewRat(4, 5))
	p := oracle.Must(prepare(t.Context(), m))
	plans, err := p.gradientPlans(t.Context(), checkedRequest(Settings{}), true, false)
	if err != nil || len(plans) != 1 || plans[0].lattice != EliminationLattice {
		t.Fatal(plans, err)
	}
	g, err := gradientsOf(t.Context(), m, Settings{RelTol: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	all, err := gradientOf(t.Context(), m, Settings{Lattice: EliminationLattice, RelTol: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	sums := func(of func(p *Partials) []num.Value, want []num.Value, sign int) {
		for j, w := range want {
			low, high := new(big.Float), new(big.Float)
			for _, c := range g.Classes {
				x := of(&c.MeanJobs)[j]
				low.Add(low, x.Low)
				high.Add(high, x.High)
				if sign > 0 && x.Low.Sign() < 0 || sign < 0 && x.High.Sign() > 0 || x.Low.Cmp(x.High) > 0 {
					t.Fatalf("number %d: [%v, %v]", j, x.Low, x.High)
				}
			}
			if low.Cmp(w.High) > 0 || high.Cmp(w.Low) < 0 {
				t.Errorf("number %d: sum in [%v, %v], all in [%v, %v]", j, low, high, w.Low, w.High)
			}
		}
	}
	sums(func(p *Partials) []num.Value { return p.ArrivalRates }, all.ArrivalRates, 1)
	sums(func(p *Partials) []num.Value { return p.Capacities }, all.Capacities, -1)
	const h = 1 << 10 // a symmetric difference has an error of the order of h^-2
	at := func(up int64) *Result {
		n := *m
		n.Servers = slices.Clone(m.Servers)
		n.Servers[17].Capacity = new(big.Rat).Add(m.Servers[17].Capacity, big.NewRat(up, h))
		r, err := Solve(t.Context(), &n, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	more, less := at(1), at(-1)
	for i, c := range g.Classes {
		near := (more.Classes[i].MeanJobs.Float - less.Classes[i].MeanJobs.Float) * h / 2
		if d := c.MeanJobs.Capacities[17]; math.Abs(d.Float-near) > 1e-3*math.Abs(near)+1e-5 {
			t.Errorf("class %d: derivative %v, difference %v", i, d, near)
		}
	}
}

// Derivatives that take too long on graphs are eliminated, unless their numbers do not allow it. If
// that also takes too much work, there is an error.
func TestSlowClassGradientsEliminated(t *testing.T) {
	for _, c := range []struct {
		capacity *big.Rat
		want     Lattice
	}{{big.NewRat(1, 1), EliminationLattice}, {new(big.Rat), ConnectedLattice},
		{new(big.Rat).SetFrac(big.NewInt(1<<60+1), big.NewInt(1<<59+1)), ConnectedLattice}} {
		m := lineModel(70, 2)
		m.Servers[4].Capacity = c.capacity
		p := oracle.Must(prepare(t.Context(), m))
		plans, err := p.gradientPlans(t.Context(), checkedRequest(Settings{}), true, false)
		if err != nil || len(plans) != 1 || plans[0].lattice != c.want {
			t.Errorf("capacity %v: %v, %v", c.capacity, plans, err)
		}
	}
	_, err := gradientsOf(t.Context(), treeModel(120, 2, big.NewRat(4, 5)), Settings{MaxWork: 1e9})
	var large *num.TooLargeError
	if !errors.As(err, &large) || !strings.Contains(err.Error(), "1e+09 products") {
		t.Errorf("120 servers: %v", err)
	}
}

// The distributions of the jobs of each class match the other lattices, including identical rows
// that share a class. The distribution of all jobs is rejected, or omitted if distributions by
// class are requested.
func TestEliminationDistributions(t *testing.T) {
	m := treeModel(8, 2, big.NewRat(4, 5))
	m.Classes = append(m.Classes, cluster.Class{Name: "twin", ArrivalRate: big.NewRat(1, 10),
		Servers: cluster.On(0, 1)})
	m.Classes = append(m.Classes, cluster.Class{Name: "never", ArrivalRate: new(big.Rat), Servers: cluster.On(3)})
	m.Servers = append(m.Servers, cluster.Server{Name: "apart", Capacity: big.NewRat(1, 1)})
	m.Classes = append(m.Classes, cluster.Class{Name: "apart", ArrivalRate: big.NewRat(1, 3), Servers: cluster.On(8)})
	q, s := Question{MaxJobs: 12, ByClass: true}, Settings{Lattice: EliminationLattice}
	got, err := Answer(t.Context(), m, q, s)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Answer(t.Context(), m, Question{MaxJobs: 12, ByClass: true}, Settings{Engine: num.Enclose})
	if err != nil {
		t.Fatal(err)
	}
	if want.JobsDistribution = nil; got.JobsDistribution != nil {
		t.Errorf("distribution of all jobs %v", got.JobsDistribution)
	}
	compareResults(t, got, want)
	for i := range want.Classes {
		for n, y := range want.Classes[i].JobsDistribution {
			x := got.Classes[i].JobsDistribution[n].Float
			if e := got.RelativeErrorBound + 0x1p-52; !(x >= y.Float*(1-e) && x <= y.Float*(1+e)) {
				t.Errorf("P(X_%d = %d) is %v, want %v within %g", i, n, x, y.Float, e)
			}
		}
	}
	q.ByClass = false
	var bad *num.InputError
	if _, err := Answer(t.Context(), m, q, s); !errors.As(err, &bad) || bad.Path != "MaxJobs" {
		t.Errorf("%v, want an error at MaxJobs", err)
	}
	tree := treeModel(63, 2, big.NewRat(4, 5))
	r, err := Answer(t.Context(), tree, Question{MaxJobs: 3, ByClass: true}, Settings{})
	if err != nil || len(r.Classes[5].JobsDistribution) != 4 {
		t.Errorf("%v, %v", r, err)
	}
}

// If elimination finds the distributions by class faster than tables, it computes these, and the
// tables compute the rest, including the distribution of all jobs. All match connected sets,
// including in a sweep. A class whose numbers are too long for float64, and engines other than
// float, use tables only.
func TestDistributionsWithTables(t *testing.T) {
	t.Parallel()
	tree := treeModel(15, 2, big.NewRat(3, 4))
	tree.Classes = append(tree.Classes,
		cluster.Class{Name: "twin", ArrivalRate: big.NewRat(1, 10), Servers: cluster.On(2, 5)})
	for _, m := range []*cluster.Model{tree, treeModel(14, 2, big.NewRat(4, 5)), lineModel(40, 2)} {
		q, s := Question{MaxJobs: 8, ByClass: true}, Settings{}
		got, err := Answer(t.Context(), m, q, s)
		if err != nil {
			t.Fatal(err)
		}
		if why := got.Parts[0].Why; got.Parts[0].Lattice == EliminationLattice ||
			!strings.HasSuffix(why, "; distributions of single classes by elimination") ||
			got.RelativeErrorBound > 1e-9 {
			t.Errorf("%s, bound %v", why, got.RelativeErrorBound)
		}
		sweep, err := sweepLoads(t.Context(), m, oracle.Rats("1/2 1"), q, s)
		if err != nil || sweep[1].Classes[3].JobsDistribution[7] != got.Classes[3].JobsDistribution[7] {
			t.Errorf("%v in a sweep, %v", sweep, err)
		}
		s.Lattice = ConnectedLattice // by a graph only
		want, err := Answer(t.Context(), m, q, s)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, x, y num.Value) {
			within := got.RelativeErrorBound + want.RelativeErrorBound + 0x1p-50
			if !oracle.Near(x.Float, y.Float, within) {
				t.Errorf("%s: %v, %v within %g", what, x.Float, y.Float, within)
			}
		}
		if len(got.JobsDistribution) != 9 {
			t.Fatalf("%d probabilities", len(got.JobsDistribution))
		}
		for n, x := range want.JobsDistribution {
			near(fmt.Sprint("all jobs ", n), got.JobsDistribution[n], x)
		}
		for i, c := range want.Classes {
			near("mean", got.Classes[i].MeanJobs, c.MeanJobs)
			for n, x := range c.JobsDistribution {
				near(fmt.Sprint("class ", i, ", jobs ", n), got.Classes[i].JobsDistribution[n], x)
			}
		}
	}
	long := lineModel(14, 2)
	long.Servers[3].Capacity = new(big.Rat).SetFrac(big.NewInt(1<<60+1), big.NewInt(1<<60))
	for _, c := range []struct {
		model  *cluster.Model
		engine num.Engine
	}{{long, num.Float}, {lineModel(14, 2), num.Enclose}} {
		p, err := prepare(t.Context(), c.model)
		if err != nil {
			t.Fatal(err)
		}
		g := rung{engine: c.engine, prec: 128,
			s: request{Question: Question{MaxJobs: 20, ByClass: true}, Settings: Settings{MaxBytes: 1 << 30}}}
		if l, err := p.plan(t.Context(), 0, g); err != nil || l.rows != nil {
			t.Errorf("%+v, %v", l, err)
		}
	}
}

// The distribution of all jobs runs over a graph. It uses the graph of connected sets if that is
// smaller than the table of the means, and matches the table. It also uses connected sets alongside
// distributions by class from elimination, if they do not take long.
func TestDistributionsUseConnectedSets(t *testing.T) {
	m := treeModel(17, 2, big.NewRat(4, 5))
	got, err := Answer(t.Context(), m, Question{MaxJobs: 30}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Answer(t.Context(), m, Question{MaxJobs: 30}, Settings{Lattice: ServerLattice})
	if err != nil {
		t.Fatal(err)
	}
	for n, x := range want.JobsDistribution {
		within := got.RelativeErrorBound + want.RelativeErrorBound
		if y := got.JobsDistribution[n]; !oracle.Near(y.Float, x.Float, within) {
			t.Errorf("%d jobs: %v, want %v", n, y.Float, x.Float)
		}
	}
	both, err := Answer(t.Context(), treeModel(24, 2, big.NewRat(4, 5)), Question{MaxJobs: 10, ByClass: true},
		Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Parts[0].Lattice != ConnectedLattice || both.Parts[0].Lattice != ConnectedLattice ||
		!both.Parts[0].eliminated || len(both.JobsDistribution) != 11 {
		t.Errorf("%+v, %+v", got.Parts, both.Parts)
	}
}

// A tolerance that elimination cannot meet gives an error with the bound it reaches. The engine
// Float, if requested, returns that bound.
func TestEliminationMissesTolerance(t *testing.T) {
	for _, lattice := range []Lattice{"", EliminationLattice} {
		_, err := Solve(t.Context(), treeModel(63, 2, big.NewRat(4, 5)), Settings{Lattice: lattice, RelTol: 1e-17})
		var bad *num.InputError
		if !errors.As(err, &bad) || bad.Path != "RelTol" {
			t.Errorf("%s: %v, want an error at RelTol", lattice, err)
		}
	}
	r, err := Solve(t.Context(), treeModel(63, 2, big.NewRat(4, 5)), Settings{Engine: num.Float, RelTol: 1e-17})
	if err != nil || r.RelativeErrorBound > 1e-9 {
		t.Errorf("%v, %v", r, err)
	}
}

// drawForest draws classes on one or two servers of a random tree, some of them without arrivals.
func drawForest(rng *rand.Rand, servers int) *cluster.Model {
	m := &cluster.Model{}
	for s := range servers {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s),
			Capacity: big.NewRat(1+rng.Int64N(9), 3)})
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", s), ArrivalRate: big.NewRat(rng.Int64N(9), 9),
			Servers: cluster.On(s)})
		if s > 0 {
			m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("d", s),
				ArrivalRate: big.NewRat(rng.Int64N(9), 5), Servers: cluster.On(rng.IntN(s), s)})
		}
	}
	return m
}

// Random trees match the tables of all sets of servers.
func TestForestsByElimination(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		m := oracle.ScaleTo(drawForest(rng, 2+rng.IntN(8)), big.NewRat(1+rng.Int64N(98), 100))
		want, err := Solve(t.Context(), m, Settings{Engine: num.Enclose})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Solve(t.Context(), m, Settings{Lattice: EliminationLattice, Engine: num.Float})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		compareResults(t, got, want)
	}
}
