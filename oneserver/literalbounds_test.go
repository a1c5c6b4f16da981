package oneserver

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"productform/cluster"
	"productform/num"
)

// A boundedRoom is the chain of all orders of idle servers and waiting jobs, in which no job is lost,
// cut off at the states in which at most n jobs wait. It proves bounds on stationary means in
// fractions; rates are integers.
//
// Let Q be the generator, A the states of the table, and h any function that is 0 outside of A. As
// E[Q h] = 0, a measure f and a number c satisfy
//
//	E[f - c; A] = E[f - c + Q h; A] + E[Q h; not A].
//
// The last term is the flow from n+1 to n waiting jobs, which is at most λ P(n jobs wait), times
// values of h at n jobs. If jobs wait, then all servers of one of their classes are busy and take
// waiting jobs. So P(k+1 jobs wait) <= r P(k jobs wait), r = λ / min_i μ(S_i), and with f = 1 if n
// jobs wait, otherwise 0, the equation itself bounds P(n jobs wait). Floating-point numbers only guess
// c and h: the mean of f in a room of n jobs, and a solution of f - c + Q h = 0.
type boundedRoom struct {
	room
	states []string
	p      []float64 // probabilities in the room
	out    [][]move  // moves from each state if no job is lost
	to     [][]int   // their ends; -1 is outside of A
	rates  [][]*big.Int
	ratio  *big.Rat // r < 1
	rate   *big.Rat // λ
	full   *big.Rat // bound on P(n jobs wait)
}

// newBoundedRoom returns the chain of a model, with tables up to n waiting jobs.
func newBoundedRoom(t *testing.T, m *cluster.Model, n int) *boundedRoom {
	all := ""
	for s := range m.Servers {
		all += string(rune('A' + s))
	}
	b := &boundedRoom{room: room{m, n}}
	b.states, b.p = b.solve(all + "|")
	row := make(map[string]int)
	for k, s := range b.states {
		row[s] = k
	}
	endless := room{m, math.MaxInt}
	for k, s := range b.states {
		moves := endless.moves(s)
		to := make([]int, len(moves))
		for j, x := range moves {
			at, ok := row[x.to]
			if to[j] = at; !ok {
				to[j] = -1
				if b.waiting(k) < n {
					t.Fatalf("no state %q", x.to)
				}
			}
		}
		rates := make([]*big.Int, len(moves))
		for j, x := range moves {
			rates[j] = big.NewInt(int64(x.rate))
		}
		b.out, b.to, b.rates = append(b.out, moves), append(b.to, to), append(b.rates, rates)
	}
	b.rate = new(big.Rat)
	var slowest *big.Rat
	for _, c := range m.Classes {
		b.rate.Add(b.rate, c.ArrivalRate)
		capacity := new(big.Rat)
		for _, s := range c.Servers {
			capacity.Add(capacity, m.Servers[s.Server].Capacity)
		}
		if slowest == nil || capacity.Cmp(slowest) < 0 {
			slowest = capacity
		}
	}
	b.ratio = new(big.Rat).Quo(b.rate, slowest)
	f := make([]float64, len(b.states))
	for k := range f {
		if b.waiting(k) == n {
			f[k] = 1
		}
	}
	c, rest, edge := b.guess(f)
	edge.Sub(big.NewRat(1, 1), edge.Mul(edge, b.rate))
	if edge.Sign() <= 0 || b.ratio.Cmp(big.NewRat(1, 1)) >= 0 {
		t.Fatalf("no bounds for %d waiting jobs", n)
	}
	b.full = c.Add(c, rest).Quo(c, edge)
	return b
}

// unit is the unit in which guess counts: 2^-100.
var unit = new(big.Int).Lsh(big.NewInt(1), 100)

// inUnits returns x, rounded to units.
func inUnits(x float64) *big.Int {
	n, _ := new(big.Float).SetMantExp(big.NewFloat(x), unit.BitLen()-1).Int(nil)
	return n
}

// guess returns c, the largest |f - c + Q h|, and the largest |h| at n jobs; f has integers.
func (b *boundedRoom) guess(f []float64) (center, rest, edge *big.Rat) {
	c := 0.0
	for k, x := range f {
		c += x * b.p[k]
	}
	h := make([]*big.Int, len(f))
	for k, x := range b.potential(f, c) {
		h[k] = inUnits(x)
	}
	middle, worst, last := inUnits(c), new(big.Int), new(big.Int)
	step := new(big.Int)
	for k, x := range h {
		sum := inUnits(f[k])
		sum.Sub(sum, middle)
		for j, to := range b.to[k] {
			if step.Neg(x); to >= 0 {
				step.Add(step, h[to])
			}
			sum.Add(sum, step.Mul(step, b.rates[k][j]))
		}
		raise(worst, sum)
		if b.waiting(k) == b.n {
			raise(last, x)
		}
	}
	rat := func(x *big.Int) *big.Rat { return new(big.Rat).SetFrac(x, unit) }
	return rat(middle), rat(worst), rat(last)
}

// mean returns bounds on E[f]. Outside of A, f is between 0 and most, or, without most, the number
// of waiting jobs.
func (b *boundedRoom) mean(
	f func(idle, waiting string, moves []move) float64, most *big.Rat,
) (low, high *big.Rat) {
	values := make([]float64, len(b.states))
	for k, s := range b.states {
		idle, waiting, _ := strings.Cut(s, "|")
		values[k] = f(idle, waiting, b.out[k])
	}
	c, rest, edge := b.guess(values)
	rest.Add(rest, edge.Mul(edge, b.rate).Mul(edge, b.full))
	over := new(big.Rat).Sub(big.NewRat(1, 1), b.ratio)
	beyond := new(big.Rat).Quo(b.ratio, over) // E[waiting jobs | not A] <= n+1 + r/(1-r)
	beyond.Add(beyond, big.NewRat(int64(b.n+1), 1))
	if most != nil {
		beyond = most
	}
	tail := new(big.Rat).Mul(b.full, b.ratio) // P(not A)
	tail.Quo(tail, over)
	low = new(big.Rat).Sub(c, rest)
	low.Sub(low, new(big.Rat).Mul(c, tail)) // c P(A)
	high = new(big.Rat).Add(c, rest)
	return low, high.Add(high, tail.Mul(tail, beyond))
}

// raise sets x to the larger of x and |y|.
func raise(x, y *big.Int) {
	if y.CmpAbs(x) > 0 {
		x.Abs(y)
	}
}

// waiting returns the number of waiting jobs of a state.
func (b *boundedRoom) waiting(k int) int {
	_, waiting, _ := strings.Cut(b.states[k], "|")
	return len(waiting)
}

// potential returns an approximate solution of f - c + Q h = 0, by the Gauss-Seidel method.
func (b *boundedRoom) potential(f []float64, c float64) []float64 {
	h := make([]float64, len(f))
	for range 300 {
		change, largest := 0.0, 0.0
		for k, moves := range b.out {
			sum, rate := f[k]-c, 0.0
			for j, to := range b.to[k] {
				rate += moves[j].rate
				if to >= 0 {
					sum += moves[j].rate * h[to]
				}
			}
			x := sum / rate
			change, largest = max(change, math.Abs(x-h[k])), max(largest, math.Abs(x))
			h[k] = x
		}
		if change <= 1e-14*largest {
			break
		}
	}
	return h
}

// drawSmall draws a model of at most three servers and two classes with integers for rates.
func drawSmall(r *rand.Rand) *cluster.Model {
	m := &cluster.Model{Service: cluster.OneServer}
	servers, classes := 1+r.IntN(3), 1+r.IntN(2)
	for s := range servers {
		m.Servers = append(m.Servers,
			cluster.Server{Name: string(rune('A' + s)), Capacity: big.NewRat(int64((6+r.IntN(12))*classes), 1)})
	}
	for i := range classes {
		rows := r.Perm(servers)[:1+r.IntN(servers)]
		if i == 0 {
			rows = r.Perm(servers) // no server is unused
		}
		m.Classes = append(m.Classes, cluster.Class{Name: string(rune('a' + i)),
			ArrivalRate: big.NewRat(int64(1+r.IntN(5/classes)), 1), Servers: cluster.On(rows...)})
	}
	return m
}

// TestLiteralChainInFractions checks that fractions and enclosures are between proved bounds on the
// means of the chain of all orders of idle servers and waiting jobs. Most bounds are within 1e-9
// with one class and within 1e-5 with two.
func TestLiteralChainInFractions(t *testing.T) {
	for seed := range uint64(20) {
		m := drawSmall(rand.New(rand.NewPCG(seed, 1)))
		n, most := 50, 1e-6
		if len(m.Classes) > 1 {
			n, most = 8, 1e-2
		}
		b, widest := newBoundedRoom(t, m, n), 0.0
		exact := solveExactly(t, m)
		enclosed, err := Solve(t.Context(), m, Settings{Engine: num.Enclose, RelTol: 1e-25})
		if err != nil {
			t.Fatal(err)
		}
		// check compares a mean with that of a function of the idle servers, the waiting jobs and the moves.
		check := func(
			what string, f func(idle, waiting string, moves []move) float64, most *big.Rat, of func(*Result) num.Value,
		) {
			low, high := b.mean(f, most)
			x, y := of(exact), of(enclosed)
			from, _ := y.Low.Rat(nil)
			to, _ := y.High.Rat(nil)
			if x.Exact.Cmp(low) < 0 || x.Exact.Cmp(high) > 0 || from.Cmp(low) < 0 || to.Cmp(high) > 0 {
				t.Errorf("seed %d: %s %v, enclosed in %v..%v, want %s..%s",
					seed, what, x.Exact, y.Low, y.High, low.FloatString(20), high.FloatString(20))
			}
			width, _ := new(big.Rat).Sub(high, low).Float64()
			widest = max(widest, width)
		}
		one := big.NewRat(1, 1)
		for i, c := range m.Classes {
			class := byte('a' + i)
			check("wait probability", func(idle, _ string, _ []move) float64 {
				return oneIf(!strings.ContainsFunc(idle, func(s rune) bool { return b.serves(class, byte(s)) }))
			}, one, func(r *Result) num.Value { return *r.Classes[i].WaitProbability })
			check("mean queue", func(_, waiting string, _ []move) float64 {
				return float64(strings.Count(waiting, string(rune(class))))
			}, nil, func(r *Result) num.Value { return r.Classes[i].MeanQueue })
			for _, s := range c.Servers {
				server := m.Servers[s.Server]
				check("rate on "+server.Name, func(_, _ string, moves []move) float64 {
					sum := 0.0
					for _, x := range moves {
						if x.class == class && x.server == server.Name[0] {
							sum += x.rate
						}
					}
					return sum
				}, new(big.Rat).Add(c.ArrivalRate, server.Capacity),
					func(r *Result) num.Value { return servedBy(r.Classes[i], server.Name) })
			}
		}
		for s, server := range m.Servers {
			check("utilization", func(idle, _ string, _ []move) float64 {
				return oneIf(!strings.Contains(idle, server.Name))
			}, one, func(r *Result) num.Value { return r.Servers[s].Utilization })
		}
		if widest > most {
			t.Errorf("seed %d: bounds are %.1g apart", seed, widest)
		}
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
