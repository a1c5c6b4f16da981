package sim

import (
	"context"
	"encoding/hex"
	"fmt"

	"productform/internal/input"
	"productform/sweep"
)

// version identifies the random numbers and their use, here and in package sizes: all digits depend
// on it. Tests of the digits of each engine (simtest.Golden) show when it must change.
const version = "productform/sim 1"

// sampleFormat identifies the format of a stored [Sample]. It is part of the name under which
// samples are stored, so formats are never confused. Samples with delays also have delayFormat in
// their names.
const sampleFormat = "productform/sim sample 3"

const delayFormat = "delays in bins of 1/1024"

// A Plan is a checked system with the time that each replication takes. Functions that take it do
// not modify it and may run concurrently.
type Plan struct {
	Description
	settings Settings // settings with defaults filled in
	hash     string   // hash of the system, the method and the version
	time     float64  // observed time of each replication
	warmUp   float64  // time before that
}

// NewPlan checks a system and its settings. The error names the field of the system or of s that is
// out of range, or wraps [num.ErrUnstable]: an unstable system needs a Horizon. Once ctx is done,
// NewPlan returns its error promptly.
func NewPlan(ctx context.Context, system System, s Settings) (*Plan, error) {
	if system == nil {
		return nil, input.Errorf("system", "", "a system to simulate, such as a cluster")
	}
	s, err := s.resolved()
	if err != nil {
		return nil, err
	}
	d, err := system.Describe(ctx, Observation{OverHorizon: s.Horizon > 0, Delays: len(s.Levels) > 0})
	if err != nil {
		return nil, err
	}
	p := &Plan{Description: *d, settings: s}
	p.time, p.warmUp = s.Jumps/p.JumpRate, s.WarmUp/p.JumpRate
	if s.Horizon > 0 {
		p.time, p.warmUp = s.Horizon, 0
	}
	p.StepRate = max(p.StepRate, p.JumpRate)
	if err := p.checkLength(); err != nil {
		return nil, err
	}
	if p.hash, err = sweep.Key(version, p.Identity, p.Method); err != nil {
		return nil, err
	}
	return p, nil
}

// mostSteps is the maximum number of steps of a replication, about a hundred years of computing.
const mostSteps = 1e18

// checkLength returns an error for a replication that would never end, or whose time exceeds the
// range of float64.
func (p *Plan) checkLength() error {
	time := p.time + p.warmUp
	switch steps := p.StepRate * time; {
	case steps <= mostSteps && time >= 1e-300 && time <= 1e300:
		return nil
	case p.settings.Horizon > 0:
		return input.Errorf("Horizon", p.settings.Horizon,
			"a time of at most %g events; here they come at a rate of %g",
			mostSteps, p.StepRate)
	}
	return input.Errorf("Jumps", p.settings.Jumps,
		"a number that takes a time in [1e-300, 1e300] and at most %g steps; here a jump takes a time of %g and "+
			"%g steps",
		mostSteps, 1/p.JumpRate, p.StepRate/p.JumpRate)
}

// Key returns the hash that names the sample of one replication. It covers the system, the lengths,
// the seed, the version, and how the processor rounds, so samples of processors that round
// differently are not mixed.
func (p *Plan) Key(replication int) (string, error) {
	parts := []any{
		sampleFormat, sweep.Arithmetic(), p.hash, p.time, p.warmUp, p.settings.Distribution,
		p.settings.Seed, replication,
	}
	if len(p.settings.Levels) > 0 {
		parts = append(parts, delayFormat)
	}
	if p.Format != "" {
		parts = append(parts, p.Format)
	}
	return sweep.Key(parts...)
}

// Replicate simulates one replication, numbered from 0. The same number always gives the same
// sample.
func (p *Plan) Replicate(ctx context.Context, replication int) (*Sample, error) {
	key, err := sweep.Key(p.hash, p.settings.Seed, replication)
	if err != nil {
		return nil, err
	}
	var bytes [32]byte
	if _, err := hex.Decode(bytes[:], []byte(key)); err != nil {
		panic(err) // cannot fail: a key is a SHA-256 hash
	}
	s, err := p.observe(ctx, p.Start(ctx, NewStream(bytes)))
	if err != nil && ctx.Err() == nil {
		return nil, &ReplicationError{replication, err}
	}
	return s, err
}

// A ReplicationError is the error of one replication of a run.
type ReplicationError struct {
	Replication int   // its number, from 0
	Err         error // the cause
}

func (e *ReplicationError) Error() string {
	return fmt.Sprintf("replication %d: %v", e.Replication, e.Err)
}
func (e *ReplicationError) Unwrap() error { return e.Err }

// tasks returns the replications from..to-1 as tasks.
func (p *Plan) tasks(ctx context.Context, from, to int) ([]sweep.Task[*Sample], error) {
	tasks := make([]sweep.Task[*Sample], 0, to-from)
	for r := from; r < to; r++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		key, err := p.Key(r)
		if err != nil {
			return nil, err
		}
		if p.Unnamed != "" {
			key = "" // another function would have the same key
		}
		tasks = append(tasks, sweep.Task[*Sample]{
			Key:       key,
			Cost:      p.StepRate * (p.time + p.warmUp),
			Run:       func(ctx context.Context) (*Sample, error) { return p.Replicate(ctx, r) },
			ReadsBack: true, // a sample is plain data
		})
	}
	return tasks, nil
}
