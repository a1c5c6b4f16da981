package sim

import (
	"context"
	"encoding/hex"
	"fmt"

	"productform/internal/input"
	"productform/sweep"
)

// A System is something to simulate: a [Cluster], a [Network] or a [Queue].
type System interface {
	plan(s Settings) (*Plan, error)
}

// version names the random numbers and the way they are used. It is part of every key, so that
// no sample is taken for that of another version.
const version = "productform/sim 1"

// A Plan is a system checked and made ready, with the time that each replication takes. It is not changed by
// the functions that take it, several of which may run at once.
type Plan struct {
	settings Settings // resolved
	classes  []class
	servers  []server
	system   []any   // what the system is
	hash     string  // of it, the method and the version
	jumpRate float64 // expected jumps per unit of time
	stepRate float64 // steps of the engine per unit of time, of which not all are jumps
	time     float64 // observed in each replication
	warmUp   float64 // before
	method   string
	start    func(*stream) engine
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

// NewPlan checks a system and its settings. The error is that of the system, or names the field of s that is out of range.
func NewPlan(system System, s Settings) (*Plan, error) {
	s, err := s.resolved()
	if err != nil {
		return nil, err
	}
	p, err := system.plan(s)
	if err != nil {
		return nil, err
	}
	p.settings = s
	p.stepRate = max(p.stepRate, p.jumpRate)
	if p.hash, err = sweep.Key(version, p.system, p.method); err != nil {
		return nil, err
	}
	p.time, p.warmUp = s.Jumps/p.jumpRate, s.WarmUp/p.jumpRate
	if s.Horizon > 0 {
		p.time, p.warmUp = s.Horizon, 0
	}
	return p, nil
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
	return observe(ctx, p.start(newStream(bytes)), p)
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

// Run simulates a system: s.Runs replications, or with s.Precision as many as it takes, up to s.Runs. progress, if not nil,
// is called now and then. The result depends on the system and on s but for Workers and Folder, to the last digit.
//
// An unstable system without Horizon is an error that wraps [cluster.ErrUnstable]. When ctx is done, Run returns its
// error within a second; with s.Folder the replications done by then are found again by the next run.
func Run(ctx context.Context, system System, s Settings, progress func(sweep.Progress)) (*Result, error) {
	p, err := NewPlan(system, s)
	if err != nil {
		return nil, err
	}
	if p.settings.Precision > 0 {
		return p.runUntilPrecise(ctx, progress)
	}
	results, err := RunAll(ctx, []*Plan{p}, sweep.Settings{Workers: s.Workers, Folder: s.Folder, Progress: progress})
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// RunAll does the replications of all plans as tasks of one sweep and returns the results in the order of the plans, whose
// Workers, Folder and Precision it leaves aside. What several plans have in common is simulated once.
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
		results[k] = p.Summarize(own)
	}
	return results, nil
}

// firstRuns is the number of replications after which the precision is looked at first; then whenever
// their number has doubled, so that it does not depend on the number of cores.
const firstRuns = 10

func (p *Plan) runUntilPrecise(ctx context.Context, progress func(sweep.Progress)) (*Result, error) {
	var samples []*Sample
	for want := min(firstRuns, p.settings.Runs); ; want = min(2*want, p.settings.Runs) {
		tasks, err := p.tasks(ctx, len(samples), want)
		if err != nil {
			return nil, err
		}
		more, err := sweep.Run(ctx, tasks, sweep.Settings{Workers: p.settings.Workers, Folder: p.settings.Folder, Progress: progress})
		if err != nil {
			return nil, err
		}
		samples = append(samples, more...)
		r := p.Summarize(samples)
		if r.PrecisionMet || want == p.settings.Runs {
			return r, nil
		}
	}
}

// checkRate returns an error if a rate computed from the model is beyond float64.
func checkRate(path string, v float64) error {
	if !(v >= 0 && v <= 1e300) {
		return input.Errorf(path, fmt.Sprint(v), "rates and sizes within 1e-300..1e300 of each other")
	}
	return nil
}
