package whatif

import (
	"fmt"
	"math/big"
	"strings"

	"productform/cluster"
)

// A Line is a shell command that prints the numbers of the page, to the last digit.
type Line struct {
	Line string `json:"line"`
}

// line returns a pfq command with the model on its standard input.
func line(m *cluster.Model, load *big.Rat, q Question) (*Line, error) {
	command := "pfq solve -"
	if q.Runs > 0 {
		command = fmt.Sprintf("pfq simulate - --runs %d --jumps %g --seed %d", q.Runs, q.Jumps, q.Seed)
	}
	if len(q.Percentiles) > 0 {
		if _, err := levelsOf(q.Percentiles); err != nil {
			return nil, err
		}
		command += " --percentiles " + strings.Join(q.Percentiles, ",")
	}
	if len(q.Within) > 0 {
		within, err := numbers("within", q.Within)
		if err != nil {
			return nil, err
		}
		var times []string
		for _, t := range within {
			times = append(times, decimal(t))
		}
		command += " --within " + strings.Join(times, ",")
	}
	if load.Cmp(big.NewRat(1, 1)) != 0 {
		command += " --scale " + decimal(load)
	}
	return &Line{command + " <<'END'\n" + describe(m).YAML + "END\n"}, nil
}
