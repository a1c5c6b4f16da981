package bf

import (
	"cmp"
	"context"
	"math/big"
	"math/bits"
	"slices"

	"productform/cluster"
)

// classGraph is the lattice of all sets A of active classes: G(∅) = 1,
//
//	G(A) = Σ_{i∈A} λ_i G(A∖{i}) / (μ(A) - λ(A)),  Z = Σ_A G(A)
//
// (Bonald, Comte and Mathieu, POMACS 1(2), 2017). State A is the mask of A, and one more
// state adds all up. It needs every group to be a single server.
func classGraph(ctx context.Context, p *problem) (*graph, error) {
	n := len(p.classes)
	stop := cancellation{ctx: ctx}
	g := newGraph(ClassLattice, 1<<n+1, n<<n/2+1<<n)
	for _, k := range p.classes {
		g.weights = append(g.weights, k.rate)
	}
	masks := p.classMasks()
	for a := range 1 << n {
		if err := stop.after(n * n); err != nil {
			return nil, err
		}
		for h := a; h != 0; h &= h - 1 {
			i := bits.TrailingZeros(uint(h))
			g.addTerm(int32(i), int32(a&^(1<<i)))
		}
		rest := int32(-1)
		if a != 0 {
			g.own = append(g.own, int32(bits.TrailingZeros(uint(a))))
			rest = int32(len(g.weight) - bits.OnesCount(uint(a)))
		}
		p.addTotal(g, func(s int) int { return b2i(masks[s]&a != 0) })
		g.endState(int32(bits.OnesCount(uint(a))), rest)
	}
	order := make([]int32, 1<<n)
	for a := range order {
		order[a] = int32(a)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(g.layer[a], g.layer[b]) })
	for _, a := range order {
		g.addTerm(-1, a)
	}
	g.total.addSmall(1)
	g.endState(int32(n+1), -1)
	return g, g.close(ctx, p)
}

// classMasks returns the classes of each server as a mask.
func (p *problem) classMasks() []int {
	masks := make([]int, len(p.groups))
	for i, k := range p.classes {
		for _, c := range k.choose {
			masks[c.Server] |= 1 << i
		}
	}
	return masks
}

// addTotal appends M(k) = Σ_g count(g) C_g of the next state to g.
func (p *problem) addTotal(g *graph, count func(group int) int) {
	if p.small {
		var m int64
		for s, c := range p.capacity64 {
			m += int64(count(s)) * c
		}
		g.total.addSmall(m)
		return
	}
	m, t := new(big.Int), new(big.Int)
	for s := range p.groups {
		m.Add(m, t.Mul(p.groups[s].capacity, t.SetInt64(int64(count(s)))))
	}
	g.total.add(m)
}

// symmetricGraph is the lattice of numbers k_g <= n_g of servers of each group (all sets of
// servers, if every group is a single one): Z(0) = 1,
//
//	Z(k) = Σ_g k_g C_g Z(k-e_g) / (M(k) - λ(k)),  M(k) = Σ_g k_g C_g,
//	λ(k) = Σ_t λ_t Π_g C(k_g, d_tg)/C(n_g, d_tg).
//
// State k is the number Σ_g k_g Π_{h<g} (n_h+1). The shares of a problem that has them take prec bits.
func symmetricGraph(ctx context.Context, p *problem, prec uint) (*graph, error) {
	name := SymmetricLattice
	if p.whole {
		name = ServerLattice
	}
	states := 1
	at := make([]int32, len(p.groups)) // weight of one server of each group
	for _, group := range p.groups {
		states *= group.n + 1
	}
	stop := cancellation{ctx: ctx}
	g := newGraph(name, states, states*len(p.groups))
	for s, group := range p.groups {
		at[s] = int32(len(g.weights))
		for k := range group.n {
			g.weights = append(g.weights, new(big.Int).Mul(group.capacity, big.NewInt(int64(k+1))))
		}
	}
	var ways *wayTables
	switch {
	case p.shared:
		var err error
		if g.shares, err = newShares(ctx, p, prec); err != nil {
			return nil, err
		}
		g.own = make([]int32, 0, states*len(p.classes))
	case !p.whole:
		ways = p.wayTables()
		g.own = make([]int32, 0, states*len(p.classes))
		g.coef = &integers{small: make([]int64, 0, states*len(p.classes))}
	}
	var buf big.Int
	count := make([]int, len(p.groups))
	lowest := p.byLowestServer()
	for state := range states {
		if err := stop.after(8 * (len(p.groups) + len(p.classes))); err != nil {
			return nil, err
		}
		stride, layer, rest := 1, 0, int32(-1)
		low := -1
		p.addTotal(g, func(s int) int { return count[s] })
		idle := g.total.at(state, &buf).Sign() == 0 // servers of capacity 0 alone, which no class uses alone
		for s, group := range p.groups {
			if idle {
				break
			}
			if count[s] > 0 {
				if low < 0 {
					low = s
				}
				g.addTerm(at[s]+int32(count[s]-1), int32(state-stride))
				layer += count[s]
			}
			stride *= group.n + 1
		}
		if p.whole && low >= 0 {
			rest = g.first[len(g.first)-1]
			for _, i := range lowest[low] {
				if p.inside(i, count) {
					g.own = append(g.own, i)
				}
			}
		}
		if !p.whole && !idle {
			p.addOwn(g, count, ways)
		}
		g.endState(int32(layer), rest)
		for s := range count {
			if count[s]++; count[s] <= p.groups[s].n {
				break
			}
			count[s] = 0
		}
	}
	return g, g.close(ctx, p)
}

// byLowestServer lists the classes by the first server they may use.
func (p *problem) byLowestServer() [][]int32 {
	lists := make([][]int32, len(p.groups))
	for i, k := range p.classes {
		low := len(p.groups)
		for _, c := range k.choose {
			low = min(low, c.Server)
		}
		lists[low] = append(lists[low], int32(i))
	}
	return lists
}

// inside reports whether count has all servers of class i, each a single one.
func (p *problem) inside(i int32, count []int) bool {
	for _, c := range p.classes[i].choose {
		if count[c.Server] == 0 {
			return false
		}
	}
	return true
}

// addOwn appends the classes that fit into count to the next state, with the number of ways
// Π_g C(k_g, d_g) to choose their servers among those counted, unless ways is nil.
func (p *problem) addOwn(g *graph, count []int, ways *wayTables) {
	for i, k := range p.classes {
		if ways == nil {
			if !slices.ContainsFunc(k.choose, func(c cluster.Choice) bool { return count[c.Server] < c.Choose }) {
				g.own = append(g.own, int32(i))
			}
			continue
		}
		if p.small {
			n := int64(1)
			for j, c := range k.choose {
				n *= ways.small[i][j][count[c.Server]]
			}
			if n != 0 {
				g.own = append(g.own, int32(i))
				g.coef.addSmall(n)
			}
			continue
		}
		n := new(big.Int).Set(intOne)
		for j, c := range k.choose {
			n.Mul(n, ways.large[i][j][count[c.Server]])
		}
		if n.Sign() != 0 {
			g.own = append(g.own, int32(i))
			g.coef.add(n)
		}
	}
}

// wayTables holds C(k, d) at [i][j][k] for choice j of class i; all fit into a word if the problem is small.
type wayTables struct {
	small [][][]int64
	large [][][]*big.Int
}

func (p *problem) wayTables() *wayTables {
	w := &wayTables{make([][][]int64, len(p.classes)), make([][][]*big.Int, len(p.classes))}
	for i, class := range p.classes {
		for _, c := range class.choose {
			n := p.groups[c.Server].n
			if p.small {
				t := make([]int64, n+1)
				for k := range t {
					t[k] = binomial64(k, c.Choose)
				}
				w.small[i] = append(w.small[i], t)
				continue
			}
			t := make([]*big.Int, n+1)
			for k := range t { // C(k, d) = C(k-1, d) k/(k-d)
				switch {
				case k < c.Choose:
					t[k] = new(big.Int)
				case k == c.Choose:
					t[k] = intOne
				default:
					t[k] = new(big.Int).Mul(t[k-1], big.NewInt(int64(k)))
					t[k].Quo(t[k], big.NewInt(int64(k-c.Choose)))
				}
			}
			w.large[i] = append(w.large[i], t)
		}
	}
	return w
}

// binomial64 returns C(n, k), which must fit into 62 bits.
func binomial64(n, k int) int64 {
	if k > n {
		return 0
	}
	k = min(k, n-k)
	c := int64(1)
	for j := 1; j <= k; j++ {
		hi, lo := bits.Mul64(uint64(c), uint64(n-k+j))
		q, _ := bits.Div64(hi, lo, uint64(j))
		c = int64(q)
	}
	return c
}
