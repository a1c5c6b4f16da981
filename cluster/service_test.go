package cluster

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"productform/internal/input"
)

// TestService reads and writes both services, and rejects what neither is.
func TestService(t *testing.T) {
	const model = `
servers: [{name: fast, capacity: 2}, {name: off, capacity: 0}]
classes: [{name: web, arrival_rate: 1, servers: [fast]}]
service: `
	for _, service := range []Service{AllServers, OneServer} {
		m, err := ReadYAML(strings.NewReader(model + string(service)))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := m.WriteJSON(&text); err != nil {
			t.Fatal(err)
		}
		again, err := ReadJSON(&text)
		if err != nil {
			t.Fatal(err)
		}
		expanded, _, _, err := m.Expand(10)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*Model{m, again, expanded, m.EqualSizes(), m.ScaleClass(0, m.Servers[0].Capacity)} {
			if err := m.RequireService(service); err != nil {
				t.Error(err)
			}
		}
	}
	for _, c := range []struct{ text, path, value, want string }{
		{model + "two", "service", `"two"`, "one of all, one"},
		{model + "on", "service", `"on"`, "one of all, one; did you mean \"one\"?"},
		{model + "1", "service", "the number 1", "one of all, one"},
		{strings.ReplaceAll(model, "[fast]", "[fast, off]") + "one", "classes[0].servers[1]", `"off"`,
			"a server of positive capacity, as a job runs on one server"},
	} {
		_, err := ReadYAML(strings.NewReader(c.text))
		var bad *input.Error
		if !errors.As(err, &bad) || bad.Path != c.path || bad.Value != c.value || bad.Want != c.want {
			t.Errorf("service %q: %v", c.text[len(model)-1:], err)
		}
	}
	err := (&Model{Service: OneServer}).RequireService(AllServers)
	if err == nil || err.Error() != `service = "one": want all` {
		t.Error(err)
	}
}
