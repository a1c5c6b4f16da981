package rigid_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/dispatch/rigid"
)

// A state with a changed number is either rejected, or restored to a maker that continues without
// panic.
func TestMakerOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "workers")
		m := mustMaker(t, rapid.SampledFrom(policies()).Draw(t, "policy"), n)
		jobs := 0
		step := func(m *rigid.Maker, at float64) error {
			var what []dispatch.Happening
			for w := range n {
				if i, task, attempt, _ := m.Hand(w); i >= 0 && rapid.Bool().Draw(t, "ends") {
					what = append(what, dispatch.Happening{
						Kind:    dispatch.Finished,
						Worker:  w,
						Job:     i,
						Task:    task,
						Attempt: attempt,
						Work:    1,
					})
				} else {
					what = append(what, dispatch.Happening{Kind: rapid.SampledFrom([]dispatch.Kind{
						dispatch.Failed, dispatch.Returned, dispatch.Returned,
					}).Draw(t, "kind"), Worker: w})
				}
			}
			what = append(what, dispatch.Happening{
				Kind: dispatch.Submitted,
				Job:  jobs,
				What: &dispatch.Job{Submit: at, Tasks: rapid.IntRange(1, 4).Draw(t, "tasks"), Estimate: 2},
			})
			_, err := m.Decide(at, what)
			jobs++
			return err
		}
		for k := range rapid.IntRange(1, 8).Draw(t, "moments") {
			if err := step(m, float64(k)); err != nil {
				t.Fatal(err)
			}
		}
		text, err := json.Marshal(m.State())
		if err != nil {
			t.Fatal(err)
		}
		var state any
		if err := json.Unmarshal(text, &state); err != nil {
			t.Fatal(err)
		}
		var places []func(any)
		numbers(state, &places)
		value := rapid.SampledFrom([]any{-1, 0, 1, 2, 3, 1e9, math.MaxFloat64, 0.5}).Draw(t, "value")
		places[rapid.IntRange(0, len(places)-1).Draw(t, "place")](value)
		if text, err = json.Marshal(state); err != nil {
			t.Fatal(err)
		}
		var s rigid.State
		if json.Unmarshal(text, &s) != nil {
			return
		}
		if m, err = rigid.MakerOf(s); err != nil {
			return
		}
		for k := range 5 {
			if step(m, m.State().Ledger.Now+float64(k)) != nil {
				return
			}
		}
	})
}

// numbers returns functions that set each number in decoded JSON.
func numbers(v any, places *[]func(any)) {
	switch v := v.(type) {
	case map[string]any:
		var keys []string
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if _, ok := v[key].(float64); ok {
				*places = append(*places, func(to any) { v[key] = to })
			}
			numbers(v[key], places)
		}
	case []any:
		for k := range v {
			if _, ok := v[k].(float64); ok {
				*places = append(*places, func(to any) { v[k] = to })
			}
			numbers(v[k], places)
		}
	}
}
