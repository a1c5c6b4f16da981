package network

import (
	"fmt"
	"strings"

	"productform/cmd/pfq/internal/command"
	"productform/internal/render"
	"productform/network/swap"
	"productform/num"
)

// A swaps is the answer for a pass-and-swap queue.
type swaps struct {
	Stable             bool          `json:"stable"`
	Engine             num.Engine    `json:"engine"`
	Method             swap.Method   `json:"method"`
	States             int           `json:"states"`
	RelativeErrorBound float64       `json:"relative_error_bound"`
	Normalization      render.Number `json:"normalization"`
	EmptyProbability   render.Number `json:"empty_probability"`
	MeanJobs           render.Number `json:"mean_jobs"`
	MeanDelay          render.Number `json:"mean_delay"`
	Classes            []swapClass   `json:"classes"`
	Servers            []swapServer  `json:"servers"`
	Note               string        `json:"note,omitempty"`
	Simulated          render.Record `json:"simulated,omitempty"`

	digits    int
	isClosed  bool
	simulated *simulated
}

// A swapClass is a row of one class.
type swapClass struct {
	Name        string        `json:"name" title:"class"`
	Throughput  render.Number `json:"throughput"`
	Completions render.Number `json:"completions"`
	MeanJobs    render.Number `json:"mean_jobs"`
	LeavingJobs *int          `json:"leaving_jobs,omitempty"` // closed queues only
	MeanDelay   render.Number `json:"mean_delay"`
}

// A swapServer is a row of one server.
type swapServer struct {
	Name        string        `json:"name" title:"server"`
	Utilization render.Number `json:"utilization"`
}

// swapColumns are the first columns of CSV.
var swapColumns = []string{"kind", "name", "throughput", "completions", "mean_jobs", "mean_delay", "utilization"}

func newSwaps(m *swap.Model, r *swap.Result, found *simulated, digits int) *swaps {
	value := func(v *num.Value) render.Number { return render.Value(v, command.ProofOf(r.Engine), digits) }
	s := &swaps{
		Stable: true, Engine: r.Engine, Method: r.Method, States: r.States, RelativeErrorBound: r.RelativeErrorBound,
		Normalization: value(r.Normalization), EmptyProbability: value(r.EmptyProbability), MeanJobs: value(&r.MeanJobs), MeanDelay: value(r.MeanDelay),
		Classes: []swapClass{}, Servers: []swapServer{}, Note: noteStaying(m, r),
		Simulated: found.record(), digits: digits, isClosed: m.IsClosed(), simulated: found,
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		row := swapClass{Name: m.Classes[i].Name, Throughput: value(&c.Throughput), Completions: value(&c.Completions),
			MeanJobs: value(&c.MeanJobs), MeanDelay: value(c.MeanDelay)}
		if m.IsClosed() {
			row.LeavingJobs = &c.LeavingJobs
		}
		s.Classes = append(s.Classes, row)
	}
	for i := range r.Servers {
		s.Servers = append(s.Servers, swapServer{m.Servers[i].Name, value(&r.Servers[i].Utilization)})
	}
	return s
}

// noteStaying names the classes of a closed queue with jobs that never leave, "" if there are none.
func noteStaying(m *swap.Model, r *swap.Result) string {
	var notes []string
	for i, c := range r.Classes {
		name, leave := m.Classes[i].Name, "leave"
		if c.LeavingJobs == 1 {
			leave = "leaves"
		}
		switch all := m.Classes[i].Population; {
		case c.LeavingJobs == all:
		case c.LeavingJobs == 0:
			notes = append(notes, fmt.Sprintf("no job of class %s ever leaves, and there is no mean_delay: "+
				"each time one is done, it takes the place of a job behind it", name))
		default:
			notes = append(notes, fmt.Sprintf("only %d of the %d jobs of class %s ever %s, and mean_delay counts "+
				"only these: each time another one is done, it takes the place of a job behind it",
				c.LeavingJobs, all, name, leave))
		}
	}
	return strings.Join(notes, "; ")
}

// lines returns the lines of CSV.
func (s *swaps) lines() []render.Lines {
	whole := *s
	whole.Simulated = nil
	return append([]render.Lines{{Kind: "queue", Of: whole}, {Kind: "class", Of: s.Classes}, {Kind: "server", Of: s.Servers}}, s.simulated.lines()...)
}

func (s *swaps) text(t *render.Text) {
	t.Digits = s.digits
	heading(t, s.Engine, s.RelativeErrorBound)
	t.Line("pass-and-swap queue, %s, %s", s.Method, render.Counted(s.States, "state"))
	if s.Note != "" {
		t.Line("%s", s.Note)
	}
	t.Line("")
	if s.isClosed {
		t.Table(s, "normalization", "mean_jobs")
	} else {
		t.Table(s, "normalization", "empty_probability", "mean_jobs", "mean_delay")
	}
	t.Table(s.Classes, "name", "throughput", "completions", "mean_jobs", "mean_delay")
	t.Table(s.Servers, "name", "utilization")
	s.simulated.text(t)
}
