package network

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/network/loss"
	"productform/num"
)

// A losses is the answer for a system in which jobs are lost.
type losses struct {
	Stable             bool          `json:"stable"`
	Engine             num.Engine    `json:"engine"`
	Method             loss.Method   `json:"method"`
	States             int           `json:"states"`
	RelativeErrorBound float64       `json:"relative_error_bound"`
	EmptyProbability   render.Number `json:"empty_probability"`
	Blocking           render.Number `json:"blocking"`
	Throughput         render.Number `json:"throughput"`
	MeanJobs           render.Number `json:"mean_jobs"`
	MeanDelay          render.Number `json:"mean_delay"`
	Classes            []lossClass   `json:"classes"`
	Servers            []lossServer  `json:"servers"`
	Limits             []lossLimit   `json:"limits"` // that of the room first
	Note               string        `json:"note,omitempty"`
	Simulated          render.Record `json:"simulated,omitempty"`

	digits    int
	simulated *simulated
}

// A lossClass is a row of one class.
type lossClass struct {
	Name       string        `json:"name" title:"class"`
	Offered    render.Number `json:"offered"`
	Blocking   render.Number `json:"blocking"`
	Throughput render.Number `json:"throughput"`
	MeanJobs   render.Number `json:"mean_jobs"`
	MeanDelay  render.Number `json:"mean_delay"`

	WaitProbability render.Number `json:"wait_probability"`
	MeanQueue       render.Number `json:"mean_queue"`
	MeanWaiting     render.Number `json:"mean_waiting"`
}

// A lossServer is a row of a server with a name.
type lossServer struct {
	Name        string        `json:"name" title:"server"`
	Count       int           `json:"count,omitempty"` // servers of a group, each of which has these measures
	Utilization render.Number `json:"utilization"`
	MeanJobs    render.Number `json:"mean_jobs"`
	Throughput  render.Number `json:"throughput"`
}

// A lossLimit is a row of the room or a limit.
type lossLimit struct {
	Classes     []string      `json:"classes" title:"limit"`
	Most        int           `json:"most"`
	MeanUnits   render.Number `json:"mean_units"`
	Utilization render.Number `json:"utilization"`
}

// lossColumns are the first columns of CSV.
var lossColumns = []string{"kind", "name", "classes", "most", "offered", "blocking", "throughput", "mean_jobs", "mean_delay", "wait_probability", "mean_queue", "mean_waiting",
	"mean_units", "utilization"}

func newLosses(m *loss.Model, r *loss.Result, found *simulated, digits int) *losses {
	value := func(v *num.Value) render.Number { return render.Value(v, command.ProofOf(r.Engine), digits) }
	s := &losses{
		Stable: true, Engine: r.Engine, Method: r.Method, States: r.States, RelativeErrorBound: r.RelativeErrorBound,
		EmptyProbability: value(r.EmptyProbability), Blocking: value(r.Blocking), Throughput: value(&r.Throughput), MeanJobs: value(&r.MeanJobs), MeanDelay: value(r.MeanDelay),
		Classes: []lossClass{}, Servers: []lossServer{}, Limits: []lossLimit{}, Note: noteFastServers(m),
		Simulated: found.record(), digits: digits, simulated: found,
	}
	for k := range r.Classes {
		c := &r.Classes[k]
		s.Classes = append(s.Classes, lossClass{m.Classes[k].Name, value(&c.Offered), value(&c.Blocking), value(&c.Throughput), value(c.MeanJobs), value(c.MeanDelay),
			value(c.WaitProbability), value(c.MeanQueue), value(c.MeanWaiting)})
	}
	for i := range r.Servers {
		at := &r.Servers[i]
		s.Servers = append(s.Servers, lossServer{m.Servers[i].Name, m.Servers[i].Count, value(&at.Utilization),
			value(at.MeanJobs), value(at.Throughput)})
	}
	if r.Room != nil {
		all := make([]int, len(m.Classes))
		for k := range all {
			all[k] = k
		}
		s.Limits = append(s.Limits, lossLimit{lossNames(m, all), m.Room, value(&r.Room.MeanUnits), value(&r.Room.Utilization)})
	}
	for l := range r.Limits {
		at := &r.Limits[l]
		s.Limits = append(s.Limits, lossLimit{lossNames(m, m.Limits[l].Classes), m.Limits[l].Most, value(&at.MeanUnits), value(&at.Utilization)})
	}
	return s
}

// noteFastServers warns of servers whose capacity and tokens look like a number of agents, "" if there are none.
func noteFastServers(m *loss.Model) string {
	for _, s := range m.Servers {
		if s.Tokens > 1 && s.Capacity.Cmp(big.NewRat(int64(s.Tokens), 1)) == 0 {
			return fmt.Sprintf("server %s is one server that works %d times as fast as capacity 1 and holds %d jobs; "+
				"for %[2]d servers that take one job each, write count: %[2]d, capacity: 1, tokens: 1",
				s.Name, s.Tokens, s.Tokens)
		}
	}
	return ""
}

// lines returns the lines of CSV.
func (s *losses) lines() []render.Lines {
	whole := *s
	whole.Simulated = nil
	return append([]render.Lines{{Kind: "system", Of: whole}, {Kind: "class", Of: s.Classes}, {Kind: "server", Of: s.Servers}, {Kind: "limit", Of: s.Limits}}, s.simulated.lines()...)
}

func (s *losses) text(t *render.Text) {
	t.Digits = s.digits
	heading(t, s.Engine, s.RelativeErrorBound)
	t.Line("%s, %s", s.Method, render.Counted(s.States, "state"))
	if s.Note != "" {
		t.Line("%s", s.Note)
	}
	t.Line("")
	t.Table(s, "blocking", "throughput", "mean_jobs", "mean_delay", "empty_probability")
	class := []string{"name", "offered", "blocking", "throughput", "mean_jobs", "mean_delay"}
	if s.Classes[0].WaitProbability.Float != nil {
		class = append(class, "wait_probability", "mean_queue", "mean_waiting")
	}
	t.Table(s.Classes, class...)
	if len(s.Servers) > 0 {
		server := []string{"name", "utilization"}
		if slices.ContainsFunc(s.Servers, func(one lossServer) bool { return one.Count > 1 }) {
			server = slices.Insert(server, 1, "count")
		}
		if s.Servers[0].MeanJobs.Float != nil {
			server = append(server, "mean_jobs", "throughput")
		}
		t.Table(s.Servers, server...)
	}
	if len(s.Limits) > 0 {
		t.Table(s.Limits, "classes", "most", "mean_units", "utilization")
	}
	s.simulated.text(t)
}

// An overloaded says what is not limited and arrives too fast.
type overloaded struct {
	Stable             bool          `json:"stable"` // false
	Bottleneck         []string      `json:"bottleneck"`
	BottleneckWork     render.Number `json:"bottleneck_work"`
	BottleneckCapacity render.Number `json:"bottleneck_capacity"`

	work, capacity *big.Rat
}

func (o overloaded) text(t *render.Text) {
	t.Line("unstable: nothing limits the jobs of %s", strings.Join(o.Bottleneck, ", "))
	t.Line("work %s per unit of time on capacity %s", render.SixRat(o.work), render.SixBeside(o.capacity, o.work))
}

func lossNames(m *loss.Model, classes []int) []string {
	names := []string{}
	for _, k := range classes {
		names = append(names, m.Classes[k].Name)
	}
	return names
}
