// Command whatif makes the what-if page of a cluster: change the cluster and see its delays,
// percentiles and limits in a browser.
//
//	whatif [MODEL] [--port N | --output FILE | --folder DIR] [--version]
//
// It compiles the solver to WebAssembly with the installed Go, prints an address on 127.0.0.1, to
// be opened in a browser, and serves the page there until it is interrupted. With --output it
// writes the page as one file instead, which browsers open from a disk without a server or a
// network; with --folder as a static site for web servers. Without a MODEL the page starts with a
// small example.
//
// The exit status is 0 on success or if the server was interrupted, and 2 on bad usage, an invalid
// model, or if the solver cannot be built.
package main

import (
	"context"
	"os"
	"syscall"

	"productform/internal/cli"
)

func main() {
	ctx, stop := cli.UntilSignal(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
