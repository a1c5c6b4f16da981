package dispatch_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/internal/input"
)

func TestParsePolicy(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       dispatch.Policy
	}{
		{"priority", "priority", dispatch.Policy{Rule: dispatch.Priority, Spare: dispatch.SpareByPriority}},
		{"priority:0", "priority", dispatch.Policy{Rule: dispatch.Priority, Spare: dispatch.SpareByPriority}},
		{"priority:-0/priority", "priority", dispatch.Policy{Rule: dispatch.Priority, Spare: dispatch.SpareByPriority}},
		{
			"priority:0.2", "priority:0.2",
			dispatch.Policy{Rule: dispatch.Priority, Spare: dispatch.SpareByPriority, Reserve: 0.2},
		},
		{
			"priority:1/kept", "priority:1/kept",
			dispatch.Policy{Rule: dispatch.Priority, Spare: dispatch.SpareKept, Reserve: 1},
		},
		{
			"proportion", "proportion/priority",
			dispatch.Policy{Rule: dispatch.Proportion, Spare: dispatch.SpareByPriority},
		},
		{
			"workload", "workload:1/priority",
			dispatch.Policy{Rule: dispatch.Workload, Spare: dispatch.SpareByPriority, Horizon: 1},
		},
		{
			"workload:6e1/deadline", "workload:60/deadline",
			dispatch.Policy{Rule: dispatch.Workload, Spare: dispatch.SpareByDeadline, Horizon: 60},
		},
		{
			"deadline/priority", "deadline/priority",
			dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareByPriority},
		},
		{
			"deadline/deadline", "deadline/deadline",
			dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareByDeadline},
		},
		{"edf", "edf", dispatch.Policy{Rule: dispatch.EDF}},
	} {
		got, err := dispatch.ParsePolicy(c.text)
		if err != nil || got != c.want || got.String() != c.name {
			t.Errorf("%s: %+v named %s, error %v, want %+v named %s", c.text, got, got, err, c.want, c.name)
		}
	}
	const names = "one of priority[:R][/SPARE], proportion[/SPARE], workload[:H][/SPARE], deadline[/SPARE], edf"
	for text, want := range map[string]string{
		"": names, "fifo": names, "deadlin": names + "; did you mean deadline?", "/priority": names,
		" edf":               names + "; did you mean edf?",
		"priority:1.1":       "priority[:R][/SPARE], R in [0, 1]",
		"priority:":          "priority[:R][/SPARE], R in [0, 1]",
		"priority:NaN":       "priority[:R][/SPARE], R in [0, 1]",
		"priority/edf":       "priority[:R][/SPARE], SPARE priority, deadline or kept",
		"workload:0":         "workload[:H][/SPARE], H in [1e-50, 1e50] seconds",
		"workload:1e51":      "workload[:H][/SPARE], H in [1e-50, 1e50] seconds",
		"workload:1:2":       "workload[:H][/SPARE], H in [1e-50, 1e50] seconds",
		"deadline:3":         "deadline[/SPARE]",
		"proportion:3":       "proportion[/SPARE]",
		"deadline/":          "deadline[/SPARE], SPARE priority, deadline or kept",
		"deadline/kept/kept": "deadline[/SPARE], SPARE priority, deadline or kept",
		"edf/priority":       "edf",
		"edf:1":              "edf",
	} {
		_, err := dispatch.ParsePolicy(text)
		var e *input.Error
		if !errors.As(err, &e) || *e != (input.Error{Path: "policy", Value: text, Want: want}) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// Policies are read from their names.
func TestPolicyNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := dispatch.Policy{Rule: rapid.SampledFrom(dispatch.AllRules()).Draw(t, "rule")}
		if want.Rule != dispatch.EDF {
			want.Spare = rapid.SampledFrom(dispatch.AllSpares()).Draw(t, "spare")
		}
		switch want.Rule {
		case dispatch.Priority:
			want.Reserve = rapid.Float64Range(0, 1).Draw(t, "reserve")
		case dispatch.Workload:
			want.Horizon = rapid.Float64Range(1e-50, 1e50).Draw(t, "horizon")
		}
		if got, err := dispatch.ParsePolicy(want.String()); err != nil || got != want {
			t.Fatalf("%s: %+v, error %v, want %+v", want, got, err, want)
		}
	})
}
