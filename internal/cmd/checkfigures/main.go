// Command checkfigures looks at the files that figures has written with its default formats: every figure in every
// format, of the form it should have; checks.json with no check failed; and an index.html whose links lead somewhere.
//
//	figures --list | checkfigures DIR
//
// The exit status is 0 if all is well, else 1, with one line for each fault.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: figures --list | checkfigures DIR")
		os.Exit(2)
	}
	ids, err := readIDs(os.Stdin)
	if err == nil && len(ids) == 0 {
		err = errors.New("empty: want the list of figures")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "checkfigures: standard input:", err)
		os.Exit(2)
	}
	files, faults := check(os.Args[1], ids)
	for _, f := range faults {
		fmt.Fprintln(os.Stderr, "checkfigures:", f)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
	fmt.Println(files, "files as they should be")
}

// readIDs returns the first fields of the lines of a list, which a tab ends.
func readIDs(r io.Reader) (ids []string, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		id, _, _ := strings.Cut(lines.Text(), "\t")
		ids = append(ids, id)
	}
	return ids, lines.Err()
}
