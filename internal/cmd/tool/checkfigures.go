package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// checkFigures checks the files that figures has written with its default formats: every figure in
// every format; checks.json, with no check failed; and pages whose links work. It reads the
// output of figures --list and reports each fault on a separate line.
func checkFigures(args []string) error {
	if len(args) != 1 {
		return errUsage
	}
	ids, err := readIDs(os.Stdin)
	if err == nil && len(ids) == 0 {
		err = errors.New("empty: want the list of figures")
	}
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	files, faults := check(args[0], ids)
	for _, f := range faults {
		fmt.Fprintln(os.Stderr, "tool check-figures:", f)
	}
	if len(faults) > 0 {
		return fmt.Errorf("%d faults", len(faults))
	}
	fmt.Println(files, "all files are correct")
	return nil
}

// readIDs returns the first, tab-terminated fields of the lines of a list.
func readIDs(r io.Reader) (ids []string, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		id, _, _ := strings.Cut(lines.Text(), "\t")
		ids = append(ids, id)
	}
	return ids, lines.Err()
}
