package tags

import "productform/num"

// A number is the arithmetic of the formulas of hosts: float64, or intervals that contain the exact
// values.
type number[T any] interface {
	Add(T) T
	Sub(T) T
	Mul(T) T
	Quo(T) T
}

// A double is a number in double precision.
type double float64

func (a double) Add(b double) double { return a + b }
func (a double) Sub(b double) double { return a - b }
func (a double) Mul(b double) double { return a * b }
func (a double) Quo(b double) double { return a / b }

func value(v float64) num.Value { return num.Value{Float: v} }

// A visit holds the moments of the sizes from which the means of a host are computed. Under TAGS, a
// host between the cutoffs a and b sees the jobs X > a, and those with a < X <= b end there; under
// SITA it sees only the latter. o is [Resume.offset], 0 unless there are checkpoints.
type visit[T number[T]] struct {
	speed         T       // v
	part, end     T       // fractions of the jobs that arrive here, and that complete here
	first, second T       // M_1, M_2: E[work^r of a visit; the job arrives]
	whole         T       // work done here by the jobs that end here: E[min(X, b) - o; the job ends here]
	share         T       // the same, divided by the size: E[(X - o)/X; the job ends here]
	inverse       T       // E[1/X; the job ends here]
	weight        T       // E[1/X; the job arrives]
	load, slack   T       // ρ, 1 - ρ
	slackError    float64 // bound on the error of slack
	run           T       // b - o, work done here on a job that is stopped at b
	lost          T       // work of this host lost by stopping jobs: b P(X > b) or, with checkpoints, d P(X > a)
	killedInverse T       // E[1/X; X > b]

	comes, ends, kills bool // whether jobs arrive, complete, are stopped here
	hasInverse         bool // E[1/X] of the arriving jobs is finite
}

// formulas holds the quantities that the means of all hosts share.
type formulas[T number[T]] struct {
	rate, zero T
	value      func(T) num.Value
}

// loads returns the quantities that do not depend on the queues.
func (f formulas[T]) loads(visits []visit[T]) Result {
	r := Result{ArrivalRate: f.value(f.rate), Hosts: make([]Host, len(visits))}
	lost, excess, zero := f.zero, f.zero, f.value(f.zero)
	for i := range visits {
		v := &visits[i]
		host := Host{Load: f.value(v.load), Slack: f.value(v.slack), SlackError: v.slackError,
			Visit: f.value(v.part), Final: f.value(v.end), VisitMean: zero, VisitSquare: zero,
			VisitWait: zero, Waiting: zero, Slowdown: zero, Delay: zero}
		if v.comes {
			host.VisitMean, host.VisitSquare = f.value(v.first.Quo(v.part)), f.value(v.second.Quo(v.part))
		}
		lost = lost.Add(v.lost)
		excess = excess.Add(f.rate.Mul(v.lost).Quo(v.speed))
		r.Hosts[i] = host
	}
	r.Lost, r.Excess = f.value(lost), f.value(excess)
	return r
}

// waits adds the waiting times, slowdowns and delays to the result of loads: under TAGS by the
// formulas of the package comment, under SITA by those of an M/G/1 queue for each host. Formally
// this also works for overloaded hosts. The waiting time at a host is that of Pollaczek and
// Khinchine, V_i = λ M_2/v_i² / (2(1 - ρ_i)). The mean delay of TAGS is
//
//	E[T] = E[W] + Σ_i ρ_i/λ,  E[W] = Σ_i P(X > s_{i-1}) V_i,
//
// and the mean delay of a job that ends at host i is W_i + Σ_{j<i} (s_j - o_j)/v_j + E[X - o_i |
// s_{i-1} < X <= s_i]/v_i, where o_i = s_{i-1} - d_i is 0 without checkpoints ([HB02], appendix).
func (f formulas[T]) waits(r *Result, visits []visit[T]) {
	restarts := r.Policy == PolicyTAGS
	waited, spent := f.zero, f.zero // time that jobs that reach host i have waited and been served before it
	meanWaiting, slowdown, stretch := f.zero, f.zero, f.zero
	work, delays := f.zero, f.zero // only one of the two is needed
	for i := range visits {
		v, host := &visits[i], &r.Hosts[i]
		wait := f.zero
		if v.comes {
			wait = f.rate.Mul(v.second).Quo(v.speed.Mul(v.speed)).Quo(v.slack.Add(v.slack))
		}
		if restarts {
			waited = waited.Add(wait)
			work = work.Add(v.load.Quo(f.rate))
		} else {
			waited = wait
		}
		host.VisitWait, host.Waiting = f.value(wait), f.value(waited)
		meanWaiting = meanWaiting.Add(v.part.Mul(wait))
		if v.hasInverse {
			slowdown = slowdown.Add(v.weight.Mul(wait))
		}
		if v.ends {
			if v.hasInverse {
				host.Slowdown = f.value(waited.Mul(v.inverse.Quo(v.end)))
			}
			delay := waited.Add(spent).Add(v.whole.Quo(v.end).Quo(v.speed))
			host.Delay = f.value(delay)
			if !restarts {
				delays = delays.Add(v.end.Mul(delay))
			}
		}
		stretch = stretch.Add(v.share.Quo(v.speed))
		if v.kills {
			run := v.run.Quo(v.speed)
			spent = spent.Add(run)
			stretch = stretch.Add(run.Mul(v.killedInverse))
		}
	}
	r.MeanWaiting, r.MeanDelay = f.value(meanWaiting), f.value(delays)
	if restarts {
		r.MeanDelay = f.value(meanWaiting.Add(work))
	}
	r.MeanSlowdown, r.MeanStretch = f.value(slowdown), f.value(slowdown.Add(stretch))
	if r.NoSlowdown {
		r.MeanSlowdown, r.MeanStretch = f.value(f.zero), f.value(f.zero)
	}
}
