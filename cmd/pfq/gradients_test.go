package main

import (
	"fmt"
	"testing"
)

// TestGradientBoundsHaveOneType compares the engines: both give the bounds as decimal strings,
// which scripts read.
func TestGradientBoundsHaveOneType(t *testing.T) {
	model := `{"servers": [{"name": "s", "capacity": 2}, {"name": "t", "capacity": 1}], "classes": [
		{"name": "a", "arrival_rate": 0.5, "servers": ["s"]},
		{"name": "b", "arrival_rate": 0.5, "servers": ["s", "t"]}]}`
	for _, engine := range []string{"float", "enclose"} {
		for _, row := range program.JSON(t, model, "solve --gradients --engine "+engine+" -")["gradients"].([]any) {
			for key, v := range row.(map[string]any) {
				_, isText := v.(string)
				if tail := key[max(0, len(key)-4):]; (tail == "_low" || tail == "high") && v != nil && !isText {
					t.Errorf("%s: %s = %v: want a string", engine, key, fmt.Sprint(v))
				}
			}
		}
	}
}
