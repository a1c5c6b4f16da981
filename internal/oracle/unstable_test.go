package oracle_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"productform/bf"
	"productform/cluster"
	"productform/fluid"
	"productform/fluid/traffic"
	"productform/num"
	"productform/sizes"
	"productform/tags"
)

// Every theory reports an overloaded system as num.ErrUnstable, with any witness.
func TestOneErrUnstable(t *testing.T) {
	one := big.NewRat(1, 1)
	servers := &cluster.Model{Servers: []cluster.Server{{Name: "s", Count: 1, Capacity: one}},
		Classes: []cluster.Class{{Name: "c", ArrivalRate: one, Servers: []cluster.Choice{{Choose: 1}}}}}
	_, err := bf.Solve(t.Context(), servers, bf.Settings{})
	var set *cluster.UnstableError
	if !errors.Is(err, num.ErrUnstable) || !errors.As(err, &set) {
		t.Errorf("cluster: %v", err)
	}
	size, _ := sizes.NewDeterministic(1)
	_, err = tags.Evaluate(
		context.Background(), tags.Model{Sizes: size, Hosts: 2, Load: 0.75}, tags.PolicyTAGS, []float64{1},
	)
	var host *tags.UnstableError
	if !errors.Is(err, num.ErrUnstable) || !errors.As(err, &host) || host.Host != 0 {
		t.Errorf("farm: %v", err)
	}
	jobs := &traffic.Model{Resources: []fluid.Resource{{Name: "r", Capacity: one}},
		Classes: []traffic.Class{{Name: "c", Demand: []*big.Rat{one}, ArrivalRate: one}}}
	var resource *traffic.UnstableError
	if err := jobs.Stable(); !errors.Is(err, num.ErrUnstable) || !errors.As(err, &resource) {
		t.Errorf("traffic: %v", err)
	}
}
