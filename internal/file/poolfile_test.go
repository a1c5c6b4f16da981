package file

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"productform/internal/input"
)

var errSort = errors.New("jobs of the other sort")

type (
	pool struct {
		Resources []resource
		Rows      []row
	}
	resource struct {
		Name     string
		Capacity *big.Rat
	}
	row struct {
		Name   string
		Demand []*big.Rat
	}
)

func (*pool) Check() error { return nil }

// rowFile describes jobs that have no mean_size.
var rowFile = Description[row]{
	Want: "an object with name and demand",
	Fields: []Field[row]{
		Name("", func(r *row) *string { return &r.Name }),
		Demand("demand", "", func(r *row) *[]*big.Rat { return &r.Demand }),
	},
	Others: []string{"mean_size"}, OtherKind: errSort,
}

var poolFile = Description[pool]{
	Want: "an object with resources and jobs",
	Fields: []Field[pool]{
		Resources(func(p *pool) *[]resource { return &p.Resources },
			func(r *resource) *string { return &r.Name }, func(r *resource) **big.Rat { return &r.Capacity }),
		Objects("jobs", "", "an array of jobs", func(p *pool) *[]row { return &p.Rows }, &rowFile,
			Length{}, func(r *row) string { return r.Name }),
	},
}

func read(text string) (*pool, error) {
	return ReadPool(strings.NewReader(text), JSON, "a test", poolFile.Read)
}

const resources = `{"resources": [{"name": "cpu", "capacity": 9}, {"name": "memory", "capacity": "1/3"}],
 "jobs": [`

// Demands are in the order of the resources, and nil where none is given.
func TestRead(t *testing.T) {
	p, err := read(resources +
		`{"name": "a", "demand": {"memory": 0.1}}, {"name": "b", "demand": {"memory": 0, "cpu": 1}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(*p), "{[{cpu 9/1} {memory 1/3}] [{a [<nil> 1/10]} {b [1/1 0/1]}]}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Errors have the line, the path, the value and the accepted values. Resources are checked before
// jobs are read.
func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		text string
		want input.Error
	}{
		{`{"resources": [], "tasks": 3}`,
			input.Error{Line: 1, Path: "tasks", Value: "the number 3", Want: "one of the fields resources, jobs"}},
		{`{"resources": [{"name": "cpu", "capacity": 0.0}], "jobs": [{}]}`,
			input.Error{Line: 1, Path: "resources[0].capacity", Value: "0.0", Want: "a number > 0"}},
		{`{"resources": [{"name": "cpu", "capacity": true}], "jobs": []}`,
			input.Error{Line: 1, Path: "resources[0].capacity", Value: "true", Want: "a number > 0"}},
		{resources + `{"name": "a", "demand": {"cpus": 1}}]}`,
			input.Error{
				Line:  2,
				Path:  "jobs[0].demand.cpus",
				Value: "the number 1",
				Want:  `a demand of one of the resources "cpu", "memory"; did you mean "cpu"?`,
			}},
		{resources + `{"name": "a", "demand": {"cpu": true}}]}`,
			input.Error{Line: 2, Path: "jobs[0].demand.cpu", Value: "true", Want: "a number >= 0"}},
		{resources + `{"name": "a", "demand": {"cpu": 1}, "mean_size": 2}]}`,
			input.Error{
				Line:  2,
				Path:  "jobs[0].mean_size",
				Value: "the number 2",
				Want:  "one of the fields name, demand",
			}},
	} {
		_, err := read(c.text)
		var got *input.Error
		if !errors.As(err, &got) {
			t.Errorf("%s: error %v", c.text, err)
			continue
		}
		if diff := cmp.Diff(c.want, *got, cmpopts.IgnoreFields(input.Error{}, "Cause")); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
		if otherSort := strings.Contains(c.text, "mean_size"); errors.Is(err, errSort) != otherSort {
			t.Errorf("%s: errors.Is(err, errSort) = %v, want the opposite", c.text, !otherSort)
		}
	}
}
