package server_test

import (
	"errors"
	"testing"

	"productform/live/server"
	"productform/live/wire"
	"productform/num"
)

// Two servers on one store would overwrite each other's acknowledged data. The second server is
// rejected before it opens anything, the first one continues, and the store is free once the first
// one has ended.
func TestStoreHasOneServer(t *testing.T) {
	settings := server.Settings{Store: t.TempDir()}
	first := start(t, settings)
	js := first.connect(t)
	if wrote, err := wire.WriteOnce(t.Context(), js, wire.Done("a", 1), []byte("first")); !wrote || err != nil {
		t.Fatal(wrote, err)
	}
	second, err := server.Start(t.Context(), settings)
	if bad := (*num.InputError)(nil); !errors.As(err, &bad) || bad.Path != "store" || bad.Value != settings.Store {
		if err == nil {
			second.Close()
		}
		t.Fatal(err)
	}
	if wrote, err := wire.WriteOnce(t.Context(), js, wire.Done("a", 2), []byte("second")); !wrote || err != nil {
		t.Error(wrote, err)
	}
	first.restart(t) // a store is free when its server ends
	js = first.connect(t)
	for task, want := range map[int]string{1: "first", 2: "second"} {
		if m, err := wire.LastMessage(t.Context(), js, wire.InStream, wire.Done("a", task)); err != nil ||
			string(m.Data) != want {
			t.Errorf("task %d: %v", task, err)
		}
	}
}
