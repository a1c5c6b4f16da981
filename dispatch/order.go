package dispatch

import "slices"

// An order is a sorted list in an array with room on both sides of it, so that what comes or goes moves what is before
// it or what is after it, whichever is less.
type order struct {
	compare  func(a, b int) int // 0 for the same item only
	array    []int
	from, to int // the list is array[from:to]
}

func (o *order) list() []int { return o.array[o.from:o.to] }

// add puts items, at least one, which it sorts, in their places. Each item of the list moves at most once.
func (o *order) add(items []int) {
	slices.SortFunc(items, o.compare)
	n := len(items)
	o.makeRoom(n)
	old := o.list()
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

// remove takes out an item of the list.
func (o *order) remove(i int) {
	list := o.list()
	if at := o.place(list, i); at < len(list)/2 {
		copy(list[1:], list[:at])
		o.from++
	} else {
		copy(list[at:], list[at+1:])
		o.to--
	}
}

func (o *order) place(list []int, i int) int {
	at, _ := slices.BinarySearchFunc(list, i, o.compare)
	return at
}

// makeRoom makes room for n items on either side. If it moves the list, then to where as many items as there are then
// find room, so that this costs O(1) an item added.
func (o *order) makeRoom(n int) {
	if o.from >= n && o.to+n <= len(o.array) {
		return
	}
	all := o.to - o.from + n
	array := o.array
	if len(array) < 3*all {
		array = make([]int, 4*all)
	}
	from := (len(array) - all) / 2
	o.to = from + copy(array[from:], o.list())
	o.array, o.from = array, from
}
