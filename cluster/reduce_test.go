package cluster_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// μ(A)/σ of every set A of classes of positive rate is the sum of those of its images in the
// components, where σ is the mean size of jobs in their units.
func TestReduceKeepsRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t, 6, 7, 1)
		parts := oracle.Must(m.Reduce(t.Context()))
		m = m.EqualSizes()
		var active []int
		for i, c := range m.Classes {
			if c.ArrivalRate.Sign() > 0 {
				active = append(active, i)
			}
		}
		for _, a := range oracle.Subsets(len(active)) {
			in := make(map[int]bool)
			for i, k := range a {
				a[i] = active[k]
				in[active[k]] = true
			}
			mu := new(big.Rat)
			for _, p := range parts {
				var image []int
				for i, rows := range p.Classes {
					if slices.ContainsFunc(rows, func(row int) bool { return in[row] }) {
						image = append(image, i)
					}
				}
				mu.Add(mu, oracle.Rank(&p.Model, image))
			}
			if want := oracle.Rank(m, a); mu.Cmp(want) != 0 {
				t.Fatalf("μ(%v) = %v, want %v", a, mu, want)
			}
		}
	})
}

// The measures of a stable model follow from those of its components: the normalization is the
// product, the jobs of merged classes add up, and a server has the utilization of the server into
// which it is merged.
func TestReduceKeepsMeasures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Custom(func(t *rapid.T) *cluster.Model {
			return oracle.DrawModel(t, oracle.Options{
				Servers:        3,
				Classes:        4,
				Count:          3,
				ZeroRates:      true,
				ZeroCapacities: true,
				OwnSizes:       true,
				Stable:         true,
			})
		}).Filter(func(m *cluster.Model) bool { return oracle.Combinations(m) <= 7 }).Draw(t, "model")
		want := oracle.Solve(m)
		z := big.NewRat(1, 1)
		for _, p := range oracle.Must(m.Reduce(t.Context())) {
			got := oracle.Solve(&p.Model)
			z.Mul(z, got.Normalization)
			for i, rows := range p.Classes {
				for _, row := range rows {
					got.MeanJobs[i].Sub(got.MeanJobs[i], want.MeanJobs[row])
				}
				if got.MeanJobs[i].Sign() != 0 {
					t.Fatalf("classes %v have %v more jobs when merged", rows, got.MeanJobs[i])
				}
			}
			for s, rows := range p.Servers {
				for _, row := range rows {
					if got.Busy[s].Cmp(want.Busy[row]) != 0 {
						t.Fatalf("server %d works with probability %v, merged %v", row, want.Busy[row], got.Busy[s])
					}
				}
			}
		}
		if z.Cmp(want.Normalization) != 0 {
			t.Fatalf("product of the components %v, want %v", z, want.Normalization)
		}
	})
}

// The properties in the comment of Component hold, and another reduction changes nothing.
func TestReduceIsSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t, 7, 7, 3)
		before := shape(m)
		parts := oracle.Must(m.Reduce(t.Context()))
		if shape(m) != before {
			t.Fatal("the model has changed")
		}
		if !slices.IsSortedFunc(
			parts, func(a, b cluster.Component) int { return cmp.Compare(a.Servers[0][0], b.Servers[0][0]) },
		) {
			t.Fatal("components out of order")
		}
		var classes, servers []int
		for _, p := range parts {
			if err := p.Model.Check(); err != nil {
				t.Fatal(err)
			}
			wantSmallest(t, &p.Model)
			servers = append(servers, wantRows(t, p.Servers)...)
			classes = append(classes, wantRows(t, p.Classes)...)
			again := oracle.Must(p.Model.Reduce(t.Context()))
			if len(again) != 1 || shape(&again[0].Model) != shape(&p.Model) {
				t.Fatalf("reduced again:\n%s\nwant\n%s", shape(&again[0].Model), shape(&p.Model))
			}
		}
		wantOnce(t, "class", classes, func(i int) bool { return m.Classes[i].ArrivalRate.Sign() > 0 }, len(m.Classes))
		wantOnce(t, "server", servers, func(s int) bool {
			return m.Servers[s].Capacity.Sign() > 0 && slices.ContainsFunc(m.Classes, func(c cluster.Class) bool {
				return c.ArrivalRate.Sign() > 0 &&
					slices.ContainsFunc(c.Servers, func(c cluster.Choice) bool { return c.Server == s })
			})
		}, len(m.Servers))
	})
}

// wantSmallest compares all pairs of rows.
func wantSmallest(t *rapid.T, m *cluster.Model) {
	users := make([]string, len(m.Servers))
	partly := make([]bool, len(m.Servers))
	for i, c := range m.Classes {
		if c.ArrivalRate.Sign() <= 0 {
			t.Fatalf("%s has rate %v", c.Name, c.ArrivalRate)
		}
		for _, d := range m.Classes[:i] {
			if slices.Equal(c.Servers, d.Servers) {
				t.Fatalf("%s and %s have the same choices", c.Name, d.Name)
			}
		}
		for _, choice := range c.Servers {
			users[choice.Server] += fmt.Sprint(i, " ")
			partly[choice.Server] = partly[choice.Server] || choice.Choose < m.Servers[choice.Server].Size()
		}
	}
	for s, server := range m.Servers {
		if server.Capacity.Sign() <= 0 || users[s] == "" || server.Size() > 1 && !partly[s] {
			t.Fatalf("%s: capacity %v, classes %q", server.Name, server.Capacity, users[s])
		}
		for r := range s {
			if users[r] == users[s] && server.Size() == 1 && m.Servers[r].Size() == 1 {
				t.Fatalf("%s and %s have the same classes", server.Name, m.Servers[r].Name)
			}
		}
	}
}

// wantRows returns all rows, and checks that each list is increasing and that the lists are in
// order of their first rows.
func wantRows(t *rapid.T, lists [][]int) (all []int) {
	last := -1
	for _, rows := range lists {
		if len(rows) == 0 || !slices.IsSorted(rows) || rows[0] <= last {
			t.Fatalf("rows %v", lists)
		}
		last = rows[0]
		all = append(all, rows...)
	}
	return all
}

// wantOnce requires each relevant row once, and no other.
func wantOnce(t *rapid.T, kind string, rows []int, matters func(int) bool, n int) {
	count := make([]int, n)
	for _, row := range rows {
		count[row]++
	}
	for row, c := range count {
		if want := map[bool]int{true: 1}[matters(row)]; c != want {
			t.Fatalf("%s %d is in %d components, want %d", kind, row, c, want)
		}
	}
}

func TestReduceGiven(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		// c1 and c2 both use s1 and s2, which no other class uses: 1 + 2 = 3, 1/3 + 1/4 = 7/12.
		{"twins", `[[0 1] [2]] [[0 1] [2] [3]]
"s1" x1 3
"s3" x1 1/2
"c1" 7/12 [{0 1}]
"c3" 1/5 [{0 1} {1 1}]
"c4" 1/7 [{1 1}]
`},
		// c1 is alone, c2 and c3 share s2, and c4 is alone.
		{"disconnected", `[[0]] [[0]]
"s1" x1 1
"c1" 1/3 [{0 1}]
[[1] [2]] [[1] [2]]
"s2" x1 2
"s3" x1 1/2
"c2" 1/4 [{0 1}]
"c3" 3/5 [{0 1} {1 1}]
[[3]] [[3]]
"s4" x1 5/3
"c4" 4/7 [{0 1}]
`},
		// s2 has no work.
		{"zero-capacity", `[[0] [2]] [[0] [1]]
"s1" x1 1
"s3" x1 1
"c1" 3/7 [{0 1} {1 1}]
"c2" 2/7 [{1 1}]
`},
	} {
		references := oracle.References()
		k := slices.IndexFunc(references, func(r oracle.Reference) bool { return r.Name == "given-"+c.name })
		m, err := cluster.ReadJSON(strings.NewReader(references[k].Text))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range oracle.Must(m.Reduce(t.Context())) {
			got += fmt.Sprintln(p.Servers, p.Classes) + shape(&p.Model)
		}
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// A group that all classes choose completely is one server, which may have twins; one that some
// class chooses in part remains a group.
func TestReduceGroups(t *testing.T) {
	m := &cluster.Model{
		Servers: []cluster.Server{
			{Name: "s", Capacity: big.NewRat(1, 2)},
			{Name: "pair", Count: 2, Capacity: big.NewRat(3, 1)},
			{Name: "rack", Count: 4, Capacity: big.NewRat(1, 1)},
		},
		Classes: []cluster.Class{
			{
				Name:        "a",
				ArrivalRate: big.NewRat(1, 1),
				Servers:     []cluster.Choice{{Server: 2, Choose: 4}, {Server: 1, Choose: 2}, {Server: 0, Choose: 1}},
			},
			{Name: "idle", ArrivalRate: new(big.Rat), Servers: []cluster.Choice{{Server: 1, Choose: 1}}},
			{Name: "b", ArrivalRate: big.NewRat(1, 5), Servers: []cluster.Choice{{Server: 2, Choose: 3}}},
		},
		MeanSize: big.NewRat(2, 1),
	}
	parts := oracle.Must(m.Reduce(t.Context()))
	if len(parts) != 1 {
		t.Fatalf("%d components, want 1", len(parts))
	}
	want := `"s" x1 13/4
"rack" x4 1/2
"a" 1 [{0 1} {1 4}]
"b" 1/5 [{1 3}]
`
	if got := shape(&parts[0].Model); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	m.Classes[0].ArrivalRate, m.Classes[2].ArrivalRate = new(big.Rat), new(big.Rat)
	if parts := oracle.Must(m.Reduce(t.Context())); len(parts) != 0 {
		t.Errorf("%d components without jobs", len(parts))
	}
}

func BenchmarkReduce(b *testing.B) {
	m := wide(100_000, 10)
	b.Run("classes=100000/choices=1000000", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.Reduce(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Rates without a common denominator of reasonable length are rejected. Whenever a context ends,
// the reduction stops.
func TestReduceEnds(t *testing.T) {
	m := wide(3000, 10)
	for i := range m.Classes {
		m.Classes[i].ArrivalRate = big.NewRat(1, int64(1_000_003+2*i))
		m.Classes[i].Servers = cluster.On(1 + i%6) // servers of positive capacity
	}
	if err := oracle.CheckEnds(
		func(ctx context.Context) error { _, err := m.Reduce(ctx); return err }, 1<<14, 4,
	); err != nil {
		t.Error(err)
	}
	for i := range m.Classes {
		d := new(big.Int).Lsh(big.NewInt(1), 16000)
		m.Classes[i].ArrivalRate = new(big.Rat).SetFrac(big.NewInt(1), d.Add(d, big.NewInt(int64(2*i+1))))
		m.Classes[i].Servers = cluster.On(1)
	}
	m.Classes = m.Classes[:128]
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	var large *num.TooLargeError
	if _, err := m.Reduce(t.Context()); !errors.As(err, &large) || large.Input.Path != "classes" {
		t.Errorf("error %v", err)
	}
}
