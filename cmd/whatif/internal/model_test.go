package whatif

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

func bytesOf(text string) *strings.Reader { return strings.NewReader(text) }

var compareRats = cmp.Comparer(func(a, b *big.Rat) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 })

// Both texts of a model read as the model, for all numbers and names.
func TestTextsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := serve(t, oracle.DrawModel(t, oracle.Options{Count: 3, Long: true, ZeroRates: true, OwnSizes: true}))
		names := rapid.SliceOfNDistinct(
			rapid.StringOfN(rapid.Rune(), 1, 8, -1), len(m.Servers), len(m.Servers), rapid.ID,
		).Draw(t, "names")
		for i := range m.Servers {
			m.Servers[i].Name, m.Servers[i].Count = names[i], m.Servers[i].Size()
		}
		if m.Check() != nil {
			return // control characters
		}
		if m.MeanSize == nil {
			m.MeanSize = big.NewRat(1, 1)
		}
		if m.Service == cluster.AllServers {
			m.Service = ""
		}
		d := describe(m)
		for _, text := range []string{d.YAML, string(oracle.Must(json.Marshal(d.Model)))} {
			back, err := cluster.Read(strings.NewReader(text))
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			if back.MeanSize == nil {
				back.MeanSize = big.NewRat(1, 1)
			}
			if diff := cmp.Diff(m, back, compareRats); diff != "" {
				t.Fatalf("%s in\n%s", diff, text)
			}
		}
	})
}

// Words that YAML would not read as text are quoted, and numbers with a short decimal form are
// decimals.
func TestYAML(t *testing.T) {
	text := `{"servers": [{"name": "yes", "capacity": "1/4"}, {"name": "12", "capacity": "2/3", "count": 2}],
		"classes": [{"name": "a b", "arrival_rate": "1e-3", "mean_size": "2.50",
		"servers": ["yes", {"group": "12", "choose": 1}]}], "mean_size": 1}`
	want := `servers:
  - {name: "yes", capacity: 0.25}
  - {name: "12", count: 2, capacity: 2/3}
classes:
  - {name: "a b", arrival_rate: 0.001, servers: ["yes", {group: "12", choose: 1}], mean_size: 2.5}
`
	got := ask[Description](t, Question{Ask: "read", Text: text})
	if diff := cmp.Diff(want, got.YAML); diff != "" {
		t.Error(diff)
	}
}

// The shell command has the load, the options and the model.
func TestLine(t *testing.T) {
	m := text(t, model(t, shop))
	yaml := describe(model(t, shop)).YAML
	for _, c := range []struct {
		q    Question
		want string
	}{
		{Question{Load: "1"}, "pfq solve -"},
		{Question{Load: "1.50", Percentiles: []string{"50", "99.9"}}, "pfq solve - --percentiles 50,99.9 --scale 1.5"},
		{
			Question{Load: "2/3", Runs: 20, Jumps: 1e5, Seed: 1},
			"pfq simulate - --runs 20 --jumps 100000 --seed 1 --scale 2/3",
		},
		{
			Question{Load: "1", Runs: 2, Jumps: 1000, Percentiles: []string{"5"}},
			"pfq simulate - --runs 2 --jumps 1000 --seed 0 --percentiles 5",
		},
	} {
		c.q.Ask, c.q.Model = "line", m
		got := ask[Line](t, c.q)
		if want := c.want + " <<'END'\n" + yaml + "END\n"; got.Line != want {
			t.Errorf("%s\nwant\n%s", got.Line, want)
		}
	}
}

// Very small and very large numbers have exponents, not hundreds of zeros.
func TestDecimalExponents(t *testing.T) {
	for text, want := range map[string]string{
		"1e-320": "1e-320", "2.5e-300": "25e-301", "1e300": "1e300", "0.001": "0.001", "12e30": "12e30", "100": "100",
		"0": "0", "1/3": "1/3", "1e-20": "0.00000000000000000001",
		"12345678901234567890123e-3": "12345678901234567890123/1000",
	} {
		if got := decimal(oracle.Must(num.ParseRat(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
