package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// collectLess lets garbage take up to four times the memory in use, as long as that is at most 512
// MiB; by default it is as large as the memory in use. Models of many small parts are then read,
// solved and written in half the time, and large ones take no more memory than by default. GOGC
// takes precedence.
func collectLess() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(garbagePercent(0))
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var adjust func(*[16]byte) // runs after each collection, which collects its argument
	adjust = func(*[16]byte) {
		metrics.Read(inUse)
		debug.SetGCPercent(garbagePercent(inUse[0].Value.Uint64()))
		runtime.SetFinalizer(new([16]byte), adjust)
	}
	runtime.SetFinalizer(new([16]byte), adjust)
}

// garbagePercent returns the permitted amount of garbage, as a percentage of the bytes in use.
func garbagePercent(inUse uint64) int {
	const least, most = 100, 400
	const mostGarbage = 512 << 20
	return int(min(max(100*mostGarbage/max(inUse, 1), least), most))
}
