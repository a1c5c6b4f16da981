package bf

import (
	"context"
	"math/big"
	"slices"
)

// A graph lists the states of a lattice of one component so that the value of each is a
// positive combination of the values of earlier ones,
//
//	v(k) = Σ_t weight_t Π_{c ∈ children of t} v(c) / d(k),  d(k) > 0,
//
// over the terms t of state k; a state without terms has value 1, and the value of the last
// state, the root, is the normalization Z. All engines but the sweeps over tables of all subsets work on
// graphs; only the builders know what the states mean.
//
// The denominator d(k) = M(k) - λ(k) is a capacity less an arrival rate. λ(k) adds the classes
// that state k has of its own to those of the children of one of its terms, rest(k):
//
//	λ(k) = Σ_{c ∈ own(k)} coef(k, c) rate_c + Σ_{c ∈ children of rest(k)} λ(c).
type graph struct {
	lattice Lattice
	weights []*big.Int // distinct weights
	layer   []int32    // of each state; the children of its terms lie on lower layers

	first  []int32 // the terms of state k are first[k]..first[k+1]-1
	weight []int32 // of each term: its place in weights, -1 for weight 1
	begin  []int32 // the children of term t are child[begin[t]:begin[t+1]]
	child  []int32

	den   integers // d(k); 1 for a state that only adds up others
	total integers // M(k)
	rate  integers // λ(k)

	rest     []int32 // -1 for none
	ownFirst []int32 // the own classes of state k are own[ownFirst[k]:ownFirst[k+1]]
	own      []int32
	coef     *integers // coef(k, c) beside each entry of own; nil if all are 1

	// On the symmetric lattice of a problem that is shared these take the place of coef, rate and den.
	shares *shares
	float  []float64   // d(k), within denRoundoff, for the float engine
	big    []big.Float // d(k), within 2^-prec, for others
}

// integers is a list of integers that takes a word each as long as all are small.
type integers struct {
	small []int64
	large []*big.Int
}

func (l *integers) addSmall(v int64) {
	if l.large != nil {
		l.large = append(l.large, big.NewInt(v))
		return
	}
	l.small = append(l.small, v)
}

func (l *integers) add(v *big.Int) {
	if l.large == nil && v.IsInt64() {
		l.small = append(l.small, v.Int64())
		return
	}
	if l.large == nil {
		l.large = make([]*big.Int, len(l.small), cap(l.small))
		for i, s := range l.small {
			l.large[i] = big.NewInt(s)
		}
		l.small = nil
	}
	l.large = append(l.large, v)
}

// at returns entry k, which must not be changed; small entries are put into buf.
func (l *integers) at(k int, buf *big.Int) *big.Int {
	if l.large != nil {
		return l.large[k]
	}
	return buf.SetInt64(l.small[k])
}

// float returns entry k rounded to nearest.
func (l *integers) float(k int) float64 {
	if l.large == nil {
		return float64(l.small[k])
	}
	f, _ := new(big.Float).SetInt(l.large[k]).Float64()
	return f
}

// wide returns entry k rounded to nearest, however large.
func (l *integers) wide(k int) wide {
	if l.large == nil {
		return newWide(float64(l.small[k]), 0)
	}
	return wideFloat(new(big.Float).SetInt(l.large[k]))
}

// denFloat returns d(k) rounded to float64.
func (g *graph) denFloat(k int) float64 {
	if g.shares != nil {
		return g.float[k]
	}
	return g.den.float(k)
}

// closeShares is close for a graph with shares.
func (g *graph) closeShares(ctx context.Context, p *problem) error {
	stop := cancellation{ctx: ctx}
	float := g.shares.prec == floatShares
	if float {
		g.float = make([]float64, g.states())
	} else {
		g.big = make([]big.Float, g.states())
	}
	r := g.shares.reader()
	d := new(big.Float).SetPrec(53)
	for k := range g.states() {
		if !float {
			d = g.big[k].SetPrec(g.shares.prec + 3)
		}
		if err := stop.after(bigSteps * len(p.classes)); err != nil {
			return err
		}
		if r.denominator(d, g, k).Sign() <= 0 {
			return p.overloadedState(g, k)
		}
		if float {
			g.float[k], _ = d.Float64()
		}
	}
	return nil
}

// room makes room for n more entries, at least doubling the list when it is full.
func room[T any](list []T, n int) []T {
	if len(list)+n > cap(list) {
		return slices.Grow(list, len(list)+n)
	}
	return list
}

// addTerm appends a term to the last state.
func (g *graph) addTerm(weight int32, children ...int32) {
	if len(g.weight) == cap(g.weight) {
		g.weight, g.begin = room(g.weight, 1), room(g.begin, 1)
	}
	g.child = room(g.child, len(children))
	g.weight = append(g.weight, weight)
	g.child = append(g.child, children...)
	g.begin = append(g.begin, int32(len(g.child)))
}

// endState closes the last state, whose terms and own classes have been appended.
func (g *graph) endState(layer, rest int32) {
	g.layer = append(g.layer, layer)
	g.first = append(g.first, int32(len(g.weight)))
	g.rest = append(g.rest, rest)
	g.ownFirst = append(g.ownFirst, int32(len(g.own)))
}

func newGraph(l Lattice, states, terms int) *graph {
	g := &graph{lattice: l, first: make([]int32, 1, states+1), begin: make([]int32, 1, terms+1),
		ownFirst: make([]int32, 1, states+1), layer: make([]int32, 0, states), rest: make([]int32, 0, states),
		weight: make([]int32, 0, terms), child: make([]int32, 0, terms)}
	for _, l := range []*integers{&g.den, &g.total, &g.rate} {
		l.small = make([]int64, 0, states)
	}
	return g
}

func (g *graph) states() int { return len(g.layer) }

// terms returns the range of the terms of state k.
func (g *graph) terms(k int) (int32, int32) { return g.first[k], g.first[k+1] }

// children returns the children of term t.
func (g *graph) children(t int32) []int32 { return g.child[g.begin[t]:g.begin[t+1]] }

// close computes λ(k) and d(k) of every state from M(k) and the classes. The error names the first state with d(k) <= 0,
// where the component is unstable. A root that only adds up others (class lattice) has d = 1.
func (g *graph) close(ctx context.Context, p *problem) error {
	if g.shares != nil {
		return g.closeShares(ctx, p)
	}
	stop := cancellation{ctx: ctx}
	var bufs [3]big.Int
	for k := range g.states() {
		if err := stop.after(16); err != nil {
			return err
		}
		if g.first[k] == g.first[k+1] || g.weight[g.first[k]] < 0 {
			g.rate.addSmall(0)
			g.den.addSmall(1)
			continue
		}
		if p.small {
			var rate int64
			for o := g.ownFirst[k]; o < g.ownFirst[k+1]; o++ {
				r := p.rate64[g.own[o]]
				if g.coef != nil {
					r *= g.coef.small[o]
				}
				rate += r
			}
			if g.rest[k] >= 0 {
				for _, c := range g.children(g.rest[k]) {
					rate += g.rate.small[c]
				}
			}
			g.rate.addSmall(rate)
			d := g.total.small[k] - rate
			g.den.addSmall(d)
			if d <= 0 {
				return p.overloadedState(g, k)
			}
			continue
		}
		rate := new(big.Int)
		for o := g.ownFirst[k]; o < g.ownFirst[k+1]; o++ {
			r := p.classes[g.own[o]].rate
			if g.coef != nil {
				r = bufs[0].Mul(r, g.coef.at(int(o), &bufs[1]))
			}
			rate.Add(rate, r)
		}
		if g.rest[k] >= 0 {
			for _, c := range g.children(g.rest[k]) {
				rate.Add(rate, g.rate.at(int(c), &bufs[2]))
			}
		}
		g.rate.add(rate)
		d := new(big.Int).Sub(g.total.at(k, &bufs[0]), rate)
		g.den.add(d)
		if d.Sign() <= 0 {
			return p.overloadedState(g, k)
		}
	}
	return nil
}
