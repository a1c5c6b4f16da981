package fluid

import (
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

const maxJobsInRow = 1_000_000_000

// Check reports whether the pool makes sense. It returns nil or an error that wraps an *[num.InputError] for the first
// entry that does not: there are resources and jobs, each with a name of its own among its kind, in UTF-8 without
// control characters; capacities, weights and limits are positive; demands are not negative, as many as resources at most, and
// not all 0; a row counts 1 to 1,000,000,000 jobs (0 stands for 1); numerators and denominators have at most 16,384
// bits. Fields are named as in a file: jobs[3].demand.cpu.
func (p *Pool) Check() error { return poolFile.CheckAll(p) }

func indexed(list string, i int) string { return input.Index(list, i) }
