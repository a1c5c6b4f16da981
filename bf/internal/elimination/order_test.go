package elimination

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
)

// drawGraph draws a problem whose classes have few servers each.
func drawGraph(t *rapid.T, servers, most int) *Problem {
	p := &Problem{}
	var rows []int
	for s := range rapid.IntRange(1, servers).Draw(t, "servers") {
		p.Capacities = append(p.Capacities, 1)
		rows = append(rows, s)
	}
	for range rapid.IntRange(0, 2*len(rows)).Draw(t, "classes") {
		n := rapid.IntRange(1, min(most, len(rows))).Draw(t, "degree")
		p.Classes = append(p.Classes, Class{
			Rate:    float64(rapid.IntRange(0, 3).Draw(t, "rate")),
			Servers: rapid.Permutation(rows).Draw(t, "order")[:n],
		})
	}
	return p
}

// widthOf returns the width of an order by its definition: servers are neighbours after an
// elimination if a class links them, or a path of eliminated servers.
func widthOf(p *Problem, order []int) int {
	link := make([][]bool, len(p.Capacities))
	for s := range link {
		link[s] = make([]bool, len(p.Capacities))
	}
	for _, k := range p.Classes {
		for _, s := range k.Servers {
			for _, t := range k.Servers {
				if s != t && k.Rate > 0 {
					link[s][t] = true
				}
			}
		}
	}
	width := 0
	for k, s := range order {
		degree := 0
		for _, t := range order[k+1:] {
			if link[s][t] {
				degree++
			}
			for _, u := range order[k+1:] {
				if t != u && link[s][t] && link[s][u] {
					link[t][u] = true
				}
			}
		}
		width = max(width, degree)
	}
	return width
}

// leastWidth returns the smallest width over all orders.
func leastWidth(p *Problem) int {
	least := len(p.Capacities)
	var extend func(order []int)
	extend = func(order []int) {
		if len(order) == len(p.Capacities) {
			least = min(least, widthOf(p, order))
			return
		}
		for s := range p.Capacities {
			if !slices.Contains(order, s) {
				extend(append(order, s))
			}
		}
	}
	extend(nil)
	return least
}

// NewOrder finds an order of smallest width, and rejects only problems without an order of width
// MaxWidth.
func TestNewOrderHasSmallestWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawGraph(t, 6, 3)
		least := leastWidth(p)
		o, err := NewOrder(p)
		var tooLarge *num.TooLargeError
		switch {
		case errors.As(err, &tooLarge):
			if least <= MaxWidth {
				t.Fatalf("error %v, but there is an order of width %d", err, least)
			}
		case err != nil:
			t.Fatal(err)
		case o.Width != widthOf(p, o.Servers):
			t.Fatalf("Width = %d, but the order has width %d", o.Width, widthOf(p, o.Servers))
		case o.Width != least:
			t.Fatalf("width %d, want the smallest, %d", o.Width, least)
		}
	})
}

// grid returns a grid of servers with a class for each pair of neighbours.
func grid(rows, columns int) *Problem {
	p := &Problem{Capacities: slices.Repeat([]float64{1}, rows*columns)}
	for s := range p.Capacities {
		if (s+1)%columns != 0 {
			p.Classes = append(p.Classes, Class{1, []int{s, s + 1}})
		}
		if s+columns < len(p.Capacities) {
			p.Classes = append(p.Classes, Class{1, []int{s, s + columns}})
		}
	}
	return p
}

func TestWidthsOfGrids(t *testing.T) {
	for _, c := range []struct{ rows, columns, width int }{{1, 1, 0}, {1, 5000, 1}, {2, 1000, 2}} {
		o, err := NewOrder(grid(c.rows, c.columns))
		if err != nil || o.Width != c.width || len(o.Servers) != c.rows*c.columns {
			t.Errorf("%d x %d: %+v, %v", c.rows, c.columns, o, err)
		}
	}
	var tooLarge *num.TooLargeError
	for _, rows := range []int{3, 5} {
		if _, err := NewOrder(grid(rows, 5)); !errors.As(err, &tooLarge) {
			t.Errorf("%d rows: error %v", rows, err)
		}
	}
	star := &Problem{Capacities: slices.Repeat([]float64{1}, 20000)}
	for s := range star.Capacities[1:] {
		star.Classes = append(star.Classes, Class{1, []int{0, s + 1}})
	}
	if o, err := NewOrder(star); err != nil || o.Width != 1 {
		t.Errorf("star: %v", err)
	}
	all := &Problem{Capacities: star.Capacities, Classes: []Class{{Rate: 1}}}
	for s := range star.Capacities {
		all.Classes[0].Servers = append(all.Classes[0].Servers, s)
	}
	if _, err := NewOrder(all); !errors.As(err, &tooLarge) {
		t.Errorf("error %v", err)
	}
}

func TestBadProblems(t *testing.T) {
	for path, p := range map[string]*Problem{
		"Capacities[1]":      {Capacities: []float64{1, 0}},
		"Classes[0].Rate":    {Capacities: []float64{1}, Classes: []Class{{-1, []int{0}}}},
		"Classes[0].Servers": {Capacities: []float64{1}, Classes: []Class{{1, nil}}},
		"Classes[1].Servers": {Capacities: []float64{1, 1}, Classes: []Class{{1, []int{0}}, {1, []int{1, 1}}}},
	} {
		var bad *num.InputError
		if _, err := NewOrder(p); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("error %v, want one at %s", err, path)
		}
	}
}
