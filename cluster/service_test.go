package cluster_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"productform/cluster"
	"productform/internal/input"
)

// TestService reads and writes both services, and rejects what neither is.
func TestService(t *testing.T) {
	const model = `
servers: [{name: fast, capacity: 2}, {name: off, capacity: 0}]
classes: [{name: web, arrival_rate: 1, servers: [fast]}]
service: `
	for _, service := range []cluster.Service{cluster.AllServers, cluster.OneServer} {
		m, err := cluster.ReadYAML(strings.NewReader(model + string(service)))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := m.WriteJSON(&text); err != nil {
			t.Fatal(err)
		}
		again, err := cluster.ReadJSON(&text)
		if err != nil {
			t.Fatal(err)
		}
		expanded, _, _, err := m.Expand(10)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*cluster.Model{m, again, expanded, m.EqualSizes(), m.ScaleClass(0, m.Servers[0].Capacity)} {
			if err := m.RequireService(service); err != nil {
				t.Error(err)
			}
		}
	}
	for _, c := range []struct{ text, path, value, want string }{
		{model + "two", "service", `"two"`, "one of all, one, gang"},
		{model + "on", "service", `"on"`, "one of all, one, gang; did you mean \"one\"?"},
		{model + "1", "service", "the number 1", "one of all, one, gang"},
		{model + `""`, "service", `a string ""`, "one of all, one, gang"},
		{strings.ReplaceAll(model, "[fast]", "[fast, off]") + "one", "classes[0].servers[1]", `"off"`,
			"a server of positive capacity, as a job runs on one server"},
	} {
		_, err := cluster.ReadYAML(strings.NewReader(c.text))
		var bad *input.Error
		if !errors.As(err, &bad) || bad.Path != c.path || bad.Value != c.value || bad.Want != c.want {
			t.Errorf("service %q: %v", c.text[len(model)-1:], err)
		}
	}
	err := (&cluster.Model{Service: cluster.OneServer}).RequireService(cluster.AllServers)
	if err == nil || err.Error() != `service = "one": want all` {
		t.Error(err)
	}
}

// changes returns a model, what reading, writing and changing it make of it, and its file. All have
// its last classes at the end, and expansion adds classes before them.
func changes(t *testing.T, m *cluster.Model) (models []*cluster.Model, written string) {
	var text bytes.Buffer
	if err := m.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	written = text.String()
	again, err := cluster.ReadJSON(&text)
	if err != nil {
		t.Fatal(err)
	}
	expanded, _, _, err := m.Expand(10)
	if err != nil {
		t.Fatal(err)
	}
	expanded.Classes = expanded.Classes[len(expanded.Classes)-len(m.Classes):]
	return []*cluster.Model{m, again, expanded, m.EqualSizes(), m.Scale(m.Servers[0].Capacity)}, written
}

// Priorities are kept by readers, writers and changes of a model, omitted if they are 0, and
// rejected out of range or with service all.
func TestPriority(t *testing.T) {
	const model = `
servers: [{name: s, capacity: 2, count: 3}]
classes: [{name: web, arrival_rate: 1, servers: [{group: s, choose: 2}], priority: 3},
  {name: x, arrival_rate: 1, servers: [s]}]
service: `
	m, err := cluster.ReadYAML(strings.NewReader(model + "one"))
	if err != nil {
		t.Fatal(err)
	}
	models, written := changes(t, m)
	if strings.Count(written, `"priority": 3}`) != 1 || strings.Count(written, "prio") != 1 {
		t.Error(written)
	}
	for _, m := range models {
		if last := len(m.Classes) - 1; m.Classes[0].Priority != 3 || m.Classes[last].Priority != 0 {
			t.Errorf("%+v", m.Classes)
		}
	}
	for text, want := range map[string]string{
		model + "all": "line 3: classes[0].priority = 3: want none with service all",
		strings.ReplaceAll(model, "priority: 3", "priority: -1") + "one": "line 3: classes[0].priority = -1: " +
			"want an integer from 0 to 1000000",
		strings.ReplaceAll(model, "priority: 3", "priority: 1000001") +
			"one": "line 3: classes[0].priority = 1000001: " +
			"want an integer from 0 to 1000000",
	} {
		if _, err := cluster.ReadYAML(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Patience is kept by readers, writers and changes of a model, and rejected out of range, with
// service all, or as a distribution without a mean.
func TestPatience(t *testing.T) {
	const model = `
servers: [{name: s, capacity: 2, count: 3}]
classes: [{name: web, arrival_rate: 1, servers: [{group: s, choose: 2}], mean_patience: 1/3, patience: 'erlang:2'},
  {name: x, arrival_rate: 1, servers: [s]}, {name: y, arrival_rate: 1, servers: [s], mean_patience: 4}]
mean_patience: 5
patience: deterministic
service: `
	m, err := cluster.ReadYAML(strings.NewReader(model + "one"))
	if err != nil {
		t.Fatal(err)
	}
	models, _ := changes(t, m)
	for _, m := range models {
		for i, want := range []string{"1/3 erlang:2", "5 deterministic", "4 exponential"} {
			if mean, distribution := m.PatienceOf(i); mean.RatString()+" "+distribution != want {
				t.Errorf("class %d: %v %s, want %s", i, mean, distribution, want)
			}
		}
		if err := m.RequireEndlessPatience("x"); err == nil ||
			err.Error() != `classes[0].mean_patience = 1/3: want none: x` {
			t.Error(err)
		}
	}
	m.Classes = m.Classes[1:2]
	if err := m.RequireEndlessPatience("x"); err == nil || err.Error() != `mean_patience = 5: want none: x` {
		t.Error(err)
	}
	m.MeanPatience = nil
	if err := m.RequireEndlessPatience("x"); err != nil {
		t.Error(err)
	}
	if mean, _ := m.PatienceOf(0); mean != nil {
		t.Errorf("mean patience %v without any", mean)
	}
	for text, want := range map[string]string{
		model + "all": "line 3: classes[0].mean_patience = \"1/3\": want none with service all",
		strings.ReplaceAll(model, "mean_patience: 1/3", "mean_patience: -1") +
			"one": "line 3: classes[0].mean_patience = -1: want a number >= 0",
		strings.ReplaceAll(model, "mean_patience: 1/3, ", "") + "one": `line 3: classes[0].patience = "erlang:2": ` +
			"want a mean_patience as well",
		strings.ReplaceAll(model, "mean_patience: 5", "") + "one": `line 6: patience = "deterministic": ` +
			"want a mean_patience as well",
	} {
		if _, err := cluster.ReadYAML(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Reading, writing and changing a model keep its timeouts. Timeouts out of range or together with
// patience are rejected.
func TestTimeouts(t *testing.T) {
	const model = `
servers: [{name: s, capacity: 2, count: 3}]
classes: [{name: web, arrival_rate: 1, servers: [{group: s, choose: 2}], mean_timeout: 1/3},
  {name: x, arrival_rate: 1, servers: [s]}, {name: y, arrival_rate: 1, servers: [s], mean_timeout: 4}]
mean_timeout: 5
`
	m, err := cluster.ReadYAML(strings.NewReader(model))
	if err != nil {
		t.Fatal(err)
	}
	models, _ := changes(t, m)
	for _, m := range models {
		for i, want := range []string{"1/3", "5", "4"} {
			if mean := m.TimeoutOf(i); mean.RatString() != want {
				t.Errorf("class %d: %v, want %s", i, mean, want)
			}
		}
		const want = "classes[0].mean_timeout = 1/3: want none: " +
			"only pfq solve, plot, simulate and stability accept timeouts"
		if err := m.RequireNoTimeouts(); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
	m.Classes = m.Classes[1:]
	m.MeanTimeout = nil
	without := m.WithoutTimed()
	if err := without.RequireNoTimeouts(); err != nil {
		t.Error(err)
	}
	if x, y := without.Classes[0].ArrivalRate.Sign(), without.Classes[1].ArrivalRate.Sign(); x != 1 || y != 0 {
		t.Error("rates do not remain without timeouts only")
	}
	for text, want := range map[string]string{
		strings.ReplaceAll(model, "_timeout: 5", "_timeout: -5"): "line 5: mean_timeout = -5: want a number > 0",
		model + "service: one\nmean_patience: 1\n": "line 3: classes[0].mean_timeout = \"1/3\": " +
			"want none with mean_patience",
	} {
		if _, err := cluster.ReadYAML(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Classes with the same choices are merged only if they also have the same mean timeout.
func TestReduceTimeouts(t *testing.T) {
	m, err := cluster.ReadYAML(strings.NewReader(`
servers: [{name: s, capacity: 1}, {name: t, capacity: 1}]
mean_timeout: 2
classes: [{name: a, arrival_rate: 1, servers: [s, t]}, {name: b, arrival_rate: 1, servers: [s, t], mean_timeout: 3},
  {name: c, arrival_rate: 1, servers: [s, t], mean_timeout: 4/2}]
`))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := m.Reduce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for i, rows := range parts[0].Classes {
		text = append(text, fmt.Sprintf("%v %s", rows, parts[0].Model.TimeoutOf(i).RatString()))
	}
	if got, want := strings.Join(text, "; "), "[0 2] 2; [1] 3"; len(parts) != 1 || got != want {
		t.Errorf("%d parts, %s, want %s", len(parts), got, want)
	}
}
