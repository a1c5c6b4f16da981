package fluid

import (
	"fmt"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// A Pool is a set of resources and the jobs that share them.
type Pool struct {
	Resources []Resource
	Jobs      []Job
}

// A Resource is something divisible that tasks take parts of, such as processors or memory.
type Resource struct {
	Name     string   // not empty, and unlike those of the others
	Capacity *big.Rat // C_j > 0
}

// A Job is one job, or a number of equal ones, each with a share of its own.
type Job struct {
	Name     string   // not empty, and unlike those of the others
	Demand   Demand   // A_ij of resource j for each task
	Weight   *big.Rat // w_i > 0; nil means 1
	MaxTasks *big.Rat // L_i > 0, the most tasks that the job can run; nil means no limit
	Count    int      // equal jobs, 1 to 1,000,000,000; 0 means 1
}

// A Demand is what each task takes of the resources, in the order of Pool.Resources: numbers >= 0, not all 0. What is nil
// or missing at the end is 0.
type Demand []*big.Rat

// Of returns the demand of resource j. It is not to be changed.
func (d Demand) Of(j int) *big.Rat {
	if j >= len(d) || d[j] == nil {
		return new(big.Rat)
	}
	return d[j]
}

// Size returns the number of jobs in the row: Count, at least 1.
func (j Job) Size() int { return max(j.Count, 1) }

// WeightOf returns the weight of each job in the row, 1 if it is nil. It is the Weight itself, not a copy.
func (j Job) WeightOf() *big.Rat { return num.OrOne(j.Weight) }

const (
	maxJobsInRow = 1_000_000_000
	wantCount    = "an integer from 1 to 1000000000"
)

// Check reports whether the pool makes sense. It returns nil or an error that wraps an *[input.Error] for the first
// entry that does not: there are resources and jobs, each with a name of its own among its kind, in UTF-8 without
// control characters; capacities, weights and limits are positive; demands are not negative, as many as resources at most, and
// not all 0; a row counts 1 to 1,000,000,000 jobs (0 stands for 1); numerators and denominators have at most 16,384
// bits. Fields are named as in a file: jobs[3].demand.cpu.
func (p *Pool) Check() error {
	if err := CheckResources(p.Resources); err != nil {
		return err
	}
	if len(p.Jobs) == 0 {
		return input.Errorf("jobs", "[]", "at least one job")
	}
	names := make(map[string]int, len(p.Jobs))
	for i, j := range p.Jobs {
		path := indexed("jobs", i)
		if err := input.CheckName(names, "jobs", i, j.Name); err != nil {
			return err
		}
		if err := j.Demand.Check(path+".demand", p.Resources); err != nil {
			return err
		}
		if j.Weight != nil {
			if err := input.CheckNumber(path+".weight", j.Weight, input.Positive); err != nil {
				return err
			}
		}
		if j.MaxTasks != nil {
			if err := input.CheckNumber(path+".max_tasks", j.MaxTasks, input.Positive); err != nil {
				return err
			}
		}
		if j.Count < 0 || j.Count > maxJobsInRow {
			return input.Errorf(path+".count", j.Count, wantCount)
		}
	}
	return nil
}

// NewResources returns resources of these names and capacities. The error is that of [Pool.Check].
func NewResources(names []string, capacities []*big.Rat) ([]Resource, error) {
	resources := make([]Resource, len(names))
	for j, name := range names {
		resources[j] = Resource{Name: name, Capacity: capacities[j]}
	}
	return resources, CheckResources(resources)
}

// CheckResources checks what [Pool.Check] wants of resources.
func CheckResources(resources []Resource) error {
	if len(resources) == 0 {
		return input.Errorf("resources", "[]", "at least one resource")
	}
	names := make(map[string]int, len(resources))
	for j, r := range resources {
		if err := input.CheckName(names, "resources", j, r.Name); err != nil {
			return err
		}
		if err := input.CheckNumber(indexed("resources", j)+".capacity", r.Capacity, input.Positive); err != nil {
			return err
		}
	}
	return nil
}

// Check checks the demand of the job or class at path, as [Pool.Check] does.
func (d Demand) Check(path string, resources []Resource) error {
	if len(d) > len(resources) {
		return input.Errorf(path, fmt.Sprintf("%d numbers", len(d)), "one for each of the %d resources at most", len(resources))
	}
	needed := false
	for j, a := range d {
		if a == nil {
			continue
		}
		if input.CheckNumber("", a, input.Nonnegative) != nil { // the path is made only of what is refused
			return input.CheckNumber(input.Field(path, resources[j].Name), a, input.Nonnegative)
		}
		needed = needed || a.Sign() > 0
	}
	if !needed {
		return input.Errorf(path, "all 0", "a positive demand of some resource")
	}
	return nil
}

func indexed(list string, i int) string { return input.Index(list, i) }
