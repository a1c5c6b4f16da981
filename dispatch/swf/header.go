package swf

import (
	"strconv"
	"strings"

	"productform/internal/input"
)

// MaxProcs returns the largest number of processors in use at a time according to the comments of a
// log, from a line such as "; MaxProcs: 400". Text after the number and a blank is ignored. ok is
// false if no line has this label, or if the first such line does not give an integer from 1 to
// 2^53.
func MaxProcs(header []string) (processors int64, ok bool) {
	for _, line := range header {
		label, value, found := strings.Cut(strings.TrimLeft(line, "; \t"), ":")
		if !found || strings.TrimSpace(label) != "MaxProcs" {
			continue
		}
		number, _, _ := strings.Cut(strings.TrimLeft(value, " \t"), " ")
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		return n, err == nil && n >= 1 && n <= input.MaxInteger
	}
	return 0, false
}
