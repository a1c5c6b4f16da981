package cluster

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/internal/ranktable"
	"productform/num"
)

// A Component is a part of a model that shares no server with the others, in its smallest form.
// Every class has a positive rate, every server a positive capacity, no two classes have the same
// choices and mean timeout, and no two single servers the same classes. No group is always chosen
// completely: such a group becomes one server of the summed capacity. Its Model comes from
// [Model.EqualSizes] with mean size 1: capacities are divided by σ, so they count jobs per unit of
// time.
type Component struct {
	Model   Model
	Servers [][]int // Servers[s] lists the rows of the original model merged into Model.Servers[s]
	Classes [][]int // Classes[i] lists the rows of the original model merged into Model.Classes[i]
}

// Reduce returns the components of a model that has passed [Model.Check]. With A the image of a set
// of classes of positive rate, spread over the components, the rank function keeps its value:
// μ(A)/σ = Σ_components μ(A). All stationary measures also keep their values (under balanced
// fairness, if mean sizes differ), and the normalizations multiply.
//
// Reduce drops classes of rate 0 and servers without work, that is, of capacity 0 or without a
// class of positive rate. It then merges
//
//  1. classes with the same choices and mean timeout: their rates add, their jobs split in
//     proportion (to λ_i σ_i, if mean sizes differ);
//  2. a group chosen completely by all classes that use it, into one server of Count C_s;
//  3. single servers (those of step 2 among them) used by the same classes: their capacities add.
//
// One pass suffices: steps 2 and 3 map the choices of different classes to different choices, and
// step 1 only merges equal classes. For the Model of a component, Reduce returns that component.
//
// Rows keep the order and the name of the first row merged into them; components are in the order
// of their first row of servers; the lists of rows increase. Numbers are new, m is not modified.
// For a total of E choices it takes O(E log E) time and O(E) memory, in addition to the arithmetic:
// the sum of many fractions has a long denominator, and may exceed the length that Check accepts.
//
// The error is a *[num.InputError] for the service [Gang], a *[num.TooLargeError] if the sum of
// some rows has a denominator of more than [num.LongestSum] bits, or ctx.Err() promptly after ctx
// is done.
func (m *Model) Reduce(ctx context.Context) ([]Component, error) {
	if err := m.RequireService(AllServers, OneServer); err != nil {
		return nil, err
	}
	r := &reduction{ctx: ctx, m: m.EqualSizes()}
	r.classes = r.mergeClasses()
	if r.err == nil {
		r.servers = r.mergeServers()
	}
	if r.err != nil {
		return nil, r.err
	}
	parts := r.components()
	if r.err != nil {
		return nil, r.err
	}
	return parts, nil
}

// A reduction holds the rows of m that are merged into each reduced class and server. Once err is
// set, the results of its methods are invalid.
type reduction struct {
	ctx     context.Context
	err     error
	m       *Model
	classes [][]int
	servers [][]int
}

// positiveChoices returns the choices of a class from servers of positive capacity, by increasing
// row.
func (r *reduction) positiveChoices(class int) []Choice {
	choices := slices.Clone(r.m.Classes[class].Servers)
	choices = slices.DeleteFunc(choices, func(c Choice) bool { return r.m.Servers[c.Server].Capacity.Sign() == 0 })
	slices.SortFunc(choices, func(a, b Choice) int { return cmp.Compare(a.Server, b.Server) })
	return choices
}

// mergeClasses groups the classes of positive rate by their choices and mean timeouts.
func (r *reduction) mergeClasses() [][]int {
	var p partition
	var key []byte
	for i, c := range r.m.Classes {
		if r.ended() {
			return nil
		}
		if c.ArrivalRate.Sign() == 0 {
			continue
		}
		key = key[:0]
		for _, choice := range r.positiveChoices(i) {
			key = binary.AppendUvarint(key, uint64(choice.Server))
			key = binary.AppendUvarint(key, uint64(choice.Choose))
		}
		if mean := r.m.TimeoutOf(i); mean != nil {
			key = append(append(key, 0, 0), mean.RatString()...) // no choice has 0 servers
		}
		p.add(string(key), i)
	}
	return p.parts
}

// mergeServers groups the single servers by the reduced classes that use them. A row with a unique
// key is a group that some class chooses in part.
func (r *reduction) mergeServers() [][]int {
	users := make([][]byte, len(r.m.Servers)) // the reduced classes that use the row, encoded
	whole := make([]bool, len(r.m.Servers))   // chosen completely by all of them
	for s := range whole {
		whole[s] = true
	}
	for i, rows := range r.classes {
		if r.ended() {
			return nil
		}
		for _, c := range r.positiveChoices(rows[0]) {
			users[c.Server] = binary.AppendUvarint(users[c.Server], uint64(i)+1)
			whole[c.Server] = whole[c.Server] && c.Choose == r.m.Servers[c.Server].Size()
		}
	}
	var p partition
	for s, key := range users {
		if key == nil {
			continue
		}
		if !whole[s] {
			key = binary.AppendUvarint([]byte{0}, uint64(s)) // classes are numbered from 1
		}
		p.add(string(key), s)
	}
	return p.parts
}

// components links the reduced servers through the reduced classes and builds the parts.
func (r *reduction) components() []Component {
	merged := make([]int, len(r.m.Servers)) // 1 + the reduced server, at its first row
	for s, rows := range r.servers {
		merged[rows[0]] = s + 1
	}
	choices := make([][]Choice, len(r.classes)) // choices of reduced servers
	grouped := make([]bool, len(r.servers))     // the reduced server is still a group
	links := ranktable.Singles(len(r.servers))
	for i, rows := range r.classes {
		if r.ended() {
			return nil
		}
		for _, c := range r.positiveChoices(rows[0]) {
			if s := merged[c.Server] - 1; s >= 0 {
				choices[i] = append(choices[i], Choice{Server: s, Choose: c.Choose})
				grouped[s] = grouped[s] || c.Choose < r.m.Servers[c.Server].Size()
				links.Join(choices[i][0].Server, s)
			}
		}
	}
	var parts []Component
	partOf := make(map[int]int)             // component by the root of its tree
	position := make([]int, len(r.servers)) // position of a reduced server within its component
	for s, rows := range r.servers {
		if r.ended() {
			return nil
		}
		k, ok := partOf[links.Root(s)]
		if !ok {
			k = len(parts)
			partOf[links.Root(s)] = k
			parts = append(parts, Component{})
		}
		p := &parts[k]
		position[s] = len(p.Servers)
		p.Servers = append(p.Servers, rows)
		p.Model.Servers = append(p.Model.Servers, r.server(rows, grouped[s]))
	}
	for i, rows := range r.classes {
		if r.ended() {
			return nil
		}
		p := &parts[partOf[links.Root(choices[i][0].Server)]]
		p.Classes = append(p.Classes, rows)
		p.Model.Classes = append(p.Model.Classes, r.class(rows, choices[i], position, grouped))
	}
	return parts
}

// server merges rows: a group remains separate and keeps its count, and all other rows become one
// server.
func (r *reduction) server(rows []int, group bool) Server {
	first := r.m.Servers[rows[0]]
	s := Server{Name: first.Name, Count: 1}
	if group {
		s.Count = first.Size()
		s.Capacity = new(big.Rat).Set(first.Capacity)
	} else {
		s.Capacity = r.sum("servers", rows, func(row int) *big.Rat {
			size := new(big.Rat).SetInt64(int64(r.m.Servers[row].Size()))
			return size.Mul(size, r.m.Servers[row].Capacity)
		})
	}
	if r.m.MeanSize != nil {
		s.Capacity.Quo(s.Capacity, r.m.MeanSize)
	}
	return s
}

// class merges rows, given their common choices of reduced servers.
func (r *reduction) class(rows []int, choices []Choice, position []int, grouped []bool) Class {
	c := Class{
		Name:        r.m.Classes[rows[0]].Name,
		ArrivalRate: r.sum("classes", rows, func(row int) *big.Rat { return r.m.Classes[row].ArrivalRate }),
		Servers:     make([]Choice, len(choices)),
		MeanTimeout: r.m.TimeoutOf(rows[0]),
	}
	for k, choice := range choices {
		c.Servers[k] = Choice{Server: position[choice.Server], Choose: 1}
		if grouped[choice.Server] {
			c.Servers[k].Choose = choice.Choose
		}
	}
	return c
}

// ended reports whether the reduction must stop.
func (r *reduction) ended() bool {
	if r.err == nil {
		r.err = r.ctx.Err()
	}
	return r.err != nil
}

// sum adds the values of rows.
func (r *reduction) sum(path string, rows []int, value func(row int) *big.Rat) *big.Rat {
	if len(rows) == 1 {
		return new(big.Rat).Set(value(rows[0]))
	}
	x, err := num.BoundedSumRats(r.ctx, len(rows), func(k int) *big.Rat { return value(rows[k]) })
	if errors.Is(err, num.ErrLongSum) {
		err = &num.TooLargeError{Input: input.Errorf(path, fmt.Sprintf("%d rows that are merged", len(rows)),
			"fractions whose sum has a denominator of at most %d bits (fewer digits, or multiples of one fraction)",
			num.LongestSum)}
	}
	if err != nil {
		r.err = err
		return new(big.Rat)
	}
	return x
}

// A partition collects rows with equal keys, in order of their first row.
type partition struct {
	parts [][]int
	index map[string]int
}

func (p *partition) add(key string, row int) {
	if p.index == nil {
		p.index = make(map[string]int)
	}
	k, ok := p.index[key]
	if !ok {
		k = len(p.parts)
		p.index[key] = k
		p.parts = append(p.parts, nil)
	}
	p.parts[k] = append(p.parts[k], row)
}
