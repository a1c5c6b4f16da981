package cli

import (
	"strings"
	"testing"
)

// Errors about policy names of other programs suggest the name used here, and those about misspelt
// names the closest one.
func TestUnknownPolicy(t *testing.T) {
	for name, want := range map[string]string{
		"fifo":         "; first in, first out is fcfs here",
		"FIFO":         "; first in, first out is fcfs here",
		"backfill/sjf": "; backfilling is easy here, or conservative",
		"backfilling":  "; backfilling is easy here, or conservative",
		"sfj":          "; did you mean sjf?",
		"deadlines":    "; did you mean deadline?",
		"round-robin":  "conservative",
	} {
		if p, err := ParsePolicy(name); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}
