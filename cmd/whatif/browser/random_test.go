package browser

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomModel returns the text of a model of up to five classes and five rows of servers, some of them groups, with fractions as numbers.
func randomModel(r *rand.Rand) string {
	var b strings.Builder
	rows := 1 + r.IntN(5)
	counts := make([]int, rows)
	b.WriteString("servers:\n")
	for s := range rows {
		counts[s] = 1 + max(0, r.IntN(6)-3)
		fmt.Fprintf(&b, "  - {name: s%d, count: %d, capacity: %d/%d}\n", s, counts[s], 1+r.IntN(30), 1+r.IntN(7))
	}
	b.WriteString("classes:\n")
	for i := range 1 + r.IntN(5) {
		var on []string
		for _, s := range r.Perm(rows)[:1+r.IntN(rows)] {
			if counts[s] == 1 {
				on = append(on, fmt.Sprintf("s%d", s))
			} else {
				on = append(on, fmt.Sprintf("{group: s%d, choose: %d}", s, 1+r.IntN(counts[s])))
			}
		}
		fmt.Fprintf(&b, "  - {name: c%d, arrival_rate: %d/%d, servers: [%s]}\n", i, r.IntN(9), 4+r.IntN(9), strings.Join(on, ", "))
	}
	return b.String()
}

// WebAssembly has the digits of the native program: each number of fifty random models, with percentiles, is the same to the last bit.
func TestDigitsOfRandomModels(t *testing.T) {
	p := newTab(t, onePage)
	r := rand.New(rand.NewPCG(7, 11))
	stable := 0
	for range 50 {
		model := randomModel(r)
		text, err := json.Marshal(model)
		p.must(err)
		got := eval[json.RawMessage](p, fmt.Sprintf(`(async () => {
			const { model, error } = await answered({ ask: "read", text: %s });
			return error ? { error } : answered({ ask: "solve", model, load: "1", percentiles });
		})()`, text))
		var page struct {
			Stable    bool     `json:"stable"`
			MeanDelay *float64 `json:"mean_delay"`
			Classes   []struct {
				classOf
				Percentiles []*float64 `json:"percentiles"`
			} `json:"classes"`
			Servers []serverOf `json:"servers"`
		}
		p.must(json.Unmarshal(got, &page))
		var native struct {
			Stable    bool     `json:"stable"`
			MeanDelay *float64 `json:"mean_delay"`
			solution
		}
		p.must(json.Unmarshal([]byte(run(t, model, "solve", "-", "--percentiles", "50,95,99", "--format", "json")), &native))
		if page.Stable != native.Stable {
			t.Fatalf("stable %v on the page, %v by pfq:\n%s", page.Stable, native.Stable, model)
		}
		if !page.Stable {
			continue
		}
		stable++
		var here, there []any
		here, there = append(here, pointed(page.MeanDelay)), append(there, pointed(native.MeanDelay))
		for i, c := range native.Classes {
			g := page.Classes[i]
			here = append(here, pointed(g.MeanJobs), pointed(g.MeanDelay), pointed(g.ServiceRate))
			there = append(there, pointed(c.MeanJobs), pointed(c.MeanDelay), pointed(c.ServiceRate))
			for k, v := range []*float64{c.Delay.P50, c.Delay.P95, c.Delay.P99} {
				if v != nil || len(g.Percentiles) > 0 {
					here, there = append(here, pointed(g.Percentiles[k])), append(there, pointed(v))
				}
			}
		}
		for k, s := range native.Servers {
			here, there = append(here, pointed(page.Servers[k].Utilization)), append(there, pointed(s.Utilization))
		}
		for k := range there {
			if here[k] != there[k] {
				t.Fatalf("%v on the page, %v by pfq:\n%s", here, there, model)
			}
		}
	}
	if stable < 20 {
		t.Errorf("%d models are stable", stable)
	}
}
