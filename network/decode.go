package network

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/internal/input"
	"productform/internal/tree"
)

// A decoder builds the model that a file describes. It checks what only a file can have wrong: types, fields, names.
type decoder struct {
	root     *tree.Node
	model    *Model
	stations map[string]int   // rows by name
	classes  map[string]int   // rows by name
	visits   []map[int]int    // of each class: the visit to a station
	nodes    []map[string]int // of each station: rows of nodes by name
}

func decode(root *tree.Node) (*Model, error) {
	f, err := root.Fields("", "an object with stations and classes", "stations", "classes")
	if err != nil {
		return nil, err
	}
	stations, err := f["stations"].Elements("stations", "an array of stations")
	if err != nil {
		return nil, err
	}
	classes, err := f["classes"].Elements("classes", "an array of classes")
	if err != nil {
		return nil, err
	}
	d := &decoder{root: root, model: &Model{Stations: make([]Station, len(stations)), Classes: make([]Class, len(classes))}}
	if d.stations, err = rows(stations, "stations"); err != nil {
		return nil, err
	}
	if d.classes, err = rows(classes, "classes"); err != nil {
		return nil, err
	}
	d.visits, d.nodes = make([]map[int]int, len(classes)), make([]map[string]int, len(stations))
	for i := range stations {
		if err := d.station(&stations[i], i); err != nil {
			return nil, err
		}
	}
	fields := make([]map[string]*tree.Node, len(classes))
	for c := range classes {
		if fields[c], err = d.class(&classes[c], c); err != nil {
			return nil, err
		}
	}
	for c := range classes { // now that all visits have their stations
		if err := d.ways(fields[c], c); err != nil {
			return nil, err
		}
	}
	return d.model, nil
}

// rows returns the rows of a list by their names, which differ, as far as they have any.
func rows(list []tree.Node, path string) (map[string]int, error) {
	names := make(map[string]int, len(list))
	for i := range list {
		n := &list[i]
		if n.Kind != tree.Object {
			return nil, input.Errorf(input.Index(path, i), n, "an object with a name and other fields")
		}
		for k, key := range n.Keys {
			if key != "name" {
				continue
			}
			name, err := n.Kids[k].Name(input.Index(path, i) + ".name")
			if err != nil {
				return nil, err
			}
			if err := input.CheckName(names, path, i, name); err != nil {
				return nil, err
			}
			break
		}
	}
	return names, nil
}

func (d *decoder) station(n *tree.Node, i int) error {
	s, path := &d.model.Stations[i], input.Index("stations", i)
	f, err := n.Fields(path, "an object with name and discipline", "name", "discipline", "servers", "rate", "rates", "nodes", "limits", "rank", "table")
	if err != nil {
		return err
	}
	if s.Name, err = f["name"].Name(path + ".name"); err != nil {
		return err
	}
	if f["discipline"] == nil || f["discipline"].Kind != tree.Text {
		return input.Errorf(path+".discipline", shown(f["discipline"]), "%s", wantDiscipline(""))
	}
	s.Discipline = Discipline(strings.Clone(f["discipline"].Text))
	if n := f["servers"]; n != nil {
		if s.Servers, err = n.Integer(path+".servers", maxServers, wantServers); err != nil {
			return err
		}
	}
	if n := f["rate"]; n != nil {
		if s.Rate, err = n.Rat(path+".rate", input.Positive); err != nil {
			return err
		}
	}
	if n := f["rates"]; n != nil {
		if s.Rates, err = tree.List(n, path+".rates", "an array of rates", rate); err != nil {
			return err
		}
	}
	d.nodes[i] = make(map[string]int)
	if n := f["nodes"]; n != nil {
		if s.Nodes, err = tree.List(n, path+".nodes", "an array of nodes", decodeNode); err != nil {
			return err
		}
		for k, node := range s.Nodes {
			if err := input.CheckName(d.nodes[i], path+".nodes", k, node.Name); err != nil {
				return err
			}
		}
	}
	if n := f["limits"]; n != nil {
		if s.Limits, err = tree.List(n, path+".limits", "an array of limits", d.limit); err != nil {
			return err
		}
	}
	if n := f["rank"]; n != nil {
		if s.Rank, err = tree.List(n, path+".rank", "an array of sets of classes with their rates", d.setRate); err != nil {
			return err
		}
	}
	if n := f["table"]; n != nil {
		if s.Table, err = d.table(n, path+".table"); err != nil {
			return err
		}
	}
	return d.root.AsWritten(s.check(path))
}

// shown is what a message calls a value, nothing if it is missing.
func shown(n *tree.Node) any {
	if n == nil {
		return ""
	}
	return n
}

func rate(n *tree.Node, path string) (*big.Rat, error) { return n.Rat(path, input.Positive) }

func decodeNode(n *tree.Node, path string) (node Node, err error) {
	f, err := n.Fields(path, "an object with name and capacity", "name", "capacity")
	if err != nil {
		return node, err
	}
	if node.Name, err = f["name"].Name(path + ".name"); err != nil {
		return node, err
	}
	node.Capacity, err = f["capacity"].Rat(path+".capacity", input.Nonnegative)
	return node, err
}

const wantClassList = "an array of names of classes"

func (d *decoder) limit(n *tree.Node, path string) (l Limit, err error) {
	f, err := n.Fields(path, "an object with classes and most", "classes", "most")
	if err != nil {
		return l, err
	}
	if l.Classes, err = tree.List(f["classes"], path+".classes", wantClassList, d.className); err != nil {
		return l, err
	}
	l.Most, err = f["most"].Integer(path+".most", maxServers, wantServers)
	return l, err
}

func (d *decoder) setRate(n *tree.Node, path string) (r SetRate, err error) {
	f, err := n.Fields(path, "an object with classes and rate", "classes", "rate")
	if err != nil {
		return r, err
	}
	if r.Classes, err = tree.List(f["classes"], path+".classes", wantClassList, d.className); err != nil {
		return r, err
	}
	r.Rate, err = f["rate"].Rat(path+".rate", input.Positive)
	return r, err
}

func (d *decoder) table(n *tree.Node, path string) (*Table, error) {
	f, err := n.Fields(path, "an object with classes, most, and balance or rates", "classes", "most", "balance", "rates")
	if err != nil {
		return nil, err
	}
	t := new(Table)
	if t.Classes, err = tree.List(f["classes"], path+".classes", wantClassList, d.className); err != nil {
		return nil, err
	}
	if t.Most, err = tree.List(f["most"], path+".most", "an array of numbers of jobs", func(n *tree.Node, path string) (int, error) {
		return n.Integer(path, maxTable-1, fmt.Sprintf("an integer from 1 to %d", maxTable-1))
	}); err != nil {
		return nil, err
	}
	if n := f["balance"]; n != nil {
		if t.Balance, err = tree.List(n, path+".balance", "an array of numbers", rate); err != nil {
			return nil, err
		}
	}
	if n := f["rates"]; n != nil {
		t.Rates, err = tree.List(n, path+".rates", "an array of rows of rates", func(n *tree.Node, path string) ([]*big.Rat, error) {
			return tree.List(n, path, "an array of rates, one for each class", func(n *tree.Node, path string) (*big.Rat, error) { return n.Rat(path, input.Nonnegative) })
		})
	}
	return t, err
}

func (d *decoder) className(n *tree.Node, path string) (int, error) {
	return n.Row(path, "class", d.classes)
}

// class decodes all of a class but its ways.
func (d *decoder) class(n *tree.Node, c int) (map[string]*tree.Node, error) {
	class, path := &d.model.Classes[c], input.Index("classes", c)
	f, err := n.Fields(path, "an object with name and visits", "name", "population", "arrival_rate", "arrives", "reference", "visits")
	if err != nil {
		return nil, err
	}
	if class.Name, err = f["name"].Name(path + ".name"); err != nil {
		return nil, err
	}
	if n := f["population"]; n != nil {
		x, err := n.Rat(path+".population", wantPopulation)
		if err != nil {
			return nil, err
		}
		if !x.IsInt() || x.Sign() < 0 || x.Cmp(big.NewRat(maxPopulation, 1)) > 0 {
			return nil, d.root.AsWritten(input.Errorf(path+".population", x.RatString(), wantPopulation))
		}
		class.Population = int(x.Num().Int64())
	}
	if n := f["arrival_rate"]; n != nil {
		if class.ArrivalRate, err = n.Rat(path+".arrival_rate", input.Nonnegative); err != nil {
			return nil, err
		}
	}
	visits, err := f["visits"].Elements(path+".visits", "an array of visits to stations")
	if err != nil {
		return nil, err
	}
	class.Visits = make([]Visit, len(visits))
	d.visits[c] = make(map[int]int, len(visits))
	for v := range visits {
		if err := d.visit(&visits[v], input.Index(path+".visits", v), &class.Visits[v]); err != nil {
			return nil, err
		}
		if _, ok := d.visits[c][class.Visits[v].Station]; !ok {
			d.visits[c][class.Visits[v].Station] = v
		}
	}
	if n := f["reference"]; n != nil {
		if class.Reference, err = d.visitOf(n, path+".reference", c); err != nil {
			return nil, err
		}
	}
	return f, d.root.AsWritten(d.model.checkClass(c))
}

// visitOf decodes the name of a station that class c visits.
func (d *decoder) visitOf(n *tree.Node, path string, c int) (int, error) {
	rows := make(map[string]int, len(d.visits[c]))
	for i, v := range d.visits[c] {
		rows[d.model.Stations[i].Name] = v
	}
	return n.Row(path, "station that the class visits", rows)
}

// visited lists the stations that class c visits.
func (d *decoder) visited(c int) []string {
	var all []string
	for _, v := range d.model.Classes[c].Visits {
		all = append(all, d.model.Stations[v.Station].Name)
	}
	return all
}

// visit decodes all of a visit but next.
func (d *decoder) visit(n *tree.Node, path string, v *Visit) error {
	f, err := n.Fields(path, "an object with station and next, or visits", "station", "mean_size", "nodes", "next", "visits")
	if err != nil {
		return err
	}
	if v.Station, err = f["station"].Row(path+".station", "station", d.stations); err != nil {
		return err
	}
	if n := f["mean_size"]; n != nil {
		if v.MeanSize, err = n.Rat(path+".mean_size", input.Positive); err != nil {
			return err
		}
	}
	if n := f["visits"]; n != nil {
		if v.Count, err = n.Rat(path+".visits", input.Positive); err != nil {
			return err
		}
	}
	if n := f["nodes"]; n != nil {
		v.Nodes, err = tree.List(n, path+".nodes", "an array of names of nodes", func(n *tree.Node, path string) (int, error) {
			return n.Row(path, "node of station "+input.Quote(d.model.Stations[v.Station].Name), d.nodes[v.Station])
		})
	}
	return err
}

// ways decodes where jobs of class c go, of which f are the fields.
func (d *decoder) ways(f map[string]*tree.Node, c int) (err error) {
	class, path := &d.model.Classes[c], input.Index("classes", c)
	if n := f["arrives"]; n != nil {
		if class.Arrives, err = d.branches(n, path+".arrives", c); err != nil {
			return err
		}
	}
	for v := range class.Visits {
		n := &f["visits"].Kids[v]
		for k, key := range n.Keys {
			if key == "next" {
				if class.Visits[v].Next, err = d.branches(&n.Kids[k], visitPath(c, v)+".next", c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// branches decodes an object from names of stations to probabilities.
func (d *decoder) branches(n *tree.Node, path string, c int) ([]Branch, error) {
	ends, probabilities, err := n.Entries(path, "an object from stations to probabilities")
	if err != nil {
		return nil, err
	}
	all := make([]Branch, len(ends))
	for k, end := range ends {
		at := input.Field(path, end)
		b, err := d.branch(end, at, c)
		if err != nil {
			return nil, err
		}
		if b.Probability, err = probabilities[k].Rat(at, wantProbability); err != nil {
			return nil, err
		}
		all[k] = b
	}
	return all, nil
}

// maxStrokes bounds the ways to read a name in next as station/class.
const maxStrokes = 100

// branch finds what a name in next of class c means: out, a station that the class visits, or station/class.
func (d *decoder) branch(end, path string, c int) (b Branch, err error) {
	if end == out {
		return Branch{Class: Leaves}, nil
	}
	found := 0
	if i, ok := d.stations[end]; ok {
		if v, ok := d.visits[c][i]; ok {
			b, found = Branch{Class: c, Visit: v}, 1
		}
	}
	if strings.Count(end, "/") > maxStrokes {
		return b, input.Errorf(path, strconv.Quote(end), "a name with at most %d strokes", maxStrokes)
	}
	for at := range end { // names may hold strokes themselves
		if end[at] != '/' {
			continue
		}
		i, station := d.stations[end[:at]]
		to, class := d.classes[end[at+1:]]
		if !station || !class {
			continue
		}
		if v, ok := d.visits[to][i]; ok {
			b = Branch{Class: to, Visit: v}
			found++
		}
	}
	switch {
	case found == 1:
		return b, nil
	case found > 1:
		return b, input.Errorf(path, strconv.Quote(end), "a name with one meaning; rename the station or the class")
	}
	if _, ok := d.stations[end]; ok {
		return b, input.Errorf(path, strconv.Quote(end), "a station that the class visits; %s is not among its visits", input.Quote(end))
	}
	known := append(d.visited(c), out)
	for to := range d.model.Classes {
		if to == c || len(known) > 1000 {
			continue
		}
		for _, station := range d.visited(to) {
			known = append(known, station+"/"+d.model.Classes[to].Name)
		}
	}
	return b, input.Errorf(path, strconv.Quote(end), "a station that the class visits, station/class, or out%s", tree.DidYouMean(end, slices.Values(known), input.Quote))
}
