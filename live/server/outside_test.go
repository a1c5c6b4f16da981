package server_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"productform/live/keys"
	"productform/live/server"
	"productform/live/wire"
)

// externalServer runs a NATS server with a configuration file, as an operator does.
func externalServer(t *testing.T, config string) *natsserver.Server {
	t.Helper()
	o, err := natsserver.ProcessConfigFile(config)
	if err != nil {
		t.Fatal(err)
	}
	o.NoLog, o.NoSigs = true, true
	s, err := natsserver.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(waitLimit) {
		t.Fatal("the server does not start")
	}
	return s
}

// The configuration on the security page sets up a server on which the keys work as on an embedded
// one.
func TestConfigurationOfPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```conf nats.conf\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the page shows no configuration")
	}
	folder := newFolder(t)
	config := strings.NewReplacer(
		"/etc/pfq/keys", folder, "/var/lib/nats", t.TempDir(), "0.0.0.0:4222", "127.0.0.1:-1",
	).Replace(string(block[1]))
	path := filepath.Join(folder, "server.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := externalServer(t, path)
	g := guarded{folder: folder, outside: s.ClientURL()}
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitLimit)
	defer cancel()
	js := stream(t, g.connect(t, "manager"))
	if lacks, err := server.Check(ctx, js, server.Layout{}); err != nil || len(lacks) != 0 {
		t.Fatal(lacks, err)
	}
	if err := server.Prepare(ctx, js, server.Layout{}); err != nil {
		t.Fatal(err)
	}
	if wrote, err := wire.WriteOnce(ctx, stream(t, g.connect(t, "w7")), wire.Done("j", 0), nil); !wrote || err != nil {
		t.Error(wrote, err)
	}
	_, revoked, err := keys.Options(filepath.Join(folder, "w7.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.Revoke(folder, "w7"); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, err := nats.Connect(s.ClientURL(), revoked...); !keys.Refused(err) {
		t.Error(err)
	}
	g.connect(t, "w8")
}

// Check reports what a server lacks.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct{ config, lacks string }{
		"good":    {"jetstream { store_dir: DIR }", ""},
		"nothing": {"max_payload: 1000", "server.max_payload server.jetstream"},
		"account": {
			"jetstream { store_dir: DIR }\nno_auth_user: u\naccounts { A { users: [ { user: u, password: p } ] } }",
			"server.jetstream",
		},
		"limits": {
			"jetstream { store_dir: DIR }\nno_auth_user: u\n" +
				"accounts { A { users: [ { user: u, password: p } ], jetstream { max_streams: 4, max_file: " +
				"1000000 } } }",
			"server.account.max_streams server.account.max_storage",
		},
		"no limit": {"jetstream { store_dir: DIR }\nno_auth_user: u\n" +
			"accounts { A { users: [ { user: u, password: p } ], jetstream { max_streams: 9 } } }", ""},
	} {
		path := filepath.Join(t.TempDir(), "server.conf")
		text := "listen: 127.0.0.1:-1\n" + strings.ReplaceAll(c.config, "DIR", t.TempDir()) + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect(externalServer(t, path).ClientURL())
		if err != nil {
			t.Fatal(name, err)
		}
		defer nc.Close()
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		lacks, err := server.Check(ctx, stream(t, nc), server.Layout{})
		var got []string
		for _, l := range lacks {
			got = append(got, l.Path)
		}
		if strings.Join(got, " ") != c.lacks || err != nil {
			t.Errorf("%s: %v, %v", name, lacks, err)
		}
	}
}
