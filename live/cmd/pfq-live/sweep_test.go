package main

import (
	"bytes"
	"strings"
	"testing"
)

// Invalid arguments of sweep give a one-line error before a server is contacted.
func TestSweepRefused(t *testing.T) {
	for args, want := range map[string]string{
		"sweep":                     "COMMAND is missing: want pfq or figures with arguments, after --",
		"sweep -- pfq simulate x":   "--results is missing: want a folder for the results of runs",
		"sweep --results r -- sh x": "COMMAND = sh: want pfq or figures",
		"sweep --results r --deadline 9 -- pfq": "--deadline = 9: want a duration of at least 0s, such as " +
			"500ms or 2s",
		"sweep --results r --max-workers -1 -- x": "--max-workers = -1: want an integer in 0..1000000",
		"sweep --results r -- pfq simulate -": "COMMAND = -: want the name of a file, because the command runs " +
			"several times",
		"sweep --results r --priority high -- x":  "--priority = high: want a number in [1e-50, 1e50]",
		"sweep --results r -- pfq --part 0/2 a b": "COMMAND = --part: want a command that prints an answer",
	} {
		var out, said bytes.Buffer
		if status := run(strings.Fields(args), strings.NewReader(""), &out, &said); status != 2 ||
			out.Len() > 0 || said.String() != "pfq-live: "+want+"\n" {
			t.Errorf("%s: status %d, %q, %q", args, status, &out, &said)
		}
	}
}
