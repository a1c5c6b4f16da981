package problem

import (
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"productform/cluster"
	"productform/internal/input"
	"productform/internal/tree"
)

// Read reads a problem from a text in JSON or YAML:
//
//	model: shop.yaml                     # a file, or the model itself, as of package cluster
//	scale: 1.5
//	targets:
//	  - {class: reports, mean_delay: 2}
//	  - {mean_delay: 1}                  # of all jobs
//	  - {class: web, percentile: 99, delay: 4}
//	  - {server: small, utilization: 0.8}
//	  - {load_factor: 1.25}
//	  - {margin: 0.1}
//	no_worse: true
//	upgrades:
//	  - {server: small, step: 0.5, cost: 2, most: 4}
//	new_servers:
//	  - {name: spare, capacity: 1, classes: [reports], cost: 5, most: 2}
//	edges:
//	  - {class: reports, server: big, cost: 1}
//	budget: 20
//	minimize: web
//
// All but the model may be left out. The name of a file of the model is taken from folder on, unless it is absolute.
//
// The error is a [*cluster.SyntaxError] or wraps a *[num.InputError] with the line and the path of the field: for an unknown,
// missing or repeated field, a value of another type, and all that [Problem.Check] refuses.
func Read(r io.Reader, folder string) (*Problem, error) { return read(r, tree.Auto, folder) }

// ReadFile reads a problem from a file, as JSON if its name ends in .json, as YAML if it ends in .yaml or .yml, else as [Read].
// Names of files in it are taken from its folder on. Errors start with the name of the file that they are about.
func ReadFile(name string) (*Problem, error) {
	return tree.ReadFile(name, func(r io.Reader, format tree.Format) (*Problem, error) { return read(r, format, filepath.Dir(name)) })
}

const wantPlan = "a plan with a model, targets and options"

func read(r io.Reader, format tree.Format, folder string) (*Problem, error) {
	root, err := tree.Read(r, format, wantPlan)
	if err != nil {
		return nil, err
	}
	return tree.Make(root, func(root *tree.Node) (*Problem, error) { return decode(root, folder) })
}

func decode(root *tree.Node, folder string) (*Problem, error) {
	f, err := root.Fields("", "an object with a model, targets and options", "model", "scale", "targets", "no_worse", "upgrades", "new_servers", "edges",
		"budget", "minimize")
	if err != nil {
		return nil, err
	}
	p := new(Problem)
	if p.Model, err = decodeModel(f["model"], folder); err != nil {
		return nil, err
	}
	if p.Scale, err = optional(f["scale"], "scale", input.Positive); err != nil {
		return nil, err
	}
	if p.Targets, err = list(f["targets"], "targets", decodeTarget); err != nil {
		return nil, err
	}
	if n := f["no_worse"]; n != nil {
		if n.Kind != tree.Boolean {
			return nil, input.Errorf("no_worse", n, "true or false")
		}
		p.NoWorse = n.Text == "true"
	}
	if p.Upgrades, err = list(f["upgrades"], "upgrades", decodeUpgrade); err != nil {
		return nil, err
	}
	if p.NewServers, err = list(f["new_servers"], "new_servers", decodeNewServer); err != nil {
		return nil, err
	}
	if p.Edges, err = list(f["edges"], "edges", decodeEdge); err != nil {
		return nil, err
	}
	for i, e := range p.Edges { // the plain name of a group is all of it
		k := slices.IndexFunc(p.Model.Servers, func(s cluster.Server) bool { return s.Name == e.Server && s.Size() > 1 })
		if e.Choose == 0 && k >= 0 {
			p.Edges[i].Choose = p.Model.Servers[k].Size()
		}
	}
	if p.Budget, err = optional(f["budget"], "budget", input.Nonnegative); err != nil {
		return nil, err
	}
	if n := f["minimize"]; n != nil {
		p.Minimize, err = n.Name("minimize")
	}
	return p, err
}

// decodeModel reads the model, a value or a file.
func decodeModel(n *tree.Node, folder string) (*cluster.Model, error) {
	switch {
	case n == nil:
		return nil, input.Errorf("model", "", "%s", wantModel)
	case n.Kind == tree.Object:
		return cluster.Decode(n, "model")
	}
	name, err := n.Name("model")
	if err != nil || name == "" {
		return nil, input.Errorf("model", n, "%s", wantModel)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	m, err := cluster.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err) // about another file
	}
	return m, nil
}

const wantModel = "the name of a file with a model, or a model: an object with servers and classes"

// list decodes each element of an array, none if it is missing.
func list[T any](n *tree.Node, path string, decode func(n *tree.Node, path string) (T, error)) ([]T, error) {
	if n == nil {
		return nil, nil
	}
	return tree.List(n, path, "an array of "+strings.ReplaceAll(path, "_", " "), decode)
}

func optional(n *tree.Node, path, want string) (*big.Rat, error) {
	if n == nil {
		return nil, nil
	}
	return n.Rat(path, want)
}

const wantTarget = "an object such as {class: NAME, mean_delay: 2}, {class: NAME, percentile: 99, delay: 4}, {server: NAME, utilization: 0.8}, {load_factor: 1.25} or {margin: 0.1}"

// decodeTarget reads a target, whose measure is the field that holds the limit.
func decodeTarget(n *tree.Node, path string) (t Target, err error) {
	limits := []struct {
		field   string
		measure Measure
		beside  []string // fields that it needs
		want    string
	}{
		{"mean_delay", MeanDelay, nil, input.Positive},
		{"delay", Percentile, []string{"class", "percentile"}, input.Positive},
		{"utilization", Utilization, []string{"server"}, wantBusy},
		{"load_factor", LoadFactor, nil, input.Positive},
		{"margin", Margin, nil, input.Positive},
	}
	f, err := n.Fields(path, wantTarget, "class", "server", "percentile", "mean_delay", "delay", "utilization", "load_factor", "margin")
	if err != nil {
		return t, err
	}
	for _, l := range limits {
		if f[l.field] == nil {
			continue
		}
		if t.Measure != "" {
			return t, input.Errorf(path+"."+l.field, f[l.field], "one limit in a target; another one is a target of its own")
		}
		if t.Limit, err = f[l.field].Rat(path+"."+l.field, l.want); err != nil {
			return t, err
		}
		t.Measure = l.measure
		allowed := append([]string{l.field}, l.beside...)
		if l.measure == MeanDelay {
			allowed = append(allowed, "class")
		}
		for _, name := range []string{"class", "server", "percentile"} {
			needed, has := slices.Contains(l.beside, name), f[name] != nil
			switch {
			case has && !slices.Contains(allowed, name):
				return t, input.Errorf(path+"."+name, f[name], "no such field beside %s", l.field)
			case needed && !has:
				return t, input.Errorf(path+"."+name, "", "%s", map[string]string{"class": input.Name, "server": input.Name, "percentile": wantPercent}[name])
			}
		}
	}
	if t.Measure == "" {
		if f["percentile"] != nil {
			return t, input.Errorf(path+".delay", "", "%s", input.Positive)
		}
		return t, input.Errorf(path, n, "%s", wantTarget)
	}
	if n := f["class"]; n != nil {
		if t.Class, err = n.Name(path + ".class"); err != nil {
			return t, err
		}
		if t.Class == "" {
			return t, input.Errorf(path+".class", `""`, input.Name)
		}
	}
	if n := f["server"]; n != nil {
		if t.Server, err = n.Name(path + ".server"); err != nil {
			return t, err
		}
	}
	if n := f["percentile"]; n != nil {
		t.Level, err = n.Rat(path+".percentile", wantPercent)
	}
	return t, err
}

func decodeUpgrade(n *tree.Node, path string) (u Upgrade, err error) {
	f, err := n.Fields(path, "an object with server, step, cost and most", "server", "step", "cost", "most")
	if err != nil {
		return u, err
	}
	if u.Server, err = f["server"].Name(path + ".server"); err != nil {
		return u, err
	}
	u.Step, u.Cost, u.Most, err = decodeStep(f, path, "step")
	return u, err
}

// decodeStep reads what upgrades and new servers have in common.
func decodeStep(f map[string]*tree.Node, path, field string) (step, cost *big.Rat, most int, err error) {
	if step, err = f[field].Rat(path+"."+field, input.Positive); err != nil {
		return nil, nil, 0, err
	}
	if cost, err = f["cost"].Rat(path+".cost", input.Nonnegative); err != nil {
		return nil, nil, 0, err
	}
	if f["most"] == nil {
		return step, cost, 1, nil
	}
	most, err = f["most"].Integer(path+".most", MaxMost, wantMost)
	return step, cost, most, err
}

func decodeNewServer(n *tree.Node, path string) (s NewServer, err error) {
	f, err := n.Fields(path, "an object with name, capacity, classes, cost and most", "name", "capacity", "classes", "cost", "most")
	if err != nil {
		return s, err
	}
	if s.Name, err = f["name"].Name(path + ".name"); err != nil {
		return s, err
	}
	if s.Capacity, s.Cost, s.Most, err = decodeStep(f, path, "capacity"); err != nil {
		return s, err
	}
	if f["classes"] == nil {
		return s, input.Errorf(path+".classes", "", "an array of names of classes")
	}
	s.Classes, err = list(f["classes"], path+".classes", func(n *tree.Node, path string) (string, error) { return n.Name(path) })
	return s, err
}

func decodeEdge(n *tree.Node, path string) (e Edge, err error) {
	f, err := n.Fields(path, "an object with class, server and cost", "class", "server", "choose", "cost")
	if err != nil {
		return e, err
	}
	if e.Class, err = f["class"].Name(path + ".class"); err != nil {
		return e, err
	}
	if e.Server, err = f["server"].Name(path + ".server"); err != nil {
		return e, err
	}
	if n := f["choose"]; n != nil {
		if e.Choose, err = n.Integer(path+".choose", 1_000_000, "an integer from 1 to the servers of the group"); err != nil {
			return e, err
		}
	}
	e.Cost, err = f["cost"].Rat(path+".cost", input.Nonnegative)
	return e, err
}
