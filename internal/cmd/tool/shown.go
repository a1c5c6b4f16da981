package main

import (
	"fmt"

	"productform/internal/docs"
)

// printShown prints the output that a Markdown file shows for a command.
func printShown(args []string) error {
	if len(args) != 2 {
		return errUsage
	}
	text, err := docs.Output(args[0], args[1])
	if err != nil {
		return err
	}
	fmt.Print(text)
	return nil
}
