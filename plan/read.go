package plan

import (
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"slices"

	"productform/cluster"
	"productform/internal/file"
	"productform/internal/input"
	"productform/network"
	"productform/network/loss"
)

// Read reads a problem from a text in JSON or YAML:
//
//	model: shop.yaml                     # a file, or the model itself: of package cluster, network or loss
//	scale: 1.5
//	targets:
//	  - {class: reports, mean_delay: 2}
//	  - {mean_delay: 1}                  # of all jobs
//	  - {class: web, percentile: 99, delay: 4}
//	  - {server: small, utilization: 0.8}
//	  - {load_factor: 1.25}
//	  - {margin: 0.1}
//	  - {class: web, within: 20, waiting: 0.8}   # a service level, with the service one
//	  - {class: user, throughput: 5}             # of a closed chain, in a network
//	  - {class: voice, blocking: 0.01}           # in a system with losses
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
// Only the model is required. The file name of a model is relative to folder, unless it is
// absolute.
//
// The error is a [*num.SyntaxError] or wraps a *[num.InputError] with the line and the path of the
// field: for an unknown, missing or repeated field, a value of the wrong type, and everything that
// [Problem.Check] rejects.
func Read(r io.Reader, folder string) (*Problem, error) { return read(r, file.Auto, folder) }

// ReadFile reads a problem from a file, as JSON if its name ends in .json, as YAML if it ends in
// .yaml or .yml, otherwise as [Read]. File names in it are relative to its folder. Errors start
// with the name of the file that they concern.
func ReadFile(name string) (*Problem, error) {
	return file.ReadFile(name, func(r io.Reader, format file.Format) (*Problem, error) {
		return read(r, format, filepath.Dir(name))
	})
}

const wantPlan = "a plan with a model, targets and options"

func read(r io.Reader, format file.Format, folder string) (*Problem, error) {
	root, err := file.Read(r, format, wantPlan)
	if err != nil {
		return nil, err
	}
	return file.DecodeRoot(root, func(root *file.Node) (*Problem, error) { return decode(root, folder) })
}

// Schema returns a JSON schema of the files that [Read] reads. It refers to the definitions name,
// nonnegative, positive, count and cluster in $defs.
func Schema() map[string]any { return problemFile.Schema() }

// Help returns a table of the fields of these files, with their meanings, units, ranges and
// defaults, and examples.
func Help() string { return problemFile.Help() }

// problemFile describes the file of a problem, except for its model. Like the descriptions that it
// consists of, it is never modified.
var problemFile = file.Description[Problem]{
	Want: "an object with a model, targets and options",
	Fields: []file.Field[Problem]{
		file.Later[Problem]("model",
			"name of a file with a cluster, a network or a system with losses, relative to the folder of the plan, or "+
				"the model itself", file.Schema{
				"type": []string{"string", "object"},
				"if":   file.Schema{"type": "object"}, "then": file.Schema{"$ref": "#"}, "else": file.Ref("name"),
			}).Example("shop.yaml"),
		file.Rat("scale", "factor of all arrival rates", func(p *Problem) **big.Rat { return &p.Scale },
			input.Positive).Default(1).Example("1.5"),
		file.List("targets", "list of limits, each on one measure", "an array of targets",
			func(p *Problem) *[]Target { return &p.Targets },
			file.Custom("", "", decodeTarget, nil, nil, targetSchema).Cases(
				[2]string{"mean delay of a class, at most", "{class: web, mean_delay: 0.5}"},
				[2]string{"mean delay of all jobs, at most", "{mean_delay: 1}"},
				[2]string{"percentile of the delay of a class, first come, first served with exponential sizes of " +
					"a common mean, at most",
					"{class: web, percentile: 99, delay: 4}"},
				[2]string{"utilization of a server, at most", "{server: small, utilization: 0.8}"},
				[2]string{"critical scale of the arrival rates, at least", "{load_factor: 1.25}"},
				[2]string{"margin of stability, work per unit of time, at least", "{margin: 0.1}"},
				[2]string{"with service one or gang: mean waiting of a class or, without class, of all jobs, at most",
					"{class: en, mean_waiting: 10}"},
				[2]string{"with service one: percentile of the waiting of a class, at most",
					"{class: en, percentile: 95, waiting: 60}"},
				[2]string{"with service one: fraction of the jobs of a class that wait at most 20, at least",
					"{class: en, within: 20, waiting: 0.8}"},
				[2]string{"fraction of the jobs that are served after a wait of at most 20; served_share divides by " +
					"the served jobs",
					"{class: en, within: 20, served: 0.8}"},
				[2]string{
					"fraction of the jobs that depart within 300, at least", "{class: en, within: 300, delay: 0.9}",
				},
				[2]string{"fraction of the jobs of a class, or of all jobs, that give up, at most",
					"{class: en, abandon_probability: 0.05}"},
				[2]string{
					"with service gang: fraction of the load that is lost to blocking, at most", "{fifo_waste: 0.2}",
				},
				[2]string{
					"in a network: cycles of a closed chain per unit of time; with losses: jobs of a class that are " +
						"not lost; at least",
					"{class: user, throughput: 5}",
				},
				[2]string{"in a network: mean time that a job spends per cycle outside stations with discipline " +
					"delay, at most",
					"{class: user, mean_response_time: 2}"},
				[2]string{"with losses: fraction of the jobs of a class, or of all jobs, that are lost, at most",
					"{class: voice, blocking: 0.01}"},
			), file.Length{}).Otherwise("none"),
		file.Bool("no_worse", "whether no class may have a longer mean delay than in the cluster as it is",
			func(p *Problem) *bool { return &p.NoWorse }).Default(false).Example("true"),
		file.Objects("upgrades", "list of more capacity, one per server or station", "an array of upgrades",
			func(p *Problem) *[]Upgrade { return &p.Upgrades }, &upgradeFile, file.Length{}, nil).Optional(),
		file.Objects("new_servers", "list of new servers", "an array of new servers",
			func(p *Problem) *[]NewServer { return &p.NewServers }, &newServerFile,
			file.Length{}, func(s *NewServer) string { return s.Name }).Optional(),
		file.Objects("edges", fmt.Sprintf("list of at most %d new compatibilities", MaxEdges), "an array of edges",
			func(p *Problem) *[]Edge { return &p.Edges }, &edgeFile, file.Length{}, nil).Optional(),
		file.Rat("budget", "maximum cost of a plan", func(p *Problem) **big.Rat { return &p.Budget },
			input.Nonnegative).Otherwise("no limit").Example("20"),
		file.Text("minimize", "class whose mean delay is minimized",
			func(p *Problem) *string { return &p.Minimize }).Otherwise("all jobs").Example("web"),
	},
	Check: func(p *Problem, _ string) error { return p.checkConditions() },
	Patch: func(s file.Schema) {
		s["properties"].(file.Schema)["edges"].(file.Schema)["maxItems"] = MaxEdges
	},
}

var upgradeFile = file.Description[Upgrade]{
	Want: "an object with server, step or count, cost and most",
	Fields: []file.Field[Upgrade]{
		file.Text(
			"server", "name of the server, group or station; with losses room, servers, limits[0] etc.",
			func(u *Upgrade) *string { return &u.Server },
		).
			Example("small"),
		file.Rat("step", "capacity of a step, for each server of a group or station",
			func(u *Upgrade) **big.Rat { return &u.Step }, input.Positive).Otherwise("none").Example("0.5"),
		file.Int("count", "servers that a step adds to the group or station, or units with losses; not with service "+
			"all; step or count is "+
			"required",
			func(u *Upgrade) *int { return &u.Count }, MaxSteps, "").Otherwise("none").Example("1"),
		file.Rat("cost", "cost of a step", func(u *Upgrade) **big.Rat { return &u.Cost }, input.Nonnegative).
			Example("2"),
		file.Int("most", "steps that can be bought", func(u *Upgrade) *int { return &u.Most }, MaxSteps, "").
			Default(1).Always().Example("4"),
	},
	Start: Upgrade{Most: 1},
}

var newServerFile = file.Description[NewServer]{
	Want: "an object with name, capacity, classes, cost and most",
	Fields: []file.Field[NewServer]{
		file.Name("name of the server, new to the cluster", func(s *NewServer) *string { return &s.Name }).
			Example("spare"),
		file.Rat("capacity", "work per unit of time of each", func(s *NewServer) **big.Rat { return &s.Capacity },
			input.Positive).Example("1"),
		file.List("classes", "names of classes that use all of them", "an array of names of classes",
			func(s *NewServer) *[]string { return &s.Classes },
			file.Text("", "", file.Itself[string]), file.Length{Least: 1, One: "class", Many: "classes"}).
			Example("[reports]"),
		file.Rat("cost", "cost of each", func(s *NewServer) **big.Rat { return &s.Cost }, input.Nonnegative).
			Example("5"),
		file.Int("most", "servers that can be bought", func(s *NewServer) *int { return &s.Most }, MaxSteps, "").
			Default(1).Always().Example("2"),
	},
	Start: NewServer{Most: 1},
}

var edgeFile = file.Description[Edge]{Want: "an object with class, server and cost", Fields: []file.Field[Edge]{
	file.Text("class", "name of the class", func(e *Edge) *string { return &e.Class }).Example("reports"),
	file.Text("server", "name of a server or group that it cannot use yet, or of new servers",
		func(e *Edge) *string { return &e.Server }).Example("big"),
	file.Custom("choose", "servers drawn from a group of the cluster for each job",
		func(_ *file.Scope, n *file.Node, path string, e *Edge) (err error) {
			e.Choose, err = n.Integer(path, 1_000_000, "an integer from 1 to the servers of the group")
			return err
		}, nil, func(*Edge) bool { return true }, func() file.Schema { return file.Ref("count") }).
		Otherwise("all of it").Example("2"),
	file.Rat("cost", "cost of the compatibility", func(e *Edge) **big.Rat { return &e.Cost }, input.Nonnegative).
		Example("1"),
}}

func decode(root *file.Node, folder string) (*Problem, error) {
	p, err := problemFile.Read(root)
	if err != nil {
		return nil, err
	}
	s, err := decodeModel(root.Get("model"), folder)
	if err != nil {
		return nil, err
	}
	p.Model, p.Network, p.Loss = s.cluster, s.network, s.loss
	if p.Model == nil {
		return p, nil
	}
	for i, e := range p.Edges { // the plain name of a group means the whole group
		k := slices.IndexFunc(p.Model.Servers, func(s cluster.Server) bool {
			return s.Name == e.Server && s.Size() > 1
		})
		if e.Choose == 0 && k >= 0 {
			p.Edges[i].Choose = p.Model.Servers[k].Size()
		}
	}
	return p, nil
}

// decodeModel reads the model, a value or a file.
func decodeModel(n *file.Node, folder string) (*system, error) {
	switch {
	case n == nil:
		return nil, input.Errorf("model", "", "%s", wantModel)
	case n.Kind == file.ObjectKind:
		m, err := decodeSystem(n)
		return m, input.Inside("model", err)
	}
	name, err := n.Name("model")
	if err != nil || name == "" {
		return nil, input.Errorf("model", n, "%s", wantModel)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	m, err := file.ReadFile(name, func(r io.Reader, format file.Format) (*system, error) {
		root, err := file.Read(r, format, wantSystem)
		if err != nil {
			return nil, err
		}
		m, err := decodeSystem(root)
		if err == nil { // names the line there, not that of the plan
			err = root.Locate(root.AsWritten(m.Check()))
		}
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("model: %w", err) // concerns another file
	}
	return m, nil
}

const (
	wantModel = "the name of a file with a model, or a model: an object with servers or stations, and classes"
	// what the file of a model holds
	wantSystem = "a cluster, a network with stations or a system with losses"
)

// decodeSystem reads a model, whose fields determine its kind.
func decodeSystem(n *file.Node) (*system, error) {
	has := func(field string) bool { return slices.Contains(n.Keys, field) }
	var s system
	var err error
	switch servers := n.Get("servers"); {
	case has("stations"):
		s.network, err = file.Decode[network.Model](n)
	case has("room"), has("limits"), has("rank"), servers != nil && servers.Kind == file.NumberKind:
		s.loss, err = file.Decode[loss.Model](n)
	default:
		s.cluster, err = file.Decode[cluster.Model](n)
	}
	if err != nil {
		return nil, err
	}
	return &s, nil
}

const wantTarget = "an object such as {class: NAME, mean_delay: 2}, {class: NAME, percentile: 99, delay: 4}, " +
	"{server: NAME, utilization: 0.8}, {load_factor: 1.25} or {margin: 0.1}; with service one or gang also " +
	"{class: NAME, mean_waiting: 2}, with service one {class: NAME, within: 20, waiting: 0.8}; in a network " +
	"{class: NAME, throughput: 5}, with losses {blocking: 0.01}"

// about are the fields of a target that name its subject.
var about = []string{"class", "server", percentileField, withinField}

func targetFields() []string {
	fields := slices.Clone(about)
	for _, f := range forms {
		if !slices.Contains(fields, f.field) {
			fields = append(fields, f.field)
		}
	}
	return fields
}

func targetSchema() file.Schema {
	properties := file.Schema{}
	for _, field := range targetFields() {
		properties[field] = file.Ref("positive")
	}
	properties["class"], properties["server"] = file.Ref("name"), file.Ref("name")
	properties[withinField] = file.Ref("nonnegative")
	return file.Schema{"type": "object", "additionalProperties": false, "minProperties": 1, "properties": properties}
}

// decodeTarget reads a target, whose measure is the field that holds the limit.
func decodeTarget(_ *file.Scope, n *file.Node, path string, t *Target) error {
	f, err := n.Fields(path, wantTarget, targetFields()...)
	if err != nil {
		return err
	}
	form, err := formOf(n, f, path)
	if err != nil {
		return err
	}
	t.Measure = form.measure
	if t.Limit, err = f[form.field].Rat(path+"."+form.field, form.want); err != nil {
		return err
	}
	needs := map[string]bool{form.about: !form.all, form.with: true}
	wants := map[string]string{
		"class": input.Name, "server": input.Name, percentileField: wantPercent, withinField: input.Nonnegative,
	}
	for _, name := range about {
		needed, allowed := needs[name]
		switch {
		case f[name] != nil && !allowed:
			return input.Errorf(path+"."+name, f[name], "no such field with %s", form.field)
		case needed && f[name] == nil:
			return input.Errorf(path+"."+name, "", "%s", wants[name])
		}
	}
	if n := f["class"]; n != nil {
		if t.Class, err = n.Name(path + ".class"); err != nil {
			return err
		}
		if t.Class == "" {
			return input.Errorf(path+".class", `""`, input.Name)
		}
	}
	if n := f["server"]; n != nil {
		if t.Server, err = n.Name(path + ".server"); err != nil {
			return err
		}
	}
	if n := f[percentileField]; n != nil {
		if t.Level, err = n.Rat(path+"."+percentileField, wantPercent); err != nil {
			return err
		}
	}
	if n := f[withinField]; n != nil {
		t.Within, err = n.Rat(path+"."+withinField, input.Nonnegative)
	}
	return err
}

// formOf returns the form of a target, given its fields.
func formOf(n *file.Node, f map[string]*file.Node, path string) (found form, err error) {
	for _, l := range forms {
		other := map[string]string{percentileField: withinField, withinField: percentileField}[l.with]
		switch {
		case f[l.field] == nil || l.field == found.field:
			continue
		case other != "" && f[other] != nil && f[l.with] == nil && hasForm(l.field, other):
			continue // the same field with another meaning
		case found.measure != "":
			return found, input.Errorf(path+"."+l.field, f[l.field],
				"one limit in a target; another one needs a separate target")
		}
		found = l
	}
	switch {
	case found.measure != "":
		return found, nil
	case f[percentileField] != nil:
		return found, input.Errorf(path+".delay", "", "%s", input.Positive)
	case f[withinField] != nil:
		return found, input.Errorf(path+".waiting", "", "%s", wantBusy)
	}
	return found, input.Errorf(path, n, "%s", wantTarget)
}

// hasForm reports whether some targets have these two fields.
func hasForm(field, with string) bool {
	return slices.ContainsFunc(forms, func(f form) bool { return f.field == field && f.with == with })
}
