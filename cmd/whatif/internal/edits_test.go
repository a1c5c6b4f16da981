package whatif

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
)

// typed draws a text that a user might type into a number field.
func typed(t *rapid.T) string {
	usual := []string{"0", "1", "0.4", "2/3", "1e-3", "7", "19/20"}
	extreme := []string{"1e9", "1e-12", "1e-320", "1e-300", "1e300", "1e308", "3e307", "1e-999", "1e999"}
	wrong := []string{"-1", "", "abc", "0,5", "50%", "1/0", "NaN", "Infinity"}
	kind := rapid.SampledFrom([][]string{usual, usual, usual, extreme, extreme, wrong}).Draw(t, "kind")
	return rapid.SampledFrom(kind).Draw(t, "typed")
}

// edit changes a model like a control of the page or like a user who edits its text.
func edit(t *rapid.T, m *Model) {
	server := rapid.IntRange(0, len(m.Servers)-1).Draw(t, "server")
	class := rapid.IntRange(0, len(m.Classes)-1).Draw(t, "class")
	edits := []string{
		"rate", "capacity", "size", "sizes", "count", "class", "server", "connect", "remove",
		"service", "patience", "need",
	}
	switch rapid.SampledFrom(edits).Draw(t, "edit") {
	case "rate":
		m.Classes[class].ArrivalRate = typed(t)
	case "capacity":
		m.Servers[server].Capacity = typed(t)
	case "size":
		m.Classes[class].MeanSize = typed(t)
	case "sizes":
		m.MeanSize = typed(t)
	case "count":
		m.Servers[server].Count = rapid.SampledFrom([]int{-1, 0, 1, 2, 5, 1000}).Draw(t, "count")
	case "class":
		name := "class" + string(rune('A'+len(m.Classes)))
		m.Classes = append(m.Classes, Class{Name: name, ArrivalRate: "0.1", Servers: []any{m.Servers[server].Name}})
	case "server":
		name := "server" + string(rune('A'+len(m.Servers)))
		m.Servers = append(m.Servers, Server{Name: name, Capacity: "1"})
	case "connect":
		m.Classes[class].Servers = append(m.Classes[class].Servers, m.Servers[server].Name)
	case "service":
		m.Service = rapid.SampledFrom([]string{"", "all", "one", "gang"}).Draw(t, "service")
	case "patience":
		m.Classes[class].MeanPatience = typed(t)
		m.Patience = rapid.SampledFrom([]string{"", "deterministic", "hyper"}).Draw(t, "distribution")
	case "need":
		m.Classes[class].Needs = map[string]int{m.Servers[server].Name: rapid.IntRange(0, 3).Draw(t, "need")}
	case "remove":
		if len(m.Classes) > 1 {
			m.Classes = slices.Delete(m.Classes, class, class+1)
		}
	}
}

// After any edits, each question gets an answer with finite numbers or a reason in the terms of the
// page. Answers are JSON, so they contain no NaN and no infinity; numbers that exceed float64 would
// become infinite in the browser.
func TestAnswersAfterRandomEdits(t *testing.T) {
	answered := 0
	rapid.Check(t, func(t *rapid.T) {
		m := describe(serve(t, oracle.DrawModel(t, oracle.Options{Classes: 3, Servers: 3, Count: 2}))).Model
		for range rapid.IntRange(1, 6).Draw(t, "edits") {
			edit(t, &m)
		}
		load := rapid.OneOf(rapid.Just("1"), rapid.Custom(typed)).Draw(t, "load")
		for _, q := range []Question{
			{Ask: "verdict", Load: load},
			{Ask: "solve", Load: load, Percentiles: percentiles, Within: []string{"1/2"}},
			{Ask: "changes", Load: load},
			{Ask: "curve", Loads: []string{"0.1", load}},
			{Ask: "simulate", Load: load, Runs: 2, Jumps: 1000, Percentiles: percentiles},
			{Ask: "line", Load: load},
		} {
			q.Model = oracle.Must(json.Marshal(m))
			question := oracle.Must(json.Marshal(q))
			text := Answer(t.Context(), question, func(float64) {})
			var refused struct{ Error string }
			if err := json.Unmarshal(text, &refused); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if refused.Error == "" {
				answered++
			}
			checkReason(t, q.Ask, refused.Error)
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			for {
				token, err := d.Token()
				if err != nil {
					break
				}
				if n, ok := token.(json.Number); ok {
					if v, err := n.Float64(); err != nil || v == 0 && n != "0" {
						t.Fatalf("%s: %s is not a float64: %s", q.Ask, n, text)
					}
				}
				if why, ok := token.(string); ok && strings.HasPrefix(why, "model") {
					checkReason(t, q.Ask, why)
				}
			}
		}
	})
	if answered < 50 {
		t.Errorf("only %d questions were answered", answered)
	}
}

// checkReason fails if a text mentions something that the page does not show.
func checkReason(t *rapid.T, ask, text string) {
	foreign := []string{
		"model =", "1e±308", "float64", "double precision", "Jumps", "Model.", "bf:", "sim:", "MiB", "lattice",
	}
	for _, raw := range foreign {
		if strings.Contains(text, raw) {
			t.Fatalf("%s: %s", ask, text)
		}
	}
}
