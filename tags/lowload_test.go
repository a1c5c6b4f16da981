package tags_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"productform/internal/input"
	"productform/sizes"
	"productform/tags"
)

// parse returns the distribution with the given name and mean 1.
func parse(t *testing.T, name string) sizes.Distribution {
	t.Helper()
	d, err := sizes.Parse(name, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The factor matches closed forms. The remaining size of an exponential job is again exponential,
// so the formula is exact. The remaining size of a job of size 1 is uniform on [0, 1], and the
// minimum of h such sizes has mean 1/(h+1). For Pareto sizes, P(X_e > x) = 1 - (1 - 1/α) x/low up
// to low, and beyond it (x/low)^(1-α)/α.
func TestFactorInClosedForm(t *testing.T) {
	for _, hosts := range []int{1, 2, 3, 8, 64, 1000} {
		h := float64(hosts)
		isClose2(t, parse(t, "exponential"), hosts, 1)
		if hosts > 1 {
			isClose2(t, parse(t, "deterministic"), hosts, (h+1)/h/2)
		}
		const alpha = 2.5
		low := 1 - 1/alpha // for a mean of 1
		first := low * ((1-math.Pow(1/alpha, h+1))/(h+1)/(1-1/alpha) + math.Pow(1/alpha, h)/((alpha-1)*h-1))
		square := alpha * low * low / (alpha - 2)
		isClose2(t, parse(t, "pareto:2.5"), hosts, square/2/(h*first))
	}
}

// For a list of n sizes, P(X_e > x) is linear between them, and the integral of its power is a sum
// over the gaps.
func TestFactorOfLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		list := make([]float64, 1+r.IntN(8))
		var sum, square float64
		for i := range list {
			list[i] = math.Exp(12 * r.Float64())
			sum += list[i]
			square += list[i] * list[i]
		}
		d, err := sizes.NewEmpirical(list)
		if err != nil {
			t.Fatal(err)
		}
		hosts := 2 + r.IntN(20)
		h := float64(hosts)
		slices.Sort(list)
		remaining := func(x float64) (part float64) { // P(X_e > x)
			for _, s := range list {
				part += max(0, s-x) / sum
			}
			return part
		}
		first, from, before := 0.0, 0.0, 1.0
		for _, s := range list {
			if after := remaining(s); after < before {
				first += (s - from) * (math.Pow(before, h+1) - math.Pow(after, h+1)) / (before - after) / (h + 1)
				from, before = s, after
			}
		}
		isClose2(t, d, hosts, square/sum/2/(h*first))
	}
}

// isClose2 allows for the proved error of the integral of firstOf, by which the factor is divided.
func isClose2(t *testing.T, d sizes.Distribution, hosts int, want float64) {
	t.Helper()
	got, err := tags.LowLoadFactor(d, hosts)
	if err != nil || !(got >= (1-2.8e-4)*want && got <= (1+1.1e-4)*want) {
		t.Errorf("%v, %d hosts: %v, %v, want %v", d, hosts, got, err, want)
	}
}

// Jobs are simulated one by one on two hosts at load 0.05, by the recursion of Kiefer and
// Wolfowitz: each waits for the host with the least work. The formula then gives nearly the factor
// times the simulated mean.
func TestFactorMatchesSimulation(t *testing.T) {
	const load, jobs, parts = 0.05, 100_000, 20
	d := parse(t, "hyperexponential:20")
	factor, err := tags.LowLoadFactor(d, 2)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tags.Evaluate(t.Context(), tags.Model{Sizes: d, Hosts: 2, Load: load}, tags.PolicyCentral, nil)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	var least, most, sum, squares float64
	for range parts {
		var waiting float64
		for range jobs {
			waiting += least
			work := least + d.Sample(random)
			gap := random.ExpFloat64() / (2 * load)
			least, most = max(0, min(work, most)-gap), max(0, max(work, most)-gap)
		}
		ratio := waiting / jobs / r.MeanWaiting.Float
		sum += ratio
		squares += ratio * ratio
	}
	mean := sum / parts
	deviation := math.Sqrt((squares/parts - mean*mean) / (parts - 1))
	// The ratio grows with the load, from 1/factor at 0 to 1 at 1; at 0.05, a tenth of that range
	// is allowed.
	if low, high := 1/factor-5*deviation, 1/factor+0.1*(1-1/factor)+5*deviation; !(mean >= low && mean <= high) {
		t.Errorf("true over formula: %v ± %v, want %v at low loads", mean, deviation, 1/factor)
	}
}

func TestFactorRejects(t *testing.T) {
	var bad *input.Error
	for _, hosts := range []int{0, -1, tags.MaxQueueHosts + 1} {
		if _, err := tags.LowLoadFactor(parse(t, "exponential"), hosts); !errors.As(err, &bad) || bad.Path != "hosts" {
			t.Errorf("%d hosts: %v", hosts, err)
		}
	}
	if _, err := tags.LowLoadFactor(parse(t, "pareto:1.5"), 2); !errors.Is(err, sizes.ErrInfinite) {
		t.Errorf("%v, want that E[X²] is infinite", err)
	}
}
