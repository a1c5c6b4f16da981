package optimum

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	"productform/num"
	"productform/sizes/exact"
	"productform/tags"
)

// With checkpoints written when jobs are stopped, the best cutoffs match those of an independent
// program to 44 digits, even below the smallest size.
func TestResumedReference(t *testing.T) {
	data, err := os.ReadFile("../testdata/checkpoints.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Kind, Load, Objective string
		Resume                      tags.ResumeRule
		Overhead                    string
		Sizes                       struct{ Kind, Mean, Alpha, Min, Max string }
		Hosts                       int
		Answer                      struct{ Cutoffs []string }
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, c := range cases {
		if c.Kind != "optimize" {
			continue
		}
		var d exact.Distribution = exact.BoundedPareto{}
		if c.Sizes.Kind == "exponential" {
			d, err = exact.Parse("exponential", num.Rat(c.Sizes.Mean))
			if err != nil {
				t.Fatal(err)
			}
		} else {
			d = exact.BoundedPareto{Alpha: num.Rat(c.Sizes.Alpha), Low: num.Rat(c.Sizes.Min),
				High: num.Rat(c.Sizes.Max)}
		}
		m := tags.ExactModel{Sizes: d, Hosts: c.Hosts, Load: num.Rat(c.Load),
			Resume: tags.ExactResume{Rule: c.Resume, Overhead: num.Rat(c.Overhead)}}
		o := tags.Objective{Waiting: 1}
		if c.Objective == "slowdown" {
			o = tags.Objective{Slowdown: 1}
		}
		var start []float64
		for i, s := range c.Answer.Cutoffs {
			x, _ := num.Rat(s).Float64()
			start = append(start, x*(1+1e-4*float64(1-2*(i%2))))
		}
		r, err := Enclose(context.Background(), m, o, start)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for i, s := range c.Answer.Cutoffs {
			want := num.Rat(s)
			off := new(big.Rat).Sub(r.ExactCutoffs[i], want)
			if f, _ := off.Quo(off, want).Float64(); math.Abs(f) > 1e-44 {
				t.Errorf("%s: cutoff %d is off by %.2g", c.Name, i+1, f)
			}
			looked++
		}
	}
	if looked < 14 {
		t.Errorf("%d cutoffs compared", looked)
	}
}
