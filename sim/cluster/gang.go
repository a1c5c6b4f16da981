package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"productform/cluster"
	"productform/dispatch/rigid"
	"productform/internal/file"
	"productform/internal/input"
	"productform/num"
	"productform/sim"
)

// The policies of clusters whose jobs hold several servers at once ([cluster.Gang]), besides [FCFS],
// under which a job that does not fit blocks all jobs behind it. Only ServerFilling interrupts jobs.
// FCFS and FirstFit suit any resources, the others one row of servers.
const (
	FirstFit Policy = "first-fit" // the job that arrived first among those that fit starts
	// the first waiting job has a reservation at the earliest time at which enough servers are free if
	// jobs take their requested times; others may start if that does not delay it ([rigid.EASY])
	EASY Policy = "easy"
	// each job gets a reservation when it arrives, the earliest that delays no earlier one
	// ([rigid.Conservative])
	Conservative Policy = "conservative"
	// of the jobs that fit, the one with the largest need starts; ties go to the first to arrive
	MostServersFirst Policy = "most-servers-first"
	// the shortest prefix of the jobs present that needs all servers is served, largest needs first;
	// if needs are powers of two that divide the number of servers, no server is idle while jobs wait.
	// Jobs that are interrupted keep the work done (I. Grosof, M. Harchol-Balter and A.
	// Scheller-Wolf, "WCFS: a new framework for analyzing multiserver systems", Queueing Systems
	// 102, 2022, 143–174)
	ServerFilling Policy = "server-filling"
)

var gangPolicies = []Policy{FCFS, FirstFit, EASY, Conservative, MostServersFirst, ServerFilling}

// baselines are the policies of package rigid.
var baselines = map[Policy]rigid.Policy{
	EASY:         {Order: rigid.FCFS, Backfill: rigid.EASY},
	Conservative: {Order: rigid.FCFS, Backfill: rigid.Conservative},
}

// HasRequests reports whether the policy uses requested times.
func (p Policy) HasRequests() bool { return p == EASY || p == Conservative }

// checkGangPolicy checks the name of a policy of clusters whose jobs hold several servers at once.
func (p Policy) checkGangPolicy() error {
	if slices.Contains(gangPolicies, p) {
		return nil
	}
	names := PolicyNames(cluster.Gang)
	return input.Errorf("Policy", string(p), "one of %s with service gang%s", strings.Join(names, ", "),
		file.DidYouMean(string(p), slices.Values(names), strings.Clone))
}

// checkGang checks whether the policy suits the needs of the classes, and the requested times.
func (c Cluster) checkGang() error {
	if c.Model.Service != cluster.Gang || !c.Policy.HasRequests() {
		if c.Requests != (rigid.Requests{}) {
			return input.Errorf("Requests", fmt.Sprintf("%+v", c.Requests),
				"none, except under the policies easy and conservative with service gang")
		}
	}
	if c.Model.Service != cluster.Gang {
		return nil
	}
	if err := c.Model.RequireNoTimeouts(); err != nil {
		return input.Inside("Model", err)
	}
	if err := c.Requests.Check(); err != nil {
		return input.Inside("Requests", err)
	}
	if c.Policy == FCFS || c.Policy == FirstFit {
		return nil
	}
	row := c.Model.Classes[0].Needs[0].Server
	for _, class := range c.Model.Classes {
		for _, need := range class.Needs {
			if need.Server != row {
				return input.Errorf("Policy", string(c.Policy),
					"fcfs or first-fit for several resources, here %s and %s; the other policies need one row of "+
						"servers",
					input.Quote(c.Model.Servers[row].Name), input.Quote(c.Model.Servers[need.Server].Name))
			}
		}
		n, all := class.Needs[0].Choose, c.Model.Servers[row].Size()
		if c.Policy == ServerFilling && (bits.OnesCount(uint(n)) != 1 || all%n != 0) {
			return input.Errorf("Policy", string(c.Policy),
				"a policy other than server-filling, which requires needs that are powers of two and divide the "+
					"number of servers, %d: class %s needs %d", all, input.Quote(class.Name), n)
		}
	}
	return nil
}

// A gangSystem is a cluster whose jobs hold several servers at once, in the form that its engine
// uses. It is not modified.
type gangSystem struct {
	*flat
	policy   Policy
	horizon  bool
	requests rigid.Requests
	needs    [][]cluster.Choice // by class
	lane     []uint32           // by class: the queue in which its jobs wait
	lanes    []gangLane         // queues, largest needs first under MostServersFirst and ServerFilling
}

// A gangLane describes a queue: jobs with the same needs or, under FCFS, all jobs.
type gangLane struct {
	class int // any class whose jobs wait here
	need  int // servers of a job, if there is one row of servers
}

// describeGang describes a cluster whose jobs hold several servers at once.
func (c Cluster) describeGang(o sim.Observation) (*sim.Description, error) {
	limit := c.Model.LimitOfWork()
	if limit.IsExceeded() && !o.OverHorizon {
		return nil, &cluster.UnstableError{
			Classes: limit.Classes, Names: c.Model.NamesOf(limit.Classes), ArrivalRate: limit.ArrivalRate,
			Capacity: limit.Limit,
		}
	}
	f, err := c.flattenGang()
	if err != nil {
		return nil, err
	}
	y := &gangSystem{flat: f, policy: c.Policy, horizon: o.OverHorizon, requests: c.Requests}
	for _, class := range c.Model.Classes {
		y.needs = append(y.needs, class.Needs)
	}
	y.addLanes()
	d := &sim.Description{
		Method: "calendar of events", Classes: f.classes, Visits: f.waitingRows(), VisitTimes: "waiting times",
		Servers: f.rows, Identity: f.system, JumpRate: 2 * f.totalRates, StepCost: 10 + float64(len(y.lanes))/4,
		Moments: f.moments(2), Measures: y.measures, Warnings: y.warnings,
		Start: func(ctx context.Context, r *sim.Stream) sim.Engine { return newGangCalendar(ctx, y, r) },
	}
	if limit.IsExceeded() {
		d.Unstable = "cluster"
	}
	return d, sim.CheckRate("Model", d.JumpRate)
}

// flattenGang lists the rows of servers and the classes.
func (c Cluster) flattenGang() (*flat, error) {
	model := []any{"mean size " + num.OrOne(c.Model.MeanSize).RatString()}
	f := &flat{}
	for _, row := range c.Model.Servers {
		f.rows = append(f.rows, sim.Server{Name: row.Name, Size: row.Size()})
		model = append(model, row.Size())
	}
	for _, row := range c.Model.Classes {
		class := []any{row.ArrivalRate.RatString(), row.Needs}
		if row.MeanSize != nil {
			class = append(class, row.MeanSize.RatString())
		}
		model = append(model, class)
	}
	f.system = []any{"gang", model, c.Sizes.String(), c.Policy}
	if c.Requests != (rigid.Requests{}) {
		f.system = append(f.system, c.Requests)
	}
	return f, c.addClasses(f)
}

// addLanes determines the queues.
func (y *gangSystem) addLanes() {
	known := make(map[string]uint32)
	for i, needs := range y.needs {
		key := ""
		if y.policy != FCFS {
			sorted := slices.SortedFunc(slices.Values(needs), func(a, b cluster.Choice) int {
				return cmp.Compare(a.Server, b.Server)
			})
			key = fmt.Sprint(sorted)
		}
		at, ok := known[key]
		if !ok {
			at = uint32(len(y.lanes))
			known[key] = at
			y.lanes = append(y.lanes, gangLane{i, needs[0].Choose})
		}
		y.lane = append(y.lane, at)
	}
	if y.policy == FCFS || y.policy == FirstFit {
		return
	}
	order := make([]uint32, len(y.lanes))
	for k := range order {
		order[k] = uint32(k)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(y.lanes[b].need, y.lanes[a].need) })
	lanes, place := make([]gangLane, len(order)), make([]uint32, len(order))
	for k, old := range order {
		lanes[k], place[old] = y.lanes[old], uint32(k)
	}
	for i, old := range y.lane {
		y.lane[i] = place[old]
	}
	y.lanes = lanes
}

// maxIdleZ is the |z| above which servers do less work than arrives, which chance does in 1 of 30,000
// runs.
const maxIdleZ = 4

// warnings reports that servers do less work than arrives, since a policy may be unstable far below
// the limit of work.
func (y *gangSystem) warnings(r *sim.Result) (list []string) {
	for k, row := range y.rows {
		work := 0.0
		for i, class := range y.classes {
			for _, need := range y.needs[i] {
				if need.Server == k {
					work += class.ArrivalRate * float64(need.Choose) * class.MeanSize
				}
			}
		}
		if busy := r.Server(k, MeanBusy); busy.Z(work) < -maxIdleZ {
			list = append(list, fmt.Sprintf("the cluster looks unstable under the policy %s: the jobs that arrive "+
				"would keep %.6g of %s busy, but only %.6g are, so the number of jobs grows, and means are those of "+
				"these runs only",
				y.policy, work, input.Quote(row.Name), busy.Mean))
		}
	}
	return list
}

// MeanBusy is the mean number of busy servers of a row, or the mean amount of a resource in use.
const MeanBusy = "mean_busy"

// measures returns the measures of a run.
func (y *gangSystem) measures(s *sim.Samples) []sim.Measure {
	list := append(s.Jobs(), s.Utilizations(sim.OfServer)...)
	for k, row := range y.rows {
		busy := s.Estimate(func(one *sim.Sample) float64 { return one.Busy[k] }).Scaled(float64(row.Size))
		list = append(list, sim.Measure{
			Name: MeanBusy, Kind: sim.OfServer, Index: k, Of: row.Name, Unit: "servers", Estimate: busy,
		})
	}
	return append(list, y.waitMeasures(s, y.horizon, false)...)
}
