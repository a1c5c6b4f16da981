package plan_test

import (
	"bytes"
	"os"
	"testing"

	"productform/plan"
)

// Every text yields either an error or a valid plan.
func FuzzRead(f *testing.F) {
	text, err := os.ReadFile("testdata/plan.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	const inline = `{"model": {"servers": [{"name": "s", "capacity": 1}],
		"classes": [{"name": "a", "arrival_rate": 0.9, "servers": ["s"]}]}, `
	for _, rest := range []string{
		`"targets": [{"mean_delay": 2}, {"class": "a", "percentile": 99.9, "delay": "1/3"}],
			"upgrades": [{"server": "s", "step": 0.5, "cost": 2, "most": 4}]}`,
		`"edges": [{"class": "a", "server": "s", "cost": 1}], "no_worse": true, "budget": 1e3, "minimize": "a"}`,
		`"new_servers": [{"name": "t", "capacity": -1, "classes": ["b"], "cost": 0, "most": 1e9}], "scale": 0}`,
	} {
		f.Add([]byte(inline + rest))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := plan.Read(bytes.NewReader(data), "testdata")
		if err != nil {
			if p != nil || err.Error() == "" {
				t.Fatalf("plan %v, error %q", p, err)
			}
			return
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
