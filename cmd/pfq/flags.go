package main

import (
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/internal/cli"
	"productform/cmd/internal/render"
	"productform/internal/tree"
	"productform/num"
)

func addFormat(cmd *cobra.Command, format *string) {
	cli.AddChoice(cmd, format, "format", render.Formats, "form of the answer")
}

// readModel reads the model in the file, or on the standard input if the name is "-".
func readModel(name string, stdin io.Reader) (*cluster.Model, error) {
	var m *cluster.Model
	var err error
	if name != "-" {
		m, err = cluster.ReadFile(name)
	} else if m, err = cluster.Read(stdin); err != nil {
		err = tree.InFile(source(name), err)
	}
	return m, meantFor(err, "allocate", "resources", "jobs")
}

// source returns the name that errors give to a MODEL.
func source(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

func addOutput(cmd *cobra.Command, file *string) {
	cli.AddText(cmd, file, "output", "o", "the name of a file, or - for the standard output",
		"write the answer to `FILE`, whole or not at all, instead of the standard output (-)")
}

// addNumber adds a flag that takes the numbers that are good.
func addNumber(cmd *cobra.Command, target *float64, name, standard, want, usage string, good func(float64) bool) {
	cli.Flag[float64]{Name: name, Kind: "float", Usage: usage, Default: standard, Want: want,
		Parse: func(text string) (float64, bool) {
			v, err := strconv.ParseFloat(text, 64)
			return v, err == nil && good(v)
		}}.Add(cmd, target)
}

func parseInt(most int) func(string) (int, bool) { return parseIntFrom(1, most) }

func parseIntFrom(least, most int) func(string) (int, bool) {
	return func(text string) (int, bool) {
		v, err := strconv.Atoi(text)
		return v, err == nil && v >= least && v <= most
	}
}

func parseTolerance(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v >= 1e-300 && v < 1
}

// addScale adds --scale, a list of factors and of ranges of factors.
func addScale(cmd *cobra.Command, target *[]*big.Rat, usage string) {
	cli.Flag[[]*big.Rat]{Name: "scale", Usage: usage,
		Want: fmt.Sprintf("numbers >= 0 or ranges FROM:TO:STEP, separated by commas, %d numbers at most", mostFactors), Parse: parseFactors}.Add(cmd, target)
}

const mostFactors = 10_000

// parseFactors reads numbers and ranges FROM:TO:STEP: FROM, FROM+STEP, ... up to TO, exactly.
func parseFactors(text string) (factors []*big.Rat, ok bool) {
	for word := range strings.SplitSeq(text, ",") {
		var bounds []*big.Rat
		for part := range strings.SplitSeq(word, ":") {
			v, err := num.ParseRat(part)
			if err != nil || v.Sign() < 0 {
				return nil, false
			}
			bounds = append(bounds, v)
		}
		switch {
		case len(bounds) == 1:
			factors = append(factors, bounds[0])
		case len(bounds) != 3 || bounds[2].Sign() == 0 || bounds[0].Cmp(bounds[1]) > 0:
			return nil, false
		default:
			for v := bounds[0]; v.Cmp(bounds[1]) <= 0 && len(factors) <= mostFactors; v = new(big.Rat).Add(v, bounds[2]) {
				factors = append(factors, v)
			}
		}
		if len(factors) > mostFactors {
			return nil, false
		}
	}
	return factors, true
}
