package keys_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"productform/live/keys"
	"productform/num"
)

// A folder holds the keys made in it, readable by its owner only. Revoked keys stay in the list.
func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	if err := keys.Init(dir, "nats://cluster.example:4222,nats://10.0.0.7:4222"); err != nil {
		t.Fatal(err)
	}
	path, err := keys.Add(dir, keys.Worker, "w7")
	if err != nil {
		t.Fatal(err)
	}
	f, err := keys.Read(path)
	if err != nil || f.Role != keys.Worker || f.Name != "w7" ||
		f.URL != "nats://cluster.example:4222,nats://10.0.0.7:4222" {
		t.Fatal(f, err)
	}
	if err := keys.Revoke(dir, "client"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "client.key")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	folder, err := keys.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range folder.Users {
		got = append(got, string(u.Role)+" "+u.Name)
		if u.Revoked != (u.Name == "client") {
			t.Error(u)
		}
		if strings.Contains(keys.Config(folder.Users), u.Key) == u.Revoked {
			t.Error(u)
		}
	}
	if !slices.Equal(got, []string{"manager manager", "client client", "monitor monitor", "worker w7"}) {
		t.Error(got)
	}
	seed, err := nkeys.FromSeed([]byte(f.Seed))
	if err != nil {
		t.Fatal(err)
	}
	if public, err := seed.PublicKey(); err != nil || public != folder.Users[3].Key {
		t.Error(public, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		info, err := file.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Error(file.Name(), info.Mode(), err)
		}
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), f.Seed) != (file.Name() == "w7.key") {
			t.Errorf("%s: the seed of w7 is here, or missing in its key file", file.Name())
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "accounts.conf"))
	if err != nil || string(text) != keys.Config(folder.Users) {
		t.Error(err)
	}
	if err := (&server.Options{}).ProcessConfigString(string(text)); err != nil {
		t.Error(err)
	}
}

// A key with a role of an earlier version stays in the list, gives no access, and can be revoked.
func TestOutdatedRole(t *testing.T) {
	dir := t.TempDir()
	if err := keys.Init(dir, "nats://cluster.example:4222"); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Add(dir, keys.Worker, "mine"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "users.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"worker"`, `"policy"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := keys.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range folder.Users {
		if strings.Contains(keys.Config(folder.Users), u.Key) == (u.Name == "mine") {
			t.Error(u)
		}
	}
	if _, err := keys.Add(dir, "policy", "other"); err == nil {
		t.Error("a key with the outdated role was made")
	}
	if _, err := keys.Add(dir, keys.Worker, "mine"); err == nil {
		t.Error("its name was used twice")
	}
	if err := keys.Revoke(dir, "mine"); err != nil {
		t.Error(err)
	}
}

// Keys can be made and revoked concurrently, as by scripts and a server, without losing changes.
func TestConcurrentFolderChanges(t *testing.T) {
	dir := t.TempDir()
	if err := keys.Init(dir, "nats://127.0.0.1:4222"); err != nil {
		t.Fatal(err)
	}
	const most = 16
	var all sync.WaitGroup
	for i := range most {
		all.Go(func() {
			name := fmt.Sprintf("w%d", i)
			if _, err := keys.Add(dir, keys.Worker, name); err != nil {
				t.Error(err)
			} else if err := keys.Revoke(dir, name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f, err := keys.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range most {
		if !slices.ContainsFunc(
			f.Users, func(u keys.User) bool { return u.Name == fmt.Sprintf("w%d", i) && u.Revoked },
		) {
			t.Errorf("w%d or its revocation is lost", i)
		}
	}
}

// The certificate is valid for all hosts of the URLs and for the machine itself, under its own
// authority only.
func TestCertificate(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, other} {
		if err := keys.Init(d, "nats://cluster.example:4222,nats://10.0.0.7:4222"); err != nil {
			t.Fatal(err)
		}
	}
	read := func(dir, file string) *x509.Certificate {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(text)
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	cert := read(dir, "server.crt")
	for _, d := range []string{dir, other} {
		pool := x509.NewCertPool()
		pool.AddCert(read(d, "authority.crt"))
		for _, host := range []string{
			"cluster.example", "10.0.0.7", "127.0.0.1", "::1", "localhost", "else.example", "10.0.0.8",
		} {
			_, err := cert.Verify(x509.VerifyOptions{
				Roots:       pool,
				DNSName:     host,
				CurrentTime: time.Now().AddDate(9, 0, 0),
			})
			good := d == dir && !strings.HasPrefix(host, "else") && host != "10.0.0.8"
			if (err == nil) != good {
				t.Errorf("%s: %v", host, err)
			}
		}
		if _, err := cert.Verify(x509.VerifyOptions{
			Roots:       pool,
			CurrentTime: time.Now().AddDate(11, 0, 0),
		}); err == nil {
			t.Error("valid for 11 years")
		}
	}
}

func TestBadKeys(t *testing.T) {
	dir := t.TempDir()
	refused := func(want string, err error) {
		t.Helper()
		var e *num.InputError
		if !errors.As(err, &e) || e.Path != want {
			t.Errorf("%v, want one of %s", err, want)
		}
	}
	_, err := keys.Add(dir, keys.Worker, "w")
	refused("folder", err)
	for _, url := range []string{"", "cluster", "http://a:1", "nats://", "nats://user:secret@a:1", "nats://a:1,"} {
		refused("url", keys.Init(dir, url))
	}
	if err := keys.Init(dir, "nats://127.0.0.1:4222"); err != nil {
		t.Fatal(err)
	}
	refused("folder", keys.Init(dir, "nats://127.0.0.1:4222"))
	_, err = keys.Add(dir, keys.Worker, "client")
	refused("name", err)
	_, err = keys.Add(dir, "king", "w")
	refused("role", err)
	for _, name := range []string{"", "*", "a.b", ">", "../w", "a b", `a"b`, "é"} {
		_, err = keys.Add(dir, keys.Worker, name)
		refused("name", err)
		refused("name", keys.Revoke(dir, name))
	}
	if err := keys.Revoke(dir, "monitor"); err != nil {
		t.Fatal(err)
	}
	refused("name", keys.Revoke(dir, "monitor"))
	_, err = keys.Add(dir, keys.Monitor, "monitor") // the name already belongs to the first key
	refused("name", err)

	path := filepath.Join(dir, "client.key")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string][2]string{
		"role":      {`"client"`, `"king"`},
		"name":      {`"name": "client"`, `"name": "a.b"`},
		"url":       {"nats://127", "http://127"},
		"seed":      {`"seed": "SU`, `"seed": "SA`},
		"authority": {"BEGIN", "BEGUN"},
		"":          {`"role"`, `"rôle"`},
	} {
		bad := filepath.Join(t.TempDir(), "bad.key")
		if err := os.WriteFile(bad, []byte(strings.Replace(string(text), change[0], change[1], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := keys.Read(bad)
		refused(field, err)
		_, err = keys.Connect(context.Background(), bad, "")
		refused(field, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	_, err = keys.Read(path)
	refused("mode", err)
}

func TestLeft(t *testing.T) {
	for message, want := range map[string]string{
		`{"client":{"acc":"PFQ","name":"w7"}}`:       "w7",
		`{"client":{"acc":"worker-w7","name":"w8"}}`: "w7",
		`{"client":{"acc":"client-c","name":"w8"}}`:  "",
		`{"client":{"acc":"SYS","name":"w8"}}`:       "",
		`junk`:                                       "",
	} {
		name, ok := keys.Left([]byte(message))
		if ok != (want != "") || name != want {
			t.Errorf("%s: %q, %v", message, name, ok)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true,
		"0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "example.com:1": false, ":1": false,
		"127.0.0.1": false, "": false,
	} {
		if keys.IsLoopback(address) != want {
			t.Error(address)
		}
	}
}
