package plan

import (
	"fmt"
	"slices"
	"strings"

	"productform/cluster"
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

// ClassRow returns the row of a class of the model, or -1 if no class has this name.
func (p *Problem) ClassRow(name string) int {
	return slices.IndexFunc(p.Model.Classes, func(c cluster.Class) bool { return c.Name == name })
}

// ServerRow returns the row of a server of the model, or -1 if no server has this name.
func (p *Problem) ServerRow(name string) int {
	return slices.IndexFunc(p.Model.Servers, func(s cluster.Server) bool { return s.Name == name })
}

// NewServerRow returns the row of new servers, or -1 if none have this name.
func (p *Problem) NewServerRow(name string) int {
	return slices.IndexFunc(p.NewServers, func(s NewServer) bool { return s.Name == name })
}

// Name describes the measure of a target: "mean delay of web".
func (t Target) Name() string {
	who := t.Class
	if who == "" {
		who = "all jobs"
	}
	switch t.Measure {
	case MeanDelay:
		return "mean delay of " + who
	case Percentile:
		level := t.Level.RatString()
		if places, exact := t.Level.FloatPrec(); exact {
			level = t.Level.FloatString(places)
		}
		return "p" + level + " of the delay of " + who
	case Utilization:
		return "utilization of " + t.Server
	}
	return strings.ReplaceAll(string(t.Measure), "_", " ")
}

// IsLeast reports whether the limit of a target is a minimum rather than a maximum: it is for load
// factor and margin.
func (t Target) IsLeast() bool { return t.Measure == LoadFactor || t.Measure == Margin }
