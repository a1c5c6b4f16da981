package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"productform/internal/input"
	"productform/sweep"
)

// A RunChoice selects what a command does with its runs instead of answering; the zero value means
// that it answers.
type RunChoice struct {
	Part  Part
	Tasks string // list, serve, or empty
}

// A Part is the K-th of N parts, counted from 0. N is 0 if there are no parts.
type Part struct{ K, N int }

func (p Part) String() string { return fmt.Sprintf("%d/%d", p.K, p.N) }

// The values of --tasks.
const (
	List  = "list"
	Serve = "serve"
)

// RunFlags are the names of the flags that [Choice.Add] adds.
var RunFlags = []string{"part", "tasks"}

// Add adds the flags to a command.
func (c *RunChoice) Add(cmd *cobra.Command) {
	Flag[Part]{
		Name: "part",
		Kind: "string",
		Usage: "only do the runs whose number is K modulo N, `K/N` with K = 0..N-1, and store them in the folder of " +
			"--results; no answer",
		Want:  fmt.Sprintf("K/N with N in 1..%d and K in 0..N-1, such as 0/4 to 3/4", sweep.MostParts),
		Parse: parsePart,
	}.Add(cmd, &c.Part)
	Flag[string]{
		Name:  "tasks",
		Kind:  "string",
		Usage: "`list` the runs that are missing, or serve: do those whose keys are on the standard input; no answer",
		Want:  OneOf([]string{List, Serve}),
		Parse: func(s string) (string, bool) { return s, s == List || s == Serve },
	}.Add(cmd, &c.Tasks)
}

func parsePart(text string) (p Part, ok bool) {
	k, n, _ := strings.Cut(text, "/")
	if p.K, ok = parseNumber(k); !ok {
		return p, false
	}
	p.N, ok = parseNumber(n)
	return p, ok && p.N >= 1 && p.N <= sweep.MostParts && p.K < p.N
}

// parseNumber reads an integer >= 0 that consists of digits.
func parseNumber(text string) (int, bool) {
	v, err := strconv.ParseUint(text, 10, 31)
	return int(v), err == nil
}

// Given reports whether a command only processes its runs instead of answering.
func (c RunChoice) Given() bool { return c.Part.N > 0 || c.Tasks != "" }

// Check rejects incompatible flags; results is the folder of --results.
func (c RunChoice) Check(results string) error {
	switch {
	case c.Part.N > 0 && c.Tasks != "":
		return fmt.Errorf("--part and --tasks cannot be combined")
	case c.Part.N > 0 && results == "":
		return &input.Error{
			Path: "--results",
			Want: "a folder with --part, in which this part and the others leave their runs for the command " +
				"that answers",
		}
	case c.Tasks == Serve && results != "":
		return fmt.Errorf("--tasks serve and --results cannot be combined: results go to the standard output")
	}
	return nil
}
