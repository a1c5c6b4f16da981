package cluster_test

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"productform/cluster"
)

// Each entry corrupts one field of a valid model.
func TestCheck(t *testing.T) {
	long := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 1<<14))
	for _, c := range []struct {
		spoil func(m *cluster.Model)
		want  string
	}{
		{func(m *cluster.Model) { *m = cluster.Model{} }, "servers = []: want at least one server"},
		{func(m *cluster.Model) { m.Classes = nil }, "classes = []: want at least one class"},
		{func(m *cluster.Model) { m.Servers[0].Name = "" }, `servers[0].name = "": want a name, not empty`},
		{
			func(m *cluster.Model) { m.Servers[0].Name = "\xff" },
			`servers[0].name = "\xff": want a name in UTF-8 without control characters`,
		},
		{
			func(m *cluster.Model) { m.Servers[2].Name = "s1" },
			`servers[2].name = "s1": want a unique name; servers[0] has this one`,
		},
		{
			func(m *cluster.Model) { m.Servers[1].Count = -1 },
			"servers[1].count = -1: want an integer from 1 to 1000000",
		},
		{
			func(m *cluster.Model) { m.Servers[1].Count = 1_000_001 },
			"servers[1].count = 1000001: want an integer from 1 to 1000000",
		},
		{func(m *cluster.Model) { m.Servers[1].Capacity = nil }, "servers[1].capacity is missing: want a number >= 0"},
		{
			func(m *cluster.Model) { m.Servers[1].Capacity = big.NewRat(-1, 3) },
			"servers[1].capacity = -1/3: want a number >= 0",
		},
		{func(m *cluster.Model) { m.Servers[1].Capacity = long }, "servers[1].capacity = a fraction of 16385 over 1 " +
			"bits: want at most 16384 bits in numerator and denominator"},
		{
			func(m *cluster.Model) { m.Classes[0].Name = "b" },
			`classes[1].name = "b": want a unique name; classes[0] has this one`,
		},
		{
			func(m *cluster.Model) { m.Classes[0].ArrivalRate = nil },
			"classes[0].arrival_rate is missing: want a number >= 0",
		},
		{
			func(m *cluster.Model) { m.Classes[0].ArrivalRate = big.NewRat(-1, 1) },
			"classes[0].arrival_rate = -1: want a number >= 0",
		},
		{func(m *cluster.Model) { m.Classes[0].Servers = nil }, "classes[0].servers = []: want at least one server"},
		{
			func(m *cluster.Model) { m.Classes[0].Servers = cluster.On(3) },
			"classes[0].servers[0] = 3: want a row of servers, 0 to 2",
		},
		{
			func(m *cluster.Model) { m.Classes[0].Servers = cluster.On(0, -1) },
			"classes[0].servers[1] = -1: want a row of servers, 0 to 2",
		},
		{
			func(m *cluster.Model) { m.Classes[0].Servers = cluster.On(0, 1, 0) },
			`classes[0].servers[2] = "s1": want each server once; it is already in this class`,
		},
		{
			func(m *cluster.Model) { m.Classes[0].Servers[1].Choose = 0 },
			`classes[0].servers[1].choose = 0: want an integer from 1 to 4, the servers in "rack"`,
		},
		{
			func(m *cluster.Model) { m.Classes[0].Servers[1].Choose = 5 },
			`classes[0].servers[1].choose = 5: want an integer from 1 to 4, the servers in "rack"`,
		},
		{
			func(m *cluster.Model) { m.Classes[0].Servers[0].Choose = 2 },
			`classes[0].servers[0].choose = 2: want 1, since "s1" is one server`,
		},
		{
			func(m *cluster.Model) { m.Servers[2].Capacity.SetInt64(0) },
			`classes[1].servers = ["t"]: want a server of positive capacity`,
		},
		{func(m *cluster.Model) { m.MeanSize = new(big.Rat) }, "mean_size = 0: want a number > 0"},
		{func(m *cluster.Model) { m.MeanSize = big.NewRat(-1, 2) }, "mean_size = -1/2: want a number > 0"},
	} {
		m := theModel()
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		c.spoil(m)
		if err := m.Check(); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
		var b bytes.Buffer
		if err := m.WriteJSON(&b); err == nil || b.Len() > 0 {
			t.Errorf("error %v and %d bytes written of a model with %s", err, b.Len(), c.want)
		}
	}
}

// The longest numbers that Check accepts can be written and read.
func TestLongestNumber(t *testing.T) {
	one := big.NewInt(1)
	longest := new(big.Int).Sub(new(big.Int).Lsh(one, 1<<14), one)
	m := theModel()
	m.MeanSize = new(big.Rat).SetFrac(longest, new(big.Int).Sub(longest, one))
	sameAgain(t, m)
	m.MeanSize.Add(m.MeanSize, big.NewRat(1, 3))
	if err := m.Check(); err == nil ||
		!strings.HasPrefix(err.Error(), "mean_size = a fraction of 16386 over 16386 bits") {
		t.Errorf("got %v", err)
	}
}
