package recursion

import (
	"cmp"
	"context"
)

// A Kernel is the arithmetic of a [Sweep]. It changes numbers in place, which keeps their memory.
type Kernel[T any] interface {
	One(z *T, k int)       // z ← 1, the value of state k, which has no terms
	Begin(z *T, k int)     // z ← 0, or another initial value of the sum over the terms of state k
	Divide(z, x *T, k int) // z ← x/d(k); x may change
	Mul(z, x *T)           // z ← z x
	Set(z, x *T)           // z ← x

	// Weigh sets z to the weight of term t of state k, times x unless x is nil. It returns false to
	// omit the term.
	Weigh(z, x *T, k int, t int32) bool

	// Add adds x to z. x is term t of state k, and z the sum of its terms; or, if child >= 0, x is
	// the contribution of the term to the adjoint of that child. Add may then change x. If t < 0, x
	// is any other number, and does not change.
	Add(z, x *T, k int, t int32, child int)
}

// A Sweep computes the values of the states of a graph.
type Sweep[T any, K Kernel[T]] struct {
	*Graph
	Kernel K
	Value  []T
	Order  []int32 // order of Up, which Down reverses; nil for the order of the states of Value
	Stop   Cancellation
	Steps  int // cost of a term in float64 additions

	zero, sum, term, left, pushed T
}

// NewSweep returns a sweep of the first n states of a graph. All its numbers start as copies of
// zero.
func NewSweep[T any, K Kernel[T]](ctx context.Context, g *Graph, n int, kernel K, zero T, steps int) *Sweep[T, K] {
	s := &Sweep[T, K]{Graph: g, Kernel: kernel, Stop: Cancellation{Ctx: ctx}, Steps: steps,
		zero: zero, sum: zero, term: zero, left: zero, pushed: zero}
	s.Value = s.Numbers(n)
	return s
}

// Numbers returns n zeros, as [Fill] does.
func (s *Sweep[T, K]) Numbers(n int) []T { return Fill(&s.Stop, s.zero, n) }

func (s *Sweep[T, K]) state(i int) int {
	if s.Order == nil {
		return i
	}
	return int(s.Order[i])
}

// Up computes all values. The error is the context's.
func (s *Sweep[T, K]) Up() error {
	n := len(s.Value)
	if s.Order != nil {
		n = len(s.Order)
	}
	for i := range n {
		if err := s.Next(s.state(i)); err != nil {
			return err
		}
	}
	return nil
}

// Next computes the value of state k from the values of the children of its terms, v(k) = Σ_t
// weight(t) Π v(child)/d(k): on sets of classes G(A) = Σ_{i∈A} λ_i G(A∖{i})/(μ(A) - λ(A)).
func (s *Sweep[T, K]) Next(k int) error {
	first, last := s.Terms(k)
	if first == last {
		s.Kernel.One(&s.Value[k], k)
		return nil
	}
	if err := s.Stop.After(s.Steps * int(last-first)); err != nil {
		return err
	}
	s.Kernel.Begin(&s.sum, k)
	for t := first; t < last; t++ {
		var x *T
		children := s.Children(t)
		if len(children) > 0 {
			x = &s.Value[children[0]]
		}
		if !s.Kernel.Weigh(&s.term, x, k, t) {
			continue
		}
		s.times(&s.term, children, 0)
		s.Kernel.Add(&s.sum, &s.term, k, t, -1)
	}
	s.Kernel.Divide(&s.Value[k], &s.sum, k)
	return nil
}

// times multiplies z by the values of the children except number skip.
func (s *Sweep[T, K]) times(z *T, children []int32, skip int) {
	for j, c := range children {
		if j != skip {
			s.Kernel.Mul(z, &s.Value[c])
		}
	}
}

// Down divides the adjoints w of the sums over the terms of the states, from the last to the first,
// by d(k), and adds weight_t w(k) Π_{o≠c} v(o) to that of each child c of each term t, o being the
// others. It calls leave, unless that is nil, with each quotient. The error is the context's.
func (s *Sweep[T, K]) Down(w []T, leave func(k int, w *T)) error {
	for i := len(w) - 1; i >= 0; i-- {
		k := s.state(i)
		first, last := s.Terms(k)
		if first == last {
			continue
		}
		if err := s.Stop.After(2 * s.Steps * int(last-first)); err != nil {
			return err
		}
		s.Kernel.Divide(&s.left, &w[k], k)
		for t := first; t < last; t++ {
			s.Kernel.Weigh(&s.pushed, &s.left, k, t)
			children := s.Children(t)
			for j, c := range children {
				x := &s.pushed
				if len(children) > 1 {
					x = &s.term
					s.Kernel.Set(x, &s.pushed)
					s.times(x, children, j)
				}
				s.Kernel.Add(&w[c], x, k, t, j)
			}
		}
		if leave != nil {
			leave(k, &s.left)
		}
	}
	return nil
}

// Carry adds x to carried[k], then adds carried[k] to the entries of the children of rest(k), and
// calls own with carried[k] for each class among own(k). If it is called from the last state to the
// first, each class gets Σ_k coef(k, i) x(k) over all λ(k) that count the class. For a graph with
// shares, which has no rests, carried may be nil; own then gets x.
func (s *Sweep[T, K]) Carry(carried []T, k int, x *T, own func(o, i int32, x *T)) {
	if carried != nil {
		s.Kernel.Add(&carried[k], x, k, -1, -1)
		x = &carried[k]
	}
	for o := s.OwnFirst[k]; o < s.OwnFirst[k+1]; o++ {
		own(o, s.Own[o], x)
	}
	if t := s.Rest[k]; t >= 0 {
		for _, c := range s.Children(t) {
			s.Kernel.Add(&carried[c], x, k, -1, -1)
		}
	}
}

// Both calls two functions in parallel, and returns an error from either.
func Both(one, other func() error) error {
	done := make(chan error)
	go func() { done <- one() }()
	err := other()
	return cmp.Or(<-done, err)
}
