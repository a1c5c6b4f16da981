package dispatch

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"productform/internal/file"
	"productform/internal/input"
)

// Names returns the forms of the names that [ParsePolicy] reads, with parameters in capitals and
// optional parts in brackets.
func Names() []string {
	return []string{"priority[:R][/SPARE]", "proportion[/SPARE]", "workload[:H][/SPARE]", "deadline[/SPARE]", "edf"}
}

// ParsePolicy returns the policy with the given name. As in [L14], a name consists of the rule and
// the use of spare workers:
//
//	priority:R/SPARE   the first job gets all workers but the fraction R, in [0, 1]
//	proportion/SPARE   workers in proportion to the work left
//	workload:H/SPARE   the fastest workers until the work is done within H seconds, in [1e-50, 1e50]
//	deadline/SPARE     the fastest workers until the job could end by its deadline
//	edf                earliest deadline first
//
// SPARE is priority, deadline or kept. The defaults are SPARE = priority, R = 0 and H = 1. The
// error is a [num.InputError] whose path is "policy".
func ParsePolicy(text string) (Policy, error) {
	first, spare, hasSpare := strings.Cut(text, "/")
	rule, parameter, hasParameter := strings.Cut(first, ":")
	p := Policy{Rule: Rule(rule), Spare: SpareByPriority}
	refuse := func(format string, args ...any) (Policy, error) {
		return Policy{}, input.Errorf("policy", text, format, args...)
	}
	if !slices.Contains(AllRules(), p.Rule) {
		rules := func(yield func(string) bool) {
			for _, r := range AllRules() {
				if !yield(string(r)) {
					return
				}
			}
		}
		return refuse("one of %s%s", strings.Join(Names(), ", "), file.DidYouMean(rule, rules, strings.Clone))
	}
	if hasSpare {
		p.Spare = Spare(spare)
		switch {
		case p.Rule == EDF:
			return refuse("%s", p.form())
		case !slices.Contains(AllSpares(), p.Spare):
			return refuse("%s, SPARE priority, deadline or kept", p.form())
		}
	}
	if p.Rule == EDF {
		p.Spare = ""
	}
	v, err := strconv.ParseFloat(parameter, 64)
	switch {
	case p.Rule == Workload && !hasParameter:
		p.Horizon = 1
	case !hasParameter:
	case p.Rule == Priority && err == nil && v >= 0 && v <= 1:
		p.Reserve = math.Abs(v) // turns -0 into 0
	case p.Rule == Workload && err == nil && v > 0 && input.IsWork(v):
		p.Horizon = v
	case p.Rule == Priority:
		return refuse("%s, R in [0, 1]", p.form())
	case p.Rule == Workload:
		return refuse("%s, H in [1e-50, 1e50] seconds", p.form())
	default:
		return refuse("%s", p.form())
	}
	return p, nil
}

// form returns the form of the names with the rule of p.
func (p Policy) form() string { return Names()[slices.Index(AllRules(), p.Rule)] }

// String returns the name of the policy; [ParsePolicy] turns it into a policy with the same plans.
// Under Priority, a reserve of 0 and spare workers by priority are omitted.
func (p Policy) String() string {
	name := string(p.Rule)
	number := func(v float64) string { return ":" + strconv.FormatFloat(v, 'g', -1, 64) }
	switch {
	case p.Rule == EDF:
		return name
	case p.Rule == Priority && p.Reserve != 0:
		name += number(p.Reserve)
	case p.Rule == Workload:
		name += number(cmp.Or(p.Horizon, 1))
	}
	spare := cmp.Or(p.Spare, SpareByPriority)
	if p.Rule == Priority && spare == SpareByPriority {
		return name
	}
	return name + "/" + string(spare)
}
