package main

import (
	"bytes"
	"strings"
	"testing"

	"productform/plots"
)

// BenchmarkFigures draws all figures with short simulations. Its profile is part of
// scripts/release.pgo, which go generate ./cmd/pfq writes.
func BenchmarkFigures(b *testing.B) {
	for b.Loop() {
		var out, err bytes.Buffer
		args := []string{"--output", b.TempDir(), "--precision", "draft"}
		if status := run(b.Context(), args, strings.NewReader(""), &out, &err, catalogue(), plots.Settings{
			Runs:  10,
			Jumps: 20000,
		}); status != 0 {
			b.Fatalf("status %d: %s", status, err.String())
		}
	}
}
