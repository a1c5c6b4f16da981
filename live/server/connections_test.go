package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"productform/live/keys"
	"productform/live/server"
	"productform/live/wire"
	"productform/num"
)

// address returns the address that the server listens on.
func (g guarded) address() string { return strings.TrimPrefix(g.URL(), "tls://") }

// Clients without a known key, and clients that do not trust the server's certificate, are
// rejected.
func TestStrangers(t *testing.T) {
	g := guard(t)
	other := newFolder(t)
	read := func(folder, name string) *keys.File {
		f, err := keys.Read(filepath.Join(folder, name+".key"))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	ours, theirs := read(g.folder, "w7"), read(other, "w7")
	secure := func(f *keys.File, version uint16) nats.Option {
		return nats.Secure(&tls.Config{RootCAs: pool(f.Authority), MaxVersion: version})
	}
	login := func(f *keys.File) nats.Option {
		key, err := nkeys.FromSeed([]byte(f.Seed))
		if err != nil {
			t.Fatal(err)
		}
		public, err := key.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return nats.Nkey(public, key.Sign)
	}
	signedByAnother := func(ours, theirs *keys.File) nats.Option {
		key, err := nkeys.FromSeed([]byte(ours.Seed))
		if err != nil {
			t.Fatal(err)
		}
		public, err := key.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		wrong, err := nkeys.FromSeed([]byte(theirs.Seed))
		if err != nil {
			t.Fatal(err)
		}
		return nats.Nkey(public, wrong.Sign)
	}
	for what, options := range map[string][]nats.Option{
		"key that the server does not know": {secure(ours, 0), login(theirs)},
		"seed of another key":               {secure(ours, 0), signedByAnother(ours, theirs)},
		"no key":                            {secure(ours, 0)},
		"user and password":                 {secure(ours, 0), nats.UserInfo("anyone", "anyone")},
		"token":                             {secure(ours, 0), nats.Token("anyone")},
	} {
		if _, err := nats.Connect(g.URL(), options...); !keys.Refused(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, options := range map[string][]nats.Option{
		"another authority": {secure(theirs, 0), login(ours)},
		"no authority":      {nats.Secure(), login(ours)},
		"TLS 1.2":           {secure(ours, tls.VersionTLS12), login(ours)},
		"a host not in certificate": {
			nats.Secure(&tls.Config{RootCAs: pool(ours.Authority), ServerName: "else.example"}), login(ours),
		},
	} {
		if _, err := nats.Connect(g.URL(), options...); err == nil || keys.Refused(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if nc, err := nats.Connect(g.URL(), secure(ours, 0), login(ours)); err != nil {
		t.Error(err)
	} else {
		nc.Close()
	}

	// The client sends plain text after the greeting, and the server closes the connection.
	plain, err := net.Dial("tcp", g.address())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	fmt.Fprintf(plain, "CONNECT {\"verbose\":true}\r\nPUB pfq.plan 1\r\nx\r\nPING\r\n")
	if text := toTheEnd(t, plain); !strings.HasPrefix(text, "INFO ") || strings.Contains(text, "+OK") ||
		strings.Contains(text, "PONG") {
		t.Errorf("plain text got a response: %s", text)
	}
	// The attempts have written nothing to the streams.
	if list, _, err := wire.NextMessages(
		context.Background(), stream(t, g.connect(t, "manager")), wire.PlanStream, ">", 1, 1,
	); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

// toTheEnd reads until the other side closes the connection.
func toTheEnd(t *testing.T, c net.Conn) string {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(waitLimit)); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	b := make([]byte, 4096)
	for {
		n, err := c.Read(b)
		all.Write(b[:n])
		var slow net.Error
		if errors.As(err, &slow) && slow.Timeout() {
			t.Fatalf("the connection stays open: %s", all.String())
		}
		if err != nil {
			return all.String()
		}
	}
}

// A message of more than 1 MiB, or an invalid one, closes the connection that sent it and no other.
func TestJunk(t *testing.T) {
	g := guard(t)
	watcher := g.connect(t, "manager")
	beats := hear(t, watcher, wire.BeatSubject)
	for what, junk := range map[string]string{
		"Maximum Payload": fmt.Sprintf("PUB pfq.beat.w7 %d\r\n", wire.MaxMessage+1) +
			strings.Repeat("x", wire.MaxMessage+1) + "\r\n",
		"Negative Size":              "PUB pfq.beat.w7 -1\r\n\r\n",
		"Unknown Protocol Operation": strings.Repeat("\x00\xff junk\r\n", 100),
		"Maximum Control Line":       "SUB " + strings.Repeat("x", 5000) + " 1\r\n",
	} {
		c := g.raw(t, "w7")
		go c.Write([]byte(junk)) // the server may close before it has read everything
		if text := toTheEnd(t, c); what == "Maximum Payload" && !strings.Contains(text, "-ERR 'Maximum Payload") {
			t.Errorf("%s: %q", what, text)
		}
	}
	// The library rejects a message that is too large before sending it.
	nc := g.connect(t, "w7")
	if err := nc.Publish(wire.BeatOf("w7"), make([]byte, wire.MaxMessage+1)); !errors.Is(err, nats.ErrMaxPayload) {
		t.Error(err)
	}
	say(t, nc, wire.BeatOf("w7"), strings.Repeat("y", wire.MaxMessage))
	if got := next(t, beats); len(got) != wire.MaxMessage || got[0] != 'y' {
		t.Errorf("received %d bytes of junk", len(got))
	}
	if watcher.Stats().Reconnects != 0 {
		t.Error("another connection was affected")
	}
}

// raw returns a connection for raw bytes that is logged in with the given key.
func (g guarded) raw(t *testing.T, name string) net.Conn {
	t.Helper()
	f, err := keys.Read(filepath.Join(g.folder, name+".key"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := net.Dial("tcp", g.address())
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReaderSize(plain, 1).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var info struct{ Nonce string }
	if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "INFO ")), &info); err != nil {
		t.Fatal(err)
	}
	key, err := nkeys.FromSeed([]byte(f.Seed))
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	signature, err := key.Sign([]byte(info.Nonce))
	if err != nil {
		t.Fatal(err)
	}
	c := tls.Client(plain, &tls.Config{RootCAs: pool(f.Authority), ServerName: "127.0.0.1"})
	t.Cleanup(func() { c.Close() })
	if _, err := fmt.Fprintf(c, "CONNECT {\"nkey\":%q,\"sig\":%q,\"verbose\":false,\"protocol\":1}\r\nPING\r\n",
		public, encode(signature)); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReaderSize(c, 1)
	for {
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(line, err)
		}
		if strings.HasPrefix(line, "PONG") {
			return c
		}
	}
}

// A key that is revoked while in use loses its connection and cannot connect again. Other
// connections stay, and a new key can connect.
func TestRevoke(t *testing.T) {
	g := guard(t)
	gone := make(chan error, 100)
	nc := g.connect(
		t, "w7", nats.MaxReconnects(3), nats.ReconnectWait(time.Millisecond),
		nats.ClosedHandler(func(nc *nats.Conn) { gone <- nc.LastError() }),
	)
	stays := g.connect(t, "w8")
	_, options, err := keys.Options(filepath.Join(g.folder, "w7.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.Revoke(g.folder, "w7"); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Add(g.folder, keys.Worker, "w9"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-gone:
		if !keys.Refused(err) {
			t.Error(err)
		}
	case <-time.After(waitLimit):
		t.Fatalf("still connected: %v", nc.Status())
	}
	if _, err := nats.Connect(g.URL(), options...); !keys.Refused(err) {
		t.Error(err)
	}
	g.connect(t, "w9")
	beats := hear(t, g.connect(t, "manager"), wire.BeatSubject)
	say(t, stays, wire.BeatOf("w8"), "here")
	if next(t, beats) != "here" || stays.Stats().Reconnects != 0 {
		t.Error("w8 was affected")
	}
}

// A server that listens beyond its machine requires keys, unless Insecure is set.
func TestListen(t *testing.T) {
	for listen, refused := range map[string]bool{
		"0.0.0.0:0":   true,
		"[::]:0":      true,
		"localhost:0": false,
		"127.0.0.1:0": false,
	} {
		s, err := server.Start(context.Background(), server.Settings{Listen: listen})
		if err == nil {
			s.Close()
		}
		var e *num.InputError
		if (errors.As(err, &e) && e.Path == "listen") != refused || !refused && err != nil {
			t.Errorf("%s: %v", listen, err)
		}
	}
	for _, set := range []server.Settings{
		{Listen: "0.0.0.0:0", Insecure: true}, {Listen: "0.0.0.0:0", Keys: newFolder(t)},
	} {
		s, err := server.Start(context.Background(), set)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	var e *num.InputError
	if _, err := server.Start(context.Background(), server.Settings{Keys: t.TempDir()}); !errors.As(err, &e) ||
		e.Path != "folder" {
		t.Error(err)
	}
}

func pool(authority string) *x509.CertPool {
	p := x509.NewCertPool()
	p.AppendCertsFromPEM([]byte(authority))
	return p
}

// encode encodes a signature as the NATS protocol requires.
func encode(signature []byte) string { return base64.RawURLEncoding.EncodeToString(signature) }
