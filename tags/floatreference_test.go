package tags

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"productform/sizes"
)

// Every row of the independent answers, by the float64 engine: values to 1e-9, objectives to 1e-10, cutoffs to 1e-6, but
// for a value whose slack the cutoffs as float64 do not hold.
func TestFloatReference(t *testing.T) {
	for _, r := range referenceRows(t) {
		tolerance := 1e-9
		var got float64
		switch r.Kind {
		case "bp_k":
			d := ok(sizes.NewBoundedParetoOfMean(number(t, r.Alpha), number(t, r.P), 3000))
			got, _, _ = d.Support()
		case "bp_moment", "bp_dist":
			got = r.distribution(t)
		case "tags_eval":
			got = r.formal(t)
		case "random", "lwr", "lwr_printed":
			got = r.rival(t)
		case "mmh":
			c := ok(ErlangC(r.H, number(t, r.Load)))
			if got = c; r.Metric == "EQ" {
				got = c * number(t, r.Load) / (1 - number(t, r.Load))
			}
		case "max_load":
			got = ok(MaxLoad(r.floatModel(t)))
		case "feasible":
			_, err := Optimize(r.floatModel(t), Objective{Slowdown: 1})
			if got = 1; errors.Is(err, ErrInfeasible) {
				got = 0
			}
		case "tags_opt":
			got, tolerance = r.optimum(t), 1e-10
		case "expansion":
			p := map[string]Policy{"TAGS": PolicyTAGS, "LWR": PolicyCentral, "LWR_printed": PolicyCentralPrinted, "Random": PolicyRandom}
			name, _, _ := strings.Cut(r.Metric, ":")
			got = ok(Expand(r.floatModel(t), p[name], ExpansionSettings{Target: 3})).Extra.Low
		default:
			t.Fatalf("%s: unknown kind", r.Row)
		}
		if want := number(t, r.Value); !within(got, want, tolerance) {
			t.Errorf("%s: %v, relative error %.1e", r.Row, got, got/want-1)
		}
	}
}

func number(t *testing.T, s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (r refRow) floatModel(t *testing.T) Model {
	m := Model{Sizes: ok(sizes.NewBoundedPareto(number(t, r.K), number(t, r.P), number(t, r.Alpha))), Hosts: r.H}
	if r.Load != "" {
		m.Load = number(t, r.Load)
	}
	return m
}

func (r refRow) distribution(t *testing.T) float64 {
	d := ok(sizes.NewBoundedPareto(number(t, r.K), number(t, r.P), number(t, r.Alpha)))
	if order, isMoment := strings.CutPrefix(r.Metric, "E[X^"); isMoment {
		return ok(d.Moment(number(t, strings.TrimSuffix(order, "]"))))
	}
	switch x := number(t, r.Cutoffs); r.Metric {
	case "tail":
		return d.Survival(x)
	case "cdf":
		return d.CDF(x)
	}
	return d.(sizes.Unimodal).Density(number(t, r.Cutoffs))
}

// formal evaluates the formulas for overloaded hosts, too.
func (r refRow) formal(t *testing.T) float64 {
	m := r.floatModel(t)
	l := ok(newLaw(m))
	var cutoffs []float64
	for _, s := range r.cutoffs(t) {
		v, _ := s.Float64()
		cutoffs = append(cutoffs, v)
	}
	a := newKillFarm(m, l, Objective{Waiting: 1}).visits(cutoffs)
	m.waits(l, &a)
	metric, index, _ := strings.Cut(r.Metric, "_")
	if index == "wasted" {
		if metric == "EW" {
			return a.MeanWaiting + a.Lost
		}
		return a.MeanStretch - 1
	}
	var h Host
	if index != "" {
		h = a.Hosts[int(number(t, index))-1]
	}
	return map[string]float64{
		"EW": a.MeanWaiting, "ES": a.MeanSlowdown, "excess": a.Excess, "lam": a.ArrivalRate, "p": h.Final, "pvisit": h.Visit,
		"load": h.Load, "EXvisit": h.VisitMean, "EX2visit": h.VisitSquare, "Wvisit": h.VisitWait, "S": h.Slowdown,
	}[metric]
}

func (r refRow) rival(t *testing.T) float64 {
	policy := map[string]func(Model) (Rival, error){"random": Random, "lwr": CentralQueue, "lwr_printed": CentralQueuePrinted}
	a := ok(policy[r.Kind](r.floatModel(t)))
	switch r.Metric {
	case "EW":
		return a.MeanWaiting.Low
	case "EQ":
		m := r.floatModel(t)
		return a.MeanWaiting.Low * m.Load * float64(m.Hosts) / ok(m.Sizes.Moment(1))
	}
	return a.MeanSlowdown.Low
}

// optimum checks the cutoffs and returns the objective.
func (r refRow) optimum(t *testing.T) float64 {
	var got Optimum
	switch r.Metric {
	case "ES@opt_slowdown":
		got = ok(Optimize(r.floatModel(t), Objective{Slowdown: 1}))
	case "EW@opt_waitingtime":
		got = ok(Optimize(r.floatModel(t), Objective{Waiting: 1}))
	default:
		got = ok(Fair(r.floatModel(t)))
	}
	for i, s := range r.cutoffs(t) {
		if want, _ := s.Float64(); math.Abs(got.Cutoffs[i]-want) > 1e-6*want {
			t.Errorf("%s: cutoffs %v", r.Row, got.Cutoffs)
		}
	}
	if got.Gap > 1e-9 {
		t.Errorf("%s: gap %v", r.Row, got.Gap)
	}
	return got.Objective
}
