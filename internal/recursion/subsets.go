package recursion

import (
	"context"
	"math/big"
	"math/bits"
	"slices"
)

// ClassGraph is the lattice of all sets A of active classes: G(∅) = 1,
//
//	G(A) = Σ_{i∈A} λ_i G(A∖{i}) / (μ(A) - λ(A)),  Z = Σ_A G(A)
//
// (Bonald, Comte and Mathieu, POMACS 1(2), 2017). State A is the mask of A, and one more state sums
// all. It needs every group to be a single server.
func ClassGraph(ctx context.Context, p *Problem) (*Graph, error) {
	n := len(p.Classes)
	stop := Cancellation{Ctx: ctx}
	g := newGraph(1<<n+1, n<<n/2+1<<n)
	g.ByClass = true
	for _, k := range p.Classes {
		g.Weights = append(g.Weights, k.Rate)
	}
	masks := p.ClassMasks()
	for a := range 1 << n {
		if err := stop.After(n * n); err != nil {
			return nil, err
		}
		for h := a; h != 0; h &= h - 1 {
			i := bits.TrailingZeros(uint(h))
			g.addTerm(int32(i), int32(a&^(1<<i)))
		}
		rest := int32(-1)
		if a != 0 {
			g.Own = append(g.Own, int32(bits.TrailingZeros(uint(a))))
			rest = int32(len(g.Weight) - bits.OnesCount(uint(a)))
		}
		p.addTotal(g, func(s int) int { return oneIf(masks[s]&a != 0) })
		g.endState(int32(bits.OnesCount(uint(a))), rest)
	}
	place, order := make([]int, n+1), make([]int32, 1<<n) // by numbers of classes
	for layer, sets := 0, 1; layer < n; layer++ {
		place[layer+1] = place[layer] + sets
		sets = sets * (n - layer) / (layer + 1)
	}
	for a, layer := range g.Layer {
		if err := stop.After(4); err != nil {
			return nil, err
		}
		order[place[layer]] = int32(a)
		place[layer]++
	}
	for _, a := range order {
		if err := stop.After(4); err != nil {
			return nil, err
		}
		g.addTerm(-1, a)
	}
	g.Total.addSmall(1)
	g.endState(int32(n+1), -1)
	return g, g.close(ctx, p)
}

// addTotal appends M(k) = Σ_g count(g) C_g of the next state to g.
func (p *Problem) addTotal(g *Graph, count func(group int) int) {
	if p.Small {
		var m int64
		for s, c := range p.Capacity64 {
			m += int64(count(s)) * c
		}
		g.Total.addSmall(m)
		return
	}
	m, t := new(big.Int), new(big.Int)
	for s := range p.Groups {
		m.Add(m, t.Mul(p.Groups[s].Capacity, t.SetInt64(int64(count(s)))))
	}
	g.Total.add(m)
}

// SymmetricGraph is the lattice of numbers k_g <= n_g of servers of each group (all sets of
// servers, if every group is a single one): Z(0) = 1,
//
//	Z(k) = Σ_g k_g C_g Z(k-e_g) / (M(k) - λ(k)),  M(k) = Σ_g k_g C_g,
//	λ(k) = Σ_t λ_t Π_g C(k_g, d_tg)/C(n_g, d_tg).
//
// State k is the number Σ_g k_g Π_{h<g} (n_h+1). The shares of a problem that has them take prec
// bits.
func SymmetricGraph(ctx context.Context, p *Problem, prec uint) (*Graph, error) {
	states := 1
	for _, group := range p.Groups {
		states *= group.N + 1
	}
	g := newGraph(states, states*len(p.Groups))
	at := make([]int32, len(p.Groups)) // index of the weight of one server, by group
	for s, group := range p.Groups {
		at[s] = int32(len(g.Weights))
		for k := range group.N {
			g.Weights = append(g.Weights, new(big.Int).Mul(group.Capacity, big.NewInt(int64(k+1))))
		}
	}
	var ways *wayTables
	switch {
	case p.Shared:
		var err error
		if g.Shares, err = newShares(ctx, p, prec); err != nil {
			return nil, err
		}
		g.Own = make([]int32, 0, states*len(p.Classes))
	case !p.Whole:
		ways = p.wayTables()
		g.Own = make([]int32, 0, states*len(p.Classes))
		g.Coef = &Integers{Small: make([]int64, 0, states*len(p.Classes))}
	}
	stop := Cancellation{Ctx: ctx}
	var buf big.Int
	count := make([]int, len(p.Groups))
	lowest := p.byLowestServer()
	for state := range states {
		if err := stop.After(8 * (len(p.Groups) + len(p.Classes))); err != nil {
			return nil, err
		}
		p.addTotal(g, func(s int) int { return count[s] })
		layer, rest := 0, int32(-1)
		if g.Total.At(state, &buf).Sign() != 0 { // otherwise only servers of capacity 0, which no class uses alone
			layer = p.addServers(g, count, at)
			if p.Whole {
				rest = g.First[state]
				p.addInside(g, count, lowest)
			} else {
				p.addOwn(g, count, ways)
			}
		}
		g.endState(int32(layer), rest)
		for s := range count {
			if count[s]++; count[s] <= p.Groups[s].N {
				break
			}
			count[s] = 0
		}
	}
	return g, g.close(ctx, p)
}

// addServers appends the terms k_g C_g Z(k-e_g) to the next state, which has k = count, and returns
// Σ_g k_g. at[g] is the index of the weight of one server of group g.
func (p *Problem) addServers(g *Graph, count []int, at []int32) int {
	layer, state, stride := 0, g.States(), 1
	for s, group := range p.Groups {
		if count[s] > 0 {
			g.addTerm(at[s]+int32(count[s]-1), int32(state-stride))
			layer += count[s]
		}
		stride *= group.N + 1
	}
	return layer
}

// addInside appends to the next state the classes inside count that use its first server, each
// server a single one.
func (p *Problem) addInside(g *Graph, count []int, lowest [][]int32) {
	first := slices.IndexFunc(count, func(n int) bool { return n > 0 })
	for _, i := range lowest[first] {
		if p.hasAllServers(i, count) {
			g.Own = append(g.Own, i)
		}
	}
}

// byLowestServer lists the classes by the first server they may use.
func (p *Problem) byLowestServer() [][]int32 {
	lists := make([][]int32, len(p.Groups))
	for i, k := range p.Classes {
		low := len(p.Groups)
		for _, c := range k.Choose {
			low = min(low, c.Group)
		}
		lists[low] = append(lists[low], int32(i))
	}
	return lists
}

// hasAllServers reports whether count has all servers of class i, each a single one.
func (p *Problem) hasAllServers(i int32, count []int) bool {
	for _, c := range p.Classes[i].Choose {
		if count[c.Group] == 0 {
			return false
		}
	}
	return true
}

// addOwn appends the classes that fit into count to the next state, with the number of ways
// Π_g C(k_g, d_g) to choose their servers among those counted, unless ways is nil.
func (p *Problem) addOwn(g *Graph, count []int, ways *wayTables) {
	for i, k := range p.Classes {
		if ways == nil {
			if !slices.ContainsFunc(k.Choose, func(c Choice) bool { return count[c.Group] < c.Choose }) {
				g.Own = append(g.Own, int32(i))
			}
			continue
		}
		if p.Small {
			n := int64(1)
			for j, c := range k.Choose {
				n *= ways.small[i][j][count[c.Group]]
			}
			if n != 0 {
				g.Own = append(g.Own, int32(i))
				g.Coef.addSmall(n)
			}
			continue
		}
		n := big.NewInt(1)
		for j, c := range k.Choose {
			n.Mul(n, ways.large[i][j][count[c.Group]])
		}
		if n.Sign() != 0 {
			g.Own = append(g.Own, int32(i))
			g.Coef.add(n)
		}
	}
}

// wayTables holds C(k, d) at [i][j][k] for choice j of class i; all fit into a word if the problem
// is small.
type wayTables struct {
	small [][][]int64
	large [][][]*big.Int
}

func (p *Problem) wayTables() *wayTables {
	w := &wayTables{make([][][]int64, len(p.Classes)), make([][][]*big.Int, len(p.Classes))}
	for i, class := range p.Classes {
		for _, c := range class.Choose {
			n := p.Groups[c.Group].N
			if p.Small {
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
					t[k] = big.NewInt(1)
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
