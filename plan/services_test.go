package plan_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/gang"
	"productform/num"
	"productform/oneserver"
	"productform/plan"
)

// A centre is a random problem with one server per job or with gangs, and all of its plans.
type centre struct {
	problem *plan.Problem
	plans   []solvedPlan
}

// A solvedPlan has the measures of all targets, solved without package plan.
type solvedPlan struct {
	choice plan.Choice
	cost   *big.Rat
	values []num.Value // nil if unstable
}

func half(t *rapid.T, least, most int64, what string) *big.Rat {
	return big.NewRat(rapid.Int64Range(least, most).Draw(t, what), 2)
}

var soon = big.NewRat(1, 2)

// drawSkills draws a centre of two groups of servers and two classes, one for each. Edges let a
// class use both groups.
func drawSkills(t *rapid.T, patience *big.Rat, most int) *plan.Problem {
	m := &cluster.Model{Service: cluster.OneServer, MeanPatience: patience}
	p := &plan.Problem{Model: m}
	for s := range 2 {
		name := fmt.Sprint("s", s)
		m.Servers = append(m.Servers, cluster.Server{Name: name, Count: rapid.IntRange(1, 2).Draw(t, "count"),
			Capacity: half(t, 1, 4, "capacity")})
		u := plan.Upgrade{Server: name, Cost: half(t, 1, 6, "cost"), Most: most}
		if rapid.Bool().Draw(t, "adds servers") {
			u.Count = 1
		} else {
			u.Step = half(t, 1, 2, "step")
		}
		p.Upgrades = append(p.Upgrades, u)
	}
	for i := range 2 {
		c := cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: half(t, 1, 4, "rate")}
		c.Servers = []cluster.Choice{{Server: i, Choose: m.Servers[i].Size()}}
		other := m.Servers[1-i]
		switch rapid.IntRange(0, 3).Draw(t, "both") {
		case 0:
			c.Servers = append(c.Servers, cluster.Choice{Server: 1 - i, Choose: other.Size()})
		case 1:
			p.Edges = append(p.Edges, plan.Edge{Class: c.Name, Server: other.Name, Choose: other.Size(),
				Cost: half(t, 1, 4, "cost")})
		}
		m.Classes = append(m.Classes, c)
	}
	if rapid.IntRange(0, 3).Draw(t, "new") == 0 {
		p.NewServers = []plan.NewServer{{Name: "new", Capacity: half(t, 1, 4, "capacity"), Classes: []string{"c0"},
			Cost: half(t, 1, 6, "cost"), Most: 1}}
	}
	return p
}

// drawPool draws one pool, whose jobs never give up, give up immediately if they have to wait, or
// give up after some time.
func drawPool(t *rapid.T) *plan.Problem {
	m := &cluster.Model{Service: cluster.OneServer,
		Servers: []cluster.Server{{
			Name:     "s0",
			Count:    rapid.IntRange(1, 3).Draw(t, "count"),
			Capacity: big.NewRat(1, 1),
		}}}
	if x := rapid.Int64Range(-1, 3).Draw(t, "patience"); x >= 0 {
		m.MeanPatience = big.NewRat(x, 1)
	}
	for i := range 2 {
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: half(t, 1, 6, "rate"),
			Servers: []cluster.Choice{{Choose: m.Servers[0].Size()}}})
	}
	return &plan.Problem{Model: m, Upgrades: []plan.Upgrade{{Server: "s0", Count: rapid.IntRange(1, 2).Draw(t, "each"),
		Cost: half(t, 1, 4, "cost"), Most: 8}}}
}

// drawGangs draws a cluster whose jobs need several servers, of one kind or two.
func drawGangs(t *rapid.T) *plan.Problem {
	m := &cluster.Model{Service: cluster.Gang, Servers: []cluster.Server{{Name: "s0", Count: 4}}}
	p := &plan.Problem{Model: m, Upgrades: []plan.Upgrade{{Server: "s0", Count: 1, Cost: half(t, 1, 4, "cost"),
		Most: 6}}}
	for i, needs := range []int{1, rapid.IntRange(2, 4).Draw(t, "needs")} {
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: half(t, 1, 2, "rate"),
			Needs: []cluster.Choice{{Choose: needs}}})
	}
	if rapid.IntRange(0, 2).Draw(t, "two kinds") == 0 {
		m.Servers = append(m.Servers, cluster.Server{Name: "s1", Count: 2})
		m.Classes[1].Needs = append(m.Classes[1].Needs, cluster.Choice{Server: 1, Choose: 2})
		p.Upgrades[0].Most = 3
		p.Upgrades = append(p.Upgrades, plan.Upgrade{Server: "s1", Count: 2, Cost: half(t, 1, 4, "cost"), Most: 1})
	}
	return p
}

// A solver returns the measures that targets limit, with a plan.
type solver func(*plan.Problem, plan.Choice, []plan.Target) ([]num.Value, error)

// applied returns the solver of clusters with a plan.
func applied(solve func(*cluster.Model, []plan.Target) ([]num.Value, error)) solver {
	return func(p *plan.Problem, c plan.Choice, targets []plan.Target) ([]num.Value, error) {
		m, err := plan.Apply(p, c)
		if err != nil {
			return nil, err
		}
		return solve(m, targets)
	}
}

// drawCentre gives a problem one or two targets, solves all plans, and sets limits near the
// measures of one of them. A limit may be equal to a fraction.
func drawCentre(t *rapid.T, p *plan.Problem, targets []plan.Target, solve solver) *centre {
	first := rapid.IntRange(0, len(targets)-1).Draw(t, "target")
	p.Targets = append(p.Targets, targets[first])
	if second := rapid.IntRange(0, len(targets)-1).Draw(t, "target"); second != first {
		p.Targets = append(p.Targets, targets[second])
	}
	for row := range p.Targets { // any limits, until the measures are known
		p.Targets[row].Limit = big.NewRat(1, 2)
	}
	c := &centre{problem: p}
	for _, choice := range everyChoice(p) {
		values, err := solve(p, choice, p.Targets)
		if err != nil && !errors.Is(err, num.ErrUnstable) {
			t.Fatal(err)
		}
		c.plans = append(c.plans, solvedPlan{choice, costOf(p, choice), values})
	}
	if near := rapid.SampledFrom(c.plans).Draw(t, "near"); near.values != nil {
		for row := range p.Targets {
			drawLimit(t, &p.Targets[row], near.values[row])
		}
	}
	return c
}

// drawLimit sets a limit near a measure.
func drawLimit(t *rapid.T, target *plan.Target, v num.Value) {
	factors := []int64{9, 11}
	if v.Exact != nil {
		factors = append(factors, 10)
	}
	limit := new(big.Rat).Mul(rational(v), big.NewRat(rapid.SampledFrom(factors).Draw(t, "tenths"), 10))
	isTime := slices.Contains([]plan.Measure{plan.MeanWaiting, plan.MeanDelay, plan.WaitingPercentile, plan.Percentile,
		plan.LoadFactor, plan.Throughput, plan.ResponseTime}, target.Measure)
	if most := big.NewRat(19, 20); !isTime && limit.Cmp(most) > 0 {
		limit = most
	}
	if limit.Sign() > 0 {
		target.Limit = limit
	}
}

func rational(v num.Value) *big.Rat {
	if v.Exact != nil {
		return v.Exact
	}
	return new(big.Rat).SetFloat64(v.Float)
}

// meets reports whether a plan meets a target.
func (x solvedPlan) meets(p *plan.Problem, row int) bool {
	if x.values == nil {
		return false
	}
	sign := rational(x.values[row]).Cmp(p.Targets[row].Limit)
	return sign == 0 || (sign > 0) == p.Targets[row].IsLeast()
}

// meetsAll reports whether a plan meets all targets.
func (x solvedPlan) meetsAll(p *plan.Problem) bool {
	for row := range p.Targets {
		if !x.meets(p, row) {
			return false
		}
	}
	return x.values != nil
}

// at returns a plan, or nil if the choice is not one.
func (c *centre) at(choice plan.Choice) *solvedPlan {
	for i, x := range c.plans {
		if slices.Equal(x.choice.Steps, choice.Steps) && slices.Equal(x.choice.Edges, choice.Edges) {
			return &c.plans[i]
		}
	}
	return nil
}

// covered returns the plans that a corner claims to fail.
func (c *centre) covered(corner plan.Corner) (list []solvedPlan) {
	for _, x := range c.plans {
		same := slices.Equal(x.choice.Steps, corner.Choice.Steps) && slices.Equal(x.choice.Edges, corner.Choice.Edges)
		if same || !corner.Alone && isCovered(x.choice, corner) {
			list = append(list, x)
		}
	}
	return list
}

// isRight reports whether an answer is true and its corners prove it, plan by plan.
func (c *centre) isRight(a *plan.Answer) bool {
	covered := map[string]bool{}
	for _, corner := range a.Proof.Corners {
		if c.at(corner.Choice) == nil {
			return false
		}
		for _, x := range c.covered(corner) {
			fails := x.values == nil
			for row := range c.problem.Targets {
				fails = fails || corner.Fails == plan.FailsTarget(row) && !x.meets(c.problem, row)
			}
			if !fails {
				return false
			}
			covered[c.problem.Words(x.choice)] = true
		}
	}
	for _, x := range c.plans {
		if (a.Plan == nil || x.cost.Cmp(a.Proof.Below) < 0) && !covered[c.problem.Words(x.choice)] {
			return false
		}
	}
	if a.Plan == nil {
		return a.Proof.Below == nil
	}
	x := c.at(a.Plan.Choice)
	return x != nil && x.meetsAll(c.problem) && x.cost.Cmp(a.Plan.Cost) == 0 && x.cost.Cmp(a.Proof.Below) == 0
}

// check compares the answer of a search with brute force, and checks that the verification accepts
// it and rejects a corrupted one.
func (c *centre) check(t *rapid.T) {
	ctx, p := context.Background(), c.problem
	a, err := plan.LeastCost(ctx, p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	var want *big.Rat
	for _, x := range c.plans {
		if x.meetsAll(p) && (want == nil || x.cost.Cmp(want) < 0) {
			want = x.cost
		}
	}
	if !a.Complete || (want == nil) != (a.Plan == nil) || want != nil && a.Plan.Cost.Cmp(want) != 0 {
		t.Fatalf("complete %v, plan %+v, want cost %v", a.Complete, a.Plan, want)
	}
	if !c.isRight(a) {
		t.Fatalf("the corners %+v do not prove the answer", a.Proof.Corners)
	}
	if err := plan.Verify(ctx, p, a, plan.Settings{}); err != nil {
		t.Fatal(err)
	}
	isBoundEnough := corrupt(t, c, a)
	err = plan.Verify(ctx, p, a, plan.Settings{})
	switch {
	case err == nil && !c.isRight(a):
		t.Fatalf("a corrupted answer is accepted: %+v", a.Proof)
	case err != nil && !errors.Is(err, plan.ErrUnproved):
		t.Fatal(err)
	case err != nil && isBoundEnough && c.isRight(a):
		t.Fatalf("still right, and rejected: %v", err)
	}
}

// corrupt changes something in an answer. It reports whether the answer must be accepted if it is
// still right: some failures are right, but do not follow from a known bound.
func corrupt(t *rapid.T, c *centre, a *plan.Answer) (mustAccept bool) {
	isCorner := len(a.Proof.Corners) > 0 && rapid.IntRange(0, 5).Draw(t, "changes a corner") > 0
	if !isCorner {
		if a.Plan == nil {
			a.Proof.Below = c.plans[len(c.plans)-1].cost
			return true
		}
		other := rapid.SampledFrom(c.plans).Draw(t, "other")
		found := *a.Plan
		a.Plan, found.Choice, found.Cost, a.Proof.Below = &found, other.choice, other.cost, other.cost
		return true
	}
	i := rapid.IntRange(0, len(a.Proof.Corners)-1).Draw(t, "corner")
	corner := &a.Proof.Corners[i]
	switch rapid.IntRange(0, 4).Draw(t, "change") {
	case 0:
		a.Proof.Corners = slices.Delete(a.Proof.Corners, i, i+1)
		return true
	case 1:
		k := rapid.IntRange(0, len(corner.Steps)-1).Draw(t, "option")
		corner.Steps[k] += rapid.SampledFrom([]int{-1, 1}).Draw(t, "by")
	case 2:
		corner.Fewer = !corner.Fewer
	case 3:
		corner.Alone = !corner.Alone
	default:
		corner.Fails = plan.FailsTarget(rapid.IntRange(0, len(c.problem.Targets)).Draw(t, "row"))
	}
	return false
}

// asked returns the times and levels of targets.
func asked(targets []plan.Target) (times, levels []*big.Rat) {
	for _, t := range targets {
		if t.Within != nil {
			times = []*big.Rat{t.Within}
		}
		if t.Level != nil {
			levels = []*big.Rat{new(big.Rat).Quo(t.Level, big.NewRat(100, 1))}
		}
	}
	return times, levels
}

// solvePatient solves a model without patience: means in fractions, times in double precision.
func solvePatient(m *cluster.Model, targets []plan.Target) (list []num.Value, err error) {
	r, err := oneserver.Answer(context.Background(), m, oneserver.Question{}, oneserver.Settings{Engine: num.Exact})
	if err != nil {
		return nil, err
	}
	times := r
	if q := (oneserver.Question{}); asksTimes(targets) {
		q.Times, q.Levels = asked(targets)
		if times, err = oneserver.Answer(context.Background(), m, q, oneserver.Settings{}); err != nil {
			return nil, err
		}
	}
	for _, t := range targets {
		i := slices.IndexFunc(r.Classes, func(c oneserver.ClassResult) bool { return c.Name == t.Class })
		all := oneserver.ClassResult{MeanWaiting: r.MeanWaiting, MeanDelay: r.MeanDelay}
		mean, time := all, all
		if i >= 0 {
			mean, time = r.Classes[i], times.Classes[i]
		}
		switch t.Measure {
		case plan.Utilization:
			list = append(list, r.Servers[0].Utilization)
		case plan.MeanWaiting:
			list = append(list, *mean.MeanWaiting)
		case plan.MeanDelay:
			list = append(list, *mean.MeanDelay)
		case plan.WaitingPercentile:
			list = append(list, time.Waiting[0])
		case plan.Percentile:
			list = append(list, time.Delay[0])
		case plan.DelayWithin:
			list = append(list, time.Within[0].Delay)
		case plan.WaitingWithin:
			list = append(list, time.Within[0].Waiting)
		}
	}
	return list, nil
}

func asksTimes(targets []plan.Target) bool {
	times, levels := asked(targets)
	return len(times)+len(levels) > 0
}

// solveImpatient solves a model with patience in double precision.
func solveImpatient(m *cluster.Model, targets []plan.Target) (list []num.Value, err error) {
	s := oneserver.PatienceSettings{}
	s.Times, s.Levels = asked(targets)
	r, err := oneserver.SolvePatience(context.Background(), m, s)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		c := oneserver.PatienceClass{MeanWaiting: r.MeanWaiting, AbandonProbability: r.AbandonProbability}
		if i := slices.IndexFunc(r.Classes, func(c oneserver.PatienceClass) bool { return c.Name == t.Class }); i >= 0 {
			c = r.Classes[i]
		}
		v := num.Value{}
		switch t.Measure {
		case plan.Utilization:
			v.Float = r.Servers[0].Utilization
		case plan.MeanWaiting:
			v.Float = *c.MeanWaiting
		case plan.Abandon:
			v.Float = *c.AbandonProbability
		case plan.WaitingPercentile:
			v = c.Waiting[0]
		case plan.ServedWithin:
			v.Float = c.Within[0].ServedWithin
		case plan.ServedShareWithin:
			v.Float = c.Within[0].WithinIfServed
		case plan.WaitingWithin:
			v.Float = c.Within[0].WaitWithin
		}
		list = append(list, v)
	}
	return list, nil
}

// solveGangs solves a model with gangs: limits in fractions, and waits in double precision.
func solveGangs(m *cluster.Model, targets []plan.Target) ([]num.Value, error) {
	s, err := gang.CheckStability(context.Background(), m, gang.Settings{Engine: num.Exact})
	if err != nil {
		return nil, err
	}
	r, err := gang.Solve(context.Background(), m, gang.Settings{})
	if err != nil {
		return nil, err
	}
	var list []num.Value
	for _, t := range targets {
		switch {
		case t.Measure == plan.FIFOWaste:
			list = append(list, *s.FIFOWaste)
		case t.Measure == plan.LoadFactor:
			list = append(list, *s.CriticalScale)
		case t.Measure == plan.MeanDelay:
			list = append(list, *r.MeanDelay)
		case t.Class == "":
			list = append(list, *r.MeanWaiting)
		default:
			list = append(list, *r.Classes[1].MeanWaiting)
		}
	}
	return list, nil
}

// Targets of any class, and of jobs that never give up and of those that do.
var (
	anyTargets = []plan.Target{
		{Measure: plan.MeanWaiting}, {Measure: plan.MeanWaiting, Class: "c0"},
		{Measure: plan.WaitingPercentile, Class: "c0", Level: big.NewRat(80, 1)},
		{Measure: plan.WaitingWithin, Class: "c1", Within: soon}, {Measure: plan.Utilization, Server: "s0"},
	}
	patientTargets = append([]plan.Target{
		{Measure: plan.MeanDelay}, {Measure: plan.MeanDelay, Class: "c1"},
		{Measure: plan.DelayWithin, Class: "c1", Within: soon},
		{Measure: plan.Percentile, Class: "c0", Level: big.NewRat(80, 1)},
	}, anyTargets...)
	impatientTargets = append([]plan.Target{
		{Measure: plan.Abandon}, {Measure: plan.Abandon, Class: "c1"},
		{Measure: plan.ServedWithin, Class: "c0", Within: soon},
	}, anyTargets...)
	gangTargets = []plan.Target{
		{Measure: plan.MeanWaiting, Class: "c1"}, {Measure: plan.MeanWaiting}, {Measure: plan.MeanDelay},
		{Measure: plan.FIFOWaste}, {Measure: plan.LoadFactor},
	}
)

// The cheapest plan of clusters with one server per job and of gangs is that of brute force. Its
// certificate is accepted, and a corrupted one only if it still proves the answer, as a corner may
// be redundant.
func TestServicesMatchBruteForce(t *testing.T) {
	kinds := map[string]func(*rapid.T) *centre{
		"skills": func(t *rapid.T) *centre {
			return drawCentre(t, drawSkills(t, nil, 2), patientTargets, applied(solvePatient))
		},
		"patience": func(t *rapid.T) *centre {
			return drawCentre(t, drawSkills(t, big.NewRat(1, 1), 1), impatientTargets, applied(solveImpatient))
		},
		"pool": func(t *rapid.T) *centre {
			p := drawPool(t)
			if p.Model.MeanPatience == nil {
				return drawCentre(t, p, patientTargets, applied(solvePatient))
			}
			share := plan.Target{Measure: plan.ServedShareWithin, Class: "c0", Within: soon}
			return drawCentre(t, p, append([]plan.Target{share}, impatientTargets...), applied(solveImpatient))
		},
		"gangs": func(t *rapid.T) *centre { return drawCentre(t, drawGangs(t), gangTargets, applied(solveGangs)) },
	}
	rapid.Check(t, func(t *rapid.T) {
		kinds[rapid.SampledFrom(slices.Sorted(maps.Keys(kinds))).Draw(t, "kind")](t).check(t)
	})
}
