package tags

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"productform/internal/oracle"
	"productform/sizes"
)

// Under FB, exponential sizes have the mean delay of processor sharing, E[X]/(v (1-ρ)): no policy
// that does not know sizes can do better or worse.
func TestExponentialFB(t *testing.T) {
	for hosts, load := range []float64{0.01, 0.3, 0.7, 0.95, 0.999} {
		const mean = 3
		d, err := sizes.NewExponential(mean)
		if err != nil {
			t.Fatal(err)
		}
		m := Model{Sizes: d, Hosts: hosts + 1, Load: load}
		r, err := Evaluate(context.Background(), m, PolicyFB, nil)
		if want := mean / float64(m.Hosts) / (1 - m.Load); err != nil || !oracle.Near(r.MeanDelay.Float, want, 1e-11) {
			t.Errorf("%+v: mean delay %v, want %v: %v", m, r.MeanDelay.Float, want, err)
		}
	}
}

// The integrals by parts, which need no density, agree with ∫ f(x) W(x) dx, with the formulas of
// [Evaluate] for the delay of a job of size x. Quantiles divide the range into panels.
func TestPreemptiveByDensity(t *testing.T) {
	for _, text := range []string{"exponential", "weibull:2", "bounded-pareto:1.5:1:1000"} {
		for _, load := range []float64{0.2, 0.8} {
			d, err := sizes.Parse(text, 1)
			if err != nil {
				t.Fatal(err)
			}
			m := Model{Sizes: d, Hosts: 2, Load: load}
			fb, srpt := meansByDensity(t, d.(sizes.Unimodal), load)
			for policy, want := range map[Policy][2]float64{PolicyFB: fb, PolicySRPT: srpt} {
				r, err := Evaluate(context.Background(), m, policy, nil)
				// The host has speed 2; the panels are good to about 1e-8.
				if err != nil || !oracle.Near(2*r.MeanWaiting.Float, want[0], 1e-7) ||
					!oracle.Near(2*r.MeanSlowdown.Float, want[1], 1e-7) {
					t.Errorf("%s, load %v, %s: %v %v, want %v: %v", text, load, policy, 2*r.MeanWaiting.Float,
						2*r.MeanSlowdown.Float, want, err)
				}
			}
		}
	}
}

// meansByDensity returns E[W] and E[W/X] under FB and SRPT on a host of speed 1.
func meansByDensity(t *testing.T, d sizes.Unimodal, load float64) (fb, srpt [2]float64) {
	mean, _ := d.Moment(1)
	g := load / mean
	part := func(order, x float64) float64 { v, _ := d.PartialMoment(order, 0, x); return v }
	const panels = 20
	ends := []float64{0}
	for k := range panels {
		p := math.Pow(10, -9+9*math.Sin(math.Pi/2*float64(k+1)/panels)) / 2 // 1e-9/2 to 1/2
		if x, err := d.Quantile(p); err == nil && x > ends[len(ends)-1] {
			ends = append(ends, x)
		}
	}
	for k := range 3 * panels {
		x, err := d.Quantile(1 - math.Pow(2, -1-float64(k)/2))
		if err == nil && x > ends[len(ends)-1] {
			ends = append(ends, x)
		}
	}
	if _, top, bounded := d.Support(); bounded && top > ends[len(ends)-1] {
		ends = append(ends, top)
	}
	interrupted := 0.0 // ∫_0^begin ρ(t)/(1 - ρ(t)) dt
	rho := func(x float64) float64 { return g * part(1, x) }
	extra := func(from, to float64) float64 {
		return quad.Fixed(func(u float64) float64 { return rho(u) / (1 - rho(u)) }, from, to, 5, nil, 0)
	}
	for i, end := range ends[1:] {
		begin := ends[i]
		nodes, weights := make([]float64, 16), make([]float64, 16)
		quad.Legendre{}.FixedLocations(nodes, weights, begin, end)
		for j, x := range nodes {
			m1, m2 := part(1, x)+x*d.Survival(x), part(2, x)+x*x*d.Survival(x)
			slack := 1 - g*m1
			w := weights[j] * d.Density(x)
			wait := g*m2/(2*slack*slack) + x*(1-slack)/slack
			fb[0], fb[1] = fb[0]+w*wait, fb[1]+w*wait/x
			wait = g*m2/2/(1-rho(x))/(1-rho(x)) + interrupted + extra(begin, x)
			srpt[0], srpt[1] = srpt[0]+w*wait, srpt[1]+w*wait/x
		}
		interrupted += extra(begin, end)
	}
	return fb, srpt
}

// A literal simulation of one host agrees: at each moment it serves the jobs with the smallest
// attained service equally, or the job with the smallest remaining work, in order of arrival among
// equals.
func TestPreemptiveSimulated(t *testing.T) {
	list, err := sizes.NewEmpirical([]float64{1, 1, 2, 2, 5})
	if err != nil {
		t.Fatal(err)
	}
	lognormal, err := sizes.NewLognormal(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range []sizes.Distribution{list, lognormal} {
		m := Model{Sizes: d, Hosts: 1, Load: 0.6}
		for _, p := range []Policy{PolicyFB, PolicySRPT} {
			r, err := Evaluate(context.Background(), m, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			const runs, jobs = 20, 4000
			var wait, slowdown oracleMean
			for seed := range uint64(runs) {
				w, s := simulatePreemptive(m, p, jobs, rand.New(rand.NewPCG(seed, uint64(i))))
				wait.add(w)
				slowdown.add(s)
			}
			// The seeds are fixed; 5 standard errors leave room for other random numbers.
			if !wait.isNear(r.MeanWaiting.Float, 5) || !slowdown.isNear(r.MeanSlowdown.Float, 5) {
				t.Errorf("%v, %s: %v %v, simulated %v %v",
					d, p, r.MeanWaiting.Float, r.MeanSlowdown.Float, wait, slowdown)
			}
		}
	}
}

// An oracleMean collects independent estimates of a mean.
type oracleMean struct{ n, sum, squares float64 }

func (e *oracleMean) add(v float64) { e.n++; e.sum += v; e.squares += v * v }

func (e oracleMean) isNear(want, errors float64) bool {
	mean := e.sum / e.n
	variance := (e.squares/e.n - mean*mean) / (e.n - 1)
	return math.Abs(mean-want) <= errors*math.Sqrt(variance)
}

// simulatePreemptive returns the mean waiting time and the mean slowdown of jobs that arrive at a
// host of speed 1, until all have left.
func simulatePreemptive(m Model, p Policy, jobs int, r *rand.Rand) (wait, slowdown float64) {
	type job struct{ arrived, size, left float64 }
	mean, _ := m.Sizes.Moment(1)
	var present []job
	rank := func(j job) float64 {
		if p == PolicyFB {
			return j.size - j.left
		}
		return j.left
	}
	next := func() float64 { return r.ExpFloat64() * mean / m.Load }
	now, arrival := 0.0, next()
	for arrived := 0; arrived < jobs || len(present) > 0; {
		served, level := []int{}, math.Inf(1) // the jobs of the smallest rank, and the next rank
		for k, j := range present {
			switch {
			case len(served) == 0 || rank(j) < rank(present[served[0]])-1e-12:
				if len(served) > 0 {
					level = rank(present[served[0]])
				}
				served = []int{k}
			case rank(j) <= rank(present[served[0]])+1e-12 && p == PolicyFB:
				served = append(served, k)
			default:
				level = min(level, rank(j))
			}
		}
		step := math.Inf(1) // work on each until one ends or reaches the next rank
		for _, k := range served {
			step = min(step, present[k].left)
			if p == PolicyFB {
				step = min(step, level-rank(present[k]))
			}
		}
		until := now + step*float64(len(served))
		if arrived < jobs && (len(served) == 0 || arrival < until) {
			step, until = (arrival-now)/max(1, float64(len(served))), arrival
		}
		for _, k := range served {
			present[k].left -= step
		}
		now = until
		if arrived < jobs && now == arrival {
			size := m.Sizes.Sample(r)
			present = append(present, job{now, size, size})
			arrived++
			arrival = now + next()
		}
		present = slices.DeleteFunc(present, func(j job) bool {
			if j.left > 1e-12 {
				return false
			}
			wait += (now - j.arrived - j.size) / float64(jobs)
			slowdown += ((now-j.arrived)/j.size - 1) / float64(jobs)
			return true
		})
	}
	return wait, slowdown
}
