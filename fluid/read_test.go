package fluid_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/fluid"
	"productform/internal/input"
	"productform/num"
)

const (
	goodPool = `{"resources": [{"name": "cpu", "capacity": 9}, {"name": "gpu mem", "capacity": "1/3"}],
 "jobs": [{"name": "a", "demand": {"gpu mem": 0.1, "cpu": "7/2"}, "weight": 2.50, "count": 3, "max_tasks": 0.3},
    {"demand": {"cpu": 1e-3}, "name": "b"}]}`
	yamlPool = `# a pool
jobs:
- name: a
  demand: {gpu mem: 0.1, cpu: 7/2}
  weight: 2.50
  count: 3
  max_tasks: 3/10
- name: b
  demand:
    cpu: 1e-3
resources:
- {name: cpu, capacity: 9}
- {name: gpu mem, capacity: 1/3}
`
)

func shape(p *fluid.Pool) string {
	var b strings.Builder
	for _, r := range p.Resources {
		fmt.Fprintln(&b, r.Name, r.Capacity)
	}
	for _, j := range p.Jobs {
		fmt.Fprintln(&b, j.Name, j.Demand, j.WeightOf(), j.Size(), j.MaxTasks)
	}
	return b.String()
}

func TestReadPoolExactly(t *testing.T) {
	const want = "cpu 9/1\ngpu mem 1/3\na [7/2 1/10] 5/2 3 3/10\nb [1/1000 <nil>] 1/1 1 <nil>\n"
	for _, text := range []string{
		goodPool, "\ufeff \n" + goodPool, yamlPool, strings.ReplaceAll(yamlPool, "\n", "\r\n"),
	} {
		p, err := fluid.ReadPool(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := shape(p); got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", text, got, want)
		}
	}
}

// A badText is a text that is not a pool, and its expected error.
type badText struct {
	text string
	want error
}

// The requirements on entries, as worded in errors.
const (
	wantPositive    = "a number > 0"
	wantNonnegative = "a number >= 0"
	wantName        = "a name, not empty"
	wantResources   = "an array of resources"
	wantOnce        = "the field once; it is already there"
	wantDemand      = "an object with numbers by the names of resources"
	wantSomeDemand  = "a positive demand of some resource"
	wantCount       = "an integer from 1 to 1000000000"
	wantFields      = "one of the fields name, demand, weight, count, max_tasks"
)

const (
	pair    = `"resources": [{"name": "cpu", "capacity": 9}, {"name": "gpu mem", "capacity": 1}]`
	one     = `"resources": [{"name": "cpu", "capacity": 9}]`
	notANum = ` (character 'x' at position 1; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`
	eleven  = `"resources": [{"name":"r0","capacity":1},{"name":"r1","capacity":1},{"name":"r2","capacity":1},` +
		`{"name":"r3","capacity":1},{"name":"r4","capacity":1},{"name":"r5","capacity":1},` +
		`{"name":"r6","capacity":1},{"name":"r7","capacity":1},{"name":"r8","capacity":1},` +
		`{"name":"r9","capacity":1},{"name":"memory","capacity":1}]`
	longName = "a resource with a name of more than forty characters"
)

var badPools = []badText{
	{``, &input.Error{Value: "an empty file", Want: "a pool with resources and jobs"}},
	{`{"resources": `, &num.SyntaxError{Line: 1, Column: 15, Reason: "the text ends within a value"}},
	{`[]`, &input.Error{Value: "an array", Want: "an object with resources and jobs"}},
	{`{}`, &input.Error{Path: "resources", Want: wantResources}},
	{`{"resources": [], "jobs": []}`, &input.Error{Path: "resources", Value: "[]", Want: "at least one resource"}},
	{`{"resources": {"cpu": 9}, "jobs": []}`, &input.Error{Path: "resources", Value: "an object", Want: wantResources}},
	{
		`{"resources": ["cpu"], "jobs": []}`,
		&input.Error{Path: "resources[0]", Value: `a string "cpu"`, Want: "an object with name and capacity"},
	},
	{`{"resources": [{"capacity": 9}]}`, &input.Error{Path: "resources[0].name", Want: wantName}},
	{
		`{"resources": [{"name": 1, "capacity": 9}]}`,
		&input.Error{Path: "resources[0].name", Value: "the number 1", Want: "a name in quotes, not empty"},
	},
	{
		`{"resources": [{"name": "", "capacity": 9}]}`,
		&input.Error{Path: "resources[0].name", Value: `""`, Want: wantName},
	},
	{`{"resources": [{"name": "cpu"}]}`, &input.Error{Path: "resources[0].capacity", Want: wantPositive}},
	{
		`{"resources": [{"name": "cpu", "capacity": 0}]}`,
		&input.Error{Path: "resources[0].capacity", Value: "0", Want: wantPositive},
	},
	{
		`{"resources": [{"name": "cpu", "capacity": "x"}]}`,
		&input.Error{Path: "resources[0].capacity", Value: `"x"`, Want: wantPositive + notANum},
	},
	{
		`{"resources": [{"name": "cpu", "capacity": 9, "count": 2}]}`,
		&input.Error{Path: "resources[0].count", Value: "the number 2", Want: "one of the fields name, capacity"},
	},
	{`{"resources": [{"name": "cpu", "capacity": 9}, {"name": "cpu", "capacity": 9}]}`,
		&input.Error{Path: "resources[1].name", Value: `"cpu"`, Want: "a unique name; resources[0] has this one"}},
	{`{` + one + `, ` + one + `}`, &input.Error{Path: "resources", Value: "an array", Want: wantOnce}},
	{`{` + one + `}`, &input.Error{Path: "jobs", Want: "an array of jobs"}},
	{
		`{` + one + `, "job": []}`,
		&input.Error{Path: "job", Value: "an array", Want: "one of the fields resources, jobs; did you mean jobs?"},
	},
	{`{` + one + `, "jobs": []}`, &input.Error{Path: "jobs", Value: "[]", Want: "at least one job"}},
	{
		`{` + one + `, "jobs": [1]}`,
		&input.Error{Path: "jobs[0]", Value: "the number 1", Want: "an object with name and demand"},
	},
	{`{` + one + `, "jobs": [{"demand": {"cpu": 1}}]}`, &input.Error{Path: "jobs[0].name", Want: wantName}},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}}, {"name": "a", "demand": {"cpu": 1}}]}`,
		&input.Error{Path: "jobs[1].name", Value: `"a"`, Want: "a unique name; jobs[0] has this one"}},
	{`{` + one + `, "jobs": [{"name": "a"}]}`, &input.Error{Path: "jobs[0].demand", Want: wantDemand}},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": [1]}]}`,
		&input.Error{Path: "jobs[0].demand", Value: "an array", Want: wantDemand},
	},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {}}]}`,
		&input.Error{Path: "jobs[0].demand", Value: "all 0", Want: wantSomeDemand},
	},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 0}}]}`,
		&input.Error{Path: "jobs[0].demand", Value: "all 0", Want: wantSomeDemand},
	},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": -1.50}}]}`,
		&input.Error{Path: "jobs[0].demand.cpu", Value: "-1.50", Want: wantNonnegative},
	},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": null}}]}`,
		&input.Error{Path: "jobs[0].demand.cpu", Value: "null", Want: wantNonnegative},
	},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1, "cpu": 2}}]}`,
		&input.Error{Path: "jobs[0].demand.cpu", Value: "the number 2", Want: wantOnce},
	},
	{
		`{` + pair + `, "jobs": [{"name": "a", "demand": {"gpu mem": "-1/2"}}]}`,
		&input.Error{Path: `jobs[0].demand["gpu mem"]`, Value: `"-1/2"`, Want: wantNonnegative},
	},
	{
		`{` + pair + `, "jobs": [{"name": "a", "demand": {"gpu mem": "x"}}]}`,
		&input.Error{Path: `jobs[0].demand["gpu mem"]`, Value: `"x"`, Want: wantNonnegative + notANum},
	},
	{`{` + pair + `, "jobs": [{"name": "a", "demand": {"cpuu": 1}}]}`,
		&input.Error{
			Path:  "jobs[0].demand.cpuu",
			Value: "the number 1",
			Want:  `a demand of one of the resources "cpu", "gpu mem"; did you mean "cpu"?`,
		}},
	{`{` + pair + `, "jobs": [{"name": "a", "demand": {"gpu men": 1}}]}`,
		&input.Error{
			Path:  `jobs[0].demand["gpu men"]`,
			Value: "the number 1",
			Want:  `a demand of one of the resources "cpu", "gpu mem"; did you mean "gpu mem"?`,
		}},
	{`{` + pair + `, "jobs": [{"name": "a", "demand": {"disks": 1}}]}`, &input.Error{
		Path:  "jobs[0].demand.disks",
		Value: "the number 1",
		Want:  `a demand of one of the resources "cpu", "gpu mem"`,
	}},
	{`{` + eleven + `, "jobs": [{"name": "a", "demand": {"mem": 1}}]}`, &input.Error{
		Path:  "jobs[0].demand.mem",
		Value: "the number 1",
		Want:  `a demand of one of the 11 resources; did you mean "memory"?`,
	}},
	{`{"resources": [{"name": "` + longName + `", "capacity": 1}], "jobs": [{"name": "a", "demand": {"` +
		longName + `": -1.0}}]}`,
		&input.Error{
			Path:  `jobs[0].demand["a resource with a name of more than f..."]`,
			Value: "-1.0",
			Want:  wantNonnegative,
		}},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "weight": 0.0}]}`,
		&input.Error{Path: "jobs[0].weight", Value: "0.0", Want: wantPositive},
	},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "weight": null}]}`,
		&input.Error{Path: "jobs[0].weight", Value: "null", Want: wantPositive},
	},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "wieght": 1}]}`,
		&input.Error{
			Path:  "jobs[0].wieght",
			Value: "the number 1",
			Want:  "one of the fields name, demand, weight, count, max_tasks; did you mean weight?",
		}},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "max_tasks": 0}]}`,
		&input.Error{Path: "jobs[0].max_tasks", Value: "0", Want: wantPositive},
	},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "count": 0}]}`,
		&input.Error{Path: "jobs[0].count", Value: "0", Want: wantCount},
	},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "count": 1.5}]}`,
		&input.Error{Path: "jobs[0].count", Value: "1.5", Want: wantCount},
	},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "count": 1000000001}]}`,
		&input.Error{Path: "jobs[0].count", Value: "1000000001", Want: wantCount},
	},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 2}]}`,
		&input.Error{
			Path:  "jobs[0].arrival_rate",
			Value: "the number 2",
			Want:  wantFields,
			Cause: fluid.ErrTraffic,
		}},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "mean_size": 2}]}`,
		&input.Error{
			Path:  "jobs[0].mean_size",
			Value: "the number 2",
			Want:  wantFields,
			Cause: fluid.ErrTraffic,
		}},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "declared": {}}]}`,
		&input.Error{Path: "jobs[0].declared", Value: "an object", Want: wantFields, Cause: fluid.ErrTraffic}},
	{
		"resources: &r []\njobs: *r\n",
		&num.SyntaxError{Line: 1, Column: 12, Reason: "anchors and aliases are not supported; write the value in full"},
	},
	{"resources:\n- {name: cpu, capacity: 010}\n", &input.Error{
		Path:  "resources[0].capacity",
		Value: "010",
		Want:  "a number > 0, without leading zeros (some read them as base eight)",
	}},
}

// isError reports whether the error has the fields of the expected one, except for the line of an
// entry.
func isError(err, want error) bool {
	var field *input.Error
	var syntax *num.SyntaxError
	switch want := want.(type) {
	case *input.Error:
		if !errors.As(err, &field) {
			return false
		}
		got := *field
		got.Line = 0
		return got == *want
	case *num.SyntaxError:
		return errors.As(err, &syntax) && *syntax == *want
	}
	return false
}

func TestBadPools(t *testing.T) {
	for _, c := range badPools {
		v, err := fluid.ReadPool(strings.NewReader(c.text))
		if v != nil || !isError(err, c.want) {
			t.Errorf("%s\ngot  %v\nwant %v", c.text, err, c.want)
		}
	}
}

// A text truncated at any point is an error.
func TestTruncatedPool(t *testing.T) {
	for end := range len(goodPool) {
		if _, err := fluid.ReadPool(strings.NewReader(goodPool[:end])); err == nil {
			t.Errorf("accepted: %s", goodPool[:end])
		}
	}
}

// The table of demands is bounded, so a short text cannot exhaust memory.
func TestTooManyDemands(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"resources": [`)
	for j := range 4000 {
		fmt.Fprintf(&b, `%s{"name": "r%d", "capacity": 1}`, strings.Repeat(",", min(j, 1)), j)
	}
	b.WriteString(`], "jobs": [` + strings.Repeat("0,", 2500) + `0]}`)
	want := &input.Error{Path: "jobs", Value: "2501 rows", Want: "at most 2500 rows for 4000 resources"}
	if _, err := fluid.ReadPool(strings.NewReader(b.String())); !isError(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// The suffix of a file determines the format, and errors start with its name.
func TestReadPoolFile(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"a.json", goodPool, ""},
		{"a.yaml", yamlPool, ""},
		{"a.yml", goodPool, ""},
		{"a", yamlPool, ""},
		{"b.json", yamlPool, ":1:1: want a value; put strings in double quotes"},
		{"c.json", `{}`, ":1: resources is missing: want an array of resources"},
		{"d.yaml", "", ": want a pool with resources and jobs, not an empty file"},
	} {
		name := filepath.Join(dir, c.name)
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		switch _, err := fluid.ReadPoolFile(name); {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want != "" && (err == nil || err.Error() != name+c.want):
			t.Errorf("got  %v\nwant %s%s", err, name, c.want)
		}
	}
}

// writePool writes a pool in the format of ReadPool.
func writePool(p *fluid.Pool) string {
	var b strings.Builder
	b.WriteString("resources:\n")
	for _, r := range p.Resources {
		fmt.Fprintf(&b, "- {name: %s, capacity: %s}\n", strconv.Quote(r.Name), r.Capacity.RatString())
	}
	b.WriteString("jobs:\n")
	for _, j := range p.Jobs {
		fmt.Fprintf(&b, "- name: %s\n  count: %d\n  weight: %s\n",
			strconv.Quote(j.Name), j.Size(), j.WeightOf().RatString())
		if j.MaxTasks != nil {
			fmt.Fprintf(&b, "  max_tasks: %s\n", j.MaxTasks.RatString())
		}
		b.WriteString("  demand:\n")
		for i, a := range j.Demand {
			if a != nil {
				fmt.Fprintf(&b, "    %s: %s\n", strconv.Quote(p.Resources[i].Name), a.RatString())
			}
		}
	}
	return b.String()
}

// A pool is unchanged after it is written and read.
func TestPoolRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.Custom(func(t *rapid.T) *big.Rat {
			return big.NewRat(
				rapid.Int64Range(1, 1e9).Draw(t, "numerator"), rapid.Int64Range(1, 1e9).Draw(t, "denominator"),
			)
		})
		name := rapid.StringMatching(`[^\pC]{0,3}`)
		p := &fluid.Pool{}
		for j := range rapid.IntRange(1, 4).Draw(t, "resources") {
			p.Resources = append(p.Resources, fluid.Resource{
				Name:     name.Draw(t, "name") + strconv.Itoa(j),
				Capacity: positive.Draw(t, "capacity"),
			})
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "jobs") {
			demand := make([]*big.Rat, len(p.Resources))
			for j := range demand {
				if rapid.Bool().Draw(t, "needs") {
					demand[j] = positive.Draw(t, "demand")
				}
			}
			demand[rapid.IntRange(0, len(demand)-1).Draw(t, "needed")] = positive.Draw(t, "demand")
			p.Jobs = append(p.Jobs, fluid.Job{Name: name.Draw(t, "name") + strconv.Itoa(i), Demand: demand,
				Weight: positive.Draw(t, "weight"), Count: rapid.IntRange(1, 1e9).Draw(t, "count")})
			if rapid.Bool().Draw(t, "limited") {
				p.Jobs[i].MaxTasks = positive.Draw(t, "limit")
			}
		}
		again, err := fluid.ReadPool(strings.NewReader(writePool(p)))
		if err != nil {
			t.Fatalf("%v\n%s", err, writePool(p))
		}
		if got, want := shape(again), shape(p); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// Every text gives either an error or a valid pool.
func FuzzReadPool(f *testing.F) {
	for _, c := range badPools {
		f.Add([]byte(c.text))
	}
	for _, text := range []string{goodPool, yamlPool} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := fluid.ReadPool(bytes.NewReader(data))
		switch {
		case err != nil:
			if p != nil || err.Error() == "" {
				t.Fatalf("pool %v, error %q", p, err)
			}
		case p.Check() != nil:
			t.Fatal(p.Check())
		default:
			again, err := fluid.ReadPool(strings.NewReader(writePool(p)))
			if err != nil {
				t.Fatalf("%v\n%s", err, writePool(p))
			}
			if shape(again) != shape(p) {
				t.Fatalf("got\n%s\nwant\n%s", shape(again), shape(p))
			}
		}
	})
}
