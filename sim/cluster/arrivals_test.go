package cluster

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/gang"
	"productform/sim"
	"productform/sizes"
)

// The arrivals are those that a simulation draws from the same stream, and a larger count leaves
// the first ones the same.
func TestArrivalsMatchSimulation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Cluster{Model: drawGang(t, FCFS), Policy: FCFS}
		if rapid.Bool().Draw(t, "lognormal") {
			var err error
			if c.Sizes, err = sizes.Parse("lognormal:4", 1); err != nil {
				t.Fatal(err)
			}
		}
		seed, count := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 50).Draw(t, "count")
		got, err := c.Arrivals(count, seed)
		if err != nil {
			t.Fatal(err)
		}
		longer, err := c.Arrivals(2*count, seed)
		if err != nil || !slices.Equal(got, longer[:count]) {
			t.Fatalf("%v, the first of %d arrivals differ from those of %d", err, 2*count, count)
		}
		if c.Sizes == nil {
			c.Sizes, _, _ = sim.SizesOf(nil, c.Model.MeanSize, "", "")
		}
		var key [32]byte
		binary.LittleEndian.PutUint64(key[:], seed)
		want := newGangArrivals(c, sim.NewStream(key))
		for k := range got {
			if a := want.draw(); got[k] != (Arrival{Time: a.time, Class: a.class, Size: a.size}) {
				t.Fatalf("arrival %d is %+v, want %+v", k, got[k], a)
			}
		}
	})
}

// Under first come, first served, mean waiting times by class are those of gang.Solve: their mean
// over 20 streams of 10,000 jobs, the first 1000 of which do not count.
func TestArrivalsWaitAsComputed(t *testing.T) {
	t.Parallel()
	m, err := cluster.Read(strings.NewReader(`
service: gang
servers: [{name: cpu, count: 8}]
classes:
- {name: small, arrival_rate: 2, servers: [cpu], needs: 1}
- {name: medium, arrival_rate: 0.4, servers: [cpu], needs: 4, mean_size: 1/2}
- {name: large, arrival_rate: 0.1, servers: [cpu], needs: 8, mean_size: 3/2}
`))
	if err != nil {
		t.Fatal(err)
	}
	exact, err := gang.Solve(t.Context(), m, gang.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	means := make([][]float64, len(m.Classes))
	for seed := range uint64(20) {
		list, err := Cluster{Model: m}.Arrivals(10_000, seed)
		if err != nil {
			t.Fatal(err)
		}
		s := rigid.Scenario{Workers: 8, Policy: rigid.Policy{Order: rigid.FCFS, Backfill: rigid.None}}
		for _, a := range list {
			tasks := m.Classes[a.Class].Needs[0].Choose
			s.Jobs = append(s.Jobs, dispatch.Job{Submit: a.Time, Tasks: tasks, Work: a.Size})
		}
		r, err := rigid.Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		sums, jobs := make([]float64, len(m.Classes)), make([]float64, len(m.Classes))
		for k, rec := range r.Jobs[1000:] {
			class := list[1000+k].Class
			sums[class], jobs[class] = sums[class]+rec.Waiting, jobs[class]+1
		}
		for i := range means {
			means[i] = append(means[i], sums[i]/jobs[i])
		}
	}
	for i, class := range exact.Classes {
		mean, squares := 0.0, 0.0
		for _, v := range means[i] {
			mean += v / float64(len(means[i]))
		}
		for _, v := range means[i] {
			squares += (v - mean) * (v - mean)
		}
		n := float64(len(means[i]))
		z := (mean - class.MeanWaiting.Float) / math.Sqrt(squares/(n-1)/n)
		if math.Abs(z) > 4.5 { // Student's t with 19 degrees exceeds this with probability 2.4e-4; the seeds are fixed
			t.Errorf("%s: %v, want %v, z %.2f", m.Classes[i].Name, mean, class.MeanWaiting.Float, z)
		}
	}
}

func TestBadArrivals(t *testing.T) {
	rate := func(v int64) *cluster.Model {
		return &cluster.Model{
			Service: cluster.Gang, Servers: []cluster.Server{{Name: "s", Count: 2}},
			Classes: []cluster.Class{{
				Name: "a", ArrivalRate: big.NewRat(v, 1), Needs: []cluster.Choice{{Server: 0, Choose: 1}},
			}},
		}
	}
	for want, c := range map[string]struct {
		Cluster
		count int
	}{
		"count = 0: want an integer >= 1":              {Cluster{Model: rate(1)}, 0},
		"Model is missing":                             {Cluster{}, 1},
		"Model.classes = arrival rates that are all 0": {Cluster{Model: rate(0)}, 1},
		"classes[0].arrival_rate = -1":                 {Cluster{Model: rate(-1)}, 1},
	} {
		if _, err := c.Arrivals(c.count, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
