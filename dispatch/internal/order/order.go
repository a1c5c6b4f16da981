// Package order keeps sorted lists whose items come and go.
package order

import "slices"

// An Order is a sorted list in an array with room on both sides of it, so that what comes or goes moves what is before
// it or what is after it, whichever is less.
type Order struct {
	Compare  func(a, b int) int // 0 for the same item only
	array    []int
	from, to int // the list is array[from:to]
}

// List returns the items in order; it holds until the next change.
func (o *Order) List() []int { return o.array[o.from:o.to] }

// Add puts items, at least one, which it sorts, in their places. Each item of the list moves at most once.
func (o *Order) Add(items []int) {
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

// Remove takes out an item of the list.
func (o *Order) Remove(i int) {
	list := o.List()
	if at := o.place(list, i); at < len(list)/2 {
		copy(list[1:], list[:at])
		o.from++
	} else {
		copy(list[at:], list[at+1:])
		o.to--
	}
}

func (o *Order) place(list []int, i int) int {
	at, _ := slices.BinarySearchFunc(list, i, o.Compare)
	return at
}

// makeRoom makes room for n items on either side. If it moves the list, then to where as many items as there are then
// find room, so that this costs O(1) an item added.
func (o *Order) makeRoom(n int) {
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
