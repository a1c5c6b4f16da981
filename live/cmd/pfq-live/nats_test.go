package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"productform/live/keys"
)

// natsCluster writes the configurations of a server cluster without keys, and returns the files and
// the URL.
func natsCluster(t testing.TB, folder string, servers int) (files []string, url string) {
	t.Helper()
	accounts, err := keys.Open()
	if err != nil {
		t.Fatal(err)
	}
	var urls, listen, routes []string
	for range servers {
		clients, others := freeAddress(t), freeAddress(t)
		urls, listen, routes = append(urls, "nats://"+clients), append(listen, others),
			append(routes, "nats-route://"+others)
	}
	for k := range servers {
		name := fmt.Sprintf("n%d", k)
		file := filepath.Join(folder, name+".conf")
		text := fmt.Sprintf(
			"server_name: %s\nlisten: %s\nmax_payload: 1MB\njetstream { store_dir: %q, sync_interval: 2m }\n"+
				"cluster { name: pfq, listen: %s, routes: [ %s ] }\n%s",
			name, strings.TrimPrefix(urls[k], "nats://"), filepath.Join(folder, name),
			listen[k], strings.Join(routes, ", "), accounts,
		)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files, strings.Join(urls, ",")
}

// runNATS runs a NATS server with a configuration file. It ends with the process.
func runNATS(file string) {
	o, err := server.ProcessConfigFile(file)
	if err == nil {
		o.NoSigs = true
		var s *server.Server
		if s, err = server.NewServer(o); err == nil {
			s.Start()
			s.WaitForShutdown()
		}
	}
	fmt.Fprintln(os.Stderr, "nats:", err)
	os.Exit(2)
}
