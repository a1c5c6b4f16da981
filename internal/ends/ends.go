// Package ends holds the heap of things to come that simulations share.
package ends

// An End is that of T, on the clock of its heap: time, or work attained by each job of a queue.
type End[T any] struct {
	At float64
	Of T
}

// A Heap is a binary heap, the earliest end first, of ends that never change and that need not know their places.
type Heap[T any] []End[T]

// Push adds an end.
func (h *Heap[T]) Push(at float64, of T) {
	ends := append(*h, End[T]{at, of})
	k := len(ends) - 1
	for k > 0 {
		parent := (k - 1) / 2
		if ends[parent].At <= at {
			break
		}
		ends[k] = ends[parent]
		k = parent
	}
	ends[k] = End[T]{at, of}
	*h = ends
}

// Pop takes out the earliest end.
func (h *Heap[T]) Pop() End[T] {
	ends := *h
	first, last := ends[0], len(ends)-1
	e := ends[last]
	ends = ends[:last]
	*h = ends
	k := 0
	for {
		child := 2*k + 1
		if child >= last {
			break
		}
		if child+1 < last && ends[child+1].At < ends[child].At {
			child++
		}
		if e.At <= ends[child].At {
			break
		}
		ends[k] = ends[child]
		k = child
	}
	if last > 0 {
		ends[k] = e
	}
	return first
}
