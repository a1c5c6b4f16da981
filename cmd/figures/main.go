// Command figures draws the figures of the papers from exact theory and simulation.
//
//	figures [--output DIR] [--only bf-1,tags] [--precision draft|normal|paper] [--format png,svg,pdf,csv,html]
//	        [--seed N] [--results DIR] [--parallel N] [--part K/N | --tasks list|serve] [--list] [--check] [--version]
//
// For every figure it writes one file per format, then index.html (the figures with captions and
// parameters), claims.html, checks.html and checks.json, into the folder
// figures-out unless --output names another; the folder is created if necessary. Standard output
// lists the files written, one per line; progress goes to standard error. --list prints the
// available figures instead, and --check the table of checks and the claims; neither draws
// anything.
//
// The samples of the simulations are kept in the folder of --results, by default the subfolder
// results of --output: an interrupted run resumes, and a repeated one draws immediately. With
// --check they are kept only if --results is given.
//
// With --part the runs of one part are done and kept there. With --tasks the missing runs are
// listed, or done as their keys are read. Neither draws anything.
//
// The exit status is 0 if all went well, 1 if a check of --check fails, 2 on bad usage or a folder
// that cannot be written, and 130 if the run was interrupted.
package main

import (
	"context"
	"os"
	"syscall"

	"productform/internal/cli"
	"productform/plots"
)

func main() {
	ctx, stop := cli.UntilSignal(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, catalogue(), plots.Settings{})
	stop()
	os.Exit(status)
}
