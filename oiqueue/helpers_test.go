package oiqueue

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/num"
)

// exactly requests fractions.
var exactly = Settings{Engine: num.Exact}

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

func rats(t testing.TB, words ...string) []*big.Rat {
	t.Helper()
	var v []*big.Rat
	for _, w := range words {
		r, ok := new(big.Rat).SetString(w)
		if !ok {
			t.Fatalf("%q is not a number", w)
		}
		v = append(v, r)
	}
	return v
}

func drawRat(t *rapid.T, label string, least int) *big.Rat {
	return rat(int64(rapid.IntRange(least, 8).Draw(t, label)), int64(rapid.IntRange(1, 5).Draw(t, label+" under")))
}

func drawRates(t *rapid.T, n int) []*big.Rat {
	v := make([]*big.Rat, n)
	for i := range v {
		v[i] = drawRat(t, "arrival rate", 1)
	}
	return v
}

// A system is a queue with its service told job by job, without reference to μ.
type system struct {
	q      *Queue
	served func(c []int) []*big.Rat // service rate of the job in each position
	m      *cluster.Model           // the compatibility graph, if it is one
}

// drawGraph draws a compatibility graph; every server works on the oldest job it can serve.
func drawGraph(t *rapid.T, n int) system {
	m := oracle.DrawModel(t, oracle.Options{Servers: 4, Classes: n, ZeroCapacities: true})
	for len(m.Classes) < n {
		m.Classes = append(m.Classes, m.Classes[0])
	}
	m.MeanSize = nil
	capacities, compatible := make([]*big.Rat, len(m.Servers)), make([][]int, n)
	for s, server := range m.Servers {
		capacities[s] = server.Capacity
	}
	for i, class := range m.Classes {
		for _, c := range class.Servers {
			compatible[i] = append(compatible[i], c.Server)
		}
	}
	q, err := FromGraph(t.Context(), oracle.Rates(m), capacities, compatible)
	if err != nil {
		t.Fatal(err)
	}
	served := func(c []int) []*big.Rat {
		rates := make([]*big.Rat, len(c))
		for k := range rates {
			rates[k] = new(big.Rat)
		}
		for s, capacity := range capacities {
			for k, i := range c {
				if slices.Contains(compatible[i], s) {
					rates[k].Add(rates[k], capacity)
					break
				}
			}
		}
		return rates
	}
	return system{q, served, m}
}

// drawTree draws a tree of constraints over the given classes, at most depth levels below.
func drawTree(t *rapid.T, classes []int, depth int) Constraint {
	v := Constraint{Limit: rapid.IntRange(1, 3).Draw(t, "limit")}
	for len(classes) > 0 {
		k := rapid.IntRange(1, len(classes)).Draw(t, "part")
		if depth > 0 && rapid.Bool().Draw(t, "child") {
			v.Children = append(v.Children, drawTree(t, classes[:k], depth-1))
		} else {
			v.Classes = append(v.Classes, classes[:k]...)
		}
		classes = classes[k:]
	}
	return v
}

// ancestors returns the nodes of the tree that bind class i, as distinct pointers.
func ancestors(v *Constraint, i int) []*Constraint {
	if slices.Contains(v.Classes, i) {
		return []*Constraint{v}
	}
	for k := range v.Children {
		if path := ancestors(&v.Children[k], i); path != nil {
			return append(path, v)
		}
	}
	return nil
}

// drawHierarchy draws an MSHCC station; a job is in service if no node above its class is full of
// older ones.
func drawHierarchy(t *rapid.T, n int) system {
	classes := make([]int, n)
	for i := range classes {
		classes[i] = i
	}
	root := drawTree(t, rapid.Permutation(classes).Draw(t, "order of classes"), 2)
	rate := drawRat(t, "service rate", 1)
	q, err := MSHCC(drawRates(t, n), root, rate)
	if err != nil {
		t.Fatal(err)
	}
	served := func(c []int) []*big.Rat {
		busy := make(map[*Constraint]int)
		rates := make([]*big.Rat, len(c))
		for k, i := range c {
			rates[k] = new(big.Rat)
			path := ancestors(&root, i)
			if !slices.ContainsFunc(path, func(v *Constraint) bool { return busy[v] == v.Limit }) {
				rates[k] = rate
				for _, v := range path {
					busy[v]++
				}
			}
		}
		return rates
	}
	return system{q, served, nil}
}

// drawRank draws an arbitrary nondecreasing rank function, which is rarely submodular.
func drawRank(t *rapid.T, n int) *Queue {
	rank := make([]*big.Rat, 1<<n)
	for a := 1; a < len(rank); a++ {
		rank[a] = rat(1, 3)
		for i := range n {
			if b := a &^ (1 << i); b != a && b != 0 && rank[b].Cmp(rank[a]) > 0 {
				rank[a] = rank[b]
			}
		}
		rank[a] = new(big.Rat).Add(rank[a], drawRat(t, "step", 0))
	}
	q, err := FromTable(t.Context(), drawRates(t, n), rank)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func drawSystem(t *rapid.T, n int) system {
	if rapid.Bool().Draw(t, "graph") {
		return drawGraph(t, n)
	}
	return drawHierarchy(t, n)
}

// drawQueue draws an order-independent queue of any kind.
func drawQueue(t *rapid.T, n int) *Queue {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return drawGraph(t, n).q
	case 1:
		return drawHierarchy(t, n).q
	case 2:
		q := drawHierarchy(t, n).q
		total := q.TotalRate
		return &Queue{
			ArrivalRates: q.ArrivalRates,
			OrderedRate:  func(c []int) *big.Rat { return total(counts(n, c)) },
			Saturation:   q.Saturation,
		}
	}
	return drawRank(t, n)
}

// scaleToLoad returns q with arrival rates scaled so that the most loaded set has the given load.
func scaleToLoad(t *rapid.T, q *Queue, load *big.Rat) *Queue {
	n := len(q.ArrivalRates)
	worst := new(big.Rat)
	for _, set := range oracle.Subsets(n)[1:] {
		x, total := make([]int, n), new(big.Rat)
		for _, i := range set {
			x[i] = 1
			if q.Saturation != nil {
				x[i] = q.Saturation[i]
			}
			total.Add(total, q.ArrivalRates[i])
		}
		mu, err := totalRate(q, x)
		if err != nil {
			t.Fatal(err)
		}
		if total.Quo(total, mu).Cmp(worst) > 0 {
			worst = total
		}
	}
	scaled := *q
	scaled.ArrivalRates = make([]*big.Rat, n)
	for i, l := range q.ArrivalRates {
		scaled.ArrivalRates[i] = new(big.Rat).Mul(l, load)
		scaled.ArrivalRates[i].Quo(scaled.ArrivalRates[i], worst)
	}
	return &scaled
}

// states returns all ordered states of n classes and exactly k jobs.
func states(n, k int) [][]int {
	all := [][]int{{}}
	for range k {
		var longer [][]int
		for _, c := range all {
			for i := range n {
				longer = append(longer, append(slices.Clone(c), i))
			}
		}
		all = longer
	}
	return all
}

// vectors returns all x >= 0 of n entries that sum to k.
func vectors(n, k int) [][]int {
	if n == 1 {
		return [][]int{{k}}
	}
	var all [][]int
	for first := range k + 1 {
		for _, rest := range vectors(n-1, k-first) {
			all = append(all, append([]int{first}, rest...))
		}
	}
	return all
}

func drawState(t *rapid.T, n, length int) []int {
	return rapid.SliceOfN(rapid.IntRange(0, n-1), 0, length).Draw(t, "c")
}

func must[T any](v T, err error) func(t interface{ Fatal(...any) }) T {
	return func(t interface{ Fatal(...any) }) T {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func isTooLarge(err error) bool {
	var large *num.TooLargeError
	return errors.As(err, &large)
}
