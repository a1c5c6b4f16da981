package tags

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"productform/sizes"
)

// The float64 engine matches every row of the independent answers: values to 1e-9, objectives to
// 1e-10, cutoffs to 1e-6. The exception is a value whose slack float64 cutoffs cannot represent.
func TestFloatReference(t *testing.T) {
	for _, r := range referenceRows(t) {
		tolerance := 1e-9
		var got float64
		switch r.Kind {
		case "bp_k":
			d := ok(sizes.NewBoundedParetoOfMean(parseNumber(t, r.Alpha), parseNumber(t, r.P), 3000))
			got, _, _ = d.Support()
		case "bp_moment", "bp_dist":
			got = r.distribution(t)
		case "tags_eval":
			got = r.formal(t)
		case "random", "lwr", "lwr_printed":
			got = r.rival(t)
		case "mmh":
			c := erlangC(r.H, parseNumber(t, r.Load))
			if got = c; r.Metric == "EQ" {
				got = c * parseNumber(t, r.Load) / (1 - parseNumber(t, r.Load))
			}
		case "max_load":
			got = ok(MaxLoad(context.Background(), r.floatModel(t)))
		case "feasible":
			_, err := Optimize(context.Background(), r.floatModel(t), PolicyTAGS, Objective{Slowdown: 1})
			if got = 1; errors.Is(err, ErrInfeasible) {
				got = 0
			}
		case "tags_opt":
			got, tolerance = r.optimum(t), 1e-10
		case "expansion":
			p := map[string]Policy{
				"TAGS":        PolicyTAGS,
				"LWR":         PolicyCentral,
				"LWR_printed": PolicyCentralPrinted,
				"Random":      PolicyRandom,
			}
			name, _, _ := strings.Cut(r.Metric, ":")
			got = ok(Expand(context.Background(), r.floatModel(t), p[name], ExpansionSettings{Target: 3})).Extra.Float
		default:
			t.Fatalf("%s: unknown kind", r.Row.Row)
		}
		if want := parseNumber(t, r.Value); !isWithinTol(got, want, tolerance) {
			t.Errorf("%s: %v, relative error %.1e", r.Row.Row, got, got/want-1)
		}
	}
}

func parseNumber(t *testing.T, s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (r refRow) floatModel(t *testing.T) Model {
	m := Model{
		Sizes: ok(sizes.NewBoundedPareto(parseNumber(t, r.K), parseNumber(t, r.P), parseNumber(t, r.Alpha))),
		Hosts: r.H,
	}
	if r.Load != "" {
		m.Load = parseNumber(t, r.Load)
	}
	return m
}

func (r refRow) distribution(t *testing.T) float64 {
	d := ok(sizes.NewBoundedPareto(parseNumber(t, r.K), parseNumber(t, r.P), parseNumber(t, r.Alpha)))
	if order, isMoment := strings.CutPrefix(r.Metric, "E[X^"); isMoment {
		return ok(d.Moment(parseNumber(t, strings.TrimSuffix(order, "]"))))
	}
	switch x := parseNumber(t, r.Cutoffs); r.Metric {
	case "tail":
		return d.Survival(x)
	case "cdf":
		return d.CDF(x)
	}
	return d.(sizes.Unimodal).Density(parseNumber(t, r.Cutoffs))
}

// formal also evaluates the formulas for overloaded hosts.
func (r refRow) formal(t *testing.T) float64 {
	m := r.floatModel(t)
	l := ok(newMoments(context.Background(), m))
	var cutoffs []float64
	for _, s := range r.cutoffs(t) {
		v, _ := s.Float64()
		cutoffs = append(cutoffs, v)
	}
	f := newTAGSCost(m, l, Objective{Waiting: 1})
	visits := f.visits(cutoffs)
	a, _ := f.waits(f.loads(PolicyTAGS, cutoffs, visits), visits) // ignore values beyond float64
	metric, index, _ := strings.Cut(r.Metric, "_")
	if index == "wasted" {
		if metric == "EW" {
			return a.MeanWaiting.Float + a.Lost.Float
		}
		return a.MeanStretch.Float - 1
	}
	var h Host
	if index != "" {
		h = a.Hosts[int(parseNumber(t, index))-1]
	}
	return map[string]float64{
		"EW": a.MeanWaiting.Float, "ES": a.MeanSlowdown.Float, "excess": a.Excess.Float, "lam": a.ArrivalRate.Float,
		"p": h.Final.Float, "pvisit": h.Visit.Float,
		"load": h.Load.Float, "EXvisit": h.VisitMean.Float, "EX2visit": h.VisitSquare.Float,
		"Wvisit": h.VisitWait.Float, "S": h.Slowdown.Float,
	}[metric]
}

func (r refRow) rival(t *testing.T) float64 {
	policy := map[string]Policy{"random": PolicyRandom, "lwr": PolicyCentral, "lwr_printed": PolicyCentralPrinted}
	a := ok(Evaluate(context.Background(), r.floatModel(t), policy[r.Kind], nil))
	switch r.Metric {
	case "EW":
		return a.MeanWaiting.Float
	case "EQ":
		m := r.floatModel(t)
		return a.MeanWaiting.Float * m.Load * float64(m.Hosts) / ok(m.Sizes.Moment(1))
	}
	return a.MeanSlowdown.Float
}

// optimum checks the cutoffs and returns the objective.
func (r refRow) optimum(t *testing.T) float64 {
	var got Result
	switch r.Metric {
	case "ES@opt_slowdown":
		got = ok(Optimize(context.Background(), r.floatModel(t), PolicyTAGS, Objective{Slowdown: 1}))
	case "EW@opt_waitingtime":
		got = ok(Optimize(context.Background(), r.floatModel(t), PolicyTAGS, Objective{Waiting: 1}))
	default:
		got = ok(Optimize(context.Background(), r.floatModel(t), PolicyTAGS, Objective{Fair: true}))
	}
	for i, s := range r.cutoffs(t) {
		if want, _ := s.Float64(); math.Abs(got.Cutoffs[i]-want) > 1e-6*want {
			t.Errorf("%s: cutoffs %v", r.Row.Row, got.Cutoffs)
		}
	}
	if got.Gap > 1e-9 {
		t.Errorf("%s: gap %v", r.Row.Row, got.Gap)
	}
	return got.Objective.Float
}
