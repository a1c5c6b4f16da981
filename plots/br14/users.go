package br14

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"

	"productform/dispatch/swf"
	"productform/fluid"
	"productform/plots"
	"productform/traces"
)

// A logUser summarizes the jobs of one user in a log.
type logUser struct {
	user int64
	jobs int
	held float64 // allocated processor-seconds
	used float64 // processor-seconds of work
}

// busy returns the fraction of time that a processor of the user works.
func (u logUser) busy() float64 { return u.used / u.held }

// needs returns the needs of one node of the user for each resource, relative to its need for
// nodes, in a pool whose nodes work for the fraction busy of the time.
func (u logUser) needs(busy float64) (work, wait float64) {
	return u.busy() / busy, (1 - u.busy()) / (1 - busy)
}

// A usage summarizes the users of a log.
type usage struct {
	users   []logUser // by processor-seconds allocated, largest first
	jobs    int       // counted jobs
	idle    int       // skipped: run time or processors 0 or unknown
	unknown int       // skipped: processor time unknown
	over    int       // counted although processor time exceeds run time
}

// total returns the allocated and the used processor-seconds of all users.
func (u usage) total() logUser {
	var sum logUser
	for _, one := range u.users {
		sum.jobs, sum.held, sum.used = sum.jobs+one.jobs, sum.held+one.held, sum.used+one.used
	}
	return sum
}

// readUsage reads a log in Standard Workload Format.
func readUsage(r io.Reader) (u usage, err error) {
	byUser := make(map[int64]*logUser)
	for j, err := range swf.NewReader(r, plots.LogName).All() {
		switch {
		case err != nil:
			return u, err
		case j.RunTime <= 0 || j.Processors <= 0:
			u.idle++
		case j.CPUTime == swf.Unknown:
			u.unknown++
		default:
			one := byUser[j.User]
			if one == nil {
				one = &logUser{user: j.User}
				byUser[j.User] = one
			}
			u.jobs++
			one.jobs++
			one.held += j.RunTime * float64(j.Processors)
			one.used += j.CPUTime * float64(j.Processors)
			if j.CPUTime > j.RunTime {
				u.over++
			}
		}
	}
	for _, one := range byUser {
		u.users = append(u.users, *one)
	}
	slices.SortFunc(u.users, func(a, b logUser) int {
		return cmp.Or(cmp.Compare(b.held, a.held), cmp.Compare(a.user, b.user))
	})
	return u, nil
}

// logUsage reads the log of the catalogue.
func logUsage() (usage, error) {
	r, err := traces.Open(plots.LogName)
	if err != nil {
		return usage{}, err
	}
	u, err := readUsage(r)
	return u, errors.Join(err, r.Close())
}

// Limits of fluid-6.
const (
	shownUsers = 12
	logNodes   = 400
)

// logPool returns the pool of fluid-6: nodes, and their working and waiting times in the
// proportions over all jobs of the log. A task is one node; its needs are 1, b and 1 - b, where b
// is the fraction of time that a node of the user works.
func logPool(users []logUser, busy float64) *fluid.Pool {
	exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	p := &fluid.Pool{Resources: []fluid.Resource{
		{Name: "nodes", Capacity: big.NewRat(logNodes, 1)},
		{Name: "processor time", Capacity: exact(logNodes * busy)},
		{Name: "waiting", Capacity: exact(logNodes * (1 - busy))},
	}}
	for _, u := range users {
		b := u.busy()
		p.Jobs = append(p.Jobs, fluid.Job{Name: fmt.Sprintf("user %d", u.user),
			Demand: []*big.Rat{big.NewRat(1, 1), exact(b), exact(1 - b)}})
	}
	return p
}

// useWords holds the data for texts about a policy: the used percentage of each resource.
type useWords struct {
	Policy            string
	Nodes, Work, Wait float64
}

// logWords holds the data for texts about the jobs of the log.
type logWords struct{ Jobs, Users, Unknown, Idle, Over int }

// loggedUsers draws the allocations of the jobs of several users, one job each.
func loggedUsers(ctx context.Context, _ plots.Effort, f *plots.Figure) error {
	u, err := logUsage()
	if err != nil {
		return err
	}
	total := u.total()
	busy := total.busy()
	users := u.users[:shownUsers]
	for _, one := range users {
		if !(one.busy() > 0 && one.busy() < 1) {
			return fmt.Errorf("user %d: fraction of the time that nodes work = %v, want one in (0, 1)", one.user,
				one.busy())
		}
	}
	pool := logPool(users, busy)
	var ranks, work, wait []float64
	var names []string
	byWaiting := 0
	for k, one := range users {
		ranks = append(ranks, float64(k+1))
		b, w := one.needs(busy)
		work, wait = append(work, b), append(wait, w)
		if w > b {
			byWaiting++
		}
		names = append(names, fmt.Sprintf("%d: %d (%s %%, %s)", k+1, one.user, plots.Short(100*one.held/total.held),
			strconv.FormatFloat(one.busy(), 'f', 3, 64)))
	}
	axis := plots.Axis{Quantity: "user, by processor-seconds in the log", Min: 0.5, Max: shownUsers + 0.5, Ticks: ranks}
	needs := plots.Panel{Title: "Needs of a node relative to the pool", X: axis,
		Y: plots.Axis{Quantity: "fraction of capacity, nodes = 1", Scale: plots.Log},
		Series: []plots.Series{{Label: "processor time", Kind: plots.Points, Look: 3, X: ranks, Y: work},
			{Label: "waiting", Kind: plots.Points, Look: 2, X: ranks, Y: wait}},
		References: []plots.Reference{{Label: "nodes", Y: 1}}}
	shares := plots.Panel{Title: "Dominant share of one job per user", X: axis,
		Y: plots.Axis{Quantity: "dominant share", Max: 0.2}}
	nodes := plots.Panel{Title: "Nodes held", X: axis, Y: plots.Axis{Quantity: "nodes held", Scale: plots.Log}}
	gains := plots.Panel{Title: "Nodes held, PF over DRF", X: axis, Y: plots.Axis{Quantity: "ratio of nodes held"},
		References: []plots.Reference{{Label: "equal", Y: 1}}}
	var words []useWords
	results := make(map[fluid.Policy]*fluid.Allocation)
	for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF} {
		r, err := fluid.Allocate(ctx, pool, policy, fluid.Settings{})
		if err != nil {
			return err
		}
		results[policy] = r
		share := plots.Series{Label: policyShort(policy), Kind: plots.Points, Look: policyLook(policy), X: ranks}
		held := share
		for _, j := range r.Jobs {
			share.Y, held.Y = append(share.Y, j.DominantShare.Float), append(held.Y, j.Tasks.Float)
		}
		shares.Series, nodes.Series = append(shares.Series, share), append(nodes.Series, held)
		words = append(words, useWords{policyShort(policy), 100 * r.Resources[0].Utilization.Float,
			100 * r.Resources[1].Utilization.Float, 100 * r.Resources[2].Utilization.Float})
	}
	ratio := plots.Series{Label: "PF over DRF", Kind: plots.Points, Look: policyLook(fluid.MaxMin), X: ranks}
	for k := range ranks {
		ratio.Y = append(ratio.Y, nodes.Series[0].Y[k]/nodes.Series[1].Y[k])
	}
	gains.Series = []plots.Series{ratio}
	f.OneLegend = true
	f.Panels = []plots.Panel{needs, shares, nodes, gains}
	err = texts.Describe(f, map[string]any{
		"MoreNodes": moreNodes(results[fluid.PF], results[fluid.DRF]), "Users": shownUsers, "Policies": words,
		"Nodes":       logNodes,
		"WorkPercent": 100 * busy, "WaitPercent": 100 * (1 - busy), "ByWaiting": byWaiting, "Names": names,
		"LogWords":  plots.LogWords,
		"Log":       logWords{u.jobs, len(u.users), u.unknown, u.idle, u.over},
		"WorkNodes": logNodes * busy, "WaitNodes": logNodes * (1 - busy),
		"HeldPercent": 100 * heldBy(users) / total.held, "Busy": busy,
	}, nil)
	if err != nil {
		return err
	}
	logChecks(f, results, users, busy)
	logClaims(f, results)
	return nil
}

// moreNodes counts the users that hold more under a than under b.
func moreNodes(a, b *fluid.Allocation) (n int) {
	for k, j := range a.Jobs {
		if j.Tasks.Float > b.Jobs[k].Tasks.Float {
			n++
		}
	}
	return n
}

func heldBy(users []logUser) (sum float64) {
	for _, u := range users {
		sum += u.held
	}
	return sum
}

// logChecks compares DRF with its closed form, equal dominant shares until a resource that all
// users need is full. It compares PF with a bisection for the price of waiting; the price of
// processor time follows because the total payment is the number of jobs.
func logChecks(f *plots.Figure, results map[fluid.Policy]*fluid.Allocation, users []logUser, busy float64) {
	var sums [3]float64
	var all [][2]float64
	for _, u := range users {
		work, wait := u.needs(busy)
		all = append(all, [2]float64{work, wait})
		top := max(work, wait)
		for j, need := range [3]float64{1, work, wait} {
			sums[j] += need / top
		}
	}
	share := 1 / max(sums[0], sums[1], sums[2])
	nodes := ProportionalOfTwo(logNodes, all)
	for k, u := range users {
		top := max(u.needs(busy))
		f.Checks = append(f.Checks,
			plots.SolverCheck(f.ID+"b", fmt.Sprintf("dominant share of user %d, DRF, as one over the sum of needs",
				u.user), results[fluid.DRF].Jobs[k].DominantShare.Float, share, 1e-12),
			plots.SolverCheck(f.ID+"b", fmt.Sprintf("dominant share of user %d, PF, by bisection for the price of "+
				"waiting", u.user), results[fluid.PF].Jobs[k].DominantShare.Float, nodes[k]/logNodes*top, 1e-8))
	}
}

func logClaims(f *plots.Figure, results map[fluid.Policy]*fluid.Allocation) {
	pf, drf := results[fluid.PF], results[fluid.DRF]
	sum := func(a *fluid.Allocation) (all, product float64) {
		for _, j := range a.Jobs {
			all += j.Tasks.Float
			product += math.Log(j.Tasks.Float)
		}
		return all, math.Exp(product / float64(len(a.Jobs)))
	}
	pfAll, pfMean := sum(pf)
	drfAll, drfMean := sum(drf)
	least := func(a *fluid.Allocation) float64 {
		v := math.Inf(1)
		for _, r := range a.Resources {
			v = min(v, r.Utilization.Float)
		}
		return v
	}
	f.Claims = append(f.Claims, plots.Finding(f.ID,
		"(Of the paper's abstract, on a mix of permanent jobs estimated from a log) PF offers a better "+
			"efficiency–fairness trade-off than DRF.",
		"PF uses no resource less, and holds more nodes in total.",
		fmt.Sprintf("PF holds %s nodes, DRF %s; geometric means %s and %s nodes per user. %d of %d users hold more "+
			"under PF. The least used resource is used to %s %% under PF, %s %% under DRF.",
			plots.Short(pfAll), plots.Short(drfAll), plots.Short(pfMean), plots.Short(drfMean), moreNodes(pf, drf),
			len(pf.Jobs), plots.Short(100*least(pf)), plots.Short(100*least(drf))),
		least(pf) >= least(drf)-1e-9 && pfAll >= drfAll*(1-1e-9)))
}
