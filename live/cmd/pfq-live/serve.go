package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/live/keys"
	"productform/live/manager"
	"productform/live/page"
	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

// stateFolder returns the default folder of a server's data.
func stateFolder() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pfq-live"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "pfq-live"), err
}

// serveFlags are the flags of serve.
type serveFlags struct {
	server  serverFlags
	manager managerFlags
	worker  workerFlags
	page    pageFlags
	workers int
	log     string
}

func newServe() *cobra.Command {
	f := serveFlags{workers: runtime.NumCPU()}
	cmd := help(&cobra.Command{
		Use: "serve", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.serve(cmd.Context(), cmd.OutOrStdout(), newLog(cmd.ErrOrStderr(), f.log))
		},
	})
	f.server.add(cmd)
	f.manager.add(cmd)
	f.worker.add(cmd)
	f.page.add(cmd, "127.0.0.1:9180")
	addInt(
		cmd, &f.workers, "workers", 0, 1024, "number of workers of this process; by default the number of processors",
	)
	addLog(cmd, &f.log)
	return cmd
}

// serve runs a server, a manager, workers and the page until a signal arrives.
func (f *serveFlags) serve(ctx context.Context, out io.Writer, log *slog.Logger) error {
	ms, err := f.manager.settings()
	if err != nil {
		return err
	}
	ws, err := f.worker.settings()
	if err != nil {
		return err
	}
	end, err := sweepHandlers(&ws)
	if err != nil {
		return err
	}
	defer end()
	if least := 2 * f.worker.Beat; f.manager.LostAfter < least {
		return input.Errorf("--lost-after", f.manager.LostAfter,
			"at least %v, twice --beat; otherwise healthy workers are lost",
			least)
	}
	const local = "local" // name of the workers in this process, whose keys the server knows from its start
	ws.Name, ws.Slots = local, max(1, f.workers)
	if err := ws.Check(); err != nil {
		return err
	}
	if err := f.server.addWorkerKeys(local, f.workers); err != nil {
		return err
	}
	s, layout, err := f.server.start(ctx, log)
	if err != nil {
		return err
	}
	defer s.Close()
	way := f.server.way(s)
	nc, err := keys.Connect(ctx, way.manager, "serve", way.options...)
	if err != nil {
		return err
	}
	defer nc.Close()
	if err := prepare(ctx, nc, layout, log); err != nil {
		return err
	}
	web, err := f.page.open(ctx, way.monitor, way.options)
	if err != nil {
		return err
	}
	defer web.close()
	group, ctx := errgroup.WithContext(ctx)
	registry := prometheus.NewRegistry()
	ms.Name, ms.Log, ms.Registry = "serve", log, registry
	group.Go(func() error { return manager.Run(ctx, nc, ms) })
	group.Go(func() error { return web.serve(ctx, registry) })
	if f.workers > 0 {
		ws.Server, ws.Options, ws.Log = way.worker, way.options, log
		group.Go(func() error { return untilDone(ctx, worker.Run(ctx, ws)) })
	}
	group.Go(func() error {
		_, err := fmt.Fprintf(out, "server %s\n%s", s.URL(), web)
		return err
	})
	return group.Wait()
}

// A way describes the connections of this process to its server: within the process, or with their
// keys.
type way struct {
	manager, worker, monitor string
	options                  []nats.Option
}

func (f *serverFlags) way(s *server.Server) way {
	if f.Keys == "" {
		return way{s.URL(), s.URL(), s.URL(), []nats.Option{s.InProcess()}}
	}
	file := func(name string) string { return filepath.Join(f.Keys, name+".key") }
	return way{file("manager"), file("{name}"), file("monitor"), nil}
}

// addWorkerKeys creates the missing keys of workers in this process.
func (f *serverFlags) addWorkerKeys(name string, slots int) error {
	for k := 1; f.Keys != "" && k <= slots; k++ {
		own := name
		if slots > 1 {
			own += "-" + strconv.Itoa(k)
		}
		if _, err := os.Stat(filepath.Join(f.Keys, own+".key")); err == nil {
			continue
		}
		if _, err := keys.Add(f.Keys, keys.Worker, own); err != nil {
			return err
		}
	}
	return nil
}

// untilDone returns nil instead of an error caused by the end of the context.
func untilDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// start starts the server.
func (f *serverFlags) start(ctx context.Context, log *slog.Logger) (*server.Server, server.Layout, error) {
	settings, layout, err := f.settings()
	if err != nil {
		return nil, layout, err
	}
	settings.Log = log
	s, err := server.Start(ctx, settings)
	if err == nil && settings.Store != "" {
		log.Info("server", "store", settings.Store)
	}
	return s, layout, err
}

// prepare creates the streams and buckets. It waits for an unavailable server, and for servers of a
// cluster until they find each other.
func prepare(ctx context.Context, nc *nats.Conn, layout server.Layout, log *slog.Logger) error {
	const patience = time.Second // time limit of a request, since a cluster without a leader never responds
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(patience))
	if err != nil {
		return err
	}
	for {
		lacks, err := server.Check(ctx, js, layout)
		if err == nil && len(lacks) > 0 {
			return lacks[0]
		}
		if err == nil {
			err = server.Prepare(ctx, js, layout)
		}
		if !wire.IsAway(err) || ctx.Err() != nil {
			return err
		}
		log.Warn("waiting for the server", "error", err)
		sleep(ctx, 100*time.Millisecond)
	}
}

// pageFlags are the flags of the status page.
type pageFlags struct{ http string }

func (f *pageFlags) add(cmd *cobra.Command, standard string) {
	f.http = strings.TrimSuffix(standard, "none")
	cli.Flag[string]{
		Name:    "http",
		Kind:    "string",
		Default: standard,
		Usage:   "`HOST:PORT` of the status page, /metrics and /healthz; none for no page",
		Want:    "HOST:PORT or none",
		Parse: func(text string) (string, bool) {
			_, _, err := net.SplitHostPort(text)
			return strings.TrimSuffix(text, "none"), err == nil || text == "none"
		},
	}.Add(cmd, &f.http)
}

// A website is the status page with its own connection. The zero value is no page.
type website struct {
	listener net.Listener
	nc       *nats.Conn
}

// open listens for browsers and connects to the server, unless the flags turn off the page.
func (f *pageFlags) open(ctx context.Context, url string, options []nats.Option) (w website, err error) {
	if f.http == "" {
		return w, nil
	}
	if w.listener, err = net.Listen("tcp", f.http); err != nil {
		return w, fmt.Errorf("--http %s: %w", f.http, err)
	}
	if w.nc, err = keys.Connect(ctx, url, "page", options...); err != nil {
		w.close()
	}
	return w, err
}

func (w website) close() {
	if w.listener != nil {
		_ = w.listener.Close() // it may be closed
	}
	if w.nc != nil {
		w.nc.Close()
	}
}

// String returns a line with the address of the page.
func (w website) String() string {
	if w.listener == nil {
		return ""
	}
	return fmt.Sprintf("page http://%s\n", w.listener.Addr())
}

// serve serves browsers until the context is done.
func (w website) serve(ctx context.Context, registry *prometheus.Registry) error {
	if w.listener == nil {
		return nil
	}
	handler, err := page.Handler(ctx, w.nc, registry)
	if err != nil {
		return err
	}
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = web.Close() })
	defer stop()
	if err := web.Serve(w.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func newServer() *cobra.Command {
	var f serverFlags
	var log string
	cmd := help(&cobra.Command{
		Use: "server", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if os.Getenv("GOGC") == "" {
				// A server holds about 180 bytes per result until the job is cleared. More frequent
				// garbage collection costs little, and limits a million results to 340 MB instead
				// of 390 MB.
				debug.SetGCPercent(75)
			}
			said := newLog(cmd.ErrOrStderr(), log)
			s, layout, err := f.start(ctx, said)
			if err != nil {
				return err
			}
			defer s.Close()
			if f.Keys == "" {
				nc, err := keys.Connect(ctx, s.URL(), "server", s.InProcess())
				if err != nil {
					return err
				}
				defer nc.Close()
				if err := prepare(ctx, nc, layout, said); err != nil {
					return err
				}
			}
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "server %s\n", s.URL()); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		},
	})
	f.add(cmd)
	addLog(cmd, &log)
	return cmd
}

func newManager() *cobra.Command {
	var f managerFlags
	var p pageFlags
	var url, key, log string
	replicas := 1
	cmd := help(&cobra.Command{
		Use: "manager", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.settings()
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			registry := prometheus.NewRegistry()
			s.Name, s.Log, s.Registry = cmp.Or(s.Name, uniqueName()), newLog(cmd.ErrOrStderr(), log), registry
			if err := s.Check(); err != nil {
				return err
			}
			if err := keys.Check(url, "", keys.Manager); err != nil {
				return err
			}
			nc, err := connect(ctx, url, s.Name, s.Log)
			if err != nil {
				return err
			}
			defer nc.Close()
			if err := prepare(ctx, nc, server.Layout{Replicas: replicas}, s.Log); err != nil {
				return err
			}
			web, err := p.open(ctx, cmp.Or(key, url), nil)
			if err != nil {
				return err
			}
			defer web.close()
			group, ctx := errgroup.WithContext(ctx)
			group.Go(func() error { return manager.Run(ctx, nc, s) })
			group.Go(func() error { return web.serve(ctx, registry) })
			return group.Wait()
		},
	})
	addURL(cmd, &url)
	addName(cmd, &f.Name)
	f.add(cmd)
	p.add(cmd, "none")
	cli.AddText(
		cmd, &key, "page-key", "", "the key file of a monitor",
		"`FILE` of the key of the page, if the server requires keys",
	)
	cli.AddSwitch(cmd, &f.Logical, "logical", "use the logical clock of a replay")
	cli.Flag[int]{
		Name:    "replicas",
		Kind:    "1|3",
		Default: "1",
		Usage:   "copies of stored data, each on a separate server",
		Want:    "1 or 3",
		Parse: func(text string) (int, bool) {
			n, err := strconv.Atoi(text)
			return n, err == nil && (n == 1 || n == 3)
		},
	}.Add(cmd, &replicas)
	addLog(cmd, &log)
	return cmd
}
