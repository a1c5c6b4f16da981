package bf

import (
	"errors"
	"fmt"

	"productform/bf/internal/elimination"
	"productform/cluster"
	"productform/internal/delays"
	"productform/internal/input"
	"productform/internal/recursion"
	"productform/num"
)

// wantOneOf lists lattices for an error: "class, server or symmetric".
func wantOneOf(names []Lattice) string {
	text := string(names[0])
	for i, name := range names[1:] {
		separator := ", "
		if i == len(names)-2 {
			separator = " or "
		}
		text += separator + string(name)
	}
	return text
}

// sizeError returns the error for the model of a plan that needs the given bytes.
func (l *plan) sizeError(need float64, want string, args ...any) *num.TooLargeError {
	size := fmt.Sprintf("%d classes on %d rows of servers", len(l.problem.Classes), len(l.problem.Groups))
	return &num.TooLargeError{States: l.states, Bytes: need, Limit: l.s.MaxBytes,
		Input: input.Errorf("model", size, want, args...)}
}

// memoryError returns the error for a plan that needs more bytes than allowed. tables names the
// requested measure if only tables of sets support it.
func (l *plan) memoryError(need float64, tables string) error {
	s := l.s
	size := "out of reach"
	if need < 1e15 {
		size = fmt.Sprintf("%.0f states, %.0f MiB", l.states, need/(1<<20))
	}
	help := `merge similar classes or servers, or describe equal servers as groups with "choose"`
	var wide *num.TooLargeError
	eliminates := false
	if l.problem.Whole && s.Lattice == "" && tables == "" {
		_, err := l.findOrder()
		eliminates = !errors.As(err, &wide)
	}
	isFloat := s.Engine != num.Enclose && s.Engine != num.Exact
	switch {
	case eliminates && !isFloat:
		help = "use the engine auto or float, which can eliminate the servers one by one"
	case eliminates && s.MaxJobs > 0 && !s.ByClass:
		help = "omit the distribution of the number of jobs, or request distributions by class, " +
			"which eliminating the servers one by one gives"
	case tables != "" && s.Lattice == "":
		help = tables + " need such tables, because eliminating servers one by one cannot compute them: " + help
	case s.MaxJobs > 0 && l.method.bytes(l, 0) <= float64(s.MaxBytes):
		help = "omit the distribution of the number of jobs, which needs most of it"
	case s.Lattice != "":
		help = "let auto select the lattice"
	case !isFloat:
		if other := l.withEngine(num.Float); other.method.bytes(other, s.MaxJobs) <= float64(s.MaxBytes) {
			help = "use the float engine, which needs less"
		}
	}
	if l.termLimit > 0 {
		size += fmt.Sprintf(", and the connected lattice has more than %s terms, which is the limit",
			thousands(l.termLimit))
	}
	if wide != nil {
		size += fmt.Sprintf("; eliminating servers one by one takes %s, and %d is the limit",
			wide.Input.Value, elimination.MaxWidth)
	}
	return l.sizeError(need, "tables of at most %d MiB; those of the %s lattice are %s: %s",
		s.MaxBytes>>20, l.lattice, size, help)
}

// workError explains that elimination takes too much work or memory, and whether a larger tolerance
// would help. A larger tolerance needs fewer nodes over shorter times, and the work falls by this
// factor to the power of the width plus one.
func (l *plan) workError(large *num.TooLargeError, s elimination.Settings) error {
	size, help := fmt.Sprintf("more than %.0e products", s.MaxWork), ""
	if large.Limit > 0 && large.Bytes > float64(large.Limit) {
		size = fmt.Sprintf("%.3g MiB, more than the limit of %.3g", large.Bytes/(1<<20), float64(large.Limit)/(1<<20))
	}
	switch {
	case s.Tolerance > 1e-5:
	case s.Tolerance > 1e-8:
		help = "; or a tolerance of 1e-3, which takes about a third to a fifth"
	default:
		help = "; or a tolerance of 1e-6, which takes about a third to a tenth, or of 1e-3, a tenth to a fiftieth"
	}
	err := l.sizeError(large.Bytes, "less work: eliminating servers one by one in a width of %d takes %s%s",
		l.elimination().Width, size, help)
	err.States, err.Limit = large.States, large.Limit
	return err
}

// stepsError returns the error of a component, and explains an error about too many steps.
func stepsError(l *plan, err error) error {
	var long *delays.StepsError
	if !errors.As(err, &long) {
		return err
	}
	large := l.sizeError(0, "delays that take fewer steps than %.3g of %.3g operations each, over %d states: "+
		"near the limit of stability delays are long", long.Steps, long.Each, long.States)
	large.Limit = 0
	return large
}

// errNoFraction rejects the engine exact for percentiles and tails.
func errNoFraction(s Settings) error {
	return input.Errorf("Engine", s.Engine,
		"auto, float or enclose for percentiles and tails of delays: these are transcendental numbers")
}

// errDraws rejects the class lattice for jobs that choose servers at random.
func errDraws(q *query) error {
	return input.Errorf("Lattice", q.s.Lattice, "%q (a class of this component chooses servers at random)",
		SymmetricLattice)
}

// errGroups rejects a lattice of single servers for a component with groups.
func errGroups(q *query) error {
	return input.Errorf("Lattice", q.s.Lattice, "%q (this component has groups of servers)", SymmetricLattice)
}

// errBeyondFloat returns the error of Auto on the elimination lattice for a model that float64
// cannot solve. The cause is [num.ErrFloatRange] if the range is too small; otherwise the digits
// are too few.
func errBeyondFloat(s request, cause error) error {
	if errors.Is(cause, num.ErrFloatRange) {
		return input.Errorf("Lattice", s.Lattice, "another lattice: this model exceeds the range of float64")
	}
	return input.Errorf("Lattice", s.Lattice, "another lattice: this model needs more digits than float64 has")
}

// errMissed returns the error for a tolerance that elimination cannot meet; it quotes the bound
// reached.
func errMissed(s request, bound float64) error {
	return input.Errorf("RelTol", s.RelTol,
		"%.0e or more, as close as the elimination lattice comes to this model", 1.5*bound)
}

// errSteep rejects a model with a derivative beyond the range of float64.
func errSteep() error {
	return input.Errorf("model", "a derivative beyond 1e308",
		"derivatives within the range of float64: count time, or work, in other units")
}

// errorInRows returns the error of a component with rows of the model instead of classes of the
// component. For an unstable component, it is a [*cluster.UnstableError].
func errorInRows(err error, m *cluster.Model, c *cluster.Component) error {
	var u *recursion.Overload
	if errors.As(err, &u) {
		var list []int
		for _, i := range u.Classes {
			list = append(list, c.Classes[i]...)
		}
		return &cluster.UnstableError{Classes: list, Names: m.NamesOf(list),
			ArrivalRate: u.ArrivalRate, Capacity: u.Capacity}
	}
	var large *num.TooLargeError
	if errors.As(err, &large) && large.Input.Path == "model" && large.Bytes > 0 &&
		len(c.Model.Classes)+len(c.Model.Servers) < len(m.Classes)+len(m.Servers) {
		bad := *large.Input
		bad.Value += fmt.Sprintf(" (of %d on %d: identical ones count once, unused and independent ones do not count)",
			len(m.Classes), len(m.Servers))
		return &num.TooLargeError{Input: &bad, States: large.States, Bytes: large.Bytes, Limit: large.Limit}
	}
	return err
}

func isInput(err error) bool {
	var e *input.Error
	return errors.As(err, &e)
}

// isBeyondFloat reports whether float64 has no answer but other engines may have one.
func isBeyondFloat(err error) bool {
	return errors.Is(err, num.ErrDigits) || errors.Is(err, num.ErrFloatRange)
}
