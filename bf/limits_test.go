package bf

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"strings"
	"testing"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/oracle"
	"productform/internal/recursion"
	"productform/num"

	"pgregory.net/rapid"
)

func readModel(t *testing.T, text string) *cluster.Model {
	t.Helper()
	m, err := cluster.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Rates with a common denominator longer than a word are rounded for the float engine. The
// utilization of a mostly idle server must remain within its bound.
func TestRoundedRatesKeepBound(t *testing.T) {
	m := readModel(t, `{
		"servers": [{"name": "s0", "capacity": "13/4"}, {"name": "s1", "capacity": 1},
			{"name": "s2", "capacity": "7/5"}],
		"classes": [{"name": "c0", "arrival_rate": "2333333333333331/5000000000000000", "servers": ["s2"]},
			{"name": "c1", "servers": ["s1"],
				"arrival_rate": "150698442002019581634891331313601/29544738491234420000000000000000000000"}],
		"mean_size": 3}`)
	want, err := Solve(t.Context(), m, Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	for _, lattice := range lattices {
		r, err := Solve(t.Context(), m, Settings{Lattice: lattice})
		if err != nil {
			t.Fatal(err)
		}
		for s := range r.Servers {
			e := relativeError(r.Servers[s].Utilization.Float, want.Servers[s].Utilization.Exact)
			if e > r.RelativeErrorBound {
				t.Errorf("%s: utilization of server %d is off by %g, bound %g", lattice, s, e, r.RelativeErrorBound)
			}
		}
	}
}

// Jobs of a server of capacity 0 are rarely present. 1 - P(idle) then has no correct digit in
// float64, and the float engine must not claim one.
func TestRarelyUsedIdleServer(t *testing.T) {
	for _, rate := range []string{"1e-3", "1e-10", "1e-14", "1e-16", "1e-18", "1e-30"} {
		m := &cluster.Model{
			Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}, {Name: "idle", Capacity: new(big.Rat)}},
			Classes: []cluster.Class{
				{Name: "a", ArrivalRate: big.NewRat(1, 3), Servers: cluster.On(0)},
				{Name: "b", ArrivalRate: num.Rat(rate), Servers: cluster.On(0, 1)},
			},
		}
		// One server: P(no job of b) = (1-ρ)/(1-ρ_a), and P(b present) = ρ_b/(1-ρ_a).
		want := new(big.Rat).Mul(num.Rat(rate), big.NewRat(3, 2))
		r, err := Solve(t.Context(), m, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if e := relativeError(r.Servers[1].Utilization.Float, want); e > r.RelativeErrorBound ||
			r.RelativeErrorBound > 1e-9 {
			t.Errorf("rate %s: utilization %v, want %v; bound %g", rate, r.Servers[1].Utilization.Float,
				want.FloatString(40), r.RelativeErrorBound)
		}
	}
}

// A class of rate 0 with many ways to choose its servers has a derivative. The mean number of jobs
// grows by the expected number of additional jobs on servers with a low load.
func TestGradientOfClassWithManyWays(t *testing.T) {
	m := readModel(t, `{"servers": [{"name": "r", "count": 100, "capacity": 1}],
		"classes": [{"name": "a", "arrival_rate": 0, "servers": [{"group": "r", "choose": 50}]},
			{"name": "b", "arrival_rate": 1, "servers": [{"group": "r", "choose": 1}]}]}`)
	g, err := gradientOf(t.Context(), m, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	// [BC17] random assignment: Z = Π_k k/(k - λ(k)), λ(k) = Σ_t λ_t C(k,d_t)/C(100,d_t). With x
	// the rate of a, E[X] = Σ_k λ(k)/(k - λ(k)) and dE[X]/dx = Σ_k k C(k,50)/C(100,50) / (k -
	// k/100)^2 at x = 0.
	want := new(big.Rat)
	for k := int64(50); k <= 100; k++ {
		share := new(big.Rat).SetFrac(new(big.Int).Binomial(k, 50), new(big.Int).Binomial(100, 50))
		slack := big.NewRat(99*k, 100)
		want.Add(want, share.Mul(share, new(big.Rat).Quo(big.NewRat(k, 1), slack.Mul(slack, slack))))
	}
	f, _ := want.Float64()
	if d := g.ArrivalRates[0]; relativeError(d.Float, want) > boundsWidth(d)/f+1e-15 || boundsWidth(d) > 1e-9*f {
		t.Errorf("derivative = %v in [%v, %v], want %v", d.Float, d.Low, d.High, f)
	}
}

// Answers that float64 cannot represent give an error with a reason. They are not rounded to 0.
func TestAnswersBeyondFloat(t *testing.T) {
	for _, rate := range []string{"1e-330", "1e-309"} {
		for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose, num.Exact} {
			m := &cluster.Model{Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
				Classes: []cluster.Class{
					{Name: "a", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)},
					{Name: "b", ArrivalRate: num.Rat(rate), Servers: cluster.On(0)},
				}}
			if _, err := Solve(t.Context(), m, Settings{Engine: engine}); err == nil {
				t.Errorf("%s, rate %s: no error", engine, rate)
			}
		}
	}
}

// drawWideRange draws a stable model whose capacities and rates differ by up to 10^60, and some
// rates by up to 10^150.
func drawWideRange(t *rapid.T) *cluster.Model {
	o := oracle.Options{Servers: 4, Classes: 4, Stable: true, ZeroCapacities: rapid.Bool().Draw(t, "zero capacities")}
	if rapid.Bool().Draw(t, "groups") {
		o.Count = 3
	}
	m := rapid.Custom(func(t *rapid.T) *cluster.Model { return oracle.DrawModel(t, o) }).
		Filter(func(m *cluster.Model) bool { return oracle.Combinations(m) <= 8 }).Draw(t, "model")
	power := func(label string, powers ...int) *big.Rat {
		return num.Rat(fmt.Sprintf("1e%d", rapid.SampledFrom(powers).Draw(t, label)))
	}
	if rapid.Bool().Draw(t, "far apart capacities") {
		for s := range m.Servers {
			m.Servers[s].Capacity = new(big.Rat).Mul(m.Servers[s].Capacity, power("capacity times", 0, 0, 20, 40, 60))
		}
		m = oracle.ScaleTo(m, big.NewRat(rapid.Int64Range(1, 19).Draw(t, "load again"), 20))
	}
	for i := range m.Classes { // a lower load remains stable
		m.Classes[i].ArrivalRate = new(big.Rat).Mul(m.Classes[i].ArrivalRate,
			power("rate times", 0, 0, -9, -16, -40, -80, -150))
	}
	return m
}

// Utilizations of 1e-150 together with others of 19/20 need more digits than the first enclosures
// have, but not another model. On every lattice the bound covers the distance to the fraction, and
// the enclosure contains it.
func TestLoadsFarApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawWideRange(t)
		jobs := rapid.IntRange(0, 3).Draw(t, "jobs")
		want, err := Answer(t.Context(), m, Question{MaxJobs: jobs}, Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		lattice := rapid.SampledFrom(lattices).Draw(t, "lattice")
		for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose} {
			r, err := Answer(t.Context(), m, Question{MaxJobs: jobs}, Settings{Engine: engine, Lattice: lattice})
			if engine == num.Float && (errors.Is(err, num.ErrFloatRange) || errors.Is(err, num.ErrDigits)) ||
				isInput(err) && lattice != "" && lattice != SymmetricLattice &&
					!strings.Contains(err.Error(), "1e±308") {
				continue
			}
			if err != nil {
				t.Fatalf("%s %s: %v", engine, lattice, err)
			}
			checkAgainst(t, fmt.Sprint(engine, " ", lattice), r, want)
		}
	})
}

// Models whose tables would exceed the memory limit are rejected before the tables are built.
func TestMemoryIsBounded(t *testing.T) {
	wide := &cluster.Model{}
	for g := range 4 {
		wide.Servers = append(wide.Servers,
			cluster.Server{Name: fmt.Sprint("rack", g), Count: 25, Capacity: big.NewRat(1, 1)})
	}
	for i := range 60 {
		k := cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(1, 10)}
		for g := range 4 {
			k.Servers = append(k.Servers, cluster.Choice{Server: g, Choose: 1 + (i>>g)%6})
		}
		wide.Classes = append(wide.Classes, k)
	}
	pool := &cluster.Model{Servers: []cluster.Server{{Name: "pool", Count: 100000, Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(1, 2),
			Servers: []cluster.Choice{{Server: 0, Choose: 2}}}}}
	digits := lineModel(11, 2)
	for s := range digits.Servers {
		digits.Servers[s].Capacity = big.NewRat(1000000000000000+int64(s*s*s*7919), 999999999999937)
	}
	cases := []struct {
		name string
		m    *cluster.Model
		jobs int // jobs of a distribution
		s    Settings
	}{
		{"classes on racks", wide, 0, Settings{MaxBytes: 100 << 20}},
		{"exact pool", pool, 0, Settings{Engine: num.Exact, MaxBytes: 1 << 30}},
		{"exact distribution", digits, 50, Settings{Engine: num.Exact, MaxBytes: 20 << 20}},
		{"table", sparseModel(26), 0, Settings{Lattice: ClassLattice, MaxBytes: 100 << 20}},
		{"distribution of a table", sparseModel(20), 10, Settings{Lattice: ClassLattice, MaxBytes: 100 << 20}},
	}
	for _, c := range cases {
		_, err := Answer(t.Context(), c.m, Question{MaxJobs: c.jobs}, c.s)
		var e *input.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "MiB") {
			t.Errorf("%s: error %v, want one about memory", c.name, err)
		}
	}
	// Jobs choose half of a group; the number of ways has about as many bits as the group has
	// servers.
	for _, count := range []int{2000, 20000, 100000} {
		const limit = 16 << 20
		m := halfModel(count)
		for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose, num.Exact} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Solve(t.Context(), m, Settings{Engine: engine, MaxBytes: limit})
			runtime.ReadMemStats(&after)
			if err != nil && (!isInput(err) || !strings.Contains(err.Error(), "MiB")) {
				t.Errorf("%d servers, %s: error %v, want one about memory", count, engine, err)
			}
			if made := after.TotalAlloc - before.TotalAlloc; made > 3*limit {
				t.Errorf("%d servers, %s: %d bytes allocated in total, for tables of at most %d",
					count, engine, made, limit)
			}
			if (err == nil) != (count < 100000 && engine != num.Exact) {
				t.Errorf("%d servers, %s: error %v", count, engine, err)
			}
		}
	}
}

// The fields of a size error have the numbers of its text. With the required bytes, the model is
// solved.
func TestTooLargeErrorHasNumbers(t *testing.T) {
	m := sparseModel(12)
	_, err := Solve(t.Context(), m, Settings{MaxBytes: 1 << 10})
	var large *num.TooLargeError
	if !errors.As(err, &large) || !isInput(err) || large.Limit != 1<<10 || !(large.Bytes > 1<<10) ||
		!(large.States >= 1) {
		t.Fatalf("%v: %+v", err, large)
	}
	if _, err := Solve(t.Context(), m, Settings{MaxBytes: int64(large.Bytes) + 1}); err != nil {
		t.Errorf("with the required %v bytes: %v", large.Bytes, err)
	}
}

// gridModel has a server at each place of a grid, and a class for each pair of neighbours.
func gridModel(rows, columns int) *cluster.Model {
	m := &cluster.Model{}
	add := func(a, b int) {
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", len(m.Classes)),
			ArrivalRate: big.NewRat(1, 4), Servers: cluster.On(a, b)})
	}
	for s := range rows * columns {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(1, 1)})
		if s%columns > 0 {
			add(s-1, s)
		}
		if s >= columns {
			add(s-columns, s)
		}
	}
	return m
}

// A model too large for every lattice is rejected before anything is built, with all lattices
// tried.
func TestRejectedBeforeBuilt(t *testing.T) {
	for _, c := range []struct {
		lattice Lattice
		want    string
	}{
		{"", fmt.Sprint("tables of at most ", min(num.DefaultMaxBytes, math.MaxInt)>>20,
			" MiB; those of the server lattice are out of reach, "+
				"and the connected lattice has more than 20,000,000 terms, which is the limit")},
		{ConnectedLattice, "at most 20,000,000 terms over the connected sets of servers of the connected lattice"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Solve(t.Context(), gridModel(5, 10), Settings{Lattice: c.lattice})
		runtime.ReadMemStats(&after)
		var large *num.TooLargeError
		if !errors.As(err, &large) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > 64<<20 {
			t.Errorf("%d bytes allocated", made)
		}
	}
}

// Exact rejects models with more sets of servers than float64 can count. The error still contains
// numbers.
func TestExactOfManyServers(t *testing.T) {
	_, err := Solve(t.Context(), lineModel(2000, 10), Settings{Engine: num.Exact})
	var large *num.TooLargeError
	if !errors.As(err, &large) || math.IsNaN(large.Bytes) || strings.Contains(err.Error(), "NaN") ||
		!strings.Contains(err.Error(), "20,000,000 terms") {
		t.Errorf("error %v", err)
	}
}

// The connected lattice is selected if the graph of all sets would be much larger or does not fit.
func TestConnectedBeforeAllSets(t *testing.T) {
	for _, c := range []struct {
		m    *cluster.Model
		s    Settings
		want Lattice
	}{
		{sparseModel(14), Settings{Engine: num.Exact}, ConnectedLattice},
		{sparseModel(14), Settings{Engine: num.Enclose}, ConnectedLattice},
		{sparseModel(14), Settings{}, ClassLattice},
		{lineModel(20, 2), Settings{MaxBytes: 1 << 20}, ConnectedLattice},
		{lineModel(12, 2), Settings{Engine: num.Exact}, ConnectedLattice},
		{lineModel(6, 2), Settings{Engine: num.Exact}, ClassLattice},
		{triplesModel(10), Settings{Engine: num.Enclose}, ServerLattice},
	} {
		n := len(c.m.Classes)
		r, err := Solve(t.Context(), c.m, c.s)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Parts[0].Lattice; got != c.want {
			t.Errorf("%d classes, %s, %d bytes: %s, want %s", n, c.s.Engine, c.s.MaxBytes, got, c.want)
		}
	}
}

// A model that takes more operations than allowed is rejected, or solved on a lattice that takes
// fewer.
func TestMaxWork(t *testing.T) {
	if r, err := Solve(t.Context(), lineModel(24, 2), Settings{MaxWork: 1e7}); err != nil ||
		r.Parts[0].Lattice != ConnectedLattice {
		t.Errorf("%v, want the connected lattice", err)
	}
	m := triplesModel(16)
	for _, c := range []struct {
		q Question
		s Settings
	}{{}, {q: Question{MaxJobs: 20}}, {s: Settings{Engine: num.Enclose}}} {
		c.s.MaxWork = 1e5
		_, err := Answer(t.Context(), m, c.q, c.s)
		var large *num.TooLargeError
		want := "at most 1e+05 operations; the server lattice takes"
		if !errors.As(err, &large) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := Solve(t.Context(), m, Settings{MaxWork: 1e8}); err != nil {
		t.Error(err)
	}
	for _, work := range []float64{-1, math.NaN()} {
		if _, err := Solve(t.Context(), m, Settings{MaxWork: work}); !isInput(err) {
			t.Errorf("work %v: %v", work, err)
		}
	}
}

// A float64 f with f = x(1+ε), |ε| <= e, may represent any x in [f/(1+e), f/(1-e)]. The bounds on a
// derivative contain all of them.
func TestDifferenceOfRoughNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string) (n arithmetic.Number, least, largest *big.Rat) {
			f := rapid.Float64Range(0x1p-100, 0x1p100).Draw(t, what)
			e := rapid.Float64Range(0, 0.0009).Draw(t, "error of "+what)
			x, d, one := new(big.Rat).SetFloat64(f), new(big.Rat).SetFloat64(e), big.NewRat(1, 1)
			return arithmetic.FromFloat(f, e), new(big.Rat).Quo(x, new(big.Rat).Add(one, d)),
				new(big.Rat).Quo(x, new(big.Rat).Sub(one, d))
		}
		plus, leastPlus, largestPlus := draw("plus")
		minus, leastMinus, largestMinus := draw("minus")
		if rapid.Bool().Draw(t, "plus only") {
			minus, leastMinus, largestMinus = arithmetic.FromFloat(0, 0), new(big.Rat), new(big.Rat)
		}
		v, _ := recursion.Difference{Plus: plus, Minus: minus}.Times(big.NewRat(1, 1), 1e-9)
		low, _ := v.Low.Rat(nil)
		high, _ := v.High.Rat(nil)
		if low.Cmp(leastPlus.Sub(leastPlus, largestMinus)) > 0 ||
			high.Cmp(largestPlus.Sub(largestPlus, leastMinus)) < 0 {
			t.Fatalf("[%v, %v] does not contain all", v.Low, v.High)
		}
	})
}

// Derivatives that float64 cannot represent are rejected by all engines.
func TestGradientBeyondDoubles(t *testing.T) {
	m := readModel(t, `{"servers": [{"name": "s", "capacity": "3e-310"}],
		"classes": [{"name": "a", "arrival_rate": "1e-310", "servers": ["s"]}]}`)
	for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose, num.Exact} {
		_, err := gradientOf(t.Context(), m, Settings{Engine: engine})
		var bad *num.InputError
		if !errors.As(err, &bad) && !(engine == num.Float && errors.Is(err, num.ErrFloatRange)) {
			t.Errorf("%s: error %v", engine, err)
		}
		_, errs := gradientsOf(t.Context(), m, Settings{Engine: engine})
		if errs == nil || err == nil || err.Error() != errs.Error() {
			t.Errorf("%s: error %v, but %v for each class", engine, err, errs)
		}
	}
}
