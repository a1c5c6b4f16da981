// Package poolfile reads files of resources and jobs that share them: what pools of jobs that stay and traffic of jobs
// that come and go have in common. It checks what only a file can have wrong (types, fields, names).
package poolfile

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"productform/internal/input"
	"productform/internal/tree"
)

// maxDemands bounds the rows of jobs times the resources that are read: they are kept as a full table.
const maxDemands = 10_000_000

// A File is the tree of a file whose resources are decoded.
type File struct {
	names      []string // of the resources
	capacities []*big.Rat
	root       *tree.Node
	rows       map[string]int // of resources, by name
	jobs       []tree.Node
}

// Read reads a text that should be what want says. It decodes the resources, takes them to check, which says what is
// wrong with them, if anything, and returns what decode makes of the rest. Errors name the line.
func Read[T any](r io.Reader, format tree.Format, want string, check func(names []string, capacities []*big.Rat) error,
	decode func(*File) (*T, error)) (*T, error) {
	root, err := tree.Read(r, format, want)
	if err != nil {
		return nil, err
	}
	d, err := newFile(root, check)
	if err != nil {
		return nil, root.Locate(err)
	}
	v, err := decode(d)
	if err != nil {
		return nil, root.Locate(err)
	}
	return v, nil
}

func newFile(root *tree.Node, check func(names []string, capacities []*big.Rat) error) (*File, error) {
	d := &File{root: root, rows: map[string]int{}}
	f, err := root.Fields("", "an object with resources and jobs", "resources", "jobs")
	if err != nil {
		return nil, err
	}
	list, err := f["resources"].Elements("resources", "an array of resources")
	if err != nil {
		return nil, err
	}
	for j := range list {
		path := input.Index("resources", j)
		f, err := list[j].Fields(path, "an object with name and capacity", "name", "capacity")
		if err != nil {
			return nil, err
		}
		name, err := f["name"].Name(path + ".name")
		if err != nil {
			return nil, err
		}
		capacity, err := f["capacity"].Rat(path+".capacity", input.Positive)
		if err != nil {
			return nil, err
		}
		d.names, d.capacities = append(d.names, name), append(d.capacities, capacity)
		d.rows[name] = j
	}
	if err := check(d.names, d.capacities); err != nil {
		return nil, d.AsWritten(err)
	}
	if d.jobs, err = f["jobs"].Elements("jobs", "an array of jobs"); err != nil {
		return nil, err
	}
	if most := maxDemands / len(d.names); len(d.jobs) > most {
		return nil, input.Errorf("jobs", fmt.Sprintf("%d rows", len(d.jobs)), "at most %d rows for %d resources", most, len(d.names))
	}
	return d, nil
}

// AsWritten puts into an error about a number of the file the way it writes it.
func (d *File) AsWritten(err error) error { return d.root.AsWritten(err) }

// Jobs returns the number of rows of jobs.
func (d *File) Jobs() int { return len(d.jobs) }

// Job returns the path and the fields of row i: name, demand, weight and its own. The error for a field of jobs of the
// other sort, which stay or come and go, wraps sort.
func (d *File) Job(i int, own, others []string, sort error) (path string, f map[string]*tree.Node, err error) {
	path = input.Index("jobs", i)
	n := &d.jobs[i]
	known := append([]string{"name", "demand", "weight"}, own...)
	for i, key := range n.Keys {
		if slices.Contains(others, key) {
			bad := input.Errorf(input.Field(path, key), &n.Kids[i], "one of the fields %s", strings.Join(known, ", "))
			bad.Cause = sort
			return path, nil, bad
		}
	}
	f, err = n.Fields(path, "an object with name and demand", known...)
	return path, f, err
}

// Common decodes what all jobs have.
func (d *File) Common(path string, f map[string]*tree.Node) (name string, demand []*big.Rat, weight *big.Rat, err error) {
	if name, err = f["name"].Name(path + ".name"); err != nil {
		return "", nil, nil, err
	}
	if demand, err = d.Demand(f["demand"], path+".demand"); err != nil {
		return "", nil, nil, err
	}
	weight, err = Optional(f["weight"], path+".weight")
	return name, demand, weight, err
}

// Optional returns a positive number, nil if it is missing.
func Optional(n *tree.Node, path string) (*big.Rat, error) {
	if n == nil {
		return nil, nil
	}
	return n.Rat(path, input.Positive)
}

// Demand decodes numbers by the names of resources, nil where none is given.
func (d *File) Demand(n *tree.Node, path string) ([]*big.Rat, error) {
	keys, values, err := n.Entries(path, "an object with numbers by the names of resources")
	if err != nil {
		return nil, err
	}
	demand := make([]*big.Rat, len(d.names))
	for i, key := range keys {
		row, ok := d.rows[key]
		if !ok {
			return nil, input.Errorf(input.Field(path, key), &values[i], "a demand of %s", d.known(key))
		}
		if demand[row], err = values[i].Rat("", input.Nonnegative); err != nil { // the path is made only of what is refused
			_, err = values[i].Rat(input.Field(path, key), input.Nonnegative)
			return nil, err
		}
	}
	return demand, nil
}

// known names the resources, with the one that was meant by a key that is none of them.
func (d *File) known(key string) string {
	const most = 10
	hint := tree.DidYouMean(key, slices.Values(d.names), input.Quote)
	if len(d.names) > most {
		return fmt.Sprintf("one of the %d resources%s", len(d.names), hint)
	}
	var names []string
	for _, name := range d.names {
		names = append(names, input.Quote(name))
	}
	return fmt.Sprintf("one of the resources %s%s", strings.Join(names, ", "), hint)
}
