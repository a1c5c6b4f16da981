// Command checkfigures looks at the files that figures has written with its default formats: every figure of the
// catalogue in every format, of the form it should have; checks.json with no check failed; and an index.html
// whose links lead somewhere.
//
//	checkfigures DIR
//
// The exit status is 0 if all is well, else 1, with one line for each fault.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: checkfigures DIR")
		os.Exit(2)
	}
	files, faults := check(os.Args[1], catalogue())
	for _, f := range faults {
		fmt.Fprintln(os.Stderr, "checkfigures:", f)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
	fmt.Println(files, "files as they should be")
}
