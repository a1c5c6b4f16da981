package traffic

import (
	"io"
	"math/big"

	"productform/fluid"
	"productform/internal/file"
	"productform/internal/input"
)

// Read reads traffic as [fluid.ReadPool] reads a static pool. Each entry of jobs
// is a class:
//
//	{"name": "a", "demand": {"cpu": 1, "ram": 4}, "weight": 1,
//	 "arrival_rate": 2, "mean_size": 1, "declared": {"cpu": 2, "ram": 4}, "max_tasks": 3}
//
// weight and mean_size are 1 if missing, and without max_tasks there is no limit. declared is the
// profile that the policy assumes; by default it is the true one. The error for a count wraps
// [fluid.ErrStaticPool].
func Read(r io.Reader) (*Model, error) { return read(r, file.Auto) }

// ReadFile reads a file as [fluid.ReadPoolFile] does, with content as for [Read].
func ReadFile(name string) (*Model, error) { return file.ReadFile(name, read) }

func read(r io.Reader, format file.Format) (*Model, error) {
	return file.ReadPool(r, format, "traffic with resources and jobs", trafficFile.Read)
}

// Schema returns a JSON schema of the files that [Read] reads. It refers to the definitions name,
// nonnegative, positive and amounts in $defs.
func Schema() map[string]any { return trafficFile.Schema() }

// Help returns a table of the fields of these files, with their meanings, units, ranges and
// defaults, and examples.
func Help() string { return trafficFile.Help() }

// trafficFile describes the file of traffic. Neither it nor the descriptions in it are ever
// modified.
var trafficFile = file.Description[Model]{
	Want: "an object with resources and jobs",
	Fields: []file.Field[Model]{
		file.Resources(func(t *Model) *[]fluid.Resource { return &t.Resources },
			func(r *fluid.Resource) *string { return &r.Name },
			func(r *fluid.Resource) **big.Rat { return &r.Capacity }),
		file.Objects("jobs", "list of classes of jobs", "an array of jobs",
			func(t *Model) *[]Class { return &t.Classes }, &classFile, file.Length{Least: 1, One: "class of jobs"},
			func(c *Class) string { return c.Name }),
	},
	Check: func(t *Model, _ string) error { return t.checkDeclared() },
}

var classFile = file.Description[Class]{
	Want: "an object with name and demand",
	Fields: []file.Field[Class]{
		file.Name("name of the class", func(c *Class) *string { return &c.Name }).Example("a"),
		file.Demand("demand",
			"amount of each resource that one task takes, in the units of the capacities; 0 if not named",
			func(c *Class) *[]*big.Rat { return (*[]*big.Rat)(&c.Demand) }).Example("{cpu: 1, ram: 4}"),
		file.Rat("weight", "weight of a job in comparisons", func(c *Class) **big.Rat { return &c.Weight },
			input.Positive).Default(1).Example("2"),
		file.Rat("arrival_rate", "jobs per unit of time",
			func(c *Class) **big.Rat { return &c.ArrivalRate }, input.Nonnegative).Example("3.6"),
		file.Rat("mean_size", "mean work of a job, in tasks times units of time, such as task-seconds",
			func(c *Class) **big.Rat { return &c.MeanSize }, input.Positive).Default(1).Example("4"),
		file.Amounts("declared", "demand that the class declares, at least its demand",
			func(c *Class) *[]*big.Rat { return (*[]*big.Rat)(&c.Declared) }).Otherwise("the demand").
			Example("{cpu: 2, ram: 4}"),
		file.Rat("max_tasks", "maximum number of tasks that one job of the class can run",
			func(c *Class) **big.Rat { return &c.MaxTasks }, input.Positive).Otherwise("no limit").Example("3"),
	},
	Others: []string{"count"}, OtherKind: fluid.ErrStaticPool,
}
