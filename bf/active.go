package bf

import (
	"fmt"
	"math"
	"math/big"
	"runtime"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
)

// ActiveSets holds the probability of each set of active classes.
type ActiveSets struct {
	Engine             num.Engine
	RelativeErrorBound float64     // proved, of every probability; 0 if they are exact
	Probability        []num.Value // P({i: X_i > 0} = A) at the mask of A over the rows of classes; length 2^N
}

// ActiveSetProbabilities returns the probability that exactly the classes of A have jobs
// present, for each set A of the N classes: G(A)/Z, with G the recursion over the class lattice. Probabilities below
// 1e-300 may be given as 0. It takes 48·2^N bytes besides the work of [Solve], and N is at most 24.
//
// Every class must use the whole of each row of servers it names; [cluster.Model.Expand]
// writes random choices out. Errors are those of [Solve].
func ActiveSetProbabilities(m *cluster.Model, s Settings) (*ActiveSets, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	const maxClasses = 24
	if n := len(m.Classes); n > maxClasses {
		return nil, input.Errorf("classes", n, "at most %d classes, for a table of all their sets", maxClasses)
	}
	c, err := singleServers(m)
	if err != nil {
		return nil, err
	}
	p := newProblem(c, false)
	engine := s.Engine
	if engine == "" || engine == num.Auto {
		r, err := activeFloat(p)
		if err == nil && r.RelativeErrorBound <= s.relTol() {
			return r, nil
		}
		engine = num.Enclose
	}
	if engine == num.Float {
		return activeFloat(p)
	}
	n := float64(len(p.classes))
	if need := math.Exp2(n) * (80 + 20*n + 480 + 48 + 200); need > float64(s.maxBytes()) {
		return nil, &TooLargeError{States: math.Exp2(n), Bytes: need, Limit: s.maxBytes(),
			Input: input.Errorf("classes", len(p.classes), "tables of at most %d MiB, not %.0f MiB: fewer classes, or the float engine", s.maxBytes()>>20, need/(1<<20))}
	}
	g, overloaded := classGraph(p)
	if overloaded >= 0 {
		return nil, p.overloadedState(g, overloaded)
	}
	if engine == num.Exact {
		return activeExact(g, s)
	}
	return activeEnclosed(p, g, s)
}

// singleServers returns the model as one component, unreduced, each row a server of the capacity of all its servers.
func singleServers(m *cluster.Model) (*cluster.Component, error) {
	c := &cluster.Component{}
	for _, r := range m.Servers {
		capacity := new(big.Rat).Mul(r.Capacity, big.NewRat(int64(r.Size()), 1))
		if m.MeanSize != nil {
			capacity.Quo(capacity, m.MeanSize)
		}
		c.Model.Servers = append(c.Model.Servers, cluster.Server{Name: r.Name, Capacity: capacity})
	}
	for i, k := range m.Classes {
		one := cluster.Class{Name: k.Name, ArrivalRate: k.ArrivalRate}
		for j, choice := range k.Servers {
			if size := m.Servers[choice.Server].Size(); choice.Choose != size {
				return nil, input.Errorf(fmt.Sprintf("classes[%d].servers[%d].choose", i, j), choice.Choose, "%d, all servers of %q: write random choices out with Model.Expand", size, m.Servers[choice.Server].Name)
			}
			one.Servers = append(one.Servers, cluster.Choice{Server: choice.Server, Choose: 1})
		}
		c.Model.Classes = append(c.Model.Classes, one)
	}
	return c, nil
}

func activeFloat(p *problem) (*ActiveSets, error) {
	c, sums, e, err := sweepClasses(p, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	sums.all.Add(1)
	z := floatValue(sums.all.Value(), e.up)
	r := &ActiveSets{Engine: num.Float, Probability: make([]num.Value, 1<<len(p.classes))}
	for a := range r.Probability {
		v := floatValue(c.value(a), e.value).quo(z)
		p, ok := v.export()
		if !ok {
			return nil, errRange
		}
		r.Probability[a] = p
		r.RelativeErrorBound = max(r.RelativeErrorBound, v.e)
	}
	if !(r.RelativeErrorBound < 1) {
		return nil, errRange
	}
	return r, nil
}

func activeExact(g *graph, s Settings) (*ActiveSets, error) {
	x := &exactRun{g: g, root: g.states() - 1}
	if err := x.denominators(s.maxBytes()); err != nil {
		return nil, err
	}
	x.up()
	perZ := new(big.Rat).SetFrac(x.e[g.layer[x.root]], &x.p[x.root])
	r := &ActiveSets{Engine: num.Exact, Probability: make([]num.Value, x.root)}
	for a := range r.Probability {
		p := new(big.Rat).SetFrac(&x.p[a], x.e[g.layer[a]])
		r.Probability[a], _ = value{x: p.Mul(p, perZ)}.export()
	}
	return r, nil
}

func activeEnclosed(p *problem, g *graph, s Settings) (*ActiveSets, error) {
	for prec := uint(firstPrecision); prec <= maxPrecision; prec *= 2 {
		low, high := boundGraph(p, g, prec, big.ToNegativeInf), boundGraph(p, g, prec, big.ToPositiveInf)
		z := value{in: num.Interval{Low: low.root, High: high.root}}
		r := &ActiveSets{Engine: num.Enclose, Probability: make([]num.Value, g.states()-1)}
		width := 0.0
		for a := range r.Probability {
			v := value{in: num.Interval{Low: &low.v[a], High: &high.v[a]}}.quo(z)
			r.Probability[a], _ = v.export()
			r.RelativeErrorBound = max(r.RelativeErrorBound, v.relativeError())
			width = max(width, v.width())
		}
		if width <= s.relTol() {
			return r, nil
		}
	}
	return nil, errPrecision(s)
}
