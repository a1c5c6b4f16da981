package plan

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

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
	if err := p.checkModel(); err != nil {
		return err
	}
	for _, part := range []func() error{p.checkTargets, p.checkUpgrades, p.checkNewServers, p.checkEdges} {
		if err := part(); err != nil {
			return err
		}
	}
	if p.NoWorse && p.Service() != serviceAll {
		return input.Errorf("no_worse", true, "false %s, as purchases may make delays longer", p.with())
	}
	if p.Minimize != "" {
		if p.Loss != nil {
			return input.Errorf("minimize", strconv.Quote(p.Minimize), "nothing %s", p.with())
		}
		if _, err := p.arriving("minimize", p.Minimize); err != nil {
			return err
		}
	}
	_, _, err := p.WholeCosts()
	return err
}

// checkModel rejects models that are invalid or have no jobs.
func (p *Problem) checkModel() error {
	models := 0
	for _, has := range []bool{p.Model != nil, p.Network != nil, p.Loss != nil} {
		if has {
			models++
		}
	}
	if models != 1 {
		return input.Errorf("model", "", "%s", wantModel)
	}
	if err := p.system().Check(); err != nil {
		return input.Inside("model", err)
	}
	if p.Network != nil && p.Scale != nil && !hasOpen(p.Network) {
		return input.Errorf("scale", p.Scale.RatString(), "no factor: here all jobs are present from the start")
	}
	return nil
}

// Check rejects a model that is invalid, that no plan can be about, or that has no jobs.
func (s system) Check() error {
	p := &Problem{Model: s.cluster, Network: s.network, Loss: s.loss}
	var err error
	switch {
	case p.Network != nil:
		if err = p.Network.Check(); err == nil {
			err = p.Network.CheckSizes()
		}
	case p.Loss != nil:
		err = p.Loss.Check()
	default:
		err = cmp.Or(p.Model.Check(), p.Model.RequireNoTimeouts(), p.checkService())
	}
	if err != nil {
		return err
	}
	names := p.ClassNames()
	for row := range names {
		if p.hasJobs(row) {
			return nil
		}
	}
	return input.Errorf("classes", fmt.Sprintf("%d without arrivals", len(names)), "a class with arrivals")
}

// hasJobs reports whether jobs of a class arrive, or are present from the start.
func (p *Problem) hasJobs(class int) bool {
	switch {
	case p.Network != nil:
		return hasJobs(p.Network, class)
	case p.Loss != nil:
		return p.Loss.Classes[class].ArrivalRate.Sign() > 0
	}
	return p.Model.Classes[class].ArrivalRate.Sign() > 0
}

// checkService rejects models that the solvers of their service reject.
func (p *Problem) checkService() error {
	switch p.Service() {
	case serviceOne:
		_, err := p.Model.OneMeanSize()
		return err
	case serviceAll, serviceGang:
		return p.Model.RequireEndlessPatience("package plan accepts patience with service one")
	}
	return nil
}

// class returns the row of a class, or an error for an unknown name.
func (p *Problem) class(path, name string) (int, error) {
	i := p.ClassRow(name)
	if i < 0 {
		return 0, unknown(path, "class", name, p.ClassNames())
	}
	return i, nil
}

// server returns the row of a server, or an error for an unknown name.
func (p *Problem) server(path, name string) (int, error) {
	i := p.ServerRow(name)
	if i < 0 {
		what := "server"
		if p.Network != nil {
			what = "station"
		}
		if p.Loss != nil {
			return 0, input.Errorf(path, strconv.Quote(name), "a number of the system: %s",
				strings.Join(p.ServerNames(), ", "))
		}
		return 0, unknown(path, what, name, p.ServerNames())
	}
	return i, nil
}

func unknown(path, kind, name string, names []string) error {
	return input.Errorf(path, strconv.Quote(name), "%s",
		file.WantName("the name of a "+kind+" of the model", name, names))
}

// arriving returns the row of a class that has arrivals.
func (p *Problem) arriving(path, name string) (int, error) {
	i, err := p.class(path, name)
	if err == nil && !p.hasJobs(i) {
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
		if t.Level != nil {
			about.level = t.Level.RatString()
		}
		if t.Within != nil {
			about.level = t.Within.RatString()
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
	if t.Level == nil {
		return nil
	}
	for before, other := range p.Targets[:i] {
		if other.Measure != t.Measure || other.Class != t.Class {
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
			path+"."+t.form().field, t.Limit.RatString(), want, other.Limit.RatString(), input.Index("targets", before),
			other.Level.RatString(),
		)
	}
	return nil
}

func (t Target) limitText() string { return ratText(t.Limit) }

func (p *Problem) checkTarget(path string, t Target) error {
	f := t.form()
	switch {
	case f.measure == "":
		return input.Errorf(path+".measure", strconv.Quote(string(t.Measure)), "%s", p.wantMeasure())
	case !slices.Contains(f.services, p.Service()):
		return input.Errorf(path+"."+f.field, t.limitText(), "no such target: %s", p.wantMeasure())
	case t.Server != "" && f.about != "server":
		return input.Errorf(path+".server", strconv.Quote(t.Server), "no server: only a utilization has one")
	case t.Class != "" && f.about != "class":
		return input.Errorf(path+".class", strconv.Quote(t.Class),
			"no class: only times, service levels and probabilities of giving up have one")
	case t.Level != nil && f.with != percentileField:
		return input.Errorf(path+"."+percentileField, t.Level.RatString(), "no level: only a percentile has one")
	case t.Within != nil && f.with != withinField:
		return input.Errorf(path+"."+withinField, t.Within.RatString(), "no time: only a service level has one")
	}
	if err := cmp.Or(p.checkSubject(path, t, f), p.checkPatience(path, t)); err != nil {
		return err
	}
	switch {
	case t.Measure == Percentile && p.hasSizes():
		return input.Errorf(path+"."+percentileField, ratText(t.Level), "mean_delay: targets on percentiles need one "+
			"mean size of all classes; simulation shows the effect of a plan on them")
	case f.with == percentileField && (t.Level == nil || t.Level.Sign() <= 0 || t.Level.Cmp(hundred) >= 0):
		return input.Errorf(path+"."+percentileField, ratText(t.Level), wantPercent)
	case f.with == withinField:
		if err := input.CheckNumber(path+"."+withinField, t.Within, input.Nonnegative); err != nil {
			return err
		}
	}
	if f.want == wantBusy {
		if t.Limit == nil || t.Limit.Sign() <= 0 || t.Limit.Cmp(one) >= 0 {
			return input.Errorf(path+"."+f.field, ratText(t.Limit), wantBusy)
		}
		return nil
	}
	return input.CheckNumber(path+"."+f.field, t.Limit, f.want)
}

// wantMeasure lists the measures of the models that have the service of the problem.
func (p *Problem) wantMeasure() string {
	return p.with() + " there are " + strings.Join(measureNames(p.Service()), ", ")
}

// with names the kind of the model.
func (p *Problem) with() string {
	if p.Model == nil {
		return "with a " + p.Service()
	}
	return "with service " + p.Service()
}

// hasSizes reports whether classes differ in their mean sizes.
func (p *Problem) hasSizes() bool {
	_, err := p.Model.OneMeanSize()
	return err != nil
}

// checkSubject rejects a target on an unknown class or server, or on one without jobs.
func (p *Problem) checkSubject(path string, t Target, f form) error {
	switch {
	case p.Network != nil:
		return p.checkStationTarget(path, t, f)
	case p.Loss != nil:
		return p.checkLossTarget(path, t, f)
	case f.about == "class" && (t.Class != "" || !f.all):
		_, err := p.arriving(path+".class", t.Class)
		return err
	case f.about == "server":
		s, err := p.server(path+".server", t.Server)
		if err == nil && len(p.Users(s)) == 0 {
			err = input.Errorf(path+".server", strconv.Quote(t.Server), "a server that a class with arrivals can use")
		}
		return err
	}
	return nil
}

// checkPatience rejects targets that are not known to improve with servers if jobs give up, or that
// have no limit then, and targets on giving up if no job does.
func (p *Problem) checkPatience(path string, t Target) error {
	name := path + "." + t.form().field
	switch impatient := isImpatient(p.Model); {
	case p.Model == nil:
		return nil
	case impatient && t.Measure.isDelay():
		return input.Errorf(
			name, t.limitText(), "a limit on waiting: jobs that give up depart early, so with patience "+
				"more servers may make delays longer",
		)
	case impatient && (t.Measure == LoadFactor || t.Measure == Margin):
		return input.Errorf(name, t.limitText(), "a limit on waiting: with patience, no load is too large to be stable")
	case !impatient && t.Measure == Abandon:
		return input.Errorf(name, t.limitText(), "mean_patience in the model: no job gives up")
	}
	return nil
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
		uses := slices.ContainsFunc(slices.Concat(c.Servers, c.Needs), func(k cluster.Choice) bool {
			return k.Server == server
		})
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
		if err := p.checkStep(path, u, s); err != nil {
			return err
		}
	}
	return nil
}

// checkStep checks what a step of an upgrade of a row adds.
func (p *Problem) checkStep(path string, u Upgrade, row int) error {
	draws := func(name string, c cluster.Choice) error {
		if size := p.Model.Servers[row].Size(); c.Server == row && c.Choose < size {
			return input.Errorf(path+".count", u.Count,
				"step, or a group of which every job may use all servers: jobs "+
					"of %s draw from this one, and more servers may make their waits longer", input.Quote(name))
		}
		return nil
	}
	switch {
	case u.Count != 0 && u.Step != nil:
		return input.Errorf(path+".count", u.Count, "step or count, but not both")
	case u.Count == 0 && u.Step == nil:
		return input.Errorf(path+".step", "", "%s, or count", input.Positive)
	case p.Network != nil:
		return p.checkStationStep(path, u, row)
	case p.Loss != nil:
		return p.checkLossStep(path, u)
	case u.Count == 0 && p.Service() == serviceGang:
		return input.Errorf(path+".step", u.Step.RatString(), "count: gangs need numbers of servers")
	case u.Count == 0:
		return nil
	case p.Service() == serviceAll:
		return input.Errorf(path+".count", u.Count, "step, or new_servers: count is for services one and gang")
	}
	if most := (mostServers - p.Model.Servers[row].Size()) / u.Count; u.Most > most {
		return input.Errorf(path+".most", u.Most, "an integer from 1 to %d, for at most %d servers in the group", most,
			mostServers)
	}
	for _, c := range p.Model.Classes {
		for _, k := range c.Servers {
			if err := draws(c.Name, k); err != nil {
				return err
			}
		}
	}
	for _, e := range p.Edges {
		if p.ServerRow(e.Server) == row {
			if err := draws(e.Class, cluster.Choice{Server: row, Choose: max(e.Choose, 1)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostServers is the largest number of servers in a group.
const mostServers = 1_000_000

func (p *Problem) checkNewServers() error {
	if len(p.NewServers) > 0 && !p.addsRows() {
		return input.Errorf("new_servers", fmt.Sprintf("%d of them", len(p.NewServers)),
			"none %s: upgrades with count add servers", p.with())
	}
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

// addsRows reports whether plans may add new servers and edges to the model.
func (p *Problem) addsRows() bool { return p.Service() == serviceAll || p.Service() == serviceOne }

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
			"capacity, and a larger count in the model shows the effect of more servers"
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
	if len(p.Edges) > 0 && !p.addsRows() {
		return input.Errorf("edges", fmt.Sprintf("%d of them", len(p.Edges)), "none %s", p.with())
	}
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
		if p.Model.Servers[s].Capacity.Sign() == 0 && (p.Service() == serviceOne ||
			!slices.ContainsFunc(p.Upgrades, func(u Upgrade) bool { return u.Server == e.Server })) {
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
