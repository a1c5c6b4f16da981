package command

import (
	"strconv"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/render"
)

// AddFormat adds --format.
func AddFormat(cmd *cobra.Command, format *string) {
	cli.AddChoice(cmd, format, "format", render.Formats, "form of the answer")
}

// AddOutput adds --output.
func AddOutput(cmd *cobra.Command, file *string) {
	cli.AddText(cmd, file, "output", "o", "the name of a file, or - for the standard output",
		"write the answer to `FILE`, whole or not at all, instead of the standard output (-)")
}

// ParseTolerance reads a relative error, in [1e-300, 1).
func ParseTolerance(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v >= 1e-300 && v < 1
}
