package line

import (
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/internal/file"
	"productform/internal/input"
	"productform/network"
)

// Read reads a network from a text in JSON or YAML: in LINE's format if it has the field format,
// otherwise as [network.Read].
//
// Numbers are read exactly as written, and the mean of Exp is 1/lambda. Probabilities of a row are
// rounded to float64 in such files: if their sum is within 1e-12 of 1, they are divided by it. LINE
// files also list visits that no job makes. These are omitted, and so are classes without visits.
// Routers and nodes of the type ClassSwitch become branches of the stations before them. Jobs that
// change their class between the source and the first station arrive in the class that they have
// there. The cycle of a closed chain is from one visit of its first class to refNode to the next.
//
// The error is a *[num.SyntaxError], or wraps a *[num.InputError] with the line and the path of the
// field.
func Read(r io.Reader) (*network.Model, error) { return read(r, file.Auto) }

// ReadFile reads the file as JSON if its name ends in .json, as YAML if it ends in .yaml or .yml,
// otherwise as [Read]. Errors start with the name of the file.
func ReadFile(name string) (*network.Model, error) { return file.ReadFile(name, read) }

func read(r io.Reader, format file.Format) (*network.Model, error) {
	root, err := file.Read(r, format, "a network with stations and classes")
	if err != nil {
		return nil, err
	}
	if root.Kind != file.ObjectKind || !slices.Contains(root.Keys, "format") {
		return file.Decode[network.Model](root)
	}
	m, err := decode(root)
	if err != nil {
		return nil, root.Locate(err)
	}
	return m, nil
}

// A document is a LINE model as written.
type document struct {
	nodes   []node
	nodeOf  map[string]int
	classes []class
	classOf map[string]int
	route   map[place][]branch // branches by the node that is left and the class at that time
}

// A node is a node of the file.
type node struct {
	kind     string           // type of the node
	station  network.Station  // station of a Delay or Queue
	index    int              // index of the station in the model
	mean     map[int]*big.Rat // mean size by class row, for the classes that have service there
	rate     map[int]*big.Rat // arrival rates of a Source by class
	switches map[int][]branch // branches of a ClassSwitch by class; their nodes are not used
	scaling  []*big.Rat       // rates of a loadDependence
}

// A class is a class of the file.
type class struct {
	name       string
	closed     bool
	population int
	home       int // node of the reference, -1 if there is none
}

// A place is a class at a node.
type place struct{ node, class int }

// A branch leads to a place with some probability.
type branch struct {
	to          place
	probability *big.Rat
}

func decode(root *file.Node) (*network.Model, error) {
	f, err := root.Fields("", "a model of LINE", "format", "version", "model")
	if err != nil {
		return nil, err
	}
	if err := isText(f["format"], "format", "line-model"); err != nil {
		return nil, err
	}
	if err := isText(f["version"], "version", "1.0"); err != nil {
		return nil, err
	}
	if f["model"] == nil {
		return nil, input.Errorf("model", "", "an object with nodes, classes and routing")
	}
	// The name and initialState do not affect the steady state and are ignored.
	g, err := f["model"].Fields(
		"model", "an object with nodes, classes and routing", "type", "name", "nodes", "classes",
		"routing", "routingStrategies", "initialState",
	)
	if err != nil {
		return nil, err
	}
	if err := isText(g["type"], "model.type", "Network"); err != nil {
		return nil, err
	}
	d := &document{route: map[place][]branch{}}
	if d.classOf, err = names(g["classes"], "model.classes"); err != nil {
		return nil, err
	}
	if d.nodeOf, err = names(g["nodes"], "model.nodes"); err != nil {
		return nil, err
	}
	d.nodes, d.classes = make([]node, len(g["nodes"].Kids)), make([]class, len(g["classes"].Kids))
	for i := range d.nodes {
		if err := d.node(&g["nodes"].Kids[i], i); err != nil {
			return nil, err
		}
	}
	for c := range d.classes {
		if err := d.class(&g["classes"].Kids[c], c); err != nil {
			return nil, err
		}
	}
	if err := d.routing(g["routing"]); err != nil {
		return nil, err
	}
	if err := d.strategies(g["routingStrategies"]); err != nil {
		return nil, err
	}
	return d.build()
}

// isText rejects all texts except one.
func isText(n *file.Node, path, want string) error {
	if n == nil {
		return input.Errorf(path, "", "%q", want)
	}
	if n.Kind != file.TextKind || n.Text != want {
		return input.Errorf(path, n, "%q", want)
	}
	return nil
}

// names returns the rows of a list by their names, which must differ.
func names(n *file.Node, path string) (map[string]int, error) {
	list, err := n.Elements(path, "an array of objects")
	if err != nil {
		return nil, err
	}
	rows := make(map[string]int, len(list))
	for i := range list {
		keys, values, err := list[i].Entries(input.Index(path, i), "an object with a name")
		if err != nil {
			return nil, err
		}
		k := slices.Index(keys, "name")
		if k < 0 {
			return nil, input.Errorf(input.Index(path, i)+".name", "", input.Name)
		}
		name, err := values[k].Name(input.Index(path, i) + ".name")
		if err != nil {
			return nil, err
		}
		if err := input.CheckName(rows, path, i, name); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

const wantType = "one of Source, Sink, Queue, Delay, Router, ClassSwitch; other types have no product form, or none " +
	"that is supported"

func (d *document) node(n *file.Node, i int) error {
	path := input.Index("model.nodes", i)
	f, err := n.Fields(
		path, "", "name", "type", "scheduling", "servers", "buffer", "service", "loadDependence", "classSwitchMatrix",
	)
	if err != nil {
		return err
	}
	s := &d.nodes[i]
	s.station.Name = f["name"].Text
	if f["type"] == nil || f["type"].Kind != file.TextKind {
		return input.Errorf(path+".type", shown(f["type"]), wantType)
	}
	s.kind = f["type"].Text
	allowed := map[string][]string{
		"Source":      {"service", "scheduling"},
		"Sink":        {},
		"Router":      {},
		"ClassSwitch": {"classSwitchMatrix"},
		"Delay":       {"service", "scheduling", "servers", "buffer"},
		"Queue":       {"service", "scheduling", "servers", "buffer", "loadDependence"},
	}[s.kind]
	if allowed == nil {
		return input.Errorf(path+".type", strconv.Quote(s.kind), wantType)
	}
	for _, field := range n.Keys {
		if field != "name" && field != "type" && !slices.Contains(allowed, field) {
			return input.Errorf(path+"."+field, f[field], "no such field at a %s", s.kind)
		}
	}
	if b := f["buffer"]; b != nil && b.Text != "-1" {
		return input.Errorf(path+".buffer", b, "-1, no limit: jobs are neither lost nor blocked")
	}
	switch s.kind {
	case "Source":
		return d.source(f["service"], path+".service", s)
	case "ClassSwitch":
		return d.classSwitch(f["classSwitchMatrix"], path+".classSwitchMatrix", i)
	case "Delay", "Queue":
		if err := d.station(f, path, s); err != nil {
			return err
		}
		return d.service(f["service"], path+".service", s)
	}
	return nil
}

// shown formats a value for error messages; it returns "" if the value is missing.
func shown(n *file.Node) any {
	if n == nil {
		return ""
	}
	return n
}

// station reads the station at a node.
func (d *document) station(f map[string]*file.Node, path string, s *node) error {
	scheduling := "INF"
	if n := f["scheduling"]; n != nil {
		scheduling = n.Text
	} else if s.kind == "Queue" {
		return input.Errorf(path+".scheduling", "", "one of INF, FCFS, PS, LCFSPR, SIRO")
	}
	disciplines := map[string]network.Discipline{"INF": network.Delay, "FCFS": network.FCFS, "PS": network.Sharing,
		"LCFSPR": network.LCFS, "SIRO": network.Random}
	if s.kind == "Delay" {
		disciplines = map[string]network.Discipline{"INF": network.Delay}
	}
	var ok bool
	if s.station.Discipline, ok = disciplines[scheduling]; !ok {
		return input.Errorf(path+".scheduling", f["scheduling"],
			"one of INF (the only one of a Delay), FCFS, PS, LCFSPR, SIRO: no other strategy is supported")
	}
	if n := f["servers"]; n != nil && s.station.Discipline == network.Delay {
		if n.Text != "-1" && n.Text != "1" {
			return input.Errorf(path+".servers", n, "-1 or none with INF")
		}
	} else if n != nil {
		var err error
		if s.station.Servers, err = n.Integer(path+".servers", 1_000_000, "an integer from 1 to 1000000"); err != nil {
			return err
		}
	}
	if n := f["loadDependence"]; n != nil {
		g, err := n.Fields(path+".loadDependence", "an object with type and scaling", "type", "scaling")
		if err != nil {
			return err
		}
		if err := isText(g["type"], path+".loadDependence.type", "loadDependent"); err != nil {
			return err
		}
		if s.station.Discipline == network.Delay || s.station.Servers > 1 {
			return input.Errorf(path+".loadDependence", n, "one at a Queue with one server only")
		}
		list, err := g["scaling"].Elements(path+".loadDependence.scaling", "an array of factors")
		if err != nil {
			return err
		}
		for k := range list {
			x, err := list[k].Rat(input.Index(path+".loadDependence.scaling", k), input.Positive)
			if err != nil {
				return err
			}
			if x.Sign() <= 0 {
				return input.Errorf(input.Index(path+".loadDependence.scaling", k), x.RatString(), input.Positive)
			}
			s.scaling = append(s.scaling, x)
		}
		s.station.Servers = 0
	}
	return nil
}

// byClass calls set for each class of an object by names of classes.
func (d *document) byClass(n *file.Node, path, want string, set func(c int, n *file.Node, path string) error) error {
	if n == nil {
		return nil
	}
	keys, values, err := n.Entries(path, want)
	if err != nil {
		return err
	}
	for k, key := range keys {
		c, err := d.find(d.classOf, key, input.Field(path, key), "class")
		if err != nil {
			return err
		}
		if err := set(c, &values[k], input.Field(path, key)); err != nil {
			return err
		}
	}
	return nil
}

// find returns the row with the given name.
func (d *document) find(rows map[string]int, name, path, what string) (int, error) {
	if i, ok := rows[name]; ok {
		return i, nil
	}
	known := make([]string, len(rows))
	for name, i := range rows {
		known[i] = name
	}
	return 0, input.Errorf(path, strconv.Quote(name), "%s", file.WantName("the name of a "+what, name, known))
}

// service reads mean sizes.
func (d *document) service(n *file.Node, path string, s *node) error {
	s.mean = map[int]*big.Rat{}
	return d.byClass(n, path, "an object that maps classes to distributions", func(
		c int, n *file.Node, path string,
	) error {
		mean, exponential, err := distribution(n, path)
		if err != nil || mean == nil {
			return err
		}
		if !exponential && s.station.NeedsExponential() {
			return input.Errorf(path, n,
				"Exp: with FCFS, SIRO, and LCFSPR with several servers, only exponential sizes have a product form")
		}
		s.mean[c] = mean
		return nil
	})
}

// source reads arrival rates.
func (d *document) source(n *file.Node, path string, s *node) error {
	s.rate = map[int]*big.Rat{}
	return d.byClass(n, path, "an object that maps classes to distributions", func(
		c int, n *file.Node, path string,
	) error {
		mean, exponential, err := distribution(n, path)
		if err != nil || mean == nil {
			return err
		}
		if !exponential {
			return input.Errorf(path, n, "Exp, since arrivals must be Poisson processes")
		}
		s.rate[c] = new(big.Rat).Inv(mean)
		return nil
	})
}

func positive(n *file.Node, path string) (*big.Rat, error) {
	x, err := n.Rat(path, input.Positive)
	if err == nil && x.Sign() <= 0 {
		err = input.Errorf(path, n, input.Positive)
	}
	return x, err
}

func (d *document) classSwitch(n *file.Node, path string, i int) error {
	if n == nil {
		return input.Errorf(path, "", "an object that maps classes to objects of classes and probabilities")
	}
	s := &d.nodes[i]
	s.switches = map[int][]branch{}
	return d.byClass(n, path, "an object that maps classes to objects of classes and probabilities", func(
		c int, n *file.Node, path string,
	) error {
		err := d.byClass(n, path, "an object that maps classes to probabilities", func(
			to int, n *file.Node, path string,
		) error {
			p, err := probability(n, path)
			if err == nil && p.Sign() > 0 {
				s.switches[c] = append(s.switches[c], branch{place{i, to}, p})
			}
			return err
		})
		if err != nil {
			return err
		}
		return divide(s.switches[c], path)
	})
}

func probability(n *file.Node, path string) (*big.Rat, error) {
	p, err := n.Rat(path, "a probability, a number >= 0")
	if err == nil && p.Sign() < 0 {
		err = input.Errorf(path, n, "a probability, a number >= 0")
	}
	return p, err
}

// divide divides probabilities by their sum if it is 1 within rounding.
func divide(branches []branch, path string) error {
	sum := new(big.Rat)
	for _, b := range branches {
		sum.Add(sum, b.probability)
	}
	gap := new(big.Rat).Sub(sum, big.NewRat(1, 1))
	if gap.Abs(gap).Cmp(big.NewRat(1, 1_000_000_000_000)) > 0 {
		f, _ := sum.Float64()
		return input.Errorf(path, "a sum of "+strconv.FormatFloat(f, 'g', -1, 64), "probabilities that sum to 1")
	}
	for k := range branches {
		branches[k].probability = new(big.Rat).Quo(branches[k].probability, sum)
	}
	return nil
}

func (d *document) class(n *file.Node, c int) error {
	path := input.Index("model.classes", c)
	// which the accepted strategies do not use
	f, err := n.Fields(path, "", "name", "type", "population", "refNode", "priority")
	if err != nil {
		return err
	}
	k := &d.classes[c]
	k.name, k.home = f["name"].Text, -1
	if f["type"] == nil || f["type"].Text != "Open" && f["type"].Text != "Closed" {
		return input.Errorf(path+".type", shown(f["type"]), "Open or Closed")
	}
	k.closed = f["type"].Text == "Closed"
	if n := f["refNode"]; n != nil {
		if k.home, err = d.find(d.nodeOf, n.Text, path+".refNode", "node"); err != nil {
			return err
		}
	}
	if !k.closed {
		if f["population"] != nil {
			return input.Errorf(path+".population", f["population"], "no such field of an Open class")
		}
		return nil
	}
	const most = 1_000_000_000
	x, err := f["population"].Rat(path+".population", "an integer from 0 to 1000000000")
	if err != nil {
		return err
	}
	if !x.IsInt() || x.Sign() < 0 || x.Cmp(big.NewRat(most, 1)) > 0 {
		return input.Errorf(path+".population", f["population"], "an integer from 0 to 1000000000")
	}
	k.population = int(x.Num().Int64())
	if k.home < 0 || d.nodes[k.home].mean == nil {
		return input.Errorf(path+".refNode", shown(f["refNode"]), "the name of a Queue or Delay")
	}
	return nil
}

// routing reads the matrix.
func (d *document) routing(n *file.Node) error {
	const want = `an object with type "matrix" and the matrix of probabilities`
	if n == nil {
		return input.Errorf("model.routing", "", want)
	}
	f, err := n.Fields("model.routing", want, "type", "matrix")
	if err != nil {
		return err
	}
	if err := isText(f["type"], "model.routing.type", "matrix"); err != nil {
		return err
	}
	const path = "model.routing.matrix"
	keys, blocks, err := f["matrix"].Entries(path, `an object from "class,class" to probabilities`)
	if err != nil {
		return err
	}
	rows := map[place]string{} // the path of each
	var order []place
	for k, key := range keys {
		path := input.Field(path, key)
		from, to, err := d.pair(key, path)
		if err != nil {
			return err
		}
		nodes, ends, err := blocks[k].Entries(path, "an object from nodes to nodes with probabilities")
		if err != nil {
			return err
		}
		for a, name := range nodes {
			path := input.Field(path, name)
			at, err := d.find(d.nodeOf, name, path, "node")
			if err != nil {
				return err
			}
			names, values, err := ends[a].Entries(path, "an object from nodes to probabilities")
			if err != nil {
				return err
			}
			if rows[place{at, from}] == "" {
				order = append(order, place{at, from})
			}
			rows[place{at, from}] = path
			for b, name := range names {
				path := input.Field(path, name)
				end, err := d.find(d.nodeOf, name, path, "node")
				if err != nil {
					return err
				}
				p, err := probability(&values[b], path)
				if err != nil {
					return err
				}
				if p.Sign() > 0 {
					d.route[place{at, from}] = append(d.route[place{at, from}], branch{place{end, to}, p})
				}
			}
		}
	}
	for _, at := range order {
		if len(d.route[at]) == 0 {
			continue
		}
		if err := divide(d.route[at], rows[at]); err != nil {
			return err
		}
	}
	return nil
}

// pair finds the classes of a key such as "A,B". Names themselves may contain commas.
func (d *document) pair(key, path string) (from, to int, err error) {
	found := 0
	const most = 100 // maximum number of ways to read a key
	if strings.Count(key, ",") > most {
		return 0, 0, input.Errorf(path, strconv.Quote(key), "a name with at most %d commas", most)
	}
	for at := range key {
		if key[at] != ',' {
			continue
		}
		a, ok := d.classOf[key[:at]]
		b, also := d.classOf[strings.TrimPrefix(key[at+1:], " ")]
		if ok && also {
			from, to = a, b
			found++
		}
	}
	if found != 1 {
		return 0, 0, input.Errorf(path, strconv.Quote(key), "the names of two classes with a comma between them")
	}
	return from, to, nil
}

// strategies rejects routing strategies that are not given by probabilities.
func (d *document) strategies(n *file.Node) error {
	if n == nil {
		return nil
	}
	const path = "model.routingStrategies"
	keys, values, err := n.Entries(path, "an object from nodes to classes with strategies")
	if err != nil {
		return err
	}
	for k, key := range keys {
		err := d.byClass(&values[k], input.Field(path, key), "an object that maps classes to strategies", func(
			c int, n *file.Node, path string,
		) error {
			if n.Kind != file.TextKind || n.Text != "RAND" && n.Text != "PROB" && n.Text != "DISABLED" {
				return input.Errorf(path, n, "RAND, PROB or DISABLED, which the matrix describes")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
