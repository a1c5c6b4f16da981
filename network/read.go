package network

import (
	"io"

	"productform/internal/file"
)

// Read reads a model from a text in JSON or YAML:
//
//	stations:
//	  - {name: think, discipline: delay}
//	  - {name: cpu, discipline: sharing, servers: 4}        # rate: 1 is the work per unit of time of each server
//	  - {name: disk, discipline: fcfs, rates: [10, 19, 27]} # total, with 1, 2, 3 or more jobs
//	  - {name: skills, discipline: order, nodes: [{name: s1, capacity: 1}, {name: s2, capacity: 1/2}]}
//	  - {name: licences, discipline: order, servers: 8, limits: [{classes: [user], most: 2}]}
//	  - {name: ranked, discipline: balanced, rank: [{classes: [user], rate: 1}, {classes: [batch], rate: 2},
//	      {classes: [user, batch], rate: 2}]}
//	  - {name: table, discipline: balanced, table: {classes: [batch], most: [2], balance: [1, 1, 1/3]}}
//	classes:
//	  - name: user
//	    population: 100
//	    reference: think                 # its visits start cycles; the first visit if omitted
//	    visits:
//	      - {station: think, mean_size: 5, next: {cpu: 1}}
//	      - {station: cpu, mean_size: 0.02, next: {disk: 0.6, think: 0.4}}
//	      - {station: skills, nodes: [s1], mean_size: 0.1, next: {cpu/batch: 1}} # the class changes
//	  - name: order
//	    arrival_rate: 1/2
//	    arrives: {cpu: 0.9, disk: 0.1}   # the first visit if omitted
//	    visits: [{station: cpu, next: {disk: 1/2, out: 1/2}}, {station: disk, next: {cpu: 1}}]
//	  - name: reports
//	    population: 3
//	    visits: [{station: disk, visits: 1}, {station: cpu, visits: 2.5}] # visits per cycle, instead of next
//
// In next, a name is a station that the class visits, station/class is another class there, and out
// leaves the network. The fields are those of [Model] and its parts.
//
// The error is a *[num.SyntaxError], or wraps a *[num.InputError] with the line and the path of the
// field: for an unknown, missing or repeated field, a value of another type, and everything that
// [Model.Check] rejects.
func Read(r io.Reader) (*Model, error) { return read(r, file.Auto) }

// ReadFile reads the file as JSON if its name ends in .json, as YAML if it ends in .yaml or .yml,
// otherwise as [Read]. Errors start with the name of the file.
func ReadFile(name string) (*Model, error) { return file.ReadFile(name, read) }

func init() { file.Register(decodeChecked) }

// read reads a text and builds the model.
func read(r io.Reader, format file.Format) (*Model, error) {
	root, err := file.Read(r, format, "a network with stations and classes")
	if err != nil {
		return nil, err
	}
	return decodeChecked(root)
}

// decodeChecked returns the model that a tree describes, with the errors of [Read].
func decodeChecked(root *file.Node) (*Model, error) { return file.DecodeRoot(root, decode) }
