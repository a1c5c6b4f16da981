package command

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/internal/cli"
	"productform/internal/file"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/sim"
)

// A Scaled is an answer with its factor.
type Scaled struct {
	// the only class whose arrival rate is multiplied; "" if all are
	Class string        `json:"scaled_class,omitempty"`
	Scale render.Number `json:"scale"`
}

// AddScale adds --scale, a list of factors and ranges of factors. The command answers once for each
// factor, with the scaled quantity multiplied by it.
func AddScale(cmd *cobra.Command, target *[]*big.Rat, does, scaled string) {
	cli.AddList(cmd, target, mostFactors, cli.Flag[[]*big.Rat]{Name: "scale", Parse: ParseFactors,
		Hint: HintRange,
		Usage: does + " once for each of the `FACTORS`, such as 0.5,9/10 or 0.1:1.3:0.1, with " + scaled +
			" multiplied by it",
		Want: fmt.Sprintf("a number >= 0, such as 0.5 for 50 percent, or a range FROM:TO:STEP of at most %d numbers",
			mostFactors)})
}

// A Scaling holds the arrival rates that are multiplied, and the factors.
type Scaling struct {
	Class   string     // "" for all
	Factors []*big.Rat // nil leaves the rates unchanged
}

// AddScaling adds --scale as [AddScale] does, for all arrival rates of a cluster or, with CLASS=,
// for the rate of one class.
func AddScaling(cmd *cobra.Command, target *Scaling, does string) {
	cli.AddList(cmd, &target.Factors, mostFactors, cli.Flag[[]*big.Rat]{Name: "scale", Kind: "[CLASS=]FACTORS",
		Usage: does +
			" once for each of the factors, such as 0.5,9/10 or 0.1:1.3:0.1, with all arrival rates multiplied " +
			"by it, or that of one class: web=0.5:2:0.5",
		Hint: HintRange,
		Want: fmt.Sprintf("a number >= 0, such as 0.6 for 60 percent, or a range FROM:TO:STEP of at most %d numbers, "+
			"the first after CLASS= for one class", mostFactors),
		Parse: func(word string) ([]*big.Rat, bool) {
			if at := strings.LastIndex(word, "="); at > 0 && target.Class == "" {
				target.Class, word = word[:at], word[at+1:]
			}
			return ParseFactors(word)
		}})
}

// Row returns the row of the class, -1 for all.
func (s Scaling) Row(m *cluster.Model) (int, error) {
	if s.Class == "" {
		return -1, nil
	}
	return RowOf("scale", s.Class, "the name of a class", m.Classes, func(c cluster.Class) string { return c.Name })
}

// RowOf returns the row with the name that a flag gives; want describes such names.
func RowOf[T any](flag, name, want string, rows []T, nameOf func(T) string) (int, error) {
	var names []string
	for i, x := range rows {
		if nameOf(x) == name {
			return i, nil
		}
		names = append(names, nameOf(x))
	}
	return 0, cli.FlagError{Err: input.Errorf("--"+flag, name, "%s", file.WantName(want, name, names))}
}

// ScaleRow returns the model with the arrival rate of a row, or for -1 all of them, multiplied by a
// factor.
func ScaleRow(m *cluster.Model, row int, factor *big.Rat) *cluster.Model {
	if row < 0 {
		return m.Scale(factor)
	}
	return m.ScaleClass(row, factor)
}

const mostFactors = 10_000

// ParseFactors reads a number, or a range FROM:TO:STEP: FROM, FROM+STEP, ... up to TO, exactly.
func ParseFactors(word string) (factors []*big.Rat, ok bool) {
	var bounds []*big.Rat
	for part := range strings.SplitSeq(word, ":") {
		v, err := num.ParseRat(part)
		if err != nil || v.Sign() < 0 {
			return nil, false
		}
		bounds = append(bounds, v)
	}
	switch {
	case len(bounds) == 1:
		return bounds, true
	case len(bounds) != 3 || bounds[2].Sign() == 0 || bounds[0].Cmp(bounds[1]) > 0:
		return nil, false
	}
	for v := bounds[0]; v.Cmp(bounds[1]) <= 0 && len(factors) <= mostFactors; v = new(big.Rat).Add(v, bounds[2]) {
		factors = append(factors, v)
	}
	return factors, len(factors) <= mostFactors
}

// HintRange explains why a word is not a range FROM:TO or FROM:TO:STEP for [ParseFactors], whatever
// is before "=".
func HintRange(word string) string {
	if at := strings.LastIndex(word, "="); at > 0 {
		word = word[at+1:]
	}
	parts := strings.Split(word, ":")
	if len(parts) != 2 && len(parts) != 3 {
		return ""
	}
	var ends []*big.Rat
	for _, p := range parts {
		v, err := num.ParseRat(p)
		if err != nil {
			return ""
		}
		ends = append(ends, v)
	}
	switch {
	case ends[0].Cmp(ends[1]) > 0:
		parts[0], parts[1] = parts[1], parts[0]
		return "FROM is above TO: write " + strings.Join(parts, ":")
	case len(ends) == 3 && ends[2].Sign() <= 0:
		return "STEP must be above 0"
	}
	return ""
}

// AtFactors joins the answers for every factor, and reports whether all have a result. In text the
// answers follow one another.
func AtFactors(
	q Query, factors []*big.Rat, one func(Query, *big.Rat) (render.Answer, bool, error),
) (all render.Answer, found bool, err error) {
	var objects []any
	var texts []func(*render.Text)
	found = true
	for i, factor := range factors {
		a, ok, err := one(q.Of("load").Part(i, len(factors)), factor)
		if err != nil {
			return all, false, err
		}
		found = found && ok
		scale := render.Fields(Scaled{Scale: render.Rat(factor, render.Unproved)})
		objects = append(objects, slices.Concat(scale, render.Fields(a.JSON)))
		for _, l := range a.Lines {
			head := scale
			if l.Head != nil {
				head = slices.Concat(scale, render.Fields(l.Head))
			}
			kind := cmp.Or(l.Kind, "unstable") // answers without kinds explain why the model is unstable
			all.Lines = append(all.Lines, render.Lines{Kind: kind, Head: head, Of: l.Of})
		}
		if len(a.Columns) >= len(all.Columns) { // use the columns of an existing answer
			all.Columns = append([]string{"scale"}, a.Columns...)
		}
		texts = append(texts, func(t *render.Text) {
			t.Line("scale %s", render.SixRat(factor))
			a.Text(t)
			t.Digits, t.Fraction = 0, 0
		})
	}
	all.JSON = objects
	all.Text = func(t *render.Text) {
		for i, write := range texts {
			if i > 0 {
				t.Blank()
			}
			write(t)
		}
	}
	return all, found, nil
}

// PlansAt returns the plans of simulations of a model, at each factor if there are factors.
// Unstable models have none: for these PlansAt writes a note that begins with unstableHas.
func PlansAt[M any](q Query, factors []*big.Rat, m M, scale func(M, *big.Rat) M, unstableHas string,
	of func(M) ([]*sim.Plan, error)) (plans []*sim.Plan, err error) {
	models := []M{m}
	if factors != nil {
		models = nil
	}
	for _, factor := range factors {
		models = append(models, scale(m, factor))
	}
	for _, m := range models {
		some, err := of(m)
		switch {
		case errors.Is(err, num.ErrUnstable):
			fmt.Fprintf(q.Stderr, "pfq: note: %s no runs; without --part and --tasks the command explains why\n",
				unstableHas)
			continue
		case err != nil:
			return nil, InFile(q.File, err)
		}
		plans = append(plans, some...)
	}
	return plans, nil
}
