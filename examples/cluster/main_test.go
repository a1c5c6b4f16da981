package main

import (
	"testing"

	"productform/internal/docs"
)

// The program prints what its README shows.
func TestOutput(t *testing.T) {
	if err := docs.CheckOutput("README.md", "go run ./examples/cluster", run); err != nil {
		t.Error(err)
	}
}
