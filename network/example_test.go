package network_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"strings"

	"productform/network"
	"productform/num"
)

func Example() {
	m, err := network.Read(strings.NewReader(`
stations: [{name: think, discipline: delay}, {name: cpu, discipline: sharing, servers: 4},
    {name: disk, discipline: fcfs}]
classes:
- name: user
  population: 100
  visits:
  - {station: think, mean_size: 5, next: {cpu: 1}}
  - {station: cpu, mean_size: 0.02, next: {disk: 0.6, think: 0.4}}
  - {station: disk, mean_size: 0.03, next: {cpu: 1}}
`))
	if err != nil {
		log.Fatal(err)
	}
	r, err := network.Solve(context.Background(), m, network.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f requests a second, %.4f of them at the disk\n",
		r.Chains[0].Throughput.Float, r.Stations[2].MeanJobs.Float)
	// Output: 18.8936 requests a second, 4.5826 of them at the disk
}

const interactive = `
stations:
  - {name: think, discipline: delay}
  - {name: cpu, discipline: sharing, servers: 4}
  - {name: disk, discipline: fcfs}
classes:
  - name: user
    population: 100
    visits:
      - {station: think, mean_size: 5, next: {cpu: 1}}
      - {station: cpu, mean_size: 0.02, next: {disk: 0.6, think: 0.4}}
      - {station: disk, mean_size: 0.03, next: {cpu: 1}}
`

// One hundred users think for five seconds; their requests go to four processors, and then with
// probability 0.6 to a disk.
func ExampleSolve() {
	m, err := network.Read(strings.NewReader(interactive))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := network.Solve(context.Background(), m, network.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.6f requests a second, within %.0e\n", r.Chains[0].Throughput.Float, r.RelativeErrorBound)
	for i, s := range r.Stations {
		fmt.Printf("%s: %.6f jobs, each for %.6f\n", m.Stations[i].Name, s.MeanJobs.Float, s.Visits[0].MeanDelay.Float)
	}
	// Output:
	// 18.893577 requests a second, within 9e-14
	// think: 94.467884 jobs, each for 5.000000
	// cpu: 0.949526 jobs, each for 0.020103
	// disk: 4.582589 jobs, each for 0.161698
}

// The throughput depends on the number of users and has a bottleneck.
func ExampleSweep() {
	m, err := network.Read(strings.NewReader(interactive))
	if err != nil {
		fmt.Println(err)
		return
	}
	users := []*big.Rat{big.NewRat(1, 1), big.NewRat(100, 1), big.NewRat(1000, 1)}
	list, err := network.Sweep(
		context.Background(), m, network.Change{Parameter: network.Population, Values: users},
		network.Question{}, network.Settings{},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, r := range list {
		fmt.Printf("%s users: %.4f\n", users[i].RatString(), r.Chains[0].Throughput.Float)
	}
	b, err := network.Bounds(context.Background(), m)
	if err != nil {
		fmt.Println(err)
		return
	}
	most, _ := b[0].MostThroughput.Float64()
	fmt.Printf("at most %.4f, by the %s\n", most, m.Stations[b[0].Bottleneck].Name)
	// Output:
	// 1 users: 0.1963
	// 100 users: 18.8936
	// 1000 users: 22.2222
	// at most 22.2222, by the disk
}

// 99 of 100 visits to the disk end within this time.
func ExampleDelays() {
	m, err := network.Read(strings.NewReader(interactive))
	if err != nil {
		fmt.Println(err)
		return
	}
	q := network.DelayQuestion{Station: 2, Levels: []*big.Rat{num.Rat("0.99")}}
	r, err := network.Delays(context.Background(), m, q, network.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.6f s\n", r[0].Quantiles[0].Float)
	// Output: 0.632769 s
}
