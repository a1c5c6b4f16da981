package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/internal/cli"
	"productform/internal/input"
)

// example is the model of the page if none is given.
//
//go:embed shop.yaml
var example string

// options holds the values of the flags.
type options struct {
	output, folder string
	port           int
	version        bool
}

// run executes the command and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := command()
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cli.Execute(ctx, cmd, args)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "whatif: interrupted")
		return cli.Interrupted
	}
	fmt.Fprintln(stderr, "whatif:", cli.OneLine(err))
	return 2
}

func command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "whatif [MODEL]",
		Short: "Make the what-if page of a cluster",
		Long: `Make the what-if page of a cluster. On this page you change rates, capacities and which servers can
run which jobs, and see the delays, percentiles and limits that follow. A job runs on all its
servers, on one, or on several at once; jobs that wait for one may give up.

The command prints an address on 127.0.0.1 and serves the page there until you interrupt it; open
the address in a browser. With --output or --folder it writes the page instead, and serves nothing.
It compiles the solver to WebAssembly with the installed Go. This takes up to a minute the first
time, and a few seconds after that. The page computes everything in the browser, with the digits of
pfq; no data leaves it.

MODEL is a file as for pfq solve, or - for the standard input; without it the page starts with a
small example. You can open other files on the page.

Exit status: 0 success, or the server was interrupted; 2 bad usage, an invalid model, or the
solver cannot be built; 130 interrupted before that.`,
		Example: `  whatif shop.yaml
  whatif shop.yaml --output shop.html
  whatif shop.yaml --folder site`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	cli.AddText(cmd, &o.output, "output", "o", "a file", "write the whole page to `FILE`")
	cli.AddText(
		cmd, &o.folder, "folder", "", "a folder",
		"write the page as a static site to the folder `DIR`, created if missing",
	)
	cli.Flag[int]{
		Name:  "port",
		Kind:  "int",
		Usage: "serve on this port `N` of 127.0.0.1 (default a free one)",
		Want:  "an integer in 1..65535",
		Parse: func(text string) (int, bool) {
			v, err := strconv.Atoi(text)
			return v, err == nil && v >= 1 && v <= 65535
		},
	}.Add(cmd, &o.port)
	cli.AddSwitch(cmd, &o.version, "version", "print the version")
	return cmd
}

func (o *options) run(cmd *cobra.Command, args []string) error {
	if o.version {
		fmt.Fprint(cmd.OutOrStdout(), cli.Version("whatif"))
		return nil
	}
	file := ""
	if len(args) == 1 {
		file = args[0]
	}
	if err := o.check(); err != nil {
		return err
	}
	if err := cli.Check("--output", o.output, file, cmd.InOrStdin()); err != nil {
		return err
	}
	first, err := readStart(file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "whatif: building the solver")
	s, err := buildSolver(cmd.Context())
	if err != nil {
		return err
	}
	if o.folder != "" {
		all, err := manyFiles(s, first)
		if err != nil {
			return err
		}
		return writeFolder(all, o.folder, cmd.OutOrStdout())
	}
	page, err := onePage(s, first)
	if err != nil {
		return err
	}
	if o.output != "" {
		return cli.Write(page[indexFile], o.output, cmd.OutOrStdout())
	}
	return serve(cmd.Context(), page[indexFile], o.port, cmd.OutOrStdout())
}

// check rejects flags that contradict each other about serving the page or the form of its files.
func (o *options) check() error {
	switch {
	case o.output != "" && o.folder != "":
		return input.Errorf("--folder", o.folder, "no such flag with --output")
	case o.port != 0 && o.output+o.folder != "":
		return input.Errorf(
			"--port", strconv.Itoa(o.port), "no such flag with --output or --folder, which serve nothing",
		)
	}
	return nil
}

// readStart reads the model that the page starts with, and rejects a text that is not a model.
func readStart(file string, stdin io.Reader) (first start, err error) {
	first = start{Name: "shop.yaml", Text: example}
	name := file
	var text []byte
	switch file {
	case "":
		return first, nil
	case "-":
		name = "standard input"
		text, err = io.ReadAll(stdin)
	default:
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return first, input.InFile(name, err)
	}
	m, err := cluster.Read(bytes.NewReader(text))
	if err == nil {
		err = m.RequireNoTimeouts()
	}
	if err != nil {
		return first, forClusters(input.InFile(name, err))
	}
	return start{Name: filepath.Base(name), Text: string(text)}, nil
}

// forClusters explains, in an error about a field of plans, pools or networks, that the page is for
// clusters.
func forClusters(err error) error {
	var bad *input.Error
	if errors.As(err, &bad) && !strings.ContainsAny(bad.Path, ".[") &&
		!slices.Contains(
			[]string{"", "servers", "classes", "mean_size", "service", "mean_patience", "patience"}, bad.Path,
		) {
		return fmt.Errorf("%w; the page takes clusters, the models of pfq solve", err)
	}
	return err
}

// writeFolder writes the files of a site, and prints their names.
func writeFolder(all site, folder string, stdout io.Writer) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var list bytes.Buffer
	var files []cli.File
	for _, name := range []string{indexFile, "page.css", "page.js"} {
		path := filepath.Join(folder, name)
		files = append(files, cli.File{Text: all[name], Name: path})
		fmt.Fprintln(&list, path)
	}
	return cli.WriteAll(stdout, cli.File{Text: list.Bytes()}, files...)
}

// serve serves the page until the context is done.
func serve(ctx context.Context, page []byte, port int, stdout io.Writer) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler(page), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	fmt.Fprintf(stdout, "http://%s/\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func handler(page []byte) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(page) // ignored: the browser may have disconnected
	})
	return mux
}
