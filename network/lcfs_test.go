package network_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/network"
	"productform/num"
)

// In a closed class at a single station with LCFS, a job that finishes is immediately the last to
// arrive, so it is served again. Each job that ever moves has its own server, and its delay is its
// size divided by the rate of that server.
func TestDelayAtLCFSAlone(t *testing.T) {
	resting := 0
	rapid.Check(t, func(t *rapid.T) {
		jobs, servers := rapid.IntRange(1, 6).Draw(t, "jobs"), rapid.IntRange(1, 4).Draw(t, "servers")
		size, rate := drawFraction(t, "size"), drawFraction(t, "rate")
		s := network.Station{Name: "s", Discipline: network.LCFS, Servers: servers, Rate: rate}
		if rapid.Bool().Draw(t, "listed") { // the last job gets all of α(n)
			rates := []*big.Rat{big.NewRat(7, 1), rate}
			s, servers = network.Station{Name: "s", Discipline: network.LCFS, Rates: rates}, 1
			if jobs == 1 {
				rate = big.NewRat(7, 1)
			}
		}
		m := &network.Model{Stations: []network.Station{s}, Classes: []network.Class{{Name: "c", Population: jobs,
			Visits: []network.Visit{{Station: 0, MeanSize: size,
				Next: []network.Branch{{Class: 0, Probability: big.NewRat(1, 1)}}}}}}}
		r, err := network.Solve(t.Context(), m, network.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		bounds, err := network.Bounds(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Rat).Quo(size, rate)
		if r.Chains[0].MeanDelay.Exact.Cmp(want) != 0 || r.Stations[0].Visits[0].MeanDelay.Exact.Cmp(want) != 0 {
			t.Fatalf("delays %v and %v, want %v", r.Chains[0].MeanDelay.Exact, r.Stations[0].Visits[0].MeanDelay.Exact,
				want)
		}
		if d := bounds[0].MeanDelay; d.Low.Cmp(want) > 0 || want.Cmp(d.High) > 0 {
			t.Fatalf("delay between %v and %v, want %v", d.Low, d.High, want)
		}
		if n := r.Chains[0].MovingJobs; n != min(jobs, servers) {
			t.Fatalf("%d jobs move, want %d", n, min(jobs, servers))
		}
		if jobs > servers {
			resting++
		}
	})
	if resting == 0 {
		t.Error("no job that is never served")
	}
}
