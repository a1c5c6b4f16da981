package oiqueue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
	"productform/stability"
)

// TimeoutSettings tunes [SolveTimeouts]. The zero value means the engine Auto with a tolerance of
// [num.DefaultRelTol] and tables of at most [num.DefaultMaxBytes].
type TimeoutSettings struct {
	Engine   num.Engine // Auto, Float or Enclose; "" means Auto
	RelTol   float64    // relative tolerance for Auto and Enclose, in (0, 1); 0 means [num.DefaultRelTol]
	MaxBytes int64      // limit on the memory for tables; 0 means [num.DefaultMaxBytes]
}

// A TimeoutResult holds the stationary measures of a cluster in which jobs time out.
type TimeoutResult struct {
	Engine num.Engine `json:"engine"` // Float or Enclose
	States int        `json:"states"` // numbers of jobs by mean timeout, and of busy servers by group, in all parts

	TimeoutProbability *num.Value `json:"timeout_probability"` // fraction of jobs that time out; nil without arrivals
	MeanJobs           num.Value  `json:"mean_jobs"`           // mean number of jobs
	MeanDelay          *num.Value `json:"mean_delay"`          // mean time until a job departs; nil without arrivals

	// RelativeErrorBound is a proved bound on the relative error of each number. It includes the
	// omitted states.
	RelativeErrorBound float64 `json:"relative_error_bound"`

	Classes []TimeoutClass `json:"classes"` // one per row of the model's classes
}

// A TimeoutClass holds the measures of one class. Two of them are nil without arrivals.
type TimeoutClass struct {
	Name               string     `json:"name" title:"class"`            // as in the model
	ArrivalRate        *big.Rat   `json:"arrival_rate"`                  // λ_i, jobs per unit of time
	MeanTimeout        *big.Rat   `json:"mean_timeout"`                  // 1/θ_i; nil if its jobs never time out
	TimeoutProbability *num.Value `json:"timeout_probability" below:"1"` // fraction of its jobs
	MeanJobs           num.Value  `json:"mean_jobs"`                     // E[X_i]
	MeanDelay          *num.Value `json:"mean_delay"`                    // mean time until a job departs, done or not
}

// SolveTimeouts returns the means of a cluster in which a job of class i leaves after an
// exponential time of rate θ_i, whether in service or not. Jobs are served first come, first
// served, and sizes are exponential with a common mean. With [cluster.AllServers] a job runs on all
// of its servers that work on no earlier job. With [cluster.OneServer] there is one pool of equal
// servers that all classes may use.
//
// With c_1, ..., c_n the classes of the jobs, oldest first, the job in position k leaves at
// the rate μ(c_1, ..., c_k) - μ(c_1, ..., c_{k-1}) + θ_{c_k}, so the queue is order independent
// with the total rate
//
//	μ(x) = μ(K(x)) + Σ_i θ_i x_i,
//
// where K(x) are the busy servers: those of all jobs, or min(Σ x_i, m) of a pool of m. The number
// of jobs then matters only through K and the numbers y_r of jobs with the mean timeout 1/θ_r.
// Jobs that never time out matter only through K. With W(y, K) the measure of all orders of jobs
// that have these numbers,
//
//	(μ(K) + Σ_r θ_r y_r - λ_0(K)) W(y, K) = Σ_i λ_i Σ_{K': K'∪S_i=K} W(y-e_{r(i)}, K'),  W(0, ∅) = 1,
//
// where λ_0(K) is the rate of the jobs that never time out and whose servers are all in K; the sum
// is over jobs that change y or K. For groups, K counts the busy servers, and a draw changes K with
// the probability of each count. With Z = Σ W, E[X_i] = λ_i ∂ log Z/∂λ_i: the measure
// D_i = λ_i ∂W/∂λ_i follows from the derivative of the recursion. All terms are positive, and the
// differences μ(K) - λ_0(K) are exact. The cluster is stable if and only if the jobs that never
// time out would not overload it on their own.
//
// Sums are over Σ y_r <= n, where n is so large that the rest is provably below the tolerance; see
// tail. A state takes about a microsecond with three classes, and more if classes with the same
// mean timeout use different servers. At most 2^22 states are visited.
//
// The error is one of the following:
//   - an [*cluster.UnstableError] that names an overloaded set of classes and wraps
//     [num.ErrUnstable];
//   - a [*num.InputError] if the model fails [cluster.Model.Check], has patience, has classes with
//     different mean sizes, has one server per job but is no pool of equal servers, or has rates
//     beyond 2^±200; or if a setting is out of range;
//   - a [*num.TooLargeError];
//   - the error of the context, promptly after it is cancelled.
func SolveTimeouts(ctx context.Context, m *cluster.Model, s TimeoutSettings) (*TimeoutResult, error) {
	if err := cmp.Or(m.Check(), m.RequireEndlessPatience("jobs that give up have other formulas")); err != nil {
		return nil, err
	}
	if s.Engine == num.Exact {
		return nil, input.Errorf("Engine", s.Engine,
			"auto, float or enclose: sums over all numbers of jobs are not fractions")
	}
	var err error
	if s.RelTol, err = arithmetic.CheckEngine(s.Engine, s.RelTol); err != nil {
		return nil, err
	}
	if s.MaxBytes, err = arithmetic.CheckMaxBytes(s.MaxBytes); err != nil {
		return nil, err
	}
	size, err := m.OneMeanSize()
	if err != nil {
		return nil, err
	}
	if err := checkTimedRates(m, size); err != nil {
		return nil, err
	}
	overload, err := stability.Overload(ctx, m.WithoutTimed())
	if err != nil {
		return nil, err
	}
	if overload != nil {
		return nil, overload
	}
	parts, err := timedParts(ctx, m, size)
	if err != nil {
		return nil, err
	}
	ladder := arithmetic.Ladder{Engine: s.Engine, RelTol: s.RelTol, MaxPrec: 1 << 12}
	return arithmetic.Climb(ladder, func(engine num.Engine, prec uint) (*TimeoutResult, float64, error) {
		return answerTimeouts(ctx, m, parts, arithmetic.One(engine, prec), engine, s)
	})
}

// checkTimedRates rejects rates that might make float64 underflow.
func checkTimedRates(m *cluster.Model, size *big.Rat) error {
	check := func(path string, x, rate *big.Rat) error {
		if f := num.Nearest(rate); rate.Sign() > 0 && !(f >= 0x1p-200 && f <= 0x1p200) {
			return input.Errorf(path, x.RatString(), "a number whose rate of jobs is in [2^-200, 2^200]")
		}
		return nil
	}
	for k, s := range m.Servers {
		path := input.Index("servers", k) + ".capacity"
		if err := check(path, s.Capacity, new(big.Rat).Quo(s.Capacity, size)); err != nil {
			return err
		}
	}
	for i, c := range m.Classes {
		if err := check(input.Index("classes", i)+".arrival_rate", c.ArrivalRate, c.ArrivalRate); err != nil {
			return err
		}
		if mean := m.TimeoutOf(i); mean != nil {
			path := "mean_timeout"
			if c.MeanTimeout != nil {
				path = input.Index("classes", i) + "." + path
			}
			if err := check(path, mean, new(big.Rat).Inv(mean)); err != nil {
				return err
			}
		}
	}
	return nil
}

// answerTimeouts returns the result in the arithmetic of one, and a bound on its relative error.
func answerTimeouts(
	ctx context.Context, m *cluster.Model, parts []*timedPart, one arithmetic.Number, engine num.Engine,
	s TimeoutSettings,
) (*TimeoutResult, float64, error) {
	r := &TimeoutResult{Engine: engine}
	var out arithmetic.Output
	zero := out.Value(one.Zero())
	for i, c := range m.Classes {
		r.Classes = append(r.Classes, TimeoutClass{
			Name: c.Name, ArrivalRate: c.ArrivalRate, MeanTimeout: m.TimeoutOf(i), MeanJobs: zero,
		})
	}
	jobs, timedOut, arrivals := one.Zero(), one.Zero(), new(big.Rat)
	for _, p := range parts {
		means, states, err := p.solve(ctx, one, s)
		if err != nil {
			return nil, 0, err
		}
		r.States += states
		for i, x := range p.classes {
			delay := means[i].Quo(one.Rational(x.rate))
			probability := one.Zero()
			if x.theta != nil {
				probability = delay.Mul(one.Rational(x.theta))
			}
			for _, row := range x.rows {
				c := &r.Classes[row]
				c.MeanJobs = out.Value(delay.Mul(one.Rational(c.ArrivalRate)))
				c.MeanDelay, c.TimeoutProbability = out.Pointer(delay), out.Pointer(probability)
			}
			jobs = jobs.Add(means[i])
			timedOut = timedOut.Add(probability.Mul(one.Rational(x.rate)))
			arrivals.Add(arrivals, x.rate)
		}
	}
	r.MeanJobs = out.Value(jobs)
	if arrivals.Sign() > 0 {
		rate := one.Rational(arrivals)
		r.MeanDelay, r.TimeoutProbability = out.Pointer(jobs.Quo(rate)), out.Pointer(timedOut.Quo(rate))
	}
	if engine == num.Float && math.IsInf(out.Bound, 1) {
		return nil, 0, num.ErrDigits
	}
	r.RelativeErrorBound = out.Bound
	return r, out.Width, nil
}

// A timedPart is a part of a cluster that shares no servers with the others.
type timedPart struct {
	limits   []int      // servers by group
	capacity []*big.Rat // jobs per unit of time of each server of a group
	isPool   bool       // each job takes one more server of the only group
	classes  []timedJobs
	thetas   []*big.Rat // distinct rates of timeouts
}

// timedJobs is a class of a part.
type timedJobs struct {
	rows    []int    // rows of the model
	rate    *big.Rat // λ_i > 0
	theta   *big.Rat // θ_i; nil if its jobs never time out
	group   int      // position of theta in thetas, or -1
	choices []cluster.Choice
}

// timedParts returns the parts of a model.
func timedParts(ctx context.Context, m *cluster.Model, size *big.Rat) ([]*timedPart, error) {
	var parts []*timedPart
	if m.Service == cluster.OneServer {
		p, err := pool(m, size)
		if err != nil || p == nil {
			return nil, err
		}
		parts = append(parts, p)
	} else {
		components, err := m.Reduce(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range components {
			p := &timedPart{}
			for _, s := range c.Model.Servers {
				p.limits, p.capacity = append(p.limits, s.Size()), append(p.capacity, s.Capacity)
			}
			for i, x := range c.Model.Classes {
				p.add(timedJobs{rows: c.Classes[i], rate: x.ArrivalRate, choices: x.Servers}, x.MeanTimeout)
			}
			parts = append(parts, p)
		}
	}
	for _, p := range parts {
		if moves := p.countMoves(); moves > mostMoves {
			return nil, &num.TooLargeError{States: moves, Input: input.Errorf("servers",
				fmt.Sprintf("%d groups of servers with the same classes", len(p.limits)),
				"at most %d arrivals of a class at a set of busy servers, with timeouts (fewer servers, or equal "+
					"servers as one group)", mostMoves)}
		}
		if len(p.thetas) > mostThetas {
			return nil, &num.TooLargeError{Input: input.Errorf("classes",
				fmt.Sprintf("%d mean timeouts", len(p.thetas)), "at most %d of them", mostThetas)}
		}
	}
	return parts, nil
}

// countMoves returns the number of moves of all classes at all points; see steps. If d servers are
// drawn from n, they have (d+1)(n-d+1) moves in total over the numbers 0..n of busy servers.
func (p *timedPart) countMoves() float64 {
	sum := 0.0
	for _, x := range p.classes {
		moves := 1.0
		for _, n := range p.limits {
			moves *= float64(n) + 1
		}
		for _, c := range x.choices {
			if n := p.limits[c.Server]; !p.isPool && c.Choose < n {
				moves *= float64(c.Choose+1) * float64(n-c.Choose+1) / float64(n+1)
			}
		}
		sum += moves
	}
	return sum
}

// add adds a class. Rates of timeouts are compared as fractions.
func (p *timedPart) add(x timedJobs, mean *big.Rat) {
	x.group = -1
	if mean != nil {
		x.theta = new(big.Rat).Inv(mean)
		for r, theta := range p.thetas {
			if theta.Cmp(x.theta) == 0 {
				x.group = r
			}
		}
		if x.group < 0 {
			x.group = len(p.thetas)
			p.thetas = append(p.thetas, x.theta)
		}
	}
	p.classes = append(p.classes, x)
}

// pool returns the part of a model in which each job runs on one server of a pool of equal servers,
// or nil without arrivals. It merges classes with the same timeout.
func pool(m *cluster.Model, size *big.Rat) (*timedPart, error) {
	reject := func() error {
		err := m.RequireNoTimeouts()
		var bad *input.Error
		if errors.As(err, &bad) {
			err = input.Errorf(bad.Path, bad.Value,
				"none with service one unless all classes may use all servers, which have one capacity; pfq simulate "+
					"takes any")
		}
		return err
	}
	var first *cluster.Class
	p := &timedPart{isPool: true}
	byTimeout := map[string]int{}
	for i := range m.Classes {
		c := &m.Classes[i]
		if c.ArrivalRate.Sign() == 0 {
			continue
		}
		if first == nil {
			first = c
			p.limits = []int{0}
			p.capacity = []*big.Rat{new(big.Rat).Quo(m.Servers[c.Servers[0].Server].Capacity, size)}
		}
		servers := 0
		for _, choice := range c.Servers {
			s := m.Servers[choice.Server]
			if choice.Choose != s.Size() || s.Capacity.Cmp(m.Servers[first.Servers[0].Server].Capacity) != 0 {
				return nil, reject()
			}
			servers += s.Size()
		}
		if c != first && !sameServers(c, first) {
			return nil, reject()
		}
		p.limits[0] = servers
		key := ""
		if mean := m.TimeoutOf(i); mean != nil {
			key = mean.RatString()
		}
		k, ok := byTimeout[key]
		if !ok {
			k = len(p.classes)
			byTimeout[key] = k
			p.add(timedJobs{rate: new(big.Rat), choices: []cluster.Choice{{Server: 0, Choose: 1}}}, m.TimeoutOf(i))
		}
		x := &p.classes[k]
		x.rows = append(x.rows, i)
		x.rate = new(big.Rat).Add(x.rate, c.ArrivalRate)
	}
	if first == nil {
		return nil, nil
	}
	return p, nil
}

// sameServers reports whether two classes choose from the same rows of servers.
func sameServers(a, b *cluster.Class) bool {
	rows := map[int]bool{}
	for _, c := range a.Servers {
		rows[c.Server] = true
	}
	for _, c := range b.Servers {
		if !rows[c.Server] {
			return false
		}
	}
	return len(a.Servers) == len(b.Servers)
}
