package swap

import (
	"io"

	"productform/internal/input"
	"productform/internal/tree"
)

// A SyntaxError says where a file stops being JSON, YAML or text at all.
type SyntaxError = tree.SyntaxError

// Read reads a model from a text in JSON, if its first character other than a space is { or [, or else in YAML:
//
//	servers: [{name: s, capacity: 1}, {name: t, capacity: 2}]
//	classes:
//	  - {name: a, arrival_rate: 0.3, servers: [s]}
//	  - {name: b, arrival_rate: 1/2, servers: [s, t]}
//	swaps: [[a, b], [b, b]]
//	mean_size: 1
//
// In a closed queue classes have a population in place of the arrival rate, and "start: [a, b, b]" names the classes of the jobs at the start, the
// oldest first.
//
// The error is a *[SyntaxError] or wraps a *[num.InputError] with the line and the path of the field: for an unknown, missing or repeated field, a
// value of another type, and all that [Model.Check] refuses.
func Read(r io.Reader) (*Model, error) { return read(r, tree.Auto) }

// ReadFile reads a model from a file, as JSON if its name ends in .json, as YAML if it ends in .yaml or .yml, else as [Read]. Errors start
// with the name of the file.
func ReadFile(name string) (*Model, error) { return tree.ReadFile(name, read) }

func read(r io.Reader, format tree.Format) (*Model, error) {
	root, err := tree.Read(r, format, "a model with servers, classes and swaps")
	if err != nil {
		return nil, err
	}
	return tree.Make(root, decode)
}

func decode(root *tree.Node) (*Model, error) {
	f, err := root.Fields("", "an object with servers, classes and swaps", "servers", "classes", "swaps", "mean_size", "start")
	if err != nil {
		return nil, err
	}
	m := new(Model)
	if m.Servers, err = tree.List(f["servers"], "servers", "an array of servers", decodeServer); err != nil {
		return nil, err
	}
	servers := tree.Rows(len(m.Servers), func(s int) string { return m.Servers[s].Name })
	m.Classes, err = tree.List(f["classes"], "classes", "an array of classes", func(n *tree.Node, path string) (Class, error) { return decodeClass(n, path, servers) })
	if err != nil {
		return nil, err
	}
	classes := tree.Rows(len(m.Classes), func(i int) string { return m.Classes[i].Name })
	class := func(n *tree.Node, path string) (int, error) { return n.Row(path, "class", classes) }
	if f["swaps"] != nil {
		m.Swaps, err = tree.List(f["swaps"], "swaps", "an array of pairs of classes", func(n *tree.Node, path string) (pair [2]int, err error) {
			ends, err := tree.List(n, path, wantPair, class)
			if err == nil && len(ends) != 2 {
				err = input.Errorf(path, n, wantPair)
			}
			if err != nil {
				return pair, err
			}
			return [2]int(ends), nil
		})
		if err != nil {
			return nil, err
		}
	}
	if f["mean_size"] != nil {
		if m.MeanSize, err = f["mean_size"].Rat("mean_size", input.Positive); err != nil {
			return nil, err
		}
	}
	if f["start"] != nil {
		m.Start, err = tree.List(f["start"], "start", "an array of the classes of all jobs", class)
	}
	return m, err
}

const wantPair = "two classes, [a, b]"

func decodeServer(n *tree.Node, path string) (s Server, err error) {
	f, err := n.Fields(path, "an object with name and capacity", "name", "capacity")
	if err != nil {
		return s, err
	}
	if s.Name, err = f["name"].Name(path + ".name"); err != nil {
		return s, err
	}
	s.Capacity, err = f["capacity"].Rat(path+".capacity", input.Nonnegative)
	return s, err
}

func decodeClass(n *tree.Node, path string, servers map[string]int) (c Class, err error) {
	f, err := n.Fields(path, "an object with name, arrival_rate or population, and servers", "name", "arrival_rate", "population", "servers")
	if err != nil {
		return c, err
	}
	if c.Name, err = f["name"].Name(path + ".name"); err != nil {
		return c, err
	}
	if f["arrival_rate"] != nil {
		if c.ArrivalRate, err = f["arrival_rate"].Rat(path+".arrival_rate", input.Nonnegative); err != nil {
			return c, err
		}
	}
	if f["population"] != nil {
		if c.Population, err = f["population"].Integer(path+".population", maxPopulation, wantPopulation); err != nil {
			return c, err
		}
	}
	c.Servers, err = tree.List(f["servers"], path+".servers", "an array of names of servers", func(n *tree.Node, path string) (int, error) { return n.Row(path, "server", servers) })
	return c, err
}
