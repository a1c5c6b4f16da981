package sim

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/sizes"
)

// A System is something to simulate. Packages below this one have them: clusters, queues, farms of hosts, pools of
// resources. A new one needs nothing but this interface, in a package of its own.
type System interface {
	// Describe checks the system and tells how it is simulated. Where that takes long, it ends soon after ctx is done, with its error.
	Describe(ctx context.Context, o Observation) (*Description, error)
}

// An Observation says what runs are for.
type Observation struct {
	// OverHorizon: they are observed from their empty start for a given time, and the system may be unstable; else an unstable
	// one is an error.
	OverHorizon bool

	// Delays: each delay counts, not only their mean, so that an engine that lets time pass in its mean steps will not do.
	Delays bool
}

// A Description is a system checked and made ready to be simulated. It is not changed by the functions that take it,
// several of which may run at once.
type Description struct {
	Method   string // how the system is simulated
	Identity []any  // what it is, but for names: values that encoding/json takes. Random numbers and names of samples kept come from it
	Unnamed  string // the field that is to hold a name for what Identity cannot tell, such as a function; "" if Identity tells all. Without that name no sample is kept
	Classes  []Class
	Visits   []Class // what jobs of classes do one after another, such as visits to stations: measured as the jobs of classes are, but not jobs of their own. [Totals] hold them after the classes
	Servers  []Server

	// JumpRate is the expected number of jumps per unit of time: arrivals, ends of phases or tasks, interruptions, kills. The
	// length of a run comes from it, so that it must be that of the stationary state; where no jobs arrive, about. Over a horizon it is only the
	// least StepRate.
	JumpRate float64

	// StepRate is the expected number of steps of the engine per unit of time, of which not all are jumps; at least JumpRate is
	// taken. Over a horizon it may be a bound from above.
	StepRate float64
	StepCost float64 // time of a step over 10 ns or so, at least 1 is taken: some million such pass between two looks at the context

	Moments  []Moment // on which the estimates depend
	SizeRate float64  // sizes drawn per unit of time; 0 means one an arrival
	Unstable string   // what the system is called, if it is known to be unstable; else ""
	Counted  Counted  // what n counts in [Sample]; zero for the jobs present

	Start    func(context.Context, *Stream) Engine // the context stops what takes long between two steps
	Measures func(*Samples) []Measure              // nil means those of [Samples.Jobs] and [Samples.Utilizations]
	Warnings func(*Result) []string                // reasons of the system's own not to trust a result; nil for none
}

// A Class is a class of jobs.
type Class struct {
	Name        string  // as results show it
	ArrivalRate float64 // λ_i, jobs per unit of time
	MeanSize    float64 // σ_i, work
}

// A Server is a row of equal servers.
type Server struct {
	Name string // as results show it
	Size int    // servers
}

// A Moment holds moments of one distribution on which the estimates depend, E[X^Order] for Order 1, 2 or -1: a run must draw
// often enough to see what makes them up.
type Moment struct {
	Sizes  sizes.Distribution
	Orders []float64 // 1, 2 or -1
	Rate   float64   // drawn per unit of time; 0 means SizeRate or, if that is 0, one an arrival
	Words  string    // what is drawn, such as "vacations"; "" means sizes
	Of     string    // the class or visit that draws it, for warnings; "" if all classes draw it
}

// Counted names a list by class of Sample.Own, whose sum is the number n, and what n counts.
type Counted struct{ List, Words string }

// An Engine is a system in motion. It starts empty.
type Engine interface {
	// Advance simulates the next t units of time and adds what happens to the totals:
	//   - 1 to seen.Jumps for each event that the rate of jumps counts;
	//   - a job that comes or goes, by [Population.Change]; before it comes, or between batches of steps, [CheckJobs] finds too many;
	//   - a job that leaves, by [Totals.Leave]; or, unless each delay counts, 1 to seen.Left and the delay to seen.Sojourn;
	//   - of a server that stops, how long it worked to seen.Busy; at the end the same of those that still work, up to t;
	//   - at the end the jobs up to t, by [Population.Flush], which adds t to seen.Time, too.
	//
	// Times count from the start of the advance. At its end the engine takes t off all times that it holds, so that they lose
	// no digits in long runs. An engine that moves in equal steps may add up the same numbers in its own way, and leave a part
	// of a step to the next advance.
	//
	// The totals are new when the warm-up has ended.
	Advance(t float64, seen *Totals) error
}

// An Observer is an engine that sees more than [Totals] hold, and adds that up itself.
type Observer interface {
	Engine
	// Restart forgets what was added up so far. It is called once, when the warm-up ends: between two advances, or
	// before the first if there is no warm-up.
	Restart()
	// Observed returns what was seen since, for Sample.Own: lists of the same names and lengths in all replications. Entries
	// are means and not sums, since they are averaged over the replications; nil where nothing was seen, but never in the
	// list of [Description].Counted. The totals are those of the same time.
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

// SizesOf returns sizes of an exact mean, nil for 1, and the mean: those given, if their mean is that one to 1e-12, or
// exponential ones if none are given. The error names the path of the sizes or of the mean.
func SizesOf(given sizes.Distribution, exact *big.Rat, path, meanPath string) (d sizes.Distribution, mean float64, err error) {
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
		return nil, 0, input.Errorf(path, fmt.Sprintf("%v, of mean %v", given, own), "a distribution of the mean size of the model, %v", mean)
	}
	return given, mean, nil
}

// meanTol is the relative difference that the mean of given sizes may have, for rounding.
const meanTol = 1e-12

// CheckRate returns an error if a rate computed from the model is beyond float64: rates and sizes are too far apart.
func CheckRate(path string, v float64) error {
	if !(v >= 0 && v <= 1e300) {
		return input.Errorf(path, fmt.Sprint(v), "rates of all events that sum to at most 1e300")
	}
	return nil
}
