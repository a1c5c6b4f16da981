package whatif

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/input"
	"productform/internal/render"
	"productform/num"
)

// A Pool is one pool of equal servers, and a target for it, as texts of the page. Each job runs on
// one server, first come, first served; jobs that wait may give up.
type Pool struct {
	Servers      string `json:"servers"`
	ArrivalRate  Amount `json:"arrival_rate"`  // jobs per unit of time
	MeanSize     Amount `json:"mean_size"`     // mean service time; its unit is that of all answers
	MeanPatience Amount `json:"mean_patience"` // "" for jobs that never give up
	Within       Amount `json:"within"`        // time of the service levels, and limit of mean_waiting
	Measure      string `json:"measure"`       // name of the measure of the target
	Limit        string `json:"limit"`         // a fraction; mean_waiting ignores it
}

// An Amount is a number of units of time, or a rate per unit.
type Amount struct {
	Number string `json:"number"`
	Unit   string `json:"unit"` // s, min or h
}

// seconds are the units of time of the page.
var seconds = map[string]int64{"s": 1, "min": 60, "h": 3600}

// mostServers limits the servers of a pool, as plans do.
const mostServers = 1_000_000

// convert returns an amount in another unit. For a rate, power is -1.
func (a Amount) convert(path, unit, want string, power int) (*big.Rat, error) {
	v, err := num.ParseRat(a.Number)
	if err != nil {
		return nil, input.Errorf(path, a.Number, "%s", want)
	}
	if err := input.CheckNumber(path, v, want); err != nil {
		return nil, err
	}
	from, to := seconds[a.Unit], seconds[unit]
	if from == 0 || to == 0 {
		return nil, input.Errorf(path, a.Unit, "s, min or h")
	}
	if power < 0 {
		from, to = to, from
	}
	return v.Mul(v, big.NewRat(from, to)), nil
}

// A poolTask is a pool in numbers.
type poolTask struct {
	delays.Queue
	within *big.Rat
	target *poolMeasure
	limit  *big.Rat
}

// task reads the texts of a pool.
func (p *Pool) task() (*poolTask, error) {
	n, err := strconv.Atoi(p.Servers)
	if err != nil || n < 1 || n > mostServers {
		return nil, input.Errorf("servers", p.Servers, "an integer from 1 to %d", mostServers)
	}
	unit := p.MeanSize.Unit
	t := &poolTask{Queue: delays.Queue{Servers: n}}
	if t.ArrivalRate, err = p.ArrivalRate.convert("arrival_rate", unit, input.Positive, -1); err != nil {
		return nil, err
	}
	if t.MeanDuration, err = p.MeanSize.convert("mean_size", unit, input.Positive, 1); err != nil {
		return nil, err
	}
	if p.MeanPatience.Number != "" {
		if t.MeanPatience, err = p.MeanPatience.convert("mean_patience", unit, input.Nonnegative, 1); err != nil {
			return nil, err
		}
	}
	if t.within, err = p.Within.convert("within", unit, input.Nonnegative, 1); err != nil {
		return nil, err
	}
	for i := range poolMeasures {
		if m := &poolMeasures[i]; m.name == p.Measure && m.bound != 0 {
			t.target = m
		}
	}
	switch {
	case t.target == nil:
		return nil, input.Errorf("measure", p.Measure,
			"served, waiting, served_share, mean_waiting or abandon_probability")
	case !t.target.isTime:
		const want = "a number > 0 and < 1"
		if t.limit, err = num.ParseRat(p.Limit); err != nil || t.limit.Sign() <= 0 || t.limit.Cmp(one) >= 0 {
			return nil, input.Errorf(p.Measure, p.Limit, want)
		}
	case t.within.Sign() == 0:
		return nil, input.Errorf(p.Measure, p.Within.Number, "%s", input.Positive)
	default:
		t.limit = t.within
	}
	return t, nil
}

var one = big.NewRat(1, 1)

// abandonment is the measure of jobs that give up.
const abandonment = "abandon_probability"

// A poolMeasure is a number of a pool, under the name that it has in pfq.
type poolMeasure struct {
	name   string
	isTime bool
	bound  int // 1 if a target is a lower bound on it, -1 for an upper bound, 0 if there are no targets on it
	of     func(m *delays.Measures, w *delays.Within) arithmetic.Number
}

var poolMeasures = []poolMeasure{
	{"wait_probability", false, 0, func(m *delays.Measures, _ *delays.Within) arithmetic.Number { return m.Wait }},
	{abandonment, false, -1,
		func(m *delays.Measures, _ *delays.Within) arithmetic.Number { return m.Abandon }},
	{"mean_waiting", true, -1, func(m *delays.Measures, _ *delays.Within) arithmetic.Number { return m.Waiting }},
	{"mean_waiting_served", true, 0,
		func(m *delays.Measures, _ *delays.Within) arithmetic.Number { return m.WaitingServed }},
	{"served", false, 1, func(_ *delays.Measures, w *delays.Within) arithmetic.Number { return w.Served }},
	{"waiting", false, 1, func(_ *delays.Measures, w *delays.Within) arithmetic.Number { return w.All }},
	{"served_share", false, 1, func(_ *delays.Measures, w *delays.Within) arithmetic.Number { return w.IfServed }},
	{"utilization", false, 0,
		func(m *delays.Measures, _ *delays.Within) arithmetic.Number { return m.Utilization }},
	{"mean_queue", false, 0, func(m *delays.Measures, _ *delays.Within) arithmetic.Number { return m.Queue }},
}

// answerPool answers a question about a pool.
func answerPool(ctx context.Context, q Question) (any, error) {
	t, err := q.Pool.task()
	if err != nil {
		return nil, err
	}
	switch q.Ask {
	case "fewest":
		return fewest(ctx, t)
	case "pools":
		return poolCurve(ctx, t, q.Counts)
	case "pool line":
		return poolLines(t), nil
	case "pool":
		return solvePool(ctx, t)
	}
	return nil, input.Errorf("ask", q.Ask, "pool, fewest, pools or pool line")
}

// A PoolAnswer holds the measures of a pool under the names that they have in pfq solve, and each
// with its proved digits.
type PoolAnswer struct {
	Stable   bool          `json:"stable"`
	Load     render.Number `json:"load"` // work per unit of time, in servers
	Accuracy string        `json:"accuracy,omitempty"`
	Measures []PoolNumber  `json:"measures"` // none if unstable
}

// A PoolNumber is a measure of a pool.
type PoolNumber struct {
	Name   string  `json:"name,omitempty"`
	Value  float64 `json:"value"`
	Digits string  `json:"digits"` // at most 15, all proved
}

// poolNumber returns a measure that has no more than a relative error.
func poolNumber(name string, v num.Value, bound float64) PoolNumber {
	return PoolNumber{name, v.Float, proved(v, bound)}
}

// proved returns the digits of a number that hold for all numbers within its bounds, with zeros at
// the end unless the number is exact.
func proved(v num.Value, bound float64) string {
	const most = 15
	low, high := boundsOf(v, bound)
	if low.Cmp(high) == 0 {
		return low.Text('g', most)
	}
	for digits := most; digits > 0; digits-- {
		text := low.Text('e', digits-1)
		if text != high.Text('e', digits-1) {
			continue
		}
		_, exponent, _ := strings.Cut(text, "e")
		if places, err := strconv.Atoi(exponent); err == nil && places >= -5 && places < digits {
			return low.Text('f', digits-1-places)
		}
		return text
	}
	return ""
}

// boundsOf returns numbers around the exact value x >= 0 of v, |v - x| <= bound x unless v has its own.
func boundsOf(v num.Value, bound float64) (low, high *big.Float) {
	const prec = 128
	switch {
	case v.Exact != nil:
		x := num.FromRat(v.Exact, prec)
		return x.Low, x.High
	case v.Low != nil:
		return v.Low, v.High
	}
	x, b := num.Down(prec).SetFloat64(v.Float), num.Up(prec).SetFloat64(bound)
	unit := big.NewFloat(1)
	low = num.Down(prec).Quo(x, num.Up(prec).Add(unit, b))
	high = num.Up(prec).Quo(x, num.Down(prec).Sub(unit, b))
	return low, high
}

// load returns the mean number of servers that would be busy if there were enough.
func (t *poolTask) load() *big.Rat { return new(big.Rat).Mul(t.ArrivalRate, t.MeanDuration) }

// isLoss reports whether no job waits, as with Erlang B: jobs that find all servers busy are lost.
func (t *poolTask) isLoss() bool { return t.MeanPatience != nil && t.MeanPatience.Sign() == 0 }

// isStable reports whether some jobs give up, or less work arrives than n servers can do.
func (t *poolTask) isStable(n int) bool {
	return t.MeanPatience != nil || t.load().Cmp(new(big.Rat).SetInt64(int64(n))) < 0
}

// poolLadder climbs as pfq solve does: float64, and enclosures if that has no bound.
func poolLadder() arithmetic.Ladder {
	return arithmetic.Ladder{RelTol: num.DefaultRelTol, MaxPrec: 1 << 14}
}

// solve returns measures of a stable pool with n servers, and a bound on their relative errors.
func (t *poolTask) solve(
	ctx context.Context, n int, ladder arithmetic.Ladder, measures ...poolMeasure,
) (values []num.Value, bound float64, err error) {
	q := t.Queue
	q.Servers = n
	values, err = arithmetic.Climb(ladder, func(engine num.Engine, prec uint) ([]num.Value, float64, error) {
		l, err := delays.NewLine(ctx, q, engine, prec)
		if err != nil {
			return nil, 0, err
		}
		m, w := l.Measures(), new(delays.Within)
		isLevel := func(m poolMeasure) bool { return m.bound > 0 }
		if slices.ContainsFunc(measures, isLevel) {
			if w, err = t.levels(l, m, engine); err != nil {
				return nil, 0, err
			}
		}
		var o arithmetic.Output
		list := make([]num.Value, len(measures))
		for i := range measures {
			list[i] = o.Value(measures[i].of(m, w))
		}
		bound = o.Bound
		return list, o.Width, o.Check()
	})
	var large *num.TooLargeError
	if errors.As(err, &large) {
		bad := *large.Input
		bad.Path = "mean_patience"
		err = &bad
	}
	return values, bound, err
}

// levels returns the service levels. If no job gives up, there are fractions for the time 0 only.
func (t *poolTask) levels(l *delays.Line, m *delays.Measures, engine num.Engine) (*delays.Within, error) {
	if engine == num.Exact && t.MeanPatience == nil {
		now := m.Wait.OneMinus()
		return &delays.Within{All: now, Served: now, IfServed: now}, nil
	}
	whole, err := l.Whole()
	if err != nil {
		return nil, err
	}
	w, err := whole.Within(t.within)
	return &w, err
}

// solvePool returns the measures of a pool.
func solvePool(ctx context.Context, t *poolTask) (*PoolAnswer, error) {
	a := &PoolAnswer{
		Stable: t.isStable(t.Servers), Load: render.Rat(t.load(), render.Unproved), Measures: []PoolNumber{},
	}
	if !a.Stable {
		return a, nil
	}
	values, bound, err := t.solve(ctx, t.Servers, poolLadder(), poolMeasures...)
	if err != nil {
		return nil, err
	}
	a.Accuracy = render.OneDigitUp(bound)
	for i, v := range values {
		a.Measures = append(a.Measures, poolNumber(poolMeasures[i].name, v, bound))
	}
	return a, nil
}

// A PoolCurve holds the measure of the target for several numbers of servers.
type PoolCurve struct {
	Values []*float64 `json:"values"` // null if unstable
}

// poolCurve solves a pool with each number of servers.
func poolCurve(ctx context.Context, t *poolTask, counts []int) (*PoolCurve, error) {
	c := &PoolCurve{Values: make([]*float64, len(counts))}
	for i, n := range counts {
		if n < 1 || n > mostServers {
			return nil, input.Errorf(input.Index("counts", i), strconv.Itoa(n), "an integer from 1 to %d", mostServers)
		}
		if !t.isStable(n) {
			continue
		}
		values, _, err := t.solve(ctx, n, poolLadder(), *t.target)
		if err != nil {
			return nil, err
		}
		c.Values[i] = &values[0].Float
	}
	return c, nil
}

// poolLines returns shell commands that print the numbers of a pool, and the fewest servers.
func poolLines(t *poolTask) *Line {
	model := func(n int, indent string) string {
		patience := ""
		if t.MeanPatience != nil {
			patience = indent + "mean_patience: " + decimal(t.MeanPatience) + "\n"
		}
		return fmt.Sprintf("%[1]sservice: one\n%[2]s%[1]sservers: [{name: servers, count: %[3]d, capacity: 1}]\n"+
			"%[1]sclasses: [{name: jobs, arrival_rate: %[4]s, servers: [servers]}]\n%[1]smean_size: %[5]s\n",
			indent, patience, n, decimal(t.ArrivalRate), decimal(t.MeanDuration))
	}
	level := ""
	if t.target.bound > 0 {
		level = "within: " + decimal(t.within) + ", "
	}
	class := "class: jobs, "
	target := fmt.Sprintf("{%s%s%s: %s}", class, level, t.target.name, decimal(t.limit))
	solve := fmt.Sprintf("pfq solve - --within %s <<'END'\n%sEND\n", decimal(t.within), model(t.Servers, ""))
	plan := fmt.Sprintf("pfq plan - <<'END'\nmodel:\n%stargets: [%s]\n"+
		"upgrades: [{server: servers, count: 1, cost: 1, most: %d}]\nEND\n", model(1, "  "), target, mostServers-1)
	return &Line{solve + "\n" + plan}
}
