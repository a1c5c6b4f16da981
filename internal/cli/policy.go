package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/file"
	"productform/internal/input"
)

// A Policy is a policy of package dispatch, or a baseline if that is not nil.
type Policy struct {
	dispatch.Policy
	Baseline *rigid.Policy
}

func (p Policy) String() string {
	if p.Baseline != nil {
		return p.Baseline.String()
	}
	return p.Policy.String()
}

// Words of --policy for several policies: all rules, deadline with spare workers by priority and by
// deadline, and the policies that sites use today.
const (
	everyRule     = "all"
	everyBaseline = "sites"
)

// parsePolicies reads --policy.
func (f *LogFlags) parsePolicies() error {
	if f.IsOnePolicy {
		p, err := ParsePolicy(f.PolicyList)
		if bad := (*input.Error)(nil); errors.As(err, &bad) {
			return &input.Error{Path: "--policy", Value: cmp.Or(bad.Value, "nothing"), Want: bad.Want}
		}
		f.Policies = []Policy{p}
		return nil
	}
	has := func(p Policy) bool { return slices.Contains(PolicyNames(f.Policies), p.String()) }
	for i, name := range strings.Split(f.PolicyList, ",") {
		switch name {
		case everyRule:
			f.Policies = append(f.Policies, slices.DeleteFunc(AllRules(), has)...)
			continue
		case everyBaseline:
			f.Policies = append(f.Policies, slices.DeleteFunc(Baselines(), has)...)
			continue
		}
		p, err := ParsePolicy(name)
		path := input.Index("--policy", i)
		if bad := (*input.Error)(nil); errors.As(err, &bad) {
			return &input.Error{Path: path, Value: cmp.Or(bad.Value, "nothing"), Want: bad.Want}
		}
		if has(p) {
			return input.Errorf(path, name, "each policy once")
		}
		f.Policies = append(f.Policies, p)
	}
	return nil
}

// ParsePolicy returns the policy with the given name, from either package. The error is an
// [input.Error] whose path is "policy".
func ParsePolicy(name string) (Policy, error) {
	if rigid.Known(name) {
		p, err := rigid.ParsePolicy(name)
		return Policy{Baseline: &p}, err
	}
	rule, _, _ := strings.Cut(name, "/")
	rule, _, _ = strings.Cut(rule, ":")
	if slices.Contains(dispatch.AllRules(), dispatch.Rule(rule)) {
		p, err := dispatch.ParsePolicy(name)
		return Policy{Policy: p}, err
	}
	words := func(yield func(string) bool) {
		for _, p := range append(AllRules(), Baselines()...) {
			if word, _, _ := strings.Cut(p.String(), "/"); !yield(strings.TrimSuffix(word, ":1")) {
				return
			}
		}
	}
	hint := aliasHint(rule)
	if hint == "" {
		hint = file.DidYouMean(rule, words, strings.Clone)
	}
	return Policy{}, input.Errorf("policy", name, "one of %s%s",
		strings.Join(append(dispatch.Names(), rigid.Names()...), ", "), hint)
}

// aliasHint returns the policy for a name used by other programs.
func aliasHint(rule string) string {
	switch strings.ToLower(rule) {
	case "fifo":
		return "; first in, first out is fcfs here"
	case "backfill", "backfilling":
		return "; backfilling is easy here, or conservative"
	}
	return ""
}

// AllRules returns the policies of package dispatch that are compared by default.
func AllRules() (list []Policy) {
	for _, name := range []string{
		"priority", "proportion", "workload", "deadline/priority", "deadline/deadline", "edf",
	} {
		p, err := dispatch.ParsePolicy(name)
		if err != nil {
			panic(err) // a valid name
		}
		list = append(list, Policy{Policy: p})
	}
	return list
}

// Baselines returns the policies of package rigid, which sites use today.
func Baselines() (list []Policy) {
	for _, name := range []string{"fcfs", "sjf", "easy", "easy/sjf", "conservative"} {
		p, err := rigid.ParsePolicy(name)
		if err != nil {
			panic(err) // a valid name
		}
		list = append(list, Policy{Baseline: &p})
	}
	return list
}

// PolicyNames returns the names of policies.
func PolicyNames(list []Policy) (names []string) {
	for _, p := range list {
		names = append(names, p.String())
	}
	return names
}
