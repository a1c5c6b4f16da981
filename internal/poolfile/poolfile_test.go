package poolfile

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"productform/internal/input"
	"productform/internal/tree"
)

var errSort = errors.New("jobs of the other sort")

// A row is a job as the tests read it.
type row struct{ Name, Demand, Weight string }

// readRows reads a text whose jobs may have count, but not mean_size.
func readRows(text string, check func([]string, []*big.Rat) error) (*[]row, error) {
	return Read(strings.NewReader(text), tree.JSON, "a test", check, func(f *File) (*[]row, error) {
		var rows []row
		for i := range f.Jobs() {
			path, fields, err := f.Job(i, []string{"count"}, []string{"mean_size"}, errSort)
			if err != nil {
				return nil, err
			}
			name, demand, weight, err := f.Common(path, fields)
			if err != nil {
				return nil, err
			}
			r := row{Name: name}
			for _, d := range demand {
				if d == nil {
					r.Demand += "- "
				} else {
					r.Demand += d.RatString() + " "
				}
			}
			if weight != nil {
				r.Weight = weight.RatString()
			}
			rows = append(rows, r)
		}
		return &rows, nil
	})
}

func accept([]string, []*big.Rat) error { return nil }

const resources = `{"resources": [{"name": "cpu", "capacity": 9}, {"name": "memory", "capacity": "1/3"}],
 "jobs": [`

// Demands stand in the order of the resources, and are nil where none is given.
func TestRead(t *testing.T) {
	got, err := readRows(resources+`{"name": "a", "demand": {"memory": 0.1}, "weight": 2}, {"name": "b", "demand": {"memory": 0, "cpu": 1}, "count": 3}]}`,
		func(names []string, capacities []*big.Rat) error {
			if diff := cmp.Diff([]string{"cpu", "memory"}, names); diff != "" || capacities[1].Cmp(big.NewRat(1, 3)) != 0 {
				t.Errorf("%s, capacities %v", diff, capacities)
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]row{{"a", "- 1/10 ", "2"}, {"b", "1 0 ", ""}}, *got); diff != "" {
		t.Error(diff)
	}
}

// What only a file can have wrong is told with its line, path, value and what is wanted.
func TestReadRefuses(t *testing.T) {
	bad := errors.New("bad resources")
	for _, c := range []struct {
		text string
		want input.Error
	}{
		{`{"resources": [], "tasks": 3}`,
			input.Error{Line: 1, Path: "tasks", Value: "the number 3", Want: "one of the fields resources, jobs"}},
		{`{"resources": [{"name": "cpu", "capacity": true}], "jobs": []}`,
			input.Error{Line: 1, Path: "resources[0].capacity", Value: "true", Want: "a number > 0"}},
		{resources + `{"name": "a", "demand": {"cpus": 1}}]}`,
			input.Error{Line: 2, Path: "jobs[0].demand.cpus", Value: "the number 1", Want: `a demand of one of the resources "cpu", "memory"; did you mean "cpu"?`}},
		{resources + `{"name": "a", "demand": {"cpu": true}}]}`,
			input.Error{Line: 2, Path: "jobs[0].demand.cpu", Value: "true", Want: "a number >= 0"}},
		{resources + `{"name": "a", "demand": {"cpu": 1}, "weight": []}]}`,
			input.Error{Line: 2, Path: "jobs[0].weight", Value: "an array", Want: "a number > 0"}},
		{resources + `{"name": "a", "demand": {"cpu": 1}, "mean_size": 2}]}`,
			input.Error{Line: 2, Path: "jobs[0].mean_size", Value: "the number 2", Want: "one of the fields name, demand, weight, count"}},
	} {
		_, err := readRows(c.text, accept)
		var got *input.Error
		if !errors.As(err, &got) {
			t.Errorf("%s: error %v", c.text, err)
			continue
		}
		if diff := cmp.Diff(c.want, *got, cmpopts.IgnoreFields(input.Error{}, "Cause")); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
		if otherSort := strings.Contains(c.text, "mean_size"); errors.Is(err, errSort) != otherSort {
			t.Errorf("%s: the error is of the sort of jobs: %v", c.text, !otherSort)
		}
	}
	if _, err := readRows(resources+"]}", func([]string, []*big.Rat) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("error %v, want that of the check", err)
	}
}
