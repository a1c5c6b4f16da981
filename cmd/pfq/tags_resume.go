package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
	"productform/tags"
)

// resumeFlags holds the flags that say how stopped jobs continue.
type resumeFlags struct {
	text     string // of --resume
	rule     tags.ResumeRule
	overhead decimal
	every    decimal // work between checkpoints; exact is nil if it is not given
}

// resumeWant describes the values of --resume.
const resumeWant = "restart, cut or every:TAU, in which TAU is a number in [1e-300, 1e300]"

func (f *resumeFlags) add(b *cli.Binding, cmd *cobra.Command) {
	f.text = string(tags.ResumeRestart)
	cli.AddText(cmd, &f.text, "resume", "", resumeWant,
		"where stopped jobs continue: from scratch (restart), from a checkpoint written when they are stopped (cut), "+
			"or from the last checkpoint, one every TAU units of work (every:TAU)")
	b.Name("Resume.Rule", "resume")
	b.Name("Resume.Every", "resume")
	cli.Flag[decimal]{Name: "overhead", Kind: "float", Usage: "work `C` that each resumed job costs in addition",
		Want:  "a number in [0, 1e300]",
		Parse: parseDecimal(func(v float64) bool { return v >= 0 && v <= 1e300 })}.Add(cmd, &f.overhead)
	b.Name("Resume.Overhead", "overhead")
}

// check reads the rule, and rejects an overhead without checkpoints.
func (f *resumeFlags) check(given func(string) bool) error {
	name, every, isEvery := strings.Cut(f.text, ":")
	switch f.rule = tags.ResumeRule(name); {
	case f.rule == tags.ResumeEvery && isEvery:
		v, ok := parseDecimal(func(v float64) bool { return v >= 1e-300 && v <= 1e300 })(every)
		if !ok {
			return input.Errorf("--resume", f.text, resumeWant)
		}
		f.every = v
	case isEvery || f.rule != tags.ResumeRestart && f.rule != tags.ResumeCut:
		return input.Errorf("--resume", f.text, resumeWant)
	}
	if given("overhead") && f.restarts() {
		return errors.New("--overhead needs --resume cut or --resume every:TAU")
	}
	return nil
}

// restarts reports whether stopped jobs start from scratch.
func (f *resumeFlags) restarts() bool { return f.rule == "" || f.rule == tags.ResumeRestart }

// set adds the rule to a model with fractions.
func (f *resumeFlags) set(m *tags.Model) {
	if f.restarts() {
		return
	}
	m.Resume = tags.Resume{Rule: f.rule, Overhead: f.overhead.float, Every: f.every.float}
	m.Fractions.Overhead, m.Fractions.Every = f.overhead.exact, f.every.exact
}

// exact returns the rule with its numbers as written.
func (f *resumeFlags) exact() tags.ExactResume {
	return tags.ExactResume{Rule: f.rule, Overhead: f.overhead.exact, Every: f.every.exact}
}

// describe writes the rule, unless stopped jobs start from scratch.
func (f *resumeFlags) describe(t *render.Text) {
	from := "a checkpoint written then"
	switch {
	case f.restarts():
		return
	case f.rule == tags.ResumeEvery:
		from = fmt.Sprintf("the last of the checkpoints every %s units of work", f.every.short())
	}
	overhead := "without overhead"
	if f.overhead.float > 0 {
		overhead = fmt.Sprintf("with overhead %s", f.overhead.short())
	}
	t.Line("jobs that are stopped resume from %s, %s", from, overhead)
}

// A resumeAnswer holds the rule in an answer.
type resumeAnswer struct {
	Resume   tags.ResumeRule `json:"resume"`
	Overhead float64         `json:"resume_overhead"`
	Every    *float64        `json:"checkpoint_every"`
}

// answer returns nil if stopped jobs start from scratch.
func (f *resumeFlags) answer() *resumeAnswer {
	if f.restarts() {
		return nil
	}
	return &resumeAnswer{f.rule, f.overhead.float, given(f.every.exact == nil, f.every.float)}
}

// policyRestart names the results of restarts, if jobs resume from checkpoints.
const policyRestart tags.Policy = "restart"

// compareResumed adds the policies with which checkpoints are compared: restarts, and one host of
// the total speed that interrupts jobs.
func (a *tagsAnswer) compareResumed(ctx context.Context) error {
	if a.flags.resume.restarts() {
		return nil
	}
	m := a.model
	m.Resume = tags.Resume{}
	r, err := tags.Optimize(ctx, m, tags.PolicyTAGS, a.ofSITA)
	r.Policy = policyRestart
	p := policyAnswer{name: policyRestart, means: &r, loads: loadsOf(r), gap: given(false, r.Gap)}
	if err := a.add(p, err); err != nil {
		return err
	}
	for _, name := range []tags.Policy{tags.PolicyFB, tags.PolicySRPT} {
		r, err := tags.Evaluate(ctx, m, name, nil)
		p := policyAnswer{name: name, means: &r, loads: []float64{m.Load}, note: "one host with the speed of all hosts"}
		if err := a.add(p, err); err != nil {
			return err
		}
	}
	return nil
}

// warnWorse warns if resuming costs more work than restarting.
func (a *tagsAnswer) warnWorse() {
	if s, worse := a.model.Resume.WorseThanRestart(a.result.Cutoffs); worse {
		a.warnings = append(a.warnings, fmt.Sprintf("jobs stopped at cutoff %s need %s units of work in addition, "+
			"more than if they restarted from scratch", a.cutoff(s), render.Six(a.model.Resume.Redone(s))))
	}
}

// resumedHost adds to the row of a host how accurate its means are, and whether jobs may wait there.
func (a *tagsAnswer) resumedHost(row render.Record, i int) render.Record {
	if a.flags.resume.restarts() {
		return row
	}
	accuracy := tags.Exact
	if i > 0 {
		accuracy = tags.Approximation
	}
	row = append(row, render.Field{Key: "accuracy", Value: string(accuracy)})
	waits := any(nil)
	if a.feasible() {
		waits = !a.result.Hosts[i].NoWait
	}
	return append(row, render.Field{Key: "waits", Value: waits})
}

// writeNoWaits names the hosts at which no job waits.
func (a *tagsAnswer) writeNoWaits(t *render.Text) {
	var hosts []string
	for i, h := range a.result.Hosts {
		if h.NoWait && a.feasible() {
			hosts = append(hosts, fmt.Sprint(i+1))
		}
	}
	if len(hosts) > 0 {
		t.Line("no job ever waits at host %s, although the approximation is above 0: the host before takes at least "+
			"as long for each job that it stops", strings.Join(hosts, ", "))
		t.Line("")
	}
}
