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

// AddSeed adds --seed, 1 unless given.
func AddSeed(b *cli.Binding, seed *uint64) {
	*seed = 1
	cli.Flag[uint64]{Name: "seed", Kind: "int", Usage: "seed of the random numbers", Default: "1",
		Want: "an integer in 0..18446744073709551615",
		Parse: func(text string) (uint64, bool) {
			v, err := strconv.ParseUint(text, 10, 64)
			return v, err == nil
		}}.Add(b.Cmd, seed)
}

// AddConfidence adds --confidence, 0.95 unless given.
func AddConfidence(b *cli.Binding, confidence *float64) {
	*confidence = 0.95
	b.Number(confidence, "Confidence", "confidence", "0.95", "a number > 0 and <= 0.999999",
		"probability that an interval contains the true value", func(v float64) bool { return v > 0 && v <= 0.999999 })
}

// AddParallel adds --parallel, by default one per core, with the usage text for what runs in
// parallel.
func AddParallel(b *cli.Binding, workers *int, usage string) {
	*workers = runtime.GOMAXPROCS(0)
	b.Int(workers, "Workers", "parallel", 1e4, usage)
}
