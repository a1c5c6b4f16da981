package command

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"productform/internal/input"
	"productform/sim"
)

// percentiles reads a value of --percentiles, as a command does.
func percentiles(text string) (list []Percentile, err error) {
	cmd := &cobra.Command{}
	AddPercentiles(cmd, &list, "percentiles")
	if err = cmd.Flags().Lookup("percentiles").Value.Set(text); err == nil {
		err = CheckPercentiles(list)
	}
	return list, err
}

// Names are the shortest decimals, or fractions if there is no finite decimal.
func TestPercentiles(t *testing.T) {
	list, err := percentiles("50,95,99.90,1e-3,200/3,0.05e2")
	var got []string
	for _, p := range list {
		got = append(got, p.Name+"="+p.Level.RatString())
	}
	if diff := cmp.Diff(
		strings.Fields("p50=1/2 p95=19/20 p99.9=999/1000 p0.001=1/100000 p200/3=2/3 p5=1/20"), got,
	); err != nil ||
		diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	var s sim.Settings
	err = SetLevels(&s, list)
	if diff := cmp.Diff([]float64{0.5, 0.95, 0.999, 1e-5, 2. / 3, 0.05}, s.Levels); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
}

// An error names the position of a bad percentile.
func TestPercentileErrors(t *testing.T) {
	const want = "a number > 0 and < 100"
	for text, bad := range map[string]input.Error{
		"100":     {Path: "--percentiles[0]", Value: "100", Want: want},
		"50,0":    {Path: "--percentiles[1]", Value: "0", Want: want},
		"50,-1":   {Path: "--percentiles[1]", Value: "-1", Want: want},
		"50,":     {Path: "--percentiles[1]", Value: "", Want: want},
		"p50":     {Path: "--percentiles[0]", Value: "p50", Want: want + "; write 50"},
		"5,99.9%": {Path: "--percentiles[1]", Value: "99.9%", Want: want + "; write 99.9"},
		"50 P99":  {Path: "--percentiles[0]", Value: "50 P99", Want: want + "; write 50,99"},
		"all":     {Path: "--percentiles[0]", Value: "all", Want: want},
		"50,95,5e1": {
			Path:  "--percentiles[2]",
			Value: "50",
			Want:  "each percentile once; --percentiles[0] is the same",
		},
	} {
		_, err := percentiles(text)
		if e := new(input.Error); !errors.As(err, &e) || *e != bad {
			t.Errorf("%s: %v, want %v", text, err, &bad)
		}
	}
	for _, text := range []string{"99.99999999999999999999", "1e-400"} {
		list, err := percentiles(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := SetLevels(new(sim.Settings), list); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
