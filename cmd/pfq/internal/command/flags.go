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

// AddNumber adds a flag that takes the numbers that are good.
func AddNumber(cmd *cobra.Command, target *float64, name, standard, want, usage string, good func(float64) bool) {
	cli.Flag[float64]{Name: name, Kind: "float", Usage: usage, Default: standard, Want: want,
		Parse: func(text string) (float64, bool) {
			v, err := strconv.ParseFloat(text, 64)
			return v, err == nil && good(v)
		}}.Add(cmd, target)
}

// ParseInt returns a function that reads integers in 1..most.
func ParseInt(most int) func(string) (int, bool) { return ParseIntFrom(1, most) }

// ParseIntFrom returns a function that reads integers in least..most.
func ParseIntFrom(least, most int) func(string) (int, bool) {
	return func(text string) (int, bool) {
		v, err := strconv.Atoi(text)
		return v, err == nil && v >= least && v <= most
	}
}

// ParseTolerance reads a relative error, in [1e-300, 1).
func ParseTolerance(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v >= 1e-300 && v < 1
}
