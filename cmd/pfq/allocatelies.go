package main

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"productform/fluid/traffic"
)

// trueLoads returns the loads by what the jobs need, nil if no class lies.
func (a *trafficAnswer) trueLoads() []*big.Rat {
	if len(a.lies()) == 0 {
		return nil
	}
	honest := traffic.Model{Resources: a.traffic.Resources, Classes: slices.Clone(a.traffic.Classes)}
	for k := range honest.Classes {
		honest.Classes[k].Declared = nil
	}
	return honest.Loads()
}

// lies says which classes declare more than they need, and what: one line for each.
func (a *trafficAnswer) lies() (lines []string) {
	number := func(profile []*big.Rat, j int) *big.Rat {
		if j >= len(profile) || profile[j] == nil {
			return new(big.Rat)
		}
		return profile[j]
	}
	for _, c := range a.traffic.Classes {
		var words []string
		for j, r := range a.traffic.Resources {
			if need, declared := number(c.Demand, j), number(c.Profile(), j); declared.Cmp(need) != 0 {
				words = append(words, fmt.Sprintf("%s %s for %s", r.Name, sixRat(declared), sixRat(need)))
			}
		}
		if len(words) > 0 {
			lines = append(lines, fmt.Sprintf("class %s declares more than it needs: %s", c.Name, strings.Join(words, ", ")))
		}
	}
	return lines
}

// liesText writes which classes lie, not all if they are many.
func (a *trafficAnswer) liesText(w io.Writer) {
	const most = 8
	lies := a.lies()
	for i, line := range lies {
		if i == most && len(lies) > most+1 {
			fmt.Fprintf(w, "and %d classes more\n", len(lies)-most)
			break
		}
		fmt.Fprintln(w, line)
	}
}
