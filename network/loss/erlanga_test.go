package loss_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"os"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network/loss"
	"productform/num"
)

// A patienceCase is one of testdata/patience.json, whose 30 digits an independent program computed
// from the positive series in arithmetic of many digits.
type patienceCase struct {
	Name  string
	Model struct {
		Servers      int
		MeanDuration string  `json:"mean_duration"`
		MeanPatience *string `json:"mean_patience"`
		Classes      []struct {
			ArrivalRate string `json:"arrival_rate"`
		}
	}
	Within     string
	Percentile *string
	Answer     map[string]any
}

func (c *patienceCase) queue() (*loss.Queue, loss.QueueQuestion) {
	q := &loss.Queue{
		Servers: c.Model.Servers, MeanDuration: num.Rat(c.Model.MeanDuration), ArrivalRate: new(big.Rat),
	}
	if p := c.Model.MeanPatience; p != nil {
		q.MeanPatience = num.Rat(*p)
	}
	for _, class := range c.Model.Classes {
		q.ArrivalRate.Add(q.ArrivalRate, num.Rat(class.ArrivalRate))
	}
	ask := loss.QueueQuestion{Within: []*big.Rat{num.Rat(c.Within)}}
	if c.Percentile != nil {
		ask.Levels = []*big.Rat{new(big.Rat).Quo(num.Rat(*c.Percentile), rat(100, 1))}
	}
	return q, ask
}

// The answers match the reference answers to 1e-11, and the bounds contain them.
func TestErlangAReference(t *testing.T) {
	var cases []patienceCase
	if err := json.Unmarshal(oracle.Must(os.ReadFile("testdata/patience.json")), &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		q, ask := c.queue()
		r, err := loss.ErlangA(t.Context(), q, ask, loss.FormulaSettings{})
		if c.Answer["stable"] == false {
			if !errors.Is(err, num.ErrUnstable) {
				t.Errorf("%s: error %v", c.Name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		longer, served := num.Rat(c.Answer["wait_longer"].(string)), c.Answer["wait_percentile_served"]
		check := func(name string, got num.Value, want *big.Rat) {
			t.Helper()
			w, _ := want.Float64()
			if math.Abs(got.Float-w) > 1e-11*w {
				t.Errorf("%s: %s = %v, want %v", c.Name, name, got.Float, w)
			}
		}
		for name, got := range map[string]*num.Value{
			"wait_probability": &r.WaitProbability, "abandon_probability": &r.AbandonProbability,
			"mean_wait": &r.MeanWaiting, "mean_wait_served": &r.MeanWaitingServed,
			"mean_wait_abandoned": r.MeanWaitingAbandoned, "mean_queue": &r.MeanQueue, "mean_jobs": &r.MeanJobs,
			"utilization": &r.Utilization, "served_within": &r.Within[0].ServedWithin,
		} {
			want, ok := c.Answer[name].(string)
			if ok != (got != nil) {
				t.Errorf("%s: %s is %v, want %v", c.Name, name, got, c.Answer[name])
			}
			if ok && got != nil {
				check(name, *got, num.Rat(want))
			}
		}
		check("P(W <= t)", r.Within[0].WaitWithin, new(big.Rat).Sub(rat(1, 1), longer))
		if served != nil {
			check("percentile", r.Percentiles[0].Waiting, num.Rat(served.(string)))
		}
	}
}

// drawQueue draws a queue and a question.
func drawQueue(t *rapid.T) (*loss.Queue, loss.QueueQuestion) {
	fraction := func(label string, most int64) *big.Rat {
		return rat(rapid.Int64Range(1, most).Draw(t, label), rapid.Int64Range(1, 20).Draw(t, label+" over"))
	}
	q := &loss.Queue{
		Servers: rapid.IntRange(1, 12).Draw(t, "servers"), ArrivalRate: fraction("rate", 40),
		MeanDuration: fraction("duration", 6), MeanPatience: fraction("patience", 10),
	}
	ask := loss.QueueQuestion{
		Within: []*big.Rat{new(big.Rat), fraction("time", 8)},
		Levels: []*big.Rat{rat(rapid.Int64Range(1, 99).Draw(t, "level"), 100)},
	}
	return q, ask
}

// A literalQueue is a queue as a chain of the number of jobs, cut far out, in 300 bits, and the
// wait of one job behind k others as a chain of the number of jobs before it.
type literalQueue struct {
	n                        int
	lambda, out, theta       *big.Float
	weight                   []*big.Float // of N = j, normalized
	served, waited, waitedNo []*big.Float // P(served), E[W; served], E[W; gave up] by the number of jobs before it
}

func wide(x *big.Rat) *big.Float { return new(big.Float).SetPrec(300).SetRat(x) }

func newLiteralQueue(q *loss.Queue) *literalQueue {
	l := &literalQueue{n: q.Servers, lambda: wide(q.ArrivalRate)}
	mu := wide(new(big.Rat).Inv(q.MeanDuration))
	l.theta = wide(new(big.Rat).Inv(q.MeanPatience))
	l.out = new(big.Float).Mul(mu, wide(rat(int64(q.Servers), 1)))
	one, sum := wide(rat(1, 1)), wide(rat(1, 1))
	l.weight = append(l.weight, one)
	for j := 1; ; j++ {
		leave := new(big.Float).Mul(mu, wide(rat(int64(min(j, l.n)), 1)))
		leave.Add(leave, new(big.Float).Mul(l.theta, wide(rat(int64(max(0, j-l.n)), 1))))
		w := new(big.Float).Mul(l.weight[j-1], l.lambda)
		w.Quo(w, leave)
		l.weight = append(l.weight, w)
		sum.Add(sum, w)
		if j > l.n && w.MantExp(nil) < sum.MantExp(nil)-200 &&
			leave.Cmp(new(big.Float).Mul(l.lambda, wide(rat(2, 1)))) > 0 {
			break
		}
	}
	for j, w := range l.weight {
		l.weight[j] = new(big.Float).Quo(w, sum)
	}
	served, waited, waitedNo := one, wide(new(big.Rat)), wide(new(big.Rat))
	for i := 0; i+l.n < len(l.weight); i++ {
		// With i jobs before it, something happens at rate nμ + (i+1)θ: with probability θ over
		// this it gives up, otherwise it is behind i-1 jobs, or starts.
		gone := l.rateBefore(i)
		gone.Add(gone, l.theta)
		step := new(big.Float).Quo(one, gone)
		up := new(big.Float).Quo(l.theta, gone)
		p := new(big.Float).Sub(one, up)
		plus := func(x, times *big.Float) *big.Float {
			return new(big.Float).Add(x, new(big.Float).Mul(times, step))
		}
		lost := new(big.Float).Sub(one, served)
		waitedNo = new(big.Float).Add(new(big.Float).Mul(p, plus(waitedNo, lost)), new(big.Float).Mul(up, step))
		waited = new(big.Float).Mul(p, plus(waited, served))
		served = new(big.Float).Mul(p, served)
		l.served, l.waited, l.waitedNo = append(l.served, served), append(l.waited, waited),
			append(l.waitedNo, waitedNo)
	}
	return l
}

// rateBefore returns the rate at which one of i waiting jobs before a job leaves them, or a server
// becomes free.
func (l *literalQueue) rateBefore(i int) *big.Float {
	x := new(big.Float).Mul(l.theta, wide(rat(int64(i), 1)))
	return x.Add(x, l.out)
}

// sum returns the sum of P(N = n+k) f(k).
func (l *literalQueue) sum(f func(k int) *big.Float) float64 {
	sum := wide(new(big.Rat))
	for k := range l.served {
		sum.Add(sum, new(big.Float).Mul(l.weight[l.n+k], f(k)))
	}
	v, _ := sum.Float64()
	return v
}

// free returns P(N < n).
func (l *literalQueue) free() float64 {
	sum := wide(new(big.Rat))
	for _, w := range l.weight[:l.n] {
		sum.Add(sum, w)
	}
	v, _ := sum.Float64()
	return v
}

// waitDistribution returns P(W <= t) and P(served, W <= t) by uniformization of the chain of one
// job's wait.
func (l *literalQueue) waitDistribution(t float64) (all, served float64) {
	state := make([]float64, len(l.served)) // by jobs before it
	for k := range state {
		state[k], _ = l.weight[l.n+k].Float64()
	}
	theta, _ := l.theta.Float64()
	out, _ := l.out.Float64()
	rate := out + float64(len(state)+1)*theta
	var started, gone float64                                               // absorbed by the step
	poisson := oracle.Must(num.ExpInterval(big.NewFloat(-rate*t), 100)).Low // P(as many steps within t)
	for step := 0; ; step++ {
		p, _ := poisson.Float64()
		served += p * started
		all += p * (started + gone)
		if float64(step) > rate*t && p < 1e-25*(served+l.free()) {
			return all + l.free(), served + l.free()
		}
		next := make([]float64, len(state))
		for i, x := range state {
			leave := out + float64(i)*theta
			gone += x * theta / rate
			if i == 0 {
				started += x * leave / rate
			} else {
				next[i-1] += x * leave / rate
			}
			next[i] += x * (1 - (leave+theta)/rate)
		}
		state = next
		poisson = new(big.Float).Quo(new(big.Float).Mul(poisson, big.NewFloat(rate*t)), big.NewFloat(float64(step+1)))
	}
}

// The measures match those of literal chains: the number of jobs, and the jobs before one that
// waits.
func TestErlangAAgainstChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, ask := drawQueue(t)
		r, err := loss.ErlangA(ctx, q, ask, loss.FormulaSettings{})
		if err != nil {
			t.Fatal(err)
		}
		l := newLiteralQueue(q)
		one := wide(rat(1, 1))
		lambda, _ := l.lambda.Float64()
		wait := l.sum(func(int) *big.Float { return one })
		served := l.free() + l.sum(func(k int) *big.Float { return l.served[k] })
		lost := l.sum(func(k int) *big.Float { return new(big.Float).Sub(one, l.served[k]) })
		waited, waitedNo := l.sum(func(k int) *big.Float {
			return l.waited[k]
		}), l.sum(func(k int) *big.Float { return l.waitedNo[k] })
		queue := l.sum(func(k int) *big.Float { return wide(rat(int64(k), 1)) })
		busy := lambda * served * num.Nearest(q.MeanDuration)
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"P(W > 0)", r.WaitProbability.Float, wait}, {"P(gave up)", r.AbandonProbability.Float, lost},
			{"E[W]", r.MeanWaiting.Float, waited + waitedNo},
			{"E[W | served]", r.MeanWaitingServed.Float, waited / served},
			{"E[W | gave up]", r.MeanWaitingAbandoned.Float, waitedNo / lost}, {"queue", r.MeanQueue.Float, queue},
			{"jobs", r.MeanJobs.Float, queue + busy}, {"utilization", r.Utilization.Float, busy / float64(q.Servers)},
		} {
			if math.Abs(c.got-c.want) > 1e-12*c.want { // roundings of a few hundred steps, and of lost jobs
				t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
			}
		}
		if w := r.Within[0]; math.Abs(w.ServedWithin.Float-l.free()) > 1e-12*l.free() ||
			math.Abs(w.WaitWithin.Float-l.free()) > 1e-12*l.free() {
			t.Errorf("at time 0: %v", w)
		}
		all, start := l.waitDistribution(num.Nearest(ask.Within[1]))
		w := r.Within[1]
		const tol = 1e-11 // roundings of fewer than 100,000 steps
		if math.Abs(w.WaitWithin.Float-all) > tol*all || math.Abs(w.ServedWithin.Float-start) > tol*start ||
			math.Abs(w.WithinIfServed.Float-start/served) > tol*start/served {
			t.Errorf("within %v: %v, want %v and %v", ask.Within[1], w, all, start)
		}
		level := num.Nearest(ask.Levels[0])
		at := r.Percentiles[0].Waiting.Float
		switch _, start = l.waitDistribution(at); {
		case at == 0 && l.free()/served < level, at > 0 && math.Abs(start/served-level) > 1e-9:
			t.Errorf("percentile %v at level %v: %v of the served jobs", at, level, start/served)
		}
	})
}

// Enclosures and float64 with its bounds overlap in every number.
func TestErlangAEngines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, ask := drawQueue(t)
		switch rapid.IntRange(0, 9).Draw(t, "patience") {
		case 0:
			q.MeanPatience = new(big.Rat)
		case 1:
			if load := new(big.Rat).Mul(q.ArrivalRate, q.MeanDuration); load.Cmp(rat(int64(q.Servers), 1)) < 0 {
				q.MeanPatience = nil
			}
		}
		float, err := loss.ErlangA(ctx, q, ask, loss.FormulaSettings{Engine: num.Float})
		if err != nil {
			t.Fatal(err)
		}
		enclosed, err := loss.ErlangA(ctx, q, ask, loss.FormulaSettings{Engine: num.Enclose, RelTol: 1e-25})
		if err != nil {
			t.Fatal(err)
		}
		bound := float.RelativeErrorBound
		if !(bound < 1e-10) || !(enclosed.RelativeErrorBound < 2.3e-16) {
			t.Errorf("bounds %v and %v", bound, enclosed.RelativeErrorBound)
		}
		a, b := queueValues(float), queueValues(enclosed)
		for i := range a {
			if (a[i] == nil) != (b[i] == nil) {
				t.Errorf("%d: %v and %v", i, a[i], b[i])
			}
			if a[i] == nil || a[i].Float == b[i].Float {
				continue
			}
			e, ok := b[i].Interval()
			if off := math.Abs(a[i].Float - b[i].Float); !ok || e.RelWidth() > 1e-24 ||
				off > (bound+0x1p-53)*b[i].Float {
				t.Errorf("%d: %v in float64 within %v, %v in %v", i, a[i].Float, bound, b[i].Float, e)
			}
		}
		p, e := float.Percentiles[0].Waiting, enclosed.Percentiles[0].Waiting
		if p.Exact != nil || e.Exact != nil {
			if p.Float != 0 || e.Float != 0 {
				t.Errorf("percentile %v and %v", p, e)
			}
		} else if p.Low.Cmp(e.High) > 0 || p.High.Cmp(e.Low) < 0 {
			t.Errorf("percentile in [%v, %v] and [%v, %v]", p.Low, p.High, e.Low, e.High)
		}
	})
}

func queueValues(r *loss.QueueResult) []*num.Value {
	list := []*num.Value{&r.WaitProbability, &r.AbandonProbability, &r.MeanWaiting, &r.MeanWaitingServed,
		r.MeanWaitingAbandoned, &r.MeanQueue, &r.MeanJobs, &r.Utilization}
	for i := range r.Within {
		list = append(list, &r.Within[i].WaitWithin, &r.Within[i].ServedWithin, &r.Within[i].WithinIfServed)
	}
	return list
}

// With one more server fewer jobs wait or give up, and all waits are shorter, in distribution.
func TestErlangAMonotoneInServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, ask := drawQueue(t)
		var last []float64
		for range 4 {
			r, err := loss.ErlangA(ctx, q, ask, loss.FormulaSettings{})
			if err != nil {
				t.Fatal(err)
			}
			now := []float64{r.WaitProbability.Float, r.AbandonProbability.Float, r.MeanWaiting.Float,
				r.MeanWaitingServed.Float, r.MeanWaitingAbandoned.Float, -r.Within[1].WaitWithin.Float,
				-r.Within[1].ServedWithin.Float, r.Percentiles[0].Waiting.Float}
			for i := range last {
				if now[i] > last[i]+1e-12*math.Abs(last[i]) { // bounds
					t.Errorf("measure %d rises from %v to %v at %d servers", i, last[i], now[i], q.Servers)
				}
			}
			last = now
			q.Servers++
		}
	})
}

// With more and more patience the queue becomes that of Erlang C, with less and less that of
// Erlang B.
func TestErlangALimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, ask := drawQueue(t)
		load := new(big.Rat).Mul(q.ArrivalRate, q.MeanDuration)
		q.MeanPatience = new(big.Rat)
		none := oracle.Must(loss.ErlangA(ctx, q, ask, loss.FormulaSettings{}))
		b := oracle.Must(loss.ErlangB(ctx, q.Servers, load, loss.FormulaSettings{}))
		if got := none.AbandonProbability.Float; math.Abs(got-b.Float) > 1e-14*b.Float {
			t.Errorf("B = %v, want %v", got, b.Float)
		}
		q.MeanPatience = new(big.Rat).Quo(rat(1, 1e9), q.ArrivalRate)
		q.MeanPatience.Quo(q.MeanPatience, rat(int64(q.Servers+1), 1))
		little := oracle.Must(loss.ErlangA(ctx, q, ask, loss.FormulaSettings{}))
		if got := little.AbandonProbability.Float; math.Abs(got-b.Float) > 1e-6*b.Float {
			t.Errorf("little patience: %v give up, want %v", got, b.Float)
		}
		if load.Cmp(rat(9*int64(q.Servers), 10)) > 0 {
			return
		}
		q.MeanPatience = nil
		endless := oracle.Must(loss.ErlangA(ctx, q, ask, loss.FormulaSettings{}))
		c := oracle.Must(loss.ErlangC(ctx, q.Servers, load, loss.FormulaSettings{}))
		if got := endless.WaitProbability.Float; math.Abs(got-c.Float) > 1e-14*c.Float {
			t.Errorf("C = %v, want %v", got, c.Float)
		}
		q.MeanPatience = new(big.Rat).Mul(q.MeanDuration, rat(1e9, 1))
		much := oracle.Must(loss.ErlangA(ctx, q, ask, loss.FormulaSettings{}))
		x, y := queueValues(endless), queueValues(much)
		for i := range x {
			if i == 1 || i == 4 || x[i].Float == y[i].Float { // none give up
				continue
			}
			if math.Abs(x[i].Float-y[i].Float) > 1e-5*x[i].Float { // 1e-9/(1-ρ)², where 1-ρ >= 1/100
				t.Errorf("measure %d with much patience: %v, without end %v", i, y[i].Float, x[i].Float)
			}
		}
	})
}

// Bad values are rejected, as are fractions and series that are too long.
func TestBadQueues(t *testing.T) {
	good := func() *loss.Queue {
		return &loss.Queue{Servers: 2, ArrivalRate: rat(1, 1), MeanDuration: rat(1, 1), MeanPatience: rat(1, 1)}
	}
	for path, change := range map[string]func(*loss.Queue, *loss.QueueQuestion, *loss.FormulaSettings){
		"Servers": func(q *loss.Queue, _ *loss.QueueQuestion, _ *loss.FormulaSettings) { q.Servers = 0 },
		"ArrivalRate": func(q *loss.Queue, _ *loss.QueueQuestion, _ *loss.FormulaSettings) {
			q.ArrivalRate = rat(
				0, 1,
			)
		},
		"MeanDuration": func(q *loss.Queue, _ *loss.QueueQuestion, _ *loss.FormulaSettings) { q.MeanDuration = nil },
		"MeanPatience": func(q *loss.Queue, _ *loss.QueueQuestion, _ *loss.FormulaSettings) {
			q.MeanPatience = rat(
				-1, 1,
			)
		},
		"Within[1]": func(_ *loss.Queue, ask *loss.QueueQuestion, _ *loss.FormulaSettings) {
			ask.Within = []*big.Rat{rat(1, 1), rat(-1, 1)}
		},
		"Levels[0]": func(_ *loss.Queue, ask *loss.QueueQuestion, _ *loss.FormulaSettings) {
			ask.Levels = []*big.Rat{rat(1, 1)}
		},
		"Engine": func(_ *loss.Queue, _ *loss.QueueQuestion, s *loss.FormulaSettings) { s.Engine = num.Exact },
		"RelTol": func(_ *loss.Queue, _ *loss.QueueQuestion, s *loss.FormulaSettings) { s.RelTol = 2 },
	} {
		q, ask, s := good(), loss.QueueQuestion{}, loss.FormulaSettings{}
		change(q, &ask, &s)
		var bad *num.InputError
		if r, err := loss.ErlangA(ctx, q, ask, s); !errors.As(err, &bad) || bad.Path != path || r != nil {
			t.Errorf("%s: %v, error %v", path, r, err)
		}
	}
	q := good()
	q.ArrivalRate, q.MeanPatience = rat(3, 1), rat(1e9, 1)
	var large *num.TooLargeError
	if _, err := loss.ErlangA(ctx, q, loss.QueueQuestion{}, loss.FormulaSettings{}); !errors.As(err, &large) {
		t.Errorf("10^9 waiting jobs: error %v", err)
	}
	q.MeanPatience = nil
	if _, err := loss.ErlangA(ctx, q, loss.QueueQuestion{}, loss.FormulaSettings{}); !errors.Is(err, num.ErrUnstable) {
		t.Errorf("unstable: error %v", err)
	}
}

// Patience so short that e^{-θt} is beyond the range of numbers leaves P(W <= t) below 1: a single
// server is busy at nearly all times, so about half of the jobs would still wait at the median of a
// service.
func TestErlangAShortPatience(t *testing.T) {
	q := &loss.Queue{
		Servers: 1, ArrivalRate: big.NewRat(100, 1), MeanDuration: big.NewRat(1, 1), MeanPatience: big.NewRat(1, 1e11),
	}
	ask := loss.QueueQuestion{Within: []*big.Rat{num.Rat("0.01"), num.Rat("0.7")}}
	for _, engine := range []num.Engine{num.Float, num.Enclose} {
		r, err := loss.ErlangA(t.Context(), q, ask, loss.FormulaSettings{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range r.Within {
			for _, x := range []num.Value{w.WaitWithin, w.WithinIfServed} {
				if x.Float != 1 {
					t.Errorf("%s: P(W <= %v) = %v, want 1, rounded", engine, w.Time, x.Float)
				}
				if one := big.NewFloat(1); engine == num.Enclose && !(x.Low.Cmp(one) < 0 && x.High.Cmp(one) == 0) {
					t.Errorf("P(W <= %v) in [%v, %v], want bounds around a number below 1", w.Time, x.Low, x.High)
				}
			}
		}
	}
}

// In heavy overload nearly all jobs give up, and the time for which they wait has nearly the
// distribution of their patience: P(W > t) = e^{-θt} P(V > t), where V is about ln(load)/θ. The
// same holds for a load beyond float64.
func TestErlangAOverloaded(t *testing.T) {
	level := num.Rat("0.999999")
	for _, load := range []string{"1e8", "1e14", "1e20"} {
		for _, patience := range []int64{1, 50} {
			q := &loss.Queue{
				Servers: 3, ArrivalRate: big.NewRat(1, 1), MeanDuration: num.Rat(load),
				MeanPatience: big.NewRat(patience, 1),
			}
			r, err := loss.ErlangA(
				t.Context(), q,
				loss.QueueQuestion{Levels: []*big.Rat{level}, Within: []*big.Rat{big.NewRat(14*patience, 1)}},
				loss.FormulaSettings{},
			)
			if err != nil {
				t.Fatalf("load %s: %v", load, err)
			}
			off := 1e-14 + 10*math.Exp(14)/num.Nearest(num.Rat(load))*float64(patience) // P(V <= t) and roundings
			if p := r.Within[0].WaitWithin.Float; !(math.Abs((1-p)/math.Exp(-14)-1) <= off+1e-9) {
				t.Errorf("load %s: P(W > %d) = %v, want %v", load, 14*patience, 1-p, math.Exp(-14))
			}
			if !(r.AbandonProbability.Float <= 1) {
				t.Errorf("load %s: P(gave up) = %v", load, r.AbandonProbability.Float)
			}
		}
	}
	q := &loss.Queue{
		Servers: 3, ArrivalRate: num.Rat("1e90"), MeanDuration: num.Rat("1e300"), MeanPatience: num.Rat("1e-90"),
	}
	r, err := loss.ErlangA(
		t.Context(), q, loss.QueueQuestion{Levels: []*big.Rat{level}}, loss.FormulaSettings{Engine: num.Float},
	)
	if err != nil {
		t.Fatal(err)
	}
	if x := r.Percentiles[0].Waiting.Float; !(math.Abs(x/(math.Log(1e6)*1e-90)-1) < 1e-6) {
		t.Errorf("percentile %v", x)
	}
}
