package plan

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"productform/cluster"
	"productform/internal/file"
	"productform/internal/input"
)

// Limits on a problem: on the number of edges, all sets of which are enumerated, and on the number
// of steps of an option.
const (
	MaxEdges = 16
	MaxSteps = 1_000_000
)

const (
	wantPercent = "a number > 0 and < 100"
	wantBusy    = "a number > 0 and < 1"
)

// Check reports whether the problem is valid. It returns nil or a *[num.InputError] for the first
// invalid field, named as in a file (see [Read]). The model must pass [cluster.Model.Check]; names
// must be those of the model; numbers must be in range; no measure may have two targets; every
// option must have an effect, and new servers must have unique names.
func (p *Problem) Check() error { return problemFile.CheckAll(p) }

// checkConditions rejects fields that are each in range but incompatible with each other or with
// the model.
func (p *Problem) checkConditions() error {
	if p.Model == nil {
		return input.Errorf("model", "", "%s", wantModel)
	}
	if err := input.Inside("model", cmp.Or(p.Model.Check(), p.Model.RequireService(cluster.AllServers),
		p.Model.RequireNoTimeouts())); err != nil {
		return err
	}
	if !slices.ContainsFunc(p.Model.Classes, func(c cluster.Class) bool { return c.ArrivalRate.Sign() > 0 }) {
		return input.Errorf(
			"model.classes", fmt.Sprintf("%d without arrivals", len(p.Model.Classes)), "a class with arrivals",
		)
	}
	for _, part := range []func() error{p.checkTargets, p.checkUpgrades, p.checkNewServers, p.checkEdges} {
		if err := part(); err != nil {
			return err
		}
	}
	if p.Minimize != "" {
		if _, err := p.arriving("minimize", p.Minimize); err != nil {
			return err
		}
	}
	_, _, err := p.WholeCosts()
	return err
}

// class returns the row of a class, or an error for an unknown name.
func (p *Problem) class(path, name string) (int, error) {
	i := p.ClassRow(name)
	if i < 0 {
		return 0, unknown(path, "class", name, p.Model.Classes, func(c cluster.Class) string { return c.Name })
	}
	return i, nil
}

// server returns the row of a server, or an error for an unknown name.
func (p *Problem) server(path, name string) (int, error) {
	i := p.ServerRow(name)
	if i < 0 {
		return 0, unknown(path, "server", name, p.Model.Servers, func(s cluster.Server) string { return s.Name })
	}
	return i, nil
}

func unknown[Row any](path, kind, name string, rows []Row, nameOf func(Row) string) error {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = nameOf(r)
	}
	return input.Errorf(path, strconv.Quote(name), "the name of a %s of the model%s",
		kind, file.DidYouMean(name, slices.Values(names), input.Quote))
}

// arriving returns the row of a class that has arrivals.
func (p *Problem) arriving(path, name string) (int, error) {
	i, err := p.class(path, name)
	if err == nil && p.Model.Classes[i].ArrivalRate.Sign() == 0 {
		err = input.Errorf(path, strconv.Quote(name), "a class with arrivals")
	}
	return i, err
}

func (p *Problem) checkTargets() error {
	type subject struct{ measure, name, level string }
	first := map[subject]int{}
	for i, t := range p.Targets {
		path := input.Index("targets", i)
		if err := p.checkTarget(path, t); err != nil {
			return err
		}
		about := subject{string(t.Measure), t.Class + t.Server, ""}
		if t.Measure == Percentile {
			about.level = t.Level.RatString()
		}
		if before, ok := first[about]; ok {
			return input.Errorf(path, t.limitText(), "one limit for each measure; %s has %s for this one",
				input.Index("targets", before), p.Targets[before].limitText())
		}
		first[about] = i
		if err := p.checkLevels(path, t, i); err != nil {
			return err
		}
	}
	return nil
}

// checkLevels rejects a limit on a percentile that has no effect because of an earlier one, or that
// makes an earlier one redundant: a higher percentile is at least as long.
func (p *Problem) checkLevels(path string, t Target, i int) error {
	if t.Measure != Percentile {
		return nil
	}
	for before, other := range p.Targets[:i] {
		if other.Measure != Percentile || other.Class != t.Class {
			continue
		}
		want := ""
		switch lower, longer := t.Level.Cmp(other.Level) < 0, t.Limit.Cmp(other.Limit); {
		case lower && longer >= 0:
			want = "a number < %s, the limit of %s on percentile %s of the same delay, or it has no effect"
		case !lower && longer <= 0:
			want = "a number > %s, the limit of %s on percentile %s of the same delay, or that one has no effect"
		default:
			continue
		}
		return input.Errorf(
			path+".delay", t.Limit.RatString(), want, other.Limit.RatString(), input.Index("targets", before),
			other.Level.RatString(),
		)
	}
	return nil
}

func (t Target) limitText() string { return t.Limit.RatString() }

func (p *Problem) checkTarget(path string, t Target) error {
	switch delays := t.Measure == MeanDelay || t.Measure == Percentile; {
	case t.Server != "" && t.Measure != Utilization:
		return input.Errorf(path+".server", strconv.Quote(t.Server), "no server: only a utilization has one")
	case t.Class != "" && !delays:
		return input.Errorf(
			path+".class", strconv.Quote(t.Class), "no class: only a mean delay and a percentile have one",
		)
	}
	switch t.Measure {
	case MeanDelay, Percentile:
		if t.Class != "" || t.Measure == Percentile {
			if _, err := p.arriving(path+".class", t.Class); err != nil {
				return err
			}
		}
		if t.Measure == MeanDelay {
			break
		}
		if _, err := p.Model.OneMeanSize(); err != nil {
			return input.Errorf(path+".percentile", ratText(t.Level), "mean_delay: targets on percentiles need one "+
				"mean size of all classes; simulation shows the effect of a plan on them")
		}
		if t.Level == nil || t.Level.Sign() <= 0 || t.Level.Cmp(hundred) >= 0 {
			return input.Errorf(path+".percentile", ratText(t.Level), wantPercent)
		}
		return input.CheckNumber(path+".delay", t.Limit, input.Positive)
	case Utilization:
		s, err := p.server(path+".server", t.Server)
		if err != nil {
			return err
		}
		if len(p.Users(s)) == 0 {
			return input.Errorf(path+".server", strconv.Quote(t.Server), "a server that a class with arrivals can use")
		}
		if t.Limit == nil || t.Limit.Sign() <= 0 || t.Limit.Cmp(one) >= 0 {
			return input.Errorf(path+".utilization", ratText(t.Limit), wantBusy)
		}
	case LoadFactor, Margin:
	default:
		return input.Errorf(
			path+".measure", strconv.Quote(string(t.Measure)),
			"mean_delay, percentile, utilization, load_factor or margin",
		)
	}
	return input.CheckNumber(path+"."+string(t.Measure), t.Limit, input.Positive)
}

var one, hundred = big.NewRat(1, 1), big.NewRat(100, 1)

func ratText(x *big.Rat) string {
	if x == nil {
		return ""
	}
	return x.RatString()
}

// Users returns the rows of the classes with arrivals that can use a server, with all edges bought.
func (p *Problem) Users(server int) (classes []int) {
	for i, c := range p.Model.Classes {
		uses := slices.ContainsFunc(c.Servers, func(k cluster.Choice) bool { return k.Server == server })
		for _, e := range p.Edges {
			uses = uses || e.Class == c.Name && e.Server == p.Model.Servers[server].Name
		}
		if uses && c.ArrivalRate.Sign() > 0 {
			classes = append(classes, i)
		}
	}
	return classes
}

func (p *Problem) checkUpgrades() error {
	first := map[int]int{}
	for k, u := range p.Upgrades {
		path := input.Index("upgrades", k)
		s, err := p.server(path+".server", u.Server)
		if err != nil {
			return err
		}
		if before, ok := first[s]; ok {
			return input.Errorf(path+".server", strconv.Quote(u.Server),
				"one upgrade for each server; %s is for this one",
				input.Index("upgrades", before))
		}
		first[s] = k
	}
	return nil
}

func (p *Problem) checkNewServers() error {
	for k, s := range p.NewServers {
		path := input.Index("new_servers", k)
		if row := p.ServerRow(s.Name); row >= 0 {
			return input.Errorf(path+".name", strconv.Quote(s.Name), "a unique name: %s", p.nameConflict(row))
		}
		if err := p.checkClasses(path+".classes", s.Classes); err != nil {
			return err
		}
	}
	return nil
}

// nameConflict describes the server or group of the model that has the name of new servers.
func (p *Problem) nameConflict(row int) string {
	draws := func(c cluster.Class) bool {
		return slices.ContainsFunc(c.Servers, func(k cluster.Choice) bool {
			return k.Server == row && k.Choose < p.Model.Servers[row].Size()
		})
	}
	switch {
	case slices.ContainsFunc(p.Model.Classes, draws):
		return "a group from which jobs draw servers does not grow in a plan, upgrades give each of its servers more " +
			"capacity, and a larger count in the model says what more of them do"
	case p.Model.Servers[row].Size() > 1:
		return "the model has a group of this name, and new servers for its classes are separate"
	}
	return "the model has a server of this name, to which an upgrade gives more capacity"
}

// checkClasses checks the classes of a new server.
func (p *Problem) checkClasses(path string, classes []string) error {
	arrivals := false
	for i, name := range classes {
		row, err := p.class(input.Index(path, i), name)
		if err != nil {
			return err
		}
		if slices.Contains(classes[:i], name) {
			return input.Errorf(input.Index(path, i), strconv.Quote(name), "each class once; it is already there")
		}
		arrivals = arrivals || p.Model.Classes[row].ArrivalRate.Sign() > 0
	}
	if !arrivals {
		return input.Errorf(path, fmt.Sprintf("%q", classes), "a class with arrivals, or the server has no effect")
	}
	return nil
}

func (p *Problem) checkEdges() error {
	if len(p.Edges) > MaxEdges {
		return input.Errorf("edges", fmt.Sprintf("%d of them", len(p.Edges)),
			"at most %d: all their sets are tried, here %d",
			MaxEdges, 1<<MaxEdges)
	}
	for k, e := range p.Edges {
		path := input.Index("edges", k)
		i, err := p.arriving(path+".class", e.Class)
		if err != nil {
			return err
		}
		for before, other := range p.Edges[:k] {
			if other.Class == e.Class && other.Server == e.Server {
				return input.Errorf(path, fmt.Sprintf("%s, %s", e.Class, e.Server), "each edge once; %s is the same",
					input.Index("edges", before))
			}
		}
		if added := p.NewServerRow(e.Server); added >= 0 {
			if err := p.checkNewEdge(path, e, p.NewServers[added]); err != nil {
				return err
			}
			continue
		}
		s, err := p.server(path+".server", e.Server)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(p.Model.Classes[i].Servers, func(c cluster.Choice) bool { return c.Server == s }) {
			return input.Errorf(path+".server", strconv.Quote(e.Server), "a server that %s cannot use yet",
				input.Quote(e.Class))
		}
		if size := p.Model.Servers[s].Size(); e.Choose < 0 || e.Choose > size || e.Choose == 0 && size > 1 {
			return input.Errorf(path+".choose", e.Choose, "an integer from 1 to %d, the servers in %s",
				size, input.Quote(e.Server))
		}
		if p.Model.Servers[s].Capacity.Sign() == 0 &&
			!slices.ContainsFunc(p.Upgrades, func(u Upgrade) bool { return u.Server == e.Server }) {
			return input.Errorf(
				path+".server", strconv.Quote(e.Server), "a server of positive capacity, or the edge has no effect",
			)
		}
	}
	return nil
}

// checkNewEdge checks an edge to new servers.
func (p *Problem) checkNewEdge(path string, e Edge, s NewServer) error {
	switch {
	case slices.Contains(s.Classes, e.Class):
		return input.Errorf(path+".server", strconv.Quote(e.Server), "a server that %s cannot use yet",
			input.Quote(e.Class))
	case e.Choose != 0:
		return input.Errorf(path+".choose", e.Choose, "no such field for new servers: each job uses all of them")
	}
	return nil
}
