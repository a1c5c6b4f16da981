package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A range counts exactly: ten steps of a tenth reach one.
func TestScaleRange(t *testing.T) {
	for _, c := range []struct{ scale, want string }{
		{"0.1:1:0.1", "1/10 1/5 3/10 2/5 1/2 3/5 7/10 4/5 9/10 1"},
		{"1/3:1:1/3,0", "1/3 2/3 1 0"},
		{"0.5:0.5:2", "1/2"},
		{"0:1:0.6", "0 3/5"},
	} {
		factors, ok := parseFactors(c.scale)
		var got []string
		for _, f := range factors {
			got = append(got, f.RatString())
		}
		if diff := cmp.Diff(strings.Fields(c.want), got); !ok || diff != "" {
			t.Errorf("%s: %s", c.scale, diff)
		}
	}
}
