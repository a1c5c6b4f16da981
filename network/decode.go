package network

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/internal/file"
	"productform/internal/input"
)

// Schema returns a JSON schema of the files that [Read] reads. It refers to the definitions name,
// nonnegative, positive, count, names and probabilities in $defs.
func Schema() map[string]any { return modelFile.Schema() }

// Help returns a table of the fields of these files, with their meanings, units, ranges and
// defaults, and examples.
func Help() string { return modelFile.Help() }

// modelFile describes the file of a model, except for the values that a [decoder] reads. Neither it
// nor its descriptions are ever modified.
var modelFile = file.Description[Model]{
	Want: "an object with stations and classes",
	Fields: []file.Field[Model]{
		file.Objects("stations", "list of stations", "an array of stations",
			func(m *Model) *[]Station { return &m.Stations },
			&stationFile, file.Length{Least: 1, One: "station", Many: "stations"},
			func(s *Station) string { return s.Name }).Ahead(),
		file.Objects("classes", "list of classes of jobs", "an array of classes",
			func(m *Model) *[]Class { return &m.Classes }, &classFile, someClasses,
			func(c *Class) string { return c.Name }).Ahead(),
	},
	Check: func(m *Model, _ string) error { return m.checkStations() },
}

var stationFile = file.Description[Station]{
	Want: "an object with a name and other fields",
	Fields: []file.Field[Station]{
		file.Name("name of the station", func(s *Station) *string { return &s.Name }).Example("web"),
		file.Word("discipline", "how it serves jobs", func(s *Station) *Discipline { return &s.Discipline },
			disciplines, otherNames).Example("sharing"),
		file.Int("servers", "equal servers", func(s *Station) *int { return &s.Servers }, maxServers, "").
			Default(1).Example("4"),
		file.Rat("rate", "work per unit of time of each", func(s *Station) **big.Rat { return &s.Rate },
			input.Positive).Default(1).Example("2"),
		file.List("rates",
			"in place of servers: total work per unit of time with 1, 2, ... jobs, the last one also with more",
			"an array of rates",
			func(s *Station) *[]*big.Rat { return &s.Rates }, number(input.Positive), file.Length{}).
			Optional().Example("[1, 1.8, 2.4]"),
		file.Objects("nodes", "servers that serve some classes each, for order and balanced", "an array of nodes",
			func(s *Station) *[]Node { return &s.Nodes }, &nodeFile,
			file.Length{Least: 1, One: "node", Many: "nodes"},
			func(n *Node) string { return n.Name }).Ahead().Optional().
			Example("[{name: n1, capacity: 1}]"),
		file.Objects(
			"limits", "maximum number of servers that classes hold together, one per job, for order and balanced "+
				"with servers; two sets are disjoint or one contains the other",
			"an array of limits", func(s *Station) *[]Limit { return &s.Limits }, &limitFile,
			file.Length{Least: 1, Most: maxLimits, One: "limit", Many: "limits"}, nil,
		).Optional().
			Example("[{classes: [web], most: 2}]"),
		file.Objects(
			"rank", "total rate while exactly these classes are present, for every set of the visiting classes",
			"an array of sets of classes with their rates", func(s *Station) *[]SetRate { return &s.Rank },
			&rateFile, file.Length{}, nil,
		).
			Optional().Example("[{classes: [web], rate: 1}]"),
		file.Object("table", "balance function or rates at all numbers of jobs, for balanced and closed classes",
			func(s *Station) **Table { return &s.Table }, &tableFile).Optional(),
	},
	Check: (*Station).check,
}

func number(within string) file.Field[*big.Rat] {
	return file.Rat("", "", file.Itself[*big.Rat], within)
}

var someClasses = file.Length{Least: 1, One: "class", Many: "classes"}

var nodeFile = file.Description[Node]{Want: "an object with name and capacity", Fields: []file.Field[Node]{
	file.Name("name of the node", func(n *Node) *string { return &n.Name }).Example("n1"),
	file.Rat("capacity", "work per unit of time", func(n *Node) **big.Rat { return &n.Capacity }, input.Nonnegative).
		Example("1"),
}}

var limitFile = file.Description[Limit]{Want: "an object with classes and most", Fields: []file.Field[Limit]{
	file.Refs("classes", "names of classes", "", func(l *Limit) *[]int { return &l.Classes }, "classes", someClasses).
		Example("[web]"),
	file.Int("most", "servers that they hold together", func(l *Limit) *int { return &l.Most }, maxServers, "").
		Example("2"),
}}

var rateFile = file.Description[SetRate]{Want: "an object with classes and rate", Fields: []file.Field[SetRate]{
	file.Refs("classes", "names of classes", "", func(r *SetRate) *[]int { return &r.Classes }, "classes", someClasses).
		Example("[web]"),
	file.Rat("rate", "work per unit of time", func(r *SetRate) **big.Rat { return &r.Rate }, input.Positive).
		Example("1"),
}}

var tableFile = file.Description[Table]{
	Want: "an object with classes, most, and balance or rates",
	Fields: []file.Field[Table]{
		file.Refs("classes", "names of all classes that visit the station", "",
			func(t *Table) *[]int { return &t.Classes }, "classes", someClasses).Example("[web]"),
		file.List("most", "maximum number of jobs of each of these classes", "an array of numbers of jobs",
			func(t *Table) *[]int { return &t.Most },
			file.Int("", "", file.Itself[int], maxTable-1, ""), file.Length{}).Example("[2]"),
		file.List("balance",
			"balance function at all numbers of jobs, in an order in which the last class varies fastest",
			"an array of numbers", func(t *Table) *[]*big.Rat { return &t.Balance },
			number(input.Positive), file.Length{}).Optional().Example("[1, 1, 1/3]"),
		file.List("rates", "in place of balance, in the same order: work per unit of time of each class",
			"an array of rows of rates", func(t *Table) *[][]*big.Rat { return &t.Rates },
			file.List("", "", "an array of rates, one for each class", file.Itself[[]*big.Rat],
				number(input.Nonnegative).Optional(), file.Length{}), file.Length{}).Optional().
			Example("[[0], [1], [3]]"),
	},
}

var classFile = file.Description[Class]{
	Want: "an object with a name and other fields",
	Fields: []file.Field[Class]{
		file.Name("name of the class", func(c *Class) *string { return &c.Name }).Example("user"),
		file.Whole("population", "closed: jobs at the start", func(c *Class) *int { return &c.Population },
			maxPopulation).Optional().Example("50"),
		file.Rat("arrival_rate", "open: jobs per unit of time", func(c *Class) **big.Rat { return &c.ArrivalRate },
			input.Nonnegative).Optional().Example("1/2"),
		file.Later[Class]("arrives", "open: where jobs arrive, with probabilities", file.Ref("probabilities")).
			Otherwise("the first visit").Example("{web: 0.9, disk: 0.1}"),
		file.Later[Class]("reference", "closed: the station whose visits start cycles", file.Ref("name")).
			Otherwise("the first").Example("think"),
		file.Objects("visits", "list of visits to stations", "an array of visits to stations",
			func(c *Class) *[]Visit { return &c.Visits }, &visitFile,
			file.Length{Least: 1, One: "visit", Many: "visits"}, nil),
	},
	Check: func(c *Class, path string) error {
		if c.ArrivalRate != nil && c.Population > 0 {
			return input.Errorf(path+".population", c.Population,
				"either a population (closed) or an arrival_rate (open)")
		}
		return nil
	},
}

var visitFile = file.Description[Visit]{
	Want: "an object with station and next, or visits",
	Fields: []file.Field[Visit]{
		file.Row("station", "name of the station", func(v *Visit) *int { return &v.Station }, "stations", "station").
			Example("web"),
		file.Rat("mean_size", "mean work of a visit", func(v *Visit) **big.Rat { return &v.MeanSize }, input.Positive).
			Default(1).Example("0.12"),
		file.Later[Visit]("nodes", "nodes that can serve it, if the station has nodes", file.Ref("names")).
			Optional().Example("[n1]"),
		file.Later[Visit]("next",
			"where jobs go next, with probabilities: a station of the class, station/class, or out",
			file.Ref("probabilities")).Optional().Example("{disk: 0.6, think/night: 0.1, out: 0.3}"),
		file.Rat("visits", "in place of next: visits per cycle or per arrival",
			func(v *Visit) **big.Rat { return &v.Count }, input.Positive).Optional().Example("2.5"),
	},
}

// A decoder reads values that refer to other parts of the file.
type decoder struct {
	model    *Model
	stations map[string]int   // rows by name
	classes  map[string]int   // rows by name
	visits   []map[int]int    // visits of each class, by station
	nodes    []map[string]int // nodes of each station, rows by name; nil until needed
}

func decode(root *file.Node) (*Model, error) {
	m, err := modelFile.Read(root)
	if err != nil {
		return nil, err
	}
	d := &decoder{
		model:    m,
		stations: file.RowsByName(len(m.Stations), func(i int) string { return m.Stations[i].Name }),
		classes:  file.RowsByName(len(m.Classes), func(c int) string { return m.Classes[c].Name }),
		visits:   make([]map[int]int, len(m.Classes)),
		nodes:    make([]map[string]int, len(m.Stations)),
	}
	if err := modelFile.CheckAll(m); err != nil {
		return nil, root.AsWritten(err)
	}
	for c := range m.Classes {
		d.visits[c] = file.RowsByName(len(m.Classes[c].Visits), func(v int) int {
			return m.Classes[c].Visits[v].Station
		})
	}
	classes := root.Get("classes").Kids
	for c := range classes {
		if err := d.class(&classes[c], c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// class decodes the nodes of visits, the reference, and the routing.
func (d *decoder) class(n *file.Node, c int) (err error) {
	class, path := &d.model.Classes[c], input.Index("classes", c)
	visits := n.Get("visits").Kids
	for v := range visits {
		if n := visits[v].Get("nodes"); n != nil {
			if class.Visits[v].Nodes, err = d.nodeNames(n, visitPath(c, v)+
				".nodes", class.Visits[v].Station); err != nil {
				return err
			}
		}
	}
	if n := n.Get("reference"); n != nil {
		if class.Reference, err = d.visitOf(n, path+".reference", c); err != nil {
			return err
		}
	}
	if n := n.Get("arrives"); n != nil {
		if class.Arrives, err = d.branches(n, path+".arrives", c); err != nil {
			return err
		}
	}
	for v := range visits {
		if n := visits[v].Get("next"); n != nil {
			if class.Visits[v].Next, err = d.branches(n, visitPath(c, v)+".next", c); err != nil {
				return err
			}
		}
	}
	return nil
}

// nodeNames decodes names of nodes of station i.
func (d *decoder) nodeNames(n *file.Node, path string, i int) ([]int, error) {
	station := &d.model.Stations[i]
	if d.nodes[i] == nil {
		d.nodes[i] = file.RowsByName(len(station.Nodes), func(k int) string { return station.Nodes[k].Name })
	}
	return file.DecodeList(n, path, "an array of names of nodes", func(n *file.Node, path string) (int, error) {
		return n.Row(path, "node of station "+input.Quote(station.Name), d.nodes[i])
	})
}

// visitOf decodes the name of a station that class c visits.
func (d *decoder) visitOf(n *file.Node, path string, c int) (int, error) {
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

// branches decodes an object from names of stations to probabilities.
func (d *decoder) branches(n *file.Node, path string, c int) ([]Branch, error) {
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

// maxSlashes is the maximum number of ways to split a name in next into station/class.
const maxSlashes = 100

// branch resolves a name in next of class c: out, a station that the class visits, or
// station/class.
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
	if strings.Count(end, "/") > maxSlashes {
		return b, input.Errorf(path, strconv.Quote(end), "a name with at most %d slashes", maxSlashes)
	}
	for at := range end { // names themselves may contain slashes
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
		return b, input.Errorf(path, strconv.Quote(end),
			"a station that the class visits; %s is not among its visits", input.Quote(end))
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
	return b, input.Errorf(path, strconv.Quote(end), "a station that the class visits, station/class, or out%s",
		file.DidYouMean(end, slices.Values(known), input.Quote))
}
