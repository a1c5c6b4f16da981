package cluster

import (
	"slices"
	"strconv"

	"productform/internal/input"
	"productform/internal/tree"
)

// decodeModel builds the model that a file describes. It checks what only a file can have
// wrong (types, fields, names); ranges are left to [Model.Check].
func decodeModel(root *tree.Node) (*Model, error) {
	f, err := root.Fields("", "an object with servers and classes", "servers", "classes", "mean_size")
	if err != nil {
		return nil, err
	}
	m := new(Model)
	if m.Servers, err = decodeServers(f["servers"]); err != nil {
		return nil, err
	}
	if m.Classes, err = decodeClasses(f["classes"], m.Servers); err != nil {
		return nil, err
	}
	if n := f["mean_size"]; n != nil {
		if m.MeanSize, err = n.Rat("mean_size", input.Positive); err != nil {
			return nil, err
		}
	}
	if err := m.Check(); err != nil {
		return nil, root.AsWritten(err)
	}
	return m, nil
}

func decodeServers(n *tree.Node) ([]Server, error) {
	list, err := n.Elements("servers", "an array of servers")
	if err != nil {
		return nil, err
	}
	servers := make([]Server, len(list))
	for i := range list {
		path := input.Index("servers", i)
		f, err := list[i].Fields(path, "an object with name and capacity", "name", "capacity", "count")
		if err != nil {
			return nil, err
		}
		s := Server{Count: 1}
		if s.Name, err = f["name"].Name(path + ".name"); err != nil {
			return nil, err
		}
		if s.Capacity, err = f["capacity"].Rat(path+".capacity", input.Nonnegative); err != nil {
			return nil, err
		}
		if count := f["count"]; count != nil {
			if s.Count, err = count.Integer(path+".count", maxCount, wantCount); err != nil {
				return nil, err
			}
		}
		servers[i] = s
	}
	return servers, nil
}

func decodeClasses(n *tree.Node, servers []Server) ([]Class, error) {
	list, err := n.Elements("classes", "an array of classes")
	if err != nil {
		return nil, err
	}
	rows := make(map[string]int, len(servers))
	for i, s := range servers {
		rows[s.Name] = i
	}
	classes := make([]Class, len(list))
	for i := range list {
		path := input.Index("classes", i)
		f, err := list[i].Fields(path, "an object with name, arrival_rate and servers", "name", "arrival_rate", "servers", "mean_size")
		if err != nil {
			return nil, err
		}
		c := &classes[i]
		if c.Name, err = f["name"].Name(path + ".name"); err != nil {
			return nil, err
		}
		if c.ArrivalRate, err = f["arrival_rate"].Rat(path+".arrival_rate", input.Nonnegative); err != nil {
			return nil, err
		}
		if n := f["mean_size"]; n != nil {
			if c.MeanSize, err = n.Rat(path+".mean_size", input.Positive); err != nil {
				return nil, err
			}
		}
		choices, err := f["servers"].Elements(path+".servers", "an array of names of servers")
		if err != nil {
			return nil, err
		}
		c.Servers = make([]Choice, len(choices))
		for k := range choices {
			if c.Servers[k], err = decodeChoice(&choices[k], path, k, servers, rows); err != nil {
				return nil, err
			}
		}
	}
	return classes, nil
}

// decodeChoice reads entry k of the servers of the class at path: the name of a server, or of a group for all of it, or a group and a number.
func decodeChoice(n *tree.Node, class string, k int, servers []Server, rows map[string]int) (Choice, error) {
	path := func() string { return input.Index(class+".servers", k) } // seldom needed, and there may be millions
	switch n.Kind {
	case tree.Text:
		row, ok := rows[n.Text]
		if !ok {
			return Choice{}, unknownServer(path(), n.Text, "server", servers)
		}
		return Choice{Server: row, Choose: servers[row].Size()}, nil
	case tree.Object:
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

// unknownServer refuses a name that no server has; what is "server", or "group" where only these are meant.
func unknownServer(path, name, what string, servers []Server) error {
	isGroup := func(s Server) bool { return s.Size() > 1 }
	all := what == "server" || !slices.ContainsFunc(servers, isGroup)
	names := func(yield func(string) bool) {
		for _, s := range servers {
			if (all || isGroup(s)) && !yield(s.Name) {
				return
			}
		}
	}
	return input.Errorf(path, strconv.Quote(name), "the name of a %s%s", what, tree.DidYouMean(name, names, input.Quote))
}
