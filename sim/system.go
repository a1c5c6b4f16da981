package sim

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/sizes"
)

// A System is something to simulate. Subpackages implement clusters, queues, farms of hosts and
// pools of resources. A new system only has to implement this interface in its own package.
type System interface {
	// Describe checks the system and returns how to simulate it. If that takes long, it returns
	// promptly once ctx is done, with its error.
	Describe(ctx context.Context, o Observation) (*Description, error)
}

// An Observation describes the purpose of the runs.
type Observation struct {
	// OverHorizon means that runs are observed from their empty start for a given time, and the
	// system may be unstable. Otherwise an unstable system is an error.
	OverHorizon bool

	// Delays means that individual delays are needed, not only their mean, so an engine must not
	// advance time in mean steps.
	Delays bool
}

// A Description is a checked system, ready to be simulated. Functions that take it do not modify it
// and may run concurrently.
type Description struct {
	Method string // how the system is simulated

	// Identity describes the system without names, by values that encoding/json accepts. Random
	// numbers and the names of stored samples derive from it.
	Identity []any

	// Unnamed is the field that must name something that Identity cannot express, such as a
	// function, or "" if Identity is complete. Without that name no sample is stored.
	Unnamed string

	Classes []Class

	// Visits are the steps of jobs, such as visits to stations. They are measured like classes but
	// are not separate jobs. [Totals] list them after the classes.
	Visits []Class

	// Format identifies rows of Visits that stored samples of the same system may lack; "" for none.
	Format string

	// VisitTimes names the times whose quantiles visits have, such as waiting times, if they are not
	// delays at stations. Warnings then show the names of visits alone.
	VisitTimes string

	Servers []Server

	// JumpRate is the expected number of jumps per unit of time: arrivals, ends of phases or tasks,
	// interruptions and kills. It determines the length of a run, so it must be the stationary
	// rate; if no jobs arrive, an approximation suffices. Over a horizon it is only a lower bound
	// on StepRate.
	JumpRate float64

	// StepRate is the expected number of engine steps per unit of time, not all of which are jumps.
	// Values below JumpRate mean JumpRate. Over a horizon it may be an upper bound.
	StepRate float64
	// time of a step in units of about 10 ns, at least 1: about a million units pass between checks
	// of the context
	StepCost float64

	Moments  []Moment // moments on which the estimates depend
	SizeRate float64  // sizes drawn per unit of time; 0 means one per arrival
	Unstable string   // a noun for the system if it is known to be unstable, otherwise ""
	Counted  Counted  // what n counts in [Sample]; zero means the jobs present

	Start    func(context.Context, *Stream) Engine // the context interrupts long computations within a step
	Measures func(*Samples) []Measure              // nil means [Samples.Jobs] and [Samples.Utilizations]
	Warnings func(*Result) []string                // additional reasons not to trust a result; nil for none
}

// A Class is a class of jobs.
type Class struct {
	Name        string  // as shown in results
	ArrivalRate float64 // λ_i, jobs per unit of time
	MeanSize    float64 // σ_i, in work
}

// A Server is a group of equal servers.
type Server struct {
	Name string // as shown in results
	Size int    // number of servers
}

// A Moment lists moments of one distribution on which the estimates depend, E[X^Order] for Order 1,
// 2 or -1. A run must draw often enough to include the values that dominate them.
type Moment struct {
	Sizes  sizes.Distribution
	Orders []float64 // 1, 2 or -1
	Rate   float64   // draws per unit of time; 0 means SizeRate or, if that is 0, one per arrival
	Words  string    // noun for the draws, such as "vacations"; "" means sizes
	Of     string    // the class or visit that draws, for warnings; "" if all classes draw
	Class  string    // the first class that draws; if set, a warning names the worst of all such moments only
}

// Counted names a list by class of Sample.Own whose sum is the number n, and a noun for what n
// counts.
type Counted struct{ List, Words string }

// An Engine advances a system through time. It starts empty.
type Engine interface {
	// Advance simulates the next t units of time and adds to the totals:
	//   - 1 to seen.Jumps for each event counted by JumpRate;
	//   - each job that arrives or departs, with [Population.Change]; before arrivals, or between
	//     batches of steps, call [CheckJobs];
	//   - each job that departs, with [Totals.Leave], or, if only mean delays are needed, 1 to
	//     seen.Left and the delay to seen.Sojourn;
	//   - when a server stops, its working time to seen.Busy; at the end, the same for servers
	//     still working, up to t;
	//   - at the end, the jobs up to t, with [Population.Flush], which also adds t to seen.Time.
	//
	// Times count from the start of the advance. At its end the engine subtracts t from all its
	// stored times, so they do not lose digits in long runs. An engine with equal steps may
	// accumulate the same numbers in its own way, and defer a fraction of a step to the next
	// advance.
	//
	// Fresh totals are passed once the warm-up has ended.
	Advance(t float64, seen *Totals) error
}

// An Observer is an engine with additional measurements beyond [Totals], which it accumulates
// itself.
type Observer interface {
	Engine
	// Restart discards everything accumulated so far. It is called once, when the warm-up ends:
	// between two advances, or before the first if there is no warm-up.
	Restart()
	// Observed returns the measurements since Restart for Sample.Own: lists of the same names and
	// lengths in all replications. Entries are means, not sums, because they are averaged over the
	// replications. An entry is nil if nothing was observed; the entries of the list named by
	// [Description].Counted must not be nil. The totals cover the same time.
	Observed(seen *Totals) (map[string][]*float64, error)
}

// RateOf returns a rate or capacity in float64, or an error if it is positive and out of range.
func RateOf(path string, exact *big.Rat) (float64, error) {
	v, _ := exact.Float64()
	if exact.Sign() > 0 && !(v >= 1e-300 && v <= 1e300) {
		return 0, input.Errorf(path, exact.RatString(), "0 or a number in [1e-300, 1e300]")
	}
	return v, nil
}

// SizesOf returns the distribution of sizes and its mean in float64. A nil exact mean means 1.
// Given sizes must have that mean to a relative tolerance of 1e-12; if none are given, sizes are
// exponential. The error names the path of the sizes or of the mean.
func SizesOf(given sizes.Distribution, exact *big.Rat, path, meanPath string) (
	d sizes.Distribution, mean float64, err error,
) {
	mean = 1
	if exact != nil {
		mean, _ = exact.Float64()
	}
	if !(mean >= 1e-100 && mean <= 1e100) {
		return nil, 0, input.Errorf(meanPath, exact.RatString(), "a number in [1e-100, 1e100]")
	}
	if given == nil {
		d, err = sizes.NewExponential(mean)
		return d, mean, err
	}
	own, err := sizes.Mean(given)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	if !(math.Abs(own-mean) <= meanTol*mean) {
		return nil, 0, input.Errorf(path, fmt.Sprintf("%v, of mean %v", given, own),
			"a distribution of the mean size of the model, %v",
			mean)
	}
	return given, mean, nil
}

// meanTol is the relative tolerance on the mean of given sizes, for rounding.
const meanTol = 1e-12

// CheckRate returns an error if a rate computed from the model exceeds the range of float64 because
// rates and sizes differ too much.
func CheckRate(path string, v float64) error {
	if !(v >= 0 && v <= 1e300) {
		return input.Errorf(path, fmt.Sprint(v), "rates of all events that sum to at most 1e300")
	}
	return nil
}
