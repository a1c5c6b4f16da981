package main

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"productform/cmd/internal/cli"
)

// The first line of every example is a comment that says what it means.
//
//go:embed examples/*.yaml
var examples embed.FS

func newExample() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "example [NAME]",
		Short: "Print a model to start from, or the list of them",
		Long:  `example prints a model to start from, with comments that explain it. Without a name it lists them.`,
		Example: `  $ pfq example line > line.yaml
  $ pfq stability line.yaml --format csv
  verdict,stable,margin,critical_scale,bottleneck
  stable,true,1.2,1.1111111111111112,w1;w2;w3;w4;w5;w6;w7;w8;w9;w10

  $ pfq example
  line           Twelve servers in a line, every job on three neighbours, at load 0.9.
  racks          Four racks of 25 servers: local jobs on two servers of a rack, wide ones on one of each rack.
  random-100-2   100 equal servers, two drawn at random for every job, at load 0.8.
  storage        A storage cluster: each data set has replicas on some nodes, and is read from all of them at once.
  three-servers  The three servers of Bonald and Comte (2017), figure 1, at load 0.8.`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: exampleNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			answer := listExamples()
			if len(args) == 1 {
				if err := cli.CheckWord("example", args[0], exampleNames()); err != nil {
					return err
				}
				data, err := examples.ReadFile("examples/" + args[0] + ".yaml")
				if err != nil {
					return err
				}
				answer = data
			}
			return write(answer, file, cmd.OutOrStdout())
		},
	}
	addOutput(cmd, &file)
	return cmd
}

func exampleNames() []string {
	entries, err := examples.ReadDir("examples")
	if err != nil {
		panic(err) // embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

func listExamples() []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, name := range exampleNames() {
		data, err := examples.ReadFile("examples/" + name + ".yaml")
		if err != nil {
			panic(err) // embedded
		}
		first, _, _ := strings.Cut(string(data), "\n")
		fmt.Fprintf(w, "%s\t%s\n", name, strings.TrimPrefix(first, "# "))
	}
	w.Flush()
	return b.Bytes()
}
