package fluid

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"productform/internal/input"
	"productform/internal/tree"
)

// ErrJobsStay and ErrJobsComeAndGo are wrapped by errors for fields that only jobs of the other sort have: the text is
// for [ReadPool] or [ReadTraffic].
var (
	ErrJobsStay      = errors.New("this one is for jobs that stay")
	ErrJobsComeAndGo = errors.New("this one is for jobs that come and go")
)

// A SyntaxError says where a file stops being JSON, YAML or text at all. It is that of package cluster.
type SyntaxError = tree.SyntaxError

// maxDemands bounds the rows of jobs times the resources that are read: they are kept as a full table.
const maxDemands = 10_000_000

// ReadPool reads a pool of jobs that stay, as JSON if the first character other than a space is { or [, else as YAML:
//
//	{"resources": [{"name": "cpu", "capacity": 9}, {"name": "ram", "capacity": 18}],
//	 "jobs": [{"name": "a", "demand": {"cpu": 1, "ram": 4}, "weight": 1, "count": 1},
//	          {"name": "b", "demand": {"cpu": "7/2"}}]}
//
// Numbers are JSON numbers or strings and are taken exactly as written: 0.1, "0.1" and "1/10" are all one tenth. A
// demand is of each task; of a resource not named it is 0. weight and count are 1 if missing.
//
// The error wraps an *[input.Error] with the path of the field, its value and what is accepted: for an unknown field
// (also [ErrJobsComeAndGo] if it is one of [ReadTraffic]), a missing or repeated one, a resource that does not exist,
// a value of another type, and all that [Pool.Check] refuses. Where the text is not JSON or YAML it is a
// *[SyntaxError]. At most 64 MiB of JSON and 32 MiB of YAML are read, and 10,000,000 demands, rows of jobs times
// resources.
func ReadPool(r io.Reader) (*Pool, error) { return readPool(r, tree.Auto) }

// ReadPoolFile reads the file as JSON if its name ends in .json, as YAML if it ends in .yaml or .yml, else as
// [ReadPool]. Errors start with the name of the file.
func ReadPoolFile(name string) (*Pool, error) { return tree.ReadFile(name, readPool) }

// ReadTraffic reads jobs that come and go, as [ReadPool] does. Each entry of jobs is a class:
//
//	{"name": "a", "demand": {"cpu": 1, "ram": 4}, "weight": 1,
//	 "arrival_rate": 2, "mean_size": 1, "declared": {"cpu": 2, "ram": 4}}
//
// weight and mean_size are 1 if missing. declared is the profile that the policy believes, the true one if it is
// missing. The error for a count wraps [ErrJobsStay].
func ReadTraffic(r io.Reader) (*Traffic, error) { return readTraffic(r, tree.Auto) }

// ReadTrafficFile is to [ReadTraffic] what [ReadPoolFile] is to [ReadPool].
func ReadTrafficFile(name string) (*Traffic, error) { return tree.ReadFile(name, readTraffic) }

func readPool(r io.Reader, format tree.Format) (*Pool, error) {
	d, err := newDecoder(r, format, "a pool with resources and jobs")
	if err != nil {
		return nil, err
	}
	p := &Pool{Resources: d.resources, Jobs: make([]Job, len(d.jobs))}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		path, f, err := d.job(i, []string{"count"}, []string{"arrival_rate", "mean_size", "declared"}, ErrJobsComeAndGo)
		if err != nil {
			return nil, err
		}
		if j.Name, j.Demand, j.Weight, err = d.common(path, f); err != nil {
			return nil, err
		}
		j.Count = 1
		if n := f["count"]; n != nil {
			if j.Count, err = n.Integer(path+".count", maxJobsInRow, wantCount); err != nil {
				return nil, err
			}
		}
	}
	if err := p.Check(); err != nil {
		return nil, d.root.AsWritten(err)
	}
	return p, nil
}

func readTraffic(r io.Reader, format tree.Format) (*Traffic, error) {
	d, err := newDecoder(r, format, "traffic with resources and jobs")
	if err != nil {
		return nil, err
	}
	t := &Traffic{Resources: d.resources, Classes: make([]Class, len(d.jobs))}
	for k := range t.Classes {
		c := &t.Classes[k]
		path, f, err := d.job(k, []string{"arrival_rate", "mean_size", "declared"}, []string{"count"}, ErrJobsStay)
		if err != nil {
			return nil, err
		}
		if c.Name, c.Demand, c.Weight, err = d.common(path, f); err != nil {
			return nil, err
		}
		if c.ArrivalRate, err = f["arrival_rate"].Rat(path+".arrival_rate", input.Nonnegative); err != nil {
			return nil, err
		}
		if c.MeanSize, err = optional(f["mean_size"], path+".mean_size"); err != nil {
			return nil, err
		}
		if n := f["declared"]; n != nil {
			if c.Declared, err = d.demand(n, path+".declared"); err != nil {
				return nil, err
			}
			for j, r := range d.resources {
				if need := demandOf(c.Demand, j); c.Declared[j] == nil && need.Sign() > 0 {
					return nil, input.Errorf(input.Field(path+".declared", r.Name), "", "at least the demand, %s; a resource not named is 0", need.RatString())
				}
			}
		}
	}
	if err := t.Check(); err != nil {
		return nil, d.root.AsWritten(err)
	}
	return t, nil
}

// A decoder takes resources and jobs out of a tree. It checks what only a file can have wrong (types, fields, names);
// ranges are left to Check.
type decoder struct {
	root      *tree.Node
	resources []Resource
	rows      map[string]int // of resources, by name
	jobs      []tree.Node
}

// newDecoder reads a text and decodes the resources.
func newDecoder(r io.Reader, format tree.Format, want string) (*decoder, error) {
	root, err := tree.Read(r, format, want)
	if err != nil {
		return nil, err
	}
	d := &decoder{root: root, rows: map[string]int{}}
	f, err := root.Fields("", "an object with resources and jobs", "resources", "jobs")
	if err != nil {
		return nil, err
	}
	list, err := f["resources"].Elements("resources", "an array of resources")
	if err != nil {
		return nil, err
	}
	d.resources = make([]Resource, len(list))
	for j := range list {
		path := indexed("resources", j)
		f, err := list[j].Fields(path, "an object with name and capacity", "name", "capacity")
		if err != nil {
			return nil, err
		}
		r := &d.resources[j]
		if r.Name, err = f["name"].Name(path + ".name"); err != nil {
			return nil, err
		}
		if r.Capacity, err = f["capacity"].Rat(path+".capacity", input.Positive); err != nil {
			return nil, err
		}
		d.rows[r.Name] = j
	}
	if err := checkResources(d.resources); err != nil {
		return nil, root.AsWritten(err)
	}
	if d.jobs, err = f["jobs"].Elements("jobs", "an array of jobs"); err != nil {
		return nil, err
	}
	if most := maxDemands / len(d.resources); len(d.jobs) > most {
		return nil, input.Errorf("jobs", fmt.Sprintf("%d rows", len(d.jobs)), "at most %d rows for %d resources", most, len(d.resources))
	}
	return d, nil
}

// job returns the path and the fields of row i. The fields of jobs of the other sort, which stay or come and go, are
// told.
func (d *decoder) job(i int, own, others []string, sort error) (path string, f map[string]*tree.Node, err error) {
	path = indexed("jobs", i)
	n := &d.jobs[i]
	known := append([]string{"name", "demand", "weight"}, own...)
	for i, key := range n.Keys {
		if slices.Contains(others, key) {
			bad := input.Errorf(input.Field(path, key), &n.Kids[i], "one of the fields %s", strings.Join(known, ", "))
			return path, nil, fmt.Errorf("%w; %w", bad, sort)
		}
	}
	f, err = n.Fields(path, "an object with name and demand", known...)
	return path, f, err
}

// common decodes what all jobs have.
func (d *decoder) common(path string, f map[string]*tree.Node) (name string, demand []*big.Rat, weight *big.Rat, err error) {
	if name, err = f["name"].Name(path + ".name"); err != nil {
		return "", nil, nil, err
	}
	if demand, err = d.demand(f["demand"], path+".demand"); err != nil {
		return "", nil, nil, err
	}
	weight, err = optional(f["weight"], path+".weight")
	return name, demand, weight, err
}

// optional returns a positive number, nil if it is missing.
func optional(n *tree.Node, path string) (*big.Rat, error) {
	if n == nil {
		return nil, nil
	}
	return n.Rat(path, input.Positive)
}

func (d *decoder) demand(n *tree.Node, path string) ([]*big.Rat, error) {
	keys, values, err := n.Entries(path, "an object with numbers by the names of resources")
	if err != nil {
		return nil, err
	}
	demand := make([]*big.Rat, len(d.resources))
	for i, key := range keys {
		row, ok := d.rows[key]
		if !ok {
			return nil, input.Errorf(input.Field(path, key), &values[i], "a demand of %s", d.known(key))
		}
		if demand[row], err = values[i].Rat(input.Field(path, key), input.Nonnegative); err != nil {
			return nil, err
		}
	}
	return demand, nil
}

// known names the resources, with the one that was meant by a key that is none of them.
func (d *decoder) known(key string) string {
	const most = 10
	var names []string
	for _, r := range d.resources {
		names = append(names, r.Name)
	}
	hint := tree.DidYouMean(key, slices.Values(names), input.Quote)
	if len(names) > most {
		return fmt.Sprintf("one of the %d resources%s", len(names), hint)
	}
	for j, name := range names {
		names[j] = input.Quote(name)
	}
	return fmt.Sprintf("one of the resources %s%s", strings.Join(names, ", "), hint)
}
