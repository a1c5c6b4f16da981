package oracle

import "math"

// FloatChain returns the states reachable from start, start first, and their stationary
// probabilities in float64; moves reports the rate of each transition from a state. All states must
// be reachable from each other. It sweeps over the balance equations by the method of Gauss and
// Seidel until a sweep changes the probabilities by less than 1e-14 in total, but at most 5000 times.
func FloatChain[S comparable](start S, moves func(s S, move func(to S, rate float64))) (all []S, p []float64) {
	type arc struct {
		from int
		rate float64
	}
	row, into, out := map[S]int{start: 0}, [][]arc{nil}, []float64{0}
	all = []S{start}
	for i := 0; i < len(all); i++ {
		moves(all[i], func(to S, rate float64) {
			j, known := row[to]
			if !known {
				j = len(all)
				row[to] = j
				all, into, out = append(all, to), append(into, nil), append(out, 0)
			}
			into[j] = append(into[j], arc{i, rate})
			out[i] += rate
		})
	}
	p = make([]float64, len(all))
	for j := range p {
		p[j] = 1 / float64(len(p))
	}
	for range 5000 {
		change, total := 0.0, 0.0
		for j := range p {
			x := 0.0
			for _, a := range into[j] {
				x += p[a.from] * a.rate
			}
			x /= out[j]
			change += math.Abs(x - p[j])
			p[j] = x
			total += x
		}
		for j := range p {
			p[j] /= total
		}
		if change < 1e-14*total {
			break
		}
	}
	return all, p
}
