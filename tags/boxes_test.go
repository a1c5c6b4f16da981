package tags

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/sizes"
)

// plantFair returns a model for which the cutoffs are fair, or false. The distribution, the cutoffs
// and the arrival rate are drawn. Then the speed of each host in turn is chosen to give it the
// slowdown of host 1.
func plantFair(r *rand.Rand) (m Model, cutoffs []float64, slowdown float64, found bool) {
	hosts := 2 + r.IntN(3)
	switch r.IntN(12) {
	case 0, 1, 2, 3:
		m.Sizes = ok(sizes.NewBoundedPareto(1, 1.1+math.Exp(r.NormFloat64()), 0.3+2*r.Float64()))
	case 4:
		m.Sizes = ok(sizes.NewErlang(2+r.IntN(9), 1+9*r.Float64()))
	case 5:
		m.Sizes = ok(sizes.NewLognormal(1, 0.1+5*r.Float64()))
	case 6:
		m.Sizes = ok(sizes.NewWeibull(1.2+r.Float64(), 1))
	default:
		m.Sizes = ok(sizes.NewBoundedPareto(1, math.Exp(2+8*r.Float64()), 0.3+2*r.Float64()))
	}
	for range hosts - 1 {
		cutoffs = append(cutoffs, ok(m.Sizes.Quantile(0.02+0.979*r.Float64())))
	}
	slices.Sort(cutoffs)
	rate := math.Exp(4*r.Float64()-4) / ok(m.Sizes.Moment(1)) // for speed 1
	s := append(append([]float64{0}, cutoffs...), math.Inf(1))
	waited := 0.0
	for i := range hosts {
		a, b := s[i], s[i+1]
		final := ok(m.Sizes.PartialMoment(0, a, b))
		inverse := ok(m.Sizes.PartialMoment(-1, a, b))
		m1, m2 := ok(m.Sizes.PartialMoment(1, a, b)), ok(m.Sizes.PartialMoment(2, a, b))
		if i < hosts-1 {
			m1 += b * m.Sizes.Survival(b)
			m2 += b * b * m.Sizes.Survival(b)
		}
		if !(final > 1e-6) {
			return m, nil, 0, false
		}
		v := (1 + 2*r.Float64()) * rate * m1
		if i > 0 {
			// V = λ M_2/(2 v (v - λ M_1)) must equal slowdown final/inverse - waited.
			want := slowdown*final/inverse - waited
			v = (rate*m1 + math.Sqrt(rate*m1*rate*m1+2*rate*m2/want)) / 2
		}
		wait := rate * m2 / (2 * v * (v - rate*m1))
		waited += wait
		if i == 0 {
			slowdown = wait * inverse / final
		}
		m.Speeds = append(m.Speeds, v)
	}
	m.Hosts = hosts
	m.Load = rate * ok(m.Sizes.Moment(1)) / m.capacity()
	return m, cutoffs, slowdown, m.Load > 0 && m.Load < 1
}

// The search finds cutoffs that are fair by construction, or others with a smaller slowdown.
func TestFairFindsPlantedCutoffs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, cutoffs, slowdown, found := plantFair(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
		if !found {
			return
		}
		o, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
		if err != nil {
			t.Fatalf("%v at load %v, speeds %v: %v, but cutoffs %v have slowdown %v",
				m.Sizes, m.Load, m.Speeds, err, cutoffs, slowdown)
		}
		if !(o.Objective.Float <= slowdown*(1+1e-9)) { // the speeds are rounded
			t.Errorf("%v at load %v, speeds %v: slowdown %v with cutoffs %v, but %v with %v",
				m.Sizes, m.Load, m.Speeds, o.Objective.Float, o.Cutoffs,
				slowdown, cutoffs)
		}
		checkFair(t, m, o)
	})
}

// Fair cutoffs match those of an independent search with 20 digits.
func TestFairWithUnequalSpeeds(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewBoundedPareto(1, 2, 2)), Hosts: 3, Load: 0.05, Speeds: []float64{3, 0.5, 1}}
	o := ok(Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true}))
	for i, want := range []float64{1.9773398233666128, 1.9985199013536745} {
		if !isWithinTol(o.Cutoffs[i], want, 1e-13) {
			t.Errorf("cutoff %v, want %v", o.Cutoffs[i], want)
		}
	}
	m = Model{
		Sizes:  ok(sizes.Parse("erlang:8", 35.4855588910505)),
		Hosts:  4,
		Load:   0.1,
		Speeds: []float64{2, 1.2, 2, 0.5},
	}
	checkFair(t, m, ok(Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})))
}

// If the bounds prove that no cutoffs are fair, no random cutoffs come close to fairness.
func TestUnfairIsProved(t *testing.T) {
	t.Parallel()
	proved := 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		m := Model{Sizes: ok(sizes.NewBoundedPareto(1, 1.5+8*r.Float64(), 0.5+r.Float64())), Hosts: 2 + r.IntN(3)}
		for range m.Hosts {
			m.Speeds = append(m.Speeds, []float64{0.3, 0.6, 1, 2}[r.IntN(4)])
		}
		m.Load = possibleLoad(m) * (0.02 + 0.9*r.Float64())
		_, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
		var none *UnfairError
		if !errors.As(err, &none) || !none.Proved {
			return
		}
		proved++
		for range 500 {
			var cutoffs []float64
			for range m.Hosts - 1 {
				cutoffs = append(cutoffs, ok(m.Sizes.Quantile(r.Float64())))
			}
			slices.Sort(cutoffs)
			a, err := Evaluate(context.Background(), m, PolicyTAGS, cutoffs)
			if least, largest := a.slowdowns(); err == nil &&
				!slices.ContainsFunc(a.Hosts, func(h Host) bool { return h.Final.Float == 0 }) &&
				largest < least*(1+1e-3) {
				t.Fatalf("%v at load %v, speeds %v: cutoffs %v have slowdowns from %v to %v",
					m.Sizes, m.Load, m.Speeds, cutoffs, least, largest)
			}
		}
	})
	if proved == 0 {
		t.Error("no model without fair cutoffs was drawn")
	}
}

// If all cutoffs of a box overload a host, the search abandons only that box. A first host that
// cannot take any jobs changes nothing.
func TestUnfairWithOverloadedHosts(t *testing.T) {
	t.Parallel()
	m := Model{
		Sizes: ok(sizes.NewBoundedPareto(1, 77.31651044822011, 1.6550532439658543)),
		Hosts: 6,
		Load:  0.3532216813528627,
		Speeds: []float64{
			2.1577973656653335, 1.0686151543259323, 0.6060952081480461, 2.0557842045410157,
			0.3560832690970497, 5.990678088298686,
		},
	}
	_, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
	var none *UnfairError
	if !errors.As(err, &none) || !none.Proved {
		t.Errorf("error %v, want a proof", err)
	}
	narrow := Model{Sizes: ok(sizes.NewBoundedPareto(1, 10, 1.1)), Hosts: 6, Load: 0.02}
	slow := narrow
	slow.Hosts, slow.Speeds = 7, append([]float64{1e-6}, slices.Repeat([]float64{1}, 6)...)
	slow.Load = narrow.Load * 6 / slow.capacity()
	_, err = Optimize(context.Background(), narrow, PolicyTAGS, Objective{Fair: true})
	_, errSlow := Optimize(context.Background(), slow, PolicyTAGS, Objective{Fair: true})
	var a, b *UnfairError
	if !errors.As(err, &a) || !errors.As(errSlow, &b) || *a != *b {
		t.Errorf("%v, and with a host in front that can take no jobs %v", err, errSlow)
	}
}

// A search of a list that stops too early proves nothing, and reports that.
func TestFairListNotProved(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewEmpirical(lognormalSizes(200, 2, 1))), Hosts: 4, Load: 0.2}
	l := ok(m.momentsFor(context.Background(), Objective{Fair: true}))
	f := &fairCost{tagsCost: newTAGSCost(m, l, Objective{Slowdown: 1})}
	if !f.setRanges() {
		t.Fatal("no cutoffs")
	}
	s := newFairSearch(f)
	s.most = 3
	if s.run(); s.proved || s.looked != 3 {
		t.Errorf("proved %v after %d boxes", s.proved, s.looked)
	}
	_, _, err := s.answer()
	if !errors.Is(err, ErrUnfair) || !strings.Contains(err.Error(), "3 boxes of cutoffs do not prove") {
		t.Errorf("error %v", err)
	}
}
