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
	value, ok := Label(header, "MaxProcs")
	if !ok {
		return 0, false
	}
	number, _, _ := strings.Cut(value, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	return n, err == nil && n >= 1 && n <= input.MaxInteger
}

// Label returns the text after a label in the comments of a log, such as 400 for MaxProcs in
// "; MaxProcs: 400", without blanks around it; of the first line that has the label. ok is false if
// no line has it.
func Label(header []string, label string) (value string, ok bool) {
	for _, line := range header {
		name, value, found := strings.Cut(strings.TrimLeft(line, "; \t"), ":")
		if found && strings.TrimSpace(name) == label {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}
