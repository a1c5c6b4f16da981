package browser

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// randomModel returns the text of a model of up to five classes and five rows of servers, some of
// them groups, with fractions as numbers.
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
		fmt.Fprintf(&b, "  - {name: c%d, arrival_rate: %d/%d, servers: [%s]}\n",
			i, r.IntN(9), 4+r.IntN(9), strings.Join(on, ", "))
	}
	return b.String()
}

// WebAssembly has the digits of the native program: each number of fifty random models, with
// percentiles, is the same to the last bit.
func TestDigitsOfRandomModels(t *testing.T) {
	p := original(t)
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
		var page, native map[string]any
		p.must(json.Unmarshal(got, &page))
		p.must(json.Unmarshal(
			[]byte(run(t, model, "solve", "-", "--percentiles", "50,95,99", "--format", "json")), &native,
		))
		names := []string{"stable"}
		if native["stable"] == true {
			stable++
			names = append(names, "mean_jobs", "mean_delay", "normalization", "empty_probability", "classes", "servers")
		}
		for _, name := range names {
			if here, there := page[name], native[name]; !reflect.DeepEqual(here, there) {
				t.Fatalf("%s: %v on the page, %v by pfq:\n%s", name, here, there, model)
			}
		}
	}
	if stable < 20 {
		t.Errorf("only %d models are stable", stable)
	}
}
