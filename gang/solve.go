package gang

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
)

// A Result holds the stationary measures of a stable model. Waits are computed in float64, to
// within RelativeErrorBound.
type Result struct {
	Stability *Stability `json:"-"`      // throughput limit, by the settings
	States    int        `json:"states"` // phases of the levels above M

	MeanQueue   num.Value  `json:"mean_queue"`   // mean number of waiting jobs
	MeanJobs    num.Value  `json:"mean_jobs"`    // mean number of jobs, waiting or in service
	MeanWaiting *num.Value `json:"mean_waiting"` // mean time until a job of any class starts; nil if no jobs arrive
	MeanDelay   *num.Value `json:"mean_delay"`   // mean time until a job of any class departs; nil if no jobs arrive

	// MeanBusyServers is Σ λ_k w_k/μ_k, exactly; nil if the model has several rows of servers,
	// whose means are in Servers.
	MeanBusyServers *num.Value `json:"mean_busy_servers"`

	// HeavyTrafficDelay is the limit of (1 - λ/λ*) times the mean delay as λ rises to λ* at the
	// same shares; nil if no jobs arrive. Divided by 1 - λ/λ* it is no estimate of the mean delay:
	// at half load it is off by up to two thirds.
	HeavyTrafficDelay *num.Value `json:"heavy_traffic_delay"`

	// RelativeErrorBound bounds the relative errors of all these means and probabilities except
	// HeavyTrafficDelay. It is tested but not proved: it multiplies the defects of the balance
	// equations, and bounds on their rounding errors, by mean times until the queue is in its most
	// likely state, and takes it for granted that float64 gives these times to within 1 %.
	RelativeErrorBound float64 `json:"relative_error_bound"`

	Classes []ClassResult  `json:"classes"` // one per row of the model's classes
	Servers []ServerResult `json:"servers"` // one per row of the model's servers
}

// A ClassResult holds the measures of one class. Those of a class without arrivals are nil, and it
// has no jobs.
type ClassResult struct {
	Name            string     `json:"name" title:"class"` // as in the model
	ArrivalRate     *big.Rat   `json:"arrival_rate"`       // λ_k, jobs per unit of time
	WaitProbability *num.Value `json:"wait_probability"`   // P(W_k > 0)
	MeanWaiting     *num.Value `json:"mean_waiting"`       // E[W_k], mean time until a job starts
	MeanDelay       *num.Value `json:"mean_delay"`         // E[W_k] + 1/μ_k, mean time until a job departs
	MeanQueue       num.Value  `json:"mean_queue"`         // λ_k E[W_k], mean number of waiting jobs
}

// A ServerResult holds the measures of one row of servers.
type ServerResult struct {
	Name        string    `json:"name" title:"server"`   // as in the model
	Count       int       `json:"count"`                 // servers in the row
	MeanBusy    num.Value `json:"mean_busy"`             // mean number of busy servers, exactly
	Utilization num.Value `json:"utilization" below:"1"` // MeanBusy/Count
}

// MostWaitStates and mostWaitWork limit the models whose waits are computed: the states S, with
// matrices of at most 2 MB, and M S³ for at most M jobs in service, about half a minute.
const (
	MostWaitStates = 500
	mostWaitWork   = 2e10
)

// stateLimitError returns the error for waits of too many states. It names pfq stability only if
// findLimit accepts the model.
func (a *analysis) stateLimitError(ctx context.Context) error {
	err := a.checkLimitSize(ctx)
	if isTooLarge(err) {
		return waitSizeError("pfq simulate has those of larger models; this one is also too large for pfq stability")
	}
	return cmp.Or(err, waitSizeError(limitElsewhere))
}

// limitElsewhere describes the commands for a model whose throughput limit is within their limits.
const limitElsewhere = "pfq stability has the throughput limit and pfq simulate has the waits of larger models"

func waitSizeError(others string) error {
	return &num.TooLargeError{
		Input: input.Errorf("classes", "needs with too many states", "at most %d sets S of jobs in service that "+
			"block some class, and M S³ at most 2e10 for at most M jobs in service, for mean waits; %s", MostWaitStates,
			others),
		Instead: []num.Remedy{num.Simulation},
	}
}

// digitsError returns the error for waits whose error may be as large as they are: close to the
// limit, or of classes with much lower rates than others.
func digitsError(s *Stability) error {
	return input.Errorf("classes",
		fmt.Sprintf("arrival rates of %v times the throughput limit", 1/s.CriticalScale.Float),
		"lower rates, or rates that differ less: in float64 the waits may have no correct digit")
}

// CheckSize returns the error of [Solve] for a valid model that is too large for it, nil for other
// models, in a fraction of a second.
func CheckSize(ctx context.Context, m *cluster.Model) error {
	a, err := newAnalysis(m, Settings{})
	if err != nil || a.problem == nil {
		return err
	}
	_, err = a.waitStates(ctx)
	return err
}

// waitStates returns the states of the saturated chain, or an error if there are too many for
// waits.
func (a *analysis) waitStates(ctx context.Context) (*states, error) {
	saturated, err := newStates(ctx, a.problem, MostWaitStates)
	if isTooLarge(err) {
		return nil, a.stateLimitError(ctx)
	}
	if err != nil {
		return nil, err
	}
	n := float64(len(saturated.x))
	if jobs := float64(saturated.mostJobsInService()); jobs*n*n*n > mostWaitWork {
		return nil, a.stateLimitError(ctx)
	}
	return saturated, nil
}

// Solve returns the mean waits of each class of a cluster with the service [cluster.Gang]; see the
// package comment for the formulas. It takes a few times S³ multiplications for each level up to M
// and about 100 S³ for those above, where M is the largest number of jobs in service and S the
// number of states, and keeps M matrices of S² numbers. Sizes are exponential; waits depend on
// their distribution. m is not modified.
//
// The error is that of [CheckStability], an [*UnstableError], which wraps [num.ErrUnstable], a
// [*num.TooLargeError] for more than [MostWaitStates] states or M S³ above 2e10, or a
// [*num.InputError] for arrival rates below 1e-150, or so close to the limit, or so different, that
// RelativeErrorBound is not below 1.
func Solve(ctx context.Context, m *cluster.Model, s Settings) (*Result, error) {
	a, err := newAnalysis(m, s)
	if err != nil {
		return nil, err
	}
	if a.problem == nil {
		stability, err := a.check(ctx)
		if err != nil {
			return nil, err
		}
		return a.waits(stability, nil), nil
	}
	if err := a.checkRates(); err != nil {
		return nil, err
	}
	saturated, err := a.waitStates(ctx)
	if err != nil {
		return nil, err
	}
	stability, err := a.check(ctx)
	if err != nil {
		return nil, err
	}
	if stability.Verdict != Stable {
		return nil, &UnstableError{stability}
	}
	q, err := newQueue(ctx, a.problem)
	if err != nil {
		return nil, err
	}
	p, err := q.solve(ctx)
	if errors.Is(err, num.ErrDigits) {
		return nil, digitsError(stability)
	}
	if err != nil {
		return nil, err
	}
	r := a.waits(stability, p)
	r.States = len(saturated.x)
	heavy := q.heavyTrafficDelay()
	r.HeavyTrafficDelay = &num.Value{Float: heavy}
	if !(heavy < math.Inf(1)) {
		return nil, num.ErrFloatRange
	}
	if !(r.RelativeErrorBound < 1) {
		return nil, digitsError(stability)
	}
	return r, nil
}

// checkRates rejects arrival rates whose products with others underflow in float64. The stability
// limit does not depend on them.
func (a *analysis) checkRates() error {
	for i, c := range a.model.Classes {
		if c.ArrivalRate.Sign() > 0 && num.Nearest(c.ArrivalRate) < 1e-150 {
			return input.Errorf(input.Index("classes", i)+".arrival_rate", c.ArrivalRate.RatString(),
				"0 or a number >= 1e-150: count time in other units")
		}
	}
	return nil
}

// mostJobsInService returns M.
func (s *states) mostJobsInService() int {
	jobs := 0
	for _, n := range s.x[len(s.x)-1] {
		jobs += int(n)
	}
	return jobs
}

// waits builds the result of a stable model from its stationary distribution, nil if no jobs
// arrive.
func (a *analysis) waits(stability *Stability, p *profile) *Result {
	r := &Result{Stability: stability}
	var waiting, wait []float64
	var merged []int
	if p != nil {
		waiting, wait = p.means()
		r.RelativeErrorBound = p.bound
		merged = a.merged(len(a.model.Classes))
	}
	var queue, jobs, rate float64
	for i, c := range a.model.Classes {
		x := ClassResult{Name: c.Name, ArrivalRate: c.ArrivalRate, MeanQueue: num.ExactValue(new(big.Rat))}
		if c.ArrivalRate.Sign() > 0 {
			k := merged[i]
			share := new(big.Rat).Quo(c.ArrivalRate, a.rate)
			// waiting jobs of the merged class are split by arrival rates
			own := waiting[k] * num.Nearest(share.Quo(share, a.classes[k].share))
			lambda, mean := num.Nearest(c.ArrivalRate), num.Nearest(a.model.MeanSizeOf(i))
			w := own / lambda
			x.MeanQueue = num.Value{Float: own}
			x.WaitProbability, x.MeanWaiting, x.MeanDelay = &num.Value{Float: wait[k]}, &num.Value{Float: w},
				&num.Value{Float: w + mean}
			queue += own
			jobs += own + lambda*mean
			rate += lambda
		}
		r.Classes = append(r.Classes, x)
	}
	r.MeanQueue, r.MeanJobs = num.Value{Float: queue}, num.Value{Float: jobs}
	if p != nil {
		r.MeanWaiting, r.MeanDelay = &num.Value{Float: queue / rate}, &num.Value{Float: jobs / rate}
	}
	for s, server := range a.model.Servers {
		busy := new(big.Rat)
		for i, c := range a.model.Classes {
			for _, need := range c.Needs {
				if need.Server == s {
					work := new(big.Rat).Mul(c.ArrivalRate, a.model.MeanSizeOf(i))
					busy.Add(busy, work.Mul(work, big.NewRat(int64(need.Choose), 1)))
				}
			}
		}
		share := new(big.Rat).Quo(busy, big.NewRat(int64(server.Size()), 1))
		r.Servers = append(r.Servers, ServerResult{
			server.Name, server.Size(), num.ExactValue(busy), num.ExactValue(share),
		})
	}
	if len(r.Servers) == 1 {
		busy := r.Servers[0].MeanBusy
		r.MeanBusyServers = &busy
	}
	return r
}

// heavyTrafficDelay returns h = (Δ+1)/λ*, the limit of (1-ρ) E[T]. Δ is the mean of v at
// completions minus its mean, where r + Qv = λ*: the covariance of r and v over λ*, under the
// stationary distribution of the saturated chain. Its transitions are those of the levels above M.
func (q *queue) heavyTrafficDelay() float64 {
	r := q.work(q.most + 1)
	pi, v, limit := solveChain(q.down(q.most+1), r)
	mean, both := dot(pi, v), 0.0
	for x, p := range pi {
		both += p * (r[x] - limit) * (v[x] - mean)
	}
	return (both/limit + 1) / limit
}

// solveChain returns the stationary distribution π of a chain with these rates between its states,
// the mean λ* of r, and v with r + Qv = λ*. Without the row and column of a state, B = -Q has row
// sums that are the rates to this state, so its factors need no subtraction. π is (1, q B⁻¹) up to
// a factor, where q holds the rates from the state, and v = (0, B⁻¹ (r - λ*)). For v it is the most
// likely state, which every state reaches quickly.
func solveChain(rates *matrix, r []float64) (pi, v []float64, limit float64) {
	pi = append([]float64(nil), rates.row(0)[1:]...)
	factorWithout(rates, 0).solveLeft(pi)
	pi = append([]float64{1}, pi...)
	total, likely := 0.0, 0
	for x, p := range pi {
		total += p
		if p > pi[likely] {
			likely = x
		}
	}
	scale(pi, 1/total)
	limit = dot(pi, r)
	v = make([]float64, 0, len(r)-1)
	for x := range r {
		if x != likely {
			v = append(v, r[x]-limit)
		}
	}
	factorWithout(rates, likely).solve(v)
	return pi, insertZero(v, likely), limit
}

// factorWithout factors -Q without the row and column of a state.
func factorWithout(rates *matrix, state int) *factored {
	n := rates.rows - 1
	rest, excess := newMatrix(n, n), make([]float64, n)
	for i := range n {
		from := i
		if i >= state {
			from++
		}
		row := rates.row(from)
		copy(rest.row(i), row[:state])
		copy(rest.row(i)[state:], row[state+1:])
		excess[i] = row[state]
	}
	return factor(rest, make([]float64, n), excess)
}
