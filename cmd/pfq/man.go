package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
)

// newMan returns the command that writes manual pages.
func newMan() *cobra.Command {
	return command.Help(&cobra.Command{
		Use: "man FOLDER",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("man takes one FOLDER for the pages, not %d arguments", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cli.MakeFolder("FOLDER", args[0]); err != nil {
				return err
			}
			root := newRoot()
			keepLines(root)
			return doc.GenManTree(
				root, &doc.GenManHeader{Section: "1", Source: "productform", Manual: "productform"}, args[0],
			)
		},
	})
}

// keepLines marks the descriptions of a command and its subcommands as preformatted text; otherwise
// they would be read as Markdown.
func keepLines(c *cobra.Command) {
	c.DisableAutoGenTag = true // the tag contains the date
	if c.Long != "" {
		c.Long = "```\n" + c.Long + "\n```"
	}
	for _, below := range c.Commands() {
		keepLines(below)
	}
}
