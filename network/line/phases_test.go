package line_test

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network"
	"productform/network/line"
	"productform/num"
)

// twoPhases is a distribution with two phases: its initial probabilities and its rates, in
// quarters.
type twoPhases struct {
	start [2]int64
	moves [2][3]int64 // rates from each phase to each phase and to the end
}

// drawPhases draws a distribution as in a LINE file, and its phases.
func drawPhases(t *rapid.T) (fields, twoPhases) {
	rate := func() int64 { return 4 * int64(rapid.IntRange(1, 4).Draw(t, "rate")) }
	quarters := int64(rapid.IntRange(1, 3).Draw(t, "quarters"))
	share := float64(quarters) / 4
	a, b := rate(), rate()
	switch kind := rapid.SampledFrom([]string{"Exp", "Erlang", "HyperExp", "Coxian", "PH"}).Draw(t, "type"); kind {
	case "Exp":
		return fields{"type": kind, "params": fields{"lambda": a / 4}},
			twoPhases{[2]int64{4, 0}, [2][3]int64{{0, 0, a}, {0, 0, 4}}}
	case "Erlang":
		return fields{"type": kind, "params": fields{"lambda": a / 4, "k": 2}},
			twoPhases{[2]int64{4, 0}, [2][3]int64{{0, a, 0}, {0, 0, a}}}
	case "HyperExp":
		start := []float64{share, 1 - share}
		return fields{"type": kind, "params": fields{"p": start, "lambda": []int64{a / 4, b / 4}}},
			twoPhases{[2]int64{quarters, 4 - quarters}, [2][3]int64{{0, 0, a}, {0, 0, b}}}
	case "Coxian":
		return fields{"type": kind, "params": fields{"mu": []int64{a / 4, b / 4}, "phi": []float64{share, 1}}},
			twoPhases{[2]int64{4, 0}, [2][3]int64{{0, a * (4 - quarters) / 4, a * quarters / 4}, {0, 0, b}}}
	default: // may return to its first phase
		back := rate()
		rows := [][]int64{{-a / 4, a / 4}, {back / 4, -(b + back) / 4}}
		return fields{"type": kind, "ph": fields{"alpha": []float64{share, 1 - share}, "T": rows}},
			twoPhases{[2]int64{quarters, 4 - quarters}, [2][3]int64{{0, a, 0}, {back, 0, b}}}
	}
}

// A phaseState holds the phases of the jobs at each station; with LCFSPR they are in order of
// arrival.
type phaseState [2]string

// A network read from LINE has the exact means of the Markov chain of all jobs and their phases.
func TestSolutionMatchesChainOfPhases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		think, first := drawPhases(t)
		serve, second := drawPhases(t)
		laws := [2]twoPhases{first, second}
		jobs := rapid.IntRange(1, 3).Draw(t, "jobs")
		scheduling := rapid.SampledFrom([]string{"PS", "LCFSPR", "INF"}).Draw(t, "scheduling")
		servers := 1
		station := fields{"name": "b", "type": "Queue", "scheduling": scheduling, "service": fields{"c": serve}}
		switch scheduling {
		case "PS":
			servers = rapid.IntRange(1, 2).Draw(t, "servers")
			station["servers"] = servers
		case "INF":
			servers = jobs
			station["type"] = "Delay"
		}
		text, err := json.Marshal(fields{"format": "line-model", "version": "1.0", "model": fields{"type": "Network",
			"nodes":   []any{fields{"name": "a", "type": "Delay", "service": fields{"c": think}}, station},
			"classes": []any{fields{"name": "c", "type": "Closed", "population": jobs, "refNode": "a"}},
			"routing": fields{"type": "matrix", "matrix": fields{"c,c": fields{
				"a": fields{"b": 1}, "b": fields{"a": 1}}}}}})
		if err != nil {
			t.Fatal(err)
		}
		m, err := line.Read(strings.NewReader(string(text)))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		r, err := network.Solve(context.Background(), m, network.Settings{Engine: num.Exact})
		if err != nil {
			t.Fatal(err)
		}
		// shareOf returns the rate at which job p at station i is served.
		shareOf := func(s phaseState, i, p int) *big.Rat {
			n := len(s[i])
			switch {
			case i == 0:
				return big.NewRat(1, 1)
			case scheduling == "LCFSPR":
				return big.NewRat(int64((p+1)/n), 1) // only the last job
			}
			return big.NewRat(int64(min(n, servers)), int64(n))
		}
		canonical := func(s phaseState) phaseState {
			for i := range s {
				if i == 0 || scheduling != "LCFSPR" {
					phases := []byte(s[i])
					slices.Sort(phases)
					s[i] = string(phases)
				}
			}
			return s
		}
		ends := func(s phaseState) *big.Rat { // rate at which jobs leave the second station
			sum := new(big.Rat)
			for p, phase := range []byte(s[1]) {
				x := big.NewRat(second.moves[phase-'0'][2], 4)
				sum.Add(sum, x.Mul(x, shareOf(s, 1, p)))
			}
			return sum
		}
		start := phaseState{strings.Repeat("0", jobs), ""}
		chain := oracle.NewChain(start, func(s phaseState, move func(to phaseState, rate *big.Rat)) {
			for i := range s {
				for p, phase := range []byte(s[i]) {
					for to, quarters := range laws[i].moves[phase-'0'] {
						rate := big.NewRat(quarters, 4)
						if rate.Mul(rate, shareOf(s, i, p)); rate.Sign() == 0 {
							continue
						}
						next := s
						if to < 2 {
							next[i] = s[i][:p] + string(rune('0'+to)) + s[i][p+1:]
							move(canonical(next), rate)
							continue
						}
						next[i] = s[i][:p] + s[i][p+1:]
						for at, quarters := range laws[1-i].start {
							if quarters > 0 {
								to := next
								to[1-i] += string(rune('0' + at))
								move(canonical(to), new(big.Rat).Mul(rate, big.NewRat(quarters, 4)))
							}
						}
					}
				}
			}
		})
		if got, want := r.Chains[0].Throughput.Exact, chain.Mean(ends); got.Cmp(want) != 0 {
			t.Fatalf("%s: throughput %v, of all states %v", text, got, want)
		}
		want := chain.Mean(func(s phaseState) *big.Rat { return big.NewRat(int64(len(s[1])), 1) })
		if got := r.Stations[1].MeanJobs.Exact; got.Cmp(want) != 0 {
			t.Fatalf("%s: mean jobs %v, of all states %v", text, got, want)
		}
	})
}
