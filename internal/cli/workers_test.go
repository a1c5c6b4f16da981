package cli

import (
	"math"
	"testing"
)

// parseOutage reads exponents.
func TestParseOutage(t *testing.T) {
	for text, want := range map[string]outageGroup{
		"1@0-1":         {"1@0-1", 1, 1, 0, 1},
		"2-3@1e-5-2E-3": {"2-3@1e-5-2E-3", 2, 3, 1e-5, 2e-3},
		"2-3@1e5-":      {"2-3@1e5-", 2, 3, 1e5, math.Inf(1)},
		"4@.5-1e+3":     {"4@.5-1e+3", 4, 4, 0.5, 1000},
	} {
		if got, ok := parseOutage(text); !ok || got != want {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"", "1", "1@", "1@-", "a@1-2", "1-@1-2", "1@1-2-3", "1@x-2", "1@1-y", "-1@1-2", "1@1e-2",
	} {
		if got, ok := parseOutage(text); ok {
			t.Errorf("%s: %v", text, got)
		}
	}
}
