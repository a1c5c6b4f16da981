package cluster

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"

	"productform/internal/file"
	"productform/internal/input"
)

const (
	maxCount    = 1_000_000 // maximum number of servers in a group
	maxPriority = 1_000_000
)

// Schema returns a JSON schema of the files that [Read] reads. It refers to the definitions name,
// nonnegative, positive and count in $defs.
func Schema() map[string]any { return modelFile.Schema() }

// Help returns a table of the fields of these files, with their meanings, units, ranges and
// defaults, and examples.
func Help() string { return modelFile.Help() }

// modelFile describes the file of a model. Like the descriptions that it consists of, it is never
// modified.
var modelFile = file.Description[Model]{
	Want: "an object with servers and classes",
	Fields: []file.Field[Model]{
		file.Objects("servers", "list of servers and groups of servers", "an array of servers",
			func(m *Model) *[]Server { return &m.Servers }, &serverFile, file.Length{Least: 1, One: "server"},
			func(s *Server) string { return s.Name }),
		file.Objects("classes", "list of classes of jobs", "an array of classes",
			func(m *Model) *[]Class { return &m.Classes }, &classFile, file.Length{Least: 1, One: "class"},
			func(c *Class) string { return c.Name }),
		file.Rat("mean_size", "mean work of a job",
			func(m *Model) **big.Rat { return &m.MeanSize }, input.Positive).Default(1).Example("64"),
		file.Word("service", "how many of its servers a job runs on at a time",
			func(m *Model) *Service { return &m.Service }, []Service{AllServers, OneServer, Gang}, nil).
			Otherwise(string(AllServers)).Example("one"),
		file.Rat("mean_patience", "with service one: mean time after which a waiting job gives up, 0 for at once",
			func(m *Model) **big.Rat { return &m.MeanPatience }, input.Nonnegative).
			Otherwise("jobs never give up").Example("2"),
		file.Text("patience", "distribution of that time, as --sizes takes it",
			func(m *Model) *string { return &m.Patience }).
			Otherwise("exponential").Example("deterministic"),
		file.Rat("mean_timeout", "mean of the exponential time after which a job leaves, done or not",
			func(m *Model) **big.Rat { return &m.MeanTimeout }, input.Positive).
			Otherwise("jobs never time out").Example("30"),
	},
	Check: func(m *Model, _ string) error {
		return cmp.Or(m.checkChoices(), m.checkService(), m.checkPatience(), m.checkTimeouts(), m.rejectNeeds())
	},
}

var serverFile = file.Description[Server]{
	Want:  "an object with name and capacity",
	Start: Server{Count: 1},
	Fields: []file.Field[Server]{
		file.Name("name of the server or group", func(s *Server) *string { return &s.Name }).Example("s1"),
		file.Rat("capacity", "work per unit of time of each server",
			func(s *Server) **big.Rat { return &s.Capacity }, input.Nonnegative).Example(`"1/2"`),
		file.Int("count", "servers in the group", func(s *Server) *int { return &s.Count }, maxCount, "").
			Default(1).Example("25"),
	},
}

var classFile = file.Description[Class]{
	Want: "an object with name, arrival_rate and servers",
	Fields: []file.Field[Class]{
		file.Name("name of the class", func(c *Class) *string { return &c.Name }).Example("web"),
		file.Rat("arrival_rate", "jobs per unit of time",
			func(c *Class) **big.Rat { return &c.ArrivalRate }, input.Nonnegative).Example("0.4"),
		file.Of(file.Custom("servers",
			"servers of a job of the class, which runs on all of them or on one (service): names of servers, "+
				"of groups for all of a group, or servers drawn from a group for each job",
			decodeChoices, nil, nil, choicesSchema), &drawnFile).
			Example("[s1, s2]", "[s1, rack]", "[{group: rack, choose: 2}]"),
		file.Rat("mean_size", "mean work of a job of the class",
			func(c *Class) **big.Rat { return &c.MeanSize }, input.Positive).
			Otherwise("that of the cluster").Example("12"),
		file.Whole("priority", "priority of its jobs with service one, if a simulated policy has priorities; "+
			"larger ones go first",
			func(c *Class) *int { return &c.Priority }, maxPriority).Default(0).Example("3"),
		file.Rat("mean_patience", "mean patience of the jobs of the class, with service one",
			func(c *Class) **big.Rat { return &c.MeanPatience }, input.Nonnegative).
			Otherwise("that of the cluster").Example("5"),
		file.Text("patience", "distribution of the patience of the class, with its own mean_patience",
			func(c *Class) *string { return &c.Patience }).
			Otherwise("exponential").Example("erlang:2"),
		file.Rat("mean_timeout", "mean timeout of the jobs of the class",
			func(c *Class) **big.Rat { return &c.MeanTimeout }, input.Positive).
			Otherwise("that of the cluster").Example("60"),
	},
}

// drawnFile describes servers drawn from a group, which [decodeChoices] reads.
var drawnFile = file.Description[Choice]{Fields: []file.Field[Choice]{
	file.Later[Choice]("group", "name of the group", file.Ref("name")).Example("rack"),
	file.Later[Choice]("choose", "servers drawn, 1..count", file.Ref("count")).Example("2"),
}}

func choicesSchema() file.Schema {
	return file.Schema{"type": "array", "minItems": 1, "items": file.Schema{
		"type": []string{"string", "object"},
		"if":   file.Schema{"type": "object"}, "then": drawnFile.Schema(), "else": file.Ref("name"),
	}}
}

// decodeChoices reads the servers of a class. [Model.Check] checks their ranges.
func decodeChoices(sc *file.Scope, n *file.Node, path string, c *Class) error {
	choices, err := n.Elements(path, "an array of names of servers")
	if err != nil {
		return err
	}
	servers, rows := file.Rows[Server](sc, "servers")
	c.Servers = make([]Choice, len(choices))
	for k := range choices {
		if c.Servers[k], err = decodeChoice(&choices[k], path, k, servers, rows); err != nil {
			return err
		}
	}
	return nil
}

// decodeChoice reads entry k of a list: the name of a server, the name of a group for the whole
// group, or a group and a number.
func decodeChoice(n *file.Node, list string, k int, servers []Server, rows map[string]int) (Choice, error) {
	path := func() string { return input.Index(list, k) } // rarely needed, and there may be millions
	switch n.Kind {
	case file.TextKind:
		row, ok := rows[n.Text]
		if !ok {
			return Choice{}, unknownServer(path(), n.Text, "server", servers)
		}
		return Choice{Server: row, Choose: servers[row].Size()}, nil
	case file.ObjectKind:
		f, err := n.Fields(path(), "", "group", "choose")
		if err != nil {
			return Choice{}, err
		}
		group, err := f["group"].Name(path() + ".group")
		if err != nil {
			return Choice{}, err
		}
		row, ok := rows[group]
		if !ok {
			return Choice{}, unknownServer(path()+".group", group, "group", servers)
		}
		choose, err := f["choose"].Integer(path()+".choose", servers[row].Size(), wantChoose(servers[row]))
		return Choice{Server: row, Choose: choose}, err
	}
	return Choice{}, input.Errorf(path(), n, `the name of a server or group in quotes, or {"group": name, "choose": d}`)
}

// unknownServer rejects an unknown name, or the list of servers if it is empty. what is "server", or
// "group" if only groups are allowed.
func unknownServer(path, name, what string, servers []Server) error {
	if len(servers) == 0 {
		return input.Errorf("servers", "[]", "at least one server")
	}
	isGroup := func(s Server) bool { return s.Size() > 1 }
	all := what == "server" || !slices.ContainsFunc(servers, isGroup)
	var names []string
	for _, s := range servers {
		if all || isGroup(s) {
			names = append(names, s.Name)
		}
	}
	return input.Errorf(path, strconv.Quote(name), "%s", file.WantName("the name of a "+what, name, names))
}
