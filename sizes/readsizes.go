package sizes

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"productform/internal/input"
	"productform/num"
)

const (
	swfFields     = 18
	swfRunTime    = 3 // field 4
	swfProcessors = 4 // field 5

	longestLine = 1 << 20 // bytes, with its end
	mostJobs    = 10_000_000
)

// ReadSizes reads job sizes, one a line or, if the first line that counts has 18 fields, from a log in Standard
// Workload Format (Feitelson, Parallel Workloads Archive, version 2.2), where the size is field 4, the run time in
// seconds. Blank lines and lines that start with ";" do not count. In a log the jobs of run time 0 or -1 (unknown)
// are skipped, and their number is returned. For [NewEmpirical] at least one size is needed, which is not checked.
// What starts as a gzip file, with the bytes 1f 8b, is unpacked. Memory is that of a line and of the sizes, 8 bytes each,
// of which there are at most 10^7, those skipped included.
//
// The error names the line that is not of the form of the first, holds a number out of range, has more than 1 MiB with
// its end, or is one too many, or it is that of r or of unpacking, even if the last line before it is no good.
// Where a packed file ends early, it wraps [io.ErrUnexpectedEOF].
func ReadSizes(r io.Reader) (sizes []float64, skipped int, err error) {
	return readJobs(r, true, runTime, nil)
}

// ReadExactSizes reads sizes as [ReadSizes] does, or as [ReadWork] if work is true, and returns them as fractions, too,
// which the decimals in the file are: exact is nil if all of them are doubles, or if there are more than 10^6.
func ReadExactSizes(r io.Reader, work bool) (sizes []float64, exact []*big.Rat, skipped int, err error) {
	var e exactSizes
	if work {
		sizes, skipped, err = readJobs(r, false, workOf, &e)
	} else {
		sizes, skipped, err = readJobs(r, true, runTime, &e)
	}
	if err != nil {
		e.list = nil
	}
	return sizes, e.list, skipped, err
}

// mostExact is the number of sizes up to which they are kept as fractions, some 100 bytes each.
const mostExact = 1_000_000

// An exactSizes keeps sizes as fractions once one of them is no double.
type exactSizes struct {
	list []*big.Rat
	many bool
}

// add takes the size in the given fields, v but for rounding, after those before, and returns the double next to it.
func (e *exactSizes) add(fields []string, work bool, before []float64, v float64) float64 {
	if e.many = e.many || len(before) >= mostExact; e.many {
		e.list = nil
		return v
	}
	text := fields[0]
	if len(fields) == swfFields {
		text = fields[swfRunTime]
	}
	if e.list == nil && v == math.Trunc(v) && v < 1<<53 && !strings.ContainsAny(text, ".eExXpP") {
		return v
	}
	double := new(big.Rat).SetFloat64(v)
	x, err := num.ParseRat(text)
	switch {
	case err != nil: // another way to write a double, such as 0x1p-3
		x = double
	case work:
		x.Mul(x, num.MustRat(fields[swfProcessors]))
		v, _ = x.Float64()
		double.SetFloat64(v)
	}
	if e.list == nil && x.Cmp(double) != 0 {
		for _, w := range before {
			e.list = append(e.list, new(big.Rat).SetFloat64(w))
		}
	}
	if e.list != nil || x.Cmp(double) != 0 {
		e.list = append(e.list, x)
	}
	return v
}

// ReadWork reads a log as [ReadSizes] does, but as size of a job takes its work in processor-seconds, the run time
// times field 5, the number of processors. The jobs of which one of these is 0 or -1 (unknown) are skipped, and their
// number is returned. A list of sizes is an error.
func ReadWork(r io.Reader) (sizes []float64, skipped int, err error) {
	return readJobs(r, false, workOf, nil)
}

// readJobs returns the sizes of the jobs in a log, with 0 and less for none, or if list is true those in a list. It adds
// them to exact, too, unless that is nil.
func readJobs(r io.Reader, list bool, size func(path string, fields []string) (float64, error), exact *exactSizes) ([]float64, int, error) {
	text, unpacking, err := unpacked(r)
	if err != nil {
		return nil, 0, err
	}
	lines := bufio.NewReaderSize(text, longestLine)
	columns, skipped := 0, 0
	var sizes []float64
	for number := 1; ; number++ {
		path := fmt.Sprintf("line %d", number)
		read, err := lines.ReadSlice('\n')
		switch {
		case err == io.EOF && len(read) == 0:
			return sizes, skipped, nil
		case err == bufio.ErrBufferFull:
			return nil, 0, input.Errorf(path, shown(string(read[:64])), "a line of at most %d bytes, its end included", longestLine)
		case err != nil && err != io.EOF:
			return nil, 0, fmt.Errorf("%s%s: %w", path, unpacking, endsEarly(err))
		}
		line := strings.TrimSpace(strings.TrimPrefix(string(read), "\ufeff"))
		if line == "" || line[0] == ';' {
			continue
		}
		if len(sizes)+skipped == mostJobs {
			return nil, 0, input.Errorf(path, shown(line), "the end of the file after %d sizes", mostJobs)
		}
		fields := strings.Fields(line)
		if columns == 0 && (list && len(fields) == 1 || len(fields) == swfFields) {
			columns = len(fields)
		}
		v, err := sizeIn(path, line, fields, columns, list, size)
		switch {
		case err != nil:
			if _, next := lines.Peek(1); next != nil && next != io.EOF { // the line may be what is left of a longer one
				err = fmt.Errorf("%s%s: %w", path, unpacking, endsEarly(next))
			}
			return nil, 0, err
		case v > 0:
			if exact != nil {
				v = exact.add(fields, !list, sizes, v)
			}
			sizes = append(sizes, v)
		default:
			skipped++
		}
	}
}

// sizeIn returns the size in a line, of which all should have so many columns, 0 if the first has a wrong number.
func sizeIn(path, line string, fields []string, columns int, list bool, size func(string, []string) (float64, error)) (float64, error) {
	switch {
	case columns == 0 && list:
		return 0, input.Errorf(path, shown(line), "one size, or the 18 fields of a Standard Workload Format log")
	case columns == 0:
		return 0, input.Errorf(path, shown(line), "the 18 fields of a Standard Workload Format log")
	case len(fields) != columns:
		return 0, input.Errorf(path, shown(line), "as many fields as in the first line, %d", columns)
	case columns == swfFields:
		return size(path, fields)
	}
	v, err := strconv.ParseFloat(line, 64)
	if err != nil || strings.Contains(line, "_") || checkPositive(path, v) != nil {
		return 0, input.Errorf(path, shown(line), "a number in [1e-300, 1e300]")
	}
	return v, nil
}

// shown returns text for an error: as it is, or quoted if it holds what is not for the eye.
func shown(text string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }
	if utf8.ValidString(text) && strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	return fmt.Sprintf("%q", text)
}

// endsEarly says what an unexpected end means; other errors say so themselves.
func endsEarly(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file ends early: %w", err)
	}
	return err
}

// unpacked returns the text of r, and what to say of an error in it.
func unpacked(r io.Reader) (text io.Reader, unpacking string, err error) {
	b := bufio.NewReader(r)
	start, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return nil, "", fmt.Errorf("line 1: %w", err)
	}
	if !bytes.Equal(start, []byte{0x1f, 0x8b}) {
		return b, "", nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, "", fmt.Errorf("unpacking: %w", endsEarly(err))
	}
	return z, ", unpacking", nil
}

// runTime returns field 4 of a record, in which all fields must be numbers.
func runTime(path string, fields []string) (float64, error) {
	var seconds float64
	for i, f := range fields {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || !(v >= -1e300 && v <= 1e300) {
			return 0, input.Errorf(field(path, i), shown(f), "a number")
		}
		if i == swfRunTime {
			if v != 0 && v != -1 && checkPositive("", v) != nil {
				return 0, input.Errorf(field(path, i), shown(f), "a run time > 0, 0 or -1")
			}
			seconds = v
		}
	}
	return seconds, nil
}

func field(path string, i int) string { return fmt.Sprintf("%s, field %d", path, i+1) }

// workOf returns field 4 times field 5 of such a record, or 0 if one of them is not positive.
func workOf(path string, fields []string) (float64, error) {
	seconds, err := runTime(path, fields)
	if err != nil {
		return 0, err
	}
	f := fields[swfProcessors]
	processors, err := strconv.ParseInt(f, 10, 64)
	if err != nil || processors < -1 {
		return 0, input.Errorf(field(path, swfProcessors), shown(f), "an integer > 0, 0 or -1")
	}
	if seconds <= 0 || processors <= 0 {
		return 0, nil
	}
	v := seconds * float64(processors)
	if checkPositive(path, v) != nil {
		return 0, input.Errorf(path, v, "processor-seconds up to 1e300")
	}
	return v, nil
}
