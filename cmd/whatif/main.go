// Command whatif makes the what-if page of a cluster: its delays, percentiles and limits in a browser, as one changes it.
//
//	whatif [MODEL] [--port N | --output FILE | --folder DIR] [--version]
//
// It compiles the solver to WebAssembly with the Go that is installed, serves the page on 127.0.0.1 and prints its address, until
// it is interrupted. With --output it writes the page as one file instead, which browsers open from a disk without any server or
// network; with --folder as a static site for web servers. Without a MODEL the page starts with a small example.
//
// The exit status is 0 if all went well or the server was interrupted, and 2 on bad usage, a model that cannot be used, or if
// the solver cannot be built.
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
