package stations

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/sim"
	"productform/whittle"
)

// The rates of a balance match the exact rates, for any order of requests.
func TestBalanceIsExact(t *testing.T) {
	for seed := range 20 {
		_, exact := exampleTables(200+seed, 4)
		classes := bits.Len(uint(len(exact))) - 1
		box := whittle.Box(slices.Repeat([]int{6}, classes)...)
		phi, err := whittle.BalanceFromRank(t.Context(), exact, box)
		if err != nil {
			t.Fatal(err)
		}
		want, err := whittle.Rates(t.Context(), phi)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		b := NewBalance(classes, float(exact))
		got := make([]float64, classes)
		for _, k := range r.Perm(len(want)) {
			x, _ := box.State(k)
			if err := b.Rates(x, got); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				w, _ := want[k][i].Float64()
				if math.Abs(v-w) > 1e-13*w { // 2(N+2)n 2^-53 with n = 24 is 3.2e-14
					t.Errorf("seed %d: φ_%d(%v) = %v, want %v", seed, i, x, v, w)
				}
			}
		}
		if all := len(want); b.states != all {
			t.Errorf("seed %d: %d states, want %d", seed, b.states, all)
		}
	}
}

// Concurrent simulations, with requests in any order, get the same digits and the same table.
func TestBalanceDoesNotDependOnOrder(t *testing.T) {
	rank := func(set uint64) float64 { return math.Sqrt(float64(bits.OnesCount64(set))) }
	r := rand.New(rand.NewPCG(1, 2))
	var states [][]int
	for range 300 {
		states = append(states, []int{r.IntN(40), r.IntN(5), r.IntN(90)})
	}
	ask := func(b *Balance, order []int) [][]float64 {
		answers := make([][]float64, len(states))
		for _, k := range order {
			answers[k] = make([]float64, 3)
			if err := b.Rates(states[k], answers[k]); err != nil {
				t.Error(err)
			}
		}
		return answers
	}
	first := NewBalance(3, rank)
	want := ask(first, r.Perm(len(states)))
	other := NewBalance(3, rank)
	orders := [][]int{r.Perm(len(states)), r.Perm(len(states)), r.Perm(len(states)), r.Perm(len(states))}
	var all sync.WaitGroup
	for _, order := range orders {
		all.Go(func() {
			if diff := cmp.Diff(want, ask(other, order)); diff != "" {
				t.Error(diff)
			}
		})
	}
	all.Wait()
	if first.states != other.states || first.units != other.units {
		t.Errorf("%d states and %d, %d units and %d", first.states, other.states, first.units, other.units)
	}
}

// The balance function exceeds the range of float64, but the rates do not. In every state all jobs
// share a single server equally.
func TestBalanceHasNoRange(t *testing.T) {
	for _, mu := range []float64{1e-290, 1e-3, 1, 7, 1e290} {
		b := NewBalance(2, func(set uint64) float64 { return mu })
		phi := make([]float64, 2)
		for _, x := range [][]int{{3000, 0}, {0, 5000}, {2000, 1000}} {
			if err := b.Rates(x, phi); err != nil {
				t.Fatal(err)
			}
			for i, v := range x { // jobs share the single server equally
				// 2(N+2)n 2^-53 = 4.4e-12
				if want := mu * float64(v) / float64(x[0]+x[1]); math.Abs(phi[i]-want) > 4e-12*want {
					t.Errorf("μ = %g: φ_%d(%v) = %v, want %v", mu, i, x, phi[i], want)
				}
			}
		}
	}
}

func TestBalanceTooLarge(t *testing.T) {
	b := NewBalance(3, func(uint64) float64 { return 1 })
	b.limit = 1000
	phi := make([]float64, 3)
	units, states := b.units, b.states
	for _, x := range [][]int{{20, 10, 10}, {math.MaxInt, math.MaxInt, math.MaxInt}} {
		if err := b.Rates(x, phi); !errors.Is(err, sim.ErrTooManyStates) ||
			!strings.Contains(err.Error(), "3 classes") {
			t.Errorf("%v: %v", x, err)
		}
		if b.units != units || b.states != states {
			t.Errorf("%v: %d units and %d states, were %d and %d", x, b.units, b.states, units, states)
		}
	}
	if err := b.Rates([]int{4, 4, 4}, phi); err != nil { // the limit allows these 125 states in 25 rows
		t.Error(err)
	}
	for n := range 100000 {
		if r := roundUp(n); r < n || r > n+n/8 || roundUp(r) != r {
			t.Fatalf("roundUp(%d) = %d", n, r)
		}
	}
}

// The error does not name the state that exceeds the limit, so it does not depend on which of many
// runs reaches such a state first.
func TestBalanceRefusesInTheSameWords(t *testing.T) {
	var texts []string
	for _, x := range [][]int{{900, 900, 900}, {1 << 20, 1 << 20, 1}, {3, 1 << 29, 2}} {
		b := NewBalance(3, func(uint64) float64 { return 1 })
		err := b.Rates(x, make([]float64, 3))
		if !errors.Is(err, sim.ErrTooManyStates) {
			t.Fatalf("%v: error %v", x, err)
		}
		texts = append(texts, err.Error())
	}
	if texts[0] != texts[1] || texts[0] != texts[2] {
		t.Errorf("errors differ: %q", texts)
	}
}
