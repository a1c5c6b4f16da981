package stability

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"slices"
	"testing"

	"productform/cluster"
)

// Independent exact answers, as fractions.
func TestReference(t *testing.T) {
	data, err := os.ReadFile("testdata/oi_reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name   string
		Model  json.RawMessage
		Expect struct {
			Stable        bool
			CriticalScale string `json:"critical_scale"`
			Margin        string
			Bottleneck    []string
		}
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 15 {
		t.Fatalf("%d cases, want 15", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			m, err := cluster.ReadJSON(bytes.NewReader(c.Model))
			if err != nil {
				t.Fatal(err)
			}
			r, err := Cluster(m)
			if err != nil {
				t.Fatal(err)
			}
			if err := Verify(m, r); err != nil {
				t.Error(err)
			}
			lambda, mu := loads(m)
			table := make([]*big.Rat, 1<<len(lambda))
			for a := range table {
				table[a] = mu(members(a))
			}
			ranked, err := Rank(lambda, table)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []*Result{r, ranked} {
				var names []string
				for _, i := range r.Bottleneck {
					names = append(names, m.Classes[i].Name)
				}
				if r.Stable != c.Expect.Stable || r.Margin.RatString() != c.Expect.Margin ||
					r.CriticalScale.RatString() != c.Expect.CriticalScale || !slices.Equal(names, c.Expect.Bottleneck) {
					t.Errorf("got %v, margin %v, scale %v of %v; want %+v", r.Stable, r.Margin, r.CriticalScale, names, c.Expect)
				}
			}
		})
	}
}
