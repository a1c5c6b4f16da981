package traffic

import (
	"io"
	"math/big"

	"productform/fluid"
	"productform/internal/input"
	"productform/internal/poolfile"
	"productform/internal/tree"
)

// Read reads jobs that come and go, as [fluid.ReadPool] does. Each entry of jobs is a class:
//
//	{"name": "a", "demand": {"cpu": 1, "ram": 4}, "weight": 1,
//	 "arrival_rate": 2, "mean_size": 1, "declared": {"cpu": 2, "ram": 4}, "max_tasks": 3}
//
// weight and mean_size are 1 if missing, and without max_tasks there is no limit. declared is the profile that the policy believes, the true one if it is
// missing. The error for a count wraps [fluid.ErrJobsStay].
func Read(r io.Reader) (*Model, error) { return read(r, tree.Auto) }

// ReadFile is to [Read] what [fluid.ReadPoolFile] is to [fluid.ReadPool].
func ReadFile(name string) (*Model, error) { return tree.ReadFile(name, read) }

func read(r io.Reader, format tree.Format) (*Model, error) {
	t := &Model{}
	check := func(names []string, capacities []*big.Rat) (err error) {
		t.Resources, err = fluid.NewResources(names, capacities)
		return err
	}
	return poolfile.Read(r, format, "traffic with resources and jobs", check, t.decodeClasses)
}

// decodeClasses adds the classes of the file to the resources.
func (t *Model) decodeClasses(d *poolfile.File) (*Model, error) {
	t.Classes = make([]Class, d.Jobs())
	for k := range t.Classes {
		c := &t.Classes[k]
		path, f, err := d.Job(k, []string{"arrival_rate", "mean_size", "declared", "max_tasks"}, []string{"count"}, fluid.ErrJobsStay)
		if err != nil {
			return nil, err
		}
		if c.Name, c.Demand, c.Weight, err = d.Common(path, f); err != nil {
			return nil, err
		}
		if c.ArrivalRate, err = f["arrival_rate"].Rat(path+".arrival_rate", input.Nonnegative); err != nil {
			return nil, err
		}
		if c.MeanSize, err = poolfile.Optional(f["mean_size"], path+".mean_size"); err != nil {
			return nil, err
		}
		if c.MaxTasks, err = poolfile.Optional(f["max_tasks"], path+".max_tasks"); err != nil {
			return nil, err
		}
		if n := f["declared"]; n != nil {
			if c.Declared, err = d.Demand(n, path+".declared"); err != nil {
				return nil, err
			}
			for j, r := range t.Resources {
				if need := c.Demand.Of(j); c.Declared[j] == nil && need.Sign() > 0 {
					return nil, input.Errorf(input.Field(path+".declared", r.Name), "", "at least the demand, %s; a resource not named is 0", need.RatString())
				}
			}
		}
	}
	if err := t.Check(); err != nil {
		return nil, d.AsWritten(err)
	}
	return t, nil
}
