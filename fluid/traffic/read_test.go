package traffic_test

import (
	"bytes"
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
	goodTraffic = `{"jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 0.5, "mean_size": "4/3", "declared": {"cpu": 2, "gpu mem": 1}},
 {"name": "b", "demand": {"gpu mem": 1}, "weight": 2, "arrival_rate": 0}], "resources": [{"name": "cpu", "capacity": 9}, {"name": "gpu mem", "capacity": 1}]}`
	pair = `"resources": [{"name": "cpu", "capacity": 9}, {"name": "gpu mem", "capacity": 1}]`
	one  = `"resources": [{"name": "cpu", "capacity": 9}]`
)

func TestReadTrafficExactly(t *testing.T) {
	c, err := traffic.Read(strings.NewReader(goodTraffic))
	if err != nil {
		t.Fatal(err)
	}
	const want = "[{a [1/1 <nil>] <nil> 1/2 4/3 [2/1 1/1]} {b [<nil> 1/1] 2/1 0/1 <nil> []}]"
	if got := fmt.Sprint(c.Classes); got != want || len(c.Resources) != 2 {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// badTraffic are texts that are no traffic, with the messages that they must get.
var badTraffic = []struct{ text, want string }{
	{``, `want traffic with resources and jobs, not an empty file`},
	{`{` + one + `, "jobs": []}`, `jobs = []: want at least one class of jobs`},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}}]}`, `jobs[0].arrival_rate is missing: want a number >= 0`},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": -0.10}]}`, `jobs[0].arrival_rate = -0.10: want a number >= 0`},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 1, "mean_size": 0}]}`, `jobs[0].mean_size = 0: want a number > 0`},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 1, "count": 2}]}`,
		`jobs[0].count = the number 2: want one of the fields name, demand, weight, arrival_rate, mean_size, declared; this one is for jobs that stay`},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "rate": 2}]}`,
		`jobs[0].rate = the number 2: want one of the fields name, demand, weight, arrival_rate, mean_size, declared; did you mean arrival_rate?`},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 1, "weight": -1}]}`, `jobs[0].weight = -1: want a number > 0`},
	{`{` + one + `, "jobs": [{"name": "a", "demand": {"cpu": 2}, "arrival_rate": 1, "declared": {"cpu": 1.5}}]}`,
		`jobs[0].declared.cpu = 1.5: want at least the demand, 2`},
	{`{` + pair + `, "jobs": [{"name": "a", "demand": {"gpu mem": 2, "cpu": 1}, "arrival_rate": 1, "declared": {"cpu": 1}}]}`,
		`jobs[0].declared["gpu mem"] is missing: want at least the demand, 2; a resource not named is 0`},
	{`{` + pair + `, "jobs": [{"name": "a", "demand": {"CPU": 1}, "arrival_rate": 1}]}`,
		`jobs[0].demand.CPU = the number 1: want a demand of one of the resources "cpu", "gpu mem"; did you mean "cpu"?`},
	{`{` + pair + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 1, "declared": {"mem": 1}}]}`,
		`jobs[0].declared.mem = the number 1: want a demand of one of the resources "cpu", "gpu mem"; did you mean "gpu mem"?`},
	{`{` + pair + `, "jobs": [{"name": "a", "demand": {"cpu": 1}, "arrival_rate": 1, "declared": null}]}`,
		`jobs[0].declared = null: want an object with numbers by the names of resources`},
	{`{` + pair + `, "jobs": [{"name": "a", "demand": {}, "arrival_rate": 1}]}`, `jobs[0].demand = all 0: want a positive demand of some resource`},
}

func TestBadTraffic(t *testing.T) {
	for _, c := range badTraffic {
		v, err := traffic.Read(strings.NewReader(c.text))
		var field *input.Error
		var syntax *fluid.SyntaxError
		if !errors.As(err, &field) && !errors.As(err, &syntax) {
			t.Errorf("%T is neither an input.Error nor a SyntaxError:\n%s", err, c.text)
		}
		if field != nil {
			field.Line = 0
		}
		if v != nil || err == nil || err.Error() != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
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

// A text gets either an error or traffic that makes sense.
func FuzzRead(f *testing.F) {
	for _, c := range badTraffic {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(goodTraffic))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := traffic.Read(bytes.NewReader(data))
		switch {
		case err != nil:
			if c != nil || err.Error() == "" {
				t.Fatalf("traffic %v, error %q", c, err)
			}
		case c.Check() != nil:
			t.Fatal(c.Check())
		}
	})
}
