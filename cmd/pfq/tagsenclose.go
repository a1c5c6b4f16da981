package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
	"productform/tags"
)

const (
	autoEngine    = "auto"
	floatEngine   = "float"
	encloseEngine = "enclose"
)

var tagsEngines = []string{autoEngine, floatEngine, encloseEngine}

// littleSlack is the slack below which auto encloses: a cutoff in double precision holds such a slack to 1e-10 or less.
const littleSlack = 1e-6

// cutoffDigits is the number of digits of cutoffs that the engine enclose finds.
const cutoffDigits = 50

// An enclosedAnswer holds what is proved of TAGS.
type enclosedAnswer struct {
	result tags.Result
	value  *num.Value // of the objective, at the best cutoffs; nil for those given
	texts  []string   // of the cutoffs, exact
	radius float64    // relative, within which the best cutoffs are; 0 for those given
}

// exactModel returns the farm as it is written, or false if its sizes are not given as a bounded Pareto law.
func (f *tagsFlags) exactModel() (tags.ExactModel, bool) {
	m := tags.ExactModel{Hosts: f.hosts, Load: f.load.exact, Alpha: f.sizes.alpha.exact, High: f.sizes.max.exact,
		Low: f.sizes.min.exact, Mean: f.sizes.mean.exact, Speeds: exacts(f.speeds)}
	return m, f.sizes.source() == "--alpha"
}

// enclose proves bounds of what is known of TAGS, if the engine does.
func (a *tagsAnswer) enclose() error {
	m, ok := a.flags.exactModel()
	auto := a.flags.engine == autoEngine
	if a.flags.engine == floatEngine || auto && !(ok && a.delicate()) || a.result.Hosts == nil { // the last: no cutoffs exist
		return nil
	}
	e, err := a.flags.enclosed(m, a.result.Cutoffs)
	var unstable *tags.UnstableError
	switch {
	case errors.As(err, &unstable):
		a.overload(unstable)
		return nil
	case err != nil && auto:
		a.warnings = append(a.warnings, "double precision may not hold the cutoffs of hosts loaded so near to 1, and no bounds are proved: "+because(err))
		return nil
	case errors.Is(err, tags.ErrPrecision), errors.Is(err, num.ErrRange), errors.Is(err, tags.ErrInfeasible), errors.Is(err, tags.ErrIdleStart):
		return input.Errorf("--engine", a.flags.engine, "auto or float here: %s", because(err))
	case err != nil:
		return err
	}
	a.result = e.result
	a.enclosed, a.reason, a.overloaded = e, "", 0 // the loads are below 1
	if e.value == nil {
		a.value = a.valueAtCutoffs()
		return nil
	}
	a.value = given(false, e.value.Float)
	return nil
}

// because says why nothing is proved.
func because(err error) string {
	var open *tags.PrecisionError
	switch {
	case errors.Is(err, tags.ErrIdleStart):
		return "the best cutoffs leave hosts idle"
	case errors.As(err, &open):
		return fmt.Sprintf("more bits do not settle it: whether the load of host %d is below 1", open.Host+1)
	case errors.Is(err, tags.ErrPrecision):
		return "more bits do not settle it"
	case errors.Is(err, tags.ErrInfeasible):
		return "near the cutoffs to start from: no cutoffs keep every host below load 1"
	case errors.Is(err, num.ErrRange):
		return "powers of the sizes are too large or too small"
	}
	return err.Error()
}

// delicate reports whether a host is loaded so near to 1 that double precision loses digits.
func (a *tagsAnswer) delicate() bool {
	for _, host := range a.result.Hosts {
		if math.Abs(host.Slack.Float) < littleSlack {
			return true
		}
	}
	return false
}

// enclosed proves bounds at the cutoffs given, or at those next to the start that are for the objective.
func (f *tagsFlags) enclosed(m tags.ExactModel, start []float64) (*enclosedAnswer, error) {
	e := &enclosedAnswer{}
	cutoffs := exacts(f.cutoffs)
	for _, c := range f.cutoffs {
		e.texts = append(e.texts, c.text)
	}
	if f.cutoffs == nil {
		r, err := f.exactOptimum(m, start)
		if err != nil {
			return nil, err
		}
		for _, s := range r.Points {
			text := s.Text('g', cutoffDigits)
			e.texts, cutoffs = append(e.texts, text), append(cutoffs, num.MustRat(text))
		}
		e.value, e.radius = &r.Objective, r.Radius+5.1*math.Pow(10, -cutoffDigits) // of the solution and of the digits
	}
	var err error
	e.result, err = tags.Enclose(m, cutoffs, f.tol)
	return e, err
}

func (f *tagsFlags) exactOptimum(m tags.ExactModel, start []float64) (tags.ExactOptimum, error) {
	if f.objective.fair {
		return tags.FairExact(m, start)
	}
	return tags.OptimizeExact(m, f.objective.weights, start)
}

// exacts returns the numbers as they are written, nil for nil.
func exacts(list []decimal) (values []*big.Rat) {
	for _, d := range list {
		values = append(values, d.exact)
	}
	return values
}
