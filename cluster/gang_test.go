package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/bf"
	"productform/cluster"
	"productform/internal/input"
	"productform/oneserver"
	"productform/stability"
)

const gangs = `service: gang
servers: [{name: gpu, count: 16}, {name: memory, count: 512, capacity: 1}]
classes:
- {name: a, arrival_rate: 1/2, servers: [gpu], needs: 4, mean_size: 3}
- {name: b, arrival_rate: 2, needs: {memory: 32, gpu: 1}}
`

// Both forms of needs survive reading, writing and changes of a model.
func TestGang(t *testing.T) {
	m, err := cluster.ReadYAML(strings.NewReader(gangs))
	if err != nil {
		t.Fatal(err)
	}
	needs := [][]cluster.Choice{{{Server: 0, Choose: 4}}, {{Server: 1, Choose: 32}, {Server: 0, Choose: 1}}}
	var text bytes.Buffer
	if err := m.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	again, err := cluster.ReadJSON(&text)
	if err != nil {
		t.Fatal(err)
	}
	text.Reset()
	comments := cluster.Comments{Head: []string{"Two classes"}, Classes: []string{"", "1 GPU"}}
	if err := m.WriteYAML(&text, comments); err != nil {
		t.Fatal(err)
	}
	const yaml = `# Two classes
service: gang
servers:
  - {name: gpu, count: 16}
  - {name: memory, count: 512, capacity: 1}
classes:
  - {name: a, arrival_rate: 0.5, needs: {gpu: 4}, mean_size: 3}
  # 1 GPU
  - {name: b, arrival_rate: 2, needs: {memory: 32, gpu: 1}}
`
	if text.String() != yaml {
		t.Errorf("got\n%s", text.String())
	}
	once, err := cluster.ReadYAML(&text)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*cluster.Model{m, again, once, m.Scale(big.NewRat(2, 1)), m.ScaleClass(0, big.NewRat(2, 1))} {
		for i, c := range m.Classes {
			if c.Servers != nil || !cmp.Equal(c.Needs, needs[i]) || m.RequireService(cluster.Gang) != nil {
				t.Errorf("class %d: %+v", i, c)
			}
		}
	}
}

// Errors name the line, the path, the value and the accepted values.
func TestBadGangs(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"needs: 4", "needs: 17",
			`line 4: classes[0].needs = 17: want an integer from 1 to 16, the count of "gpu"`},
		{"needs: 4", "needs: 0", `line 4: classes[0].needs = 0: want an integer from 1 to 16, the count of "gpu"`},
		{"needs: 4", "needs: -1",
			`line 4: classes[0].needs = -1: want an integer from 1 to 16, the count of "gpu"`},
		{"needs: 4", "needs: 2.5",
			`line 4: classes[0].needs = 2.5: want an integer from 1 to 16, the count of "gpu"`},
		{"needs: 4", "needs: many",
			`line 4: classes[0].needs = "many": want an integer from 1 to 16, the count of "gpu" (character 'm' at ` +
				`position 1; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
		{", needs: 4", "",
			`line 4: classes[0].needs is missing: want an integer from 1 to 16, the count of "gpu"`},
		{"servers: [gpu], needs: 4", "needs: 4", `line 4: classes[0].needs = the number 4: want a map from names of ` +
			`servers to amounts, such as {gpu: 4, memory: 32}, or servers with one name and an integer`},
		{"servers: [gpu], needs: 4, ", "", `line 4: classes[0].needs is missing: want a map from names of ` +
			`servers to amounts, such as {gpu: 4, memory: 32}, or servers with one name and an integer`},
		{"needs: {memory: 32, gpu: 1}", "needs: {}", `line 5: classes[1].needs = an object: want a map from names of ` +
			`servers to amounts, such as {gpu: 4, memory: 32}, or servers with one name and an integer`},
		{"servers: [gpu]", "servers: [gpu, memory]",
			`line 4: classes[0].servers = 2 of them: want one name; for several resources use needs such as ` +
				`{gpu: 4, memory: 32} and no servers`},
		{"needs: 4", "needs: {gpu: 4}", `line 4: classes[0].needs = an object: want an integer from 1 to 16, the ` +
			`count of "gpu"; a class with a map has no servers`},
		{"[gpu]", "[gpus]", `line 4: classes[0].servers[0] = "gpus": want the name of a server; did you mean "gpu"?`},
		{"gpu: 1", "gpus: 1", `line 5: classes[1].needs.gpus = "gpus": want the name of a server; did you mean "gpu"?`},
		{"gpu: 1", "gpu: 17", `line 5: classes[1].needs.gpu = 17: want an integer from 1 to 16, the count of "gpu"`},
		{"gpu: 1", "gpu: 0", `line 5: classes[1].needs.gpu = 0: want an integer from 1 to 16, the count of "gpu"`},
		{"gpu: 1", "gpu: 1/2",
			`line 5: classes[1].needs.gpu = "1/2": want an integer from 1 to 16, the count of "gpu"`},
		{"capacity: 1", "capacity: 2",
			"line 2: servers[1].capacity = 2: want 1 with service gang, since mean_size is a time"},
		{"capacity: 1", "capacity: 0",
			"line 2: servers[1].capacity = 0: want 1 with service gang, since mean_size is a time"},
		{"mean_size: 3", "mean_size: 0", "line 4: classes[0].mean_size = 0: want a number > 0"},
		{"mean_size: 3", "priority: 3",
			"line 4: classes[0].priority = the number 3: want one of the fields name, arrival_rate, servers, needs, " +
				"mean_size"},
		{"service: gang", "service: all", "line 2: servers[0].capacity is missing: want a number >= 0"},
	} {
		text := strings.Replace(gangs, c.old, c.new, 1)
		if _, err := cluster.ReadYAML(strings.NewReader(text)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", c.new, err, c.want)
		}
	}
	_, err := cluster.ReadJSON(strings.NewReader(`{"service": "gang", "servers": [{"name": "s", "count": 3}],
		"classes": [{"name": "a", "arrival_rate": 1, "needs": {"s": 1, "s": 2}}]}`))
	if err == nil || err.Error() != `line 2: classes[0].needs.s = the number 2: want each server once; `+
		`it is already in this class` {
		t.Error(err)
	}
}

// Check also rejects bad models built in Go.
func TestBadGangRows(t *testing.T) {
	for want, change := range map[string]func(*cluster.Model){
		"classes[0].servers = 1 of them: want none with service gang: needs replace servers": func(m *cluster.Model) {
			m.Classes[0].Servers = cluster.On(0)
		},
		"classes[0].needs is missing: want at least one row of servers and its amount": func(m *cluster.Model) {
			m.Classes[0].Needs = nil
		},
		"classes[1].needs = 2: want a row of servers, 0 to 1": func(m *cluster.Model) {
			m.Classes[1].Needs[0].Server = 2
		},
		"classes[1].needs.gpu = 1: want each server once; it is already in this class": func(m *cluster.Model) {
			m.Classes[1].Needs[0].Server = 0
			m.Classes[1].Needs[0].Choose = 2
		},
		`classes[1].needs.memory = 513: want an integer from 1 to 512, the count of "memory"`: func(m *cluster.Model) {
			m.Classes[1].Needs[0].Choose = 513
		},
		"classes[0].priority = 1: want none with service gang": func(m *cluster.Model) { m.Classes[0].Priority = 1 },
		"mean_timeout = 1: want none with service gang": func(m *cluster.Model) {
			m.MeanTimeout = big.NewRat(1, 1)
		},
		"mean_patience = 1: want none with service gang": func(m *cluster.Model) {
			m.MeanPatience = big.NewRat(1, 1)
		},
	} {
		m, err := cluster.ReadYAML(strings.NewReader(gangs))
		if err != nil {
			t.Fatal(err)
		}
		change(m)
		if err := m.Check(); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	m, err := cluster.New([]float64{1}, []float64{1}, [][]int{{0}})
	if err != nil {
		t.Fatal(err)
	}
	m.Classes[0].Needs = []cluster.Choice{{Server: 0, Choose: 1}}
	if err := m.Check(); err == nil || err.Error() != "classes[0].needs = 1 of them: want none with service all" {
		t.Error(err)
	}
}

// Solvers for other services reject gangs.
func TestGangsAreRejected(t *testing.T) {
	m, err := cluster.ReadYAML(strings.NewReader(gangs))
	if err != nil {
		t.Fatal(err)
	}
	for want, solve := range map[string]func(context.Context) error{
		"all": func(ctx context.Context) error { _, err := bf.Solve(ctx, m, bf.Settings{}); return err },
		"one": func(ctx context.Context) error {
			_, err := oneserver.Solve(ctx, m, oneserver.Settings{})
			return err
		},
		"all or one": func(ctx context.Context) error { _, err := stability.Cluster(ctx, m); return err },
	} {
		err := solve(t.Context())
		var bad *input.Error
		if !errors.As(err, &bad) || bad.Error() != `service = "gang": want `+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	var bad *input.Error
	if _, err := m.Rank(t.Context()); !errors.As(err, &bad) {
		t.Error(err)
	}
	if _, err := m.Reduce(t.Context()); !errors.As(err, &bad) {
		t.Error(err)
	}
	if _, _, _, err := m.Expand(10); !errors.As(err, &bad) {
		t.Error(err)
	}
}
