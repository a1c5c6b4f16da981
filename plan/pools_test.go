package plan_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/network/loss"
	"productform/num"
	"productform/oneserver"
	"productform/plan"
)

// The fewest servers of a pool are those that an independent program found, and the measures with
// that number and with one fewer have the digits that it computed.
func TestFewestServers(t *testing.T) {
	var cases []struct {
		Name  string
		Model struct {
			MeanDuration string  `json:"mean_duration"`
			MeanPatience *string `json:"mean_patience"`
			Classes      []struct {
				Rate string `json:"arrival_rate"`
			}
		}
		Target *struct {
			Measure, Within, Value string
		}
		Answer struct {
			Fewest    int    `json:"fewest_servers"`
			AtFewest  string `json:"value_at_fewest"`
			AtOneLess string `json:"value_at_one_less"`
		}
	}
	text := oracle.Must(os.ReadFile("../network/loss/testdata/patience.json"))
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Target == nil {
			continue
		}
		target := plan.Target{Measure: map[string]plan.Measure{"mean_wait": plan.MeanWaiting,
			"abandon_probability": plan.Abandon, "served_within": plan.ServedWithin}[c.Target.Measure]}
		target.Limit = num.Rat(c.Target.Value)
		if target.Measure == plan.ServedWithin {
			target.Class, target.Within = "a", num.Rat(c.Target.Within)
		}
		m := &cluster.Model{Service: cluster.OneServer, MeanSize: num.Rat(c.Model.MeanDuration),
			Servers: []cluster.Server{{Name: "s", Count: 1, Capacity: big.NewRat(1, 1)}}}
		for i, k := range c.Model.Classes {
			m.Classes = append(m.Classes, cluster.Class{Name: string(rune('a' + i)), ArrivalRate: num.Rat(k.Rate),
				Servers: cluster.On(0)})
		}
		if c.Model.MeanPatience != nil {
			m.MeanPatience = num.Rat(*c.Model.MeanPatience)
		}
		p := &plan.Problem{Model: m, Targets: []plan.Target{target},
			Upgrades: []plan.Upgrade{{Server: "s", Count: 1, Cost: big.NewRat(1, 1), Most: 1000}}}
		a, err := plan.LeastCost(t.Context(), p, plan.SearchSettings{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Plan == nil || 1+a.Plan.Choice.Steps[0] != c.Answer.Fewest {
			t.Fatalf("%s: plan %+v, want %d servers", c.Name, a.Plan, c.Answer.Fewest)
		}
		if err := plan.Verify(t.Context(), p, a, plan.Settings{}); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		for less, want := range []string{c.Answer.AtFewest, c.Answer.AtOneLess} {
			if less > a.Plan.Choice.Steps[0] {
				break
			}
			o, err := plan.Evaluate(
				t.Context(), p, plan.Choice{Steps: []int{c.Answer.Fewest - 1 - less}}, plan.Settings{},
			)
			if err != nil {
				t.Fatal(err)
			}
			low, high := o.Targets[0].Value.Bounds()
			if x := num.Nearest(num.Rat(want)); !(low <= x && x <= high && high-low < 1e-9*x) {
				t.Errorf("%s: %d less: between %v and %v, want %s", c.Name, less, low, high, want)
			}
		}
	}
}

// Overloaded pools of patient jobs have the numbers of [loss.ErlangA], within the bounds of both.
func TestCrowdedPools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "servers")
		q := &loss.Queue{Servers: n, MeanDuration: half(t, 1, 4, "duration"),
			MeanPatience: half(t, 200, 2000, "patience")}
		load := big.NewRat(rapid.Int64Range(110, 400).Draw(t, "load"), 100)
		q.ArrivalRate = load.Mul(load, new(big.Rat).Quo(big.NewRat(int64(n), 1), q.MeanDuration))
		times := []*big.Rat{big.NewRat(0, 1), half(t, 1, 20, "time")}
		got := plan.SolveCrowded(q, times)
		if got == nil {
			return
		}
		want, err := loss.ErlangA(t.Context(), q, loss.QueueQuestion{Within: times}, loss.FormulaSettings{})
		if err != nil {
			t.Fatal(err)
		}
		list := []num.Value{want.MeanJobs.Times(new(big.Rat).Inv(q.ArrivalRate)), want.MeanWaiting,
			want.AbandonProbability, want.Utilization}
		for _, w := range want.Within {
			list = append(list, w.WaitWithin, w.ServedWithin, w.WithinIfServed)
		}
		for i, v := range list {
			low, high := got[i].Bounds()
			if bound := v.Float * want.RelativeErrorBound; !(low <= v.Float+bound && v.Float-bound <= high) {
				t.Errorf("number %d: between %v and %v, want %v", i, low, high, v.Float)
			}
		}
	})
}

// The delays of a pool have the same distribution as by the equations for any cluster.
func TestDelaysOfPools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPool(t)
		p.Model.MeanPatience = nil
		target := plan.Target{Measure: plan.DelayWithin, Class: "c0", Within: half(t, 0, 8, "within"), Limit: soon}
		p.Targets = []plan.Target{target}
		for _, c := range everyChoice(p) {
			o, err := plan.Evaluate(t.Context(), p, c, plan.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			m, err := plan.Apply(p, c)
			if err != nil {
				t.Fatal(err)
			}
			q := oneserver.Question{Times: []*big.Rat{target.Within}}
			r, err := oneserver.Answer(t.Context(), m, q, oneserver.Settings{})
			if errors.Is(err, num.ErrUnstable) && o.Solution == nil {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			low, high := o.Targets[0].Value.Bounds()
			if a, b := r.Classes[0].Within[0].Delay.Bounds(); low > b || a > high || high-low > 1e-11 {
				t.Fatalf("%v: between %v and %v, want between %v and %v", c, low, high, a, b)
			}
		}
	})
}

// problemOf reads a problem with a model in one line.
func problemOf(t *testing.T, model, rest string) *plan.Problem {
	t.Helper()
	p, err := plan.Read(strings.NewReader("model: {"+model+"}\n"+rest), ".")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const (
	twoSkills = "service: one, servers: [{name: s, count: 2, capacity: 1}, {name: u, capacity: 2}], " +
		"classes: [{name: a, arrival_rate: 1, servers: [s]}, {name: b, arrival_rate: 1, servers: [s, u]}]"
	onePool = "service: one, servers: [{name: s, count: 2, capacity: 1}], " +
		"classes: [{name: a, arrival_rate: 3, servers: [s]}], mean_patience: 2"
	oneGang = "service: gang, servers: [{name: s, count: 4}], " +
		"classes: [{name: a, arrival_rate: 1, needs: {s: 1}}, {name: b, arrival_rate: 0.25, needs: {s: 3}}]"
	oneChain = "stations: [{name: think, discipline: delay}, {name: s, discipline: fcfs}], classes: [{name: a, " +
		"population: 9, visits: [{station: think, mean_size: 6, next: {s: 1}}, {station: s, mean_size: 4, next: " +
		"{think: 1}}]}]"
	openNetwork = "stations: [{name: s, discipline: fcfs}], " +
		"classes: [{name: a, arrival_rate: 0.5, visits: [{station: s, visits: 1}]}]"
	link         = "room: 2, classes: [{name: a, arrival_rate: 1}]"
	moreRoom     = "\nupgrades: [{server: room, count: 1, cost: 1, most: 9}]"
	moreServers  = "\nupgrades: [{server: s, count: 1, cost: 1, most: 6}]"
	moreCapacity = "\nupgrades: [{server: s, step: 1, cost: 1, most: 6}]"
)

// joining returns a model with one more class.
func joining(model, class string) string { return strings.TrimSuffix(model, "]") + ", " + class + "]" }

// A margin counts the servers of classes without arrivals, so a plan may have to buy them.
func TestMarginOfNoArrivals(t *testing.T) {
	for _, service := range []string{"all", "one"} {
		p := problemOf(t, "service: "+service+", servers: [{name: s, capacity: 2}, {name: u, capacity: 1}], "+
			"classes: [{name: a, arrival_rate: 1, servers: [s]}, {name: b, arrival_rate: 0, servers: [u]}]",
			"targets: [{margin: 2}]\nupgrades: [{server: s, step: 1, cost: 1}, {server: u, step: 1, cost: 1}]")
		a, err := plan.LeastCost(t.Context(), p, plan.SearchSettings{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Plan == nil || a.Plan.Cost.Cmp(big.NewRat(2, 1)) != 0 || a.Plan.Targets[0].Verdict != plan.Met {
			t.Errorf("service %s: plan %+v, want one of cost 2", service, a.Plan)
		}
		if err := plan.Verify(t.Context(), p, a, plan.Settings{}); err != nil {
			t.Errorf("service %s: %v", service, err)
		}
	}
}

// A fraction of jobs that do not wait may be equal to its limit, which meets the target.
func TestTiesAtOnce(t *testing.T) {
	p := problemOf(t, "service: one, servers: [{name: s, count: 2, capacity: 1}], "+
		"classes: [{name: a, arrival_rate: 1, servers: [s]}]", // C(2, 1) = 1/3
		"targets: [{class: a, within: 0, waiting: 2/3}]"+moreServers)
	a, err := plan.LeastCost(t.Context(), p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Plan == nil || a.Plan.Cost.Sign() != 0 {
		t.Errorf("plan %+v, want no purchase", a.Plan)
	}
	if err := plan.Verify(t.Context(), p, a, plan.Settings{}); err != nil {
		t.Error(err)
	}
}

// A proof names what it rests on.
func TestRestsOn(t *testing.T) {
	for _, c := range []struct {
		model, rest string
		want        []string
	}{
		{
			"servers: [{name: s, capacity: 1}], classes: [{name: a, arrival_rate: 2, servers: [s]}]",
			"targets: [{class: a, mean_delay: 1}]" + moreCapacity, []string{plan.ReasonJobs},
		},
		{twoSkills, "targets: [{class: a, mean_waiting: 0.1}]" + moreServers, []string{plan.ReasonWaits}},
		{
			twoSkills, "targets: [{class: a, within: 2, delay: 0.8}]" + moreServers,
			[]string{plan.ReasonWaits, plan.ReasonOneSpeed},
		},
		{twoSkills, "targets: [{mean_delay: 0.6}]" + moreCapacity, []string{plan.ReasonWaits, plan.ReasonPresent}},
		{twoSkills, "targets: [{mean_delay: 1}]" + moreServers, []string{plan.ReasonWaits, plan.ReasonDelayBound}},
		{
			twoSkills,
			"targets: [{class: b, percentile: 90, delay: 1.5}]\nupgrades: [{server: u, count: 1, cost: 1, most: 6}]",
			[]string{plan.ReasonWaits, plan.ReasonDelayBound},
		},
		{
			twoSkills,
			"targets: [{class: a, within: 1, waiting: 0.99}]\nedges: [{class: a, server: u, cost: 1}]" + moreServers,
			[]string{plan.ReasonWaits, plan.ReasonEdges},
		},
		{
			twoSkills + ", mean_patience: 1", "targets: [{class: b, abandon_probability: 0.01}]" + moreServers,
			[]string{plan.ReasonWaits, plan.ReasonEstimates},
		},
		{
			onePool, "targets: [{class: a, within: 0.5, served: 0.9}]" + moreServers, []string{plan.ReasonWaits},
		},
		{
			onePool, "targets: [{class: a, within: 0.5, served_share: 0.9}]" + moreServers,
			[]string{plan.ReasonWaits, plan.ReasonServed},
		},
		{
			oneGang, "targets: [{class: b, mean_waiting: 0.5}]" + moreServers,
			[]string{plan.ReasonGang, plan.ReasonEstimates},
		},
		{oneGang, "targets: [{load_factor: 2}]" + moreServers, []string{plan.ReasonGang}},
		{oneGang, "targets: [{fifo_waste: 0.1}]" + moreServers, []string{plan.ReasonGang, plan.ReasonSolved}},
		{oneChain, "targets: [{throughput: 0.8}]" + moreServers, []string{plan.ReasonClosed}},
		{oneChain, "targets: [{class: a, mean_response_time: 5}]" + moreServers, []string{plan.ReasonClosed}},
		{
			oneChain, "targets: [{mean_response_time: 9}]\nupgrades: [{server: s, step: 1, cost: 1, most: 6}, " +
				"{server: think, step: 1, cost: 3}]", []string{plan.ReasonSolved},
		},
		{
			oneChain, "targets: [{throughput: 0.8}, {server: s, utilization: 0.9}]" + moreServers,
			[]string{plan.ReasonClosed, plan.ReasonSolved},
		},
		{openNetwork, "targets: [{class: a, mean_delay: 1.5}]" + moreServers, []string{plan.ReasonOpen}},
		{
			joining(openNetwork, "{name: b, population: 2, visits: [{station: s, visits: 1}]}"),
			"targets: [{class: b, throughput: 1.5}]" + moreServers, []string{plan.ReasonSolved},
		},
		{link, "targets: [{blocking: 0.1}, {class: a, throughput: 0.9}]" + moreRoom, []string{plan.ReasonLink}},
		{
			joining(link, "{name: b, arrival_rate: 1, units: 2}"), "targets: [{blocking: 0.1}]" + moreRoom,
			[]string{plan.ReasonSolved},
		},
		{
			link + ", servers: 1", "targets: [{class: a, blocking: 0.25}, {class: a, mean_waiting: 9}]" + moreRoom,
			[]string{plan.ReasonLink, plan.ReasonSolved},
		},
	} {
		p := problemOf(t, c.model, c.rest)
		a, err := plan.LeastCost(t.Context(), p, plan.SearchSettings{})
		if err != nil {
			t.Fatalf("%s: %v", c.rest, err)
		}
		if a.Plan == nil || !a.Complete || a.Plan.Cost.Sign() == 0 {
			t.Errorf("%s: plan %+v, want a purchase", c.rest, a.Plan)
		}
		if !slices.Equal(a.Proof.RestsOn, c.want) {
			t.Errorf("%s: rests on %q, want %q", c.rest, a.Proof.RestsOn, c.want)
		}
		a.Proof.RestsOn = append(slices.Clone(c.want), "trust")
		if err := plan.Verify(t.Context(), p, a, plan.Settings{}); !errors.Is(err, plan.ErrUnproved) {
			t.Errorf("%s: other reasons: error %v", c.rest, err)
		}
	}
}

// The shortest mean delay is found only if no purchase makes it longer, and no certificate says
// otherwise.
func TestNoShortestDelay(t *testing.T) {
	for _, c := range []struct{ model, rest, path string }{
		{twoSkills, "targets: []" + moreServers, "model.service"},
		{onePool, "targets: []" + moreServers, "model.mean_patience"},
		{oneGang, "targets: []" + moreServers, "targets"},
		{oneGang, "targets: [{mean_waiting: 1}, {fifo_waste: 0.5}]" + moreServers, "targets[1]"},
		{joining(openNetwork, "{name: b, population: 2, visits: [{station: s, visits: 1}]}"), "minimize: b", "model"},
		{joining(openNetwork, "{name: b, population: 2, visits: [{station: s, visits: 1}]}"), "scale: 1", "minimize"},
		{link, "targets: [{blocking: 0.1}]" + moreRoom, "model"},
	} {
		p := problemOf(t, c.model, c.rest)
		var bad *num.InputError
		_, err := plan.LeastDelay(t.Context(), p, plan.SearchSettings{})
		if !errors.As(err, &bad) || bad.Path != c.path {
			t.Errorf("%s: error %v, want one of %s", c.rest, err, c.path)
		}
		a, err := plan.LeastCost(t.Context(), p, plan.SearchSettings{})
		if err != nil {
			t.Fatal(err)
		}
		a.Proof.Delay = new(1e-9)
		a.Proof.Below = nil
		if err := plan.Verify(t.Context(), p, a, plan.Settings{}); !errors.Is(err, plan.ErrUnproved) {
			t.Errorf("%s: a bound on the delay: error %v", c.rest, err)
		}
	}
}

// Targets and options that a service does not have, and targets that are not known to improve, are
// rejected.
func TestBadServices(t *testing.T) {
	for _, c := range []struct{ model, rest, path, want string }{
		{twoSkills, "targets: [{fifo_waste: 0.1}]", "targets[0].fifo_waste", "with service one there are mean_delay"},
		{oneGang, "targets: [{margin: 1}]", "targets[0].margin", "with service gang there are mean_delay"},
		{oneGang, "targets: [{class: a, within: 1, waiting: 0.5}]", "targets[0].waiting", "no such target"},
		{
			twoSkills, "targets: [{class: a, abandon_probability: 0.1}]", "targets[0].abandon_probability",
			"mean_patience",
		},
		{onePool, "targets: [{mean_delay: 1}]", "targets[0].mean_delay", "a limit on waiting"},
		{onePool, "targets: [{load_factor: 1}]", "targets[0].load_factor", "a limit on waiting"},
		{
			twoSkills + ", mean_patience: 1", "targets: [{class: a, within: 1, served_share: 0.5}]",
			"targets[0].served_share", "one pool of equal servers",
		},
		{
			twoSkills, "targets: [{class: a, within: 1, waiting: 0.5, percentile: 80}]", "targets[0].within",
			"no such field",
		},
		{twoSkills, "targets: [{class: a, within: -1, waiting: 0.5}]", "targets[0].within", "a number >= 0"},
		{twoSkills, "targets: [{class: a, waiting: 0.5}]", "targets[0].percentile", "a number > 0 and < 100"},
		{twoSkills, "no_worse: true", "no_worse", "false"},
		{twoSkills, "upgrades: [{server: s, cost: 1}]", "upgrades[0].step", "or count"},
		{twoSkills, "upgrades: [{server: s, step: 1, count: 1, cost: 1}]", "upgrades[0].count", "not both"},
		{twoSkills, "upgrades: [{server: s, count: 1, cost: 1, most: 1000000}]", "upgrades[0].most", "999998"},
		{oneGang, "upgrades: [{server: s, step: 1, cost: 1}]", "upgrades[0].step", "count"},
		{
			oneGang, "new_servers: [{name: x, capacity: 1, classes: [a], cost: 1}]", "new_servers",
			"none with service gang",
		},
		{oneChain, "targets: [{mean_waiting: 1}]", "targets[0].mean_waiting", "with a network there are mean_delay"},
		{oneChain, "targets: [{class: b, throughput: 1}]", "targets[0].class", "the name of a class"},
		{oneChain, "targets: [{server: think, utilization: 0.5}]", "targets[0].server", "has a utilization"},
		{oneChain, "targets: [{server: disk, utilization: 0.5}]", "targets[0].server", "the name of a station"},
		{openNetwork, "targets: [{throughput: 1}]", "targets[0].throughput", "a closed chain"},
		{openNetwork, "targets: [{mean_response_time: 1}]", "targets[0].mean_response_time", "mean_delay"},
		{
			joining(openNetwork, "{name: b, population: 2, visits: [{station: s, visits: 1}]}"),
			"targets: [{throughput: 1}]",
			"targets[0].class", "several chains",
		},
		{oneChain, "scale: 2", "scale", "no factor"},
		{oneChain, "no_worse: true", "no_worse", "false with a network"},
		{link, "minimize: a", "minimize", "nothing with a system with losses"},
		{oneChain, "upgrades: [{server: think, count: 1, cost: 1}]", "upgrades[0].count", "step"},
		{
			oneChain, "new_servers: [{name: x, capacity: 1, classes: [a], cost: 1}]", "new_servers",
			"none with a network",
		},
		{
			strings.Replace(openNetwork, "discipline: fcfs", "rates: [1, 2], discipline: fcfs", 1),
			"upgrades: [{server: s, count: 1, cost: 1}]", "upgrades[0].server", "a station with servers and a rate",
		},
		{
			"stations: [{name: s, discipline: lcfs}], classes: [{name: a, arrival_rate: 1/9, visits: [{station: s, " +
				"visits: 1}]}, {name: b, arrival_rate: 1/9, visits: [{station: s, visits: 1, mean_size: 2}]}]",
			"upgrades: [{server: s, count: 1, cost: 1}]", "upgrades[0].count", "needs one mean size",
		},
		{link, "targets: [{class: a, mean_waiting: 1}]", "targets[0].mean_waiting", "equal servers"},
		{link, "targets: [{mean_delay: 1}]", "targets[0].mean_delay", "with a system with losses there are"},
		{link, "upgrades: [{server: rooms, count: 1, cost: 1}]", "upgrades[0].server", "a number of the system: room"},
		{link, "upgrades: [{server: room, step: 1, cost: 1}]", "upgrades[0].step", "count"},
		{link, "upgrades: [{server: room, count: 20, cost: 1, most: 1000000}]", "upgrades[0].most", "from 1 to 499999"},
		{
			strings.Replace(twoSkills, "servers: [s, u]", "servers: [{group: s, choose: 1}]", 1),
			"upgrades: [{server: s, count: 1, cost: 1}]", "upgrades[0].count", "jobs of \"b\" draw from this one",
		},
		{
			strings.Replace(twoSkills, "{name: u, capacity: 2}", "{name: u, capacity: 2}, {name: v, capacity: 0}", 1),
			"upgrades: [{server: v, step: 1, cost: 1}]\nedges: [{class: a, server: v, cost: 1}]", "edges[0].server",
			"a server of positive capacity",
		},
	} {
		_, err := plan.Read(strings.NewReader("model: {"+c.model+"}\n"+c.rest), ".")
		var p *plan.Problem
		if err == nil {
			p = problemOf(t, c.model, c.rest)
			_, err = plan.LeastCost(t.Context(), p, plan.SearchSettings{})
		}
		var bad *num.InputError
		if !errors.As(err, &bad) || bad.Path != c.path || !strings.Contains(bad.Want, c.want) {
			t.Errorf("%s: error %v, want one of %s with %q", c.rest, err, c.path, c.want)
		}
	}
}
