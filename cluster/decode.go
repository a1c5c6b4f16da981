package cluster

import (
	"errors"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"productform/internal/input"
	"productform/num"
)

// decodeModel builds the model that a file describes. It checks what only a file can have
// wrong (types, fields, names); ranges are left to [Model.Check].
func decodeModel(tree *node) (*Model, error) {
	f, err := tree.fields("", "an object with servers and classes", "servers", "classes", "mean_size")
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
		if m.MeanSize, err = n.number("mean_size", wantPositive); err != nil {
			return nil, err
		}
	}
	if err := m.Check(); err != nil {
		return nil, asWritten(err, tree)
	}
	return m, nil
}

// asWritten puts into an error about a number the way the file writes it.
func asWritten(err error, tree *node) error {
	var e *input.Error
	if errors.As(err, &e) {
		if n := tree.at(e.Path); n != nil && (n.kind == number || n.kind == text) {
			return input.Errorf(e.Path, n.written(), "%s", e.Want)
		}
	}
	return err
}

func decodeServers(n *node) ([]Server, error) {
	list, err := n.elements("servers", "an array of servers")
	if err != nil {
		return nil, err
	}
	servers := make([]Server, len(list))
	for i := range list {
		path := index("servers", i)
		f, err := list[i].fields(path, "an object with name and capacity", "name", "capacity", "count")
		if err != nil {
			return nil, err
		}
		s := Server{Count: 1}
		if s.Name, err = f["name"].name(path + ".name"); err != nil {
			return nil, err
		}
		if s.Capacity, err = f["capacity"].number(path+".capacity", wantNonnegative); err != nil {
			return nil, err
		}
		if count := f["count"]; count != nil {
			if s.Count, err = count.integer(path+".count", maxCount, wantCount); err != nil {
				return nil, err
			}
		}
		servers[i] = s
	}
	return servers, nil
}

func decodeClasses(n *node, servers []Server) ([]Class, error) {
	list, err := n.elements("classes", "an array of classes")
	if err != nil {
		return nil, err
	}
	rows := make(map[string]int, len(servers))
	for i, s := range servers {
		rows[s.Name] = i
	}
	classes := make([]Class, len(list))
	for i := range list {
		path := index("classes", i)
		f, err := list[i].fields(path, "an object with name, arrival_rate and servers", "name", "arrival_rate", "servers")
		if err != nil {
			return nil, err
		}
		c := &classes[i]
		if c.Name, err = f["name"].name(path + ".name"); err != nil {
			return nil, err
		}
		if c.ArrivalRate, err = f["arrival_rate"].number(path+".arrival_rate", wantNonnegative); err != nil {
			return nil, err
		}
		choices, err := f["servers"].elements(path+".servers", "an array of names of servers")
		if err != nil {
			return nil, err
		}
		c.Servers = make([]Choice, len(choices))
		for k := range choices {
			if c.Servers[k], err = choices[k].choice(path, k, servers, rows); err != nil {
				return nil, err
			}
		}
	}
	return classes, nil
}

// choice reads entry k of the servers of the class at path: the name of a server, or a group and a number.
func (n *node) choice(class string, k int, servers []Server, rows map[string]int) (Choice, error) {
	path := func() string { return index(class+".servers", k) } // seldom needed, and there may be millions
	switch n.kind {
	case text:
		row, ok := rows[n.text]
		if !ok {
			return Choice{}, unknownServer(path(), n.text, servers)
		}
		if size := servers[row].Size(); size > 1 {
			return Choice{}, input.Errorf(path(), strconv.Quote(n.text),
				`{"group": %s, "choose": d} with d from 1 to %d, for it is a group`, quoteShort(n.text), size)
		}
		return Choice{Server: row, Choose: 1}, nil
	case object:
		f, err := n.fields(path(), "", "group", "choose")
		if err != nil {
			return Choice{}, err
		}
		group, err := f["group"].name(path() + ".group")
		if err != nil {
			return Choice{}, err
		}
		row, ok := rows[group]
		if !ok {
			return Choice{}, unknownServer(path()+".group", group, servers)
		}
		choose, err := f["choose"].integer(path()+".choose", servers[row].Size(), wantChoose(servers[row]))
		return Choice{Server: row, Choose: choose}, err
	}
	return Choice{}, input.Errorf(path(), n, `the name of a server in quotes, or {"group": name, "choose": d}`)
}

func unknownServer(path, name string, servers []Server) error {
	near := nearest{to: name}
	for _, s := range servers {
		near.try(s.Name)
	}
	return input.Errorf(path, strconv.Quote(name), "the name of a server%s", near.hint(quoteShort))
}

// fields returns the values of an object by name, if all its keys are known and none repeats.
func (n *node) fields(path, want string, known ...string) (map[string]*node, error) {
	if n.kind != object {
		return nil, input.Errorf(path, n, "%s", want)
	}
	f := make(map[string]*node, len(known))
	for i, key := range n.keys {
		switch {
		case !slices.Contains(known, key):
			near := nearest{to: key}
			for _, k := range known {
				near.try(k)
			}
			return nil, input.Errorf(fieldPath(path, key), &n.kids[i], "one of the fields %s%s",
				strings.Join(known, ", "), near.hint(func(s string) string { return s }))
		case f[key] != nil:
			return nil, input.Errorf(fieldPath(path, key), &n.kids[i], "the field once; it is there already")
		}
		f[key] = &n.kids[i]
	}
	return f, nil
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,39}$`)

// fieldPath appends a key to a path, quoted if it is not a plain word.
func fieldPath(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + quoteShort(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// elements returns the elements of an array; n is nil if the field is missing.
func (n *node) elements(path, want string) ([]node, error) {
	if n == nil {
		return nil, input.Errorf(path, "", "%s", want)
	}
	if n.kind != array {
		return nil, input.Errorf(path, n, "%s", want)
	}
	return n.kids, nil
}

// name returns a string; n is nil if the field is missing.
func (n *node) name(path string) (string, error) {
	if n == nil {
		return "", input.Errorf(path, "", wantName)
	}
	if n.kind != text {
		return "", input.Errorf(path, n, wantName)
	}
	return strings.Clone(n.text), nil // lest the model keep the whole text
}

var leadingZero = regexp.MustCompile(`^[+-]?0[0-9]`)

// number returns a number exactly as written; n is nil if the field is missing.
func (n *node) number(path, want string) (*big.Rat, error) {
	if n == nil {
		return nil, input.Errorf(path, "", "%s", want)
	}
	if n.kind != number && n.kind != text {
		return nil, input.Errorf(path, n, "%s", want)
	}
	if leadingZero.MatchString(n.text) {
		return nil, input.Errorf(path, n.written(), "%s, without leading zeros (some read them as base eight)", want)
	}
	x, err := num.ParseRat(n.text)
	if err != nil {
		return nil, input.Errorf(path, n.written(), "%s (%v)", want, err)
	}
	return x, nil
}

// integer returns an integer from 1 to high; n is nil if the field is missing.
func (n *node) integer(path string, high int, want string) (int, error) {
	x, err := n.number(path, want)
	if err != nil {
		return 0, err
	}
	if !x.IsInt() || x.Sign() <= 0 || x.Cmp(big.NewRat(int64(high), 1)) > 0 {
		return 0, input.Errorf(path, n.written(), "%s", want)
	}
	return int(x.Num().Int64()), nil
}
