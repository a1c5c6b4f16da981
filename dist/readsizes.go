package dist

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"productform/internal/input"
)

const (
	swfFields  = 18
	swfRunTime = 3 // field 4
)

// ReadSizes reads job sizes, one a line or, if the first line that counts has 18 fields, from a log in Standard
// Workload Format (Feitelson, Parallel Workloads Archive, version 2.2), where the size is field 4, the run time in
// seconds. Blank lines and lines that start with ";" do not count. In a log the jobs of run time 0 or -1 (unknown)
// are skipped, and their number is returned. For [NewEmpirical] at least one size is needed, which is not checked.
//
// The error names the line that is not of the form of the first, or holds a number out of range, or is that of r.
func ReadSizes(r io.Reader) (sizes []float64, skipped int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	number, columns := 0, 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == ';' {
			continue
		}
		fields := strings.Fields(line)
		if columns == 0 && (len(fields) == 1 || len(fields) == swfFields) {
			columns = len(fields)
		}
		path := fmt.Sprintf("line %d", number)
		switch {
		case columns == 0:
			return nil, 0, input.Errorf(path, line, "one size, or the 18 fields of a Standard Workload Format log")
		case len(fields) != columns:
			return nil, 0, input.Errorf(path, line, "as many fields as in the first line, %d", columns)
		case columns == 1:
			v, err := strconv.ParseFloat(line, 64)
			if err != nil || checkPositive(path, v) != nil {
				return nil, 0, input.Errorf(path, line, "a number in [1e-300, 1e300]")
			}
			sizes = append(sizes, v)
		default:
			v, err := runTime(path, fields)
			if err != nil {
				return nil, 0, err
			}
			if v > 0 {
				sizes = append(sizes, v)
			} else {
				skipped++
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, 0, fmt.Errorf("line %d: %w", number+1, err)
	}
	return sizes, skipped, nil
}

// runTime returns field 4 of a record, in which all fields must be numbers.
func runTime(path string, fields []string) (float64, error) {
	for i, f := range fields {
		v, err := strconv.ParseFloat(f, 64)
		at := fmt.Sprintf("%s, field %d", path, i+1)
		if err != nil || !(v >= -1e300 && v <= 1e300) {
			return 0, input.Errorf(at, f, "a number")
		}
		if i == swfRunTime && v != 0 && v != -1 && checkPositive(at, v) != nil {
			return 0, input.Errorf(at, f, "a run time > 0, 0 or -1")
		}
	}
	return strconv.ParseFloat(fields[swfRunTime], 64)
}
