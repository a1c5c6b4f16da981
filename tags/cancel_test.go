package tags

import (
	"context"
	"errors"
	"testing"
	"time"

	"productform/num"
	"productform/sizes"
	"productform/sizes/exact"
)

// Long computations stop promptly once their context is done. If it is done beforehand, they do not
// start.
func TestCancelled(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewBoundedPareto(1, 1e6, 1.1)), Hosts: 24, Load: 0.05}
	list := make([]float64, 3000)
	for i := range list {
		list[i] = 1 + float64(i*i%9973)
	}
	long := Model{Sizes: ok(sizes.NewEmpirical(list)), Hosts: 6, Load: 0.2}
	e := ExactModel{
		Sizes: exact.Gammas{{Weight: num.Rat("1"), Phases: 1, Mean: num.Rat("1")}},
		Hosts: 1,
		Load:  num.Rat("0.5"),
	}
	for name, f := range map[string]func(context.Context) error{
		"slowdown": func(ctx context.Context) error {
			_, err := Optimize(ctx, m, PolicyTAGS, Objective{Slowdown: 1})
			return err
		},
		"SITA": func(ctx context.Context) error {
			_, err := Optimize(ctx, m, PolicySITA, Objective{Slowdown: 1})
			return err
		},
		"fairness": func(ctx context.Context) error {
			_, err := Optimize(ctx, long, PolicyTAGS, Objective{Fair: true})
			return err
		},
		"expand": func(ctx context.Context) error {
			_, err := Expand(ctx, m, PolicyTAGS, ExpansionSettings{Target: 1e-9})
			return err
		},
		"enclose": func(ctx context.Context) error { _, err := Enclose(ctx, e, PolicyTAGS, nil, 1e-280); return err },
	} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		start := time.Now()
		err := f(ctx)
		cancel()
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) && name != "enclose" ||
			took > 10*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
		ctx, cancel = context.WithCancel(context.Background())
		cancel()
		if err := f(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled before: %v", name, err)
		}
	}
}
