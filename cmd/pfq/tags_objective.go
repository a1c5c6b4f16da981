package main

import (
	"errors"
	"strings"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/tags"
)

// An objective is the quantity that cutoffs minimize, or fairness.
type objective struct {
	fair    bool           // equal slowdowns; otherwise weights apply
	weights tags.Objective // for fairness, the weights for policies that cannot be fair
}

var objectives = []string{"slowdown", "waiting", "fairness", "slowdown=A,waiting=B"}

// parseObjective reads one of the objectives.
func parseObjective(text string) (objective, error) {
	if !strings.Contains(text, "=") {
		o := map[string]objective{
			"slowdown": {weights: tags.Objective{Slowdown: 1}},
			"waiting":  {weights: tags.Objective{Waiting: 1}},
			"fairness": {fair: true, weights: tags.Objective{Slowdown: 1}},
		}
		if _, ok := o[text]; !ok {
			err := cli.CheckWord("--objective", text, objectives[:3]) // may suggest one of them
			var bad *input.Error
			if errors.As(err, &bad) {
				err = &input.Error{Path: bad.Path, Value: bad.Value, Want: objectives[3] + ", " + bad.Want}
			}
			return objective{}, err
		}
		return o[text], nil
	}
	bad := input.Errorf("--objective", text,
		"slowdown=A,waiting=B, in which A and B are numbers in [0, 1e100] and not both 0")
	var o objective
	weights := map[string]*float64{"slowdown": &o.weights.Slowdown, "waiting": &o.weights.Waiting}
	parse := parseDecimal(func(v float64) bool { return v >= 0 && v <= 1e100 })
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		weight, ok := parse(number)
		if weights[name] == nil || !ok {
			return objective{}, bad
		}
		*weights[name] = weight.float
		delete(weights, name)
	}
	if o.weights == (tags.Objective{}) {
		return objective{}, bad
	}
	return o, nil
}
