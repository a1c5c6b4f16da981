package input_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"productform/fluid/traffic"
	"productform/network"
	"productform/network/line"
	"productform/network/loss"
	"productform/network/swap"
	"productform/plan"
)

// FuzzRead gives each reader of model files arbitrary texts: each text yields either an error or a
// model that is valid by its own check. Fuzzing starts from valid models of all kinds, and from
// models with unusual fields. The first byte of an input selects the reader: half of the inputs
// would change nothing else if it were a separate argument.
func FuzzRead(f *testing.F) {
	readers := []struct {
		files string
		texts []string
		check func(t *testing.T, text []byte)
	}{
		{"network/testdata/*.yaml", []string{
			`{"stations": [{"name": "a", "discipline": "lcfs", "rate": "1/3"}],
				"classes": [{"name": "x", "arrival_rate": 1e-3, "visits": [{"station": "a", "next": {"out": 1}}]}]}`,
			`{"stations": [{"name": "a/b", "discipline": "delay"}], "classes": [{"name": "b/c", "population": 1,
				"visits": [{"station": "a/b", "next": {"a/b/b/c": 1, "a/b": 0}}]}]}`,
		}, checked(network.Read)},
		{"network/line/testdata/*.json", nil, checked(line.Read)},
		{"network/loss/testdata/*.yaml", []string{
			`{"servers": 3, "room": 5, "classes": [{"name": "a", "arrival_rate": 1, "sources": 4}]}`,
			`{"servers": [{"name": "s", "capacity": 1, "tokens": 2}],
				"classes": [{"name": "a", "arrival_rate": 1e3, "servers": ["s"], "mean_size": "1/3"}]}`,
			`{"servers": [{"name": "s", "capacity": 1}],
				"classes": [{"name": "a", "arrival_rate": 1, "servers": ["t"]}],
				"limits": [{"classes": ["a"], "most": -1}]}`,
		}, checked(loss.Read)},
		{"network/swap/testdata/*.yaml", []string{
			`{"servers": [{"name": "s", "capacity": 1}], "classes": [{"name": "a", "population": 3, "servers": ["s"]}],
				"start": ["a", "a", "a"], "swaps": [["a", "a"]]}`,
		}, checked(swap.Read)},
		{"cmd/pfq/examples/traffic/*.yaml", []string{
			`{"resources": [{"name": "cpu", "capacity": 9}, {"name": "gpu mem", "capacity": 1}],
				"jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 0.5, "declared": {"cpu": 2, "gpu mem": 1}},
				{"name": "b", "demand": {"gpu mem": 1}, "weight": 2, "arrival_rate": 0, "max_tasks": "1/2"}]}`,
		}, checked(traffic.Read)},
		{"plan/testdata/*.yaml", []string{
			`{"model": {"servers": [{"name": "s", "capacity": 1}],
				"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s"]}]},
				"targets": [{"mean_delay": 2}, {"class": "a", "percentile": 99.9, "delay": "1/3"}],
				"upgrades": [{"server": "s", "step": 0.5, "cost": 2, "most": 4}]}`,
			`{"model": {"servers": [{"name": "s", "capacity": 1}],
				"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s"]}]},
				"edges": [{"class": "a", "server": "s", "cost": 1}], "no_worse": true, "budget": 1e3, "minimize": "a"}`,
			`{"model": {"servers": [{"name": "s", "capacity": 1}],
				"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s"]}]},
				"new_servers": [{"name": "t", "capacity": -1, "classes": ["b"], "cost": 0, "most": 1e9}], "scale": 0}`,
		}, checked(func(r io.Reader) (*plan.Problem, error) { return plan.Read(r, "../../plan/testdata") })},
	}
	for i, r := range readers {
		files, err := filepath.Glob(filepath.Join("../..", r.files))
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %v, %v", r.files, files, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(append([]byte{byte(i)}, text...))
		}
		for _, text := range r.texts {
			f.Add(append([]byte{byte(i)}, text...))
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) > 0 {
			readers[int(input[0])%len(readers)].check(t, input[1:])
		}
	})
}

// checked returns a function that checks what read makes of a text.
func checked[M interface {
	comparable
	Check() error
}](read func(io.Reader) (M, error)) func(*testing.T, []byte) {
	return func(t *testing.T, text []byte) {
		var none M
		m, err := read(bytes.NewReader(text))
		if err != nil {
			if m != none || err.Error() == "" {
				t.Fatalf("model %v, error %q", m, err)
			}
			return
		}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
	}
}
