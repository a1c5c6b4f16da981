package cluster_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
)

// The classes of a row are all sets with the right number of servers of each row, found by trying
// every set of servers, and share its rate.
func TestExpandListsAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t, 4, 3, 3)
		e, serverRow, classRow, err := m.Expand(10_000)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
		wantCopies(t, m, e, serverRow)
		found := make([][][]int, len(m.Classes))
		rate := make([]*big.Rat, len(m.Classes))
		for i, c := range e.Classes {
			row := classRow[i]
			var set []int
			for _, choice := range c.Servers {
				set = append(set, choice.Server)
			}
			slices.Sort(set)
			found[row] = append(found[row], set)
			if rate[row] == nil {
				rate[row] = new(big.Rat)
			}
			rate[row].Add(rate[row], c.ArrivalRate)
			if c.ArrivalRate.Cmp(e.Classes[slices.Index(classRow, row)].ArrivalRate) != 0 {
				t.Fatalf("%s has a different rate than the other classes of its row", c.Name)
			}
		}
		for row, c := range m.Classes {
			choose := make([]int, len(m.Servers))
			for _, choice := range c.Servers {
				choose[choice.Server] = choice.Choose
			}
			var want [][]int
			for _, set := range oracle.Subsets(len(e.Servers)) {
				count := make([]int, len(m.Servers))
				for _, s := range set {
					count[serverRow[s]]++
				}
				if slices.Equal(count, choose) {
					want = append(want, set)
				}
			}
			slices.SortFunc(want, slices.Compare)
			slices.SortFunc(found[row], slices.Compare)
			if !slices.EqualFunc(found[row], want, slices.Equal) {
				t.Fatalf("%s: sets %v, want %v", c.Name, found[row], want)
			}
			if rate[row].Cmp(c.ArrivalRate) != 0 {
				t.Fatalf("%s: rate %v, want %v", c.Name, rate[row], c.ArrivalRate)
			}
		}
	})
}

// wantCopies requires Count single servers for each row, in order.
func wantCopies(t *rapid.T, m, e *cluster.Model, serverRow []int) {
	var rows []int
	for row, s := range m.Servers {
		rows = append(rows, slices.Repeat([]int{row}, s.Size())...)
	}
	if !slices.Equal(serverRow, rows) {
		t.Fatalf("rows of servers %v, want %v", serverRow, rows)
	}
	for s, server := range e.Servers {
		if server.Size() != 1 || server.Capacity.Cmp(m.Servers[rows[s]].Capacity) != 0 {
			t.Fatalf("%+v from %+v", server, m.Servers[rows[s]])
		}
	}
}

// Names stay unique even if the file already has one of the new ones.
func TestExpandNames(t *testing.T) {
	m := &cluster.Model{
		Servers: []cluster.Server{
			{Name: "rack", Count: 2, Capacity: big.NewRat(1, 1)},
			{Name: "rack/2", Capacity: big.NewRat(1, 1)},
		},
		Classes: []cluster.Class{{
			Name:        "a",
			ArrivalRate: big.NewRat(1, 1),
			Servers:     []cluster.Choice{{Server: 0, Choose: 1}},
		}},
	}
	e, _, _, err := m.Expand(3)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Check(); err != nil {
		t.Error(err)
	}
	if e.Servers[1].Name != "rack/2'" || e.Servers[2].Name != "rack/2" {
		t.Errorf("names %q and %q", e.Servers[1].Name, e.Servers[2].Name)
	}
}

func TestExpandLimit(t *testing.T) {
	rack := func(count, choose, rows int) *cluster.Model {
		m := &cluster.Model{Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(1, 1)}}}
		for s := range rows {
			m.Servers = append(m.Servers, cluster.Server{
				Name:     string(rune('r' + s)),
				Count:    count,
				Capacity: big.NewRat(1, 1),
			})
			m.Classes[0].Servers = append(m.Classes[0].Servers, cluster.Choice{Server: s, Choose: choose})
		}
		return m
	}
	for _, c := range []struct {
		m     *cluster.Model
		limit int
		want  string
	}{
		{rack(5, 2, 1), 10, ""}, // C(5, 2) = 10
		{rack(5, 2, 1), 9, `classes[0].servers = ["r"]: want at most 9 combinations of servers in all classes`},
		{rack(5, 4, 2), 25, ""}, // 5²
		{rack(5, 4, 2), 24, `classes[0].servers = ["r", "s"]: want at most 24 combinations of servers in all classes`},
		{rack(5, 5, 1), 4, `servers[0] = a group of 5: want a total of at most 4 servers`},
		{rack(3, 3, 2), 5, `servers[1] = a group of 3: want a total of at most 5 servers`},
		{
			rack(1000, 500, 9), 100_000,
			`classes[0].servers = ["r", "s", "t", "u", "v", "w", "x", "y", "z"]: want at most 100000 combinations ` +
				`of servers in all classes`,
		},
	} {
		_, _, _, err := c.m.Expand(c.limit)
		if got := ""; err != nil {
			got = err.Error()
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("expanded; want %s", c.want)
		}
	}
}
