package plots

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func texts(files map[string]string) Texts {
	folder := fstest.MapFS{}
	for name, text := range files {
		folder["texts/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return NewTexts(folder, "texts")
}

const described = `Mean delay at
{{template "loads" .}} loads.

# Parameters
loads | {{list .Loads}}
a long row |
  goes on
# Claim shorter a
The mean delay
is shorter.
Asked: At every load.
Numbers: At most {{short .Largest}}
times as long.
# Finding longer
It is longer.
`

func TestDescribe(t *testing.T) {
	f := &Figure{ID: "x-1"}
	v := Verdicts{"longer": Open}
	v.Decide("shorter", true)
	data := map[string]any{"Loads": []float64{0.5, 0.9}, "Largest": 0.123456}
	files := map[string]string{"shared.txt": `{{define "loads"}}{{len .Loads}}{{end}}`, "x-1.txt": described}
	if err := texts(files).Describe(f, data, v); err != nil {
		t.Fatal(err)
	}
	want := &Figure{
		ID: "x-1", Caption: "Mean delay at 2 loads.",
		Parameters: []Parameter{{"loads", "0.5, 0.9"}, {"a long row", "goes on"}},
		Claims: []Claim{
			{
				Place:     "x-1a",
				Sentence:  "The mean delay is shorter.",
				Criterion: "At every load.",
				Numbers:   "At most 0.123 times as long.",
				Verdict:   Holds,
			},
			{Place: "x-1", Sentence: "It is longer.", Verdict: Open, Finding: true},
		},
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
}

// Texts and numbers that do not match are errors.
func TestDescribeRefuses(t *testing.T) {
	for _, c := range []struct {
		text     string
		verdicts Verdicts
		want     string
	}{
		{"# Claim a\nSentence.", nil, `the claim "a" has no verdict`},
		{"Caption.", Verdicts{"a": Holds}, `there is no claim "a"`},
		{"# Claim a", Verdicts{"a": Holds}, `the claim "a" is empty`},
		{"# Claims", nil, `the heading "Claims" is not Setting, Parameters, Claim or Finding`},
		{"{{.Nothing}}", nil, `no entry for key "Nothing"`},
	} {
		err := texts(map[string]string{"x.txt": c.text}).Describe(&Figure{ID: "x"}, map[string]any{}, c.verdicts)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}
