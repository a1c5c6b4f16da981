package main

import (
	"io"

	"github.com/spf13/cobra"

	"productform/cmd/internal/cli"
)

func newVersion() *cobra.Command {
	return helpOf(&cobra.Command{
		Use:  "version",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), cli.Version("pfq"))
			return err
		},
	})
}
