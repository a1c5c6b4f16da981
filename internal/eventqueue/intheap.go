// This file implements a heap of integers.

package eventqueue

import (
	"container/heap"
	"slices"
)

// A Heap is a binary heap with its smallest number at index 0.
type Heap []int

// Add adds a number.
func (h *Heap) Add(v int) { heap.Push((*ints)(h), v) }

// TakeOut removes a number, and reports whether it was present. It takes O(numbers) time, or O(log
// numbers) for the smallest.
func (h *Heap) TakeOut(v int) bool {
	k := slices.Index(*h, v)
	if k >= 0 {
		heap.Remove((*ints)(h), k)
	}
	return k >= 0
}

// ints implements heap.Interface.
type ints []int

func (h ints) Len() int           { return len(h) }
func (h ints) Less(i, j int) bool { return h[i] < h[j] }
func (h ints) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ints) Push(v any)        { *h = append(*h, v.(int)) }

func (h *ints) Pop() any {
	last := len(*h) - 1
	v := (*h)[last]
	*h = (*h)[:last]
	return v
}
