package stability_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"strings"

	"productform/cluster"
	"productform/num"
	"productform/stability"
)

func Example() {
	m, err := cluster.Read(strings.NewReader(`
servers: [{name: big, capacity: 2}, {name: small, capacity: 1}]
classes:
- {name: web, arrival_rate: 1, servers: [big, small]}
- {name: reports, arrival_rate: 0.4, servers: [small]}
`))
	if err != nil {
		log.Fatal(err)
	}
	r, err := stability.Cluster(context.Background(), m)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("stable:", r.Stable, "with all arrival rates multiplied by anything below",
		r.CriticalScale.RatString())
	fmt.Println("limited by the classes", m.NamesOf(r.Bottleneck))
	// Output:
	// stable: true with all arrival rates multiplied by anything below 15/7
	// limited by the classes [web reports]
}

// Each of two classes has its own server, and they share a third. The first class brings more than
// its own server can do.
func ExampleCluster() {
	one := num.Rat("1")
	m := &cluster.Model{
		Servers: []cluster.Server{
			{Name: "s1", Capacity: one}, {Name: "s2", Capacity: one}, {Name: "shared", Capacity: one},
		},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: num.Rat("1.6"), Servers: cluster.On(0, 2)},
			{Name: "b", ArrivalRate: num.Rat("0.5"), Servers: cluster.On(1, 2)},
		},
	}
	r, err := stability.Cluster(context.Background(), m)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("stable:", r.Stable, "margin:", r.Margin.RatString(), "critical scale:", r.CriticalScale.RatString())
	for _, i := range r.Bottleneck {
		fmt.Println("bottleneck:", m.Classes[i].Name)
	}
	for i, shares := range r.Splitting {
		for _, s := range shares {
			fmt.Printf("at that scale %s gives %s to %s\n", m.Classes[i].Name, s.Rate.RatString(), s.Name)
		}
	}
	// Output:
	// stable: true margin: 2/5 critical scale: 5/4
	// bottleneck: a
	// at that scale a gives 1 to s1
	// at that scale a gives 1 to shared
	// at that scale b gives 5/8 to s2
}

// Each job draws two of 100 servers: the margin is that of one pair of servers, not of all.
func ExampleCluster_group() {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "rack", Count: 100, Capacity: num.Rat("1")}},
		Classes: []cluster.Class{{
			Name:        "job",
			ArrivalRate: num.Rat("80"),
			Servers:     []cluster.Choice{{Server: 0, Choose: 2}},
		}},
	}
	r, err := stability.Cluster(context.Background(), m)
	fmt.Println(err, r.CriticalScale.RatString(), r.Margin.RatString(), r.MarginServers)
	// Output: <nil> 5/4 982/495 [2]
}

// Two machines, each of which works at rate 1 alone, but which work at rate 3/2 together.
func ExampleRank() {
	rates := []*big.Rat{num.Rat("2/3"), num.Rat("5/6")}
	rank := []*big.Rat{num.Rat("0"), num.Rat("1"), num.Rat("1"), num.Rat("3/2")}
	r, err := stability.Rank(context.Background(), rates, rank)
	fmt.Println(err, "stable:", r.Stable, "margin:", r.Margin.RatString(), "of", r.MarginSet)
	// Output: <nil> stable: false margin: 0 of [0 1]
}

func ExampleVerify() {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: num.Rat("1")}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: num.Rat("0.75"), Servers: cluster.On(0)}},
	}
	r, _ := stability.Cluster(context.Background(), m)
	fmt.Println(stability.Verify(context.Background(), m, r))
	r.CriticalScale = num.Rat("2")
	fmt.Println(stability.Verify(context.Background(), m, r))
	// Output:
	// <nil>
	// stability: the result does not prove its verdict: the scale of the bottleneck is not 2/1
}
