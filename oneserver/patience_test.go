package oneserver_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/network/loss"
	"productform/num"
	"productform/oneserver"
)

// The measures match reference answers, which an independent program computed from the differential
// equations over sets; a few tests of it simulated the queue.
func TestPatienceReference(t *testing.T) {
	var cases []struct {
		Name   string
		Model  json.RawMessage
		Answer struct {
			Wait    []float64  `json:"wait_probability"`
			Waiting []float64  `json:"mean_wait"`
			Abandon []*float64 `json:"abandon_probability"`
			Busy    []float64  `json:"utilization"`
		}
	}
	if err := json.Unmarshal(oracle.Must(os.ReadFile("testdata/patience.json")), &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		m := oracle.Must(cluster.ReadJSON(strings.NewReader(string(c.Model))))
		r, err := oneserver.SolvePatience(t.Context(), m, oneserver.PatienceSettings{})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		check := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-9*want) { // the precision of the reference answers
				t.Errorf("%s: %s = %v, want %v", c.Name, what, got, want)
			}
		}
		for i, x := range r.Classes {
			check("wait probability of "+x.Name, *x.WaitProbability, c.Answer.Wait[i])
			check("mean waiting of "+x.Name, *x.MeanWaiting, c.Answer.Waiting[i])
			if a := c.Answer.Abandon[i]; a != nil {
				check("abandon probability of "+x.Name, *x.AbandonProbability, *a)
			}
		}
		for s, x := range r.Servers {
			check("utilization of "+x.Name, x.Utilization, c.Answer.Busy[s])
		}
		if (r.ErrorEstimate == nil) == (r.RelativeErrorBound == nil) {
			t.Errorf("%s: error estimate %v, bound %v", c.Name, r.ErrorEstimate, r.RelativeErrorBound)
		}
	}
}

// One pool has the numbers of Erlang A, with a proved bound; TestPoolMatchesEquations compares them
// with those of other pools.
func TestPatienceOfPoolMatchesErlangA(t *testing.T) {
	for _, c := range []struct{ servers, rate, patience int64 }{
		{1, 3, 1}, {5, 4, 2}, {50, 48, 2}, {50, 60, 5}, {200, 190, 1},
	} {
		q := &loss.Queue{
			Servers:      int(c.servers),
			ArrivalRate:  big.NewRat(c.rate, 1),
			MeanDuration: big.NewRat(1, 1),
			MeanPatience: big.NewRat(c.patience, 1),
		}
		times, levels := []*big.Rat{big.NewRat(1, 10), big.NewRat(3, 2)}, []*big.Rat{big.NewRat(19, 20)}
		want := oracle.Must(loss.ErlangA(
			t.Context(), q, loss.QueueQuestion{Within: times, Levels: levels}, loss.FormulaSettings{},
		))
		m := &cluster.Model{
			Service: cluster.OneServer,
			Servers: []cluster.Server{{Name: "s", Count: int(c.servers), Capacity: big.NewRat(1, 1)}},
			Classes: []cluster.Class{{
				Name:        "c",
				ArrivalRate: q.ArrivalRate,
				Servers:     []cluster.Choice{{Server: 0, Choose: int(c.servers)}},
			}},
			MeanPatience: q.MeanPatience,
		}
		r := oracle.Must(oneserver.SolvePatience(t.Context(), m, oneserver.PatienceSettings{
			Times:  times,
			Levels: levels,
			RelTol: 1e-11,
		}))
		x := r.Classes[0]
		check := func(what string, got float64, want num.Value) {
			if !(math.Abs(got-want.Float) <= 1e-11*want.Float) {
				t.Errorf("%v: %s = %v, want %v: %g", c, what, got, want.Float, got/want.Float-1)
			}
		}
		check("wait", *x.WaitProbability, want.WaitProbability)
		check("abandon", *x.AbandonProbability, want.AbandonProbability)
		check("E[W]", *x.MeanWaiting, want.MeanWaiting)
		check("served", *x.MeanWaitingServed, want.MeanWaitingServed)
		check("abandoned", *x.MeanWaitingAbandoned, *want.MeanWaitingAbandoned)
		check("busy", r.Servers[0].Utilization, want.Utilization)
		check("jobs", r.MeanJobs, want.MeanJobs)
		check("percentile", x.WaitingServed[0].Float, want.Percentiles[0].Waiting)
		for k := range times {
			check("within", x.Within[k].WaitWithin, want.Within[k].WaitWithin)
			check("served within", x.Within[k].ServedWithin, want.Within[k].ServedWithin)
			check("within if served", x.Within[k].WithinIfServed, want.Within[k].WithinIfServed)
		}
		if r.ErrorEstimate != nil || !(*r.RelativeErrorBound < 1e-11) {
			t.Errorf("%v: error estimate %v, bound %v", c, r.ErrorEstimate, *r.RelativeErrorBound)
		}
	}
}

// One pool matches the reference answers of Erlang A in package loss to 1e-11.
func TestPatienceOfPoolReference(t *testing.T) {
	var cases []struct {
		Name  string
		Model struct {
			Servers      int
			MeanDuration string  `json:"mean_duration"`
			MeanPatience *string `json:"mean_patience"`
			Classes      []struct {
				Rate string `json:"arrival_rate"`
			}
		}
		Within     string
		Percentile *string
		Answer     map[string]any
	}
	text := oracle.Must(os.ReadFile("../network/loss/testdata/patience.json"))
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		m := &cluster.Model{Service: cluster.OneServer, MeanSize: num.Rat(c.Model.MeanDuration),
			Servers: []cluster.Server{{Name: "s", Count: c.Model.Servers, Capacity: big.NewRat(1, 1)}}}
		for i, k := range c.Model.Classes {
			m.Classes = append(m.Classes, cluster.Class{Name: string(rune('a' + i)), ArrivalRate: num.Rat(k.Rate),
				Servers: []cluster.Choice{{Server: 0, Choose: c.Model.Servers}}})
		}
		if c.Model.MeanPatience != nil {
			m.MeanPatience = num.Rat(*c.Model.MeanPatience)
		}
		s := oneserver.PatienceSettings{RelTol: 1e-12, Times: []*big.Rat{num.Rat(c.Within)}}
		if c.Percentile != nil {
			s.Levels = []*big.Rat{new(big.Rat).Quo(num.Rat(*c.Percentile), big.NewRat(100, 1))}
		}
		r, err := oneserver.SolvePatience(t.Context(), m, s)
		if c.Answer["stable"] == false {
			if !errors.Is(err, num.ErrUnstable) {
				t.Errorf("%s: error %v", c.Name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		k := r.Classes[0]
		got := map[string]*float64{
			"wait_probability": k.WaitProbability, "abandon_probability": r.AbandonProbability,
			"mean_wait": r.MeanWaiting, "mean_wait_served": k.MeanWaitingServed,
			"mean_wait_abandoned": k.MeanWaitingAbandoned, "mean_queue": &r.MeanQueue, "mean_jobs": &r.MeanJobs,
			"utilization": &r.Servers[0].Utilization, "served_within": &k.Within[0].ServedWithin,
		}
		if c.Percentile != nil {
			got["wait_percentile_served"] = &k.WaitingServed[0].Float
		}
		for name, x := range got {
			text, known := c.Answer[name].(string)
			if known != (x != nil) {
				t.Errorf("%s: %s = %v, want %v", c.Name, name, x, c.Answer[name])
			} else if known {
				want := num.Nearest(num.Rat(text))
				if !(math.Abs(*x-want) <= 1e-11*want) {
					t.Errorf("%s: %s = %v, want %v", c.Name, name, *x, want)
				}
			}
		}
	}
}

// Rare jobs have the measures of their class, however rare they are. With class a alone, one server
// of rate 1 has work V > 0. In units of P(V = 0) its density is rate e^((rate-1)v) up to the
// patience of a; beyond, it falls as e^(-v).
func TestPatienceOfRareJobs(t *testing.T) {
	for _, c := range []struct{ rate, patience, rare, rarePatience float64 }{
		{2, 10, 1e-19, 12}, {2, 10, 1e-25, 9.5}, {1e-12, 2, 1e-25, 3}, {1e-20, 1, 1e-35, 5}, {1e-80, 3, 1e-95, 1},
	} {
		m := &cluster.Model{
			Service: cluster.OneServer, Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
		}
		for i, x := range [][2]float64{{c.rate, c.patience}, {c.rare, c.rarePatience}} {
			m.Classes = append(m.Classes, cluster.Class{
				Name: string(rune('a' + i)), ArrivalRate: new(big.Rat).SetFloat64(x[0]),
				Servers:      []cluster.Choice{{Server: 0, Choose: 1}},
				MeanPatience: new(big.Rat).SetFloat64(x[1]), Patience: "deterministic",
			})
		}
		r, err := oneserver.SolvePatience(t.Context(), m, oneserver.PatienceSettings{})
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		up := func(v float64) float64 { return c.rate * math.Expm1((c.rate-1)*v) / (c.rate - 1) } // V in (0, v)
		edge := c.rate * math.Exp((c.rate-1)*c.patience)                                          // V > patience
		busy := up(c.patience) + edge
		all := 1 + busy
		for i, p := range []float64{c.patience, c.rarePatience} {
			low := min(p, c.patience)
			longer := edge * math.Exp(c.patience-p) // V > p
			waiting := (c.rate*low*math.Exp((c.rate-1)*low) - up(low)) / (c.rate - 1)
			if p > c.patience { // E[V; patience < V < p] + p P(V > p)
				waiting += edge*(c.patience+1) - longer
			} else {
				longer = edge + up(c.patience) - up(p)
				waiting += p * longer
			}
			x := r.Classes[i]
			for _, pair := range [][2]float64{
				{*x.AbandonProbability, longer / all}, {*x.MeanWaiting, waiting / all}, {*x.MeanWaitingAbandoned, p},
				{*x.WaitProbability, busy / all},
			} {
				if !(math.Abs(pair[0]-pair[1]) <= 1e-9*pair[1]) { // the default tolerance
					t.Errorf("%v, class %s: %v, want %v", c, x.Name, pair[0], pair[1])
				}
			}
		}
	}
}
