package cluster

import (
	"fmt"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// New returns a model of single servers with these capacities and of classes with these arrival
// rates. Class i runs on the servers with the indices servers[i]; jobs have mean size 1. The names
// are "server 1", "server 2", ..., "class 1", "class 2", .... Numbers are converted by
// [num.Decimal]: 0.1 is one tenth, as in a file.
//
// The error is that of [Model.Check], or a [*num.InputError] for an infinite number or NaN, or for
// lists of different lengths.
func New(capacities, arrivalRates []float64, servers [][]int) (*Model, error) {
	if len(servers) != len(arrivalRates) {
		return nil, input.Errorf("classes", len(arrivalRates), "%d, one for each list of servers", len(servers))
	}
	m := &Model{}
	for s, x := range capacities {
		capacity, err := decimal(fmt.Sprintf("servers[%d].capacity", s), x)
		if err != nil {
			return nil, err
		}
		m.Servers = append(m.Servers, Server{Name: fmt.Sprint("server ", s+1), Capacity: capacity})
	}
	for i, x := range arrivalRates {
		rate, err := decimal(fmt.Sprintf("classes[%d].arrival_rate", i), x)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprint("class ", i+1)
		m.Classes = append(m.Classes, Class{Name: name, ArrivalRate: rate, Servers: On(servers[i]...)})
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	return m, nil
}

func decimal(path string, x float64) (*big.Rat, error) {
	d, err := num.Decimal(x)
	if err != nil {
		return nil, input.Errorf(path, x, "a number >= 0")
	}
	return d, nil
}
