package network

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/network/internal/demands"
	"productform/num"
)

// Folding open work ρ into a station gives the series of f(u + ρ), summed here term by term: Σ_n C(n, j) ρ^(n-j) / Π_{i <= n} α(i).
func TestFoldedRatesAreTheShiftedSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rates []*big.Rat
		for range rapid.IntRange(1, 6).Draw(t, "rates") {
			rates = append(rates, big.NewRat(int64(rapid.IntRange(1, 12).Draw(t, "rate")), int64(rapid.IntRange(1, 5).Draw(t, "over"))))
		}
		last := rates[len(rates)-1]
		load := new(big.Rat).Mul(last, big.NewRat(int64(rapid.IntRange(0, 7).Draw(t, "load")), 10))
		jobs := rapid.IntRange(0, 9).Draw(t, "jobs")
		f := &demands.Totals{Alone: rates, Most: last}
		if err := f.Fold(context.Background(), "", load, jobs); err != nil {
			t.Fatal(err)
		}
		rho, _ := load.Float64()
		want := make([]float64, max(jobs, 1)+1)
		for j := range want {
			term := 1.0 // C(n, j) ρ^(n-j) / Π α, from n = j on
			for n := 1; n < 400; n++ {
				alpha, _ := rates[min(n, len(rates))-1].Float64()
				switch {
				case n <= j:
					term /= alpha
				default:
					term *= rho * float64(n) / float64(n-j) / alpha
				}
				if n >= j {
					want[j] += term
				}
			}
			if j == 0 {
				want[0]++
			}
		}
		c, _ := f.Scale.Float64()
		for j, w := range want {
			if j > 0 {
				alpha, _ := f.Rates[min(j, len(f.Rates))-1].Float64()
				c /= alpha
			}
			if math.Abs(c-w) > 1e-11*w { // some 400 roundings a term
				t.Fatalf("coefficient %d: %v, summed %v (rates %v)", j, c, w, f.Rates)
			}
		}
	})
}

// The probability that M/M/m with an open load is empty is that of the formula of Erlang, and the mean number is that of its delay formula.
func TestFoldedQueueIsErlangs(t *testing.T) {
	for _, m := range []int{1, 2, 10, 60} {
		load := big.NewRat(int64(9*m), 10)
		f := &demands.Totals{Most: big.NewRat(int64(m), 1)}
		for j := range m {
			f.Alone = append(f.Alone, big.NewRat(int64(j)+1, 1))
		}
		if err := f.Fold(context.Background(), "", load, 0); err != nil {
			t.Fatal(err)
		}
		sum, term := new(big.Rat), big.NewRat(1, 1)
		for j := range m {
			sum.Add(sum, term)
			term = new(big.Rat).Mul(term, new(big.Rat).Quo(load, big.NewRat(int64(j)+1, 1)))
		}
		wait := new(big.Rat).Quo(term, big.NewRat(1, 10)) // (a^m/m!)/(1 - a/m)
		sum.Add(sum, wait)
		if f.Scale.Cmp(sum) != 0 {
			t.Errorf("m = %d: 1/P(empty) = %v, want %v", m, f.Scale, sum)
		}
		mean := new(big.Rat).Quo(wait, sum) // P(wait)
		mean.Mul(mean, big.NewRat(9, 1))    // ρ/(1 - ρ)
		mean.Add(mean, load)
		if got := new(big.Rat).Quo(load, f.Rates[0]); got.Cmp(mean) != 0 {
			t.Errorf("m = %d: mean jobs %v, want %v", m, got, mean)
		}
	}
}

func TestFoldRefusesWhatIsTooLarge(t *testing.T) {
	text := `{"stations": [{"name": "s", "discipline": "fcfs", "servers": 200000}],
		"classes": [{"name": "a", "arrival_rate": 3, "visits": [{"station": "s", "next": {"out": 1}}]}]}`
	m, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var tooLarge *num.TooLargeError
	if _, err := newSystem(context.Background(), m); !errors.As(err, &tooLarge) || tooLarge.Bytes <= float64(tooLarge.Limit) {
		t.Fatal(err)
	}
}

// Chains share a station: demands by chain, the open load, one visit for each class.
func TestDemands(t *testing.T) {
	text := `
stations: [{name: cpu, discipline: sharing, servers: 3}, {name: think, discipline: delay}]
classes:
  - {name: a, population: 2, visits: [{station: cpu, mean_size: 2, visits: 3}, {station: think, visits: 1}]}
  - {name: web, arrival_rate: 1/2, visits: [{station: cpu, mean_size: 3, next: {cpu/more: 1/2, out: 1/2}}]}
  - {name: b, population: 1, visits: [{station: cpu, visits: 1}]}
  - {name: more, visits: [{station: cpu, mean_size: 1/4, next: {out: 1}}]}
`
	m, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSystem(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	cpu := s.Stations[0]
	got := fmt.Sprint(cpu.Demand, cpu.Load, len(s.Chains), s.Closed, s.Chains[1].Classes, s.Chains[1].ArrivalRate, s.Stations[1].Demand)
	if want := "[6/1 1/1] 25/16 3 [0 2] [1 3] 1/2 [1/1 0/1]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for c, v := range cpu.Visits {
		if v.Class != c {
			t.Errorf("visit %d is of class %d", c, v.Class)
		}
	}
}

// Tables of a station with Order count in the memory that a network may take, and sets of classes that are too many are refused.
func TestSharedStationsAreRefusedByTheirSize(t *testing.T) {
	m := &Model{Stations: []Station{{Name: "pool", Discipline: Order}, {Name: "think", Discipline: Delay}}}
	one := big.NewRat(1, 1)
	for c := range 24 {
		m.Stations[0].Nodes = append(m.Stations[0].Nodes, Node{Name: fmt.Sprint(c), Capacity: one})
		m.Classes = append(m.Classes, Class{Name: fmt.Sprint(c), Visits: []Visit{{Station: 0, Nodes: []int{c}}, {Station: 1}}})
	}
	chain := func(classes int) { // all classes in a ring
		m.Classes = m.Classes[:classes]
		for c := range m.Classes {
			m.Classes[c].Visits[0].Next = []Branch{{c, 1, one}}
			m.Classes[c].Visits[1].Next = []Branch{{(c + 1) % classes, 0, one}}
		}
		m.Classes[0].Population = 1000
	}
	var tooLarge *num.TooLargeError
	chain(24)
	if _, err := Solve(context.Background(), m, Settings{}); !errors.As(err, &tooLarge) || tooLarge.States != 1<<24 {
		t.Errorf("24 classes: %v", err)
	}
	chain(12)
	if _, err := Solve(context.Background(), m, Settings{MaxBytes: 1 << 28}); !errors.As(err, &tooLarge) || tooLarge.Bytes < 2*48*1000*(1<<12) {
		t.Errorf("12 classes: %v", err)
	}
}
