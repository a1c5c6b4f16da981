// This file maintains sorted lists: in which order are the items present while items are added and
// removed?

package dispatch

import "slices"

// A jobOrder is a sorted list in an array with free space on both sides. Adding or removing an item
// moves the smaller of the two parts before and after it.
type jobOrder struct {
	Compare  func(a, b int) int // 0 only for the same item
	array    []int
	from, to int // the list is array[from:to]
}

// List returns the items in order. The slice is valid until the next change.
func (o *jobOrder) List() []int { return o.array[o.from:o.to] }

// Add sorts the given items, at least one, and inserts them. Each item of the list moves at most
// once.
func (o *jobOrder) Add(items []int) {
	slices.SortFunc(items, o.Compare)
	n := len(items)
	o.makeRoom(n)
	old := o.List()
	if middle := o.place(old, items[n/2]); middle < len(old)/2 {
		o.from -= n
		next := o.array[o.from:]
		for _, i := range items {
			at := o.place(old, i)
			copy(next, old[:at])
			next[at] = i
			next, old = next[at+1:], old[at:]
		}
		return
	}
	o.to += n
	for k, i := range slices.Backward(items) {
		at := o.place(old, i)
		copy(o.array[o.from+at+k+1:], old[at:])
		o.array[o.from+at+k] = i
		old = old[:at]
	}
}

// Remove removes an item from the list.
func (o *jobOrder) Remove(i int) {
	list := o.List()
	if at := o.place(list, i); at < len(list)/2 {
		copy(list[1:], list[:at])
		o.from++
	} else {
		copy(list[at:], list[at+1:])
		o.to--
	}
}

func (o *jobOrder) place(list []int, i int) int {
	at, _ := slices.BinarySearchFunc(list, i, o.Compare)
	return at
}

// makeRoom ensures space for n items on either side. If it must move the list, it leaves as much
// space as there are items, so the cost is O(1) per added item.
func (o *jobOrder) makeRoom(n int) {
	if o.from >= n && o.to+n <= len(o.array) {
		return
	}
	all := o.to - o.from + n
	array := o.array
	if len(array) < 3*all {
		array = make([]int, 4*all)
	}
	from := (len(array) - all) / 2
	o.to = from + copy(array[from:], o.List())
	o.array, o.from = array, from
}
