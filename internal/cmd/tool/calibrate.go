package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"text/tabwriter"
)

// calibrate measures the constants with which package bf estimates the work of its methods, and
// prints them with their values in the code. Run it on an idle machine, in the module. The values
// need not agree to better than a factor of about two: BenchmarkChoice in package bf compares the
// methods that they select.
func calibrate(args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	test := exec.Command("go", "test", "-run", "^$", "-bench", "^BenchmarkConstants$", "-benchtime", "1x",
		"productform/bf")
	test.Stderr = os.Stderr
	out, err := test.Output()
	if err != nil {
		os.Stderr.Write(out)
		return err
	}
	return writeTable(os.Stdout, out)
}

var constantLine = regexp.MustCompile(
	`^BenchmarkConstants/(\w+)/unit=(\S+?)(?:-\d+)?\s.*\s(\S+) in-code\s+(\S+) measured`,
)

// writeTable writes the constants in the output of the benchmarks.
func writeTable(w io.Writer, out []byte) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "constant\tunit\tin code\tmeasured\tratio")
	found := false
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		m := constantLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		inCode, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return err
		}
		measured, err := strconv.ParseFloat(m[4], 64)
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(table, "%s\t%s\t%.4g\t%.4g\t%.2f\n", m[1], m[2], inCode, measured, measured/inCode)
	}
	if !found {
		return fmt.Errorf("no constant in the output of the benchmarks:\n%s", out)
	}
	return table.Flush()
}
