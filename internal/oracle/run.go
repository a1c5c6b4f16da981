package oracle

import (
	"flag"
	"runtime/debug"
	"testing"
)

// Run runs the tests of a package with less garbage collection, which saves a tenth of their CPU
// time: garbage may take ten times the memory in use, as long as the process needs less than 1 GiB.
// Benchmarks collect garbage as programs do.
func Run(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(1000)
		debug.SetMemoryLimit(1 << 30)
	}
	m.Run()
}
