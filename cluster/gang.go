package cluster

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"productform/internal/file"
	"productform/internal/input"
)

// GangSchema returns a JSON schema of the files with the service [Gang] that [Read] reads. It refers
// to the same definitions as [Schema].
func GangSchema() map[string]any { return gangFile.Schema() }

// GangHelp returns a table of the fields of these files, as [Help] does.
func GangHelp() string { return gangFile.Help() }

// gangFile describes the file of a model with the service [Gang].
var gangFile = file.Description[Model]{
	Want: "an object with servers and classes",
	Fields: []file.Field[Model]{
		file.Objects("servers", "list of resources, such as groups of equal servers", "an array of servers",
			func(m *Model) *[]Server { return &m.Servers }, &resourceFile, file.Length{Least: 1, One: "server"},
			func(s *Server) string { return s.Name }),
		file.Objects("classes", "list of classes of jobs", "an array of classes",
			func(m *Model) *[]Class { return &m.Classes }, &gangClassFile, file.Length{Least: 1, One: "class"},
			func(c *Class) string { return c.Name }),
		file.Rat("mean_size", "mean time for which a job holds its servers",
			func(m *Model) **big.Rat { return &m.MeanSize }, input.Positive).Default(1).Example("64"),
		file.Word("service", "jobs hold several servers at once, first come, first served",
			func(m *Model) *Service { return &m.Service }, []Service{Gang}, nil).Example("gang"),
	},
	Check: func(m *Model, _ string) error { return m.checkGang() },
}

var resourceFile = file.Description[Server]{
	Want:  "an object with name and count",
	Start: Server{Count: 1},
	Fields: []file.Field[Server]{
		file.Name("name of the resource", func(s *Server) *string { return &s.Name }).Example("gpu"),
		file.Int("count", "amount of the resource", func(s *Server) *int { return &s.Count }, maxCount, "").
			Default(1).Example("16"),
		file.Rat("capacity", "always 1, as mean_size is a time",
			func(s *Server) **big.Rat { return &s.Capacity }, input.Nonnegative).Default(1).Example("1"),
	},
}

var gangClassFile = file.Description[Class]{
	Want: "an object with name, arrival_rate and needs",
	Fields: []file.Field[Class]{
		file.Name("name of the class", func(c *Class) *string { return &c.Name }).Example("training"),
		file.Rat("arrival_rate", "jobs per unit of time",
			func(c *Class) **big.Rat { return &c.ArrivalRate }, input.Nonnegative).Example("0.4"),
		file.Custom("servers", "the one resource that jobs need, if needs is an integer",
			decodeResource, nil, func(c *Class) bool { return c.Servers == nil }, func() file.Schema {
				return file.Schema{"type": "array", "minItems": 1, "maxItems": 1, "items": file.Ref("name")}
			}).Otherwise("the resources in needs").Example("[gpu]"),
		file.Custom("needs", "amount that each job holds, 1..count, or amounts by resource",
			decodeNeeds, nil, nil, needsSchema).Example("4", "{gpu: 4, memory: 32}"),
		file.Rat("mean_size", "mean time for which a job of the class holds its servers",
			func(c *Class) **big.Rat { return &c.MeanSize }, input.Positive).
			Otherwise("that of the cluster").Example("12"),
	},
	Patch: func(s file.Schema) { // an integer needs servers, and a map has none
		s["if"] = file.Schema{"properties": file.Schema{"needs": file.Schema{"type": "object"}}}
		s["then"] = file.Schema{"properties": file.Schema{"servers": false}}
		s["else"] = file.Schema{"required": []string{"servers"}}
	},
}

func needsSchema() file.Schema {
	return file.Schema{
		"if":   file.Schema{"type": "object"},
		"then": file.Schema{"minProperties": 1, "additionalProperties": file.Ref("count")},
		"else": file.Ref("count"),
	}
}

// decodeResource reads the servers of a class whose needs are an integer: a list with the name of
// one row.
func decodeResource(sc *file.Scope, n *file.Node, path string, c *Class) error {
	names, err := n.Elements(path, "an array of one name")
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return input.Errorf(path, fmt.Sprintf("%d of them", len(names)),
			"one name; for several resources use needs such as {gpu: 4, memory: 32} and no servers")
	}
	servers, rows := file.Rows[Server](sc, "servers")
	name, err := names[0].Name(input.Index(path, 0))
	if err != nil {
		return err
	}
	row, ok := rows[name]
	if !ok {
		return unknownServer(input.Index(path, 0), name, "server", servers)
	}
	c.Servers = []Choice{{Server: row, Choose: servers[row].Size()}}
	return nil
}

// decodeNeeds reads the needs of a class after its servers.
func decodeNeeds(sc *file.Scope, n *file.Node, path string, c *Class) error {
	servers, rows := file.Rows[Server](sc, "servers")
	named := c.Servers
	c.Servers = nil
	switch {
	case len(named) == 1 && (n == nil || n.Kind != file.ObjectKind):
		s := servers[named[0].Server]
		need, err := n.Integer(path, s.Size(), wantNeed(s))
		c.Needs = []Choice{{Server: named[0].Server, Choose: need}}
		return err
	case len(named) == 1:
		return input.Errorf(path, n, "%s; a class with a map has no servers",
			wantNeed(servers[named[0].Server]))
	case n == nil || n.Kind != file.ObjectKind || len(n.Keys) == 0:
		return input.Errorf(path, missing(n), "a map from names of servers to amounts, such as {gpu: 4, memory: 32}, "+
			"or servers with one name and an integer")
	}
	c.Needs = make([]Choice, len(n.Keys))
	for k, name := range n.Keys {
		at := input.Field(path, name)
		row, ok := rows[name]
		switch {
		case !ok:
			return unknownServer(at, name, "server", servers)
		case slices.Contains(n.Keys[:k], name):
			return input.Errorf(at, &n.Kids[k], "each server once; it is already in this class")
		}
		need, err := n.Kids[k].Integer(at, servers[row].Size(), wantNeed(servers[row]))
		if err != nil {
			return err
		}
		c.Needs[k] = Choice{Server: row, Choose: need}
	}
	return nil
}

// missing returns a value for a message, "" if it is missing.
func missing(n *file.Node) any {
	if n == nil {
		return ""
	}
	return n
}

func wantNeed(s Server) string {
	return fmt.Sprintf("an integer from 1 to %d, the count of %s", s.Size(), input.Quote(s.Name))
}

// checkGang checks capacities and needs.
func (m *Model) checkGang() error {
	for s, row := range m.Servers {
		if row.Capacity != nil && row.Capacity.Cmp(big.NewRat(1, 1)) != 0 {
			return input.Errorf(input.Index("servers", s)+".capacity", row.Capacity.RatString(),
				"1 with service gang, since mean_size is a time")
		}
	}
	lastUse := make([]int, len(m.Servers)) // 1 + the last class that needs the row
	for i, class := range m.Classes {
		path := input.Index("classes", i)
		switch {
		case class.Servers != nil:
			return input.Errorf(path+".servers", fmt.Sprintf("%d of them", len(class.Servers)),
				"none with service gang: needs replace servers")
		case len(class.Needs) == 0:
			return input.Errorf(path+".needs", "", "at least one row of servers and its amount")
		}
		for _, need := range class.Needs {
			if need.Server < 0 || need.Server >= len(m.Servers) {
				return input.Errorf(path+".needs", need.Server, "a row of servers, 0 to %d", len(m.Servers)-1)
			}
			s := m.Servers[need.Server]
			at := input.Field(path+".needs", s.Name)
			switch {
			case lastUse[need.Server] == i+1:
				return input.Errorf(at, need.Choose, "each server once; it is already in this class")
			case need.Choose < 1 || need.Choose > s.Size():
				return input.Errorf(at, need.Choose, "%s", wantNeed(s))
			}
			lastUse[need.Server] = i + 1
		}
	}
	if path, mean := m.firstTimeout(); mean != nil {
		return input.Errorf(path, mean.RatString(), "none with service gang")
	}
	if err := m.checkService(); err != nil {
		return err
	}
	return m.checkPatience()
}

// A WorkLimit is the largest load that any policy can carry if jobs hold several servers at once.
type WorkLimit struct {
	ArrivalRate *big.Rat // λ, of all classes
	// λ_max = min_r n_r / Σ p_k w_kr σ_k over the rows r of servers, at the shares p of the classes;
	// nil if no jobs arrive
	Limit   *big.Rat
	Row     int   // the row that attains it
	Classes []int // classes that arrive and need this row
}

// IsExceeded reports whether the cluster is unstable under every policy. A load equal to the limit
// exceeds it.
func (w *WorkLimit) IsExceeded() bool { return w.Limit != nil && w.ArrivalRate.Cmp(w.Limit) >= 0 }

// LimitOfWork returns the largest load of a valid model with the service [Gang] in time linear in
// the model: servers do at most one unit of work per unit of time.
func (m *Model) LimitOfWork() *WorkLimit {
	w := &WorkLimit{ArrivalRate: new(big.Rat)}
	work := make([]*big.Rat, len(m.Servers)) // Σ λ_k w_kr σ_k
	users := make([][]int, len(m.Servers))
	for r := range work {
		work[r] = new(big.Rat)
	}
	for i, class := range m.Classes {
		if class.ArrivalRate.Sign() == 0 {
			continue
		}
		w.ArrivalRate.Add(w.ArrivalRate, class.ArrivalRate)
		each := new(big.Rat).Mul(class.ArrivalRate, m.MeanSizeOf(i))
		for _, need := range class.Needs {
			amount := big.NewRat(int64(need.Choose), 1)
			work[need.Server].Add(work[need.Server], amount.Mul(amount, each))
			users[need.Server] = append(users[need.Server], i)
		}
	}
	for r, one := range work {
		if one.Sign() == 0 {
			continue
		}
		limit := big.NewRat(int64(m.Servers[r].Size()), 1)
		limit.Quo(limit.Mul(limit, w.ArrivalRate), one)
		if w.Limit == nil || limit.Cmp(w.Limit) < 0 {
			w.Limit, w.Row, w.Classes = limit, r, users[r]
		}
	}
	return w
}

// rejectNeeds rejects needs in a model whose service is not [Gang].
func (m *Model) rejectNeeds() error {
	for i, class := range m.Classes {
		if class.Needs != nil {
			return input.Errorf(input.Index("classes", i)+".needs", strconv.Itoa(len(class.Needs))+" of them",
				"none with service %s", m.service())
		}
	}
	return nil
}
