package bf

import (
	"math/big"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// wordProblem returns the integers of problemOf if they fit into words.
func TestWordProblem(t *testing.T) {
	small := 0
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{ZeroRates: true, Long: rapid.Bool().Draw(t, "long")})
		if rapid.Bool().Draw(t, "far apart") {
			m.Servers[0].Capacity = num.Rat(rapid.SampledFrom([]string{
				"1e18", "1e19", "1e-18", "1e-19", "4611686018427387903", "4611686018427387904",
			}).Draw(t, "capacity"))
		}
		c := &cluster.Component{Model: *m}
		got, want := wordProblem(c), problemOf(c, oneWay(c))
		if (got != nil) != (want.Small && want.Scale.IsUint64()) {
			t.Fatalf("in words %v, small %v, over %v", got != nil, want.Small, want.Scale)
		}
		if got == nil {
			return
		}
		small++
		same := got.Scale.Cmp(want.Scale) == 0 && got.Bits == want.Bits &&
			reflect.DeepEqual(got.Capacity64, want.Capacity64) && reflect.DeepEqual(got.Rate64, want.Rate64) &&
			len(got.Groups) == len(want.Groups) && len(got.Classes) == len(want.Classes)
		for s := range want.Groups {
			same = same && got.Groups[s].N == want.Groups[s].N &&
				got.Groups[s].Capacity.Cmp(want.Groups[s].Capacity) == 0
		}
		for i := range want.Classes {
			same = same && got.Classes[i].Rate.Cmp(want.Classes[i].Rate) == 0 &&
				reflect.DeepEqual(got.Classes[i].Choose, want.Classes[i].Choose)
		}
		if !same {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
	if small == 0 {
		t.Error("no model fits into words")
	}
}

// Rounded components have integers of the requested length that bound the original numbers from the
// correct side, within one common unit.
func TestRounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := oracle.DrawModel(t, oracle.Options{Long: true})
		bits := rapid.SampledFrom([]int{20, 53, 200}).Draw(t, "bits")
		c := &cluster.Component{Model: *m}
		less, more := &roundedComponent(c, bits, true).Model, &roundedComponent(c, bits, false).Model
		total, limit := new(big.Rat), new(big.Rat).SetInt(new(big.Int).Lsh(intOne, uint(bits)))
		unit := new(big.Rat)
		for s, server := range m.Servers {
			unit.Add(unit, server.Capacity)
			total.Add(total, less.Servers[s].Capacity)
		}
		for i, k := range m.Classes {
			unit.Add(unit, k.ArrivalRate)
			total.Add(total, more.Classes[i].ArrivalRate)
		}
		if total.Cmp(limit) >= 0 {
			t.Fatalf("sum %v, more than %d bits", total, bits)
		}
		unit.Quo(new(big.Rat).SetInt(new(big.Int).Lsh(intOne, uint(bits-1))), unit)
		near := func(what string, low, high, x *big.Rat) {
			x = new(big.Rat).Mul(x, unit)
			apart := new(big.Rat).Sub(high, low)
			if !low.IsInt() || !high.IsInt() || low.Cmp(x) > 0 || high.Cmp(x) < 0 || apart.Cmp(big.NewRat(1, 1)) > 0 {
				t.Fatalf("%s: [%v, %v] around %v", what, low, high, x)
			}
		}
		for s := range m.Servers {
			near("capacity", more.Servers[s].Capacity, less.Servers[s].Capacity, m.Servers[s].Capacity)
		}
		for i := range m.Classes {
			near("rate", less.Classes[i].ArrivalRate, more.Classes[i].ArrivalRate, m.Classes[i].ArrivalRate)
		}
	})
}
