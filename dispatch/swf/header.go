package swf

import (
	"strconv"
	"strings"
)

// MaxProcs returns what the comments of a log say of the largest number of processors that can be in use at a time, in a
// line "; MaxProcs: 400", whatever follows the number after a blank. It is false if none says so, or not in an integer from
// 1 to 2^53. The first line with the word counts.
func MaxProcs(header []string) (processors int64, ok bool) {
	for _, line := range header {
		label, value, found := strings.Cut(strings.TrimLeft(line, "; \t"), ":")
		if !found || strings.TrimSpace(label) != "MaxProcs" {
			continue
		}
		number, _, _ := strings.Cut(strings.TrimLeft(value, " \t"), " ")
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		return n, err == nil && n >= 1 && n <= largest
	}
	return 0, false
}
