package command

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"productform/internal/input"
)

// A range is exact: ten steps of 0.1 end at 1.
func TestScaleRange(t *testing.T) {
	for _, c := range []struct{ scale, want string }{
		{"0.1:1:0.1", "1/10 1/5 3/10 2/5 1/2 3/5 7/10 4/5 9/10 1"},
		{"1/3:1:1/3", "1/3 2/3 1"},
		{"0", "0"},
		{"0.5:0.5:2", "1/2"},
		{"0:1:0.6", "0 3/5"},
	} {
		factors, ok := ParseFactors(c.scale)
		var got []string
		for _, f := range factors {
			got = append(got, f.RatString())
		}
		if diff := cmp.Diff(strings.Fields(c.want), got); !ok || diff != "" {
			t.Errorf("%s: %s", c.scale, diff)
		}
	}
}

// An error names the position of a bad factor.
func TestScaleErrors(t *testing.T) {
	const want = "a number >= 0, such as 0.5 for 50 percent, or a range FROM:TO:STEP of at most 10000 numbers"
	for text, bad := range map[string]input.Error{
		"1,-1":             {Path: "--scale[1]", Value: "-1", Want: want},
		"1,":               {Path: "--scale[1]", Value: "", Want: want},
		"1:2":              {Path: "--scale[0]", Value: "1:2", Want: want},
		"0:1:0":            {Path: "--scale[0]", Value: "0:1:0", Want: want + "; STEP must be above 0"},
		"2:1:1":            {Path: "--scale[0]", Value: "2:1:1", Want: want + "; FROM is above TO: write 1:2:1"},
		"0.5,0:1:1e-9":     {Path: "--scale[1]", Value: "0:1:1e-9", Want: want},
		"a":                {Path: "--scale[0]", Value: "a", Want: want},
		"1:9000:1,1:2e3:1": {Path: "--scale", Value: "1:9000:1,1:2e3:1", Want: "at most 10000 numbers"},
	} {
		var factors []*big.Rat
		cmd := &cobra.Command{}
		AddScale(cmd, &factors, "solve", "all arrival rates")
		err := cmd.Flags().Lookup("scale").Value.Set(text)
		if e := new(input.Error); !errors.As(err, &e) || *e != bad {
			t.Errorf("%s: %v, want %v", text, err, &bad)
		}
	}
}
