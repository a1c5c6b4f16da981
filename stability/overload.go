package stability

import (
	"context"
	"math/big"

	"productform/cluster"
	"productform/num"
)

// Overload returns nil for a stable cluster. Otherwise it returns a set of classes whose jobs bring
// at least as much work as all the servers that they can use can do. This is the verdict of
// [Cluster] with a witness, but without margins, from one maximum flow. A row of classes that
// choose from a group stands for all its combinations. Rates and capacities of the witness are
// those of [cluster.Model.EqualSizes].
//
// The error comes from [cluster.Model.Check], or names a number too large to handle. Once ctx is
// done, Overload promptly returns ctx.Err(). m is not modified.
func Overload(ctx context.Context, m *cluster.Model) (*cluster.UnstableError, error) {
	g, err := newGraph(ctx, m)
	if err != nil {
		return nil, err
	}
	var all []int32
	for i, x := range g.load {
		if x.Sign() > 0 {
			all = append(all, int32(i))
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	// λ(A) and μ(A) are integers in units, so λ(A) < μ(A) if and only if λ(A) (1 + 1/Λ) <= μ(A),
	// where Λ >= λ(A) is the load of all classes.
	total, _ := g.sums(all, nil)
	if _, err := g.flowAtScale(
		ctx, ratio{capacity: new(big.Int).Add(total, big.NewInt(1)), load: total}, all,
	); err != nil {
		return nil, err
	}
	if len(g.classes) == 0 {
		return nil, nil
	}
	load, capacity := g.sums(g.classes, g.servers)
	unit := new(big.Rat).SetInt(g.unit)
	perJob := unit.Mul(unit, num.OrOne(m.EqualSizes().MeanSize)) // units of work
	rate := func(x *big.Int) *big.Rat { return new(big.Rat).Quo(new(big.Rat).SetInt(x), perJob) }
	rows := g.rowsOf(g.classes)
	return &cluster.UnstableError{
		Classes:     rows,
		Names:       m.NamesOf(rows),
		ArrivalRate: rate(load),
		Capacity:    rate(capacity),
	}, nil
}
