package file

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/input"
)

const sample = `{"jobs": [{"demand": {"cpu": 1.50, "gpu mem": "2.0", "a.b": 3, "]": 4}, "weight": [1, "0.50"]}], ` +
	`"twice": 1, "twice": 2,
 "this is a key of more than forty characters, cut": 5, "this is a key of more than forty characters, too": 6}`

// Numbers are found at the path in an error, unless the path is ambiguous.
func TestAsWritten(t *testing.T) {
	n, err := Read(strings.NewReader(sample), JSON, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{"jobs[0].demand.cpu", "jobs[0].demand.cpu = 1.50: want w"},
		{`jobs[0].demand["gpu mem"]`, `jobs[0].demand["gpu mem"] = "2.0": want w`},
		{`jobs[0].demand["a.b"]`, `jobs[0].demand["a.b"] = 3: want w`},
		{`jobs[0].demand["]"]`, `jobs[0].demand["]"] = 4: want w`},
		{"jobs[0].weight[1]", `jobs[0].weight[1] = "0.50": want w`},
		{"jobs[0].weight", "jobs[0].weight = v: want w"},
		{"jobs[1].weight", "jobs[1].weight = v: want w"},
		{"jobs[-1].weight", "jobs[-1].weight = v: want w"},
		{"jobs[0", "jobs[0 = v: want w"},
		{"jobs.demand", "jobs.demand = v: want w"},
		{"job", "job = v: want w"},
		{"twice", "twice = v: want w"},
		{`["this is a key of more than forty chara..."]`, `["this is a key of more than forty chara..."] = v: want w`},
		{
			input.Field("", "this is a key of more than forty characters, cut"),
			`["this is a key of more than forty char..."] = v: want w`,
		},
		{"", "want w, not v"},
	} {
		if got := n.AsWritten(input.Errorf(c.path, "v", "w")).Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// Locate gives an error without a line the line of its field or, if that is missing, of the
// enclosing value.
func TestLocate(t *testing.T) {
	const text = "{\n\"jobs\":\n[{\n\"demand\": {\"cpu\":\n1}}],\n\"twice\": 1,\n\"twice\": 2}"
	n, err := Read(strings.NewReader(text), JSON, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		line int
	}{
		{"", 1}, {"name", 1}, {"jobs", 2}, {"jobs[0]", 3}, {"jobs[0].name", 3}, {"jobs[1]", 2},
		{"jobs[0].demand.cpu", 4},
		{"jobs[0].demand.memory", 4}, {"twice", 1},
	} {
		var e *input.Error
		if err := n.Locate(input.Errorf(c.path, "v", "w")); !errors.As(err, &e) || e.Line != c.line ||
			e.Path != c.path {
			t.Errorf("%s: %v, want line %d", c.path, err, c.line)
		}
	}
	var e *input.Error
	if _, err := n.Fields("", "", "jobs", "twice"); !errors.As(n.Locate(err), &e) || e.Line != 7 || e.Path != "twice" {
		t.Errorf("a repeated field: %v", err)
	}
	if other := errors.New("other"); n.Locate(other) != other {
		t.Error("another error is changed")
	}
}

func TestEntries(t *testing.T) {
	for _, c := range []struct{ text, keys, want string }{
		{`{"b": 1, "a b": 2, "": 3}`, "b;a b;", ""},
		{`{}`, "", ""},
		{`{"a": 1, "b": 2, "a": 3}`, "", "line 1: demand.a = the number 3: want the field once; it is already there"},
		{`{"a b": 1, "a b": []}`, "", `line 1: demand["a b"] = an array: want the field once; it is already there`},
		{`[1]`, "", "line 1: demand = an array: want an object"},
	} {
		n, err := Read(strings.NewReader(c.text), JSON, "")
		if err != nil {
			t.Fatal(err)
		}
		keys, values, err := n.Entries("demand", "an object")
		if got := strings.Join(keys, ";"); got != c.keys || c.want == "" && (err != nil || len(values) != len(keys)) ||
			c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %q, %v", c.text, got, err)
		}
	}
	if _, _, err := (*Node)(nil).Entries("demand", "an object"); err == nil ||
		err.Error() != "demand is missing: want an object" {
		t.Errorf("got %v", err)
	}
}

// The error about a number with a decimal comma mentions it, whether YAML reads text or a number
// and a field.
func TestComma(t *testing.T) {
	const want = "; decimals are written with a point, such as 3.5"
	for _, c := range []struct {
		text  string
		about bool
	}{
		{"{rate: 3,5}", true}, {"{rate: 3,5, name: x}", true}, {"rate: 3,5", true}, {"rate: -3,25", true},
		{"{rate: '3,5'}", true},
		{"{rate: 3, name, 5}", false}, {"rate: 3,x", false}, {"rate: 3,5,1", false}, {"{5}", false},
		{"{rate: 3, size}", false},
	} {
		n, err := Read(strings.NewReader(c.text), YAML, "")
		if err != nil {
			t.Fatal(err)
		}
		f, err := n.Fields("", "", "rate", "name")
		if err == nil {
			_, err = f["rate"].Rat("rate", "a number")
		}
		if err == nil || strings.HasSuffix(err.Error(), want) != c.about {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	long := strings.Repeat("x", 101)
	for _, c := range []struct {
		word  string
		words []string
		want  string
	}{
		{"cpuu", []string{"ram", "cpu"}, `; did you mean "cpu"?`},
		{"rate", []string{"arrival_rate"}, `; did you mean "arrival_rate"?`},
		{"CPU", []string{"ram", "cpu"}, `; did you mean "cpu"?`},
		{"gpu_mem", []string{"CPU_MEM", "GPU_MEM"}, `; did you mean "GPU_MEM"?`},
		{"nwe", []string{"old", "new"}, `; did you mean "new"?`},
		// a swap is one letter wrong, and move is two away
		{"slove", []string{"move", "solve"}, `; did you mean "solve"?`},
		{"plna", []string{"plot", "plan"}, `; did you mean "plan"?`},
		{"s3", []string{"s1", "s2"}, ""}, // equally far from both
		{"rate", []string{"max_rate", "min_rate"}, ""},
		{"s3", []string{"s1", "s1"}, `; did you mean "s1"?`},
		{"rate", []string{"arrival_rate", "rates"}, `; did you mean "rates"?`}, // one letter wrong comes before a part
		{"runs", []string{"runtime", "tasks_and_runs"}, `; did you mean "tasks_and_runs"?`},
		// and a part comes before two wrong letters
		{"mean_siz", []string{"mean_size_of_jobs", "men_size"}, `; did you mean "mean_size_of_jobs"?`},
		// too many words contain these two letters
		{"ra", []string{"arrival_rate"}, ""},
		{"colour", []string{"cpu", "ram"}, ""},
		{"t", []string{"s"}, ""},
		{"", []string{"s"}, ""},
		{"a", nil, ""},
		{long, []string{long}, ""},
		{"x", []string{long}, ""},
	} {
		if got := DidYouMean(c.word, slices.Values(c.words), input.Quote); got != c.want {
			t.Errorf("%s: %q, want %q", c.word, got, c.want)
		}
	}
}

// The distance is at most the number of single-letter edits, and symmetric.
func TestEditDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SliceOfN(rapid.RuneFrom([]rune("abé")), 0, 8)
		a, edits := letters.Draw(t, "a"), rapid.IntRange(0, 4).Draw(t, "edits")
		b := slices.Clone(a)
		for range edits {
			at := rapid.IntRange(0, len(b)).Draw(t, "at")
			switch {
			case at < len(b) && rapid.Bool().Draw(t, "delete"):
				b = slices.Delete(b, at, at+1)
			case edits == 1 && at+1 < len(b): // several edits of the same letters would count more
				b[at], b[at+1] = b[at+1], b[at]
			default:
				b = slices.Insert(b, at, 'c')
			}
		}
		d := editDistance(string(a), string(b))
		if d > edits || d < max(len(a)-len(b), len(b)-len(a)) || d != editDistance(string(b), string(a)) ||
			(d == 0) != slices.Equal(a, b) {
			t.Fatalf("%q and %q: %d after %d edits", string(a), string(b), d, edits)
		}
	})
}

// The error about an empty text states the expected input.
func TestReadEmpty(t *testing.T) {
	for _, c := range []struct {
		text   string
		format Format
	}{{"", JSON}, {" \n", Auto}, {"\ufeff", YAML}, {"# nothing\n", YAML}, {"---\n", YAML}} {
		n, err := Read(strings.NewReader(c.text), c.format, "a pool")
		if n != nil || err == nil || err.Error() != "want a pool, not an empty file" {
			t.Errorf("%q: %v, %v", c.text, n, err)
		}
	}
}

func TestHasLeadingZero(t *testing.T) {
	leading := regexp.MustCompile(`^[+-]?0[0-9]`)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[-+0-9.]{0,4}`).Draw(t, "s")
		if got := hasLeadingZero(s); got != leading.MatchString(s) {
			t.Fatalf("%q: %v", s, got)
		}
	})
}
