package cluster

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"productform/cluster"
	"productform/internal/file"
	"productform/internal/input"
	"productform/sim"
	"productform/sizes"
)

// The policies of clusters in which a job runs on one server ([cluster.OneServer]). Under
// LongestIdle, FastestIdle, RandomIdle, Priority and PreemptivePriority a job takes an idle server,
// if there is one among its own; otherwise it waits, and a server that becomes free takes the job
// that arrived first of those that it can serve. Under JSQ, LeastWork and [Power] a job joins the
// queue of a server when it arrives, and each server works first come, first served.
const (
	LongestIdle Policy = "longest-idle" // a job takes the server that has been idle longest; "" means this policy
	FastestIdle Policy = "fastest-idle" // a job takes the fastest idle server; ties go to the one idle longest
	RandomIdle  Policy = "random-idle"  // a job takes any idle server with equal probability
	JSQ         Policy = "jsq"          // a job joins the server with the fewest jobs; ties are broken at random
	// a job joins the server that will first have done the work of the jobs before it; among idle
	// servers, the one idle longest. Jobs then start at the same times and on the same servers as
	// under LongestIdle
	LeastWork Policy = "least-work"
	// as LongestIdle, but a server takes a job of the highest priority first
	Priority Policy = "priority"
	// as Priority, but a job that finds no idle server takes one from a job of lower priority: one
	// of the lowest, and among those the last to arrive. That job keeps the work done and its place
	// in the queue; if it can take another server at once, it does
	PreemptivePriority Policy = "preemptive-priority"
)

// Power returns the policy under which a job joins the server with the fewest jobs, as with [JSQ],
// of d of its servers drawn at random. It is written power:d.
func Power(d int) Policy { return Policy(powerPrefix + strconv.Itoa(d)) }

const powerPrefix = "power:"

var (
	allPolicies = []Policy{FCFS, Interrupt, ProcessorSharing}
	onePolicies = []Policy{LongestIdle, FastestIdle, RandomIdle, JSQ, LeastWork, Priority, PreemptivePriority}
)

// PolicyNames returns the names of the policies of clusters with a service, the default first, with
// parameters in capitals.
func PolicyNames(s cluster.Service) (names []string) {
	list := allPolicies
	switch s {
	case cluster.OneServer:
		list = append(slices.Clone(onePolicies), powerPrefix+"D")
	case cluster.Gang:
		list = gangPolicies
	}
	for _, p := range list {
		names = append(names, string(p))
	}
	return names
}

// draws returns the number d of a policy power:d, 0 for another policy.
func (p Policy) draws() int {
	text, ok := strings.CutPrefix(string(p), powerPrefix)
	d, err := strconv.Atoi(text)
	if !ok || err != nil || d < 1 || d > maxServers || Power(d) != p {
		return 0
	}
	return d
}

// Check returns an error with the path Policy unless the policy is one of clusters with the
// service.
func (p Policy) Check(s cluster.Service) error {
	switch isOne := slices.Contains(onePolicies, p) || p.draws() > 0; {
	case s == cluster.Gang:
		return p.checkGangPolicy()
	case s != cluster.OneServer && slices.Contains(allPolicies, p):
		return nil
	case s != cluster.OneServer && (isOne || slices.Contains(gangPolicies, p)):
		return input.Errorf("Policy", string(p), "fcfs, interrupt or ps with service all")
	case s != cluster.OneServer:
		return input.Errorf("Policy", string(p), "fcfs, interrupt or ps")
	case isOne:
		return nil
	case strings.HasPrefix(string(p), powerPrefix):
		return input.Errorf("Policy", string(p), "power:D, D an integer from 1 to %d", maxServers)
	}
	names := PolicyNames(cluster.OneServer)
	return input.Errorf("Policy", string(p), "one of %s with service one%s", strings.Join(names, ", "),
		file.DidYouMean(string(p), slices.Values(names), strings.Clone))
}

// isCentral reports whether jobs wait in one queue rather than at the servers.
func (p Policy) isCentral() bool { return p != JSQ && p != LeastWork && p.draws() == 0 }

// HasPriorities reports whether the policy uses the priorities of classes.
func (p Policy) HasPriorities() bool { return p == Priority || p == PreemptivePriority }

// A oneSystem is a cluster in which a job runs on one server, in the form that its engine uses. It
// is not modified.
type oneSystem struct {
	*flat
	policy   Policy
	central  bool
	horizon  bool
	patience []sizes.Distribution // by class, nil entries for no limit; nil if no jobs give up
	compares int                  // servers that a job compares under a policy power:D, otherwise 0
	level    []uint32             // by class: 0 for the jobs that go first
	members  [][]uint32           // by class: its servers, if its jobs draw none, otherwise nil
	drawn    [][]chosenServers    // by class, for the others: choices among their queues
	pools    [][]uint32           // by class with members: pools of its servers, fastest first
	// by server: servers of a pool are equally fast, and the same classes have them as members
	poolOf  []uint32
	nPools  int
	links   []uint32   // by class: queues in which a job waits
	stride  uint32     // largest of links
	server  []uint32   // by queue of a single server: this server. Further queues are those of classes with members
	shared  []uint32   // by class with members, under a central policy: the queue in which its jobs wait
	queues  int        // all of them
	levelOf []uint32   // by queue
	watched [][]uint32 // by server: queues from which it takes jobs, in the order of their levels
}

// newOneSystem prepares a cluster for its engine.
func newOneSystem(c Cluster, f *flat, o sim.Observation) *oneSystem {
	y := &oneSystem{
		flat: f, policy: c.Policy, central: c.Policy.isCentral(), horizon: o.OverHorizon, patience: c.Patience,
		compares: c.Policy.draws(),
		level:    levels(c), shared: make([]uint32, len(f.classes)), watched: make([][]uint32, len(f.capacity)),
	}
	for _, chosen := range f.chosen {
		var members []uint32
		whole := true
		for _, choice := range chosen {
			whole = whole && choice.choose == len(choice.order)
			members = append(members, choice.order...)
		}
		if !whole {
			members = nil
		}
		y.members = append(y.members, members)
		links := uint32(1)
		if !whole && y.central {
			links = 0
			for _, choice := range chosen {
				links += uint32(choice.choose)
			}
		}
		y.links = append(y.links, links)
		y.stride = max(y.stride, links)
	}
	y.addPools()
	y.addQueues()
	return y
}

// levels returns the ranks of the priorities of the classes, 0 for the largest one. Without
// priorities all are 0.
func levels(c Cluster) []uint32 {
	ranks := make([]uint32, len(c.Model.Classes))
	if !c.Policy.HasPriorities() {
		return ranks
	}
	var distinct []int
	for _, class := range c.Model.Classes {
		distinct = append(distinct, -class.Priority)
	}
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	for i, class := range c.Model.Classes {
		rank, _ := slices.BinarySearch(distinct, -class.Priority)
		ranks[i] = uint32(rank)
	}
	return ranks
}

// addPools divides the servers into pools.
func (y *oneSystem) addPools() {
	users := make([][]byte, len(y.capacity)) // the classes of which a server is a member, encoded
	for i, members := range y.members {
		for _, s := range members {
			users[s] = binary.AppendUvarint(users[s], uint64(i))
		}
	}
	places := make(map[string]uint32)
	for s, key := range users {
		key = binary.BigEndian.AppendUint64(key, math.Float64bits(y.capacity[s]))
		pool, known := places[string(key)]
		if !known {
			pool = uint32(len(places))
			places[string(key)] = pool
		}
		y.poolOf = append(y.poolOf, pool)
	}
	y.nPools = len(places)
	speed := make([]float64, y.nPools)
	for s, pool := range y.poolOf {
		speed[pool] = y.capacity[s]
	}
	for _, members := range y.members {
		var own []uint32
		for _, s := range members {
			own = append(own, y.poolOf[s])
		}
		slices.Sort(own)
		own = slices.Compact(own)
		slices.SortStableFunc(own, func(a, b uint32) int { return cmp.Compare(speed[b], speed[a]) })
		y.pools = append(y.pools, own)
	}
}

// addQueues makes the queues. If jobs wait at the servers, each server has one. Otherwise classes
// of the same level with the same members have one, and a job that draws servers waits in queues of
// these, one for each level.
func (y *oneSystem) addQueues() {
	y.drawn = y.chosen
	if !y.central {
		for s := range y.capacity {
			y.server = append(y.server, uint32(s))
			y.watched[s] = []uint32{uint32(s)}
		}
		y.queues = len(y.server)
		y.levelOf = make([]uint32, y.queues)
		return
	}
	type place struct{ level, server uint32 }
	own := make(map[place]uint32)
	y.drawn = make([][]chosenServers, len(y.chosen))
	for i, chosen := range y.chosen {
		if y.members[i] != nil {
			continue
		}
		for _, choice := range chosen {
			queues := make([]uint32, len(choice.order))
			for k, s := range choice.order {
				at := place{y.level[i], s}
				id, known := own[at]
				if !known {
					id = uint32(len(y.server))
					own[at] = id
					y.server, y.levelOf = append(y.server, s), append(y.levelOf, at.level)
					y.watched[s] = append(y.watched[s], id)
				}
				queues[k] = id
			}
			y.drawn[i] = append(y.drawn[i], chosenServers{queues, choice.choose})
		}
	}
	y.queues = len(y.server)
	common := make(map[string]uint32)
	var key []byte
	for i, members := range y.members {
		if members == nil {
			continue
		}
		sorted := slices.Sorted(slices.Values(members))
		key = binary.AppendUvarint(key[:0], uint64(y.level[i]))
		for _, s := range sorted {
			key = binary.AppendUvarint(key, uint64(s))
		}
		id, known := common[string(key)]
		if !known {
			id = uint32(y.queues)
			y.queues++
			common[string(key)] = id
			y.levelOf = append(y.levelOf, y.level[i])
			for _, s := range members {
				y.watched[s] = append(y.watched[s], id)
			}
		}
		y.shared[i] = id
	}
	for _, list := range y.watched {
		slices.SortStableFunc(list, func(a, b uint32) int { return cmp.Compare(y.levelOf[a], y.levelOf[b]) })
	}
}

// describeOne describes a cluster in which a job runs on one server.
func (c Cluster) describeOne(f *flat, o sim.Observation) (*sim.Description, error) {
	y := newOneSystem(c, f, o)
	for _, p := range c.Patience {
		words := "none"
		if p != nil {
			words = p.String()
		}
		f.system = append(f.system, "patience "+words)
	}
	d := &sim.Description{
		Method: "calendar of events", Classes: f.classes, Servers: f.rows, Identity: f.system,
		JumpRate: 2 * f.totalRates, StepCost: 10 + float64(f.degree)/4, Moments: f.moments(2), Measures: y.measures,
		VisitTimes: "waiting times",
		Start:      func(_ context.Context, r *sim.Stream) sim.Engine { return newOneCalendar(y, r) },
	}
	d.Visits = f.waitingRows()
	return d, sim.CheckRate("Model", d.JumpRate)
}

// checkPatience checks the list of distributions of patience.
func (c Cluster) checkPatience() error {
	list := fmt.Sprintf("%d distributions", len(c.Patience))
	switch {
	case c.Patience == nil:
	case c.Model.Service != cluster.OneServer:
		return input.Errorf("Patience", list, "none with service %s", cmp.Or(c.Model.Service, cluster.AllServers))
	case len(c.Patience) != len(c.Model.Classes):
		return input.Errorf("Patience", list, "%d, one for each class, or none", len(c.Model.Classes))
	}
	return nil
}

// patience returns the distributions of the patience of each class, nil if no jobs give up.
func (c Cluster) patience() ([]sizes.Distribution, error) {
	list := c.Patience
	for i := range c.Model.Classes {
		mean, text := c.Model.PatienceOf(i)
		if c.Patience != nil || mean == nil {
			continue
		}
		path := "Model."
		if c.Model.Classes[i].MeanPatience != nil {
			path = input.Index("Model.classes", i) + "."
		}
		v, err := sim.RateOf(path+"mean_patience", mean)
		if err != nil {
			return nil, err
		}
		if v == 0 {
			v = 1 // any distribution
		}
		d, err := sizes.Parse(text, v)
		if err != nil {
			return nil, input.Errorf(
				path+"patience", strconv.Quote(text), "a distribution such as deterministic or erlang:2",
			)
		}
		if list == nil {
			list = make([]sizes.Distribution, len(c.Model.Classes))
		}
		if mean.Sign() == 0 {
			d = noPatience{}
		}
		list[i] = d
	}
	return list, nil
}

// noPatience is the patience of jobs that are lost if no server is idle. The other methods of a
// distribution are not used.
type noPatience struct{ sizes.Distribution }

func (noPatience) Sample(*rand.Rand) float64 { return 0 }
func (noPatience) String() string            { return "0" }

// givesUp reports whether jobs of a class give up or time out.
func (c Cluster) givesUp(class int) bool {
	if c.Patience != nil {
		return c.Patience[class] != nil
	}
	mean, _ := c.Model.PatienceOf(class)
	return mean != nil || c.Model.TimeoutOf(class) != nil
}

// endless returns a model without patience and timeouts, and without the arrivals of classes whose
// jobs give up or time out: the cluster is stable if the jobs of the others do not overload it.
func (c Cluster) endless() *cluster.Model {
	m := *c.Model.WithoutTimed()
	m.Classes = slices.Clone(m.Classes)
	for i := range m.Classes {
		if c.givesUp(i) {
			m.Classes[i].ArrivalRate = new(big.Rat)
		}
		m.Classes[i].MeanPatience, m.Classes[i].Patience = nil, ""
	}
	m.MeanPatience, m.Patience = nil, ""
	return &m
}

// maxDraws limits the ways in which the servers that a job compares can be divided among the rows
// of its class, summed over the classes.
const maxDraws = 100_000

// Compared returns the model whose jobs see only the servers that they compare under a policy
// power:d, and the class of c.Model of each of its classes: the cluster is stable if and only if
// that model is. Under other policies it is c.Model. Classes whose jobs give up have no arrivals. A
// job of a class that chooses n_r servers from row r, n = Σ_r n_r > d, compares k_r of them, Σ_r
// k_r = d, with probability Π_r C(n_r, k_r)/C(n, d). The classes of c.Model must be valid. The
// error names the policy if there are too many ways.
func (c Cluster) Compared() (m *cluster.Model, classRow []int, err error) {
	d := c.Policy.draws()
	taken := make(map[string]bool)
	from := c.Model
	for i := range c.Model.Classes {
		if c.givesUp(i) {
			from = c.endless()
			break
		}
	}
	for i, class := range from.Classes {
		taken[class.Name] = true
		classRow = append(classRow, i)
	}
	if d == 0 {
		return from, classRow, nil
	}
	copied := *from
	m, classRow = &copied, nil
	m.Classes = nil
	for i, class := range from.Classes {
		sees := 0
		for _, choice := range class.Servers {
			sees += choice.Choose
		}
		if d >= sees {
			m.Classes, classRow = append(m.Classes, class), append(classRow, i)
			continue
		}
		list := divisions(class.Servers, d, maxDraws-len(m.Classes))
		if list == nil {
			return nil, nil, input.Errorf("Policy", string(c.Policy),
				"a policy under which the jobs of all classes compare at most %d combinations of rows", maxDraws)
		}
		all := binomial(sees, d)
		for k, servers := range list {
			one := class
			if len(list) > 1 {
				one.Name = fmt.Sprintf("%s/%d", class.Name, k+1)
			}
			for len(list) > 1 && taken[one.Name] {
				one.Name += "'"
			}
			taken[one.Name] = true
			one.Servers, one.ArrivalRate = servers, new(big.Rat).Quo(class.ArrivalRate, all)
			for _, choice := range servers {
				row := slices.IndexFunc(class.Servers, func(x cluster.Choice) bool { return x.Server == choice.Server })
				one.ArrivalRate.Mul(one.ArrivalRate, binomial(class.Servers[row].Choose, choice.Choose))
			}
			m.Classes, classRow = append(m.Classes, one), append(classRow, i)
		}
	}
	return m, classRow, nil
}

// divisions returns all ways to choose a number of servers from these choices, or nil if there are
// more than most.
func divisions(from []cluster.Choice, servers, most int) (list [][]cluster.Choice) {
	after := make([]int, len(from)+1) // servers in choice k and all later ones
	for k := len(from) - 1; k >= 0; k-- {
		after[k] = after[k+1] + from[k].Choose
	}
	var some []cluster.Choice
	var divide func(k, left int)
	divide = func(k, left int) {
		switch {
		case len(list) > most || left > after[k]:
		case left == 0:
			list = append(list, slices.Clone(some))
		default:
			divide(k+1, left)
			for n := range min(from[k].Choose, left) {
				some = append(some, cluster.Choice{Server: from[k].Server, Choose: n + 1})
				divide(k+1, left-n-1)
				some = some[:len(some)-1]
			}
		}
	}
	divide(0, servers)
	if len(list) > most {
		return nil
	}
	return list
}

func binomial(n, k int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
}
