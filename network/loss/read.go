package loss

import (
	"fmt"
	"io"
	"math/big"

	"productform/internal/file"
	"productform/internal/input"
)

// Read reads a model from a text in JSON, if its first character other than a space is { or [, and
// otherwise in YAML:
//
//	room: 100                              # total units that fit; any number if omitted
//	classes:
//	  - {name: voice, arrival_rate: 60}
//	  - {name: video, arrival_rate: 1/2, mean_size: 3, units: 6}
//	  - {name: office, sources: 20, arrival_rate: 0.1}
//	limits:
//	  - {classes: [video, office], most: 60}
//
// With "servers: 10" jobs wait for ten equal servers. Servers with names are a compatibility graph,
// and each class names its own:
//
//	servers: [{name: english, capacity: 2}, {name: both, capacity: 1}]
//	classes: [{name: en, arrival_rate: 2, servers: [english, both]}]
//	room: 20
//
// With tokens ({name: s, capacity: 1, tokens: 4}) each job uses one of the servers of its class,
// and a row may have a count of equal servers. Instead of servers, "rank" gives the total rate of
// every set of classes: [{classes: [en], rate: 2}, {classes: [fr], rate: 1}, {classes: [en, fr],
// rate: 2.5}].
//
// The error is a *[num.SyntaxError] or wraps a *[num.InputError] with the line and the path of the
// field: for an unknown, missing or repeated field, a value of another type, and everything that
// [Model.Check] rejects.
func Read(r io.Reader) (*Model, error) { return read(r, file.Auto) }

// ReadFile reads a model from a file, as JSON if its name ends in .json, as YAML if it ends in
// .yaml or .yml, otherwise as [Read]. Errors start with the name of the file.
func ReadFile(name string) (*Model, error) { return file.ReadFile(name, read) }

func read(r io.Reader, format file.Format) (*Model, error) {
	root, err := file.Read(r, format, "a model with classes and room, limits or servers")
	if err != nil {
		return nil, err
	}
	return decode(root)
}

func init() { file.Register(decode) }

// decode returns the model that a tree describes, with the errors of [Read].
func decode(root *file.Node) (*Model, error) { return file.DecodeRoot(root, modelFile.Read) }

const (
	maxUnits   = 10_000_000 // servers, units, sources and tokens
	maxClasses = 1000
	maxServers = 10_000 // servers with names
)

// Schema returns a JSON schema of the files that [Read] reads. It refers to the definitions name,
// nonnegative, positive and count in $defs.
func Schema() map[string]any { return modelFile.Schema() }

// Help returns a table of the fields of these files, with their meanings, units, ranges and
// defaults, and examples.
func Help() string { return modelFile.Help() }

// modelFile describes the file of a model. Neither it nor the descriptions in it are ever modified.
var modelFile = file.Description[Model]{
	Want: "an object with classes and room, limits or servers",
	Fields: []file.Field[Model]{
		file.Either("a number of equal servers, or an array of servers with names", file.NumberKind,
			file.Int("servers", "", func(m *Model) *int { return &m.Count }, maxUnits, ""),
			file.Objects("servers", "number of equal servers for jobs that wait, or a list of servers with names",
				"an array of servers",
				func(m *Model) *[]Server { return &m.Servers }, &serverFile,
				file.Length{Least: 1, Most: maxServers, One: "server", Many: "servers"},
				func(s *Server) string { return s.Name })).
			Otherwise("service of each job at rate 1 from its arrival").Example("10"),
		file.Objects("rank",
			"in place of servers: total rate while exactly these classes are present, for every set of them",
			"an array of sets of classes with their rates", func(m *Model) *[]SetRate { return &m.Rank }, &rateFile,
			file.Length{Least: 1, One: "set of classes", Many: "sets of classes"}, nil).Optional().
			Example("[{classes: [voice], rate: 1}]"),
		file.Int("room", "units that fit in total", func(m *Model) *int { return &m.Room }, maxUnits, "").
			Otherwise("any number").Example("100"),
		file.Objects("classes", "list of classes of jobs", "an array of classes",
			func(m *Model) *[]Class { return &m.Classes }, &classFile,
			file.Length{Least: 1, Most: maxClasses, One: "class", Many: "classes"},
			func(c *Class) string { return c.Name }).Ahead(),
		file.Objects("limits", "list of limits on the units of some classes together", "an array of limits",
			func(m *Model) *[]Limit { return &m.Limits }, &limitFile,
			file.Length{Most: maxClasses, One: "limit", Many: "limits"}, nil).Optional(),
	},
	Check: func(m *Model, _ string) error { return m.checkConditions() },
	Patch: func(s file.Schema) {
		var some []file.Schema
		for _, field := range []string{"servers", "room", "limits", "rank"} {
			some = append(some, file.Schema{"required": []string{field}})
		}
		s["anyOf"] = some
	},
}

var serverFile = file.Description[Server]{Want: "an object with name and capacity", Fields: []file.Field[Server]{
	file.Name("name of the server", func(s *Server) *string { return &s.Name }).Example("s1"),
	file.Rat("capacity", "work per unit of time", func(s *Server) **big.Rat { return &s.Capacity }, input.Nonnegative).
		Example("1"),
	file.Int("tokens", "maximum number of its jobs, behind a load balancer that assigns each job to one server",
		func(s *Server) *int { return &s.Tokens }, maxUnits, "").Optional().Example("6"),
	file.Int("count", "equal servers of the row, each with these tokens",
		func(s *Server) *int { return &s.Count }, maxServers, "").Default(1).With("tokens", countNeedsTokens).
		Example("12"),
}}

var classFile = file.Description[Class]{Want: "an object with name and arrival_rate", Fields: []file.Field[Class]{
	file.Name("name of the class", func(c *Class) *string { return &c.Name }).Example("voice"),
	file.Rat("arrival_rate", "jobs per unit of time; with sources, of each source that has no job in the system",
		func(c *Class) **big.Rat { return &c.ArrivalRate }, input.Nonnegative).Example("12"),
	file.Int("sources", "number of sources, each with at most one job in the system",
		func(c *Class) *int { return &c.Sources }, maxUnits,
		fmt.Sprintf("an integer from 1 to %d; omit it for Poisson arrivals", maxUnits)).
		Otherwise("arrivals from outside").Example("20"),
	file.Rat("mean_size", "mean work of a job", func(c *Class) **big.Rat { return &c.MeanSize }, input.Positive).
		Default(1).Example("3"),
	file.Int("units", "units that a job takes", func(c *Class) *int { return &c.Units }, maxUnits, "").
		Default(1).Example("6"),
	file.Refs("servers", "names of servers that can serve its jobs", "class",
		func(c *Class) *[]int { return &c.Servers }, "servers",
		file.Length{One: "server", Many: "servers"}).Optional().Example("[s1]"),
}}

var rateFile = file.Description[SetRate]{Want: "an object with classes and rate", Fields: []file.Field[SetRate]{
	file.Refs("classes", "names of classes", "set",
		func(r *SetRate) *[]int { return &r.Classes }, "classes", someClasses).
		Example("[voice]"),
	file.Rat("rate", "work per unit of time", func(r *SetRate) **big.Rat { return &r.Rate }, input.Positive).
		Example("1"),
}}

var limitFile = file.Description[Limit]{Want: "an object with classes and most", Fields: []file.Field[Limit]{
	file.Refs("classes", "names of classes", "limit",
		func(l *Limit) *[]int { return &l.Classes }, "classes", someClasses).
		Example("[video]"),
	file.Int("most", "units of these classes that fit together", func(l *Limit) *int { return &l.Most }, maxUnits, "").
		Example("60"),
}}

var someClasses = file.Length{Least: 1, One: "class", Many: "classes"}
