package cluster

import (
	"math/bits"

	"productform/sim"
)

// chosenServers describes how the servers of a job are drawn: choose servers from order, a
// permutation of the servers of one row that every draw shuffles further.
type chosenServers struct {
	order  []uint32
	choose int
}

// choices returns the choices of each class (copied if draws modify them), the number of servers of
// its jobs, and the largest such number.
func choices(chosen [][]chosenServers) (own [][]chosenServers, degree []uint32, most uint32) {
	for _, list := range chosen {
		var copies []chosenServers
		sum := uint32(0)
		for _, c := range list {
			if c.choose < len(c.order) {
				c.order = append([]uint32(nil), c.order...)
			}
			copies = append(copies, c)
			sum += uint32(c.choose)
		}
		own = append(own, copies)
		degree = append(degree, sum)
		most = max(most, sum)
	}
	return own, degree, most
}

// wordRange limits the number of choices decided by one random word, which keeps their
// probabilities correct to 2^-40.
const wordRange = 1 << 24

// draw returns the servers of a job. The next draw overwrites them.
func (c *chosenServers) draw(random *sim.Stream) []uint32 {
	servers := c.order[:c.choose]
	if c.choose == len(c.order) {
		return servers
	}
	word, spent := uint64(0), uint64(wordRange)
	for a := range servers {
		left := uint64(len(c.order) - a)
		if spent *= left; spent >= wordRange {
			word, spent = random.Uint64(), left
		}
		b, rest := bits.Mul64(word, left)
		word = rest
		// After the swap the first a+1 are a uniform sample.
		c.order[a], c.order[a+int(b)] = c.order[a+int(b)], c.order[a]
	}
	return servers
}
