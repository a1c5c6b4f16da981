package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// Random clusters in which the jobs of each class give up have the measures that an independent
// program computed.
func TestPatienceMatchesReference(t *testing.T) {
	var file struct {
		Cases []struct {
			Name     string
			Model    json.RawMessage
			Patience []struct {
				Law  string
				Mean float64
			}
			Answer struct {
				Wait        []float64  `json:"wait_probability"`
				MeanWait    []float64  `json:"mean_wait"`
				Abandon     []*float64 `json:"abandon_probability"` // nil if unknown
				Utilization []float64
			}
		}
	}
	if err := json.Unmarshal(oracle.Must(os.ReadFile("testdata/patience.json")), &file); err != nil {
		t.Fatal(err)
	}
	for _, k := range file.Cases {
		m, err := cluster.ReadJSON(bytes.NewReader(k.Model))
		if err != nil {
			t.Fatal(err)
		}
		c := Cluster{Model: m}
		for _, p := range k.Patience {
			c.Patience = append(c.Patience, simtest.Sizes(t, p.Law, p.Mean))
		}
		r := simtest.Run(t, c, sim.Settings{Runs: 20, Jumps: 1e4, WarmUp: 2e3, Seed: 8})
		for i := range m.Classes {
			what := k.Name + ", " + m.Classes[i].Name
			simtest.Near(t, what+": wait probability", r.Class(i, WaitProbability), k.Answer.Wait[i])
			simtest.Near(t, what+": mean waiting", r.Class(i, MeanWaiting), k.Answer.MeanWait[i])
			simtest.Near(t, what+": measured waiting", r.Class(i, MeasuredWaiting), k.Answer.MeanWait[i])
			if exact := k.Answer.Abandon[i]; exact != nil {
				simtest.Near(t, what+": abandon probability", r.Class(i, AbandonProbability), *exact)
			}
		}
		for s, exact := range k.Answer.Utilization {
			simtest.Near(t, k.Name+", "+m.Servers[s].Name, r.Server(s, sim.Utilization), exact)
		}
	}
}

// All jobs are served or give up, and under every policy a cluster is stable if the classes that do
// not give up leave capacity.
func TestPatienceIsStable(t *testing.T) {
	m := pool(2, "3", "1/2")
	short := simtest.Sizes(t, "exponential", 0.5)
	for _, policy := range everyOnePolicy() {
		c := Cluster{Model: m, Policy: policy, Patience: []sizes.Distribution{short, nil}}
		r := simtest.Run(t, c, sim.Settings{Runs: 4, Jumps: 1e4, WarmUp: 2e3, Seed: 1})
		for i := range m.Classes {
			gaveUp, served := r.Class(i, AbandonProbability).Mean, r.Estimate(OfServing, i, ServedBy).Mean
			if d := gaveUp + served - 1; d > 1e-12 || d < -1e-12 || (gaveUp == 0) != (i == 1) {
				t.Errorf("%s: of class %d the fractions %v give up and %v are served", policy, i, gaveUp, served)
			}
		}
		c.Patience = []sizes.Distribution{nil, short}
		if _, err := c.Describe(t.Context(), sim.Observation{}); !errors.Is(err, num.ErrUnstable) {
			t.Errorf("%s: %v", policy, err)
		}
	}
	simtest.Conforms(t, Cluster{Model: m, Patience: []sizes.Distribution{short, short}})
	if r := simtest.Run(t, Cluster{Model: m.Scale(big.NewRat(1, 2))}, sim.Settings{Runs: 2, Jumps: 1000}); r.All(
		AbandonProbability) != nil {
		t.Error("jobs without patience give up")
	}
}

// Jobs with a mean patience of 0 are lost if all servers are busy, and do not wait: Erlang's formula
// gives 2/5 for two servers and a load of 2.
func TestNoPatience(t *testing.T) {
	m := pool(2, "3/2", "1/2")
	m.MeanPatience = new(big.Rat)
	for _, policy := range everyOnePolicy() {
		if !policy.isCentral() && policy != LeastWork && policy != "jsq" || policy == PreemptivePriority {
			continue // jobs may choose a busy server although another one is idle, or wait when interrupted
		}
		r := simtest.Run(t, Cluster{Model: m, Policy: policy}, sim.Settings{Runs: 10, Jumps: 1e4, WarmUp: 2e3, Seed: 1})
		simtest.Near(t, string(policy)+": abandon probability", r.All(AbandonProbability), 0.4)
		if w, mean := r.All(WaitProbability).Mean, r.All(MeanWaiting).Mean; w != 0 || mean != 0 {
			t.Errorf("%s: a fraction %v of the jobs waits, %v on average", policy, w, mean)
		}
	}
}

// A list of another length, or for jobs on all their servers, is rejected.
func TestBadPatience(t *testing.T) {
	short := simtest.Sizes(t, "exponential", 0.5)
	all := *pool(2, "1")
	all.Service = cluster.AllServers
	for _, k := range []struct {
		c    Cluster
		want string
	}{
		{Cluster{Model: pool(2, "1", "1/2"), Patience: []sizes.Distribution{short}},
			"Patience = 1 distributions: want 2, one for each class, or none"},
		{
			Cluster{Model: &all, Patience: []sizes.Distribution{short}},
			"Patience = 1 distributions: want none with service all",
		},
	} {
		if _, err := k.c.Describe(t.Context(), sim.Observation{}); err == nil || err.Error() != k.want {
			t.Errorf("%v, want %s", err, k.want)
		}
	}
}

// The patience of a model is that of its classes, and a bad distribution is rejected.
func TestPatienceOfModel(t *testing.T) {
	given := Cluster{Model: pool(2, "3", "1/2"), Patience: []sizes.Distribution{
		simtest.Sizes(t, "deterministic", 0.5), simtest.Sizes(t, "exponential", 2),
	}}
	m := pool(2, "3", "1/2")
	m.MeanPatience = big.NewRat(2, 1)
	m.Classes[0].MeanPatience, m.Classes[0].Patience = big.NewRat(1, 2), "deterministic"
	s := sim.Settings{Runs: 2, Jumps: 2000}
	want, got := simtest.Run(t, given, s), simtest.Run(t, Cluster{Model: m, Policy: Power(1)}, s)
	if got.All(AbandonProbability) == nil {
		t.Error("no jobs give up")
	}
	got = simtest.Run(t, Cluster{Model: m}, s)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	m.Classes[0].Patience = "gamma"
	_, err := Cluster{Model: m}.Describe(t.Context(), sim.Observation{})
	if want := `Model.classes[0].patience = "gamma": want a distribution such as deterministic or erlang:2`; err ==
		nil ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
