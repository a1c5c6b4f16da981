package main

import (
	"strings"
	"testing"
)

// Lines of a benchmark become rows of a table, with or without the number of cores in the name.
func TestTableOfConstants(t *testing.T) {
	const out = "goos: linux\n" +
		"BenchmarkConstants/opsPerTerm/unit=ns/term-2   1   203460340 ns/op   200.0 in-code   382.6 measured\n" +
		"BenchmarkConstants/serverGain/unit=times   1   272521887 ns/op   1.500 in-code   2.027 measured\nPASS\n"
	const want = "constant    unit     in code  measured  ratio\n" +
		"opsPerTerm  ns/term  200      382.6     1.91\n" +
		"serverGain  times    1.5      2.027     1.35\n"
	var got strings.Builder
	if err := writeTable(&got, []byte(out)); err != nil || got.String() != want {
		t.Errorf("%v\n%s", err, got.String())
	}
	if err := writeTable(&got, []byte("PASS\n")); err == nil {
		t.Error("no error without constants")
	}
}
