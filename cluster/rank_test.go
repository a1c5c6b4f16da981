package cluster_test

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// The table contains the capacity of the union of the servers of each set, including whole groups.
func TestRankMatchesUnionOfServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t, 5, 6, 3).EqualSizes()
		for i := range m.Classes {
			for k, c := range m.Classes[i].Servers {
				m.Classes[i].Servers[k].Choose = m.Servers[c.Server].Size()
			}
		}
		table, err := m.Rank(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(table) != 1<<len(m.Classes) {
			t.Fatalf("%d values for %d classes", len(table), len(m.Classes))
		}
		for _, set := range oracle.Subsets(len(m.Classes)) {
			if got, want := table[oracle.Mask(set)], oracle.Rank(m, set); got.Cmp(want) != 0 {
				t.Errorf("μ(%v) = %v, want %v", set, got, want)
			}
		}
	})
}

func TestRankRejects(t *testing.T) {
	model := func(classes, choose int) *cluster.Model {
		m := &cluster.Model{Servers: []cluster.Server{{Name: "rack", Count: 4, Capacity: big.NewRat(1, 1)}}}
		for i := range classes {
			m.Classes = append(m.Classes, cluster.Class{
				Name:        fmt.Sprint(i),
				ArrivalRate: big.NewRat(1, 100),
				Servers:     []cluster.Choice{{Server: 0, Choose: choose}},
			})
		}
		return m
	}
	unnamed := model(1, 4)
	unnamed.Classes[0].Name = ""
	for _, c := range []struct {
		m    *cluster.Model
		want string
	}{
		{
			model(2, 3),
			`classes[0].servers[0].choose = 3: want all 4 servers of "rack"; Model.Expand expands other choices ` +
				`into single servers and classes, package bf supports them directly`,
		},
		{
			model(21, 4),
			"classes = 21 of them: want at most 20, since the rank function has 2^N values; package bf takes more",
		},
		{unnamed, `classes[0].name = "": want a name, not empty`},
	} {
		_, err := c.m.Rank(t.Context())
		if e := new(num.InputError); !errors.As(err, &e) || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}
