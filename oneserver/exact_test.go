package oneserver

import (
	"math"
	"math/big"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/network/loss"
	"productform/num"
)

// model returns a cluster of single servers; classes name them by letters, "ab" for the first two.
func model(capacities, rates string, classes ...string) *cluster.Model {
	m := &cluster.Model{Service: cluster.OneServer}
	for s, c := range oracle.Rats(capacities) {
		m.Servers = append(m.Servers, cluster.Server{Name: string(rune('a' + s)), Capacity: c})
	}
	for i, r := range oracle.Rats(rates) {
		c := cluster.Class{Name: classes[i], ArrivalRate: r}
		for _, s := range classes[i] {
			c.Servers = append(c.Servers, cluster.On(int(s-'a'))...)
		}
		m.Classes = append(m.Classes, c)
	}
	// Two classes with the same servers need different names.
	for i := range m.Classes {
		m.Classes[i].Name += string(rune('0' + i))
	}
	return m
}

func solveExactly(t *testing.T, m *cluster.Model) *Result {
	r, err := Solve(t.Context(), m, Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFractions compares means with fractions that were found by hand and by other programs.
func TestFractions(t *testing.T) {
	for _, c := range []struct {
		what string
		m    *cluster.Model
		of   func(*Result) *num.Value
		want string
	}{
		{"M/M/1 waits", model("1", "1/2", "a"), waiting(0), "1"},
		{"another class comes to a", model("1 1", "1/2 1/2", "a", "ab"), waiting(0), "15/11"},
		{"and waits less there", model("1 1", "1/2 1/2", "a", "ab"), waiting(1), "3/11"},
		{"two M/M/1", model("1 1", "1/2 1/4", "a", "b"), func(r *Result) *num.Value { return &r.MeanQueue }, "7/12"},
		{"one more edge", model("1 1", "1/2 1/4", "a", "ab"), func(r *Result) *num.Value { return &r.MeanQueue },
			"621/1060"},
		{"a slow server", model("1 10", "3/4 3", "a", "ab"), delay(1), "113/609"},
		{"a faster server", model("2 10", "3/4 3", "a", "ab"), delay(1), "193/957"},
		{"one server", model("1", "1/4", "a"), delay(0), "4/3"},
		{"and a slow one", model("1 1/2", "1/4", "ab"), delay(0), "216/145"},
		{"fast and slow", model("1 1/4", "1/2", "ab"), delay(0), "250/111"},
	} {
		want, _ := new(big.Rat).SetString(c.want)
		if got := c.of(solveExactly(t, c.m)); got.Exact == nil || got.Exact.Cmp(want) != 0 {
			t.Errorf("%s: %v, want %s", c.what, got.Exact, c.want)
		}
	}
}

func waiting(i int) func(*Result) *num.Value {
	return func(r *Result) *num.Value { return r.Classes[i].MeanWaiting }
}

func delay(i int) func(*Result) *num.Value {
	return func(r *Result) *num.Value { return r.Classes[i].MeanDelay }
}

// TestPool compares pools of equal servers with the formula of Erlang.
func TestPool(t *testing.T) {
	for _, c := range []struct {
		n    int
		load *big.Rat
	}{{1, big.NewRat(1, 2)}, {7, big.NewRat(13, 2)}, {100, big.NewRat(95, 1)}, {1500, big.NewRat(1490, 1)}} {
		m := &cluster.Model{Service: cluster.OneServer,
			Servers: []cluster.Server{{Name: "pool", Count: c.n, Capacity: big.NewRat(1, 1)}},
			Classes: []cluster.Class{{Name: "jobs", ArrivalRate: c.load,
				Servers: []cluster.Choice{{Server: 0, Choose: c.n}}}}}
		for _, engine := range []num.Engine{num.Float, num.Enclose} {
			r, err := Answer(t.Context(), m, Question{Levels: oracle.Rats("0.5 0.99 0.99999")},
				Settings{Engine: engine})
			if err != nil {
				t.Fatal(c.n, err)
			}
			want, err := loss.ErlangC(t.Context(), c.n, c.load, loss.FormulaSettings{})
			if err != nil {
				t.Fatal(err)
			}
			free, _ := new(big.Rat).Sub(big.NewRat(int64(c.n), 1), c.load).Float64()
			for k, tail := range []float64{0.5, 0.01, 0.00001} { // a job that waits does so for an exponential time
				want := max(0, math.Log(want.Float/tail)/free)
				if got := r.Classes[0].Waiting[k].Float; !oracle.Near(got, want, 1e-9) {
					t.Errorf("%d servers, %s: waiting quantile %v, want %v", c.n, engine, got, want)
				}
			}
			for _, x := range []struct {
				what      string
				got, want float64
			}{
				{"wait probability", r.Classes[0].WaitProbability.Float, want.Float},
				{"mean waiting", r.Classes[0].MeanWaiting.Float, want.Float / free},
				{"mean delay", r.MeanDelay.Float, want.Float/free + 1},
			} {
				if !oracle.Near(x.got, x.want, 1e-12) {
					t.Errorf("%d servers, %s: %s %v, want %v", c.n, engine, x.what, x.got, x.want)
				}
			}
		}
	}
}
