package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/num"
	"productform/sizes"
	"productform/sizes/exact"
	"productform/tags"
	"productform/tags/optimum"
)

const (
	autoEngine    = "auto"
	floatEngine   = "float"
	encloseEngine = "enclose"
)

var tagsEngines = []string{autoEngine, floatEngine, encloseEngine}

// encloseBelow is the slack below which auto encloses: with cutoffs in float64, a slack of this
// size has a relative error of up to 1e-10.
const encloseBelow = 1e-6

// cutoffDigits is the number of digits to which the engine enclose finds cutoffs.
const cutoffDigits = 50

// An enclosedAnswer holds the proved results for TAGS.
type enclosedAnswer struct {
	result tags.Result
	value  *num.Value // objective at the best cutoffs; nil for given cutoffs
	texts  []string   // exact texts of the cutoffs
	radius float64    // relative radius that contains the best cutoffs; 0 for given cutoffs
}

// checkEngine rejects an engine that does not support the sizes of the flags.
func (f *tagsFlags) checkEngine() error {
	if f.engine != encloseEngine {
		return nil
	}
	var bad *input.Error
	switch {
	case f.resume.rule == tags.ResumeEvery && f.cutoffs == nil && f.sizes.file() == "":
		return input.Errorf("--engine", f.engine, "auto or float with --resume %s, unless --cutoffs are given",
			f.resume.text)
	case f.sizes.fit:
		return input.Errorf("--engine", f.engine, "auto or float with --fit, whose distribution is that of doubles")
	case f.sizes.file() != "" || f.sizes.isBoundedPareto():
		return nil
	}
	_, err := exact.Parse(f.sizes.text, f.sizes.mean.exact)
	switch {
	case errors.As(err, &bad):
		return input.Errorf("--engine", f.engine, "auto or float for the sizes %s: want %s", f.sizes.text, bad.Want)
	case err != nil: // E[X²] is infinite; the error follows later
		return nil
	}
	return nil
}

// exactModel returns the farm with its numbers as written.
func (a *tagsAnswer) exactModel() (tags.ExactModel, error) {
	f := a.flags
	m := tags.ExactModel{Hosts: f.hosts, Load: f.load.exact, Speeds: exacts(f.speeds), Resume: f.resume.exact()}
	var err error
	switch atomic, listed := a.model.Sizes.(sizes.Atomic); {
	case f.sizes.isBoundedPareto():
		s := &f.sizes
		m.Sizes = exact.BoundedPareto{Alpha: s.alpha.exact, High: s.max.exact, Low: s.min.exact, Mean: s.mean.exact}
	case f.sizes.exact != nil:
		m.Sizes = exact.List(f.sizes.exact)
	case listed:
		var list exact.List
		for i, x := range atomic.Atoms() {
			list = append(list, slices.Repeat([]*big.Rat{new(big.Rat).SetFloat64(x)}, atomic.Counts()[i])...)
		}
		m.Sizes = list
	default:
		m.Sizes, err = exact.Parse(f.sizes.text, f.sizes.mean.exact)
	}
	return m, err
}

// enclose proves bounds on the measures of TAGS, if the engine supports them.
func (a *tagsAnswer) enclose(ctx context.Context) error {
	auto := a.flags.engine == autoEngine
	switch {
	case a.result.Hosts == nil, a.flags.engine == floatEngine: // Hosts is nil if no cutoffs exist
		return nil
	case auto && !(a.flags.sizes.isBoundedPareto() && a.losesDigits()),
		auto && a.flags.resume.rule == tags.ResumeEvery && a.flags.cutoffs == nil: // not supported
		return nil
	}
	m, err := a.exactModel()
	if err != nil {
		return err
	}
	e, err := a.enclosedAt(ctx, m)
	var unstable *tags.UnstableError
	switch {
	case errors.As(err, &unstable):
		a.overload(unstable)
		return nil
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil && auto:
		a.warnings = append(a.warnings,
			"double precision may not hold the cutoffs of hosts loaded so near to 1, and no bounds are proved: "+
				proofFailure(err))
		return nil
	case errors.Is(err, tags.ErrPrecision), errors.Is(err, num.ErrRange), errors.Is(err, tags.ErrInfeasible),
		errors.Is(err, optimum.ErrIdleStart):
		return input.Errorf("--engine", a.flags.engine, "auto or float here: %s", proofFailure(err))
	case err != nil:
		return err
	}
	a.result = e.result
	a.enclosed, a.reason, a.overloaded = e, "", 0 // the loads are below 1
	if a.value = e.value; e.value == nil {
		a.value = a.valueAtCutoffs()
	}
	return nil
}

// proofFailure returns the reason why nothing is proved.
func proofFailure(err error) string {
	var open *tags.PrecisionError
	switch {
	case errors.Is(err, optimum.ErrIdleStart):
		return "the best cutoffs leave hosts idle"
	case errors.As(err, &open):
		return fmt.Sprintf("more bits do not decide whether the load of host %d is below 1", open.Host+1)
	case errors.Is(err, tags.ErrPrecision):
		return "undecided even with more bits"
	case errors.Is(err, tags.ErrInfeasible):
		return "near the initial cutoffs: no cutoffs keep every host below load 1"
	case errors.Is(err, num.ErrRange):
		return "powers of the sizes are too large or too small"
	}
	return err.Error()
}

// losesDigits reports whether the load of a host is so close to 1 that double precision loses
// digits.
func (a *tagsAnswer) losesDigits() bool {
	for _, host := range a.result.Hosts {
		if math.Abs(host.Slack.Float) < encloseBelow {
			return true
		}
	}
	return false
}

// enclosedAt proves bounds at the given cutoffs, or at the best cutoffs for the objective next to
// those in float64. For a list of sizes, the cutoffs are sizes of the list and exact.
func (a *tagsAnswer) enclosedAt(ctx context.Context, m tags.ExactModel) (*enclosedAnswer, error) {
	f, e := a.flags, &enclosedAnswer{}
	cutoffs := exacts(f.cutoffs)
	for _, c := range f.cutoffs {
		e.texts = append(e.texts, c.text)
	}
	switch list, listed := m.Sizes.(exact.List); {
	case f.cutoffs != nil:
	case listed:
		for _, s := range a.result.Cutoffs {
			x := sizeNear(list, m.Resume, s)
			e.texts, cutoffs = append(e.texts, x.RatString()), append(cutoffs, x)
		}
	default:
		o := f.objective.weights
		if f.objective.fair {
			o = tags.Objective{Fair: true}
		}
		r, err := optimum.Enclose(ctx, m, o, a.result.Cutoffs)
		if err != nil {
			return nil, err
		}
		for _, s := range r.Points {
			text := s.Text('g', cutoffDigits)
			e.texts, cutoffs = append(e.texts, text), append(cutoffs, num.Rat(text))
		}
		// radius of the solution and of the digits
		e.value, e.radius = &r.Objective, r.Radius+5.1*math.Pow(10, -cutoffDigits)
	}
	var err error
	e.result, err = tags.Enclose(ctx, m, tags.PolicyTAGS, cutoffs, f.tol)
	return e, err
}

// sizeNear returns the largest size of a list that rounds to x, the checkpoint that does, or x.
func sizeNear(list exact.List, resume tags.ExactResume, x float64) *big.Rat {
	var best *big.Rat
	for _, s := range list {
		if v, ok := num.Float64(s); ok && v == x && (best == nil || s.Cmp(best) > 0) {
			best = s
		}
	}
	if best == nil {
		return resume.Near(x)
	}
	return best
}
