package cluster_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"os"
	"strings"

	"productform/cluster"
)

func Example() {
	m := &cluster.Model{
		Servers: []cluster.Server{
			{Name: "big", Capacity: big.NewRat(2, 1)}, {Name: "small", Capacity: big.NewRat(1, 1)},
		},
		Classes: []cluster.Class{
			{Name: "web", ArrivalRate: big.NewRat(1, 1), Servers: cluster.On(0, 1)},
			{Name: "reports", ArrivalRate: big.NewRat(2, 5), Servers: cluster.On(1)},
		},
	}
	if err := m.Check(); err != nil {
		log.Fatal(err)
	}
	mu, err := m.Rank(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("reports alone are served at rate", mu[1<<1].RatString(), "and both classes at",
		mu[1<<0|1<<1].RatString())
	// Output: reports alone are served at rate 1 and both classes at 3
}

// Numbers are read exactly: 0.1 is one tenth, not the nearest binary number.
func ExampleRead() {
	m, err := cluster.Read(strings.NewReader(`
servers:
- {name: disk, capacity: 0.1}
- {name: rack, count: 100, capacity: 1/2}
classes:
- name: reads
  arrival_rate: 4/5
  servers: [disk, {group: rack, choose: 2}]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range m.Servers {
		fmt.Println(s.Name, s.Size(), s.Capacity)
	}
	// Output:
	// disk 1 1/10
	// rack 100 1/2
}

// An error names the field, its value and the accepted values.
func ExampleReadJSON_error() {
	_, err := cluster.ReadJSON(strings.NewReader(`{
  "servers": [{"name": "s1", "capacity": 1}],
  "classes": [{"name": "a", "arrival_rate": -1, "servers": ["s1"]}]}`))
	fmt.Println(err)
	// Output: line 3: classes[0].arrival_rate = -1: want a number >= 0
}

func ExampleModel_WriteJSON() {
	m := &cluster.Model{
		Servers: []cluster.Server{
			{Name: "s1", Capacity: big.NewRat(1, 1)},
			{Name: "s2", Capacity: big.NewRat(1, 2)},
		},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(4, 5), Servers: cluster.On(0, 1)}},
	}
	if err := m.WriteJSON(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {
	//   "servers": [
	//     {"name": "s1", "capacity": 1},
	//     {"name": "s2", "capacity": "1/2"}
	//   ],
	//   "classes": [
	//     {"name": "a", "arrival_rate": "4/5", "servers": ["s1", "s2"]}
	//   ]
	// }
}

// The first two servers have the same classes and become one; the third and its class are a
// separate component.
func ExampleModel_Reduce() {
	m := &cluster.Model{
		Servers: []cluster.Server{
			{Name: "s1", Capacity: big.NewRat(1, 1)},
			{Name: "s2", Capacity: big.NewRat(2, 1)},
			{Name: "s3", Capacity: big.NewRat(1, 2)},
		},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: big.NewRat(1, 3), Servers: cluster.On(0, 1)},
			{Name: "b", ArrivalRate: big.NewRat(1, 4), Servers: cluster.On(2)},
		},
	}
	parts, err := m.Reduce(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range parts {
		fmt.Println("rows", c.Servers, "capacity", c.Model.Servers[0].Capacity)
	}
	// Output:
	// rows [[0 1]] capacity 3/1
	// rows [[2]] capacity 1/2
}

// Each job of the class gets two of the three servers.
func ExampleModel_Expand() {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "rack", Count: 3, Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{
			Name:        "a",
			ArrivalRate: big.NewRat(1, 1),
			Servers:     []cluster.Choice{{Server: 0, Choose: 2}},
		}},
	}
	e, _, _, err := m.Expand(100)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range e.Classes {
		fmt.Println(c.Name, c.ArrivalRate, c.Servers)
	}
	// Output:
	// a/1 1/3 [{0 1} {1 1}]
	// a/2 1/3 [{0 1} {2 1}]
	// a/3 1/3 [{1 1} {2 1}]
}

// Reports are twelve times as large as the other jobs. Under balanced fairness only their work
// matters, in jobs of mean size 1.
func ExampleModel_EqualSizes() {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(4, 1)}},
		Classes: []cluster.Class{
			{Name: "web", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)},
			{Name: "report", ArrivalRate: big.NewRat(1, 8), MeanSize: big.NewRat(12, 1), Servers: cluster.On(0)},
		},
	}
	_, err := m.OneMeanSize()
	fmt.Println(err)
	for i, c := range m.EqualSizes().Classes {
		fmt.Println(c.Name, "rate", c.ArrivalRate, "work", m.Work(i), "of mean size", m.MeanSizeOf(i))
	}
	// Output:
	// classes[1].mean_size = 12: want 1, that of "web": first come, first served has formulas only for exponential sizes with one mean
	// web rate 1/2 work 1/2 of mean size 1/1
	// report rate 3/2 work 3/2 of mean size 12/1
}
