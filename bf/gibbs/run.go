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

// Progress tells how far a [Run] is.
type Progress struct {
	Done  int // sweeps of all chains
	Total int // as many as it takes by what is known so far
}

// The number of chains, and the lengths that intervals need, in autocorrelation times.
const (
	chains       = 8
	burnInTimes  = 20 // before measuring
	batchTimes   = 10 // in a batch, of all jobs
	classTimes   = 5  // in a batch, of the slowest class
	firstBurnIn  = 64 // sweeps
	firstSweeps  = 128
	mostBytes    = min(4<<30, math.MaxInt) // of all tallies
	slowestGrows = 1.25                    // factors by which a chain that is not precise yet becomes longer
	fastestGrows = 4.0
)

// Run estimates the stationary measures of a cluster under balanced fairness, which package bf
// computes: see there for what they mean, and for classes that differ in mean size. The model is
// reduced first ([cluster.Model.Reduce]).
//
// Eight chains forget their starts for twenty times their autocorrelation time at least, as they
// measure it. Then they are measured, and looked at after more and more sweeps: the numbers of
// which follow from what was measured, so that the result depends on the model and the settings but
// for Workers. With Precision they end when batches are ten autocorrelation times long and the
// interval of the mean number of jobs is short enough. Intervals are of Student's distribution over
// the 64 to 120 batches of all chains.
//
// A sweep looks, for each server of a class, at all servers of the class, those of groups that it
// draws from among them: some 60 ns for each server of a class of three. 100 classes of three
// servers out of 50 are known to 0.5 % at 0.95 of the critical load in 0.2 s of a core.
//
// The error is a *[num.InputError] for a model that does not pass [cluster.Model.Check], settings
// out of range, or a model too near to the limit of stability for doubles; a [*num.TooLargeError];
// an [*cluster.UnstableError], which wraps [num.ErrUnstable]; or that of ctx, soon after it is
// done. progress, if not nil, is called after each sweep, never twice at once. m is not modified.
func Run(ctx context.Context, m *cluster.Model, s Settings, progress func(Progress)) (*Result, error) {
	s, err := s.checked()
	if err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
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
	swept    int // and those measured

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

// advance does n sweeps of every chain.
func (r *runner) advance(ctx context.Context, n int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(cmp.Or(r.settings.Workers, runtime.GOMAXPROCS(0)))
	for _, h := range r.chains {
		g.Go(func() error { return h.run(ctx, n, r.tell) })
	}
	return g.Wait()
}

// tell counts a sweep.
func (r *runner) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Done++
	if r.progress != nil {
		r.now.Total = max(r.now.Total, r.now.Done)
		r.progress(r.now)
	}
}

// expect says how many sweeps each chain does in all, as far as that is known.
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

// measure sweeps until the precision is reached, or the sweeps asked for are done.
func (r *runner) measure(ctx context.Context) (*sample, error) {
	every := r.lawEvery()
	for _, h := range r.chains {
		h.measureFrom(every)
	}
	unit := max(every, 1)
	want := inBatches(max(cmp.Or(r.settings.Sweeps, firstSweeps), fewest*unit), unit)
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
		times := r.lacking(x)
		if times <= 1 {
			return x, nil
		}
		times = min(max(times, slowestGrows), fastestGrows)
		want = inBatches(int(math.Ceil(times*float64(r.swept))), unit)
	}
}

// batchLength returns the sweeps that a batch needs.
func (r *runner) batchLength(x *sample) float64 {
	return max(batchTimes*x.autocorrelation(r.jobs), classTimes*x.slowest())
}

// lacking returns by how much longer the chains should be: 1 if they are long enough.
func (r *runner) lacking(x *sample) float64 {
	short := r.batchLength(x) / float64(x.tallies[0].length)
	e := x.mean(r.jobs)
	if e.HalfWidth <= r.settings.Precision*e.Mean {
		return short
	}
	off := e.HalfWidth / (r.settings.Precision * e.Mean)
	return max(short, off*off)
}

// inBatches rounds a number of sweeps up to what makes fewest..2*fewest-1 batches of a power of two
// times the unit.
func inBatches(n, unit int) int {
	length := unit
	for n > (mostBatches-1)*length {
		length *= 2
	}
	return (n + length - 1) / length * length
}

// lawEvery returns after how many sweeps distributions are measured, if they are: they take about
// as long as the sweeps then.
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
