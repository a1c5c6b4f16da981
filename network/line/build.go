package line

import (
	"errors"
	"math/big"

	"productform/internal/input"
	"productform/network"
)

// A builder builds a model from the states that jobs can reach.
type builder struct {
	*document
	model   *network.Model
	through map[place][]branch // from a node that is not a station to stations and sinks, as far as known
	onPath  map[place]bool
	visits  map[place]int // row of each visit in the model by class of the file, in the order in which they are found
	counts  []int         // number of visits, by class
	found   []place
	rows    []int // row in the model of each class of the file, -1 if it has none
}

// build makes the model of a file.
func (d *document) build() (*network.Model, error) {
	b := &builder{
		document: d,
		model:    &network.Model{},
		through:  map[place][]branch{},
		onPath:   map[place]bool{},
		visits:   map[place]int{},
		counts:   make([]int, len(d.classes)),
	}
	for i := range d.nodes {
		if n := &d.nodes[i]; n.mean != nil {
			n.index = len(b.model.Stations)
			b.model.Stations = append(b.model.Stations, n.station)
		}
	}
	arrivals, err := b.arrivals()
	if err != nil {
		return nil, err
	}
	for c, k := range d.classes {
		if k.population > 0 {
			if err := b.find(place{k.home, c}); err != nil {
				return nil, err
			}
		}
	}
	next := map[place][]branch{}
	for at := 0; at < len(b.found); at++ { // found grows meanwhile
		if next[b.found[at]], err = b.nextStations(b.found[at]); err != nil {
			return nil, err
		}
		for _, to := range next[b.found[at]] {
			if err := b.find(to.to); err != nil {
				return nil, err
			}
		}
	}
	b.addClasses(arrivals, next)
	if err := b.scale(); err != nil {
		return nil, err
	}
	b.setReferences()
	return b.model, b.check()
}

// find registers a place that jobs can reach, unless it is a sink.
func (b *builder) find(at place) error {
	n := &b.nodes[at.node]
	if n.kind == "Sink" {
		return nil
	}
	if _, ok := b.visits[at]; ok {
		return nil
	}
	if n.mean[at.class] == nil {
		return input.Errorf(input.Field(input.Index("model.nodes", at.node)+".service", b.classes[at.class].name), "",
			"a distribution, because jobs of the class get to %s", input.Quote(n.station.Name))
	}
	b.visits[at] = b.counts[at.class]
	b.counts[at.class]++
	b.found = append(b.found, at)
	return nil
}

// arrivals returns the rates at which jobs arrive at stations, in the class they have there.
func (b *builder) arrivals() (map[place]*big.Rat, error) {
	rates := map[place]*big.Rat{}
	for i := range b.nodes {
		for c := range b.classes {
			rate := b.nodes[i].rate[c]
			if rate == nil {
				continue
			}
			if b.classes[c].closed {
				return nil, input.Errorf(
					input.Field(input.Index("model.nodes", i)+".service", b.classes[c].name), "arrivals",
					"none of a Closed class",
				)
			}
			ends, err := b.nextStations(place{i, c})
			if err != nil {
				return nil, err
			}
			for _, end := range ends {
				if b.nodes[end.to.node].kind == "Sink" {
					return nil, input.Errorf(
						input.Index("model.nodes", i), input.Quote(b.nodes[i].station.Name),
						"arriving jobs that get to a station",
					)
				}
				if err := b.find(end.to); err != nil {
					return nil, err
				}
				if rates[end.to] == nil {
					rates[end.to] = new(big.Rat)
				}
				rates[end.to].Add(rates[end.to], new(big.Rat).Mul(rate, end.probability))
			}
		}
	}
	return rates, nil
}

// nextStations returns the stations and sinks that jobs reach next from a place, through nodes that
// are not stations.
func (b *builder) nextStations(at place) ([]branch, error) {
	n := &b.nodes[at.node]
	known, ok := b.through[at]
	if ok {
		return known, nil
	}
	if b.onPath[at] {
		return nil, input.Errorf(
			input.Index("model.nodes", at.node), input.Quote(n.station.Name),
			"no cycle of nodes that are not stations",
		)
	}
	b.onPath[at] = true
	ways := []branch{{at, big.NewRat(1, 1)}}
	if n.switches != nil {
		if ways = n.switches[at.class]; ways == nil {
			return nil, input.Errorf(
				input.Field(input.Index("model.nodes", at.node)+".classSwitchMatrix", b.classes[at.class].name),
				"", "probabilities, because jobs of the class get there",
			)
		}
	}
	var order []place
	sums := map[place]*big.Rat{}
	for _, way := range ways {
		route := b.route[way.to]
		if len(route) == 0 {
			return nil, input.Errorf("model.routing.matrix", "", "where jobs of %s go after %s",
				input.Quote(b.classes[way.to.class].name), input.Quote(n.station.Name))
		}
		for _, step := range route {
			ends := []branch{{step.to, big.NewRat(1, 1)}}
			switch to := &b.nodes[step.to.node]; {
			case to.kind == "Source":
				return nil, input.Errorf(
					"model.routing.matrix", "a way to "+input.Quote(to.station.Name), "none to a Source",
				)
			case to.kind != "Sink" && to.mean == nil:
				var err error
				if ends, err = b.nextStations(step.to); err != nil {
					return nil, err
				}
			}
			for _, end := range ends {
				p := new(big.Rat).Mul(way.probability, step.probability)
				p.Mul(p, end.probability)
				if sums[end.to] == nil {
					order = append(order, end.to)
					sums[end.to] = new(big.Rat)
				}
				sums[end.to].Add(sums[end.to], p)
			}
		}
	}
	b.onPath[at] = false
	ends := make([]branch, len(order))
	for k, to := range order {
		ends[k] = branch{to, sums[to]}
	}
	b.through[at] = ends
	return ends, nil
}

// addClasses adds the classes that jobs can reach.
func (b *builder) addClasses(arrivals map[place]*big.Rat, next map[place][]branch) {
	b.rows = make([]int, len(b.classes))
	for c := range b.classes {
		b.rows[c] = -1
		if b.counts[c] > 0 {
			b.rows[c] = len(b.model.Classes)
			b.model.Classes = append(b.model.Classes, network.Class{
				Name:       b.classes[c].name,
				Population: b.classes[c].population,
			})
		}
	}
	for _, at := range b.found {
		class, n := &b.model.Classes[b.rows[at.class]], &b.nodes[at.node]
		visit := network.Visit{Station: n.index, MeanSize: n.mean[at.class]}
		var leaves *big.Rat
		for _, end := range next[at] {
			if b.nodes[end.to.node].kind == "Sink" {
				if leaves == nil {
					leaves = new(big.Rat)
				}
				leaves.Add(leaves, end.probability)
				continue
			}
			visit.Next = append(visit.Next, network.Branch{
				Class:       b.rows[end.to.class],
				Visit:       b.visits[end.to],
				Probability: end.probability,
			})
		}
		if leaves != nil {
			visit.Next = append(visit.Next, network.Branch{Class: network.Leaves, Probability: leaves})
		}
		if rate := arrivals[at]; rate != nil {
			if class.ArrivalRate == nil {
				class.ArrivalRate = new(big.Rat)
			}
			class.ArrivalRate.Add(class.ArrivalRate, rate)
			class.Arrives = append(class.Arrives, network.Branch{
				Class:       b.rows[at.class],
				Visit:       len(class.Visits),
				Probability: rate,
			})
		}
		class.Visits = append(class.Visits, visit)
	}
	for c := range b.model.Classes {
		class := &b.model.Classes[c]
		for k := range class.Arrives {
			class.Arrives[k].Probability = new(big.Rat).Quo(class.Arrives[k].Probability, class.ArrivalRate)
		}
	}
}

// scale sets rates that depend on the number of jobs. They are given for numbers up to the total
// number of jobs or more.
func (b *builder) scale() error {
	jobs := 0
	for _, k := range b.classes {
		jobs += k.population
	}
	for i := range b.nodes {
		n := &b.nodes[i]
		if n.scaling == nil {
			continue
		}
		path := input.Index("model.nodes", i) + ".loadDependence.scaling"
		if len(n.scaling) < jobs {
			return input.Errorf(path, len(n.scaling), "a factor for each number of jobs up to all %d", jobs)
		}
		for _, at := range b.found {
			if at.node == i && !b.classes[at.class].closed {
				return input.Errorf(path, len(n.scaling),
					"closed classes only at %s: an open class may have any number of jobs",
					input.Quote(n.station.Name))
			}
		}
		b.model.Stations[n.index].Rates = n.scaling
	}
	return nil
}

// setReferences makes visits to the reference nodes of the first classes of closed chains those of
// the cycles.
func (b *builder) setReferences() {
	chain := make([]int, len(b.model.Classes))
	for c := range chain {
		chain[c] = c
	}
	for changed := true; changed; {
		changed = false
		for c := range b.model.Classes {
			for _, v := range b.model.Classes[c].Visits {
				for _, to := range v.Next {
					if to.Class != network.Leaves && chain[c] != chain[to.Class] {
						chain[c] = min(chain[c], chain[to.Class])
						chain[to.Class] = chain[c]
						changed = true
					}
				}
			}
		}
	}
	for c, k := range b.classes {
		row := b.rows[c]
		if row < 0 || chain[row] != row || !k.closed {
			continue
		}
		if v, ok := b.visits[place{k.home, c}]; ok {
			b.model.Classes[row].Reference = v
		}
	}
}

// check rejects the same models as [network.Model.Check], with errors about the network that the
// file describes.
func (b *builder) check() error {
	err := b.model.Check()
	if err == nil {
		err = b.model.CheckSizes()
	}
	var bad *input.Error
	if errors.As(err, &bad) {
		return &input.Error{Path: "model", Value: "a network whose " + bad.Path + " is " + bad.Value, Want: bad.Want}
	}
	return err
}
