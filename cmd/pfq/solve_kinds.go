// This file implements pfq solve for all kinds of clusters but those that it solves by balanced
// fairness.

package main

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"productform/cluster"
	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
)

// A solveKind is a kind of clusters: the flags that pfq solve takes for it, and its answer.
type solveKind struct {
	theory  cluster.Theory
	engines []num.Engine
	flags   string // those that only some kinds take
	want    string // what other engines and flags need

	solve   func(*solveQuestion, command.Query, *cluster.Model) (*solved, error) // nil for balanced fairness
	columns []string                                                             // the first columns of CSV
	note    string                                                               // last line above the tables of text
}

// solveKinds returns the kinds of clusters; the first one that includes a model applies.
func solveKinds() []solveKind {
	return []solveKind{
		{
			theory: cluster.SeveralServers, engines: []num.Engine{num.Auto, num.Float},
			want: "a model with another service: waits of jobs that hold several servers are means, in float64; " +
				"pfq simulate estimates percentiles",
			solve: (*solveQuestion).solveGang, columns: gangColumns,
			note: "limit and waits hold for exponential sizes; for others use pfq simulate --sizes",
		},
		{
			theory: cluster.TimedJobs, engines: []num.Engine{num.Auto, num.Float, num.Enclose},
			want: "a model without mean_timeout: only the means of jobs that time out are solved, by auto, float or " +
				"enclose; pfq simulate estimates percentiles",
			solve: (*solveQuestion).solveTimeouts, columns: timeoutColumns,
			note: "jobs leave when they time out, in service or not; first come, first served, exponential sizes",
		},
		{
			theory: cluster.Impatience, engines: []num.Engine{num.Auto, num.Float}, flags: "percentiles within",
			want: "a model without mean_patience: jobs that give up are solved in float64, for means, --percentiles " +
				"and --within",
			solve: (*solveQuestion).solvePatience, columns: patienceColumns,
		},
		{
			theory: cluster.SingleServers, flags: "percentiles within distribution gradients",
			want:  "a model with service: all; service: one has times, --distribution of all jobs and --gradients",
			solve: (*solveQuestion).solveOneServer, columns: oneServerColumns,
		},
		{
			theory: cluster.BalancedFairness,
			flags:  "lattice percentiles distribution by-class gradients",
			want:   "a model with service: one; --percentiles gives times for both",
		},
	}
}

// kindOf returns the kind of a model, and rejects flags that it does not take.
func (f *solveQuestion) kindOf(m *cluster.Model) (*solveKind, error) {
	kinds := solveKinds()
	kind := &kinds[slices.IndexFunc(kinds, func(k solveKind) bool { return k.theory == m.Theory() })]
	if kind.engines != nil && !slices.Contains(kind.engines, f.settings.Engine) {
		return nil, cli.FlagError{Err: input.Errorf("--engine", f.settings.Engine, "%s", kind.want)}
	}
	percentiles, within := "", ""
	if len(f.percentiles) > 0 {
		percentiles = strings.TrimPrefix(f.percentiles[0].Name, "p")
	}
	if len(f.within) > 0 {
		within = f.within[0].RatString()
	}
	for _, flag := range []struct {
		name, value string
		given       bool
	}{
		{"lattice", string(f.settings.Lattice), f.settings.Lattice != "" && f.settings.Lattice != "auto"},
		{"percentiles", percentiles, f.percentiles != nil},
		{"within", within, f.within != nil},
		{"distribution", fmt.Sprint(f.asked.MaxJobs), f.asked.MaxJobs > 0},
		{"by-class", "true", f.asked.ByClass},
		{"gradients", "true", f.asked.Gradients},
	} {
		if flag.given && !slices.Contains(strings.Fields(kind.flags), flag.name) {
			return nil, cli.FlagError{Err: input.Errorf("--"+flag.name, flag.value, "%s", kind.want)}
		}
	}
	return kind, nil
}

// A solved is the answer for one factor of the arrival rates.
type solved struct {
	stable   bool
	body     render.Record
	sections []render.Section
	lines    func(*render.Text) // writes the lines about it above the tables of text
	bound    float64            // error bound proved by the engine float, 0 for other engines
}

// answerKind answers about a cluster of a kind, at every factor if factors are given.
func (f *solveQuestion) answerKind(q command.Query, m *cluster.Model, kind *solveKind) (
	a render.Answer, stable bool, err error,
) {
	row, err := f.scaling.Row(m)
	if err != nil {
		return a, false, err
	}
	factors, columns := f.scaling.Factors, kind.columns
	scaled := factors != nil
	if scaled {
		columns = append([]string{"scale"}, columns...)
	} else {
		factors = []*big.Rat{nil}
	}
	all, points, worst := make([]*solved, len(factors)), make([]render.Point, len(factors)), 0.0
	note := command.PrioritiesIgnored(m, command.FirstCome)
	stable = true
	for i, factor := range factors {
		at := m
		if scaled {
			at = command.ScaleRow(m, row, factor)
			points[i].Head = render.Fields(command.Scaled{
				Class: f.scaling.Class, Scale: render.Style{Engine: f.settings.Engine}.Given(factor),
			})
		}
		s, err := kind.solve(f, q.Of("load").Part(i, len(factors)), at)
		if err != nil {
			return a, false, err
		}
		if note != "" {
			s.body = s.body.Set("note", note, "")
		}
		all[i], points[i].Body, points[i].Sections = s, s.body, s.sections
		stable, worst = stable && s.stable, max(worst, s.bound)
	}
	f.warnMissed(worst, q.Stderr)
	return render.Points(points, scaled, columns, func(t *render.Text) {
		t.Digits = command.Digits(f.settings.RelTol)
		command.WriteService(t, m)
		for i, s := range all {
			if scaled {
				t.WriteString(beforeFactor(f.scaling.Class, factors[i]))
			}
			s.lines(t)
		}
		for _, line := range []string{kind.note, note} {
			if line != "" {
				t.Line("%s", line)
			}
		}
	}), stable, nil
}

// overloaded returns the answer about a model that is unstable.
func (f *solveQuestion) overloaded(q command.Query, m *cluster.Model) (*solved, error) {
	verdict, err := command.Decide(q, m)
	if err != nil {
		return nil, err
	}
	kind := ""
	if f.scaling.Factors != nil {
		kind = "unstable"
	}
	return &solved{
		body:     command.Unstable(m, verdict, f.settings.Engine),
		sections: []render.Section{{Kind: kind, Columns: "-"}},
		lines:    func(t *render.Text) { command.WriteLimits(t, m, verdict, f.settings.Engine) },
	}, nil
}

// accuracy returns the line about a stable model that an engine has solved.
func accuracy(e num.Engine, bound float64) string {
	trust, shown := command.Trust(e, bound)
	return fmt.Sprintf("stable; %s engine, computed %s, shown %s", e, trust, shown)
}

// beforeFactor returns the start of a line about a factor of the arrival rates.
func beforeFactor(class string, factor *big.Rat) string {
	if class != "" {
		class = " of " + class
	}
	return "scale " + render.SixRat(factor) + class + ": "
}
