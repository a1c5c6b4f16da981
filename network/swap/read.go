package swap

import (
	"io"
	"math/big"

	"productform/internal/file"
	"productform/internal/input"
)

// Read reads a model from a text in JSON, if its first character other than a space is { or [, and
// otherwise in YAML:
//
//	servers: [{name: s, capacity: 1}, {name: t, capacity: 2}]
//	classes:
//	  - {name: a, arrival_rate: 0.3, servers: [s]}
//	  - {name: b, arrival_rate: 1/2, servers: [s, t]}
//	swaps: [[a, b], [b, b]]
//	mean_size: 1
//
// In a closed queue, classes have a population instead of an arrival rate, and "start: [a, b, b]"
// names the classes of the jobs at the start, the oldest first.
//
// The error is a *[num.SyntaxError] or wraps a *[num.InputError] with the line and the path of the
// field: for an unknown, missing or repeated field, a value of another type, and everything that
// [Model.Check] rejects.
func Read(r io.Reader) (*Model, error) { return read(r, file.Auto) }

// ReadFile reads a model from a file, as JSON if its name ends in .json, as YAML if it ends in
// .yaml or .yml, otherwise as [Read]. Errors start with the name of the file.
func ReadFile(name string) (*Model, error) { return file.ReadFile(name, read) }

func read(r io.Reader, format file.Format) (*Model, error) {
	root, err := file.Read(r, format, "a model with servers, classes and swaps")
	if err != nil {
		return nil, err
	}
	return file.DecodeRoot(root, modelFile.Read)
}

const (
	maxClasses    = 20 // all sets of classes are tabulated
	maxServers    = 10_000
	maxPopulation = 1_000_000
)

// Schema returns a JSON schema of the files that [Read] reads. It refers to the definitions name,
// nonnegative, positive and count in $defs.
func Schema() map[string]any { return modelFile.Schema() }

// Help returns a table of the fields of these files, with their meanings, units, ranges and
// defaults, and examples.
func Help() string { return modelFile.Help() }

// modelFile describes the file of a model. Neither it nor the descriptions in it are ever modified.
var modelFile = file.Description[Model]{
	Want: "an object with servers, classes and swaps",
	Fields: []file.Field[Model]{
		file.Objects("servers", "list of servers, each of which serves the first job that it can",
			"an array of servers",
			func(m *Model) *[]Server { return &m.Servers }, &serverFile,
			file.Length{Least: 1, Most: maxServers, One: "server", Many: "servers"},
			func(s *Server) string { return s.Name }),
		file.Objects("classes", "list of classes of jobs, all with an arrival_rate or all with a population",
			"an array of classes",
			func(m *Model) *[]Class { return &m.Classes }, &classFile,
			file.Length{Least: 1, One: "class", Many: "classes"}, func(c *Class) string { return c.Name }),
		file.Pairs("swaps", "pairs of classes that are joined",
			func(m *Model) *[][2]int { return &m.Swaps }, "classes", "class").Optional().Example("[[a, b], [b, b]]"),
		file.Rat("mean_size", "mean work of a job",
			func(m *Model) **big.Rat { return &m.MeanSize }, input.Positive).Default(1).Example("2"),
		file.Refs("start", "with populations: classes of the jobs at the start, the oldest first", "",
			func(m *Model) *[]int { return &m.Start }, "classes", file.Length{One: "class", Many: "classes"}).
			Otherwise("in the order of classes").Example("[a, b, b]"),
	},
	Check: func(m *Model, _ string) error { return m.checkConditions() },
}

var serverFile = file.Description[Server]{Want: "an object with name and capacity", Fields: []file.Field[Server]{
	file.Name("name of the server", func(s *Server) *string { return &s.Name }).Example("s1"),
	file.Rat("capacity", "work per unit of time", func(s *Server) **big.Rat { return &s.Capacity }, input.Nonnegative).
		Example("1"),
}}

var classFile = file.Description[Class]{
	Want: "an object with name, arrival_rate or population, and servers",
	Fields: []file.Field[Class]{
		file.Name("name of the class", func(c *Class) *string { return &c.Name }).Example("a"),
		file.Rat("arrival_rate", "open: jobs per unit of time", func(c *Class) **big.Rat { return &c.ArrivalRate },
			input.Nonnegative).Optional().Example("0.3"),
		file.Int("population", "closed: number of jobs",
			func(c *Class) *int { return &c.Population }, maxPopulation, "").Optional().Example("3"),
		file.Refs("servers", "names of servers that can serve its jobs", "class",
			func(c *Class) *[]int { return &c.Servers }, "servers",
			file.Length{Least: 1, One: "server", Many: "servers"}).Example("[s1]"),
	},
}
