package fluid

import (
	"errors"
	"io"
	"math/big"

	"productform/internal/file"
	"productform/internal/poolfile"
	"productform/internal/tree"
)

// ErrJobsStay and ErrJobsComeAndGo are wrapped by errors for fields that only jobs of the other sort have: the text is
// for [ReadPool] or traffic.Read.
var (
	ErrJobsStay      = errors.New("this one is for jobs that stay")
	ErrJobsComeAndGo = errors.New("this one is for jobs that come and go")
)

// A SyntaxError says where a file stops being JSON, YAML or text at all. It is that of package cluster.
type SyntaxError = tree.SyntaxError

// ReadPool reads a pool of jobs that stay, as JSON if the first character other than a space is { or [, else as YAML:
//
//	{"resources": [{"name": "cpu", "capacity": 9}, {"name": "ram", "capacity": 18}],
//	 "jobs": [{"name": "a", "demand": {"cpu": 1, "ram": 4}, "weight": 1, "count": 1, "max_tasks": 2},
//	          {"name": "b", "demand": {"cpu": "7/2"}}]}
//
// Numbers are JSON numbers or strings and are taken exactly as written: 0.1, "0.1" and "1/10" are all one tenth. A
// demand is of each task; of a resource not named it is 0. weight and count are 1 if missing, and without max_tasks
// there is no limit.
//
// The error wraps an *[input.Error] with the path of the field, its value and what is accepted: for an unknown field
// (also [ErrJobsComeAndGo] if it is one of traffic.Read), a missing or repeated one, a resource that does not exist,
// a value of another type, and all that [Pool.Check] refuses. Where the text is not JSON or YAML it is a
// *[SyntaxError]. At most 64 MiB of JSON and 32 MiB of YAML are read, and 10,000,000 demands, rows of jobs times
// resources.
func ReadPool(r io.Reader) (*Pool, error) { return readPool(r, tree.Auto) }

// ReadPoolFile reads the file as JSON if its name ends in .json, as YAML if it ends in .yaml or .yml, else as
// [ReadPool]. Errors start with the name of the file.
func ReadPoolFile(name string) (*Pool, error) { return tree.ReadFile(name, readPool) }

func readPool(r io.Reader, format tree.Format) (*Pool, error) {
	p := &Pool{}
	check := func(names []string, capacities []*big.Rat) (err error) {
		p.Resources, err = NewResources(names, capacities)
		return err
	}
	return poolfile.Read(r, format, "a pool with resources and jobs", check, p.decodeJobs)
}

// decodeJobs adds the jobs of the file to the resources.
func (p *Pool) decodeJobs(d *poolfile.File) (*Pool, error) {
	p.Jobs = make([]Job, d.Jobs())
	err := file.InParts(len(p.Jobs), func(from, to int) error {
		for i := from; i < to; i++ {
			if err := p.Jobs[i].decode(d, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, d.AsWritten(err)
	}
	return p, nil
}

// decode reads row i of the file.
func (j *Job) decode(d *poolfile.File, i int) error {
	path, f, err := d.Job(i, []string{"count", "max_tasks"}, []string{"arrival_rate", "mean_size", "declared"}, ErrJobsComeAndGo)
	if err != nil {
		return err
	}
	if j.Name, j.Demand, j.Weight, err = d.Common(path, f); err != nil {
		return err
	}
	if j.MaxTasks, err = poolfile.Optional(f["max_tasks"], path+".max_tasks"); err != nil {
		return err
	}
	j.Count = 1
	if n := f["count"]; n != nil {
		j.Count, err = n.Integer(path+".count", maxJobsInRow, wantCount)
	}
	return err
}
