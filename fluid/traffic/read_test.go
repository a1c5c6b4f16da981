package traffic_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/internal/input"
)

const (
	goodTraffic = `{"jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 0.5, "mean_size": "4/3",
   "declared": {"cpu": 2, "gpu mem": 1}},
 {"name": "b", "demand": {"gpu mem": 1}, "weight": 2, "arrival_rate": 0, "max_tasks": "1/2"}],
 "resources": [{"name": "cpu", "capacity": 9}, {"name": "gpu mem", "capacity": 1}]}`
	pair = `"resources": [{"name": "cpu", "capacity": 9}, {"name": "gpu mem", "capacity": 1}]`
	one  = `"resources": [{"name": "cpu", "capacity": 9}]`
)

func TestReadTrafficExactly(t *testing.T) {
	c, err := traffic.Read(strings.NewReader(goodTraffic))
	if err != nil {
		t.Fatal(err)
	}
	const want = "[{a [1/1 <nil>] <nil> 1/2 4/3 [2/1 1/1] <nil>} {b [<nil> 1/1] 2/1 0/1 <nil> [] 1/2}]"
	if got := fmt.Sprint(c.Classes); got != want || len(c.Resources) != 2 {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The requirements on numbers, as worded in errors.
const (
	wantPositive    = "a number > 0"
	wantNonnegative = "a number >= 0"
)

// badTraffic are texts that are not traffic, with their expected errors.
var badTraffic = []struct {
	text string
	want *input.Error
}{
	{``, &input.Error{Value: "an empty file", Want: "traffic with resources and jobs"}},
	{`{` + one + `, "jobs": []}`, &input.Error{Path: "jobs", Value: "[]", Want: "at least one class of jobs"}},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}}]}`,
		&input.Error{Path: "jobs[0].arrival_rate", Want: wantNonnegative},
	},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": -0.10}]}`,
		&input.Error{Path: "jobs[0].arrival_rate", Value: "-0.10", Want: wantNonnegative},
	},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 1, "mean_size": 0}]}`,
		&input.Error{Path: "jobs[0].mean_size", Value: "0", Want: wantPositive},
	},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 1, "count": 2}]}`,
		&input.Error{
			Path:  "jobs[0].count",
			Value: "the number 2",
			Want:  "one of the fields name, demand, weight, arrival_rate, mean_size, declared, max_tasks",
			Cause: fluid.ErrStaticPool,
		}},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "rate": 2}]}`,
		&input.Error{Path: "jobs[0].rate", Value: "the number 2", Want: "one of the fields name, demand, weight, " +
			"arrival_rate, mean_size, declared, max_tasks; did you mean arrival_rate?"}},
	{
		`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 1, "weight": -1}]}`,
		&input.Error{Path: "jobs[0].weight", Value: "-1", Want: wantPositive},
	},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 2}, "arrival_rate": 1, "declared": {"cpu": 1.5}}]}`,
		&input.Error{Path: "jobs[0].declared.cpu", Value: "1.5", Want: "at least the demand, 2"}},
	{`{` + pair +
		`, "jobs": [{"name": "a", "demand": {"gpu mem": 2, "cpu": 1}, "arrival_rate": 1, "declared": {"cpu": 1}}]}`,
		&input.Error{Path: `jobs[0].declared["gpu mem"]`, Want: "at least the demand, 2; a resource not named is 0"}},
	{`{` + pair + `, "jobs": [{"name": "a", "demand": {"CPU": 1}, "arrival_rate": 1}]}`,
		&input.Error{
			Path:  "jobs[0].demand.CPU",
			Value: "the number 1",
			Want:  `a demand of one of the resources "cpu", "gpu mem"; did you mean "cpu"?`,
		}},
	{`{` + pair + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 1, "declared": {"mem": 1}}]}`,
		&input.Error{
			Path:  "jobs[0].declared.mem",
			Value: "the number 1",
			Want:  `a demand of one of the resources "cpu", "gpu mem"; did you mean "gpu mem"?`,
		}},
	{`{` + pair + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 1, "declared": null}]}`,
		&input.Error{
			Path:  "jobs[0].declared",
			Value: "null",
			Want:  "an object with numbers by the names of resources",
		}},
	{
		`{` + pair + `, "jobs": [{"name": "a", "demand": {}, "arrival_rate": 1}]}`,
		&input.Error{Path: "jobs[0].demand", Value: "all 0", Want: "a positive demand of some resource"},
	},
}

func TestBadTraffic(t *testing.T) {
	for _, c := range badTraffic {
		v, err := traffic.Read(strings.NewReader(c.text))
		var got *input.Error
		if !errors.As(err, &got) || v != nil {
			t.Errorf("%s: %v, error %v", c.text, v, err)
			continue
		}
		got.Line = 0
		if *got != *c.want {
			t.Errorf("%s\ngot  %v\nwant %v", c.text, got, c.want)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "traffic.json")
	if err := os.WriteFile(name, []byte(goodTraffic), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := traffic.ReadFile(name); err != nil {
		t.Error(err)
	}
	if _, err := traffic.ReadFile(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v for a missing file", err)
	}
}
