package tags

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/num"
)

// ExpansionSettings tunes [Expand]. The zero value means a mean slowdown of 3, as in [HB02], and no
// limit except those of the policies.
type ExpansionSettings struct {
	Target   float64 // target E[S], in [1e-100, 1e100], seconds per unit of work; 0 means 3
	MaxHosts int     // hosts at which to give up; 0 means MaxHosts or MaxQueueHosts, or no limit: see [Expand]
}

// An Expansion holds the number of hosts that must be added for the mean slowdown to fall to a
// target.
type Expansion struct {
	Policy Policy  `json:"name" title:"policy"`
	Kind   Kind    `json:"accuracy"`
	Target float64 `json:"target"` // target E[S]

	// Within reports whether some number of hosts within the settings is known to suffice;
	// otherwise the other fields are 0.
	Within bool `json:"-"`

	Extra        num.Value `json:"extra_hosts"`   // an integer; two integers as bounds if Kind is Bounds
	MeanSlowdown num.Value `json:"mean_slowdown"` // E[S] with Extra more hosts; with bounds, the larger number
}

// Expand returns the server expansion of [HB02], section 6.1: the smallest number of hosts that
// must be added to those of m for the mean slowdown to be at most the target. The arrival rate
// stays the same, so the load falls. Hosts have one speed.
//
// For the policies that guess or know sizes it tries numbers of hosts up to [MaxHosts], each with
// the best cutoffs for the mean slowdown, or those of SITA-E. If these overload a host, the number
// is insufficient. This takes milliseconds if a few more hosts suffice, and seconds if no number
// does: under TAGS all jobs start at host 1, so some targets are out of reach. For [PolicyCentral]
// it goes up to [MaxQueueHosts], all in one recursion. With h hosts and the service time s = X/v, a
// = λ E[s],
//
//	E[S] = E[1/X] λ E[s²]/(2(h-a))  for random assignment, so that  h >= a + λ E[s²] E[1/X]/(2 target)
//
// without a limit on h. [PolicyRoundRobin] is equally simple: the numbers of hosts for its lower
// and upper bounds are bounds on the smallest number. These numbers have a relative error of 1e-13
// before they are rounded up, so beyond 2^53 they are not exact. Settings.MaxHosts is 0, or at
// least the number of hosts of m and at most the limit of the policy.
//
// The error comes from the policy, or names Sizes if E[1/X] is infinite, or Speeds, or the field
// that is out of range.
func Expand(ctx context.Context, m Model, p Policy, settings ExpansionSettings) (Expansion, error) {
	most := math.MaxInt
	var slowdown func(m Model) (float64, error)
	switch p {
	case PolicyTAGS, PolicySITAE, PolicySITA:
		most, slowdown = MaxHosts, slowdownBySize(ctx, p)
	case PolicyCentral, PolicyCentralPrinted:
		most = MaxQueueHosts
	case PolicyRandom, PolicyRoundRobin:
	default:
		return Expansion{}, checkPolicy(p)
	}
	l, err := m.unknown(ctx)
	if err == nil {
		err = m.checkEqual()
	}
	if err != nil {
		return Expansion{}, err
	}
	if m.Hosts > most {
		return Expansion{}, input.Errorf("Hosts", m.Hosts, "a number of hosts from 1 to %d", most)
	}
	if l.noInverse {
		return Expansion{}, input.Errorf("Sizes", m.Sizes, "sizes with a finite E[1/X]")
	}
	target := cmp.Or(settings.Target, 3)
	if !(target >= 1e-100 && target <= 1e100) {
		return Expansion{}, input.Errorf("Target", target, "a mean slowdown in [1e-100, 1e100]")
	}
	limit := cmp.Or(settings.MaxHosts, most)
	if !(limit >= m.Hosts && limit <= most) {
		return Expansion{}, input.Errorf("MaxHosts", limit, "a number of hosts from %d to %d", m.Hosts, most)
	}
	e := Expansion{Policy: p, Target: target}
	q := m.perHost(l)
	switch {
	case slowdown != nil:
		return e.search(m, limit, slowdown)
	case p == PolicyRandom:
		e.Kind = Exact
		work := q.work * q.ratio
		return e.solve(m, limit, l.inverse, need{work, 0}, need{work, 0}, q.work)
	case p == PolicyRoundRobin:
		e.Kind = Bounds
		work := q.work * q.ratio
		return e.solve(m, limit, l.inverse, need{work + q.service, q.service}, need{work - q.regular(), 0}, q.work)
	}
	return e.queue(m, limit, q, l.inverse)
}

// slowdownBySize returns E[S] under a policy with cutoffs.
func slowdownBySize(ctx context.Context, p Policy) func(m Model) (float64, error) {
	return func(m Model) (float64, error) {
		var r Result
		var err error
		if p == PolicySITAE {
			r, err = Evaluate(ctx, m, p, nil)
		} else {
			r, err = Optimize(ctx, m, p, Objective{Slowdown: 1})
		}
		return r.MeanSlowdown.Float, err
	}
}

// withHosts returns m with the given number of hosts and the same arrival rate.
func (m Model) withHosts(hosts int) Model {
	n := m
	n.Hosts = hosts
	n.Load = m.Load * (float64(m.Hosts) / float64(hosts))
	if m.Speeds != nil {
		n.Speeds = slices.Repeat(m.Speeds[:1], hosts)
	}
	if f := m.Fractions; f != nil {
		exact := ratOf(f.Load, m.Load)
		exact = new(big.Rat).Mul(exact, big.NewRat(int64(m.Hosts), int64(hosts)))
		n.Load, _ = exact.Float64()
		n.Fractions = &Fractions{Load: exact, Sizes: f.Sizes, Overhead: f.Overhead, Every: f.Every}
		if f.Speeds != nil {
			n.Fractions.Speeds = slices.Repeat(f.Speeds[:1], hosts)
		}
	}
	return n
}

func (e Expansion) found(m Model, hosts int, slowdown float64) Expansion {
	extra := float64(hosts - m.Hosts)
	e.Within, e.Extra, e.MeanSlowdown = true, value(extra), value(slowdown)
	return e
}

// search finds the smallest sufficient number of hosts by trial. With the best cutoffs, one more
// host never makes it worse, since it may stay idle. So steps double until a number suffices, and
// then the range is halved. Cutoffs for equal loads may get worse, so all numbers are tried.
func (e Expansion) search(m Model, limit int, slowdown func(m Model) (float64, error)) (Expansion, error) {
	e.Kind = Exact
	if e.Policy == PolicyTAGS {
		e.Kind = Approximation
	}
	low, high, best := m.Hosts-1, limit+1, 0.0 // low fails; high works with E[S] = best, or exceeds limit
	for step := 1; high-low > 1; {
		hosts := low + 1
		switch {
		case e.Policy == PolicySITAE:
		case e.Within:
			hosts = low + (high-low)/2
		default:
			hosts = min(low+step, limit)
			step *= 2
		}
		s, err := slowdown(m.withHosts(hosts))
		switch {
		case errors.Is(err, ErrInfeasible) || errors.Is(err, num.ErrUnstable):
			low = hosts
		case err != nil:
			return Expansion{}, err
		case s <= e.Target:
			high, best, e.Within = hosts, s, true
			if e.Policy == PolicySITAE {
				low = hosts - 1
			}
		default:
			low = hosts
		}
	}
	if !e.Within {
		return e, nil
	}
	return e.found(m, high, best), nil
}

// queue runs up the recursion of [nextErlangB] for the work q.work.
func (e Expansion) queue(m Model, limit int, q queue, inverse float64) (Expansion, error) {
	e.Kind = Approximation
	factor := 1.0
	if e.Policy == PolicyCentralPrinted {
		factor = 2
	}
	b := 1.0
	for hosts := 1; hosts <= limit; hosts++ {
		b = nextErlangB(q.work, b, hosts)
		if hosts < m.Hosts {
			continue
		}
		q.load = q.work / float64(hosts)
		s := factor * q.central(hosts, b/(1-q.load+q.load*b)) * inverse
		if s <= e.Target {
			return e.found(m, hosts, s), nil
		}
	}
	return e, nil
}

// A need is a bound on E[W] with h hosts, (work - spared h)^+/(2(h-a)), in seconds.
type need struct{ work, spared float64 }

func (n need) waiting(hosts, a float64) float64 {
	return max(0, n.work-n.spared*hosts) / (2 * (hosts - a))
}

// solve returns the expansion for bounds on E[W] that fall in h.
func (e Expansion) solve(m Model, limit int, inverse float64, low, high need, a float64) (Expansion, error) {
	wait := e.Target / inverse
	fewest := func(n need) float64 { return math.Ceil(max(float64(m.Hosts), (n.work+2*wait*a)/(n.spared+2*wait))) }
	least, most := fewest(low), fewest(high)
	if err := checkFinite(least, most); err != nil {
		return Expansion{}, err
	}
	least = min(least, most) // equal up to rounding in some cases
	if limit < math.MaxInt && most > float64(limit) {
		return e, nil
	}
	e.Within = true
	slowdown := high.waiting(most, a) * inverse
	e.Extra, e.MeanSlowdown = value(most-float64(m.Hosts)), value(slowdown)
	if e.Kind == Bounds {
		e.Extra = num.BetweenFloats(least-float64(m.Hosts), most-float64(m.Hosts))
		e.MeanSlowdown = num.BetweenFloats(min(low.waiting(most, a)*inverse, slowdown), slowdown)
	}
	return e, checkFinite(slowdown)
}
