package tags

import (
	"fmt"
	"math"

	"productform/internal/input"
	"productform/sizes"
)

// A Policy is the name of a way to assign jobs to hosts.
type Policy string

// The policies.
const (
	PolicyTAGS           Policy = "tags"                         // [Analyze], [Optimize]
	PolicyRandom         Policy = "random"                       // [Random]
	PolicyRoundRobin     Policy = "round-robin"                  // [RoundRobin]
	PolicyCentral        Policy = "least-work-remaining"         // [CentralQueue]
	PolicyCentralPrinted Policy = "least-work-remaining-printed" // [CentralQueuePrinted]
	PolicySITAE          Policy = "sita-e"                       // [SITAE], equal loads
	PolicySITA           Policy = "sita"                         // [SITA], [OptimizeSITA]
)

// A Kind tells how far to trust a number.
type Kind string

// The kinds.
const (
	Exact         Kind = "exact"         // but for rounding
	Approximation Kind = "approximation" // of unknown error
	Bounds        Kind = "bounds"        // proved; the truth is between Low and High
)

// A Range holds a number, or bounds of it. Low and High are equal unless the Kind beside it is [Bounds].
type Range struct{ Low, High float64 }

// A Rival holds the stationary means of an assignment policy.
type Rival struct {
	Name         Policy
	Kind         Kind
	MeanWaiting  Range // E[W], seconds in queues
	MeanSlowdown Range // E[S] = E[W/X], seconds a unit of work; 0 if NoSlowdown
	MeanResponse Range // E[T], seconds from arrival to end
	NoSlowdown   bool  // E[1/X] is infinite, or beyond float64, and with it E[S]
}

// MaxQueueHosts is the largest number of hosts for [Random], [RoundRobin] and [CentralQueue].
const MaxQueueHosts = 1000000

// Random returns the means when every job goes to a host drawn at random, host i with probability v_i/v, v = Σ_i v_i.
// Poisson processes split so are Poisson processes: every host is an M/G/1 queue of load ρ, and by Pollaczek and
// Khinchine
//
//	E[W] = h ρ E[X²]/(2 v (1-ρ) E[X]),  E[T] = E[W] + h E[X]/v,
//
// exactly. A job waits however long it is itself, so E[S] = E[W] E[1/X], as for all policies that do not know sizes and
// serve first come, first served. The error is that of [Analyze], with up to [MaxQueueHosts] hosts.
func Random(m Model) (Rival, error) {
	l, err := m.unknown()
	if err != nil {
		return Rival{}, err
	}
	q := m.perHost(l)
	return l.rival(PolicyRandom, Exact, q.random(), q.random(), q.service)
}

// RoundRobin returns bounds of the means when hosts of one speed take the jobs in turn. A host then gets every h-th job
// of a Poisson process, so its interarrival times A are sums of h exponential phases of mean 1/λ: it is an E_h/G/1
// queue. With the service time s = X/v of a job, a = λ E[s] = h ρ and n = ⌊a⌋,
//
//	(λ E[s²] - (h-1) E[s])^+ / (2(h-a)) <= E[W] <= (λ E[s²] - E[s] n(2a-n-1)/a) / (2(h-a)).
//
// The upper bound is not above E[W] of [Random], the bounds are at most E[s]/2 apart, and they are equal for h = 1.
//
// Proof. In any GI/G/1 queue, with E[A] = h/λ and the idle period I (K. T. Marshall, "Some inequalities in queuing",
// Operations Research 16(3), 1968),
//
//	E[W] = E[(A-s)²]/(2 E[A-s]) - E[I²]/(2 E[I]).
//
// I is what is left of an interarrival time, so j phases with some probability p_j, 1 <= j <= h, and
// E[I²]/(2 E[I]) = Σ_j p_j j(j+1) / (2λ Σ_j p_j j). It is at most (h+1)/(2λ), as j <= h: this gives the lower bound,
// which is Marshall's for interarrival times of decreasing mean residual life. Let c(x) be the convex function that is
// j(j+1) at the integers and linear between. By Jensen's inequality E[I²]/(2 E[I]) >= c(x)/(2λx), x = Σ_j p_j j, which
// grows in x, and x = λ E[I] >= λ E[A-s] = h-a since a busy period serves at least one job; x = h-a gives the upper
// bound. ∎ It is below that of D. J. Daley, "Inequalities for moments of tails of random variables, with a queueing
// application", Z. Wahrscheinlichkeitstheorie 41, 1977, 139–143, which holds for all A.
//
// The relative error by rounding is some h 1e-16. The error is that of [Random], or names Speeds if they are not equal.
func RoundRobin(m Model) (Rival, error) {
	l, err := m.unknownEqual()
	if err != nil {
		return Rival{}, err
	}
	q := m.perHost(l)
	kind := Bounds
	if m.Hosts == 1 {
		kind = Exact
	}
	low, high := q.roundRobin(float64(m.Hosts))
	return l.rival(PolicyRoundRobin, kind, low, high, q.service)
}

// CentralQueue returns the means when jobs wait in one queue for the first of h hosts of one speed, an M/G/h queue. A
// dispatcher that sends every job to the host with the least work left gives every job the same waiting time, without
// that queue ([HB02], section 1). With the probability C of waiting in the M/M/h queue, [ErlangC], and the service time
// s = X/v,
//
//	E[W] = C E[s]/(h(1-ρ)) · E[X²]/(2 E[X]²),
//
// the waiting time of the M/M/h queue times (1 + squared coefficient of variation)/2 (A. M. Lee and P. A. Longton,
// "Queueing processes associated with airline passenger check-in", Operational Research Quarterly 10, 1959, 56–71; S.
// A. Nozaki and S. M. Ross, "Approximations in finite-capacity multi-server queues with Poisson arrivals", Journal of
// Applied Probability 15, 1978, 826–834). It is exact for h = 1, where it is the formula of Pollaczek and Khinchine,
// and for exponential sizes; for sizes that vary very much, and hosts enough to keep the largest jobs apart, the true
// waiting time may be several times smaller. It takes O(h) time.
//
// The error is that of [Random], or names Speeds if they are not equal.
func CentralQueue(m Model) (Rival, error) {
	kind := Approximation
	if m.Hosts == 1 {
		kind = Exact
	}
	return m.central(PolicyCentral, kind, 1)
}

// CentralQueuePrinted is [CentralQueue] as [HB02], section 5.1, prints it: without the factor 1/2. It is twice the
// exact value for h = 1 and for exponential sizes. The figures of the paper are drawn with it.
func CentralQueuePrinted(m Model) (Rival, error) {
	return m.central(PolicyCentralPrinted, Approximation, 2)
}

func (m Model) central(name Policy, kind Kind, factor float64) (Rival, error) {
	l, err := m.unknownEqual()
	if err != nil {
		return Rival{}, err
	}
	q := m.perHost(l)
	wait := factor * q.central(m.Hosts, erlangC(m.Hosts, m.Load))
	return l.rival(name, kind, wait, wait, q.service)
}

// ErlangC returns the probability C that a job waits in the M/M/h queue of h hosts, 1 to [MaxQueueHosts], at load ρ in
// (0, 1) a host. With a = h ρ and the probability B_n that a job is lost where n hosts have no queue,
//
//	B_0 = 1,  B_n = a B_{n-1}/(n + a B_{n-1}),  C = B_h/(1 - ρ + ρ B_h),
//
// in O(h) time and to some h 1e-16: the mean queue is C ρ/(1-ρ) jobs. C is 0 if it is below float64. The error names
// the argument that is out of range.
func ErlangC(hosts int, load float64) (float64, error) {
	if !(hosts >= 1 && hosts <= MaxQueueHosts) {
		return 0, input.Errorf("hosts", hosts, "a number of hosts from 1 to %d", MaxQueueHosts)
	}
	if !(load > 0 && load < 1) {
		return 0, input.Errorf("load", load, "a number in (0, 1)")
	}
	return erlangC(hosts, load), nil
}

func erlangC(hosts int, load float64) float64 {
	if hosts == 1 {
		return load
	}
	a, b := float64(hosts)*load, 1.0
	for n := 1; n <= hosts; n++ {
		if b = nextErlangB(a, b, n); b < 0x1p-1022 { // B_n falls with n, but rounding would keep it up
			return 0
		}
	}
	return b / (1 - load + load*b)
}

// nextErlangB returns B_n from b = B_{n-1}.
func nextErlangB(a, b float64, n int) float64 { return a * b / (float64(n) + a*b) }

// A queue holds the service times of a farm, E[s] = E[X] h/v and E[s²]/E[s] in seconds, and its work, a = h ρ, in
// hosts. For hosts of unequal speeds E[s] is that of random assignment.
type queue struct{ service, ratio, work, load float64 }

func (m Model) perHost(l *law) queue {
	pace := float64(m.Hosts) / m.capacity()
	return queue{
		service: l.mean * pace, ratio: l.square / l.mean * pace, work: float64(m.Hosts) * m.Load, load: m.Load,
	}
}

func (q queue) random() float64 { return q.load * q.ratio / (2 * (1 - q.load)) }

func (q queue) roundRobin(hosts float64) (low, high float64) {
	idle := hosts * (1 - q.load)
	low = max(0, q.work*q.ratio-q.service*(hosts-1)) / (2 * idle)
	return low, max(low, (q.work*q.ratio-q.regular())/(2*idle))
}

// regular returns E[s] n(2a-n-1)/a, n = ⌊a⌋: what regular arrivals spare, see [RoundRobin].
func (q queue) regular() float64 {
	n := math.Floor(q.work)
	return q.service * (n * (2*q.work - n - 1) / q.work)
}

// central returns the waiting time in the M/G/h queue whose jobs wait with probability c if sizes are exponential.
func (q queue) central(hosts int, c float64) float64 {
	return c * q.ratio / (2 * float64(hosts) * (1 - q.load))
}

// rival returns the means for bounds of E[W] under a policy that does not know sizes, and the mean time of service.
func (l *law) rival(name Policy, kind Kind, low, high, service float64) (Rival, error) {
	r := Rival{
		Name: name, Kind: kind, NoSlowdown: l.noInverse,
		MeanWaiting:  Range{low, high},
		MeanSlowdown: Range{low * l.inverse, high * l.inverse},
		MeanResponse: Range{low + service, high + service},
	}
	return r, checkFinite(high, high*l.inverse, high+service)
}

// checkFinite returns an error if a mean is beyond float64.
func checkFinite(means ...float64) error {
	for _, v := range means {
		if !(math.Abs(v) <= math.MaxFloat64) {
			return fmt.Errorf("tags: a mean: %w", sizes.ErrOverflow)
		}
	}
	return nil
}

// Rival returns the means of r in the form of those of other policies.
func (r Result) Rival() Rival {
	kind := Approximation
	if len(r.Hosts) == 1 {
		kind = Exact
	}
	return Rival{
		Name: PolicyTAGS, Kind: kind, NoSlowdown: r.NoSlowdown,
		MeanWaiting:  Range{r.MeanWaiting, r.MeanWaiting},
		MeanSlowdown: Range{r.MeanSlowdown, r.MeanSlowdown},
		MeanResponse: Range{r.MeanResponse, r.MeanResponse},
	}
}

// unknown checks m for a policy that does not know sizes, and returns their law.
func (m Model) unknown() (*law, error) {
	if !(m.Hosts >= 1 && m.Hosts <= MaxQueueHosts) {
		return nil, input.Errorf("Hosts", m.Hosts, "a number of hosts from 1 to %d", MaxQueueHosts)
	}
	if m.Speeds != nil && len(m.Speeds) != m.Hosts {
		return nil, input.Errorf("Speeds", fmt.Sprintf("%d speeds", len(m.Speeds)), "one speed a host, %d", m.Hosts)
	}
	for i, v := range m.Speeds {
		if !(v >= 1e-100 && v <= 1e100) {
			return nil, input.Errorf(fmt.Sprintf("Speeds[%d]", i), v, "a number in [1e-100, 1e100]")
		}
	}
	one := m
	one.Hosts, one.Speeds, one.Fractions = 1, nil, nil
	if err := one.Validate(); err != nil {
		return nil, err
	}
	return newLaw(m)
}

// unknownEqual is unknown for a policy that wants hosts of one speed.
func (m Model) unknownEqual() (*law, error) {
	l, err := m.unknown()
	if err != nil {
		return nil, err
	}
	return l, m.checkEqual()
}

// checkEqual accepts hosts of one speed.
func (m Model) checkEqual() error {
	for i, v := range m.Speeds {
		if v != m.Speeds[0] {
			return input.Errorf(fmt.Sprintf("Speeds[%d]", i), v, "one speed for all hosts, %v, under this policy", m.Speeds[0])
		}
	}
	return nil
}
