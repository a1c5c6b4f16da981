package stability

import (
	"context"
	"math/big"
	"slices"

	"productform/cluster"
)

// A Room says how much more of one class a stable cluster can bear.
type Room struct {
	Work *big.Rat // min over A that contain the class of μ(A) - Σ_{j∈A} λ_j: with any less work of it per unit of time the cluster stays stable
	Set  []int    // classes of the smallest A that attains it; nil if they are more than MostInSet
}

// MostInSet bounds the classes of [Room.Set]: of many classes each may be stopped by many.
const MostInSet = 16

// Rooms returns for each class how much its work alone may grow, while the other classes stay as they are. Arrival rates may grow by
// Work over the mean size of the class. A row of classes that choose from a group grows in all its combinations alike, and in Set it
// stands for all of them.
//
// After one flow of all λ_i it takes one augmentation for each class: what the class can send beyond λ_i, which is given back then. If the
// common denominator makes numbers of more than 126 bits it is a maximum flow for each class.
//
// The error of an unstable cluster is the *[cluster.UnstableError] of [Overload], others are those of [Cluster]. m is not modified.
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
		if at, found := slices.BinarySearch(of[i].Set, row); !found && of[i].Set != nil { // it brings no work yet
			rooms[row].Set = slices.Insert(slices.Clone(of[i].Set), at, row)
		}
	}
	return rooms, nil
}

// roomOf returns the room of a class of the network that carries a flow of all λ_i, and leaves such a flow.
func (g *graph) roomOf(ctx context.Context, i int32) (Room, error) {
	more := wide{0, 1}
	for _, x := range g.slack {
		more = more.plus(x)
	}
	g.sources = append(g.sources[:0], i)
	g.need[i] = more
	if err := g.maximize(ctx); err != nil {
		return Room{}, err
	}
	sent := more.minus(g.need[i])
	g.need[i] = wide{}
	room := g.room()
	for e := g.first[i]; e < g.first[i+1] && !sent.isZero(); e++ {
		if amount := least(sent, g.flow[e]); !amount.isZero() {
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

// room returns the margin of the set that the last search reached, and its rows that bring work if they are few.
func (g *graph) room() Room {
	load, capacity := g.sums(g.classes, g.servers)
	r := Room{Work: new(big.Rat).SetFrac(capacity.Sub(capacity, load), g.unit)}
	if set := slices.DeleteFunc(g.rowsOf(g.classes), func(row int) bool { return g.work[row].Sign() == 0 }); len(set) <= MostInSet {
		r.Set = append([]int{}, set...)
	}
	return r
}
