package oneserver

import (
	"context"

	"productform/num"
)

// A holding lists the states in which a class may have to wait: intervals of states and, for a
// class that does not use whole groups, numbers for each of these states.
type holding struct {
	from, to []int32
	share    []float64   // q(k); nil if all are 1
	each     [][]float64 // q(k) d_g/k_g of each choice, the share of one busy server of the group
}

// holdings returns the states in which each class may wait.
func (s *states) holdings(ctx context.Context) ([]holding, error) {
	list := make([]holding, len(s.classes))
	for i, c := range s.classes {
		h := &list[i]
		h.each = make([][]float64, len(c.choices))
		whole := true
		least := make([]int, len(s.groups))
		for _, choice := range c.choices {
			least[choice.group] = choice.servers
			whole = whole && choice.servers == s.Limits[choice.group]
		}
		run := 1 // states that follow each other
		for g := 0; g < len(least) && least[g] == 0; g++ {
			run *= s.Limits[g] + 1
		}
		x := append([]int(nil), least...)
		for at := s.Number(x); at >= 0; at = s.nextAbove(x, least, run) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			h.from, h.to = append(h.from, int32(at)), append(h.to, int32(at+run))
			if whole {
				continue
			}
			q, _ := s.fraction(i, x).Float64()
			for range run {
				h.share = append(h.share, q)
				for k, choice := range c.choices {
					h.each[k] = append(h.each[k], q*float64(choice.servers)/float64(x[choice.group]))
				}
			}
		}
	}
	return list, nil
}

// nextAbove moves x to the next point >= least whose number is a multiple of run above that of
// least, and returns its number, or -1 after the last.
func (s *states) nextAbove(x, least []int, run int) int {
	for g := range x {
		if s.Stride[g] < run {
			continue
		}
		if x[g] < s.Limits[g] {
			x[g]++
			return s.Number(x)
		}
		x[g] = least[g]
	}
	return -1
}

// visit calls do for the states in increasing order, each with its number in a list; without a list
// these are 1.
func (h *holding) visit(list []float64, do func(at int, x float64)) {
	done := 0
	for i, from := range h.from {
		for at := from; at < h.to[i]; at++ {
			x := 1.0
			if list != nil {
				x = list[done]
			}
			do(int(at), x)
			done++
		}
	}
}

// dot returns Σ_k w(k) a(k), with one w for each state.
func (h *holding) dot(w, a []float64) float64 {
	var total num.Sum
	for i, from := range h.from {
		for from, end := int(from), int(h.to[i]); from < end; from += dotBlock {
			n := min(end-from, dotBlock)
			total.Add(dot(nil, w[:n], a[from:from+n]))
			w = w[n:]
		}
	}
	return total.Value()
}

// dots returns Σ_k w(k) a(k) b(k-shift) over the states; without w it is 1. It takes at most
// dotRoundings roundings.
func (h *holding) dots(w, a, b []float64, shift int) float64 {
	var total num.Sum
	var part []float64
	done := 0
	for i, from := range h.from {
		for from, end := int(from), int(h.to[i]); from < end; from += dotBlock {
			to := min(from+dotBlock, end)
			if w != nil {
				part = w[done : done+to-from]
			}
			total.Add(dot(part, a[from:to], b[from-shift:to-shift]))
			done += to - from
		}
	}
	return total.Value()
}

const (
	dotBlock     = 256
	dotRoundings = dotBlock + 16
)

// dot returns Σ w a b of at most dotBlock terms; without w it is 1.
func dot(w, a, b []float64) float64 {
	sum := 0.0
	b = b[:len(a)]
	if w == nil {
		var s, t, u float64
		for ; len(a) >= 4 && len(b) >= 4; a, b = a[4:], b[4:] {
			sum += float64(a[0] * b[0])
			s += float64(a[1] * b[1])
			t += float64(a[2] * b[2])
			u += float64(a[3] * b[3])
		}
		for k, x := range a {
			sum += float64(x * b[k])
		}
		return (sum + s) + (t + u)
	}
	w = w[:len(a)]
	for k, x := range a {
		sum += float64(w[k] * float64(x*b[k]))
	}
	return sum
}
