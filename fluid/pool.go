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

// A Resource is a divisible resource that tasks use, such as processors or memory.
type Resource struct {
	Name     string   // not empty, and unique among the resources
	Capacity *big.Rat // C_j > 0
}

// A Job is one job, or a number of equal jobs with a separate share each.
type Job struct {
	Name     string   // not empty, and unique among the jobs
	Demand   Demand   // A_ij of resource j for each task
	Weight   *big.Rat // w_i > 0; nil means 1
	MaxTasks *big.Rat // L_i > 0, the maximum number of tasks that the job can run; nil means no limit
	Count    int      // number of equal jobs, 1 to 1,000,000,000; 0 means 1
}

// A Demand lists the amount of each resource that a task uses, in the order of Pool.Resources:
// numbers >= 0, not all 0. Entries that are nil or missing at the end are 0.
type Demand []*big.Rat

// Of returns the demand of resource j. The caller must not modify it.
func (d Demand) Of(j int) *big.Rat {
	if j >= len(d) || d[j] == nil {
		return new(big.Rat)
	}
	return d[j]
}

// Size returns the number of jobs in the row: Count, at least 1.
func (j Job) Size() int { return max(j.Count, 1) }

// WeightOf returns the weight of each job in the row, 1 if it is nil. It is the Weight itself, not
// a copy.
func (j Job) WeightOf() *big.Rat { return num.OrOne(j.Weight) }

const maxJobsInRow = 1_000_000_000

// Check reports whether the pool is valid. It returns nil, or an error that wraps an
// *[num.InputError] for the first invalid entry. There must be resources and jobs, each with a
// unique name among its kind, in UTF-8 without control characters. Capacities, weights and limits
// must be positive; demands must be nonnegative, at most as many as resources, and not all 0. A row
// counts 1 to 1,000,000,000 jobs (0 stands for 1), and numerators and denominators have at most
// 16,384 bits. Fields are named as in a file: jobs[3].demand.cpu.
func (p *Pool) Check() error { return poolFile.CheckAll(p) }

func indexed(list string, i int) string { return input.Index(list, i) }
