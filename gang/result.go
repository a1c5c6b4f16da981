package gang

import (
	"math/big"

	"productform/num"
)

// Settings controls how a question is answered. The zero value means a tolerance of
// [num.DefaultRelTol].
type Settings struct {
	// Engine is Float for bounds computed in float64, or Exact for fractions. Auto, or "", takes
	// fractions if they are short, and bounds otherwise; it resorts to fractions if the bounds do
	// not decide whether the model is stable. Solve computes waits in float64 with any engine.
	Engine num.Engine

	// RelTol is the relative width at which bounds on the throughput limit are good enough, in (0,
	// 1). 0 means [num.DefaultRelTol].
	RelTol float64
}

// A Verdict is the answer to whether the queue is stable.
type Verdict string

// The verdicts.
const (
	Stable    Verdict = "stable"    // λ < λ*
	Unstable  Verdict = "unstable"  // λ >= λ*
	Undecided Verdict = "undecided" // λ lies within the bounds on λ*
)

// A Method is a way to compute the throughput limit.
type Method string

// The methods.
const (
	Convolution    Method = "convolution"     // equal mean sizes, any resources
	ProductForm    Method = "product form"    // two classes, one resource
	ValueIteration Method = "value iteration" // all others
)

// A Stability is the answer to how much load a cluster carries. Its numbers are fractions or have
// proved bounds, except for LimitDerivatives.
type Stability struct {
	Verdict Verdict    `json:"verdict"`
	Stable  *bool      `json:"stable"` // nil if undecided
	Engine  num.Engine `json:"engine"` // Float: bounds; Exact: fractions
	Method  Method     `json:"method"`
	States  int        `json:"states"` // states of the saturated chain, or of its product form; 0 with Convolution

	ArrivalRate *big.Rat `json:"arrival_rate"` // λ, of all classes, jobs per unit of time
	// λ*, at the shares of the classes, jobs per unit of time; nil if no jobs arrive
	ThroughputLimit     *num.Value `json:"throughput_limit"`
	CriticalScale       *num.Value `json:"critical_scale"`        // λ*/λ; nil if no jobs arrive
	WorkConservingLimit *num.Value `json:"work_conserving_limit"` // λ_max = n/Σ p_k w_k/μ_k; nil if no jobs arrive
	FIFOWaste           *num.Value `json:"fifo_waste" below:"1"`  // 1 - λ*/λ_max; nil if no jobs arrive

	// LimitDerivatives has one row for each class that arrives, in the order of the model; nil if they
	// are beyond the work allowed for value iteration.
	LimitDerivatives []LimitDerivative `json:"limit_derivatives"`
}

// A LimitDerivative is the derivative of the throughput limit with respect to the share of a class:
// that of λ* at the shares p + ε (e_k - p), with the shares of the other classes reduced in
// proportion. The class with the smallest one costs most. Value is a fraction if the limit is one and
// Method is Convolution. Otherwise it is a number in float64 without bounds; in tests it agrees with
// fractions to 1e-8 of the limit.
type LimitDerivative struct {
	Class string    `json:"class"` // name of the class
	Value num.Value `json:"value"` // dλ*/dε, jobs per unit of time
}

// Costliest returns the class with the smallest derivative, "" if no jobs arrive.
func (s *Stability) Costliest() string {
	name, least := "", 0.0
	for i, d := range s.LimitDerivatives {
		if i == 0 || d.Value.Float < least {
			name, least = d.Class, d.Value.Float
		}
	}
	return name
}

// An UnstableError is the error of [Solve] for a model that is unstable, or that its bounds do not
// show to be stable. It wraps [num.ErrUnstable].
type UnstableError struct{ Stability *Stability }

func (e *UnstableError) Unwrap() error { return num.ErrUnstable }

func (e *UnstableError) Error() string {
	s := e.Stability
	low, high := s.ThroughputLimit.Bounds()
	rate, limit := text(s.ArrivalRate), text(new(big.Rat).SetFloat64(num.BetweenFloats(low, high).Float))
	if s.Verdict == Undecided {
		return "undecided: the arrival rate " + rate + " is within the bounds on the limit, about " + limit
	}
	return "unstable: jobs arrive at rate " + rate + ", and at most about " + limit +
		" can start, first come, first served"
}

func text(x *big.Rat) string { return new(big.Float).SetRat(x).Text('g', 6) }
