package loss

import (
	"io"

	"productform/internal/input"
	"productform/internal/tree"
)

// A SyntaxError says where a file stops being JSON, YAML or text at all.
type SyntaxError = tree.SyntaxError

// Read reads a model from a text in JSON, if its first character other than a space is { or [, or else in YAML:
//
//	room: 100                              # units that fit in all; any number if left out
//	classes:
//	  - {name: voice, arrival_rate: 60}
//	  - {name: video, arrival_rate: 1/2, mean_size: 3, units: 6}
//	  - {name: office, sources: 20, arrival_rate: 0.1}
//	limits:
//	  - {classes: [video, office], most: 60}
//
// By "servers: 10" jobs wait for ten equal servers. Servers with names are a compatibility graph, and each class names its own:
//
//	servers: [{name: english, capacity: 2}, {name: both, capacity: 1}]
//	classes: [{name: en, arrival_rate: 2, servers: [english, both]}]
//	room: 20
//
// With tokens ({name: s, capacity: 1, tokens: 4}) each job is for one of the servers of its class, and a row may have
// a count of equal servers. In place of servers, "rank" gives the total rate of every set of classes:
// [{classes: [en], rate: 2}, {classes: [fr], rate: 1}, {classes: [en, fr], rate: 2.5}].
//
// The error is a *[SyntaxError] or wraps a *[num.InputError] with the line and the path of the field: for an unknown, missing or repeated field, a
// value of another type, and all that [Model.Check] refuses.
func Read(r io.Reader) (*Model, error) { return read(r, tree.Auto) }

// ReadFile reads a model from a file, as JSON if its name ends in .json, as YAML if it ends in .yaml or .yml, else as [Read]. Errors start
// with the name of the file.
func ReadFile(name string) (*Model, error) { return tree.ReadFile(name, read) }

func read(r io.Reader, format tree.Format) (*Model, error) {
	root, err := tree.Read(r, format, "a model with classes and room, limits or servers")
	if err != nil {
		return nil, err
	}
	return tree.Make(root, decode)
}

func decode(root *tree.Node) (*Model, error) {
	f, err := root.Fields("", "an object with classes and room, limits or servers", "servers", "rank", "room", "classes", "limits")
	if err != nil {
		return nil, err
	}
	m := new(Model)
	if err := m.decodeServers(f["servers"]); err != nil {
		return nil, err
	}
	if m.Room, err = count(f["room"], "room", wantUnits); err != nil {
		return nil, err
	}
	rows := tree.Rows(len(m.Servers), func(s int) string { return m.Servers[s].Name })
	if m.Classes, err = tree.List(f["classes"], "classes", "an array of classes", func(n *tree.Node, path string) (Class, error) { return decodeClass(n, path, rows) }); err != nil {
		return nil, err
	}
	rows = tree.Rows(len(m.Classes), func(k int) string { return m.Classes[k].Name })
	if f["rank"] != nil {
		m.Rank, err = tree.List(f["rank"], "rank", "an array of sets of classes with their rates", func(n *tree.Node, path string) (SetRate, error) { return decodeRate(n, path, rows) })
		if err != nil {
			return nil, err
		}
		if len(m.Rank) == 0 {
			return nil, input.Errorf("rank", "[]", "a rate for each set of classes")
		}
	}
	if f["limits"] == nil {
		return m, nil
	}
	m.Limits, err = tree.List(f["limits"], "limits", "an array of limits", func(n *tree.Node, path string) (Limit, error) { return decodeLimit(n, path, rows) })
	return m, err
}

func (m *Model) decodeServers(n *tree.Node) (err error) {
	switch {
	case n == nil:
		return nil
	case n.Kind == tree.Number:
		m.Count, err = count(n, "servers", wantUnits)
	case n.Kind != tree.Array || len(n.Kids) == 0:
		return input.Errorf("servers", n, "a number of equal servers, or an array of servers with names")
	default:
		m.Servers, err = tree.List(n, "servers", "", decodeServer)
	}
	return err
}

func decodeServer(n *tree.Node, path string) (s Server, err error) {
	f, err := n.Fields(path, "an object with name and capacity", "name", "capacity", "tokens", "count")
	if err != nil {
		return s, err
	}
	if s.Name, err = f["name"].Name(path + ".name"); err != nil {
		return s, err
	}
	if s.Capacity, err = f["capacity"].Rat(path+".capacity", input.Nonnegative); err != nil {
		return s, err
	}
	if s.Tokens, err = count(f["tokens"], path+".tokens", wantUnits); err != nil {
		return s, err
	}
	if f["count"] != nil && f["tokens"] == nil {
		return s, input.Errorf(path+".count", f["count"], countNeedsTokens)
	}
	s.Count, err = count(f["count"], path+".count", wantServers)
	return s, err
}

func decodeClass(n *tree.Node, path string, servers map[string]int) (c Class, err error) {
	f, err := n.Fields(path, "an object with name and arrival_rate", "name", "arrival_rate", "sources", "mean_size", "units", "servers")
	if err != nil {
		return c, err
	}
	if c.Name, err = f["name"].Name(path + ".name"); err != nil {
		return c, err
	}
	if c.ArrivalRate, err = f["arrival_rate"].Rat(path+".arrival_rate", input.Nonnegative); err != nil {
		return c, err
	}
	if c.Sources, err = count(f["sources"], path+".sources", wantSources); err != nil {
		return c, err
	}
	if f["mean_size"] != nil {
		if c.MeanSize, err = f["mean_size"].Rat(path+".mean_size", input.Positive); err != nil {
			return c, err
		}
	}
	if c.Units, err = count(f["units"], path+".units", wantUnits); err != nil {
		return c, err
	}
	if f["servers"] != nil {
		c.Servers, err = tree.List(f["servers"], path+".servers", "an array of names of servers", func(n *tree.Node, path string) (int, error) { return n.Row(path, "server", servers) })
	}
	return c, err
}

func decodeRate(n *tree.Node, path string, classes map[string]int) (r SetRate, err error) {
	f, err := n.Fields(path, "an object with classes and rate", "classes", "rate")
	if err != nil {
		return r, err
	}
	r.Classes, err = tree.List(f["classes"], path+".classes", "an array of names of classes", func(n *tree.Node, path string) (int, error) { return n.Row(path, "class", classes) })
	if err != nil {
		return r, err
	}
	r.Rate, err = f["rate"].Rat(path+".rate", input.Positive)
	return r, err
}

func decodeLimit(n *tree.Node, path string, classes map[string]int) (l Limit, err error) {
	f, err := n.Fields(path, "an object with classes and most", "classes", "most")
	if err != nil {
		return l, err
	}
	l.Classes, err = tree.List(f["classes"], path+".classes", "an array of names of classes", func(n *tree.Node, path string) (int, error) { return n.Row(path, "class", classes) })
	if err != nil {
		return l, err
	}
	if l.Most, err = f["most"].Integer(path+".most", maxUnits, wantUnits); err != nil {
		return l, err
	}
	return l, nil
}

// count reads an integer, 0 if it is missing.
func count(n *tree.Node, path, want string) (int, error) {
	if n == nil {
		return 0, nil
	}
	return n.Integer(path, maxUnits, want)
}
