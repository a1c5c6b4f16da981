package cluster_test

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// EqualSizes keeps the work of each class and of each set of classes for all sizes of classes, and
// returns the model itself if no class has its own.
func TestEqualSizesKeepWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t, 4, 5, 2)
		before := shape(m)
		e := m.EqualSizes()
		if shape(m) != before {
			t.Fatal("the model has changed")
		}
		own := false
		size, err := e.OneMeanSize()
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range m.Classes {
			own = own || c.MeanSize != nil
			want := new(big.Rat).Set(c.ArrivalRate)
			switch {
			case c.MeanSize != nil:
				want.Mul(want, c.MeanSize)
			case m.MeanSize != nil:
				want.Mul(want, m.MeanSize)
			}
			if got := new(big.Rat).Mul(e.Classes[i].ArrivalRate, size); got.Cmp(want) != 0 ||
				m.Work(i).Cmp(want) != 0 || e.Work(i).Cmp(want) != 0 {
				t.Fatalf("class %d brings work %v, %v, %v, want %v", i, got, m.Work(i), e.Work(i), want)
			}
			if e.Classes[i].MeanSize != nil {
				t.Fatalf("class %d has its own size", i)
			}
		}
		if (e == m) == own {
			t.Fatalf("own sizes %v, the same model %v", own, e == m)
		}
		margin, scale := oracle.Extremes(m)
		margin2, scale2 := oracle.Extremes(e)
		if margin.Cmp(margin2) != 0 || (scale == nil) != (scale2 == nil) || scale != nil && scale.Cmp(scale2) != 0 {
			t.Fatalf("margin %v, %v, scale %v, %v", margin, margin2, scale, scale2)
		}
	})
}

// If all classes have the same size, that is the mean size, and rates do not change; a class
// without jobs does not count. Otherwise the error names the first class whose size differs from
// that of the first.
func TestOneMeanSize(t *testing.T) {
	size := func(n int64) *big.Rat { return big.NewRat(n, 1) }
	model := func(whole *big.Rat, own ...*big.Rat) *cluster.Model {
		m := &cluster.Model{Servers: []cluster.Server{{Name: "s", Capacity: size(9)}}, MeanSize: whole}
		for i, s := range own {
			m.Classes = append(m.Classes, cluster.Class{
				Name:        string(rune('a' + i)),
				ArrivalRate: size(1),
				MeanSize:    s,
				Servers:     cluster.On(0),
			})
		}
		return m
	}
	idle := model(nil, size(3), nil)
	idle.Classes[1].ArrivalRate = new(big.Rat)
	none := model(size(5), size(3))
	none.Classes[0].ArrivalRate = new(big.Rat)
	for _, c := range []struct {
		m    *cluster.Model
		want *big.Rat
		err  string
	}{
		{m: model(nil, nil, nil), want: size(1)},
		{m: model(size(2), nil, nil), want: size(2)},
		{m: model(size(2), size(3), size(3)), want: size(3)},
		{m: model(size(2), nil, size(2)), want: size(2)},
		{m: idle, want: size(3)},
		{m: none, want: size(5)},
		{
			m: model(nil, nil, size(2)),
			err: `classes[1].mean_size = 2: want 1, that of "a": first come, first served has formulas only for ` +
				`exponential sizes with one mean`,
		},
		{
			m: model(size(4), size(2), nil),
			err: `classes[1].mean_size = 4: want 2, that of "a": first come, first served has formulas only for ` +
				`exponential sizes with one mean`,
		},
	} {
		got, err := c.m.OneMeanSize()
		if c.err != "" {
			if e := new(num.InputError); !errors.As(err, &e) || err.Error() != c.err {
				t.Errorf("error %v, want %s", err, c.err)
			}
			if _, err := c.m.Rank(t.Context()); err == nil || err.Error() != c.err {
				t.Errorf("rank function: %v", err)
			}
			continue
		}
		if err != nil || got.Cmp(c.want) != 0 {
			t.Errorf("%v, %v, want %v", got, err, c.want)
			continue
		}
		for i, k := range c.m.EqualSizes().Classes {
			if k.ArrivalRate.Sign() > 0 && k.ArrivalRate.Cmp(c.m.Classes[i].ArrivalRate) != 0 {
				t.Errorf("class %d of rate %v, want %v", i, k.ArrivalRate, c.m.Classes[i].ArrivalRate)
			}
		}
	}
}
