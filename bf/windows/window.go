package windows

import (
	"fmt"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/num"
)

// A window is a set of servers of a component, with the cluster that they form.
type window struct {
	component  *cluster.Model
	rows       []int       // rows of the component, increasing
	inside     map[int]int // servers of each row
	restricted bool        // classes with servers outside are served inside only; otherwise they are omitted
	model      cluster.Model
}

// newWindow returns a window without classes.
func (c *component) newWindow(list []int, restricted bool) *window {
	w := &window{component: c.model, inside: map[int]int{}, restricted: restricted}
	for _, row := range list {
		w.inside[row]++
	}
	w.rows = slices.Compact(slices.Sorted(slices.Values(list)))
	for _, row := range w.rows {
		w.model.Servers = append(w.model.Servers, cluster.Server{Name: fmt.Sprint(row), Count: w.inside[row],
			Capacity: shortenRate(c.model.Servers[row].Capacity, !restricted)})
	}
	return w
}

// holds reports whether the window has enough servers for a job of the class.
func (w *window) holds(class cluster.Class) bool {
	for _, choice := range class.Servers {
		if choice.Choose > w.inside[choice.Server] {
			return false
		}
	}
	return true
}

// A share holds the jobs of a class that have given numbers of servers in the window.
type share struct {
	rate    *big.Rat
	servers []cluster.Choice
}

// add adds a class of the component that uses the window: one class for each combination of numbers
// of servers, by row, that its jobs may have in the window. The last class added has as many as
// possible.
func (w *window) add(class cluster.Class) {
	shares := []share{{rate: class.ArrivalRate}}
	for _, choice := range class.Servers {
		k, n, d := w.inside[choice.Server], w.component.Servers[choice.Server].Size(), choice.Choose
		place, _ := slices.BinarySearch(w.rows, choice.Server)
		least := max(0, d-(n-k))
		if !w.restricted {
			least = d
		}
		var next []share
		for taken := least; taken <= min(d, k); taken++ {
			p := hypergeometric(n, k, d, taken)
			for _, s := range shares {
				servers := slices.Clip(s.servers)
				if taken > 0 {
					servers = append(servers, cluster.Choice{Server: place, Choose: taken})
				}
				next = append(next, share{new(big.Rat).Mul(s.rate, p), servers})
			}
		}
		shares = next
	}
	for _, s := range shares {
		if len(s.servers) > 0 {
			name := fmt.Sprint(len(w.model.Classes))
			w.model.Classes = append(w.model.Classes, cluster.Class{
				Name:        name,
				ArrivalRate: shortenRate(s.rate, w.restricted),
				Servers:     s.servers,
			})
		}
	}
}

// hypergeometric returns the probability that exactly taken of d servers drawn from n are among k
// given ones.
func hypergeometric(n, k, d, taken int) *big.Rat {
	p := new(big.Int).Binomial(int64(k), int64(taken))
	p.Mul(p, falling(d, taken))
	p.Mul(p, falling(n-d, k-taken))
	return new(big.Rat).SetFrac(p, falling(n, k))
}

// falling returns n (n-1) ... (n-k+1).
func falling(n, k int) *big.Int {
	if k == 0 {
		return big.NewInt(1)
	}
	return new(big.Int).MulRange(int64(n-k+1), int64(n))
}

// shortenRate returns x, or a number just above or below it if x has too many digits for a model.
// Delays grow with rates and fall with capacities, so rounding in the right direction keeps bounds
// valid.
func shortenRate(x *big.Rat, up bool) *big.Rat {
	const longest, digits = 4096, 128
	if x.Num().BitLen() <= longest && x.Denom().BitLen() <= longest {
		return x
	}
	f := num.Down(digits)
	if up {
		f = num.Up(digits)
	}
	near, _ := f.SetRat(x).Rat(nil)
	return near
}
