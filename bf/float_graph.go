package bf

import (
	"math/big"

	"productform/num"
)

// floatGraph evaluates a graph in float64, with a bound on the relative error of every state:
// a term adds the errors of its children, a sum takes the largest of its terms and a rounding
// an addition. Going down, w is the adjoint of the numerator of a state, and
//
//	E[X_i] = rate_i Σ_k coef(k, i) w(k) v(k) / Z.
//
// It is for the lattices of servers; floatClasses does the class lattice.
func floatGraph(p *problem, g *graph) (measures, error) {
	n := g.states()
	weights := make([]float64, len(g.weights))
	for i, w := range g.weights {
		weights[i] = scaled(w, 0)
	}
	v := make([]float64, n)
	e := make([]float64, n) // relative error of v
	for k := range n {
		first, last := g.terms(k)
		if first == last {
			v[k] = 1
			continue
		}
		sum, worst := 0.0, 0.0
		for t := first; t < last; t++ {
			product, err := 1.0, 0.0
			if g.weight[t] >= 0 {
				product = weights[g.weight[t]]
			}
			for _, c := range g.children(t) {
				product *= v[c]
				err += e[c] + roundoff
			}
			sum += product
			worst = max(worst, err)
		}
		v[k] = sum / g.den.float(k)
		if !(v[k] >= least) {
			return measures{}, errRange
		}
		e[k] = (worst + float64(last-first+4)*roundoff) * (1 + 1e-9)
	}
	root := n - 1
	z := floatValue(v[root], inflate(e[root]))
	m := measures{normalization: z}
	firstTerm, _ := g.terms(root)
	for s := range p.groups {
		idle := floatValue(1, 0)
		for _, c := range g.children(firstTerm + int32(s)) {
			idle = idle.mul(floatValue(v[c], inflate(e[c])))
		}
		busy := idle.quo(z).oneMinus()
		if !(busy.f > lowLoad) {
			busy = floatBusy(g, g.weight[firstTerm+int32(s)]-int32(p.groups[s].n-1), int32(p.groups[s].n), weights, v, e).quo(z)
		}
		m.busy = append(m.busy, busy)
	}

	w := make([]float64, n)
	f := make([]float64, n) // relative error of w, once the state is reached
	w[root] = 1
	sums := make([]num.Sum, len(p.classes))
	worst := make([]float64, len(p.classes))
	carry := make([]float64, n) // Σ w(k) v(k) over the states above that hold the classes of this one
	bound := make([]float64, n)
	count := make([]float64, n) // additions on the way
	for k := root; k >= 0; k-- {
		first, last := g.terms(k)
		if first == last {
			continue
		}
		w[k] /= g.den.float(k)
		if !(w[k] >= least) {
			return measures{}, errRange
		}
		f[k] += (count[k] + 3) * roundoff
		for t := first; t < last; t++ {
			weight := w[k]
			if g.weight[t] >= 0 {
				weight *= weights[g.weight[t]]
			}
			g.push(t, weight, f[k]+2*roundoff, v, e, w, f, count)
		}
		carry[k] += w[k] * v[k]
		bound[k] = max(bound[k], f[k]+e[k]) + 2*roundoff
		for o := g.ownFirst[k]; o < g.ownFirst[k+1]; o++ {
			x := carry[k]
			if g.coef != nil {
				x *= g.coef.float(int(o))
			}
			i := g.own[o]
			sums[i].Add(x)
			worst[i] = max(worst[i], bound[k])
		}
		if t := g.rest[k]; t >= 0 {
			for _, c := range g.children(t) {
				carry[c] += carry[k]
				bound[c] = max(bound[c], bound[k]) + roundoff
			}
		}
	}
	for i, k := range p.classes {
		sum := floatValue(sums[i].Value(), inflate(worst[i]+4*roundoff))
		m.jobs = append(m.jobs, floatValue(scaled(k.rate, 0), roundoff).mul(sum).quo(z))
	}
	return m, nil
}

// push adds the contribution of term t, of adjoint weight w, to the adjoints of its children.
func (g *graph) push(t int32, weight, err float64, v, e, w, f, count []float64) {
	children := g.children(t)
	for i, c := range children {
		x, ex := weight, err
		for j, o := range children {
			if i != j {
				x *= v[o]
				ex += e[o] + roundoff
			}
		}
		w[c] += x
		f[c] = max(f[c], ex)
		count[c]++
	}
}

func inflate(e float64) float64 { return e / (1 - min(e, 0.5)) }

// floatBusy returns D(root), where D(k) is the value of state k less that of state k without one server
// of a group, without a subtraction: see busyTable. The terms that take out a server of the group have the
// weights low..low+n-1, for 1..n servers of it: only the others can go on to D, so that
//
//	D(k) = (Σ_h k_h C_h D(k-e_h) + (k_g-1) C_g D(k-e_g) + [λ(k) - λ(k-e_g)] v(k-e_g)) / d(k),
//
// and a product of children has D of the one that holds the server in place of its value.
func floatBusy(g *graph, low, n int32, weights, v, e []float64) value {
	d, f := make([]float64, g.states()), make([]float64, g.states())
	for k := range d {
		first, last := g.terms(k)
		sum, worst, member := 0.0, 0.0, false
		for t := first; t < last; t++ {
			w := g.weight[t]
			children := g.children(t)
			if w >= low && w < low+n {
				member = true
				gain, value, err := g.rateWith(k, children), 1.0, 3*roundoff
				for _, c := range children {
					value *= v[c]
					err += e[c] + roundoff
				}
				sum += gain * value
				worst = max(worst, err)
				w--
				if w < low {
					continue
				}
			}
			for i, c := range children {
				if d[c] == 0 {
					continue
				}
				product, err := weights[w]*d[c], f[c]+2*roundoff
				for j, o := range children {
					if i != j {
						product *= v[o]
						err += e[o] + roundoff
					}
				}
				sum += product
				worst = max(worst, err)
			}
		}
		if member {
			d[k] = sum / g.den.float(k)
			f[k] = (worst + float64(last-first+4)*roundoff) * (1 + 1e-9)
		}
	}
	root := len(d) - 1
	return floatValue(d[root], inflate(f[root]))
}

// rateWith returns λ(k) less that of the children of one of its terms, rounded once.
func (g *graph) rateWith(k int, children []int32) float64 {
	if g.rate.large == nil {
		exact := g.rate.small[k]
		for _, c := range children {
			exact -= g.rate.small[c]
		}
		return float64(exact)
	}
	var buf big.Int
	exact := new(big.Int).Set(g.rate.at(k, &buf))
	for _, c := range children {
		exact.Sub(exact, g.rate.at(int(c), &buf))
	}
	return scaled(exact, 0)
}
