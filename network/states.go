package network

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"productform/internal/arithmetic"
	"productform/internal/eventqueue"
	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/recursion"
	"productform/network/internal/convolution"
	"productform/num"
)

// A StateResult is a state of the network: the number of jobs of each class at each station, in any
// order.
type StateResult struct {
	Name        string      `json:"state"`       // "cpu: 2 a, 1 b; disk: 1 a", or "empty"
	Probability num.Value   `json:"probability"` // long-run probability
	Jobs        []StateJobs `json:"jobs"`        // by station and class, only nonzero numbers
}

// StateJobs holds the jobs of one class at one station in one state.
type StateJobs struct {
	Station      string `json:"station"` // its name
	Name         string `json:"class"`   // as in the model
	Class, Visit int    `json:"-"`       // Model.Classes[Class].Visits[Visit]
	Jobs         int    `json:"jobs"`    // at least one

	// DepartureRate is the rate at which jobs of the class leave the station in this state, on
	// average over their orders. DepartureProbability is its fraction of the rates of all classes
	// there: the probability that the next job to leave the station has this class, if no job
	// arrives earlier.
	DepartureRate        num.Value `json:"departure_rate"`
	DepartureProbability num.Value `json:"departure_probability"`
}

// Limits on the search for the most likely states.
const (
	mostStates      = 10_000  // states in the result
	mostOfStation   = 1 << 20 // states of one station to examine
	mostPairs       = 1 << 26 // pairs of populations of a station and of the previous stations
	negligible      = 1000    // log2 of the ratio of probabilities beyond which a state may be omitted
	tailBits        = 1088    // precision of the total weight of states that are not visited
	bytesOfChoice   = 32
	firstOpenJobs   = 8
	bytesOfOneState = 200
)

// A choice is a state of the first few stations with given populations: a state of the last of
// them, and a choice for the previous ones.
type choice struct {
	log    float64 // log2 of its weight
	at     int     // populations at the last station, as an index of its box
	rank   int     // row of the state there
	before int     // row of the choice for the previous stations
}

// likely adds the most likely states. It works station by station: for each population, the most
// likely choices for the stations so far combine with the states of the next station.
func (a *answer) likely(ctx context.Context, all []stationMeasure) error {
	stations := a.visitedFirst()
	populations := lattice.LastFastest(a.Most)
	if err := a.checkSearch(stations, populations); err != nil {
		return err
	}
	choices := [][]choice{{{}}} // for the stations so far, by population
	var levels [][][]choice
	var found []*stationStates
	for n, i := range stations {
		s, err := a.statesOf(ctx, i)
		if err != nil {
			return err
		}
		next := make([][]choice, populations.States)
		for m := range next {
			if m == len(next)-1 || n+1 < len(stations) && a.isVisited(stations[n+1]) {
				if err := ctx.Err(); err != nil {
					return err
				}
				next[m] = s.extend(populations, m, choices, a.request.States)
			}
		}
		found, levels, choices = append(found, s), append(levels, next), next
	}
	states := make([][][]int, 0, a.request.States) // by station, for each state
	for r := range choices[len(choices)-1] {
		x, m := make([][]int, len(stations)), populations.States-1
		for n := len(stations) - 1; n >= 0; n-- {
			c := levels[n][m][r]
			x[stations[n]] = found[n].at[c.at][c.rank].x
			m -= populations.Number(found[n].box.Point(c.at))
			r = c.before
		}
		states = append(states, x)
	}
	return a.writeStates(ctx, states, all)
}

// visitedFirst returns all stations, starting with those that closed chains visit.
func (a *answer) visitedFirst() (stations []int) {
	for i := range a.System.Stations {
		if a.isVisited(i) {
			stations = append(stations, i)
		}
	}
	return append(stations, a.Apart...)
}

func (a *answer) isVisited(i int) bool { return !slices.Contains(a.Apart, i) }

// checkSearch rejects a search that takes too long, or too much memory.
func (a *answer) checkSearch(stations []int, populations lattice.Box) error {
	points, pairs := lattice.Size(a.Most), 0.0
	for _, i := range stations {
		of := 1.0
		for axis, n := range a.Most {
			of *= float64(n) + 1
			if a.visits(i, axis) {
				of *= (float64(n) + 2) / 2
			}
		}
		pairs += of
	}
	bytes := points * float64(len(stations)*a.request.States) * bytesOfChoice
	if pairs <= mostPairs && bytes <= float64(a.request.MaxBytes) {
		return nil
	}
	bad := input.Errorf("States", a.request.States, "fewer, or a smaller network: the search takes %.3g pairs of "+
		"populations, of at most %d, and keeps %.4g MiB, of at most %d", pairs, mostPairs, bytes/(1<<20),
		a.request.MaxBytes>>20)
	return &num.TooLargeError{Input: bad, States: points, Bytes: bytes, Limit: a.request.MaxBytes,
		Instead: []num.Remedy{num.Simulation}}
}

// visits reports whether the chain of an axis visits station i.
func (a *answer) visits(i, axis int) bool {
	return len(a.Order) > 0 && a.System.Stations[i].Demand[a.Order[axis]].Sign() > 0
}

// stationStates holds the most likely states of a station, by the populations of closed chains
// there.
type stationStates struct {
	box lattice.Box // populations, 0 for chains that do not visit the station
	at  [][]stationState
}

// A stationState holds the numbers of jobs by visit.
type stationState struct {
	log float64 // log2 of its weight
	x   []int
}

// logOf returns the logarithm of a weight to base 2, rounded so that equal weights have equal
// logarithms in each engine.
func logOf(w arithmetic.Number) float64 {
	const unit = 0x1p-36
	return math.Round(w.Log2()/unit) * unit
}

// extend returns the most likely choices with population m for a station and the previous ones,
// given the choices for the previous ones.
func (s *stationStates) extend(populations lattice.Box, m int, before [][]choice, most int) (list []choice) {
	upTo := populations.Point(m)
	for k, n := range s.box.Limits {
		upTo[k] = min(upTo[k], n)
	}
	var queue eventqueue.Queue[choice] // ordered by -log
	from := func(c choice) []choice {
		if rest := m - populations.Number(s.box.Point(c.at)); rest < len(before) {
			return before[rest]
		}
		return nil
	}
	push := func(c choice) {
		if of := from(c); c.before < len(of) && c.rank < len(s.at[c.at]) {
			c.log = of[c.before].log + s.at[c.at][c.rank].log
			queue.Push(-c.log, c)
		}
	}
	within, n := lattice.LastFastest(upTo), make([]int, len(upTo))
	for {
		push(choice{at: s.box.Number(n)})
		if within.Next(n) < 0 {
			break
		}
	}
	for len(queue) > 0 && len(list) < most {
		c := queue.Pop().Item
		list = append(list, c)
		next := c
		next.rank++
		push(next)
		if c.rank == 0 {
			c.before++
			push(c)
		}
	}
	return list
}

// statesOf returns the most likely states of station i.
func (a *answer) statesOf(ctx context.Context, i int) (*stationStates, error) {
	st := &a.System.Stations[i]
	limits := make([]int, len(a.Most))
	for axis, n := range a.Most {
		if a.visits(i, axis) {
			limits[axis] = n
		}
	}
	s := &stationStates{box: lattice.LastFastest(limits)}
	s.at = make([][]stationState, s.box.States)
	if st.Load.Sign() == 0 {
		_, err := a.visit(ctx, i, s, 0, nil)
		return s, err
	}
	if jobs, ok := a.rising(i); ok && !a.isVisited(i) {
		list, err := a.climbDown(ctx, i, jobs)
		s.at[0] = list
		return s, err
	}
	search := *a
	search.one = arithmetic.One(num.Enclose, tailBits)
	whole, err := search.wholes(ctx, i, limits)
	if err != nil {
		return nil, err
	}
	for open := firstOpenJobs; ; open *= 2 {
		clear(s.at)
		done, err := search.visit(ctx, i, s, open, whole)
		if err != nil || done {
			return s, err
		}
	}
}

// rising returns a number of jobs at station i, if there is one, above which every state is at most
// as likely as some state with one fewer job. As F(x) μ(x) = Σ_c w_c F(x-e_c), it suffices that the
// work of the classes present is at most μ(x).
func (a *answer) rising(i int) (jobs int, ok bool) {
	st := &a.System.Stations[i]
	if sh := st.Shared; sh != nil {
		box, y := lattice.LastFastest(sh.Most), make([]int, len(sh.Most))
		for box.Next(y) >= 0 {
			work, n, full := new(big.Rat), 0, false
			for c, k := range sh.Kinds {
				if y[c] > 0 {
					work.Add(work, k.Work)
				}
				n, full = n+y[c], full || y[c] == sh.Most[c]
			}
			if work.Cmp(sh.Rate(y)) > 0 {
				if full {
					return 0, false
				}
				jobs = max(jobs, n)
			}
		}
		return jobs, true
	}
	if st.Totals.Delay != nil {
		n := new(big.Rat).Quo(st.Load, st.Totals.Delay)
		if n.Cmp(big.NewRat(mostOfStation, 1)) > 0 {
			return mostOfStation, true
		}
		x, _ := n.Float64()
		return int(x), true
	}
	for n, rate := range st.Totals.Alone {
		if rate.Cmp(st.Load) < 0 {
			jobs = n + 1
		}
	}
	return jobs, true
}

// climbDown returns the most likely states of station i, which no closed chain visits. It starts
// with all states of up to a number of jobs, and adds the states with one more job than a known
// state. If a known state is at the end of the table, it restarts with a larger table.
func (a *answer) climbDown(ctx context.Context, i, jobs int) (list []stationState, err error) {
	st := &a.System.Stations[i]
	most, some := make([]int, len(st.Visits)), 0
	for v, of := range st.Visits {
		if of.Work.Sign() > 0 {
			most[v], some = max(jobs, 1), some+1
		}
	}
	for {
		if st.Shared != nil {
			err = a.checkStates(i, lattice.Size(most))
		} else if err = a.checkStates(i, float64(jobs)); err == nil { // C(jobs + some, some) increases with both
			err = a.checkStates(i, math.Exp(lgamma(jobs+some)-lgamma(jobs)-lgamma(some)))
		}
		if err != nil {
			return nil, err
		}
		weight, err := a.weights(ctx, i, most)
		if err != nil {
			return nil, err
		}
		var queue eventqueue.Queue[stationState] // ordered by -log
		seen := map[string]bool{}
		push := func(x []int) {
			if key := fmt.Sprint(x); !seen[key] {
				seen[key] = true
				s := stationState{logOf(weight(x)), slices.Clone(x)}
				queue.Push(-s.log, s)
			}
		}
		for w, more := lattice.Walk(lattice.NewSimplex(len(most), jobs)), true; more; more = w.Next() {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(most, func(n int) bool { return n == 0 }) || fits(w.X, most) {
				push(w.X)
			}
		}
		larger := slices.Clone(most)
		for list = nil; len(queue) > 0 && len(list) < a.request.States; {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s := queue.Pop().Item
			list = append(list, s)
			for v := range s.x {
				if s.x[v] < most[v] {
					s.x[v]++
					push(s.x)
					s.x[v]--
				} else if most[v] > 0 {
					larger[v] = 2 * most[v]
				}
			}
		}
		if slices.Equal(larger, most) {
			return list, nil
		}
		most = larger
	}
}

// fits reports whether x <= most.
func fits(x, most []int) bool {
	for v, n := range x {
		if n > most[v] {
			return false
		}
	}
	return true
}

// lgamma returns log n!.
func lgamma(n int) float64 {
	x, _ := math.Lgamma(float64(n) + 1)
	return x
}

// checkStates rejects a search among too many states of station i.
func (a *answer) checkStates(i int, states float64) error {
	if states <= mostOfStation {
		return nil
	}
	bad := input.Errorf("States", a.request.States, "fewer, or a smaller network: station %s has %.3g states or more "+
		"that may be among the most likely; the search takes at most %d",
		input.Quote(a.model.Stations[i].Name), states, mostOfStation)
	return &num.TooLargeError{Input: bad, States: states, Bytes: bytesOfOneState * states,
		Limit: bytesOfOneState * mostOfStation, Instead: []num.Remedy{num.Simulation}}
}

// visit visits the states of station i with at most the number open of open jobs; whole holds the
// sums of the weights of all states. It reports whether the omitted states are negligible.
func (a *answer) visit(
	ctx context.Context, i int, s *stationStates, open int, whole []arithmetic.Number,
) (bool, error) {
	st := &a.System.Stations[i]
	axis, most := a.Axes(), make([]int, len(st.Visits))
	for v, of := range st.Visits {
		switch {
		case of.Work.Sign() == 0:
		case of.K < 0:
			most[v] = open
		default:
			most[v] = s.box.Limits[axis[of.K]]
		}
	}
	if err := a.checkStates(i, lattice.Size(most)); err != nil {
		return false, err
	}
	weight, err := a.weights(ctx, i, most)
	if err != nil {
		return false, err
	}
	box, x, n := lattice.LastFastest(most), make([]int, len(most)), make([]int, len(a.Most))
	seen := recursion.Fill(&recursion.Cancellation{Ctx: ctx}, a.one.Zero(), s.box.States)
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		clear(n)
		inside, jobs := true, 0
		for v, of := range st.Visits {
			if of.K < 0 {
				jobs += x[v]
			} else {
				n[axis[of.K]] += x[v]
				inside = inside && n[axis[of.K]] <= s.box.Limits[axis[of.K]]
			}
		}
		if inside && jobs <= open {
			at, w := s.box.Number(n), weight(x)
			seen[at] = seen[at].Add(w)
			s.add(at, stationState{logOf(w), slices.Clone(x)}, a.request.States)
		}
		if box.Next(x) < 0 {
			break
		}
	}
	return whole == nil || s.isComplete(whole, seen, a.request.States), nil
}

// add keeps a state if it is one of the most likely with its populations; of equally likely states
// it keeps the earlier one.
func (s *stationStates) add(at int, state stationState, most int) {
	list := s.at[at]
	k, _ := slices.BinarySearchFunc(list, state, func(a, b stationState) int {
		if a.log >= b.log {
			return -1
		}
		return 1
	})
	if k == most {
		return
	}
	if list = slices.Insert(list, k, state); len(list) > most {
		list = list[:most]
	}
	s.at[at] = list
}

// isComplete reports whether, for each population, all states that were not visited are together
// less likely than the last kept state, or negligible compared with the first.
func (s *stationStates) isComplete(whole, seen []arithmetic.Number, most int) bool {
	for at, list := range s.at {
		rest := new(big.Float).Sub(whole[at].Interval.High, seen[at].Interval.Low)
		if len(list) == 0 || rest.Sign() <= 0 { // there are no states if a chain visits the station only with work 0
			continue
		}
		left := arithmetic.Number{Interval: num.Interval{Low: rest, High: rest}}.Log2()
		if left >= list[0].log-negligible && (len(list) < most || left >= list[len(list)-1].log) {
			return false
		}
	}
	return true
}

// wholes returns the sum of the weights of the states of station i by the populations there, nil if
// no open class visits it.
func (a *answer) wholes(ctx context.Context, i int, limits []int) ([]arithmetic.Number, error) {
	st := &a.System.Stations[i]
	if st.Load.Sign() == 0 {
		return nil, nil
	}
	if st.Shared != nil {
		order, most := a.Order, limits
		if len(order) == 0 {
			most = nil
		}
		t, err := st.Shared.Tabulate(ctx, order, most, a.one)
		if err != nil {
			return nil, err
		}
		return t.Values(ctx)
	}
	whole := a.one.Rational(num.OrOne(st.Totals.Scale))
	if st.Totals.Delay != nil {
		whole = a.one.Quo(a.exponential(new(big.Rat).Quo(st.Load, st.Totals.Delay)))
	}
	total, factors := 0, make([][]arithmetic.Number, len(limits))
	for axis, most := range limits {
		work := new(big.Rat)
		if most > 0 {
			work = st.Demand[a.Order[axis]]
		}
		total, factors[axis] = total+most, a.powers(work, most)
	}
	orders := a.orders(st.Totals, st.Totals.Rates, total)
	box := lattice.LastFastest(limits)
	list := make([]arithmetic.Number, box.States)
	for at := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list[at], total = whole, 0
		for axis, n := range box.Point(at) {
			list[at], total = list[at].Mul(factors[axis][n]), total+n
		}
		list[at] = list[at].Mul(orders[total])
	}
	return list, nil
}

// powers returns w^n/n! for n = 0, ..., most.
func (a *answer) powers(w *big.Rat, most int) []arithmetic.Number {
	list, by := []arithmetic.Number{a.one}, a.one.Rational(w)
	for n := 1; n <= most; n++ {
		list = append(list, list[n-1].Mul(by).Quo(a.one.Integer(n)))
	}
	return list
}

// orders returns n!/Π_{j<=n} α(j) for n = 0, ..., most, at the rates of a station or with Delay.
func (a *answer) orders(t *convolution.Totals, rates []*big.Rat, most int) []arithmetic.Number {
	list := []arithmetic.Number{a.one}
	for n := 1; n <= most; n++ {
		x := list[n-1]
		if t.Delay != nil {
			x = x.Quo(a.one.Rational(t.Delay))
		} else {
			x = x.Mul(a.one.Integer(n)).Quo(a.one.Rational(rates[min(n, len(rates))-1]))
		}
		list = append(list, x)
	}
	return list
}

// weights returns a function that gives the weight of station i with x <= most jobs by visit: Φ(x)
// Π_v w_v^x_v, where Φ counts the orders of classes that the station does not distinguish.
func (a *answer) weights(ctx context.Context, i int, most []int) (func(x []int) arithmetic.Number, error) {
	st := &a.System.Stations[i]
	total, factors := 0, make([][]arithmetic.Number, len(most))
	for v, n := range most {
		total, factors[v] = total+n, a.powers(st.Visits[v].Work, n)
	}
	split := func(w arithmetic.Number, x []int) arithmetic.Number {
		for v, n := range x {
			if n > 0 {
				w = w.Mul(factors[v][n])
			}
		}
		return w
	}
	sh := st.Shared
	if sh == nil {
		orders := a.orders(st.Totals, st.Totals.Alone, total)
		return func(x []int) arithmetic.Number {
			jobs := 0
			for _, n := range x {
				jobs += n
			}
			return split(orders[jobs], x)
		}, nil
	}
	kinds := make([]int, len(sh.Kinds))
	for c, k := range sh.Kinds {
		for _, v := range k.Visits {
			kinds[c] += most[v]
		}
		if k.K >= 0 {
			kinds[c] = min(kinds[c], a.System.Chains[a.System.Closed[k.K]].Population)
		}
	}
	phi, err := sh.Balance(ctx, kinds, a.one)
	if err != nil {
		return nil, err
	}
	box, factorials := lattice.FirstFastest(kinds), []arithmetic.Number{a.one}
	for n := 1; n <= slices.Max(append(kinds, 0)); n++ {
		factorials = append(factorials, factorials[n-1].Mul(a.one.Integer(n)))
	}
	y := make([]int, len(kinds))
	return func(x []int) arithmetic.Number {
		orders := a.one
		for c, k := range sh.Kinds {
			y[c] = 0
			for _, v := range k.Visits {
				y[c] += x[v]
			}
			orders = orders.Mul(factorials[y[c]])
		}
		return split(orders.Mul(phi[box.Number(y)]), x)
	}, nil
}

// writeStates adds states, given by station and visit, to the result with their probabilities.
func (a *answer) writeStates(ctx context.Context, states [][][]int, all []stationMeasure) error {
	scale, resting := a.one, new(big.Rat) // factor of products of weights: scale e^-resting
	switch {
	case len(a.Order) > 0 && a.AreEqual():
		sum, err := a.EqualSum(ctx, a.one)
		if err != nil {
			return err
		}
		scale = scale.Quo(sum)
	case len(a.Order) > 0:
		scale = scale.Quo(a.measures.Sum)
	}
	weights := make([]func(x []int) arithmetic.Number, len(a.System.Stations))
	for i := range weights {
		st := &a.System.Stations[i]
		switch {
		case st.Shared != nil && !a.isVisited(i):
			scale = scale.Mul(all[i].empty)
		case st.Shared != nil:
		case st.Totals.Delay != nil:
			resting.Add(resting, new(big.Rat).Quo(st.Load, st.Totals.Delay))
		default:
			scale = scale.Quo(a.one.Rational(st.Totals.Scale))
		}
		most := make([]int, len(st.Visits))
		for _, s := range states {
			for v, n := range s[i] {
				most[v] = max(most[v], n)
			}
		}
		var err error
		if weights[i], err = a.weights(ctx, i, most); err != nil {
			return err
		}
	}
	none := a.exponential(resting)
	for _, s := range states {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, p, names := StateResult{Jobs: []StateJobs{}}, scale, []string(nil)
		for i, x := range s {
			w := weights[i](x)
			p = p.Mul(w)
			jobs, name := a.departures(i, x, w, weights[i])
			if r.Jobs = append(r.Jobs, jobs...); name != "" {
				names = append(names, name)
			}
		}
		r.Name, r.Probability = strings.Join(names, "; "), a.value(timesMixed(p, none), true)
		if names == nil {
			r.Name = "empty"
		}
		a.result.LikelyStates = append(a.result.LikelyStates, r)
	}
	return nil
}

// departures returns the jobs x of station i, whose weight is w = F(x), with their departure rates:
// r F(x-e_v)/w for visit v with ratio r.
func (a *answer) departures(
	i int, x []int, w arithmetic.Number, weight func(x []int) arithmetic.Number,
) (list []StateJobs, name string) {
	st, x := &a.System.Stations[i], slices.Clone(x)
	rates, sum := make([]arithmetic.Number, len(x)), a.one.Zero()
	var words []string
	for v, n := range x {
		if n == 0 {
			continue
		}
		x[v]--
		rates[v] = a.one.Rational(st.Visits[v].Ratio).Mul(weight(x)).Quo(w)
		x[v]++
		sum = sum.Add(rates[v])
	}
	for v, n := range x {
		if n == 0 {
			continue
		}
		of := st.Visits[v]
		jobs := StateJobs{Station: a.model.Stations[i].Name, Name: a.model.Classes[of.Class].Name, Class: of.Class,
			Visit: of.Visit, Jobs: n, DepartureRate: a.value(rates[v], false),
			DepartureProbability: a.value(rates[v].Quo(sum), true)}
		list, words = append(list, jobs), append(words, fmt.Sprint(n, " ", jobs.Name))
	}
	if list != nil {
		name = a.model.Stations[i].Name + ": " + strings.Join(words, ", ")
	}
	return list, name
}
