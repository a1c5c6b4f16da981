package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// An Option is something that a plan can buy.
type Option struct {
	Name   string // name of the server, or CLASS:SERVER for an edge
	Most   int    // steps that can be bought; 1 for an edge
	IsEdge bool   // an edge, not an upgrade or new server
}

// Options returns everything that can be bought: upgrades, new servers, then edges.
func (p *Problem) Options() (all []Option) {
	for _, u := range p.Upgrades {
		all = append(all, Option{Name: u.Server, Most: u.Most})
	}
	for _, s := range p.NewServers {
		all = append(all, Option{Name: s.Name, Most: s.Most})
	}
	for _, e := range p.Edges {
		all = append(all, Option{Name: e.Class + ":" + e.Server, Most: 1, IsEdge: true})
	}
	return all
}

// Bought returns the number of steps of each option that a plan buys, in the order of
// [Problem.Options].
func (p *Problem) Bought(c Choice) []int {
	steps := make([]int, len(p.Upgrades)+len(p.NewServers)+len(p.Edges))
	copy(steps, c.Steps)
	for _, k := range c.Edges {
		steps[len(p.Upgrades)+len(p.NewServers)+k] = 1
	}
	return steps
}

// Words lists the purchases of a plan, such as "small=1,reports:big", or returns "none" if there
// are none.
func (p *Problem) Words(c Choice) string {
	var words []string
	options := p.Options()
	for k, n := range p.Bought(c) {
		switch {
		case n > 0 && options[k].IsEdge:
			words = append(words, options[k].Name)
		case n > 0:
			words = append(words, fmt.Sprintf("%s=%d", options[k].Name, n))
		}
	}
	if words == nil {
		return "none"
	}
	return strings.Join(words, ",")
}

// NewServerRow returns the row of new servers, or -1 if none have this name.
func (p *Problem) NewServerRow(name string) int {
	return slices.IndexFunc(p.NewServers, func(s NewServer) bool { return s.Name == name })
}

// Name describes the measure of a target: "mean delay of web".
func (t Target) Name() string {
	f := t.form()
	who := t.Class
	if who == "" {
		who = "all jobs"
	}
	switch {
	case f.with == percentileField:
		return "p" + decimal(t.Level) + " of the " + f.name + " of " + who
	case f.with == withinField:
		return "service level of " + who + " within " + decimal(t.Within) + " (" + f.name + ")"
	case f.about == "class":
		return f.name + " of " + who
	case f.about == "server":
		return f.name + " of " + t.Server
	}
	return f.name
}

// decimal writes a number as a decimal if it has one, otherwise as a fraction.
func decimal(x *big.Rat) string {
	if places, exact := x.FloatPrec(); exact {
		return x.FloatString(places)
	}
	return x.RatString()
}

// IsLeast reports whether the limit of a target is a minimum rather than a maximum, as for load
// factor, margin and service levels.
func (t Target) IsLeast() bool { return t.form().isLeast }
