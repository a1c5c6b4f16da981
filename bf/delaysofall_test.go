package bf

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// Servers that share no class are M/M/1 queues: P(T > t) is a mixture of two exponentials.
func TestDelaysOfAllMatchMixture(t *testing.T) {
	levels := oracle.Rats("0.001 1/2 19/20 99/100 0.999999")
	for _, c := range []struct{ capacity, rate [2]int64 }{{[2]int64{10, 10}, [2]int64{3, 9}},
		{[2]int64{100, 1}, [2]int64{99, 0}}, {[2]int64{2, 2}, [2]int64{1, 1}}, {[2]int64{1000, 2}, [2]int64{990, 1}}} {
		m := &cluster.Model{}
		for k, name := range []string{"a", "b"} {
			m.Servers = append(m.Servers, cluster.Server{Name: name, Capacity: big.NewRat(c.capacity[k], 1)})
			m.Classes = append(m.Classes, cluster.Class{Name: name, ArrivalRate: big.NewRat(c.rate[k], 1),
				Servers: cluster.On(k)})
		}
		got, err := quantilesOf(t.Context(), m, levels, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		tail := func(t float64) float64 {
			var sum float64
			for k, rate := range c.rate {
				sum += float64(rate) / float64(c.rate[0]+c.rate[1]) * math.Exp(-float64(c.capacity[k]-rate)*t)
			}
			return sum
		}
		for k, v := range got {
			low, high := v.Bounds()
			rest, _ := new(big.Rat).Sub(big.NewRat(1, 1), levels[k]).Float64()
			if !(high-low <= 1.01e-9*low) || !(low <= v.Float && v.Float <= high) {
				t.Errorf("%+v: level %v is in [%v, %v]", c, levels[k], low, high)
			}
			if !(tail(low*(1-1e-12)) >= rest*(1-1e-13) && tail(high*(1+1e-12)) <= rest*(1+1e-13)) { // rounding of exp
				t.Errorf("%+v: level %v is not in [%v, %v], where the tail is %v and %v", c, levels[k], low, high,
					tail(low), tail(high))
			}
		}
	}
}

// Without arrivals there are no quantiles. With one class they are the quantiles of that class.
func TestDelaysOfAllOfOne(t *testing.T) {
	m := shopModel()
	m.Classes[1].ArrivalRate = new(big.Rat)
	levels := oracle.Rats("0.5 0.99")
	all, err := quantilesOf(t.Context(), m, levels, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := delaysOf(t.Context(), m, Question{Levels: levels}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range all {
		if want := own.Classes[0].Quantiles[k].Float; math.Abs(v.Float-want) > 1e-9*want {
			t.Errorf("%v, want %v", v.Float, want)
		}
	}
	m.Classes[0].ArrivalRate = new(big.Rat)
	if all, err := quantilesOf(t.Context(), m, levels, Settings{}); err != nil || all != nil {
		t.Errorf("%v, %v without arrivals", all, err)
	}
}

// Quantiles of all jobs stop when their context is cancelled, in any round.
func TestDelaysOfAllCancelled(t *testing.T) {
	m := shopModel()
	levels := oracle.Rats("0.5 0.99")
	ask := func(ctx context.Context) error {
		_, err := quantilesOf(ctx, m, levels, Settings{})
		return err
	}
	if err := oracle.CheckEnds(ask, 1<<13, 64); err != nil {
		t.Error(err)
	}
	if _, err := quantilesOf(t.Context(), m, levels, Settings{Engine: num.Exact}); err == nil {
		t.Error("quantiles in fractions")
	}
	m.Classes[0].MeanSize = big.NewRat(2, 1)
	var bad *num.InputError
	if _, err := quantilesOf(t.Context(), m, levels, Settings{}); !errors.As(err, &bad) {
		t.Errorf("classes of two mean sizes: %v", err)
	}
}
