package sim

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/big"

	"productform/internal/input"
	"productform/sizes"
	"productform/sweep"
)

// A System is something to simulate: a [Cluster], a [Network], a [Queue], a [Farm], a [Sharing] or [Tasks].
type System interface {
	plan(s Settings) (*Plan, error)
}

// version names the random numbers and the way they are used, here and in package sizes. It is part of every key, so that
// no sample is taken for that of another version; a test of the digits of each engine tells when it must change.
const version = "productform/sim 1"

// A Plan is a system checked and made ready, with the time that each replication takes. It is not changed by
// the functions that take it, several of which may run at once.
type Plan struct {
	settings Settings // resolved
	classes  []class
	servers  []server
	system   []any                // what the system is
	hash     string               // of it, the method and the version
	jumpRate float64              // expected jumps per unit of time
	stepRate float64              // steps of the engine per unit of time, of which not all are jumps
	stepCost float64              // time of a step, in units of a fast one; 0 means 1
	laws     []sizes.Distribution // of the sizes
	order    float64              // of the moment of the sizes that the number of jobs depends on: 2 in order of arrival, 1 if shared
	time     float64              // observed in each replication
	warmUp   float64              // before
	unstable string               // the kind of system, if it is known to be and run over a horizon; else ""
	slowdown []bool               // of a farm: whether the mean slowdown is finite, by class; else nil
	pool     *taskPool            // of Tasks, else nil
	method   string
	start    func(context.Context, *stream) engine // the context stops what takes long between two steps
}

// A class is what the statistics know of a class of jobs.
type class struct {
	Name        string
	ArrivalRate float64 // λ_i
	MeanSize    float64 // σ_i
}

// A server is what the statistics know of a row of servers.
type server struct {
	Name string
	Size int
}

// NewPlan checks a system and its settings. The error names the field of the system or of s that is out of range, or wraps
// [cluster.ErrUnstable], for a farm [tags.ErrUnstable], for shared resources [traffic.ErrUnstable]: an unstable system needs a Horizon.
func NewPlan(system System, s Settings) (*Plan, error) {
	if system == nil {
		return nil, input.Errorf("system", "", "a Cluster, a Network, a Queue, a Farm, a Sharing or Tasks")
	}
	s, err := s.resolved()
	if err != nil {
		return nil, err
	}
	p, err := system.plan(s)
	if err != nil {
		return nil, err
	}
	p.settings = s
	p.time, p.warmUp = s.Jumps/p.jumpRate, s.WarmUp/p.jumpRate
	if s.Horizon > 0 {
		p.time, p.warmUp = s.Horizon, 0
	}
	p.stepRate = max(p.stepRate, p.jumpRate)
	if err := p.checkLength(); err != nil {
		return nil, err
	}
	if p.hash, err = sweep.Key(version, p.system, p.method); err != nil {
		return nil, err
	}
	return p, nil
}

// mostSteps bounds a replication: some hundred years.
const mostSteps = 1e18

// checkLength returns an error for a replication that would never end, or whose time is beyond float64.
func (p *Plan) checkLength() error {
	time := p.time + p.warmUp
	switch steps := p.stepRate * time; {
	case steps <= mostSteps && time >= 1e-300 && time <= 1e300:
		return nil
	case p.settings.Horizon > 0:
		return input.Errorf("Horizon", p.settings.Horizon, "a time of at most %g events; here they come at a rate of %g", mostSteps, p.stepRate)
	}
	return input.Errorf("Jumps", p.settings.Jumps, "a number that takes a time in [1e-300, 1e300] and at most %g steps; here a jump takes a time of %g and %g steps",
		mostSteps, 1/p.jumpRate, p.stepRate/p.jumpRate)
}

// Key returns the hash that names the sample of one replication: of the system, the lengths, the seed and the version.
func (p *Plan) Key(replication int) (string, error) {
	return sweep.Key(p.hash, p.time, p.warmUp, p.settings.Distribution, p.settings.Seed, replication)
}

// Replicate simulates one replication, numbered from 0. The same number gives the same sample, always.
func (p *Plan) Replicate(ctx context.Context, replication int) (*Sample, error) {
	key, err := sweep.Key(p.hash, p.settings.Seed, replication)
	if err != nil {
		return nil, err
	}
	var bytes [32]byte
	if _, err := hex.Decode(bytes[:], []byte(key)); err != nil {
		panic(err) // a key is a SHA-256 hash
	}
	s, err := observe(ctx, p.start(ctx, newStream(bytes)), p)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("replication %d: %w", replication, err)
	}
	return s, err
}

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
		tasks = append(tasks, sweep.Task[*Sample]{
			Key:  key,
			Cost: p.stepRate * (p.time + p.warmUp),
			Run:  func(ctx context.Context) (*Sample, error) { return p.Replicate(ctx, r) },
		})
	}
	return tasks, nil
}

// Run simulates a system, as [Plan.Run] does. The error is that of [NewPlan], too.
func Run(ctx context.Context, system System, s Settings, progress func(sweep.Progress)) (*Result, error) {
	p, err := NewPlan(system, s)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, progress)
}

// Run does Settings.Runs replications, or with Settings.Precision as many as it takes, up to Runs. progress, if not nil,
// is called after each. The result depends on the system and on the settings but for Workers and Folder, to the last digit.
//
// When ctx is done, Run returns its error, within a second unless events are very slow (a million of them may
// pass); with Settings.Folder the replications done by then are found again by the next run.
func (p *Plan) Run(ctx context.Context, progress func(sweep.Progress)) (*Result, error) {
	if p.settings.Precision > 0 {
		return p.runUntilPrecise(ctx, progress)
	}
	results, err := RunAll(ctx, []*Plan{p}, sweep.Settings{Workers: p.settings.Workers, Folder: p.settings.Folder, Progress: progress})
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// RunAll does the replications of all plans as tasks of one sweep and returns the results in the order of the plans, of which it
// does all replications; their Workers and Folder do not count. What several plans have in common is simulated once.
func RunAll(ctx context.Context, plans []*Plan, s sweep.Settings) ([]*Result, error) {
	var tasks []sweep.Task[*Sample]
	places := make(map[string]int) // of the tasks, by key
	keys := make([][]string, len(plans))
	for k, p := range plans {
		own, err := p.tasks(ctx, 0, p.settings.Runs)
		if err != nil {
			return nil, err
		}
		for _, t := range own {
			keys[k] = append(keys[k], t.Key)
			if _, known := places[t.Key]; !known {
				places[t.Key] = len(tasks)
				tasks = append(tasks, t)
			}
		}
	}
	samples, err := sweep.Run(ctx, tasks, s)
	if err != nil {
		return nil, err
	}
	results := make([]*Result, len(plans))
	for k, p := range plans {
		var own []*Sample
		for _, key := range keys[k] {
			own = append(own, samples[places[key]])
		}
		results[k] = p.summarize(own)
	}
	return results, nil
}

// firstRuns is the number of replications after which the precision is looked at first; then whenever
// their number has doubled, so that it does not depend on the number of cores.
const firstRuns = 10

func (p *Plan) runUntilPrecise(ctx context.Context, progress func(sweep.Progress)) (*Result, error) {
	var samples []*Sample
	var before sweep.Progress // at the end of the lots done
	s := sweep.Settings{Workers: p.settings.Workers, Folder: p.settings.Folder}
	for want := min(firstRuns, p.settings.Runs); ; want = min(2*want, p.settings.Runs) {
		tasks, err := p.tasks(ctx, len(samples), want)
		if err != nil {
			return nil, err
		}
		last := before
		s.Progress = func(now sweep.Progress) {
			last = now
			last.Done, last.Reused, last.Total = before.Done+now.Done, before.Reused+now.Reused, before.Total+now.Total
			last.Elapsed += before.Elapsed
			if progress != nil {
				progress(last)
			}
		}
		more, err := sweep.Run(ctx, tasks, s)
		if err != nil {
			return nil, err
		}
		before = last
		samples = append(samples, more...)
		if r := p.summarize(samples); r.PrecisionMet || want == p.settings.Runs {
			return r, nil
		}
	}
}

// rateOf returns a rate or capacity in float64, or an error if it is positive and out of range.
func rateOf(path string, exact *big.Rat) (float64, error) {
	v, _ := exact.Float64()
	if exact.Sign() > 0 && !(v >= 1e-300 && v <= 1e300) {
		return 0, input.Errorf(path, exact.RatString(), "0 or a number in [1e-300, 1e300]")
	}
	return v, nil
}

// checkRate returns an error if a rate computed from the model is beyond float64: rates and sizes are too far apart.
func checkRate(path string, v float64) error {
	if !(v >= 0 && v <= 1e300) {
		return input.Errorf(path, fmt.Sprint(v), "rates of all events that sum to at most 1e300")
	}
	return nil
}
