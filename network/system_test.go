package network

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"productform/num"
)

func TestFoldRejectsLargeChains(t *testing.T) {
	text := `{"stations": [{"name": "s", "discipline": "fcfs", "servers": 200000}],
		"classes": [{"name": "a", "arrival_rate": 3, "visits": [{"station": "s", "next": {"out": 1}}]},
			{"name": "b", "population": 1, "visits": [{"station": "s", "visits": 1}]}]}`
	m, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var tooLarge *num.TooLargeError
	if _, err := newSystem(context.Background(), m); !errors.As(err, &tooLarge) ||
		tooLarge.Bytes <= float64(tooLarge.Limit) {
		t.Fatal(err)
	}
}

// Chains that share a station have demands by chain, an open load, and one visit per class.
func TestDemands(t *testing.T) {
	text := `
stations: [{name: cpu, discipline: sharing, servers: 3}, {name: think, discipline: delay}]
classes:
  - {name: a, population: 2, visits: [{station: cpu, mean_size: 2, visits: 3}, {station: think, visits: 1}]}
  - {name: web, arrival_rate: 1/2, visits: [{station: cpu, mean_size: 3, next: {cpu/more: 1/2, out: 1/2}}]}
  - {name: b, population: 1, visits: [{station: cpu, visits: 1}]}
  - {name: more, visits: [{station: cpu, mean_size: 1/4, next: {out: 1}}]}
`
	m, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSystem(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	cpu := s.Stations[0]
	got := fmt.Sprint(cpu.Demand, cpu.Load, len(s.Chains), s.Closed, s.Chains[1].Classes,
		s.Chains[1].ArrivalRate, s.Stations[1].Demand)
	if want := "[6/1 1/1] 25/16 3 [0 2] [1 3] 1/2 [1/1 0/1]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for c, v := range cpu.Visits {
		if v.Class != c {
			t.Errorf("visit %d is of class %d, want %d", c, v.Class, c)
		}
	}
}

// Tables of a station with Order count towards the memory limit of a network, and too many sets of
// classes are rejected.
func TestLargeSharedStationsAreRejected(t *testing.T) {
	m := &Model{Stations: []Station{{Name: "pool", Discipline: Order}, {Name: "think", Discipline: Delay}}}
	one := big.NewRat(1, 1)
	for c := range 24 {
		m.Stations[0].Nodes = append(m.Stations[0].Nodes, Node{Name: fmt.Sprint(c), Capacity: one})
		m.Classes = append(m.Classes, Class{
			Name:   fmt.Sprint(c),
			Visits: []Visit{{Station: 0, Nodes: []int{c}}, {Station: 1}},
		})
	}
	chain := func(classes int) { // all classes in a ring
		m.Classes = m.Classes[:classes]
		for c := range m.Classes {
			m.Classes[c].Visits[0].Next = []Branch{{c, 1, one}}
			m.Classes[c].Visits[1].Next = []Branch{{(c + 1) % classes, 0, one}}
		}
		m.Classes[0].Population = 1000
	}
	var tooLarge *num.TooLargeError
	chain(24)
	if _, err := Solve(context.Background(), m, Settings{}); !errors.As(err, &tooLarge) || tooLarge.States != 1<<24 {
		t.Errorf("24 classes: %v", err)
	}
	chain(12)
	if _, err := Solve(context.Background(), m, Settings{MaxBytes: 1 << 28}); !errors.As(err, &tooLarge) ||
		tooLarge.Bytes < 2*48*1000*(1<<12) {
		t.Errorf("12 classes: %v", err)
	}
}
