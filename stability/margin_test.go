package stability

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// hasRoom is correct: if it reports room, the flow can be sent. It changes nothing.
func TestHasRoom(t *testing.T) {
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		const numServers = 6
		var servers [][]int32
		var need, capacity []*big.Int
		for range rapid.IntRange(1, 8).Draw(t, "classes") {
			list := rapid.SliceOfNDistinct(rapid.Int32Range(0, numServers-1), 1, 4, rapid.ID).Draw(t, "servers")
			servers, need = append(servers, list), append(need, big.NewInt(rapid.Int64Range(0, 5).Draw(t, "need")))
		}
		for range numServers {
			capacity = append(capacity, big.NewInt(rapid.Int64Range(0, 12).Draw(t, "capacity")))
		}
		g := newNetwork(servers, numServers)
		if _, err := g.solve(t.Context(), need, capacity); err != nil {
			t.Fatal(err)
		}
		if len(g.classes) > 0 {
			return // overloaded
		}
		i := int32(rapid.IntRange(0, len(servers)-1).Draw(t, "class"))
		more := uint128{0, uint64(rapid.IntRange(1, 20).Draw(t, "more"))}
		slack, flow := slices.Clone(g.slack), slices.Clone(g.flow)
		has := g.hasRoom(i, more)
		if !slices.Equal(g.slack, slack) || !slices.Equal(g.flow, flow) {
			t.Fatal("it changed the network")
		}
		if !has {
			return
		}
		seen++
		g.sources, g.need[i] = append(g.sources[:0], i), more
		if err := g.maximize(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !g.need[i].isZero() {
			t.Fatalf("class %d finds no room for %v of %v", i, g.need[i], more)
		}
	})
	if seen == 0 {
		t.Error("hasRoom never found room")
	}
}
