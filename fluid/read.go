package fluid

import (
	"errors"
	"io"
	"math/big"

	"productform/internal/file"
	"productform/internal/input"
)

// ErrStaticPool and ErrTraffic are wrapped by errors about fields of the other kind of file: the
// text is meant for [ReadPool] or traffic.Read.
var (
	ErrStaticPool = errors.New("this one is for permanent jobs")
	ErrTraffic    = errors.New("this one is for jobs that arrive and depart")
)

// ReadPool reads a static pool, as JSON if the first character other than a space is { or [,
// otherwise as YAML:
//
//	{"resources": [{"name": "cpu", "capacity": 9}, {"name": "ram", "capacity": 18}],
//	 "jobs": [{"name": "a", "demand": {"cpu": 1, "ram": 4}, "weight": 1, "count": 1, "max_tasks": 2},
//	          {"name": "b", "demand": {"cpu": "7/2"}}]}
//
// Numbers are JSON numbers or strings and are read exactly as written: 0.1, "0.1" and "1/10" are
// all one tenth. A demand is per task; for a resource that is not named it is 0. weight and count
// are 1 if missing, and without max_tasks there is no limit.
//
// The error wraps an *[num.InputError] with the path of the field, its value and the accepted
// values. It is returned for an unknown field (which also wraps [ErrTraffic] if it is a field of
// traffic.Read), a missing or repeated field, an unknown resource, a value of another type, and
// everything that [Pool.Check] rejects. If the text is not JSON or YAML it is a *[num.SyntaxError].
// The limits are 64 MiB of JSON, 32 MiB of YAML, and 10,000,000 demands (rows of jobs times
// resources).
func ReadPool(r io.Reader) (*Pool, error) { return readPool(r, file.Auto) }

// ReadPoolFile reads the file as JSON if its name ends in .json, as YAML if it ends in .yaml or
// .yml, otherwise as [ReadPool]. Errors start with the name of the file.
func ReadPoolFile(name string) (*Pool, error) { return file.ReadFile(name, readPool) }

func readPool(r io.Reader, format file.Format) (*Pool, error) {
	return file.ReadPool(r, format, "a pool with resources and jobs", poolFile.Read)
}

// Schema returns a JSON schema of the files that [ReadPool] reads. It refers to the definitions
// name, positive, count and amounts in $defs.
func Schema() map[string]any { return poolFile.Schema() }

// Help returns a table of the fields of these files, with their meanings, units, ranges and
// defaults, and examples.
func Help() string { return poolFile.Help() }

// poolFile describes the file of a pool. Neither it nor the descriptions in it are ever modified.
var poolFile = file.Description[Pool]{
	Want: "an object with resources and jobs",
	Fields: []file.Field[Pool]{
		file.Resources(func(p *Pool) *[]Resource { return &p.Resources },
			func(r *Resource) *string { return &r.Name }, func(r *Resource) **big.Rat { return &r.Capacity }),
		file.Objects("jobs", "list of jobs", "an array of jobs", func(p *Pool) *[]Job { return &p.Jobs }, &jobFile,
			file.Length{Least: 1, One: "job"}, func(j *Job) string { return j.Name }),
	},
}

var jobFile = file.Description[Job]{
	Want:  "an object with name and demand",
	Start: Job{Count: 1},
	Fields: []file.Field[Job]{
		file.Name("name of the job", func(j *Job) *string { return &j.Name }).Example("a"),
		file.Demand("demand",
			"amount of each resource that one task takes, in the units of the capacities; 0 if not named",
			func(j *Job) *[]*big.Rat { return (*[]*big.Rat)(&j.Demand) }).Example("{cpu: 1, ram: 4}"),
		file.Rat("weight", "weight of the job in comparisons", func(j *Job) **big.Rat { return &j.Weight },
			input.Positive).Default(1).Example("2"),
		file.Int("count", "equal jobs in this row", func(j *Job) *int { return &j.Count }, maxJobsInRow, "").
			Default(1).Example("10"),
		file.Rat("max_tasks", "maximum number of tasks that one job can run",
			func(j *Job) **big.Rat { return &j.MaxTasks }, input.Positive).Otherwise("no limit").Example("3"),
	},
	Others: []string{"arrival_rate", "mean_size", "declared"}, OtherKind: ErrTraffic,
}
