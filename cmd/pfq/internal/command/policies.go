package command

import (
	"slices"
	"strings"

	"productform/fluid"
	"productform/internal/cli"
	"productform/internal/input"
)

// allPolicies is the value of --policy that selects all policies.
const allPolicies = "all"

// Policies are the policies that --policy names; the default is the first of them.
type Policies struct{ words []string }

// Add adds --policy to a command.
func (p *Policies) Add(b *cli.Binding, usage string) {
	b.Name("policy", "policy")
	b.Name("Policy", "policy")
	var names []string
	for _, policy := range fluid.Policies() {
		names = append(names, string(policy))
	}
	p.words = names[:1]
	names = append(names, allPolicies)
	cli.AddWords(b.Cmd, &p.words, "policy", names,
		usage+": "+cli.OneOf(names)+"; or several, such as drf,pf, to compare them")
}

// Check rejects a list that combines all with other policies.
func (p *Policies) Check() error {
	if len(p.words) > 1 && slices.Contains(p.words, allPolicies) {
		return input.Errorf("--policy", p.String(), "%s alone, or a list without it", allPolicies)
	}
	return nil
}

// List returns the policies.
func (p *Policies) List() (list []fluid.Policy) {
	if slices.Contains(p.words, allPolicies) {
		return fluid.Policies()
	}
	for _, word := range p.words {
		list = append(list, fluid.Policy(word))
	}
	return list
}

// Several reports whether several policies are compared.
func (p *Policies) Several() bool { return len(p.List()) > 1 }

// String returns the policies as given.
func (p *Policies) String() string { return strings.Join(p.words, ",") }
