package tags

import (
	"errors"
	"fmt"
	"math"

	"productform/internal/input"
	"productform/num"
	"productform/sizes"
)

// A Model is a farm of hosts and the jobs that come to it.
type Model struct {
	Sizes  sizes.Distribution // X, work
	Hosts  int                // h, 1 to [MaxHosts]; to [MaxQueueHosts] for [Random], [RoundRobin] and [CentralQueue]
	Load   float64            // system load ρ = λ E[X] / Σ_i v_i, in (0, 1)
	Speeds []float64          // v_i, work a second, in the order in which jobs visit the hosts; nil if all are 1

	Fractions *Fractions // what Load, Speeds and a list of sizes are exactly; nil if they are the doubles
}

// MaxHosts is the largest number of hosts of a [Model] with cutoffs.
const MaxHosts = 64

// A Host tells what host i sees of the jobs. Waiting and slowdown are those of the jobs that end at it.
type Host struct {
	Load        float64 // ρ_i
	Slack       float64 // 1 - ρ_i, with its own digits
	SlackError  float64 // Slack is within so much of 1 - ρ_i; a slack that is not larger may be 0 in truth
	Visit       float64 // P(X > s_{i-1}), the part of the jobs that come to it; 0 if s_i is 0
	Final       float64 // p_i = P(s_{i-1} < X <= s_i), the part that ends at it
	VisitMean   float64 // E[min(X, s_i) | X > s_{i-1}], work; 0 if no job comes
	VisitSquare float64 // E[min(X, s_i)² | X > s_{i-1}], work²; 0 if no job comes
	VisitWait   float64 // V_i, seconds a visit waits
	Waiting     float64 // W_i = V_1 + ... + V_i, seconds
	Slowdown    float64 // E[S_i] = W_i E[1/X_i]; 0 if no job ends here
	Response    float64 // E[T_i], seconds from arrival to end, with the runs that were killed; 0 if no job ends here
}

// A Result holds the stationary means of TAGS with given cutoffs.
type Result struct {
	Cutoffs     []float64 // s_1, ..., s_{h-1}, work
	ArrivalRate float64   // λ, jobs a second

	MeanWaiting  float64 // E[W], seconds in queues, all visits of a job together
	MeanSlowdown float64 // E[S] = E[W/X], seconds a unit of work; 0 if NoSlowdown
	MeanResponse float64 // E[T] = E[W] + E[work done for a job, lost runs too, each at the speed of its host], seconds
	MeanStretch  float64 // E[T/X] = E[S] + E[time in service/X], lost runs too, seconds a unit of work; 0 if NoSlowdown
	Lost         float64 // Σ_{i<h} s_i P(X > s_i), the mean work a job loses to kills
	Excess       float64 // λ Σ_{i<h} s_i P(X > s_i)/v_i, the load that lost work adds: Σ_i ρ_i is that without kills and this
	NoSlowdown   bool    // E[1/X] is infinite, or beyond float64, and with it E[S], E[T/X] and E[S_1]
	Hosts        []Host
}

// ErrUnstable is wrapped by the error for cutoffs that overload a host. It is [num.ErrUnstable], that of all theories.
var ErrUnstable = num.ErrUnstable

// An UnstableError names the first host whose load is not below 1.
type UnstableError struct {
	Host      int // 0-based
	Load      float64
	Undecided bool // the load may be below 1: rounding hides it
}

func (e *UnstableError) Error() string {
	if e.Undecided {
		return fmt.Sprintf("tags: host %d has load %v within rounding, which leaves open whether it is below 1: want a load below 1", e.Host+1, e.Load)
	}
	return fmt.Sprintf("tags: host %d has load %v: want a load below 1", e.Host+1, e.Load)
}

func (e *UnstableError) Unwrap() error { return ErrUnstable }

// ErrInfeasible is wrapped by the error for a model for which no cutoffs keep every host below load 1.
var ErrInfeasible = errors.New("tags: no cutoffs keep every host below load 1")

// An InfeasibleError tells at which loads there would be cutoffs.
type InfeasibleError struct {
	Load    float64 // that of the model
	MaxLoad float64 // cutoffs exist for the loads below
}

func (e *InfeasibleError) Error() string {
	return fmt.Sprintf("tags: no cutoffs keep every host below load 1 at system load %v: want a load below %.12g", e.Load, e.MaxLoad)
}

func (e *InfeasibleError) Unwrap() error { return ErrInfeasible }

// speed returns v_i.
func (m Model) speed(i int) float64 {
	if m.Speeds == nil {
		return 1
	}
	return m.Speeds[i]
}

// capacity returns Σ_i v_i.
func (m Model) capacity() float64 {
	if m.Speeds == nil {
		return float64(m.Hosts)
	}
	var sum float64
	for _, v := range m.Speeds {
		sum += v
	}
	return sum
}

// Validate checks m but for the moments of its sizes. The error names the field, its value and the range.
func (m Model) Validate() error {
	if m.Sizes == nil {
		return input.Errorf("Sizes", "nil", "a distribution")
	}
	if !(m.Hosts >= 1 && m.Hosts <= MaxHosts) {
		return input.Errorf("Hosts", m.Hosts, "a number of hosts from 1 to %d", MaxHosts)
	}
	if !(m.Load > 0 && m.Load < 1) {
		return input.Errorf("Load", m.Load, "a number in (0, 1)")
	}
	if m.Speeds != nil && len(m.Speeds) != m.Hosts {
		return input.Errorf("Speeds", fmt.Sprintf("%d speeds", len(m.Speeds)), "one speed a host, %d", m.Hosts)
	}
	for i, v := range m.Speeds {
		if !(v >= 1e-100 && v <= 1e100) {
			return input.Errorf(fmt.Sprintf("Speeds[%d]", i), v, "a number in [1e-100, 1e100]")
		}
	}
	return m.validateFractions()
}

// CheckCutoffs accepts h-1 finite cutoffs that are at least 0 and do not fall. With a cutoff below all sizes, the host
// ends no job; with 0 it is left idle, as hosts after a cutoff at or above all sizes are.
func (m Model) CheckCutoffs(cutoffs []float64) error {
	if len(cutoffs) != m.Hosts-1 {
		return input.Errorf("Cutoffs", fmt.Sprintf("%d cutoffs", len(cutoffs)), "%d, one fewer than hosts", m.Hosts-1)
	}
	before := 0.0
	for i, s := range cutoffs {
		if !(s >= before && s <= math.MaxFloat64) {
			return input.Errorf(fmt.Sprintf("Cutoffs[%d]", i), s, "a finite number >= %v", before)
		}
		before = s
	}
	return nil
}
