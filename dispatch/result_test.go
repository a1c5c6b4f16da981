package dispatch_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/num"
)

// A quantile is one of the values: at least a fraction level of the values do not exceed it, and a
// smaller fraction is below it. The quantiles of a [dispatch.Spread] are special cases.
func TestQuantilesOfLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(
			rapid.OneOf(rapid.Float64Range(0, 5), rapid.SampledFrom([]float64{0, 1, 2})), 1, 40,
		).Draw(t, "values")
		levels := []*big.Rat{
			big.NewRat(1, 2), big.NewRat(19, 20), big.NewRat(99, 100),
			big.NewRat(rapid.Int64Range(1, 999).Draw(t, "level"), 1000),
		}
		got, err := dispatch.Quantiles(values, levels)
		if err != nil {
			t.Fatal(err)
		}
		for k, q := range got {
			below, upTo := int64(0), int64(0)
			for _, v := range values {
				if v < q {
					below++
				}
				if v <= q {
					upTo++
				}
			}
			want := new(big.Rat).Mul(levels[k], big.NewRat(int64(len(values)), 1))
			if big.NewRat(below, 1).Cmp(want) >= 0 || big.NewRat(upTo, 1).Cmp(want) < 0 {
				t.Errorf("level %v of %v: %v", levels[k], values, q)
			}
		}
		if s := dispatch.SpreadOf(values); got[0] != s.P50 || got[1] != s.P95 || got[2] != s.P99 {
			t.Errorf("%v of %+v", got, s)
		}
	})
}

func TestQuantilesOfBadLevels(t *testing.T) {
	for path, c := range map[string]struct {
		values []float64
		level  *big.Rat
	}{"values": {nil, big.NewRat(1, 2)}, "levels[0]": {[]float64{1}, big.NewRat(1, 1)}} {
		_, err := dispatch.Quantiles(c.values, []*big.Rat{c.level})
		if bad := (*num.InputError)(nil); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := dispatch.Quantiles([]float64{1}, []*big.Rat{nil}); err == nil {
		t.Error("a missing level is accepted")
	}
}

// The live system sends results under their field names, regardless of their names in command
// output.
func TestResultIsSentByFieldNames(t *testing.T) {
	for _, of := range []any{dispatch.Result{}, dispatch.Spread{}, dispatch.Record{}} {
		text, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		var sent map[string]any
		if err := json.Unmarshal(text, &sent); err != nil {
			t.Fatal(err)
		}
		fields := reflect.VisibleFields(reflect.TypeOf(of))
		for _, f := range fields {
			if _, ok := sent[f.Name]; !ok {
				t.Errorf("%T is sent without %s", of, f.Name)
			}
		}
		if len(sent) != len(fields) {
			t.Errorf("%T is sent as %s", of, text)
		}
	}
}
