package logstats

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/cluster"
	"productform/dispatch/swf"
	"productform/internal/input"
)

// A Fit is a model of a log: classes of jobs that arrive as Poisson processes, with exponential
// sizes. It brings the work of the log: Σ λ_k w_k σ_k = Σ_j n_j T_j / S, up to rounding of each σ_k
// to a float64.
type Fit struct {
	Model *cluster.Model `json:"-"` // valid; its only row of servers is named cpus

	Service    cluster.Service `json:"service"`         // Gang if a job has several processors, otherwise OneServer
	Processors int             `json:"processors"`      // m, of the cluster
	Source     Source          `json:"processors_from"` // where m comes from
	Span       float64         `json:"span"`            // S, from the first submission to the last, in seconds
	Jobs       int             `json:"job_count"`       // jobs of all classes
	Empty      int             `json:"empty_count"`     // jobs left out because their run time is 0
	TooLarge   int             `json:"too_large_count"` // jobs left out because they have more than m processors
	Load       float64         `json:"load"`            // Σ λ_k w_k σ_k / m
	Classes    []ClassFit      `json:"classes"`         // one per class of the model
}

// A ClassFit is a class of a [Fit] and how well the model describes its jobs. The size of job j in
// class k is n_j T_j / w_k: its run time, if the class has jobs of one number of processors only.
type ClassFit struct {
	Name     string  `json:"name" title:"class"` // names its group, and its processors if the group has several classes
	Jobs     int     `json:"job_count"`          // N_k
	Smallest int64   `json:"min_processors"`     // smallest number of processors of its jobs
	Largest  int64   `json:"max_processors"`     // largest number of processors of its jobs
	Needs    int     `json:"needs"`              // w_k, Σ n_j T_j / Σ T_j rounded to an integer
	Rate     float64 `json:"arrival_rate"`       // λ_k = N_k / S, jobs per second
	MeanSize float64 `json:"mean_size"`          // σ_k = Σ n_j T_j / (N_k w_k), seconds
	Load     float64 `json:"load"`               // λ_k w_k σ_k / m

	// squared coefficients of variation of sizes, and of the times between submissions: 1 if they
	// are exponential; that of times is nil for one job, or if all are submitted at one time
	SizeSCV float64  `json:"size_scv"`
	GapSCV  *float64 `json:"interarrival_scv"`
	// Distance is the Kolmogorov distance of sizes from the exponential distribution with their
	// mean, max_x |P(X <= x) - (1 - e^(-x/σ_k))|, and Chance the distance that as many exponential
	// sizes exceed in 5 % of all cases; Chance is nil for fewer than five jobs
	Distance float64  `json:"exponential_distance"`
	Chance   *float64 `json:"chance_distance"`
	MeanWait *float64 `json:"waiting_mean"` // mean over the jobs in the log; nil if no waiting time is known
}

// Within a group, a number of processors has its own class if at least minFrequent jobs and one in
// frequentShare of the jobs use it.
const (
	frequentShare = 20
	minFrequent   = 20
)

// mostProcessors is the largest count of a row of servers.
const mostProcessors = 1_000_000

// FitModel returns a model of a log with the classes that by says, one of [Kinds], for a cluster of
// the given number of processors; 0 is as in [Settings].
//
// The jobs of a group are split by their processors. A number that at least a twentieth of its jobs
// and 20 jobs use has its own class, such as physics/8 for the group physics. The other jobs are in
// classes by powers of two, such as physics/9-15 for those of 9 to 16 processors without the
// frequent 16. A group with a single class keeps its name. In a class all jobs need the same number
// of processors, w_k, and their mean size keeps their work.
//
// The order of classes is that of the names of groups, then of processors. It takes O(n log n) time
// for n jobs. The error is an [*input.Error] for a kind that the log lacks, processors out of
// range, no jobs with a run time, jobs all submitted at one time, or a name that is not valid in a
// model; or the cause of the context.
func FitModel(ctx context.Context, log *Log, by string, processors int64) (*Fit, error) {
	m, source := log.capacity(processors, func() int64 { return peak(runs(log.Jobs)) })
	if m == 0 {
		return nil, input.Errorf("Processors", m, "an integer in 1..%d: the log has neither MaxProcs nor waiting times",
			mostProcessors)
	}
	if !(m >= 1 && m <= mostProcessors) {
		return nil, input.Errorf("Processors", m, "an integer in 1..%d", mostProcessors)
	}
	if err := log.checkKind(by); err != nil {
		return nil, err
	}
	f := &Fit{Processors: int(m), Source: source, Service: cluster.OneServer}
	used := f.usable(log.Jobs)
	if len(used) == 0 {
		return nil, input.Errorf("", "a log with none", "a job with a run time > 0 and at most %d processors", m)
	}
	first, last := used[0].Submit, used[len(used)-1].Submit
	if first == last {
		return nil, input.Errorf("submit time", fmt.Sprintf("%v of all jobs", first), "at least two different times")
	}
	f.Jobs, f.Span = len(used), last-first
	if slices.ContainsFunc(used, func(j *Job) bool { return j.Processors > 1 }) {
		f.Service = cluster.Gang
	}
	for _, c := range split(log, by, used) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		f.Classes = append(f.Classes, f.fitClass(c))
		f.Load += f.Classes[len(f.Classes)-1].Load
	}
	return f, f.build()
}

// checkKind rejects a kind of groups that the log lacks, and names those that it has.
func (l *Log) checkKind(by string) error {
	var has []string
	for _, kind := range Kinds() {
		if slices.ContainsFunc(l.Jobs, func(j Job) bool { return l.NameOf(kind, &j) != "" }) {
			if kind == by {
				return nil
			}
			has = append(has, kind)
		}
	}
	return input.Errorf("By", by, "one of %s, which the log has", strings.Join(has, ", "))
}

// usable returns the jobs that are fitted, in order of submission.
func (f *Fit) usable(jobs []Job) []*Job {
	var used []*Job
	for i := range jobs {
		switch j := &jobs[i]; {
		case j.RunTime == 0:
			f.Empty++
		case j.Processors > int64(f.Processors):
			f.TooLarge++
		default:
			used = append(used, j)
		}
	}
	slices.SortStableFunc(used, func(a, b *Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return used
}

// A part is the jobs of a class, in order of submission.
type part struct {
	group, name       string
	smallest, largest int64
	jobs              []*Job
}

// split returns the classes of the jobs.
func split(log *Log, by string, used []*Job) []*part {
	type key struct {
		group      string
		processors int64
	}
	of := func(j *Job) key {
		if by == Size {
			return key{Size, j.Processors}
		}
		return key{cmp.Or(log.NameOf(by, j), "unknown"), j.Processors}
	}
	counts, totals := map[key]int{}, map[string]int{}
	for _, j := range used {
		counts[of(j)]++
		totals[of(j).group]++
	}
	type class struct {
		group      string
		isFrequent bool
		largest    int64 // number of processors if it is frequent, else the end of its band
	}
	found, classes := map[class]*part{}, map[string]int{}
	var parts []*part
	for _, j := range used {
		k := of(j)
		c := class{k.group, true, k.processors}
		if n := counts[k]; n < minFrequent || n*frequentShare < totals[k.group] {
			_, high := bandOf(k.processors)
			c = class{k.group, false, high}
		}
		p := found[c]
		if p == nil {
			p = &part{group: k.group, smallest: k.processors}
			found[c], parts = p, append(parts, p)
			classes[k.group]++
		}
		p.smallest, p.largest = min(p.smallest, k.processors), max(p.largest, k.processors)
		p.jobs = append(p.jobs, j)
	}
	slices.SortFunc(parts, func(a, b *part) int {
		return cmp.Or(
			cmp.Compare(a.group, b.group), cmp.Compare(a.smallest, b.smallest), cmp.Compare(a.largest, b.largest),
		)
	})
	taken := map[string]bool{}
	for _, p := range parts {
		if p.name = p.group; classes[p.group] > 1 || by == Size {
			p.name += p.band()
		}
		for taken[p.name] { // a group may have the name of another one's class
			p.name += p.band()
		}
		taken[p.name] = true
	}
	return parts
}

// band returns the numbers of processors, as in the name of a class.
func (p *part) band() string {
	if p.smallest == p.largest {
		return fmt.Sprintf("/%d", p.smallest)
	}
	return fmt.Sprintf("/%d-%d", p.smallest, p.largest)
}

// fitClass returns the class of jobs.
func (f *Fit) fitClass(p *part) ClassFit {
	var work, times, wait float64
	known := 0
	sizes, gaps := make([]float64, len(p.jobs)), make([]float64, len(p.jobs)-1)
	for i, j := range p.jobs {
		work += j.work()
		times += j.RunTime
		sizes[i] = j.work()
		if i > 0 {
			gaps[i-1] = j.Submit - p.jobs[i-1].Submit
		}
		if j.Wait != swf.Unknown {
			known++
			wait += j.Wait
		}
	}
	n := float64(len(p.jobs))
	c := ClassFit{Name: p.name, Jobs: len(p.jobs), Smallest: p.smallest, Largest: p.largest,
		Needs: int(math.Round(work / times)), Rate: n / f.Span, SizeSCV: *scv(sizes), GapSCV: scv(gaps)}
	c.MeanSize = work / n / float64(c.Needs)
	c.Load = work / f.Span / float64(f.Processors)
	c.Distance = exponentialDistance(sizes, work/n)
	if len(sizes) >= 5 {
		chance := chanceDistance(len(sizes))
		c.Chance = &chance
	}
	if known > 0 {
		wait /= float64(known)
		c.MeanWait = &wait
	}
	return c
}

// build makes the model of the classes.
func (f *Fit) build() error {
	f.Model = &cluster.Model{Service: f.Service, Servers: []cluster.Server{{Name: "cpus", Count: f.Processors}}}
	if f.Service == cluster.OneServer {
		f.Model.Servers[0].Capacity = big.NewRat(1, 1)
	}
	for _, c := range f.Classes {
		rate := new(big.Rat).Quo(big.NewRat(int64(c.Jobs), 1), decimal(f.Span))
		row := cluster.Class{Name: c.Name, ArrivalRate: rate, MeanSize: decimal(c.MeanSize)}
		if f.Service == cluster.Gang {
			row.Needs = []cluster.Choice{{Server: 0, Choose: c.Needs}}
		} else {
			row.Servers = []cluster.Choice{{Server: 0, Choose: f.Processors}}
		}
		f.Model.Classes = append(f.Model.Classes, row)
	}
	return f.Model.Check()
}

// decimal returns the shortest decimal that reads as x.
func decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		panic("logstats: not a finite number") // Read and Analyze accept finite numbers only
	}
	return r
}

// exponentialDistance returns the Kolmogorov distance of sizes, which it sorts, from the
// exponential distribution with this mean. The distance is largest at a size or just before it.
func exponentialDistance(sizes []float64, mean float64) (distance float64) {
	slices.Sort(sizes)
	n := float64(len(sizes))
	for i, x := range sizes {
		p := -math.Expm1(-x / mean)
		distance = max(distance, p-float64(i)/n, float64(i+1)/n-p)
	}
	return distance
}

// chanceDistance returns the distance that n exponential sizes exceed in 5 % of all cases, by the
// table of M. Stephens, "EDF statistics for goodness of fit and some comparisons", Journal of the
// American Statistical Association 69, 1974, 730-737: (D - 0.2/n) (√n + 0.26 + 0.5/√n) = 1.094.
func chanceDistance(n int) float64 {
	root := math.Sqrt(float64(n))
	return 0.2/float64(n) + 1.094/(root+0.26+0.5/root)
}
