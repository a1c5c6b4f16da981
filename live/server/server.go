package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"productform/live/internal/processes"
	"productform/live/keys"
	"productform/live/wire"
	"productform/num"
)

// Settings configure an embedded server. The zero value is a server in memory on 127.0.0.1, at a
// port that the system chooses.
type Settings struct {
	// folder of the stored data, for this server only, created if missing; empty to store
	// everything in memory
	Store    string
	Listen   string // HOST:PORT; empty for 127.0.0.1:0, port 0 for a free port; unused with NoListen
	NoListen bool   // only accept connections of this process, see [Server.InProcess]

	// Sync is 0 to flush every write to disk before acknowledging it, otherwise the time between
	// flushes; unused without Store.
	Sync time.Duration

	// MaxStore is the maximum number of bytes in Store; 0 for 3/4 of its size plus the free space
	// of its disk. A server without Store and Keys does not enforce it.
	MaxStore int64

	Keys     string       // folder made by package keys: connections need a key and TLS; empty to require neither
	Insecure bool         // allow listening beyond this machine without keys
	Log      *slog.Logger // for warnings and errors of the server, nil for none
}

// A Server is an embedded NATS server with JetStream.
type Server struct {
	nats *server.Server
	temp string        // folder to remove when the server ends
	own  nkeys.KeyPair // key with which this process opens and closes streams
	stop func()        // stops the supervision of the keys and the disk

	release func() // releases the store
}

// Start starts a server and returns once it accepts connections. The context only limits the wait;
// [Server.Close] stops the server. The error is a *num.InputError, or an error of the network or
// the file system.
func Start(ctx context.Context, s Settings) (*Server, error) {
	var seen *keys.Folder
	if s.Keys != "" {
		var err error
		if seen, err = keys.Load(s.Keys); err != nil {
			return nil, err
		}
	}
	own, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	o, err := options(s, own)
	if err != nil {
		return nil, err
	}
	v := &Server{own: own, stop: func() {}, release: func() {}}
	if s.Store != "" {
		// Two servers on one store would overwrite each other's acknowledged data.
		v.release, err = processes.Try(s.Store)
		if errors.Is(err, processes.ErrTaken) {
			return nil, &num.InputError{Path: "store", Value: s.Store, Want: "a folder that no other server uses"}
		}
		if err == nil {
			err = awaitRoom(ctx, s.Store, s.Log)
		}
		if err != nil {
			v.release()
			return nil, err
		}
	} else {
		// NATS needs a folder anyway. It stays empty, see Layout.Memory.
		if v.temp, err = os.MkdirTemp("", "pfq-server-"); err != nil {
			return nil, err
		}
		o.StoreDir = v.temp
	}
	log := &logger{to: s.Log}
	if v.nats, err = server.NewServer(o); err != nil {
		v.Close()
		return nil, fmt.Errorf("server: %w", err)
	}
	v.nats.SetLoggerV2(log, false, false, false)
	v.nats.Start()
	for !v.nats.ReadyForConnections(50 * time.Millisecond) {
		err := context.Cause(ctx)
		if err == nil && !v.nats.Running() {
			err = errors.New("server: it stopped during its start")
		}
		if fatal := log.Fatal(); err == nil && fatal != "" {
			err = errors.New("server: " + fatal)
		}
		if err != nil {
			v.Close()
			return nil, err
		}
	}
	if !v.nats.JetStreamEnabled() {
		v.Close()
		return nil, errors.New("server: JetStream did not start")
	}
	if s.Keys != "" || s.Store != "" {
		if v.stop, err = v.maintain(s, seen, o.StoreDir, log); err != nil {
			v.stop = func() {}
			v.Close()
			return nil, fmt.Errorf("server: %w", err)
		}
	}
	return v, nil
}

// options converts the settings to NATS options, which also admit a key of this process.
func options(s Settings, own nkeys.KeyPair) (*server.Options, error) {
	if s.Sync < 0 {
		return nil, &num.InputError{Path: "sync", Value: s.Sync.String(), Want: "always or a duration > 0"}
	}
	if s.MaxStore < 0 {
		return nil, &num.InputError{
			Path:  "max_store",
			Value: strconv.FormatInt(s.MaxStore, 10),
			Want:  "a number of bytes > 0",
		}
	}
	host, port, err := hostPort(s.Listen)
	if err != nil {
		return nil, err
	}
	if s.Keys == "" && !s.Insecure && !s.NoListen && s.Listen != "" && !keys.IsLoopback(s.Listen) {
		return nil, &num.InputError{
			Path:  "listen",
			Value: s.Listen,
			Want:  "an address of this machine only, such as 127.0.0.1:4222, unless connections need keys",
		}
	}
	o := &server.Options{}
	config, err := keys.Open()
	if err != nil {
		return nil, err
	}
	if s.Keys != "" {
		folder, err := keys.Load(s.Keys)
		if err != nil {
			return nil, err
		}
		config = keys.Config(folder.Users)
		if o.TLSConfig, err = keys.ServerTLS(s.Keys); err != nil {
			return nil, err
		}
		o.TLS, o.TLSTimeout = true, 5
	}
	if err := o.ProcessConfigString(config); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := admit(o, own); err != nil {
		return nil, err
	}
	o.ServerName, o.Host, o.Port, o.DontListen, o.NoSigs = "pfq", host, port, s.NoListen, true
	o.MaxPayload = wire.MaxMessage
	o.JetStream, o.StoreDir, o.JetStreamMaxStore = true, s.Store, unlimited // a gate limits it instead
	o.SyncAlways, o.SyncInterval = s.Sync == 0, cmp.Or(s.Sync, 2*time.Minute)
	if s.Store != "" {
		if err := os.MkdirAll(s.Store, 0o700); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// hostPort splits an address to listen on.
func hostPort(listen string) (host string, port int, err error) {
	if listen == "" {
		return "127.0.0.1", server.RANDOM_PORT, nil
	}
	host, p, err := net.SplitHostPort(listen)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	if err != nil || host == "" || port < 0 || port > 65535 {
		return "", 0, &num.InputError{Path: "listen", Value: listen, Want: "HOST:PORT, such as 127.0.0.1:4222"}
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}

// URL returns the address for other processes, empty with [Settings].NoListen.
func (s *Server) URL() string {
	if s.nats.Addr() == nil {
		return ""
	}
	return s.nats.ClientURL()
}

// InProcess returns an option that makes a connection of nats.go within this process, without the
// network.
func (s *Server) InProcess() nats.Option { return nats.InProcessServer(s.nats) }

// Close closes all connections and stops the server. It returns once all data is on disk.
func (s *Server) Close() {
	s.stop()
	if s.nats != nil {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	}
	if s.temp != "" {
		os.RemoveAll(s.temp)
	}
	s.release()
}
