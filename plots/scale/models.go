package scale

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"productform/cluster"
)

// servers returns n servers of capacity 1.
func servers(n int) []cluster.Server {
	list := make([]cluster.Server, n)
	for s := range list {
		list[s] = cluster.Server{Name: fmt.Sprintf("s%d", s+1), Capacity: big.NewRat(1, 1)}
	}
	return list
}

// class returns a class; its rate is given in thousandths.
func class(k int, thousandths int64, on ...int) cluster.Class {
	return cluster.Class{
		Name:        fmt.Sprintf("c%d", k+1),
		ArrivalRate: big.NewRat(thousandths, 1000),
		Servers:     cluster.On(on...),
	}
}

// random returns classes on degree random servers each, with rates between 0.5 and 1.5 times their
// mean and a total load of thousandths/1000.
func random(classes, n, degree int, thousandths int64) *cluster.Model {
	r := rand.New(rand.NewPCG(1, uint64(classes)<<32|uint64(n)))
	m := &cluster.Model{Servers: servers(n)}
	weights, sum := make([]int64, classes), int64(0)
	for i := range weights {
		weights[i] = 50 + r.Int64N(101)
		sum += weights[i]
	}
	for i := range classes {
		c := class(i, 1, r.Perm(n)[:degree]...)
		c.ArrivalRate = big.NewRat(weights[i]*thousandths*int64(n), sum*1000)
		m.Classes = append(m.Classes, c)
	}
	return m
}

// line returns servers in a line, with a class for every width consecutive servers, at a load of at
// most 0.9.
func line(n, width int) *cluster.Model {
	m := &cluster.Model{Servers: servers(n)}
	for i := range n - width + 1 {
		var on []int
		for s := range width {
			on = append(on, i+s)
		}
		m.Classes = append(m.Classes, class(i, 900+int64(i%7), on...))
	}
	return m
}

// tree returns a binary tree of servers with a class for each linked pair, at load 0.7.
func tree(n int) *cluster.Model {
	m := &cluster.Model{Servers: servers(n)}
	for s := 1; s < n; s++ {
		m.Classes = append(m.Classes, class(s-1, 700*int64(n)/int64(n-1), (s-1)/2, s))
	}
	return m
}

// grid returns a grid of servers with a class for each pair of neighbours, at load 0.7.
func grid(rows, columns int) *cluster.Model {
	m := &cluster.Model{Servers: servers(rows * columns)}
	var pairs [][2]int
	for c := range columns {
		for r := range rows {
			s := c*rows + r
			if r+1 < rows {
				pairs = append(pairs, [2]int{s, s + 1})
			}
			if c+1 < columns {
				pairs = append(pairs, [2]int{s, s + rows})
			}
		}
	}
	for i, p := range pairs {
		m.Classes = append(m.Classes, class(i, 700*int64(rows*columns)/int64(len(pairs)), p[0], p[1]))
	}
	return m
}

// pool returns n equal servers, of which each job draws two, at load 0.9.
func pool(n int) *cluster.Model {
	return &cluster.Model{Servers: []cluster.Server{{Name: "pool", Capacity: big.NewRat(1, 1), Count: n}},
		Classes: []cluster.Class{{
			Name:        "jobs",
			ArrivalRate: big.NewRat(9*int64(n), 10),
			Servers:     []cluster.Choice{{Server: 0, Choose: 2}},
		}}}
}
