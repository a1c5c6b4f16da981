package stability

import (
	"context"
	"math/big"
	"slices"

	"productform/cluster"
)

// A Room is the additional amount of one class that a stable cluster can sustain.
type Room struct {
	Name        string   `json:"name" title:"class"` // name of the class
	ArrivalRate *big.Rat `json:"arrival_rate"`       // current arrival rate, jobs per unit of time

	// Limit is the arrival rate of the class below which the cluster is stable. Scale is Limit
	// divided by the arrival rate, or nil if that is 0.
	Limit *big.Rat `json:"arrival_rate_limit" title:"stable below"`
	Scale *big.Rat `json:"critical_scale" title:"times" beside:"1"`

	// Work is the smallest μ(A) - Σ_{j∈A} λ_j of the sets A that contain the class: the cluster
	// stays stable if the class brings less than this amount of additional work per unit of time.
	Work *big.Rat `json:"-"`

	// Set holds the classes of the smallest A that attains Work; nil if there are more than
	// MostInSet.
	Set []int `json:"limit_set" title:"full then"`
}

// MostInSet is the maximum number of classes in [Room.Set]: each of many classes may be limited by
// many.
const MostInSet = 16

// Rooms returns, for each class, how much its work may grow while the other classes do not change.
// A row of classes that choose from a group grows equally in all its combinations, and in Set it
// stands for all of them.
//
// After one flow of all λ_i, it takes one augmentation for each class, which sends as much as
// possible beyond λ_i and is then undone. If the common denominator leads to numbers of more than
// 126 bits, it takes a maximum flow for each class.
//
// The error of an unstable cluster is the *[cluster.UnstableError] of [Overload]; other errors are
// those of [Cluster]. m is not modified.
func Rooms(ctx context.Context, m *cluster.Model) ([]Room, error) {
	overload, err := Overload(ctx, m)
	if err != nil {
		return nil, err
	}
	if overload != nil {
		return nil, overload
	}
	g, err := newGraph(ctx, m)
	if err != nil {
		return nil, err
	}
	size := new(big.Int)
	for _, x := range slices.Concat(g.load, g.capacity) {
		size.Add(size, x)
	}
	search := g.roomOf
	if size.BitLen() >= wideBits-1 {
		search = g.roomOfBig
	} else if _, err := g.solve(ctx, g.load, g.capacity); err != nil {
		return nil, err
	}
	of := make([]Room, len(g.load))
	for i := range of {
		if of[i], err = search(ctx, int32(i)); err != nil {
			return nil, err
		}
	}
	rooms := make([]Room, len(m.Classes))
	for row, i := range g.class {
		rooms[row] = of[i]
		r, class := &rooms[row], m.Classes[row]
		if at, found := slices.BinarySearch(r.Set, row); !found && r.Set != nil { // so far it brings no work
			r.Set = slices.Insert(slices.Clone(r.Set), at, row)
		}
		r.Name, r.ArrivalRate = class.Name, class.ArrivalRate
		r.Limit = new(big.Rat).Quo(r.Work, m.MeanSizeOf(row))
		r.Limit.Add(r.Limit, r.ArrivalRate)
		if r.ArrivalRate.Sign() > 0 {
			r.Scale = new(big.Rat).Quo(r.Limit, r.ArrivalRate)
		}
	}
	return rooms, nil
}

// roomOf returns the room of a class of a network that carries a flow of all λ_i, and leaves such a
// flow.
func (g *graph) roomOf(ctx context.Context, i int32) (Room, error) {
	more := uint128{0, 1}
	for _, x := range g.slack {
		more = more.plus(x)
	}
	g.sources = append(g.sources[:0], i)
	g.need[i] = more
	if err := g.maximize(ctx); err != nil {
		return Room{}, err
	}
	sent := more.minus(g.need[i])
	g.need[i] = uint128{}
	room := g.room()
	for e := g.first[i]; e < g.first[i+1] && !sent.isZero(); e++ {
		if amount := minUint128(sent, g.flow[e]); !amount.isZero() {
			g.take(e, amount)
			g.slack[g.head[e]] = g.slack[g.head[e]].plus(amount)
			sent = sent.minus(amount)
		}
	}
	return room, nil
}

// roomOfBig is roomOf for numbers too long for the network, which carries no flow.
func (g *graph) roomOfBig(ctx context.Context, i int32) (Room, error) {
	need := slices.Clone(g.load)
	for _, x := range g.capacity {
		need[i] = new(big.Int).Add(need[i], x)
	}
	need[i].Add(need[i], big.NewInt(1))
	_, err := g.solve(ctx, need, g.capacity)
	return g.room(), err
}

// room returns the margin of the set that the last search reached, and its rows that bring work if
// there are few.
func (g *graph) room() Room {
	load, capacity := g.sums(g.classes, g.servers)
	r := Room{Work: new(big.Rat).SetFrac(capacity.Sub(capacity, load), g.unit)}
	if set := slices.DeleteFunc(
		g.rowsOf(g.classes), func(row int) bool { return g.work[row].Sign() == 0 },
	); len(set) <= MostInSet {
		r.Set = append([]int{}, set...)
	}
	return r
}
