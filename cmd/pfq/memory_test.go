package main

import (
	"os"
	"testing"
)

// TestMain runs the tests with as much garbage as the program.
func TestMain(m *testing.M) {
	collectLess()
	os.Exit(m.Run())
}

// Garbage may take four times the memory in use, then a constant 512 MiB, and finally as much as is
// in use.
func TestGarbagePercent(t *testing.T) {
	const mib = 1 << 20
	for inUse, want := range map[uint64]int{
		0:            400,
		1:            400,
		128 * mib:    400,
		256 * mib:    200,
		512 * mib:    100,
		20_000 * mib: 100,
	} {
		if got := garbagePercent(inUse); got != want {
			t.Errorf("%d bytes in use: %d %%, want %d", inUse, got, want)
		}
	}
}
