package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"productform/internal/file"
)

// AddNumber adds a flag that takes numbers accepted by good.
func AddNumber(cmd *cobra.Command, target *float64, name, standard, want, usage string, good func(float64) bool) {
	Flag[float64]{Name: name, Kind: "float", Usage: usage, Default: standard, Want: want, Hint: HintUnit,
		Parse: func(text string) (float64, bool) {
			v, err := strconv.ParseFloat(text, 64)
			return v, err == nil && good(v)
		}}.Add(cmd, target)
}

// HintUnit returns how to write a number with a unit, such as 20s, "" for other texts.
func HintUnit(text string) string {
	if number, unit := file.SplitUnit(text); unit != "" {
		return "write " + number + ", without " + unit
	}
	return ""
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
