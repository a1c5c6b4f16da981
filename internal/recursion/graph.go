package recursion

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
)

// A Graph lists the states of a lattice of one component so that the value of each is a
// positive combination of the values of earlier ones,
//
//	v(k) = Σ_t weight_t Π_{c ∈ children of t} v(c) / d(k),  d(k) > 0,
//
// over the terms t of state k; a state without terms has value 1, and the value of the last state,
// the root, is the normalization Z. All engines except the sweeps over tables of all subsets work
// on graphs; only the builders know what the states mean.
//
// The denominator d(k) = M(k) - λ(k) is a capacity minus an arrival rate. λ(k) adds the own classes
// of state k to those of the children of one of its terms, rest(k):
//
//	λ(k) = Σ_{c ∈ own(k)} coef(k, c) rate_c + Σ_{c ∈ children of rest(k)} λ(c).
type Graph struct {
	ByClass bool       // the states are sets of classes, except the root, which sums the others
	Weights []*big.Int // distinct weights
	Layer   []int32    // layer of each state; the children of its terms lie on lower layers

	First  []int32 // the terms of state k are first[k]..first[k+1]-1
	Weight []int32 // place of each term in weights; -1 for weight 1
	begin  []int32 // the children of term t are child[begin[t]:begin[t+1]]
	Child  []int32

	Den   Integers // d(k); 1 for a state that only sums others
	Total Integers // M(k)
	Rate  Integers // λ(k)

	Rest     []int32 // -1 for none
	OwnFirst []int32 // the own classes of state k are own[ownFirst[k]:ownFirst[k+1]]
	Own      []int32
	Coef     *Integers // coef(k, c) for each entry of own; nil if all are 1

	// On the symmetric lattice of a shared problem, these replace coef, rate and den.
	Shares *Shares
	float  []float64   // d(k), within denRoundoff, for the float engine
	Big    []big.Float // d(k), within 2^-prec, for other engines
}

// Integers is a list of integers that uses one word each as long as all are small.
type Integers struct {
	Small []int64
	Large []*big.Int
}

func (l *Integers) addSmall(v int64) {
	if l.Large != nil {
		l.Large = append(l.Large, big.NewInt(v))
		return
	}
	l.Small = append(l.Small, v)
}

func (l *Integers) add(v *big.Int) {
	if l.Large == nil && v.IsInt64() {
		l.Small = append(l.Small, v.Int64())
		return
	}
	if l.Large == nil {
		l.Large = make([]*big.Int, len(l.Small), cap(l.Small))
		for i, s := range l.Small {
			l.Large[i] = big.NewInt(s)
		}
		l.Small = nil
	}
	l.Large = append(l.Large, v)
}

// At returns entry k, which must not be changed; small entries are put into buf.
func (l *Integers) At(k int, buf *big.Int) *big.Int {
	if l.Large != nil {
		return l.Large[k]
	}
	return buf.SetInt64(l.Small[k])
}

// Float returns entry k rounded to nearest.
func (l *Integers) Float(k int) float64 {
	if l.Large == nil {
		return float64(l.Small[k])
	}
	f, _ := new(big.Float).SetInt(l.Large[k]).Float64()
	return f
}

// Wide returns entry k rounded to nearest, however large.
func (l *Integers) Wide(k int) arithmetic.Wide {
	if l.Large == nil {
		return arithmetic.NewWide(float64(l.Small[k]), 0)
	}
	return arithmetic.WideOf(new(big.Float).SetInt(l.Large[k]))
}

// DenFloat returns d(k) rounded to float64.
func (g *Graph) DenFloat(k int) float64 {
	if g.Shares != nil {
		return g.float[k]
	}
	return g.Den.Float(k)
}

// Outline returns the graph without denominators and rates, which is common to all problems that
// differ only in a common factor of the rates. It shares memory with g.
func (g *Graph) Outline() *Graph {
	o := *g
	o.Den, o.Rate, o.float, o.Big = Integers{}, Integers{}, nil, nil
	return &o
}

// Serves reports whether [Graph.For] can make a graph for other from g, an outline made for p.
func (g *Graph) Serves(p, other *Problem) bool {
	return g.Shares == nil && p.Small == other.Small && p.Shared == other.Shared
}

// For returns the graph of another problem from an outline g for p: the capacities must be equal up
// to a common denominator. The error comes from the builders of graphs.
func (g *Graph) For(ctx context.Context, p, other *Problem) (*Graph, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, stop := *g, Cancellation{Ctx: ctx}
	times := new(big.Rat).SetFrac(other.Scale, p.Scale)
	scale := n.scale
	if p.Small {
		scale = n.scaleWords
	}
	if err := scale(&stop, times); err != nil {
		return nil, err
	}
	if g.ByClass {
		for i, k := range other.Classes {
			n.Weights[i] = k.Rate
		}
	}
	n.Den.Small, n.Rate.Small = make([]int64, 0, g.States()), make([]int64, 0, g.States())
	return &n, n.close(ctx, other)
}

// scale multiplies capacities by times; they remain integers. The error is the context's.
func (g *Graph) scale(stop *Cancellation, times *big.Rat) error {
	var buf big.Int
	scaled := func(x *big.Int) *big.Int {
		v := new(big.Int).Quo(x, times.Denom())
		return v.Mul(v, times.Num())
	}
	total, weights := g.Total, g.Weights
	g.Total, g.Weights = Integers{}, make([]*big.Int, len(weights))
	for k := range g.States() {
		if err := stop.After(BigSteps); err != nil {
			return err
		}
		if g.ByClass && k == g.States()-1 {
			g.Total.addSmall(1)
		} else {
			g.Total.add(scaled(total.At(k, &buf)))
		}
	}
	if g.ByClass {
		return nil // weights are rates
	}
	for i, w := range weights {
		g.Weights[i] = scaled(w)
	}
	return nil
}

// scaleWords is scale for small problems. As every capacity is positive and below 2^62 before and
// after, so are numerator and denominator.
func (g *Graph) scaleWords(stop *Cancellation, times *big.Rat) error {
	num, den := times.Num().Int64(), times.Denom().Int64()
	total, weights := g.Total.Small, g.Weights
	g.Total.Small, g.Weights = make([]int64, len(total)), make([]*big.Int, len(weights))
	for k, m := range total {
		if err := stop.After(8); err != nil {
			return err
		}
		g.Total.Small[k] = m / den * num
	}
	if g.ByClass {
		g.Total.Small[len(total)-1] = 1
		return nil // weights are rates
	}
	// a weight may take two words of 32 bits
	ints, words := make([]big.Int, len(weights)), make([]big.Word, 2*len(weights))
	for i, w := range weights {
		g.Weights[i] = ints[i].SetBits(words[2*i : 2*i : 2*i+2]).SetInt64(w.Int64() / den * num)
	}
	return nil
}

// Ways returns, for each state k, the number of ways of a class to choose servers that λ(k) counts;
// for a graph with shares it is 1 or 0.
func (g *Graph) Ways(stop *Cancellation, class int) ([]*big.Int, error) {
	zero, ways := new(big.Int), make([]*big.Int, g.States())
	for k := range ways {
		if err := stop.After(4); err != nil {
			return nil, err
		}
		ways[k] = zero
		add := func(n *big.Int) {
			if n.Sign() != 0 {
				ways[k] = new(big.Int).Add(ways[k], n)
			}
		}
		for o := g.OwnFirst[k]; o < g.OwnFirst[k+1]; o++ {
			switch {
			case int(g.Own[o]) != class:
			case g.Coef != nil:
				add(g.Coef.At(int(o), new(big.Int)))
			default:
				add(intOne)
			}
		}
		if t := g.Rest[k]; t >= 0 {
			for _, c := range g.Children(t) {
				add(ways[c])
			}
		}
	}
	return ways, nil
}

// closeShares is close for a graph with shares.
func (g *Graph) closeShares(ctx context.Context, p *Problem) error {
	stop := Cancellation{Ctx: ctx}
	float := g.Shares.prec == FloatShares
	if float {
		g.float = make([]float64, g.States())
	} else {
		g.Big = make([]big.Float, g.States())
	}
	r := g.Shares.Reader()
	d := new(big.Float).SetPrec(53)
	for k := range g.States() {
		if !float {
			d = g.Big[k].SetPrec(g.Shares.prec + 3)
		}
		if err := stop.After(BigSteps * len(p.Classes)); err != nil {
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

// growList makes room for n more entries, at least doubling the list when it is full.
func growList[T any](list []T, n int) []T {
	if len(list)+n > cap(list) {
		return slices.Grow(list, len(list)+n)
	}
	return list
}

// addTerm appends a term to the last state.
func (g *Graph) addTerm(weight int32, children ...int32) {
	if len(g.Weight) == cap(g.Weight) {
		g.Weight, g.begin = growList(g.Weight, 1), growList(g.begin, 1)
	}
	g.Child = growList(g.Child, len(children))
	g.Weight = append(g.Weight, weight)
	g.Child = append(g.Child, children...)
	g.begin = append(g.begin, int32(len(g.Child)))
}

// endState closes the last state, whose terms and own classes have been appended.
func (g *Graph) endState(layer, rest int32) {
	g.Layer = append(g.Layer, layer)
	g.First = append(g.First, int32(len(g.Weight)))
	g.Rest = append(g.Rest, rest)
	g.OwnFirst = append(g.OwnFirst, int32(len(g.Own)))
}

func newGraph(states, terms int) *Graph {
	g := &Graph{First: make([]int32, 1, states+1), begin: make([]int32, 1, terms+1),
		OwnFirst: make([]int32, 1, states+1), Layer: make([]int32, 0, states), Rest: make([]int32, 0, states),
		Weight: make([]int32, 0, terms), Child: make([]int32, 0, terms)}
	for _, l := range []*Integers{&g.Den, &g.Total, &g.Rate} {
		l.Small = make([]int64, 0, states)
	}
	return g
}

func (g *Graph) States() int { return len(g.Layer) }

// Inner returns the number of states without the root of the class lattice, which sums the others.
func (g *Graph) Inner() int { return g.States() - oneIf(g.ByClass) }

// Denominator returns d(k) in the arithmetic of like.
func (g *Graph) Denominator(k int, like arithmetic.Number) arithmetic.Number {
	switch {
	case g.Shares == nil:
		var buf big.Int
		return like.Rational(new(big.Rat).SetInt(g.Den.At(k, &buf)))
	case like.Interval.Low != nil:
		return g.Shares.enclosed(&g.Big[k], like.Interval.Prec())
	}
	return arithmetic.FromFloat(g.float[k], 4*arithmetic.Roundoff)
}

// Terms returns the range of the terms of state k.
func (g *Graph) Terms(k int) (int32, int32) { return g.First[k], g.First[k+1] }

// Children returns the children of term t.
func (g *Graph) Children(t int32) []int32 { return g.Child[g.begin[t]:g.begin[t+1]] }

// close computes λ(k) and d(k) of every state from M(k) and the classes. The error names the first
// state with d(k) <= 0, where the component is unstable. A root that only sums others (class
// lattice) has d = 1.
func (g *Graph) close(ctx context.Context, p *Problem) error {
	if g.Shares != nil {
		return g.closeShares(ctx, p)
	}
	stop := Cancellation{Ctx: ctx}
	var bufs [3]big.Int
	for k := range g.States() {
		if err := stop.After(16); err != nil {
			return err
		}
		if g.First[k] == g.First[k+1] || g.Weight[g.First[k]] < 0 {
			g.Rate.addSmall(0)
			g.Den.addSmall(1)
			continue
		}
		if p.Small {
			var rate int64
			for o := g.OwnFirst[k]; o < g.OwnFirst[k+1]; o++ {
				r := p.Rate64[g.Own[o]]
				if g.Coef != nil {
					r *= g.Coef.Small[o]
				}
				rate += r
			}
			if g.Rest[k] >= 0 {
				for _, c := range g.Children(g.Rest[k]) {
					rate += g.Rate.Small[c]
				}
			}
			g.Rate.addSmall(rate)
			d := g.Total.Small[k] - rate
			g.Den.addSmall(d)
			if d <= 0 {
				return p.overloadedState(g, k)
			}
			continue
		}
		rate := new(big.Int)
		for o := g.OwnFirst[k]; o < g.OwnFirst[k+1]; o++ {
			r := p.Classes[g.Own[o]].Rate
			if g.Coef != nil {
				r = bufs[0].Mul(r, g.Coef.At(int(o), &bufs[1]))
			}
			rate.Add(rate, r)
		}
		if g.Rest[k] >= 0 {
			for _, c := range g.Children(g.Rest[k]) {
				rate.Add(rate, g.Rate.At(int(c), &bufs[2]))
			}
		}
		g.Rate.add(rate)
		d := new(big.Int).Sub(g.Total.At(k, &bufs[0]), rate)
		g.Den.add(d)
		if d.Sign() <= 0 {
			return p.overloadedState(g, k)
		}
	}
	return nil
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
