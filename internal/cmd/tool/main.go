// Command tool does the maintenance work of this project. Each task has a name, which is the first
// argument:
//
//	go run ./cmd/figures --list | go run ./internal/cmd/tool check-figures DIR
//	go run ./internal/cmd/tool poisson-gap
//	go run ./internal/cmd/tool measure-scale > plots/scale/measured.csv
//	go run ./internal/cmd/tool calibrate
//
// The exit status is 0 on success, 1 if a task fails, and 2 for bad usage.
package main

import (
	"errors"
	"fmt"
	"os"
)

// A task is one job of maintenance.
type task struct {
	name, usage string
	run         func(args []string) error
}

func tasks() []task {
	return []task{
		{"check-figures", "DIR, with a list of figures on the standard input", checkFigures},
		{"poisson-gap", "[-jumps N]", printPoissonGap},
		{"measure-scale", "", measureScale},
		{"calibrate", "", calibrate},
	}
}

// errUsage is the error of a task with the wrong arguments.
var errUsage = errors.New("wrong arguments")

func main() {
	if len(os.Args) > 1 {
		for _, t := range tasks() {
			if t.name != os.Args[1] {
				continue
			}
			err := t.run(os.Args[2:])
			if err == nil {
				return
			}
			fmt.Fprintf(os.Stderr, "tool %s: %v\n", t.name, err)
			if !errors.Is(err, errUsage) {
				os.Exit(1)
			}
		}
	}
	for _, t := range tasks() {
		fmt.Fprintln(os.Stderr, "usage: tool", t.name, t.usage)
	}
	os.Exit(2)
}
