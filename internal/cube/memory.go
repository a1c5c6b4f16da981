package cube

import (
	"math/bits"
	"sync"
)

// A Memory holds the table that a cube fills and the buffers of its sweeps. It can be reused by
// successive cubes of any size, which saves clearing new memory.
type Memory struct {
	table   []float64
	scratch scratch // scratch of the first part swept
}

// scratch holds the buffers of one part of a sweep.
type scratch struct {
	denominators denominatorWalk
	queries      []query
	sum, product block
	start        block // zeros, except in the first or the last block
	old          block // H of the block, where servers are mostly idle
	folded       folded
	others       [bits.UintSize]int
}

// memories holds the memory of released small cubes. No number depends on its contents.
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

// Release ends the use of the cube. Memory that New allocated is reused by the next cube, unless it
// is large.
func (c *Cube) Release() {
	if c.own && len(c.memory.table) <= 1<<LeafBits {
		c.memory.scratch.denominators.Denominators = nil
		memories.Put(c.memory)
	}
	c.memory, c.x = nil, nil
}

// tableOf returns a table for n elements with arbitrary contents.
func (m *Memory) tableOf(n int) []float64 {
	if cap(m.table) < 1<<n {
		m.table = NewTable(1 << n)
	}
	return m.table[:1<<n]
}
