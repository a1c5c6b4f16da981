package tags_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
	"productform/sizes"
	"productform/tags"
)

// The expansion matches an independent computation with 60 to 80 digits: two hosts at load 0.7,
// target 3.
func TestExpandReference(t *testing.T) {
	for _, c := range []struct {
		sizes                          sizes.Distribution
		kill, central, printed, random float64
	}{
		{paperSizes(low02, 1e10, 0.2), 3, 27, 27, 6946082120507703588121887847},
		{paperSizes(low06, 1e10, 0.6), 2, 11, 12, 3654940786},
		{paperSizes(low10, 1e10, 1), 1, 7, 8, 388889},
	} {
		for policy, want := range map[tags.Policy]float64{
			tags.PolicyTAGS: c.kill, tags.PolicyRandom: c.random,
			tags.PolicyCentral: c.central, tags.PolicyCentralPrinted: c.printed,
		} {
			e, err := tags.Expand(
				context.Background(), tags.Model{Sizes: c.sizes, Hosts: 2, Load: 0.7}, policy, tags.ExpansionSettings{},
			)
			if err != nil {
				t.Fatal(err)
			}
			tol := 0.0
			if want > 1<<53 {
				tol = 1e-12 // alpha = 0.2 as a float64 costs 1e-14, the factors h and E[X²] E[1/X] a little more
			}
			if !e.Within || low(e.Extra) != high(e.Extra) || !isNear(low(e.Extra), want, tol) || e.Target != 3 ||
				!(high(e.MeanSlowdown) <= 3) || e.Policy != policy {
				t.Errorf("%v, %s: %+v, want %v", c.sizes, policy, e, want)
			}
		}
	}
}

// grown returns m with more hosts and the same arrival rate.
func grown(m tags.Model, extra int) tags.Model {
	n := m
	n.Hosts = m.Hosts + extra
	n.Load = m.Load * float64(m.Hosts) / float64(n.Hosts)
	n.Speeds = nil
	if m.Speeds != nil {
		for range n.Hosts {
			n.Speeds = append(n.Speeds, m.Speeds[0])
		}
	}
	return n
}

// The number found suffices and the one before does not, according to the policy itself.
func TestExpandIsMinimal(t *testing.T) {
	t.Parallel()
	slowdown := tags.Objective{Slowdown: 1}
	policies := map[tags.Policy]func(m tags.Model) (float64, error){
		tags.PolicyTAGS: func(m tags.Model) (float64, error) {
			r, err := tags.Optimize(context.Background(), m, tags.PolicyTAGS, slowdown)
			return r.MeanSlowdown.Float, err
		},
		tags.PolicySITA: func(m tags.Model) (float64, error) {
			r, err := tags.Optimize(context.Background(), m, tags.PolicySITA, slowdown)
			return r.MeanSlowdown.Float, err
		},
		tags.PolicySITAE: func(m tags.Model) (float64, error) {
			r, err := tags.Evaluate(context.Background(), m, tags.PolicySITAE, nil)
			return r.MeanSlowdown.Float, err
		},
		tags.PolicyRandom: func(m tags.Model) (float64, error) {
			r, err := tags.Evaluate(context.Background(), m, tags.PolicyRandom, nil)
			return high(r.MeanSlowdown), err
		},
		tags.PolicyRoundRobin: func(m tags.Model) (float64, error) {
			r, err := tags.Evaluate(context.Background(), m, tags.PolicyRoundRobin, nil)
			return high(r.MeanSlowdown), err
		},
		tags.PolicyCentral: func(m tags.Model) (float64, error) {
			r, err := tags.Evaluate(context.Background(), m, tags.PolicyCentral, nil)
			return high(r.MeanSlowdown), err
		},
		tags.PolicyCentralPrinted: func(m tags.Model) (float64, error) {
			r, err := tags.Evaluate(context.Background(), m, tags.PolicyCentralPrinted, nil)
			return high(r.MeanSlowdown), err
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		m := tags.Model{
			Sizes: must(sizes.NewBoundedPareto(1, math.Exp(rapid.Float64Range(1, 7).Draw(t, "span")),
				rapid.Float64Range(0.5, 2).Draw(t, "alpha"))),
			Hosts: rapid.IntRange(1, 4).Draw(t, "hosts"), Load: rapid.Float64Range(0.1, 0.95).Draw(t, "load"),
		}
		if rapid.Bool().Draw(t, "speeds") {
			v := rapid.Float64Range(0.3, 3).Draw(t, "speed")
			for range m.Hosts {
				m.Speeds = append(m.Speeds, v)
			}
		}
		target := rapid.Float64Range(0.5, 5).Draw(t, "target")
		for policy, slowdown := range policies {
			const most = 5
			e, err := tags.Expand(context.Background(), m, policy, tags.ExpansionSettings{
				Target:   target,
				MaxHosts: most,
			})
			if err != nil {
				t.Fatalf("%s: %v", policy, err)
			}
			if !e.Within {
				if s, err := slowdown(grown(m, most-m.Hosts)); err == nil && s < target*(1-1e-9) {
					t.Fatalf("%s: %+v, but E[S] = %v with %d hosts", policy, e, s, most)
				}
				continue
			}
			extra := int(high(e.Extra))
			if s, err := slowdown(grown(m, extra)); err != nil || !(s <= target*(1+1e-9)) ||
				!isNear(high(e.MeanSlowdown), s, 1e-9) {
				t.Fatalf("%s: %+v, but E[S] = %v, %v", policy, e, s, err)
			}
			if extra > 0 {
				if s, err := slowdown(grown(m, extra-1)); err == nil && !(s >= target*(1-1e-9)) {
					t.Fatalf("%s: %+v, but E[S] = %v with one fewer host", policy, e, s)
				}
			}
			switch {
			case policy != tags.PolicyRoundRobin:
				if low(e.Extra) != high(e.Extra) || low(e.MeanSlowdown) != high(e.MeanSlowdown) ||
					e.Kind == tags.Bounds {
					t.Fatalf("%s: %+v is not one number", policy, e)
				}
			case low(e.Extra) > 0: // the lower bound exceeds the target with one fewer host
				r := must(tags.Evaluate(
					context.Background(), grown(m, int(low(e.Extra))-1), tags.PolicyRoundRobin, nil,
				))
				if !(low(r.MeanSlowdown) >= target*(1-1e-9)) {
					t.Fatalf("%+v, but %+v with one fewer host", e, r)
				}
				fallthrough
			default:
				r := must(tags.Evaluate(context.Background(), grown(m, int(low(e.Extra))), tags.PolicyRoundRobin, nil))
				if !(low(r.MeanSlowdown) <= target*(1+1e-9)) || e.Kind != tags.Bounds {
					t.Fatalf("%+v, but %+v", e, r)
				}
			}
		}
	})
}

// A limit that is too low gives an answer, not an error.
func TestExpandNotWithin(t *testing.T) {
	m := tags.Model{Sizes: paperSizes(low02, 1e10, 0.2), Hosts: 2, Load: 0.7}
	for _, policy := range []tags.Policy{
		tags.PolicyTAGS, tags.PolicyRandom, tags.PolicyRoundRobin, tags.PolicyCentral, tags.PolicySITAE,
		tags.PolicySITA,
	} {
		e, err := tags.Expand(context.Background(), m, policy, tags.ExpansionSettings{MaxHosts: 3})
		if err != nil || e.Within || e.Extra != (num.Value{}) || e.MeanSlowdown != (num.Value{}) {
			t.Errorf("%s: %+v, %v", policy, e, err)
		}
	}
	// With a single size, SITA sends all jobs to one host, which is overloaded for any number of
	// hosts.
	m = tags.Model{Sizes: must(sizes.NewDeterministic(1)), Hosts: 2, Load: 0.7}
	e, err := tags.Expand(context.Background(), m, tags.PolicySITA, tags.ExpansionSettings{})
	if err != nil || e.Within {
		t.Errorf("one size: %+v, %v", e, err)
	}
}

func TestExpandRejectsBadInput(t *testing.T) {
	good := tags.Model{Sizes: must(sizes.NewBoundedPareto(1, 100, 1)), Hosts: 2, Load: 0.5, Speeds: []float64{2, 2}}
	policies := []tags.Policy{
		tags.PolicyTAGS, tags.PolicyRandom, tags.PolicyRoundRobin, tags.PolicyCentral, tags.PolicyCentralPrinted,
		tags.PolicySITAE, tags.PolicySITA,
	}
	for _, p := range policies {
		if _, err := tags.Expand(context.Background(), good, p, tags.ExpansionSettings{}); err != nil {
			t.Errorf("%s: %v", p, err)
		}
		for path, spoil := range map[string]func(m *tags.Model){
			"Sizes":     func(m *tags.Model) { m.Sizes = nil },
			"Hosts":     func(m *tags.Model) { m.Hosts = -1 },
			"Load":      func(m *tags.Model) { m.Load = 0 },
			"Speeds":    func(m *tags.Model) { m.Speeds = []float64{2, 2, 2} },
			"Speeds[1]": func(m *tags.Model) { m.Speeds = []float64{2, 3} },
		} {
			m := good
			spoil(&m)
			_, err := tags.Expand(context.Background(), m, p, tags.ExpansionSettings{})
			wantPath(t, string(p), err, path)
		}
		m := good
		m.Sizes = must(sizes.NewExponential(1))
		_, err := tags.Expand(context.Background(), m, p, tags.ExpansionSettings{})
		wantPath(t, string(p), err, "Sizes")
		m.Sizes = must(sizes.NewPareto(1, 2))
		if _, err := tags.Expand(context.Background(), m, p, tags.ExpansionSettings{}); !errors.Is(
			err, sizes.ErrInfinite,
		) {
			t.Errorf("%s: E[X²] = ∞: %v", p, err)
		}
		for _, target := range []float64{-1, math.NaN(), math.Inf(1)} {
			_, err := tags.Expand(context.Background(), good, p, tags.ExpansionSettings{Target: target})
			wantPath(t, string(p), err, "Target")
		}
		for _, most := range []int{1, -1} {
			_, err := tags.Expand(context.Background(), good, p, tags.ExpansionSettings{MaxHosts: most})
			wantPath(t, string(p), err, "MaxHosts")
		}
	}
	_, err := tags.Expand(context.Background(), good, "no such", tags.ExpansionSettings{})
	wantPath(t, "Expand", err, "Policy")
	_, err = tags.Expand(
		context.Background(), good, tags.PolicyTAGS, tags.ExpansionSettings{MaxHosts: tags.MaxHosts + 1},
	)
	wantPath(t, "Expand", err, "MaxHosts")
	m := good
	m.Hosts, m.Speeds = tags.MaxHosts+1, nil
	_, err = tags.Expand(context.Background(), m, tags.PolicyTAGS, tags.ExpansionSettings{})
	wantPath(t, "Expand", err, "Hosts")
	m.Sizes, m.Hosts = must(sizes.NewBoundedPareto(1e-200, 1e145, 0.01)), 2
	_, err = tags.Expand(context.Background(), m, tags.PolicyRandom, tags.ExpansionSettings{Target: 1e-100})
	if !errors.Is(err, sizes.ErrOverflow) {
		t.Errorf("a number of hosts beyond float64: %v", err)
	}
}

// Section 6.1 of [HB02]: two hosts at load 0.7, alpha = 0.6.
func ExampleExpand() {
	jobSizes, err := sizes.NewBoundedParetoOfMean(0.6, 1e10, 3000)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.7}
	for _, p := range []tags.Policy{tags.PolicySITA, tags.PolicyTAGS, tags.PolicyCentral, tags.PolicyRandom} {
		e, err := tags.Expand(context.Background(), m, p, tags.ExpansionSettings{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %.0f more hosts, E[S] = %.3f\n", p, high(e.Extra), high(e.MeanSlowdown))
	}
	// Output:
	// sita: 2 more hosts, E[S] = 0.086
	// tags: 2 more hosts, E[S] = 0.315
	// least-work-remaining: 11 more hosts, E[S] = 2.378
	// random: 3654940786 more hosts, E[S] = 3.000
}
