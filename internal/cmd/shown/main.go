// Command shown prints what a Markdown text says that a command prints.
//
//	shown FILE COMMAND
package main

import (
	"fmt"
	"os"

	"productform/internal/docs"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: shown FILE COMMAND")
		os.Exit(2)
	}
	text, err := docs.Output(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "shown:", err)
		os.Exit(1)
	}
	fmt.Print(text)
}
