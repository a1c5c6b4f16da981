package command

import (
	"runtime"
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

// AddSeed adds --seed, 1 unless given.
func AddSeed(cmd *cobra.Command, seed *uint64) {
	*seed = 1
	cli.Flag[uint64]{Name: "seed", Kind: "int", Usage: "of the random numbers", Default: "1", Want: "an integer in 0..18446744073709551615",
		Parse: func(text string) (uint64, bool) {
			v, err := strconv.ParseUint(text, 10, 64)
			return v, err == nil
		}}.Add(cmd, seed)
}

// AddConfidence adds --confidence, 0.95 unless given.
func AddConfidence(cmd *cobra.Command, confidence *float64) {
	*confidence = 0.95
	cli.AddNumber(cmd, confidence, "confidence", "0.95", "a number > 0 and <= 0.999999", "probability that an interval holds the true value",
		func(v float64) bool { return v > 0 && v <= 0.999999 })
}

// AddParallel adds --parallel, one a core unless given, of what the usage says.
func AddParallel(cmd *cobra.Command, workers *int, usage string) {
	*workers = runtime.GOMAXPROCS(0)
	cli.Flag[int]{Name: "parallel", Usage: usage, Default: strconv.Itoa(*workers), Want: "an integer in 1..10000", Parse: cli.ParseInt(1e4)}.Add(cmd, workers)
}
