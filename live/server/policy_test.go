package server_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"productform/live/keys"
	"productform/live/wire"
)

// Only the manager can send requests to a policy service, and the service can answer only the manager,
// even if its key was made while the server runs. A service whose key is revoked gets no more
// requests.
func TestPolicyKey(t *testing.T) {
	g := guard(t)
	if _, err := keys.Add(g.folder, keys.Policy, "later"); err != nil {
		t.Fatal(err)
	}
	manager, client := g.connect(t, "manager"), g.connect(t, "client")
	for _, name := range []string{"mine", "later"} {
		var service *nats.Conn
		for begun := time.Now(); service == nil; time.Sleep(50 * time.Millisecond) { // the server looks after its keys
			nc, err := g.open(g.folder, name)
			if service = nc; err != nil && time.Since(begun) > soon {
				t.Fatal(name, err)
			}
		}
		t.Cleanup(service.Close)
		stray := hear(t, client, "_INBOX_client.stray")
		if _, err := service.Subscribe(wire.PolicyService(name), func(m *nats.Msg) {
			_ = service.Publish("_INBOX_client.stray", []byte("forged")) // refused
			_ = m.Respond(append([]byte(name+" "), m.Data...))
		}); err != nil || service.Flush() != nil {
			t.Fatal(err)
		}
		var m *nats.Msg
		err := nats.ErrTimeout
		for begun := time.Now(); err != nil && time.Since(begun) < soon; { // accounts are linked a moment later
			m, err = manager.Request(wire.PolicyService(name), []byte("question"), time.Second)
		}
		if err != nil || string(m.Data) != name+" question" {
			t.Fatal(name, m, err)
		}
		if m, err := client.Request(wire.PolicyService(name), nil, 300*time.Millisecond); err == nil {
			t.Errorf("a client was answered %q", m.Data)
		}
		if m, err := stray.NextMsg(10 * time.Millisecond); err == nil {
			t.Errorf("%q reached another account", m.Data)
		}
	}
	if err := keys.Revoke(g.folder, "mine"); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; {
		if _, err := manager.Request(wire.PolicyService("mine"), nil, 300*time.Millisecond); err != nil {
			break
		}
		if time.Since(begun) > soon {
			t.Fatal("a key that was revoked still answers")
		}
	}
	if m, err := manager.Request(wire.PolicyService("later"), nil, soon); err != nil || string(m.Data) != "later " {
		t.Error(m, err)
	}
}
