package main

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"productform/cmd/internal/cli"
)

// The first line of every example is a comment that says what it means. Clusters stand in the folder itself, pools and
// traffic of pfq allocate and logs of pfq dispatch below it.
//
//go:embed examples/*.yaml examples/*/*.yaml examples/*/*.swf
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
  three-servers  The three servers of Bonald and Comte (2017), figure 1, at load 0.8.
  two-jobs       Two jobs share 9 processors and 18 GB: one needs memory, the other processors.
  two-classes    Two classes of jobs come and go on 9 processors and 18 GB, at loads of 0.85 and 0.875.
  five-jobs      Five jobs of five users in half a minute, for about four workers.`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: exampleNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			answer := listExamples()
			if len(args) == 1 {
				if err := cli.CheckWord("example", args[0], exampleNames()); err != nil {
					return err
				}
				answer = readExample(args[0])
			}
			return write(answer, file, cmd.OutOrStdout())
		},
	}
	addOutput(cmd, &file)
	return cmd
}

// exampleFiles returns the paths of the examples.
func exampleFiles() []string {
	var files []string
	for _, pattern := range []string{"examples/*.yaml", "examples/*/*.yaml", "examples/*/*.swf"} {
		found, err := fs.Glob(examples, pattern)
		if err != nil {
			panic(err) // embedded
		}
		files = append(files, found...)
	}
	return files
}

func exampleName(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

func exampleNames() []string {
	var names []string
	for _, file := range exampleFiles() {
		names = append(names, exampleName(file))
	}
	return names
}

// readExample returns the text of the example with a name, nil if there is none.
func readExample(name string) []byte {
	for _, file := range exampleFiles() {
		if exampleName(file) != name {
			continue
		}
		data, err := examples.ReadFile(file)
		if err != nil {
			panic(err) // embedded
		}
		return data
	}
	return nil
}

func listExamples() []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, name := range exampleNames() {
		first, _, _ := strings.Cut(string(readExample(name)), "\n")
		fmt.Fprintf(w, "%s\t%s\n", name, strings.TrimLeft(first, "#; "))
	}
	w.Flush()
	return b.Bytes()
}
