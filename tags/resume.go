package tags

import (
	"math"
	"math/big"

	"productform/internal/input"
)

// A ResumeRule names the point from which a stopped job continues at the next host.
type ResumeRule string

// The rules.
const (
	ResumeRestart ResumeRule = "restart" // from scratch: TAGS of [HB02]; the same as ""
	ResumeCut     ResumeRule = "cut"     // from a checkpoint written when the job is stopped
	ResumeEvery   ResumeRule = "every"   // from the last of the checkpoints at τ, 2τ, ... units of work
)

// A Resume is a rule for jobs that are stopped at host i-1: how do they continue at host i? The
// zero value is TAGS: jobs restart from scratch. A job X > s_{i-1} > 0 then needs
//
//	Y_i = min(X, s_i) - s_{i-1} + d_i
//
// units of work at host i. The redone work and overhead d_i is s_{i-1} for restarts, c with a
// checkpoint when the job is stopped, and c + s_{i-1} - τ⌊s_{i-1}/τ⌋ with checkpoints at multiples
// of τ. There is no d for the first host that takes jobs. Writing checkpoints is free. The moments
// are
//
//	M_1 = A_1 + d P(X > a),  M_2 = A_2 + 2 d A_1 + d² P(X > a),  a = s_{i-1},
//
// with A_1 and A_2 of [productform/sizes.TailIntegrals]. The mean delay is E[W] + E[X] + Σ_{i>1}
// d_i P(X > s_{i-1}) for hosts of speed 1. Without overhead this is work-conserving migration (J.
// Broberg, Z. Tari and P. Zeephongsekul, "Task assignment with work-conserving migration", Parallel
// Computing 32, 2006). The approximation is worse than for restarts: at hosts between the first and
// the last, the true waiting time may be 0.4 V_i, or 0.
type Resume struct {
	Rule     ResumeRule
	Overhead float64 // c, work per resumed job; 0 for restarts
	Every    float64 // τ, work between checkpoints with [ResumeEvery]; otherwise 0
}

// restarts reports whether stopped jobs start from scratch.
func (r Resume) restarts() bool { return r.Rule == "" || r.Rule == ResumeRestart }

// check rejects an unknown rule and numbers out of range.
func (r Resume) check() error {
	every := r.Rule == ResumeEvery
	switch {
	case !r.restarts() && r.Rule != ResumeCut && !every:
		return input.Errorf("Resume.Rule", string(r.Rule), "%q, %q or %q", ResumeRestart, ResumeCut, ResumeEvery)
	case r.restarts() && r.Overhead != 0:
		return input.Errorf("Resume.Overhead", r.Overhead, "0 for jobs that restart from scratch")
	case !(r.Overhead >= 0 && r.Overhead <= 1e300):
		return input.Errorf("Resume.Overhead", r.Overhead, "a number in [0, 1e300]")
	case every && !(r.Every >= 1e-300 && r.Every <= 1e300):
		return input.Errorf("Resume.Every", r.Every, "a number in [1e-300, 1e300]")
	case !every && r.Every != 0:
		return input.Errorf("Resume.Every", r.Every, "0, unless checkpoints are written at multiples of it")
	}
	return nil
}

// checkpointTol is the relative distance from a multiple of τ at which a cutoff stands for it: two
// roundings.
const checkpointTol = 4e-16

// checkpoint returns the largest multiple of τ up to a. A cutoff that rounds to a multiple of τ
// stands for it.
func (r Resume) checkpoint(a float64) float64 {
	if near := r.Every * math.Round(a/r.Every); math.Abs(a-near) <= checkpointTol*a {
		return a
	}
	return min(r.Every*math.Floor(a/r.Every), a)
}

// Redone returns d for a job that is stopped at a: the work that the next host redoes, and the
// overhead.
func (r Resume) Redone(a float64) float64 {
	switch {
	case a == 0 || math.IsInf(a, 1):
		return 0
	case r.restarts():
		return a
	case r.Rule == ResumeCut:
		return r.Overhead
	}
	return r.Overhead + (a - r.checkpoint(a))
}

// offset returns a - d, 0 for restarts: the next host does min(X, b) - offset units of work.
func (r Resume) offset(a float64) float64 {
	switch {
	case a == 0 || math.IsInf(a, 1) || r.restarts():
		return 0
	case r.Rule == ResumeCut:
		return a - r.Overhead
	}
	return r.checkpoint(a) - r.Overhead
}

// leastRedone returns a lower bound on d over the cutoffs in [low, high]. Between checkpoints, d
// grows with the cutoff.
func (r Resume) leastRedone(low, high float64) float64 {
	switch {
	case r.Rule == ResumeEvery && low > 0 && r.checkpoint(low) != r.checkpoint(high):
		return r.Overhead
	}
	return r.Redone(low)
}

// growth returns the derivative of d with respect to the cutoff, between checkpoints.
func (r Resume) growth() float64 {
	if r.Rule == ResumeCut {
		return 0
	}
	return 1
}

// An ExactResume is a [Resume] of fractions. The zero value restarts jobs from scratch.
type ExactResume struct {
	Rule     ResumeRule
	Overhead *big.Rat // c; nil is 0
	Every    *big.Rat // τ; nil without checkpoints at its multiples
}

// exactResume returns the rule of m in fractions, those of its doubles unless they are given.
func (m Model) exactResume() ExactResume {
	f := Fractions{}
	if m.Fractions != nil {
		f = *m.Fractions
	}
	return ExactResume{m.Resume.Rule, ratOf(f.Overhead, m.Resume.Overhead), ratOf(f.Every, m.Resume.Every)}
}

func (r ExactResume) restarts() bool { return Resume{Rule: r.Rule}.restarts() }

// check rejects what [Resume] would reject.
func (r ExactResume) check() error {
	v := Resume{Rule: r.Rule}
	for _, x := range []struct {
		exact *big.Rat
		float *float64
	}{{r.Overhead, &v.Overhead}, {r.Every, &v.Every}} {
		if x.exact != nil {
			*x.float, _ = x.exact.Float64()
		}
	}
	return v.check()
}

// offset returns a - d, 0 for restarts: the next host does min(X, b) - offset units of work.
func (r ExactResume) offset(a *big.Rat) *big.Rat {
	offset := new(big.Rat)
	switch {
	case a.Sign() == 0 || r.restarts():
		return offset
	case r.Rule == ResumeCut:
		offset.Set(a)
	default:
		offset.Quo(a, r.Every)
		whole := new(big.Int).Quo(offset.Num(), offset.Denom())
		offset.Mul(new(big.Rat).SetInt(whole), r.Every)
	}
	if r.Overhead != nil {
		offset.Sub(offset, r.Overhead)
	}
	return offset
}

// Near returns the exact cutoff that s stands for: a multiple of τ that rounds to s, or s.
func (r ExactResume) Near(s float64) *big.Rat {
	x := new(big.Rat).SetFloat64(s)
	if r.Rule != ResumeEvery || s == 0 {
		return x
	}
	n := new(big.Rat).Quo(x, r.Every)
	n.Add(n, big.NewRat(1, 2))
	whole := new(big.Rat).SetInt(new(big.Int).Quo(n.Num(), n.Denom()))
	if multiple := whole.Mul(whole, r.Every); math.Abs(floatOf(multiple)-s) <= checkpointTol*s {
		return multiple
	}
	return x
}

func floatOf(x *big.Rat) float64 { v, _ := x.Float64(); return v }

// WorseThanRestart returns the first of the cutoffs > 0 at which d exceeds the work done so far, so
// that restarting from scratch would be better. It returns false if there is none.
func (r Resume) WorseThanRestart(cutoffs []float64) (cutoff float64, ok bool) {
	for _, s := range cutoffs {
		if s > 0 && r.Redone(s) > s {
			return s, true
		}
	}
	return 0, false
}

// setNoWaits marks the hosts at which no job ever waits. Host i-1 stops jobs at least
// q_{i-1}/v_{i-1} apart, q_i = s_i - s_{i-1} + d_i, since it works that long on each, and none
// needs more than q_i/v_i at host i. So q_i/v_i <= q_{i-1}/v_{i-1} implies that each finds host i
// free.
func (f *tagsCost) setNoWaits(r *Result, visits []visit[double]) {
	const tol = 1e-14 // rounding of the differences, relative to a cutoff
	for i := 1; i+1 < len(visits); i++ {
		before, here := &visits[i-1], &visits[i]
		slack := before.run/before.speed - here.run/here.speed
		r.Hosts[i].NoWait = before.kills && here.kills && slack >= -tol*double(r.Cutoffs[i])/here.speed
	}
}
