package cube

import (
	"math/bits"
	"sync"
)

// A Memory holds the table that a cube fills and what its sweeps write on the way. It may serve one cube after another, of any
// size, for memory that is new has to be cleared.
type Memory struct {
	table   []float64
	scratch scratch // of the first part swept
}

// scratch is what one part of a sweep writes to.
type scratch struct {
	denominators denominatorWalk
	queries      []query
	sum, product block
	start        block // zeros, but for the first or the last block
	old          block // H of the block, where servers are mostly idle
	folded       folded
	others       [bits.UintSize]int
}

// memories holds memory of small cubes that were released. No number depends on what is in it.
var memories sync.Pool

// takeMemory returns memory for n elements.
func takeMemory(n int) *Memory {
	if n <= LeafBits {
		if m, ok := memories.Get().(*Memory); ok {
			return m
		}
	}
	return new(Memory)
}

// Release ends the use of the cube. Memory that was not given to New goes to the next one, if it is not large.
func (c *Cube) Release() {
	if c.own && len(c.memory.table) <= 1<<LeafBits {
		c.memory.scratch.denominators.Denominators = nil
		memories.Put(c.memory)
	}
	c.memory, c.x = nil, nil
}

// tableOf returns a table for n elements, whatever it holds.
func (m *Memory) tableOf(n int) []float64 {
	if cap(m.table) < 1<<n {
		m.table = NewTable(1 << n)
	}
	return m.table[:1<<n]
}
