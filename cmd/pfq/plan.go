// This file implements pfq plan: what to buy for a cluster so that it meets targets at minimum
// cost.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
	"productform/internal/file"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
	"productform/plan"
)

// The questions that --find selects.
const (
	findCost     = "cost"
	findDelay    = "delay"
	findFrontier = "frontier"
	findLoad     = "load"
	findMostLoad = "most-load"
	findGrowth   = "growth"
)

// A planQuestion holds the flags of pfq plan.
type planQuestion struct {
	binding  *cli.Binding
	settings plan.SearchSettings
	find     string
	choice   string     // "" for none
	worth    bool       // whether sensitivities are requested
	verify   string     // file of an answer, "" for none
	loads    []*big.Rat // factors of the arrival rates; nil leaves them unchanged
}

// newPlanCommand returns the command plan.
func newPlanCommand() *cobra.Command {
	f := planQuestion{settings: plan.SearchSettings{Limit: 100_000, Settings: plan.Settings{RelTol: num.DefaultRelTol}}}
	cmd := command.New("plan PLAN", f.answer)
	b, s := cli.Bind(cmd), &f.settings
	f.binding = b
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.check(cmd.Flags().Changed) }
	cli.AddChoice(cmd, &f.find, "find", []string{findCost, findDelay, findFrontier, findLoad, findMostLoad, findGrowth},
		"the smallest cost, the smallest delay within the budget, all plans that are best for their cost, "+
			"the greatest load, the plan that carries the most load within the budget, "+
			"or the smallest cost as the load grows")
	cli.AddText(cmd, &f.choice, "choice", "", "options of the file, such as SERVER=2,CLASS:SERVER",
		"do not search: measure the plan with these numbers of steps of upgrades and new servers and with these "+
			"edges, such as "+
			"`small=1,reports:big`; none is the plan without any")
	b.Int(&s.Limit, "Limit", "limit", 1e9,
		"stop a search after this many `SOLVES`, and report how far its plan can be from the best")
	b.Number(&s.RelTol, "RelTol", "tol", fmt.Sprint(s.RelTol), "a number >= 1e-12 and < 1",
		"relative tolerance for numbers, and by which a better plan has a smaller mean delay",
		func(v float64) bool { return v >= plan.MinRelTol && v < 1 })
	cli.AddText(cmd, &f.verify, "verify", "", "the name of a file with an answer in JSON",
		"do not search: check the answer to the same question in the file `ANSWER`, in JSON")
	cli.AddSwitch(cmd, &f.worth, "gradients",
		"also give the derivative of the minimized mean delay with respect to each option")
	command.AddScale(cmd, &f.loads, "plan", "all arrival rates")
	b.Name("loads", "scale")
	return cmd
}

// check rejects flags that contradict each other.
func (f *planQuestion) check(given func(string) bool) error {
	switch {
	case given("choice") && given("find") && f.find != findLoad:
		return fmt.Errorf("--choice and --find %s cannot be combined: a given plan needs no search", f.find)
	case given("choice") && given("verify") && f.find != findLoad:
		return errors.New("--choice and --verify cannot be combined: measures of a given plan need no proof")
	case given("gradients") && (f.find == findLoad || f.find == findMostLoad || given("verify")):
		return errors.New("--gradients needs --find cost, delay, frontier or growth, and no --verify")
	case f.find == findFrontier && given("scale"):
		return errors.New("--find frontier and --scale cannot be combined: a frontier is that of one load, which " +
			"is in the file as scale")
	case f.find == findGrowth && !given("scale"):
		const want = "growing factors of the arrival rates, such as 1,1.25,1.5,2, with --find growth"
		return &input.Error{Path: "--scale", Want: want}
	}
	return nil
}

// answer reads the plan and answers the question. It reports whether the targets can be met.
func (f *planQuestion) answer(q command.Query) (a render.Answer, found bool, err error) {
	read := func(r io.Reader) (*plan.Problem, error) { return plan.Read(r, ".") }
	p, err := command.Read(q, read, plan.ReadFile, "solve, and a plan names it as its model",
		command.ClusterFields("servers", "classes")...)
	err = command.MeantForPool(err)
	err = command.MeantForNetwork(err, "and a plan names one with stations, room, limits or a number of servers as "+
		"its model")
	if err != nil {
		return a, false, err
	}
	command.NotePriorities(q.Stderr, p.Model, command.FirstCome)
	for i, t := range p.Targets {
		if t.Level != nil {
			command.NoteSmallPercentile(q.Stderr, input.Index("targets", i)+".percentile", t.Level)
		}
	}
	switch {
	case f.verify != "":
		a, found, err = f.verified(q, p)
	case f.find == findFrontier, f.find == findGrowth:
		a, found, err = f.findSeveral(q, p)
	case f.loads == nil:
		a, found, err = f.answerAt(q, p)
	default:
		at := func(q command.Query, factor *big.Rat) (render.Answer, bool, error) {
			return f.answerAt(q, scaled(p, factor))
		}
		a, found, err = command.AtFactors(q, f.loads, at)
	}
	err = f.binding.Translate(err, "or pfq estimate --gradients, which ranks the capacities of larger models")
	return a, found, command.InFile(q.File, err)
}

// scaled returns the problem with its arrival rates multiplied by a factor.
func scaled(p *plan.Problem, factor *big.Rat) *plan.Problem {
	at := *p
	at.Scale = new(big.Rat).Mul(num.OrOne(p.Scale), factor)
	return &at
}

// answerAt answers a question at one load.
func (f *planQuestion) answerAt(q command.Query, p *plan.Problem) (render.Answer, bool, error) {
	switch {
	case f.find == findLoad:
		return f.load(q, p)
	case f.find == findMostLoad:
		return f.mostLoad(q, p)
	case f.choice != "":
		return f.measured(q, p)
	}
	search := plan.LeastCost
	if f.find == findDelay {
		search = plan.LeastDelay
	}
	r, err := watch(q, f, func(ctx context.Context, s plan.SearchSettings) (*plan.Answer, error) {
		return search(ctx, p, s)
	})
	if err != nil {
		return render.Answer{}, false, err
	}
	found, err := f.describe(q, p, r)
	if err != nil {
		return render.Answer{}, false, err
	}
	return found.answer(), found.isGood(), nil
}

// describe returns the answer to a search, with the effects of edges.
func (f *planQuestion) describe(q command.Query, p *plan.Problem, r *plan.Answer) (*searchAnswer, error) {
	at := plan.Choice{}
	if r.Plan != nil {
		at = r.Plan.Choice
	}
	effects, err := watch(q, f, func(ctx context.Context, s plan.SearchSettings) ([]plan.EdgeEffect, error) {
		return plan.EdgeEffects(ctx, p, at, s.Settings)
	})
	if err != nil {
		return nil, err
	}
	a := newFound(f.find, p, r, effects)
	if f.worth && (r.Plan == nil && r.Now.Solution != nil || r.Plan != nil && r.Plan.Solution != nil) {
		list, err := watch(q, f, func(ctx context.Context, s plan.SearchSettings) ([]plan.Sensitivity, error) {
			return plan.Sensitivities(ctx, p, at, s.Settings)
		})
		if err != nil {
			return nil, err
		}
		a.addGradients(p, list)
	}
	return a, nil
}

// findSeveral finds the best plans for their cost, or what to buy as the load grows.
func (f *planQuestion) findSeveral(q command.Query, p *plan.Problem) (a render.Answer, good bool, err error) {
	answers, err := watch(q, f, func(ctx context.Context, s plan.SearchSettings) ([]*plan.Answer, error) {
		if f.find == findGrowth {
			return plan.Growth(ctx, p, f.loads, s)
		}
		return plan.Frontier(ctx, p, s)
	})
	if err != nil {
		return a, false, err
	}
	all := make([]*searchAnswer, len(answers))
	good = f.loads == nil || len(answers) == len(f.loads)
	for i, r := range answers {
		at := p
		if f.loads != nil {
			at = scaled(p, f.loads[i])
		}
		if all[i], err = f.describe(q, at, r); err != nil {
			return a, false, err
		}
		if f.loads != nil {
			all[i].scale = f.loads[i]
		}
		good = good && all[i].isGood()
	}
	return severalAnswer(all), good, nil
}

// measured measures a given plan.
func (f *planQuestion) measured(q command.Query, p *plan.Problem) (a render.Answer, good bool, err error) {
	choice, err := parseChoice(p, f.choice)
	if err != nil {
		return a, false, err
	}
	r, err := watch(q, f, func(ctx context.Context, s plan.SearchSettings) (*plan.Answer, error) {
		now, err := plan.Evaluate(ctx, p, plan.Choice{}, s.Settings)
		if err != nil {
			return nil, err
		}
		with, err := plan.Evaluate(ctx, p, choice, s.Settings)
		within := err == nil && (p.Budget == nil || with.Cost.Cmp(p.Budget) <= 0)
		return &plan.Answer{Now: now, Plan: with, WithinBudget: within}, err
	})
	if err != nil {
		return a, false, err
	}
	one, err := f.describe(q, p, r)
	if err != nil {
		return a, false, err
	}
	one.isGiven()
	return one.answer(), one.isGood(), nil
}

// load finds the greatest load of a plan.
func (f *planQuestion) load(q command.Query, p *plan.Problem) (a render.Answer, good bool, err error) {
	choice, err := parseChoice(p, f.choice)
	if err != nil {
		return a, false, err
	}
	l, err := watch(q, f, func(ctx context.Context, s plan.SearchSettings) (*plan.Load, error) {
		return plan.GreatestLoad(ctx, p, choice, s.Settings)
	})
	if err != nil {
		return a, false, err
	}
	return loadAnswer(p, l), l.Holds != nil, nil
}

// mostLoad finds the plan for the greatest load.
func (f *planQuestion) mostLoad(q command.Query, p *plan.Problem) (render.Answer, bool, error) {
	l, err := watch(q, f, func(ctx context.Context, s plan.SearchSettings) (*plan.MostLoad, error) {
		return plan.GreatestLoadOfAll(ctx, p, s)
	})
	if err != nil {
		return render.Answer{}, false, err
	}
	return mostLoadAnswer(p, l), l.Plan != nil, nil
}

// watch runs a long computation and prints its progress every few seconds.
func watch[T any](
	q command.Query, f *planQuestion, work func(context.Context, plan.SearchSettings) (T, error),
) (T, error) {
	var last atomic.Pointer[plan.Progress]
	start := time.Now()
	tell := func() {
		fmt.Fprintf(q.Stderr, "pfq: solving, %.0f s%s\n", time.Since(start).Seconds(), f.progress(last.Load()))
	}
	const every = 5 * time.Second
	return command.Watched(q.Ctx, every, tell, func(ctx context.Context) (T, error) {
		s := f.settings
		s.Progress = func(p plan.Progress) { last.Store(&p) }
		return work(ctx, s)
	})
}

// progress describes how far a search has got. Only a search for the smallest cost has bounds on
// it.
func (f *planQuestion) progress(p *plan.Progress) string {
	if p == nil {
		return ""
	}
	text := ", " + render.Counted(p.Solves, "solve")
	switch isCost := f.find == findCost || f.find == findGrowth; {
	case isCost && p.Cost != nil:
		return text + fmt.Sprintf("; the smallest cost is from %s to %s",
			render.SixRat(p.AtLeast), render.SixRat(p.Cost))
	case isCost:
		return text + "; the smallest cost is at least " + render.SixRat(p.AtLeast)
	case f.find == findFrontier && p.Cost != nil:
		return text + "; known up to a cost of " + render.SixRat(p.Cost)
	case p.Cost != nil:
		return text + "; a plan for " + render.SixRat(p.Cost) + " was found"
	}
	return text
}

// none is the value of --choice for buying nothing.
const none = "none"

// parseChoice reads what to buy: NAME or NAME=STEPS of an upgrade or of new servers, CLASS:SERVER
// of an edge.
func parseChoice(p *plan.Problem, text string) (c plan.Choice, err error) {
	c.Steps = make([]int, len(p.Upgrades)+len(p.NewServers))
	if text == "" || text == none {
		return c, nil
	}
	options := p.Options()
	var names []string
	for _, o := range options {
		names = append(names, o.Name)
	}
	names, edges := names[:len(c.Steps)], names[len(c.Steps):]
	for i, word := range strings.Split(text, ",") {
		path := input.Index("--choice", i)
		if k := slices.Index(edges, word); k >= 0 {
			if slices.Contains(c.Edges, k) {
				return c, input.Errorf(path, word, "each option once")
			}
			c.Edges = append(c.Edges, k)
			continue
		}
		name, number, counted := word, 1, false
		if before, after, ok := strings.Cut(word, "="); ok {
			name, counted = before, true
			if number, err = strconv.Atoi(after); err != nil {
				number = -1
			}
		}
		k := slices.Index(names, name)
		switch {
		case k < 0:
			all := slices.Concat(names, edges)
			return c, input.Errorf(path, word,
				"NAME=STEPS of an upgrade or new server, or CLASS:SERVER of an edge: %s%s",
				strings.Join(all, ", "), file.DidYouMean(name, slices.Values(all), strings.Clone))
		case counted && (number < 0 || number > options[k].Most):
			return c, input.Errorf(path, word, "%s=STEPS with steps from 0 to %d", name, options[k].Most)
		case c.Steps[k] > 0:
			return c, input.Errorf(path, word, "each option once")
		}
		c.Steps[k] = number
	}
	slices.Sort(c.Edges)
	return c, nil
}
