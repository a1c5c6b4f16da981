package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A number beyond the range of float64 is rejected by every command that computes with it. The
// error has its line, its path and its value as written, both for files and for the standard input.
func TestNumbersBeyondFloat(t *testing.T) {
	t.Chdir(t.TempDir())
	commands := map[string][]string{
		"cluster": {
			"solve", "solve --engine exact", "solve --scale 0.5,1", "estimate", "plot -o x.svg",
			"simulate --runs 2 --jumps 1000",
		},
		"network": {"network", "network --engine exact", "network --runs 2 --jumps 1000"},
	}
	rapid.Check(t, func(t *rapid.T) {
		far := rapid.SampledFrom([]string{"1e400", "3e-400", `"1e500/7"`, `"1/1e350"`}).Draw(t, "number")
		kind := rapid.SampledFrom([]string{"cluster", "network"}).Draw(t, "model")
		n := rapid.IntRange(1, 4).Draw(t, "classes")
		bad := rapid.IntRange(0, 2*n-1).Draw(t, "place")
		var first, second, path string
		number := func(k int, usual, at string) string {
			if k != bad {
				return usual
			}
			path = at
			return far
		}
		for k := range n {
			at, size := fmt.Sprintf("[%d]", k), n+k
			if kind == "cluster" {
				first += fmt.Sprintf("  - {name: s%d, capacity: %s}\n", k, number(k, "2", "servers"+at+".capacity"))
				second += fmt.Sprintf("  - {name: c%d, arrival_rate: %s, servers: [s%d]}\n",
					k, number(size, "1", "classes"+at+".arrival_rate"), k)
			} else {
				first += fmt.Sprintf("  - {name: s%d, discipline: sharing, rates: [%s]}\n",
					k, number(k, "2", "stations"+at+".rates[0]"))
				second += fmt.Sprintf("  - {name: c%d, arrival_rate: %s, visits: [{station: s%d, visits: 1}]}\n",
					k, number(size, "1", "classes"+at+".arrival_rate"), k)
			}
		}
		list := map[string]string{"cluster": "servers:\n", "network": "stations:\n"}[kind]
		line := bad + 2
		if bad >= n {
			line++
		}
		text := list + first + "classes:\n" + second
		if err := os.WriteFile("a.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args := rapid.SampledFrom(commands[kind]).Draw(t, "command")
		file, name := "a.yaml", "a.yaml"
		if rapid.Bool().Draw(t, "from the standard input") {
			file, name = "-", "standard input"
		}
		command, flags, _ := strings.Cut(args, " ")
		stdout, stderr, status := pfq(text, append([]string{command, file}, strings.Fields(flags)...)...)
		want := fmt.Sprintf("pfq: %s:%d: %s = %s: want ", name, line, path, far)
		if status == 1 { // overloaded: a capacity is near 0 or jobs never end
			if !strings.Contains(stdout, "unstable") {
				t.Fatalf("%s: %s%s", args, stdout, stderr)
			}
			return
		}
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Fatalf("pfq %s: status %d, %q, %q, want %q", args, status, stdout, stderr, want)
		}
	})
}
