package plan

import (
	"math/big"
	"slices"
	"testing"
)

// Words lists the purchases of a plan in the order of the problem, by name and number.
func TestWords(t *testing.T) {
	one := big.NewRat(1, 1)
	p := &Problem{
		Upgrades:   []Upgrade{{"small", one, one, 4, 0}, {"big", one, one, 2, 0}},
		NewServers: []NewServer{{"spare", one, nil, one, 3}},
		Edges:      []Edge{{"web", "small", 0, one}, {"reports", "big", 0, one}},
	}
	for _, c := range []struct {
		choice Choice
		want   string
		steps  []int
	}{
		{Choice{}, "none", []int{0, 0, 0, 0, 0}},
		{Choice{Steps: []int{1, 0, 3}}, "small=1,spare=3", []int{1, 0, 3, 0, 0}},
		{Choice{Steps: []int{0, 2, 0}, Edges: []int{0, 1}}, "big=2,web:small,reports:big", []int{0, 2, 0, 1, 1}},
		{Choice{Edges: []int{1}}, "reports:big", []int{0, 0, 0, 0, 1}},
	} {
		if got := p.Words(c.choice); got != c.want {
			t.Errorf("%v: %q, want %q", c.choice, got, c.want)
		}
		if got := p.Bought(c.choice); !slices.Equal(got, c.steps) {
			t.Errorf("%v: %v, want %v", c.choice, got, c.steps)
		}
	}
	options := p.Options()
	if len(options) != 5 || options[0] != (Option{"small", 4, false}) ||
		options[4] != (Option{"reports:big", 1, true}) {
		t.Errorf("%+v", options)
	}
}

// Targets are named by their measure and their class or server.
func TestTargetName(t *testing.T) {
	for _, c := range []struct {
		target  Target
		want    string
		isLeast bool
	}{
		{Target{Measure: MeanDelay}, "mean delay of all jobs", false},
		{Target{Measure: MeanDelay, Class: "web"}, "mean delay of web", false},
		{Target{Measure: Percentile, Class: "web", Level: big.NewRat(999, 10)}, "p99.9 of the delay of web", false},
		{Target{Measure: Percentile, Class: "web", Level: big.NewRat(100, 3)}, "p100/3 of the delay of web", false},
		{Target{Measure: Utilization, Server: "big"}, "utilization of big", false},
		{Target{Measure: LoadFactor}, "load factor", true},
		{Target{Measure: Margin}, "margin", true},
	} {
		if got := c.target.Name(); got != c.want || c.target.IsLeast() != c.isLeast {
			t.Errorf("%q, want %q; least is %v", got, c.want, c.target.IsLeast())
		}
	}
}
