package cluster

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/internal/input"
)

// Check reports whether the model is valid. It returns nil, or an error that wraps an
// *[num.InputError] for the first entry, in the order of the file, that violates one of the
// following:
//
//   - there are servers and classes, each with a unique name among its kind, in UTF-8
//     without control characters;
//   - C_s >= 0, λ_i >= 0, σ > 0 and σ_i > 0, with numerators and denominators of at most 16,384
//     bits;
//   - a row of servers has a count of 1 to 1,000,000 (0 means 1);
//   - each class has servers, none twice, and at least one of them has a positive capacity;
//   - a class chooses at least one and at most all servers of each of its rows;
//   - mean patience is >= 0, and only with the service [OneServer]; its distribution only together
//     with it;
//   - mean timeouts are > 0, and no job of the model has patience then;
//   - with the service [OneServer], C_s > 0 for all servers that a class chooses, and priorities
//     are from 0 to 1,000,000; otherwise they are 0;
//   - with the service [Gang], all capacities are 1 or nil, and each class has needs in place of
//     servers: at least one row, none twice, and 1 to all servers of each; no other model has needs.
//
// Fields are named as in a file: classes[3].arrival_rate. The readers call Check. It takes
// time linear in the model.
func (m *Model) Check() error {
	if m.Service == Gang {
		return gangFile.CheckAll(m)
	}
	return modelFile.CheckAll(m)
}

// checkChoices checks the servers of all classes.
func (m *Model) checkChoices() error {
	lastUse := make([]int, len(m.Servers)) // 1 + the last class that chose from the row
	for i, class := range m.Classes {
		path := func() string { return input.Index("classes", i) + ".servers" } // only for rejected choices
		if len(class.Servers) == 0 {
			return input.Errorf(path(), "[]", "at least one server")
		}
		served := false
		for k, c := range class.Servers {
			if c.Server < 0 || c.Server >= len(m.Servers) {
				return input.Errorf(input.Index(path(), k), c.Server, "a row of servers, 0 to %d", len(m.Servers)-1)
			}
			s := m.Servers[c.Server]
			if lastUse[c.Server] == i+1 {
				return input.Errorf(input.Index(path(), k), strconv.Quote(s.Name),
					"each server once; it is already in this class")
			}
			lastUse[c.Server] = i + 1
			if c.Choose < 1 || c.Choose > s.Size() {
				return input.Errorf(input.Index(path(), k)+".choose", c.Choose, "%s", wantChoose(s))
			}
			served = served || s.Capacity.Sign() > 0
		}
		if !served {
			return input.Errorf(path(), m.serverNames(class.Servers), "a server of positive capacity")
		}
	}
	return nil
}

// checkPatience rejects patience if the service is not [OneServer], and distributions without a
// mean.
func (m *Model) checkPatience() error {
	check := func(path string, mean *big.Rat, distribution string) error {
		switch {
		case mean != nil && m.Service != OneServer:
			return input.Errorf(path+"mean_patience", mean.RatString(), "none with service %s", m.service())
		case distribution != "" && m.Service != OneServer:
			return input.Errorf(path+"patience", strconv.Quote(distribution), "none with service %s", m.service())
		case distribution != "" && mean == nil:
			return input.Errorf(path+"patience", strconv.Quote(distribution), "a mean_patience as well")
		}
		return nil
	}
	for i, c := range m.Classes {
		if c.MeanPatience == nil && c.Patience == "" {
			continue
		}
		if err := check(input.Index("classes", i)+".", c.MeanPatience, c.Patience); err != nil {
			return err
		}
	}
	return check("", m.MeanPatience, m.Patience)
}

// PatienceOf returns the mean patience of the jobs of class i, nil if they never give up, and its
// distribution, which is "exponential" unless the model has another.
func (m *Model) PatienceOf(i int) (mean *big.Rat, distribution string) {
	if c := &m.Classes[i]; c.MeanPatience != nil {
		return c.MeanPatience, cmp.Or(c.Patience, "exponential")
	}
	return m.MeanPatience, cmp.Or(m.Patience, "exponential")
}

// RequireEndlessPatience rejects a model in which jobs give up. The error is a [*num.InputError]
// that names the field, with the reason.
func (m *Model) RequireEndlessPatience(reason string) error {
	for i, c := range m.Classes {
		if c.MeanPatience != nil {
			return input.Errorf(input.Index("classes", i)+".mean_patience", c.MeanPatience.RatString(), "none: %s",
				reason)
		}
	}
	if m.MeanPatience != nil {
		return input.Errorf("mean_patience", m.MeanPatience.RatString(), "none: %s", reason)
	}
	return nil
}

// checkTimeouts rejects timeouts together with patience.
func (m *Model) checkTimeouts() error {
	path, mean := m.firstTimeout()
	if mean != nil && m.RequireEndlessPatience("") != nil {
		return input.Errorf(path, mean.RatString(), "none with mean_patience")
	}
	return nil
}

// firstTimeout returns the first mean timeout of the model with its path, or nil.
func (m *Model) firstTimeout() (path string, mean *big.Rat) {
	for i, c := range m.Classes {
		if c.MeanTimeout != nil {
			return input.Index("classes", i) + ".mean_timeout", c.MeanTimeout
		}
	}
	return "mean_timeout", m.MeanTimeout
}

// TimeoutOf returns the mean timeout of the jobs of class i, or nil if they have none.
func (m *Model) TimeoutOf(i int) *big.Rat { return cmp.Or(m.Classes[i].MeanTimeout, m.MeanTimeout) }

// RequireNoTimeouts rejects a model in which jobs time out. The error is a [*num.InputError] that
// names the field.
func (m *Model) RequireNoTimeouts() error {
	if path, mean := m.firstTimeout(); mean != nil {
		return input.Errorf(path, mean.RatString(),
			"none: only pfq solve, plot, simulate and stability accept timeouts")
	}
	return nil
}

// WithoutTimed returns m without timeouts, and without arrivals of the classes that had one. The
// result shares everything else with m.
func (m *Model) WithoutTimed() *Model {
	c := *m
	c.MeanTimeout, c.Classes = nil, slices.Clone(m.Classes)
	for i := range c.Classes {
		if m.TimeoutOf(i) != nil {
			c.Classes[i].ArrivalRate = new(big.Rat)
		}
		c.Classes[i].MeanTimeout = nil
	}
	return &c
}

// WithoutImpatient returns m without patience, and without arrivals of the classes that had it. The
// result shares everything else with m.
func (m *Model) WithoutImpatient() *Model {
	c := *m
	c.MeanPatience, c.Patience, c.Classes = nil, "", slices.Clone(m.Classes)
	for i := range c.Classes {
		if mean, _ := m.PatienceOf(i); mean != nil {
			c.Classes[i].ArrivalRate = new(big.Rat)
		}
		c.Classes[i].MeanPatience, c.Classes[i].Patience = nil, ""
	}
	return &c
}

// checkService rejects priorities unless each job runs on one server. If it does, it rejects
// servers of capacity 0, on which a job would stay forever.
func (m *Model) checkService() error {
	if m.Service != OneServer {
		for i, class := range m.Classes {
			if class.Priority != 0 {
				return input.Errorf(input.Index("classes", i)+".priority", class.Priority, "none with service %s",
					m.service())
			}
		}
		return nil
	}
	for i, class := range m.Classes {
		for k, c := range class.Servers {
			if s := m.Servers[c.Server]; s.Capacity.Sign() == 0 {
				return input.Errorf(input.Index(input.Index("classes", i)+".servers", k), strconv.Quote(s.Name),
					"a server of positive capacity, as a job runs on one server")
			}
		}
	}
	return nil
}

// RequireService rejects a model whose service is none of the given ones. The error is a
// [*num.InputError].
func (m *Model) RequireService(want ...Service) error {
	got := m.service()
	if slices.Contains(want, got) {
		return nil
	}
	names := make([]string, len(want))
	for i, s := range want {
		names[i] = string(s)
	}
	return input.Errorf("service", strconv.Quote(string(got)), "%s", strings.Join(names, " or "))
}

// service returns the service of the model.
func (m *Model) service() Service { return cmp.Or(m.Service, AllServers) }

func wantChoose(s Server) string {
	if s.Size() == 1 {
		return fmt.Sprintf("1, since %s is one server", input.Quote(s.Name))
	}
	return fmt.Sprintf("an integer from 1 to %d, the servers in %s", s.Size(), input.Quote(s.Name))
}

// serverNames lists the names of the first few choices, for a message.
func (m *Model) serverNames(choices []Choice) string {
	var names []string
	for _, c := range choices[:min(len(choices), 10)] {
		names = append(names, input.Quote(m.Servers[c.Server].Name))
	}
	return "[" + strings.Join(names, ", ") + "]"
}
