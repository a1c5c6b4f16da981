// Package intheap keeps numbers of which the least is wanted first.
package intheap

import (
	"container/heap"
	"slices"
)

// A Heap of numbers has the least at index 0.
type Heap []int

// Add puts a number in.
func (h *Heap) Add(v int) { heap.Push((*ints)(h), v) }

// TakeOut takes a number out, and reports whether it was there. It takes O(numbers) time, O(log numbers) for the least.
func (h *Heap) TakeOut(v int) bool {
	k := slices.Index(*h, v)
	if k >= 0 {
		heap.Remove((*ints)(h), k)
	}
	return k >= 0
}

// ints are a heap for the library.
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
