package server

import (
	"testing"

	"pgregory.net/rapid"
)

// For any disk, a full store exceeds a limit, a change of less than 1/32 of the limit and of the
// reserve never reverses the decision, and an empty store on an empty disk has room.
func TestDiskFullness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(0, 1<<50).Draw(t, "size")
		free := rapid.Int64Range(0, size).Draw(t, "free")
		used := rapid.Int64Range(0, 1<<50).Draw(t, "used")
		most := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1<<20, 1<<50)).Draw(t, "most")
		d := newDisk(used, size, free, most)
		if most == 0 && d.limit > size || most > 0 && d.limit != most {
			t.Fatalf("limit %d", d.limit)
		}
		fills, stays := d.isFull(false), d.isFull(true)
		if fills && !stays {
			t.Fatal("a full store has room")
		}
		if want := used >= d.limit || free < d.reserve; fills != want {
			t.Fatalf("full: %v, want %v", fills, want)
		}
		if room := used <= d.limit/32*31 && free >= 2*d.reserve; room && stays {
			t.Fatal("there is room, but the store stays full")
		}
		if d := newDisk(0, size, size, 0); size >= 8<<20 && d.isFull(true) {
			t.Fatal("an empty store is full")
		}
	})
}
