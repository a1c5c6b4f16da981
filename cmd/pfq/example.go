package main

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
)

// The first line of every example is a comment that describes it. Clusters are in the folder
// itself; pools and traffic for pfq allocate and logs for pfq dispatch are in its subfolders.
//
//go:embed examples/*.yaml examples/*/*.yaml examples/*/*.swf
var examples embed.FS

func newExample() *cobra.Command {
	var file string
	cmd := command.Help(&cobra.Command{
		Use: "example [NAME]",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("example takes at most one NAME, not %d arguments", len(args))
			}
			return nil
		},
		ValidArgs: exampleNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Write(listExamples(), file, cmd.OutOrStdout())
			}
			if err := cli.CheckWord("example", args[0], exampleNames()); err != nil {
				return err
			}
			return cli.Write(readExample(args[0]), file, cmd.OutOrStdout())
		},
	})
	command.AddOutput(cmd, &file)
	return cmd
}

// exampleFiles returns the paths of the examples.
var exampleFiles = sync.OnceValue(func() []string {
	var files []string
	for _, pattern := range []string{"examples/*.yaml", "examples/*/*.yaml", "examples/*/*.swf"} {
		found, err := fs.Glob(examples, pattern)
		if err != nil {
			panic(err) // cannot fail: the folder is embedded
		}
		files = append(files, found...)
	}
	return files
})

func exampleName(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

func exampleNames() []string {
	var names []string
	for _, file := range exampleFiles() {
		names = append(names, exampleName(file))
	}
	return names
}

// readExample returns the text of the example with the given name, nil if there is none.
func readExample(name string) []byte {
	for _, file := range exampleFiles() {
		if exampleName(file) != name {
			continue
		}
		data, err := examples.ReadFile(file)
		if err != nil {
			panic(err) // cannot fail: the file is embedded
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
