package gibbs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
)

// Progress is the progress of a [Run].
type Progress struct {
	Done  int // sweeps of all chains
	Total int // expected number, as far as known
}

// The number of chains, and the lengths that intervals need, in autocorrelation times.
const (
	chains       = 8
	burnInTimes  = 20 // before measuring
	batchTimes   = 10 // autocorrelation times of all jobs in a batch
	classTimes   = 5  // autocorrelation times of the slowest class in a batch
	firstBurnIn  = 64 // sweeps
	firstSweeps  = 128
	mostBytes    = min(4<<30, math.MaxInt) // memory limit for all tallies
	slowestGrows = 1.25                    // limits on the factor by which a chain that is not yet precise is extended
	fastestGrows = 4.0
)

// Run estimates the stationary measures of a cluster under balanced fairness. Package bf, which
// computes the same measures, defines them, including those of classes with different mean sizes.
// The model is reduced first ([cluster.Model.Reduce]).
//
// Eight chains first burn in for at least twenty times their measured autocorrelation time. Then
// they are measured and evaluated at increasing numbers of sweeps. These numbers follow from the
// measurements alone, so the result depends only on the model and the settings other than Workers.
// With Precision, the chains stop when batches are ten autocorrelation times long and the interval
// of the mean number of jobs is short enough. Intervals come from Student's distribution over the
// 64 to 120 batches of all chains.
//
// For each server of a class, a sweep visits all servers of the class, including those of groups
// that it draws from. This takes about 60 ns for each server of a class of three. At 0.95 of the
// critical load, 100 classes of three servers out of 50 reach 0.5 % in 0.2 s on one core.
//
// The error is a *[num.InputError] for a model that fails [cluster.Model.Check], for settings out
// of range, or for a model too close to the stability limit for float64. It can also be a
// [*num.TooLargeError], an [*cluster.UnstableError], which wraps [num.ErrUnstable], or ctx.Err(),
// promptly after cancellation. progress, if not nil, is called after each sweep, never
// concurrently. m is not modified.
func Run(ctx context.Context, m *cluster.Model, s Settings, progress func(Progress)) (*Result, error) {
	s, err := s.checked()
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(m.Check(), m.RequireService(cluster.AllServers), m.RequireNoTimeouts()); err != nil {
		return nil, err
	}
	p, err := newProblem(ctx, m)
	if err != nil {
		return nil, err
	}
	r, err := newRunner(p, s, progress)
	if err != nil {
		return nil, err
	}
	if err := r.burnIn(ctx); err != nil {
		return nil, err
	}
	x, err := r.measure(ctx)
	if err != nil {
		return nil, err
	}
	return r.result(x)
}

// A runner runs the chains.
type runner struct {
	*problem
	columns
	settings Settings
	chains   []*chain
	burned   int // sweeps of each chain
	swept    int // measured sweeps of each chain

	mu       sync.Mutex
	progress func(Progress)
	now      Progress
}

func newRunner(p *problem, s Settings, progress func(Progress)) (*runner, error) {
	c := newColumns(p, s)
	if bytes := 8 * float64(c.count+c.watched) * mostBatches * chains; bytes > mostBytes {
		return nil, &num.TooLargeError{Bytes: bytes, Limit: mostBytes, Input: input.Errorf("model",
			fmt.Sprintf("%d numbers to estimate", c.count),
			"fewer numbers: sums of them take %.0f MiB, and at most %d MiB", bytes/(1<<20), mostBytes>>20)}
	}
	r := &runner{problem: p, columns: c, settings: s, progress: progress}
	for k := range chains {
		r.chains = append(r.chains, newChain(p, c, s, k))
	}
	return r, nil
}

// advance runs n sweeps of every chain.
func (r *runner) advance(ctx context.Context, n int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(cmp.Or(r.settings.Workers, runtime.GOMAXPROCS(0)))
	for _, h := range r.chains {
		g.Go(func() error { return h.run(ctx, n, r.countSweep) })
	}
	return g.Wait()
}

// countSweep counts a sweep.
func (r *runner) countSweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Done++
	if r.progress != nil {
		r.now.Total = max(r.now.Total, r.now.Done)
		r.progress(r.now)
	}
}

// expect sets the expected total number of sweeps of each chain.
func (r *runner) expect(n int) { r.now.Total = n * len(r.chains) }

// burnIn sweeps until the starts are forgotten.
func (r *runner) burnIn(ctx context.Context) error {
	for n := firstBurnIn; ; n = r.burned {
		r.expect(r.burned + n + max(firstSweeps, r.settings.Sweeps))
		for _, h := range r.chains {
			h.measureFrom(0)
		}
		if err := r.advance(ctx, n); err != nil {
			return err
		}
		r.burned += n
		if float64(r.burned) >= burnInTimes*r.sample().slowest() || r.burned >= MostSweeps {
			return nil
		}
	}
}

// sample returns what the chains have measured.
func (r *runner) sample() *sample {
	tallies := make([]*tally, len(r.chains))
	for k, h := range r.chains {
		tallies[k] = h.tally
	}
	return newSample(tallies, r.jobs, r.settings.Confidence)
}

// measure sweeps until the precision or the requested number of sweeps is reached.
func (r *runner) measure(ctx context.Context) (*sample, error) {
	every := r.lawEvery()
	for _, h := range r.chains {
		h.measureFrom(every)
	}
	unit := max(every, 1)
	want := roundToBatches(max(cmp.Or(r.settings.Sweeps, firstSweeps), fewest*unit), unit)
	for {
		r.expect(r.burned + want)
		if err := r.advance(ctx, want-r.swept); err != nil {
			return nil, err
		}
		r.swept = want
		x := r.sample()
		if r.settings.Sweeps > 0 || r.swept >= MostSweeps {
			return x, nil
		}
		times := r.growthFactor(x)
		if times <= 1 {
			return x, nil
		}
		times = min(max(times, slowestGrows), fastestGrows)
		want = roundToBatches(int(math.Ceil(times*float64(r.swept))), unit)
	}
}

// batchLength returns the number of sweeps that a batch needs.
func (r *runner) batchLength(x *sample) float64 {
	return max(batchTimes*x.autocorrelation(r.jobs), classTimes*x.slowest())
}

// growthFactor returns the factor by which the chains must grow, at most 1 if they are long enough.
func (r *runner) growthFactor(x *sample) float64 {
	short := r.batchLength(x) / float64(x.tallies[0].length)
	e := x.mean(r.jobs)
	if e.HalfWidth <= r.settings.Precision*e.Mean {
		return short
	}
	off := e.HalfWidth / (r.settings.Precision * e.Mean)
	return max(short, off*off)
}

// roundToBatches rounds a number of sweeps up to fewest..2*fewest-1 batches, each a power of two
// times unit sweeps.
func roundToBatches(n, unit int) int {
	length := unit
	for n > (mostBatches-1)*length {
		length *= 2
	}
	return (n + length - 1) / length * length
}

// lawEvery returns the number of sweeps between measurements of distributions, 0 for none. It makes
// them take about as long as the sweeps.
func (r *runner) lawEvery() int {
	if r.settings.MaxJobs == 0 {
		return 0
	}
	sweep, law := 1.0, 0.0
	for _, a := range r.parts {
		stages := float64(len(a.capacity))
		sweep += 10 * stages
		for _, links := range a.links {
			sweep += 20 * float64(len(links))
		}
		for _, uses := range a.uses {
			sweep += 100 * float64(len(uses))
		}
		law += stages
		if r.settings.ByClass {
			law += stages * float64(len(a.classes))
		}
	}
	const most = 64
	return int(min(max(law*float64(r.settings.MaxJobs+1)/sweep, 1), most))
}
