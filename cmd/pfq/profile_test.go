package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// twentyClasses has 20 classes of three servers each among 25, at load about 0.7.
func twentyClasses() string {
	rng := rand.New(rand.NewPCG(20, 5))
	var b strings.Builder
	b.WriteString("servers:\n")
	for s := range 25 {
		fmt.Fprintf(&b, "  - {name: s%d, capacity: %d}\n", s, 10+rng.IntN(10))
	}
	b.WriteString("classes:\n")
	for i := range 20 {
		p := rng.Perm(25)
		fmt.Fprintf(&b, "  - {name: c%d, arrival_rate: %d, servers: [s%d, s%d, s%d]}\n",
			i, 6+rng.IntN(10), p[0], p[1], p[2])
	}
	return b.String() + "mean_size: 1\n"
}

// scripts/release.pgo, from which the compiler knows the hot loops of a release, is the profile of
// these commands and of all figures. Goroutines that are stopped would be counted where they stop.
//
//go:generate env GODEBUG=asyncpreemptoff=1 go test -run=^$ -bench=Commands -cpuprofile=commands.prof -o=/dev/null .
//go:generate env GODEBUG=asyncpreemptoff=1 go test -run=^$ -bench=Figures -benchtime=1x -cpuprofile=figures.prof -o=/dev/null ../figures
//go:generate go tool pprof -proto -output=../../scripts/release.pgo commands.prof figures.prof
//go:generate rm commands.prof figures.prof

// BenchmarkCommands runs the slow commands of pfq, for about a second each.
func BenchmarkCommands(b *testing.B) {
	model := twentyClasses()
	for _, c := range []struct{ name, input, line string }{
		{"solve", model, "solve -"},
		{"solve-exact", "", "solve examples/three-servers.yaml --engine exact --distribution 40"},
		{"simulate-fcfs", model, "simulate - --runs 4 --jumps 1e6 --parallel 1"},
		{"simulate-interrupt", model, "simulate - --runs 4 --jumps 1e6 --parallel 1 --sizes bimodal --interruptions 5"},
		{
			"simulate-ps", "",
			"simulate examples/three-servers.yaml --runs 4 --jumps 5e5 --parallel 1 --policy ps --sizes bimodal",
		},
		{"dispatch", "", "dispatch SDSC-Par-1996 --sample 20000 --workers 400 --policy priority,proportion,edf,easy"},
		{"tags", "", "tags --hosts 3 --load 0.5 --sizes lognormal:20 --mean 1 --objective slowdown"},
	} {
		b.Run("command="+c.name, func(b *testing.B) {
			for b.Loop() {
				_, stderr, status := pfq(c.input, strings.Fields(c.line)...)
				if status != 0 {
					b.Fatalf("pfq %s: status %d, %s", c.line, status, stderr)
				}
			}
		})
	}
}
