package joblog

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/input"
	"productform/internal/tree"
)

// A policy is one of package dispatch, or a baseline if that is not nil.
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

// everyPolicy is the list of --policy that stands for all rules, deadline with spare workers by priority and by deadline.
const everyPolicy = "all"

// parsePolicies reads --policy.
func (f *Flags) parsePolicies() error {
	if f.IsOnePolicy {
		p, err := ParsePolicy(f.PolicyList)
		if bad := (*input.Error)(nil); errors.As(err, &bad) {
			return &input.Error{Path: "--policy", Value: cmp.Or(bad.Value, "nothing"), Want: bad.Want}
		}
		f.Policies = []Policy{p}
		return nil
	}
	if f.PolicyList == everyPolicy {
		f.Policies = AllRules()
		return nil
	}
	for i, name := range strings.Split(f.PolicyList, ",") {
		p, err := ParsePolicy(name)
		path := input.Index("--policy", i)
		if bad := (*input.Error)(nil); errors.As(err, &bad) {
			return &input.Error{Path: path, Value: cmp.Or(bad.Value, "nothing"), Want: bad.Want}
		}
		if slices.Contains(PolicyNames(f.Policies), p.String()) {
			return input.Errorf(path, name, "each policy once")
		}
		f.Policies = append(f.Policies, p)
	}
	return nil
}

// ParsePolicy returns the policy of a name, of either package. The error is an [input.Error] whose path is "policy".
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
	return Policy{}, input.Errorf("policy", name, "one of %s%s", strings.Join(append(dispatch.Names(), rigid.Names()...), ", "), tree.DidYouMean(rule, words, strings.Clone))
}

// AllRules returns the policies that are compared by default.
func AllRules() (list []Policy) {
	for _, name := range []string{"priority", "proportion", "workload", "deadline/priority", "deadline/deadline", "edf"} {
		p, err := dispatch.ParsePolicy(name)
		if err != nil {
			panic(err) // a name of ours
		}
		list = append(list, Policy{Policy: p})
	}
	return list
}

// Baselines returns those of package rigid.
func Baselines() (list []Policy) {
	for _, p := range rigid.Policies() {
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
