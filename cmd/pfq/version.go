package main

import (
	"io"

	"github.com/spf13/cobra"

	"productform/cmd/internal/cli"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of pfq and of the Go that built it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), cli.Version("pfq"))
			return err
		},
	}
}
